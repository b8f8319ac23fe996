"""Numbers as people write them."""

import math

import pytest

from conjunct.explain import count, decimal, format_share, probability


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (count(1234), "1,234"),
        (count(1, "row"), "1 row"),
        (count(1200, "row"), "1,200 rows"),
        (count(2, "column is", "columns are"), "2 columns are"),
        (format_share(0), "0%"),
        (format_share(0.1234), "12%"),
        (format_share(0.01234), "1.2%"),
        (format_share(0.01), "1.0%"),
        (format_share(0.0001234), "0.01%"),
        (format_share(1), "100%"),
        (decimal(0.43210), "0.432"),
        (decimal(math.nan), "–"),
        (decimal(2, 2), "2.00"),
        (probability(0.0123), "0.012"),
        (probability(3.14e-5), "3.1 × 10⁻⁵"),
        (probability(0.0), "< 10⁻³⁰⁰"),
        (probability(math.nan), "–"),
    ],
)
def test_written(written, expected):
    assert written == expected
