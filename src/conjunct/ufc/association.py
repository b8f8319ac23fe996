"""Measure and test the association of two features from exact counts (§3.2, §6.1, §6.2).

Everything here is a function of four integers: the number of rows ``n``, the two supports and the
joint count. Only the measures and the tests convert them to floating-point numbers.

Measures are exactly symmetric in the two columns, so ties do not depend on the order of columns.
For fixed supports, all measures grow with the joint count; they differ in how they compare pairs
with different supports. ``evidence`` cannot be chosen as a measure: the default criterion uses it.

Tests are one-sided, of independence against positive association. A family has far more pairs than
significant ones. If the smallest p-values of the family are given, its corrections need only the
number of the other pairs. Bonferroni's and Holm's adjusted values depend only on smaller p-values.
Benjamini and Hochberg's is the minimum of p₍ⱼ₎·M/j over all j ≥ k, and a p-value that is not given
contributes nothing below itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, ndtr, ndtri, xlog1py

from conjunct.columns import Contingency, Counts, PairCounts, take_if_array
from conjunct.features import round_savings
from conjunct.parameters import Registry

Floats = NDArray[np.float64]
Rows = int | Counts
"""Rows in which both columns are known: one number for all pairs, or one number per pair."""
Compute = Callable[[Rows, Counts, Counts, Counts], Floats]


@dataclass(frozen=True)
class Measure:
    """A measure and the range of its thresholds, from ``least`` to ``below``.

    ``least`` is the value for independent columns, if defined; pairs below it never pass.
    """

    name: str
    summary: str
    compute: Compute
    least: float
    below: float


MEASURES: Registry[Measure] = Registry("measure", __name__)


def _enter(summary: str, *, least: float = 0, below: float = 1) -> Callable[[Compute], Compute]:
    """Register a function as a measure under its name."""

    def decorate(compute: Compute) -> Compute:
        MEASURES.enter(Measure(compute.__name__, summary, compute, least, below))
        return compute

    return decorate


def wide(counts: Counts) -> NDArray[np.int64]:
    """Convert counts to 64 bits for products and sums of two counts."""
    return counts.astype(np.int64, copy=False)


def covariance(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> NDArray[np.int64]:
    """Return n² times the covariance, which is positive if columns occur together."""
    # |n c − s_i s_j| ≤ n²/4: exact in 64 bits up to 6·10⁹ rows, even if the products overflow
    return n_rows * wide(joint) - wide(left) * wide(right)


def product(one: Counts, other: Counts) -> Floats:
    """Multiply two counts."""
    # in floating point, because products of counts of 3·10⁹ rows overflow 64 bits
    return one.astype(np.float64) * other


@_enter("Pearson's correlation of the two columns")
def phi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return Pearson's r of Boolean columns (§3.2), in [−1, 1].

    NaN if a column is constant.

    Examples
    --------
    >>> phi(4, np.array([2]), np.array([2]), np.array([2]))
    array([1.])
    """
    left, right, joint = wide(left), wide(right), wide(joint)
    left_variance = (left * (n_rows - left)).astype(np.float64)
    right_variance = (right * (n_rows - right)).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(left_variance * right_variance)
        return (n_rows * joint - left * right) / scale


@_enter("Yule's Q, which is 1 if one column implies the other")
def yule_q(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return Yule's Q = (ad − bc) / (ad + bc) of the four cells, in [−1, 1].

    1 if one column implies the other. NaN if a column is constant.

    Examples
    --------
    >>> yule_q(4, np.array([2]), np.array([1]), np.array([1]))
    array([1.])
    """
    agree = product(joint, n_rows - left - right + joint)
    differ = product(left - joint, right - joint)
    with np.errstate(invalid="ignore"):
        return covariance(n_rows, left, right, joint) / (agree + differ)


@_enter("rows with both divided by rows with at least one")
def jaccard(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the rows with both divided by the rows with at least one, in [0, 1].

    Examples
    --------
    >>> jaccard(9, np.array([3]), np.array([2]), np.array([1]))
    array([0.25])
    """
    with np.errstate(invalid="ignore"):
        return joint / (wide(left) + right - joint)


@_enter("rows with both divided by the geometric mean of the two supports")
def cosine(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the joint count divided by the geometric mean of the supports, in [0, 1].

    Examples
    --------
    >>> cosine(9, np.array([4]), np.array([1]), np.array([1]))
    array([0.5])
    """
    with np.errstate(invalid="ignore"):
        return joint / np.sqrt(product(left, right))


@_enter("rows with both divided by the rows expected if independent", least=1, below=math.inf)
def lift(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the joint count divided by that of independent columns, in [0, n].

    Examples
    --------
    >>> lift(8, np.array([2]), np.array([2]), np.array([1]))
    array([2.])
    """
    with np.errstate(invalid="ignore"):
        return n_rows * joint.astype(np.float64) / product(left, right)


@_enter("the lift in bits", below=math.inf)
def pmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the pointwise mutual information: log₂ of the lift, in [−∞, log₂ n].

    Examples
    --------
    >>> pmi(8, np.array([2]), np.array([2]), np.array([1]))
    array([1.])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(lift(n_rows, left, right, joint)), np.float64)


@_enter("the lift in bits divided by its maximum")
def npmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return PMI divided by its maximum −log₂(c/n), in [−1, 1]; 1 if the columns are equal.

    NaN if both columns are true in all rows.

    Examples
    --------
    >>> npmi(9, np.array([3]), np.array([3]), np.array([3]))
    array([1.])
    """
    # written as 1 − log(st/c²) / log(n/c), which is exactly 1 for equal columns
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.log(left / joint) + np.log(right / joint)
        value = 1 - excess / np.log(n_rows / joint)
    return np.asarray(np.where(joint == 0, -1.0, value), np.float64)


@_enter("mutual information in bits, with the sign of the association")
def mutual_information(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the mutual information in bits, with the sign of the association, in [−1, 1].

    It is 1 only if the columns are equal and true in half of the rows, and NaN if a column is
    constant.

    Examples
    --------
    >>> mutual_information(4, np.array([2]), np.array([2]), np.array([2]))
    array([1.])
    """
    excess = covariance(n_rows, left, right, joint)
    not_left, not_right = n_rows - left, n_rows - right
    with np.errstate(divide="ignore", invalid="ignore"):
        # n·cell − row·column is the covariance up to its sign, which keeps the precision near 0
        both = xlog1py(joint, excess / product(left, right))
        neither = xlog1py(not_left - right + joint, excess / product(not_left, not_right))
        left_only = xlog1py(left - joint, -excess / product(left, not_right))
        right_only = xlog1py(right - joint, -excess / product(not_left, right))
        nats = (both + neither) + (left_only + right_only)
        bits = np.maximum(nats, 0.0) / (n_rows * math.log(2))
    return np.asarray(np.copysign(bits, excess), np.float64)


def evidence(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return n times the mutual information of 2 × 2 tables, in bits.

    The order of sums is symmetric in the two columns, and values are rounded. Ties therefore depend
    neither on the order of columns nor on the last digits of a machine.

    Parameters
    ----------
    n_rows, left, right, joint
        The number of rows in total, with the left column, with the right column, and with both.

    Returns
    -------
    array
        Minus infinity for pairs that do not occur together more often than by chance.

    Examples
    --------
    >>> evidence(8, np.array([4, 4]), np.array([4, 4]), np.array([4, 2]))
    array([  8., -inf])
    """
    n, s, t, c = (np.asarray(count, np.int64) for count in (n_rows, left, right, joint))
    cells = (x_log2_x(s - c) + x_log2_x(t - c)) + (x_log2_x(c) + x_log2_x(n - s - t + c))
    margins = (x_log2_x(s) + x_log2_x(t)) + (x_log2_x(n - s) + x_log2_x(n - t))
    bits = round_savings(cells - margins + x_log2_x(n))
    is_more = (covariance(n_rows, s, t, c) > 0) & (bits > 0)
    return np.where(is_more, bits, -math.inf)


def x_log2_x(counts: NDArray[np.integer[Any]]) -> Floats:
    """Compute x · log₂ x of each count, with 0 for 0."""
    x = np.asarray(counts, np.float64)
    return x * np.log2(np.maximum(x, 1.0))


# absolute error of the logarithms of factorials of large numbers
_UNDECIDED = 1e-4
# the table of factorials ends here
_LARGEST_TABLE = 1 << 21

# the χ² test is valid if every expected frequency is at least this (§6.2)
MIN_EXPECTED_FREQUENCY = 5


def risk_threshold(alpha: float, n_rows: Rows) -> Any:
    """Return the threshold λ(α) = u₁₋α/√n, above which r is significantly positive (§6.1).

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
    """Return the one-sided p-value of Fisher's exact test: P(at least this joint count).

    Under independence the joint count is hypergeometric for any supports.

    Examples
    --------
    >>> exact_p_value(6, np.array([3]), np.array([3]), np.array([3])).round(12)
    array([0.05])
    """
    s, t, c = wide(left), wide(right), wide(joint)
    # up to the mean, sum the lower tail as the upper tail of the rows without the second column
    low = n_rows * c <= s * t
    t, c = np.where(low, n_rows - t, t), np.where(low, s - c + 1, c)
    # Above the mean the terms fall, and each follows from the previous one. The sum ends when the
    # next term adds nothing. scipy.stats takes many times as long for up to 10⁵ rows.
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
    tail = np.minimum(chance * total, 1.0)
    return np.asarray(np.where(low, 1 - tail, tail), np.float64)


def is_exactly_significant(
    n_rows: Rows, left: Counts, right: Counts, joint: Counts, alpha: float
) -> NDArray[np.bool_]:
    """Test whether exact p-values are at most a level, for pairs with r > 0.

    Above the mean, the terms of the tail fall at least as fast as the first two. The first term and
    a geometric series therefore bound the sum, which is computed only if these bounds do not
    decide.
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


def _first_term(n_rows: Any, s: Counts, t: Counts, c: Counts) -> Floats:
    """Return P(C = c) for a hypergeometric C."""
    most = int(np.max(n_rows, initial=0))
    # logarithms of factorials, from a table if that saves time
    log: Callable[[Any], Any] = _log_factorial
    if most <= min(_LARGEST_TABLE, 16 * len(c)):
        log = _log_factorials(most).__getitem__

    with_first = log(s) - log(c) - log(s - c)
    without_first = log(n_rows - s) - log(t - c) - log(n_rows - s - (t - c))
    every = log(n_rows) - log(t) - log(n_rows - t)
    return np.asarray(np.exp(with_first + without_first - every), np.float64)


def _log_factorial(n: Any) -> Any:
    return gammaln(np.asarray(n, np.float64) + 1)


@lru_cache(maxsize=1)
def _log_factorials(most: int) -> Any:
    return _log_factorial(np.arange(most + 1))


def has_expected_frequencies(n_rows: Rows, left: Counts, right: Counts) -> NDArray[np.bool_]:
    """Test whether all four expected frequencies are at least 5 (§6.2, with the cells corrected).

    The smallest one is the product of the two rarer sides over n, so one comparison decides.
    """
    rarer = rarer_side(n_rows, left) * rarer_side(n_rows, right)
    return np.asarray(rarer >= MIN_EXPECTED_FREQUENCY * n_rows)


@dataclass(frozen=True)
class IndependenceTest:
    """A test of independence against positive association.

    ``p_values`` computes p-values from counts and correlations. ``least_r`` returns the least r
    that is significant at a level for a number of rows. It is ``None`` if r alone does not decide;
    then ``confirms`` tests pairs with r > 0.
    """

    name: str
    summary: str
    p_values: Callable[[Contingency, Floats], Floats]
    least_r: Callable[[float, Rows], Any]
    confirms: Callable[[Contingency, float], NDArray[np.bool_]]


TESTS: Registry[IndependenceTest] = Registry("test", __name__)

TESTS.enter(
    IndependenceTest(
        "normal",
        "the normal approximation of r√n",
        lambda counts, r: p_value(r, counts.n_rows),
        lambda alpha, n_rows: risk_threshold(alpha, n_rows),
        lambda counts, alpha: np.ones(len(counts), np.bool_),
    )
)
TESTS.enter(
    IndependenceTest(
        "exact",
        "Fisher's exact test",
        lambda counts, r: exact_p_value(*counts.table),
        lambda alpha, n_rows: None,
        lambda counts, alpha: is_exactly_significant(*counts.table, alpha),
    )
)


def count_tested_pairs(counts: PairCounts, *, prune: bool) -> int:
    """Count the pairs of columns that are not constant and, with ``prune``, pass the filter."""
    if not isinstance(counts.observed, np.ndarray):
        # sort by the rarer side, which avoids a loop over all m² pairs
        rarer = np.sort(rarer_side(counts.n_rows, counts.supports))
        rarer = rarer[rarer > 0]
        if not prune:
            return len(rarer) * (len(rarer) - 1) // 2
        least = MIN_EXPECTED_FREQUENCY * counts.n_rows
        partners = len(rarer) - np.searchsorted(rarer, -(-least // rarer))
        with_itself = np.count_nonzero(rarer * rarer >= least)
        return int(partners.sum() - with_itself) // 2
    total = 0
    for pairs in counts.pair_blocks():
        n_rows, left, right, _ = pairs.table
        tested = (rarer_side(n_rows, left) > 0) & (rarer_side(n_rows, right) > 0)
        if prune:
            tested &= has_expected_frequencies(n_rows, left, right)
        total += int(np.count_nonzero(tested))
    return total


def rarer_side(n_rows: Rows, supports: Counts) -> NDArray[np.int64]:
    """Return the rows with the rarer of a column's two values; 0 for a constant column."""
    return np.minimum(wide(supports), n_rows - wide(supports))


def _root(n_rows: Rows) -> Any:
    if isinstance(n_rows, np.ndarray):
        return np.sqrt(np.maximum(n_rows, 1))  # some columns may never be known in one row
    return math.sqrt(n_rows)


@dataclass(frozen=True)
class Correction:
    """A correction of a level for the number of tests.

    ``adjust`` takes the sorted p-values of a family, their ranks from 1, and the size of the
    family. ``critical`` takes the level, the number of steps and the size of the family, and
    returns the bound of the last step.
    """

    name: str
    summary: str
    adjust: Callable[[Floats, NDArray[np.intp], int], Floats]
    critical: Callable[[float, int, int], float]


CORRECTIONS: Registry[Correction] = Registry("correction", __name__)

CORRECTIONS.enter(
    Correction(
        "bonferroni",
        "Bonferroni's",
        lambda p_values, rank, size: p_values * size,
        lambda alpha, step, size: alpha / size,
    )
)
CORRECTIONS.enter(
    Correction(
        "holm",
        "Holm's",
        lambda p_values, rank, size: np.maximum.accumulate(p_values * (size - rank + 1)),
        lambda alpha, step, size: alpha / (size - step + 1),
    )
)


def _enter_step_up(name: str, summary: str, inflate: Callable[[int], float]) -> None:
    """Register a step-up procedure; ``inflate`` is the penalty for dependent p-values."""

    def adjust(p_values: Floats, rank: NDArray[np.intp], size: int) -> Floats:
        steps = p_values * (size * inflate(size)) / rank
        return np.minimum.accumulate(steps[::-1])[::-1]

    def critical(alpha: float, step: int, size: int) -> float:
        return alpha * step / (size * inflate(size))

    CORRECTIONS.enter(Correction(name, summary, adjust, critical))


_enter_step_up("bh", "Benjamini and Hochberg's", lambda size: 1.0)
# 1 + 1/2 + … + 1/n
_enter_step_up(
    "by",
    "Benjamini and Yekutieli's",
    lambda size: float(digamma(size + 1) + np.euler_gamma),
)


def adjust_p_values(p_values: Floats, family_size: int, correction: str | None) -> Floats:
    """Adjust p-values: those at most α are significant at level α over the whole family.

    ``p_values`` holds the smallest of the family. Results below the smallest omitted p-value are
    exact; with Benjamini–Hochberg and –Yekutieli, larger results may be too large.

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
    """Test whether p-values are at most a level, up to rounding."""
    # exact p-values are fractions: 1/20 is significant at 0.05 on every machine
    return np.asarray(p_values <= level * (1 + 1e-9))


def critical_p_value(
    alpha: float, n_significant: int, family_size: int, correction: str | None
) -> float:
    """Return the p-value that separates the significant pairs of a family from the others.

    A step procedure that ends after ``n_significant`` steps accepts exactly the p-values up to the
    bound of its last step.
    """
    if correction is None:
        return alpha
    return CORRECTIONS[correction].critical(alpha, max(n_significant, 1), max(family_size, 1))
