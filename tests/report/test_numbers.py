"""Numbers as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct.explain import count, decimal, probability, share
from conjunct.report.plane import ticks


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (count(1234), "1,234"),
        (count(1, "row"), "1 row"),
        (count(1200, "row"), "1,200 rows"),
        (count(2, "column is", "columns are"), "2 columns are"),
        (share(0), "0%"),
        (share(0.1234), "12%"),
        (share(0.01234), "1.2%"),
        (share(0.0001234), "0.01%"),
        (share(1), "100%"),
        (decimal(0.43210), "0.432"),
        (decimal(math.nan), "–"),
        (decimal(2, 2), "2.00"),
        (probability(0.0123), "0.012"),
        (probability(3.14e-5), "3.1 × 10⁻⁵"),
        (probability(0.0), "< 10⁻³⁰⁰"),
        (probability(math.nan), "–"),
        (ticks(0, 1), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (ticks(3, 3), [3]),
    ],
)
def test_written(written, expected):
    assert written == expected


@given(st.floats(-10, 10), st.floats(1e-6, 100))
def test_ticks_lie_within(low, span):
    high = low + span
    found = ticks(low, high)
    assert 2 <= len(found) <= 14
    assert all(low - span / 1e6 <= tick <= high + span / 1e6 for tick in found)
    assert found == sorted(set(found))
