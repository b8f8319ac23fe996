"""Measures of association of two Boolean columns.

Each takes the number of rows, the two supports and the joint count, and is exactly symmetric in
the two columns, so that ties do not depend on the order of columns. All grow with the joint count
where the supports are given; they differ in how they compare pairs of different supports.

``evidence`` is no measure to choose: it is what the default criterion counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

from conjunct.columns import Counts
from conjunct.features import round_savings
from conjunct.registry import Registry

Floats = NDArray[np.float64]
Rows = int | Counts
"""Rows in which both columns are known: one number for all pairs, or one for each."""
Compute = Callable[[Rows, Counts, Counts, Counts], Floats]


@dataclass(frozen=True)
class Measure:
    """A measure, and the thresholds that it can be compared with: from ``least`` to ``below``.

    ``least`` is the value of independent columns where there is one: pairs below it never pass.
    """

    name: str
    summary: str
    compute: Compute
    least: float
    below: float


MEASURES: Registry[Measure] = Registry("measure", "conjunct.ufc.association.measures")


def _enter(summary: str, *, least: float = 0, below: float = 1) -> Callable[[Compute], Compute]:
    """Enter a function as the measure of its name."""

    def decorate(compute: Compute) -> Compute:
        MEASURES.enter(Measure(compute.__name__, summary, compute, least, below))
        return compute

    return decorate


def wide(counts: Counts) -> NDArray[np.int64]:
    """Convert counts to 64 bits, for products and sums of two of them."""
    return counts.astype(np.int64, copy=False)


def covariance(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> NDArray[np.int64]:
    """Return n² times the covariance: above 0 where columns go together, 0 if one is constant."""
    # |n c − s_i s_j| ≤ n²/4: exact in 64 bits up to 6·10⁹ rows, even where the products wrap.
    return n_rows * wide(joint) - wide(left) * wide(right)


def product(one: Counts, other: Counts) -> Floats:
    """Multiply two counts."""
    # in floating point, since products of counts of 3·10⁹ rows leave 64 bits
    return one.astype(np.float64) * other


@_enter("Pearson's correlation of the two columns")
def phi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return Pearson's r of Boolean columns (§3.2), in [−1, 1].

    Undefined (NaN) where a column is constant.

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
        return covariance(n_rows, left, right, joint) / scale


@_enter("Yule's Q, which is 1 where one column is part of the other")
def yule_q(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return Yule's Q = (ad − bc) / (ad + bc) of the four cells, in [−1, 1].

    1 where one column is part of the other. Undefined (NaN) where a column is constant.

    Examples
    --------
    >>> yule_q(4, np.array([2]), np.array([1]), np.array([1]))
    array([1.])
    """
    agree = product(joint, n_rows - left - right + joint)
    differ = product(left - joint, right - joint)
    with np.errstate(invalid="ignore"):
        return covariance(n_rows, left, right, joint) / (agree + differ)


@_enter("rows with both over rows with at least one")
def jaccard(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return rows with both over rows with at least one, in [0, 1].

    Examples
    --------
    >>> jaccard(9, np.array([3]), np.array([2]), np.array([1]))
    array([0.25])
    """
    with np.errstate(invalid="ignore"):
        return joint / (wide(left) + right - joint)


@_enter("rows with both over the geometric mean of the two supports")
def cosine(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the joint count over the geometric mean of the supports, in [0, 1].

    Examples
    --------
    >>> cosine(9, np.array([4]), np.array([1]), np.array([1]))
    array([0.5])
    """
    with np.errstate(invalid="ignore"):
        return joint / np.sqrt(product(left, right))


@_enter(
    "how many times as often as independent columns they occur together", least=1, below=math.inf
)
def lift(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return how many times as often as independent columns they occur together, in [0, n].

    Examples
    --------
    >>> lift(8, np.array([2]), np.array([2]), np.array([1]))
    array([2.])
    """
    with np.errstate(invalid="ignore"):
        return n_rows * joint.astype(np.float64) / product(left, right)


@_enter("the lift in bits", below=math.inf)
def pmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the pointwise mutual information: the lift in bits, in [−∞, log₂ n], 0 if independent.

    Examples
    --------
    >>> pmi(8, np.array([2]), np.array([2]), np.array([1]))
    array([1.])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(lift(n_rows, left, right, joint)), np.float64)


@_enter("the lift in bits over the most it can be")
def npmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return PMI over its largest value −log₂(c/n), in [−1, 1]; 1 where the columns are the same.

    Undefined (NaN) where both columns are true everywhere.

    Examples
    --------
    >>> npmi(9, np.array([3]), np.array([3]), np.array([3]))
    array([1.])
    """
    # as 1 − log(st/c²) / log(n/c), which is exactly 1 for equal columns
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.log(left / joint) + np.log(right / joint)
        value = 1 - excess / np.log(n_rows / joint)
    return np.asarray(np.where(joint == 0, -1.0, value), np.float64)


@_enter("mutual information in bits, with the sign of the association")
def mutual_information(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return the mutual information in bits, with the sign of the association: in [−1, 1].

    1 only where the columns are the same and true in half of the rows. Undefined (NaN) where a
    column is constant.

    Examples
    --------
    >>> mutual_information(4, np.array([2]), np.array([2]), np.array([2]))
    array([1.])
    """
    excess = covariance(n_rows, left, right, joint)
    not_left, not_right = n_rows - left, n_rows - right
    with np.errstate(divide="ignore", invalid="ignore"):
        # n·cell − row·column is the covariance up to its sign: no digits are lost near 0
        both = xlog1py(joint, excess / product(left, right))
        neither = xlog1py(not_left - right + joint, excess / product(not_left, not_right))
        left_only = xlog1py(left - joint, -excess / product(left, not_right))
        right_only = xlog1py(right - joint, -excess / product(not_left, right))
        nats = (both + neither) + (left_only + right_only)
        bits = np.maximum(nats, 0.0) / (n_rows * math.log(2))
    return np.asarray(np.copysign(bits, excess), np.float64)


def evidence(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Return n times the mutual information of 2 × 2 tables, in bits.

    Sums are taken in an order that is symmetric in the two columns, and values are rounded, so
    that ties do not depend on the order of columns or on the last digits of one machine.

    Parameters
    ----------
    n_rows, left, right, joint
        Rows, those with one, those with the other, and those with both.

    Returns
    -------
    array
        Minus infinity where the two are not together more often than by chance.

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
    """Return x · log₂ x of each count, 0 for 0."""
    x = np.asarray(counts, np.float64)
    return x * np.log2(np.maximum(x, 1.0))
