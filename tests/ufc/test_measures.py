"""Each measure against the oracle, its range, its symmetry and what it is at the extremes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_statistics as naive
from conjunct.ufc.association import MEASURES

cells = st.tuples(*[st.integers(0, 60)] * 4).filter(
    # neither column constant
    lambda t: 0 < t[0] + t[1] < sum(t) and 0 < t[0] + t[2] < sum(t)
)
RANGES = {
    "phi": (-1, 1),
    "jaccard": (0, 1),
    "cosine": (0, 1),
    "yule_q": (-1, 1),
    "lift": (0, math.inf),
    "pmi": (-math.inf, math.inf),
    "npmi": (-1, 1),
    "mutual_information": (-1, 1),
}
INDEPENDENT = {"phi": 0, "yule_q": 0, "lift": 1, "pmi": 0, "npmi": 0, "mutual_information": 0}


def value(measure, a, b, c, d):
    counts = (np.array([count]) for count in (a + b, a + c, a))
    [result] = MEASURES[measure].compute(a + b + c + d, *counts)
    return result


def test_every_measure_has_an_oracle_and_a_range():
    assert set(MEASURES) == set(naive.MEASURES) == set(RANGES)


@pytest.mark.parametrize("measure", MEASURES)
@given(cells)
def test_is_the_oracles_and_in_range(measure, table):
    actual, expected = value(measure, *table), naive.MEASURES[measure](*table)
    assert actual == expected or actual == pytest.approx(expected, rel=1e-9, abs=1e-12)
    low, high = RANGES[measure]
    assert low <= actual <= high + 1e-15


@pytest.mark.parametrize("measure", MEASURES)
@given(cells)
def test_does_not_know_which_column_is_which(measure, table):
    a, b, c, d = table
    assert value(measure, a, b, c, d) == value(measure, a, c, b, d)


@pytest.mark.parametrize("measure", MEASURES)
@given(cells)
def test_grows_with_the_joint_count(measure, table):
    # one row more with both and one more with neither, supports as they are
    a, b, c, d = table
    if b and c:
        assert value(measure, a + 1, b - 1, c - 1, d + 1) >= value(measure, a, b, c, d)


@pytest.mark.parametrize("measure", INDEPENDENT)
@given(st.tuples(*[st.integers(1, 20)] * 4))
def test_independent_columns(measure, sides):
    p, q, u, v = sides
    table = (p * u, p * v, q * u, q * v)
    assert value(measure, *table) == pytest.approx(INDEPENDENT[measure], abs=1e-12)
    assert MEASURES[measure].least == INDEPENDENT[measure]


@pytest.mark.parametrize("measure", ["phi", "jaccard", "cosine", "yule_q", "npmi"])
@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_same_column_twice_is_exactly_1(measure, support, others):
    # whatever the support: such pairs tie, and the joint count orders them
    assert value(measure, support, 0, 0, others) == 1


@pytest.mark.parametrize("measure", MEASURES)
def test_many_rows_do_not_overflow(measure):
    n = 4 * 10**9
    table = (n // 4 + 1000, n // 4 - 1000, n // 4 - 1000, n // 4 + 1000)
    expected = naive.MEASURES[measure](*table)
    # the oracle's mutual information cancels here
    tolerance = 1e-12 if measure == "mutual_information" else 0
    assert value(measure, *table) == pytest.approx(expected, rel=1e-6, abs=tolerance)


def test_mutual_information_keeps_its_digits_near_independence():
    # x²/(2 ln 2) bits for a small correlation x
    n = 10**9
    half = n // 4
    x = 4 * 1000 / n
    bits = value("mutual_information", half + 1000, half - 1000, half - 1000, half + 1000)
    assert bits == pytest.approx(x * x / (2 * math.log(2)), rel=1e-5)
