"""Corrections of a family, of which only the small p-values are given, against the whole of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

import naive_statistics as naive
from conjunct.ufc.association import CORRECTIONS, adjust_p_values, critical_p_value

p_values = st.floats(0, 1) | st.floats(0, 0.01) | st.sampled_from([0.0, 0.001, 0.5, 1.0])
families = st.lists(p_values, min_size=1, max_size=40)
corrections = st.sampled_from([None, *CORRECTIONS])


@given(families, corrections)
def test_whole_family(family, correction):
    actual = adjust_p_values(np.array(family), len(family), correction)
    assert actual == pytest.approx(naive.adjusted(family, correction), rel=1e-9)


@given(families, corrections, st.floats(0.001, 0.5))
def test_small_p_values_are_enough(family, correction, limit):
    expected = np.array(naive.adjusted(family, correction))
    at_hand = np.array(family) <= limit
    actual = adjust_p_values(np.array(family)[at_hand], len(family), correction)
    below = expected[at_hand] <= limit
    assert actual[below] == pytest.approx(expected[at_hand][below], rel=1e-9)
    assert (actual[~below] >= expected[at_hand][~below] * (1 - 1e-9)).all()


@given(families, corrections, st.floats(0.001, 0.4))
def test_critical_p_value_parts_the_rejected_from_the_others(family, correction, alpha):
    rejected = naive.rejected(family, alpha, correction)
    critical = critical_p_value(alpha, len(rejected), len(family), correction)
    by_line = {k for k, p in enumerate(family) if p <= critical}
    ties = {k for k, p in enumerate(family) if p == pytest.approx(critical, rel=1e-12)}
    assert by_line - ties == rejected - ties


@pytest.mark.parametrize("method", ["bh", "by"])
@given(families)
def test_false_discovery_rates_are_scipys(method, family):
    expected = false_discovery_control(family, method=method)
    assert adjust_p_values(np.array(family), len(family), method) == pytest.approx(expected)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_nothing_to_correct(correction):
    assert adjust_p_values(np.array([]), 100, correction).tolist() == []
    assert critical_p_value(0.05, 0, 0, correction) == 0.05
