"""Tests of independence against positive association, both one-sided (§6.1, §6.2)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, ndtri

from conjunct.columns import Contingency, Counts, PairCounts, taken
from conjunct.registry import Registry
from conjunct.ufc.association.corrections import significant
from conjunct.ufc.association.measures import Floats, Rows, wide

# Logarithms of factorials of large numbers are right to about this much.
_UNDECIDED = 1e-4
# factorials of larger numbers are not looked up in a table
_LARGEST_TABLE = 1 << 21

# The χ² test is trusted where every expected frequency is at least this (§6.2).
MIN_EXPECTED_FREQUENCY = 5


def risk_threshold(alpha: float, n_rows: Rows) -> Any:
    """Return the threshold λ(α) = u₁₋α/√n above which r is significantly positive (§6.1).

    Examples
    --------
    >>> round(risk_threshold(0.0001, 267), 3)
    0.228
    """
    return float(-ndtri(alpha)) / _root(n_rows)


def p_value(r: Floats, n_rows: Rows) -> Floats:
    """Return the one-sided p-value of r under independence: r√n is standard normal (§6.1)."""
    return np.asarray(ndtr(-np.asarray(r) * _root(n_rows)), np.float64)


def exact_p_value(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the chance of at least this joint count: Fisher's exact test, one-sided.

    Under independence the joint count is hypergeometric, whatever the supports.

    Examples
    --------
    >>> exact_p_value(6, np.array([3]), np.array([3]), np.array([3])).round(12)
    array([0.05])
    """
    s, t, c = wide(left), wide(right), wide(joint)
    # up to the mean the lower tail is summed, as the upper one of the rows without the second
    low = n_rows * c <= s * t
    tail = _upper_tail(n_rows, s, np.where(low, n_rows - t, t), np.where(low, s - c + 1, c))
    return np.where(low, 1 - tail, tail)


def is_exactly_significant(
    n_rows: Rows, left: Counts, right: Counts, joint: Counts, alpha: float
) -> NDArray[np.bool_]:
    """Test whether exact p-values are at most a level, for pairs with r > 0.

    Above the mean, the terms of the tail fall at least as fast as the first two do. So the first
    term and a geometric series bound the sum, which need not be made where these decide.
    """
    s, t, c = wide(left), wide(right), wide(joint)
    first = _first_term(n_rows, s, t, c)
    alone, rest = (s - c).astype(np.float64), (n_rows - s - t + c + 1).astype(np.float64)
    falls = alone * (t - c) / ((c + 1) * rest)
    at_most = first / np.maximum(1 - falls, 1e-300)
    significant_ = at_most < alpha * (1 - _UNDECIDED)
    open_ = np.flatnonzero(~significant_ & (first < alpha * (1 + _UNDECIDED)))
    if len(open_):
        some = (counts[open_] for counts in (left, right, joint))
        p = exact_p_value(taken(n_rows, open_), *some)
        significant_[open_] = significant(p, alpha)
    return np.asarray(significant_, np.bool_)


def _upper_tail(n_rows: Rows, s: Counts, t: Counts, c: Counts) -> Floats:
    """Return P(C ≥ c) of a hypergeometric C, for c above its mean.

    There the terms of the sum fall, and each follows from the one before; a sum ends where the
    next term adds nothing to it. scipy.stats takes many times as long for up to 10⁵ rows.
    """
    total = np.where(c > np.minimum(s, t), 0.0, 1.0)
    chance = np.zeros_like(total)
    going = np.flatnonzero(total)
    counts = s[going], t[going], c[going]
    rows = np.asarray(taken(n_rows, going), np.float64)
    chance[going] = _first_term(taken(n_rows, going), *counts)
    one, other, both = (each.astype(np.float64) for each in counts)
    term = np.ones(len(going))
    while len(going):
        term = term * (one - both) / (both + 1)
        term = term * (other - both) / (rows - one - other + both + 1)
        both = both + 1
        total[going] += term
        adds = term > 1e-17 * total[going]
        if not adds.all():
            going, one, other = going[adds], one[adds], other[adds]
            both, term = both[adds], term[adds]
            rows = rows[adds] if rows.ndim else rows
    return np.asarray(np.minimum(chance * total, 1.0), np.float64)


def _first_term(n_rows: Any, s: Counts, t: Counts, c: Counts) -> Floats:
    """Return P(C = c) of a hypergeometric C."""
    log = _log_factorials(int(np.max(n_rows, initial=0)), len(c))

    def log_binomial(n: Any, k: Counts) -> Any:
        return log(n) - log(k) - log(n - k)

    ways = log_binomial(s, c) + log_binomial(n_rows - s, t - c)
    return np.asarray(np.exp(ways - log_binomial(n_rows, t)), np.float64)


def _log_factorials(most: int, n_wanted: int) -> Callable[[Any], Any]:
    """Return a function for logarithms of factorials: a table where that is worth while."""
    if most > min(_LARGEST_TABLE, 16 * n_wanted):
        return lambda n: gammaln(np.asarray(n, np.float64) + 1)
    return _table(most).__getitem__


@lru_cache(maxsize=1)
def _table(most: int) -> Floats:
    return np.asarray(gammaln(np.arange(most + 1) + 1.0), np.float64)


def has_expected_frequencies(n_rows: Rows, left: Counts, right: Counts) -> NDArray[np.bool_]:
    """Test whether all four expected frequencies are at least 5 (§6.2, with the cells corrected).

    The smallest of the four is the product of the two rarer sides over n: one exact comparison.
    """
    rarer = rarer_side(n_rows, left) * rarer_side(n_rows, right)
    return np.asarray(rarer >= MIN_EXPECTED_FREQUENCY * n_rows)


class IndependenceTest(ABC):
    """A test of independence against positive association."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def p_values(self, counts: Contingency, r: Floats) -> Floats:
        """Return the p-values of pairs with these counts and correlations."""

    @abstractmethod
    def least_r(self, alpha: float, n_rows: Rows) -> Any:
        """Return the least r that is significant; ``None`` where r alone does not decide."""

    def confirms(self, counts: Contingency, alpha: float) -> NDArray[np.bool_]:
        """Test which pairs are significant, of those with r > 0 that reach ``least_r``."""
        return np.ones(len(counts), np.bool_)


TESTS: Registry[IndependenceTest] = Registry("test", __name__)


class NormalTest(IndependenceTest):
    name = "normal"
    summary = "the test that r√n is normal"

    def p_values(self, counts: Contingency, r: Floats) -> Floats:
        return p_value(r, counts.n_rows)

    def least_r(self, alpha: float, n_rows: Rows) -> Any:
        return risk_threshold(alpha, n_rows)


TESTS.enter(NormalTest())


class ExactTest(IndependenceTest):
    name = "exact"
    summary = "Fisher's exact test"

    def p_values(self, counts: Contingency, r: Floats) -> Floats:
        return exact_p_value(*counts.table)

    def least_r(self, alpha: float, n_rows: Rows) -> None:
        return None

    def confirms(self, counts: Contingency, alpha: float) -> NDArray[np.bool_]:
        return is_exactly_significant(*counts.table, alpha)


TESTS.enter(ExactTest())


def count_tested_pairs(counts: PairCounts, *, prune: bool) -> int:
    """Count the pairs of a family: columns that are not constant; with ``prune``, that pass."""
    if not isinstance(counts.observed, np.ndarray):
        return count_complete_pairs(counts.n_rows, counts.supports, prune=prune)
    total = 0
    for pairs in counts.pair_blocks():
        n_rows, left, right, _ = pairs.table
        tested = (rarer_side(n_rows, left) > 0) & (rarer_side(n_rows, right) > 0)
        if prune:
            tested &= has_expected_frequencies(n_rows, left, right)
        total += int(np.count_nonzero(tested))
    return total


def count_complete_pairs(n_rows: int, supports: Counts, *, prune: bool) -> int:
    """Count the pairs of the family where no cell is missing.

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


def rarer_side(n_rows: Rows, supports: Counts) -> NDArray[np.int64]:
    """Return the rows with the rarer of a column's two values; 0 for a constant column."""
    return np.minimum(wide(supports), n_rows - wide(supports))


def _root(n_rows: Rows) -> Any:
    if isinstance(n_rows, np.ndarray):
        return np.sqrt(np.maximum(n_rows, 1))  # two columns may never be known together
    return math.sqrt(n_rows)
