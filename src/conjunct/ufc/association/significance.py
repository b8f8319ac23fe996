"""Tests of independence against positive association, one-sided, alone (§6.1, §6.2) or many.

A family has far more pairs than significant ones. All that its corrections need of the others is
how many they are, as long as the p-values at hand are the smallest of the family: Bonferroni's and
Holm's adjusted value looks at smaller p-values only; Benjamini and Hochberg's is the least of
p₍ⱼ₎·M/j over all j ≥ k, to which a p-value that is not at hand adds nothing below itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, ndtr, ndtri

from conjunct.columns import Contingency, Counts, PairCounts, take_if_array
from conjunct.registry import Registry
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
        p = exact_p_value(take_if_array(n_rows, open_), *some)
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
    rows = np.asarray(take_if_array(n_rows, going), np.float64)
    chance[going] = _first_term(take_if_array(n_rows, going), *counts)
    one, other, both = np.array(counts, np.float64)
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
    most = int(np.max(n_rows, initial=0))
    # logarithms of factorials, from a table where that is worth while
    log: Callable[[Any], Any] = _log_factorial
    if most <= min(_LARGEST_TABLE, 16 * len(c)):
        log = _log_factorials(most).__getitem__

    def log_binomial(n: Any, k: Counts) -> Any:
        return log(n) - log(k) - log(n - k)

    ways = log_binomial(s, c) + log_binomial(n_rows - s, t - c)
    return np.asarray(np.exp(ways - log_binomial(n_rows, t)), np.float64)


def _log_factorial(n: Any) -> Any:
    return gammaln(np.asarray(n, np.float64) + 1)


@lru_cache(maxsize=1)
def _log_factorials(most: int) -> Any:
    return _log_factorial(np.arange(most + 1))


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


Ranks = NDArray[np.intp]


class Correction(ABC):
    """A correction of a level for the number of tests."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        """Adjust the p-values of a family, the smallest first; ``rank`` counts them from 1."""

    @abstractmethod
    def critical(self, alpha: float, step: int, family_size: int) -> float:
        """Return the bound of the last step of a procedure that ends after ``step`` steps."""


CORRECTIONS: Registry[Correction] = Registry("correction", __name__)


class Bonferroni(Correction):
    name = "bonferroni"
    summary = "Bonferroni's"

    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        return p_values * family_size

    def critical(self, alpha: float, step: int, family_size: int) -> float:
        return alpha / family_size


CORRECTIONS.enter(Bonferroni())


class Holm(Correction):
    name = "holm"
    summary = "Holm's"

    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        return np.maximum.accumulate(p_values * (family_size - rank + 1))

    def critical(self, alpha: float, step: int, family_size: int) -> float:
        return alpha / (family_size - step + 1)


CORRECTIONS.enter(Holm())


class BenjaminiHochberg(Correction):
    name = "bh"
    summary = "Benjamini and Hochberg's"

    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        steps = p_values * (family_size * self.inflation(family_size)) / rank
        return np.minimum.accumulate(steps[::-1])[::-1]

    def critical(self, alpha: float, step: int, family_size: int) -> float:
        return alpha * step / (family_size * self.inflation(family_size))

    def inflation(self, family_size: int) -> float:
        """Return the factor that dependent p-values cost."""
        return 1.0


CORRECTIONS.enter(BenjaminiHochberg())


class BenjaminiYekutieli(BenjaminiHochberg):
    name = "by"
    summary = "Benjamini and Yekutieli's"

    def inflation(self, family_size: int) -> float:
        """Return 1 + 1/2 + … + 1/n."""
        return float(digamma(family_size + 1) + np.euler_gamma)


CORRECTIONS.enter(BenjaminiYekutieli())


def adjust_p_values(p_values: Floats, family_size: int, correction: str | None) -> Floats:
    """Adjust p-values: those at most α are significant at level α over the whole family.

    ``p_values`` holds the smallest of the family. Every value below the smallest that it leaves
    out is exact; with Benjamini–Hochberg and –Yekutieli a larger one may be too large.

    Examples
    --------
    >>> adjust_p_values(np.array([0.001, 0.02]), 10, "holm")
    array([0.01, 0.18])
    >>> adjust_p_values(np.array([0.001, 0.02]), 10, "bh")
    array([0.01, 0.1 ])
    """
    if correction is None:
        return p_values
    order = np.argsort(p_values, kind="stable")
    rank = np.arange(1, len(order) + 1)
    result = np.empty_like(p_values)
    result[order] = CORRECTIONS[correction].adjust(p_values[order], rank, family_size)
    return np.minimum(result, 1.0)


def significant(p_values: Floats, level: float | Floats) -> NDArray[np.bool_]:
    """Test whether p-values are at most a level, which they may equal up to rounding."""
    # exact p-values are fractions: 1/20 is significant at 0.05 on every machine
    return np.asarray(p_values <= level * (1 + 1e-9))


def critical_p_value(
    alpha: float, n_significant: int, family_size: int, correction: str | None
) -> float:
    """Return the p-value that separates the significant pairs of a family from the others.

    A step procedure that ends after ``n_significant`` steps accepts what lies at or below the
    bound of its last step, and nothing else does.
    """
    if correction is None:
        return alpha
    return CORRECTIONS[correction].critical(alpha, max(n_significant, 1), max(family_size, 1))
