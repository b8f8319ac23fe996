"""Tests of independence against positive association, both one-sided (§6.1, §6.2)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from conjunct.association.measures import Floats, wide
from conjunct.stores import Counts

Test = Literal["normal", "exact"]
TESTS: tuple[Test, ...] = ("normal", "exact")

# The χ² test is trusted where every expected frequency is at least this (§6.2).
MIN_EXPECTED_FREQUENCY = 5


def risk_threshold(alpha: float, n_rows: int) -> float:
    """The threshold λ(α) = u₁₋α/√n above which r is significantly positive (§6.1).

    Examples
    --------
    >>> round(risk_threshold(0.0001, 267), 3)
    0.228
    """
    return float(-ndtri(alpha)) / math.sqrt(n_rows)


def p_value(r: Floats, n_rows: int) -> Floats:
    """One-sided p-value of r under independence: r√n is standard normal (§6.1)."""
    return np.asarray(ndtr(-np.asarray(r) * math.sqrt(n_rows)), np.float64)


def exact_p_value(n_rows: int, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Chance of at least this joint count, given the supports: Fisher's exact test, one-sided.

    Under independence the joint count is hypergeometric, whatever the supports.

    Examples
    --------
    >>> exact_p_value(6, np.array([3]), np.array([3]), np.array([3])).round(12)
    array([0.05])
    """
    # scipy.stats takes long to import, and only this test needs it
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.sf(joint - 1, n_rows, left, right), np.float64)


def has_expected_frequencies(n_rows: int, left: Counts, right: Counts) -> NDArray[np.bool_]:
    """Whether all four expected frequencies are at least 5 (§6.2, with the cells corrected).

    The smallest of the four is the product of the two rarer sides over n: one exact comparison.
    """
    rarer = rarer_side(n_rows, left) * rarer_side(n_rows, right)
    return np.asarray(rarer >= MIN_EXPECTED_FREQUENCY * n_rows)


def count_tested_pairs(n_rows: int, supports: Counts, *, prune: bool) -> int:
    """The size of a family: pairs of columns that are not constant, and pass the filter if asked.

    Sorts the columns by their rarer side, so that the m² pairs need not be looked at.
    """
    rarer = np.sort(rarer_side(n_rows, supports))
    rarer = rarer[rarer > 0]
    if not prune:
        return len(rarer) * (len(rarer) - 1) // 2
    least = MIN_EXPECTED_FREQUENCY * n_rows
    partners = len(rarer) - np.searchsorted(rarer, -(-least // rarer))
    with_itself = np.count_nonzero(rarer * rarer >= least)
    return int(partners.sum() - with_itself) // 2


def rarer_side(n_rows: int, supports: Counts) -> NDArray[np.int64]:
    """Rows with the rarer of a column's two values; 0 for a constant column."""
    return np.minimum(wide(supports), n_rows - wide(supports))
