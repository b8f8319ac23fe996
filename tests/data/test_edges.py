"""Edges of intervals: readable, and on the right side of every value."""

import math
import sys
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conjunct.data.column_rules import find_edges, round_between

finite = st.floats(-1e12, 1e12)


@given(finite, finite)
def test_readable_stays_between(a, b):
    assume(a != b)
    low, high = min(a, b), max(a, b)
    assert low < round_between(low, high) <= high


@given(finite, finite)
def test_no_number_of_fewer_digits_lies_between(a, b):
    low, high = min(a, b), max(a, b)
    assume(high - low > 1e-6 and high - low > 1e-9 * max(abs(low), abs(high)))
    fewest = n_digits(round_between(low, high))
    for decimals in range(8, -12, -1):
        candidate = math.floor(high * 10.0**decimals) / 10.0**decimals
        assert not (low < candidate <= high and n_digits(candidate) < fewest)


def n_digits(number):
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(29, 30, 30), (28.4, 31.2, 30), (0.12345, 0.12361, 0.1235), (-3, 5, 0), (999, 1001, 1000)],
)
def test_examples(low, high, expected):
    assert round_between(low, high) == expected


@given(
    st.lists(finite, min_size=1, max_size=40),
    st.sampled_from(["quantile", "width", "kmeans"]),
    st.integers(2, 6),
)
def test_no_interval_is_empty(values, how, n_bins):
    numbers = np.array(values)
    edges = find_edges(numbers, how, n_bins)
    assert edges == sorted(set(edges))
    assert len(edges) < n_bins
    counts = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=len(edges) + 1)
    assert counts.all()


LARGEST = sys.float_info.max


@given(
    st.lists(
        st.sampled_from([-math.inf, -LARGEST, -1e300, -2.0, 0.0, 5e-324, 1.0, 1e300, math.inf]),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(["quantile", "width", "kmeans"]),
    st.integers(2, 6),
)
def test_edges_of_any_numbers_are_finite_and_leave_no_interval_empty(values, how, n_bins):
    numbers = np.array(values)
    edges = find_edges(numbers, how, n_bins)
    assert edges == sorted(set(edges))
    assert all(map(math.isfinite, edges))
    counts = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=len(edges) + 1)
    assert counts.all()


def test_infinite_values_have_a_side():
    assert find_edges(np.array([-np.inf, 1.0, 2.0, np.inf]), "quantile", 4) == [1, 2, 4]
    assert find_edges(np.array([-np.inf, np.inf]), "quantile", 2) == [0]
    # there is no number between them
    assert find_edges(np.array([LARGEST, np.inf]), "quantile", 2) == []
