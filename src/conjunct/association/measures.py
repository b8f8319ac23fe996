"""Measures of association of two Boolean columns.

Each takes the number of rows, the two supports and the joint count, and is exactly symmetric in
the two columns, so that ties do not depend on the order of columns. All grow with the joint count
where the supports are given; they differ in how they compare pairs of different supports.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

from conjunct.stores import Counts

Floats = NDArray[np.float64]
Rows = int | Counts
"""Rows in which both columns are known: one number for all pairs, or one for each."""
Measure = Literal["phi", "jaccard", "cosine", "yule_q", "lift", "pmi", "npmi", "mutual_information"]


def phi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Pearson's r of Boolean columns (§3.2), in [−1, 1].

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


def jaccard(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Rows with both over rows with at least one, in [0, 1].

    Examples
    --------
    >>> jaccard(9, np.array([3]), np.array([2]), np.array([1]))
    array([0.25])
    """
    with np.errstate(invalid="ignore"):
        return joint / (wide(left) + right - joint)


def cosine(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Joint count over the geometric mean of the supports, in [0, 1].

    Examples
    --------
    >>> cosine(9, np.array([4]), np.array([1]), np.array([1]))
    array([0.5])
    """
    with np.errstate(invalid="ignore"):
        return joint / np.sqrt(_product(left, right))


def yule_q(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Yule's Q = (ad − bc) / (ad + bc) of the four cells, in [−1, 1].

    1 where one column is part of the other. Undefined (NaN) where a column is constant.

    Examples
    --------
    >>> yule_q(4, np.array([2]), np.array([1]), np.array([1]))
    array([1.])
    """
    agree = _product(joint, n_rows - left - right + joint)
    differ = _product(left - joint, right - joint)
    with np.errstate(invalid="ignore"):
        return covariance(n_rows, left, right, joint) / (agree + differ)


def lift(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """How many times as often as independent columns they occur together: in [0, n], 1 if so.

    Examples
    --------
    >>> lift(8, np.array([2]), np.array([2]), np.array([1]))
    array([2.])
    """
    with np.errstate(invalid="ignore"):
        return n_rows * joint.astype(np.float64) / _product(left, right)


def pmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Pointwise mutual information: the lift in bits, in [−∞, log₂ n], 0 if independent.

    Examples
    --------
    >>> pmi(8, np.array([2]), np.array([2]), np.array([1]))
    array([1.])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(lift(n_rows, left, right, joint)), np.float64)


def npmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """PMI over its largest value −log₂(c/n), in [−1, 1]; 1 where the columns are the same.

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


def mutual_information(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Mutual information in bits, with the sign of the association: in [−1, 1].

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
        both = xlog1py(joint, excess / _product(left, right))
        neither = xlog1py(not_left - right + joint, excess / _product(not_left, not_right))
        left_only = xlog1py(left - joint, -excess / _product(left, not_right))
        right_only = xlog1py(right - joint, -excess / _product(not_left, right))
        nats = (both + neither) + (left_only + right_only)
        bits = np.maximum(nats, 0.0) / (n_rows * math.log(2))
    return np.asarray(np.copysign(bits, excess), np.float64)


@dataclass(frozen=True)
class MeasureInfo:
    """A measure, and the thresholds that it can be compared with: from ``least`` to ``below``."""

    compute: Callable[[Rows, Counts, Counts, Counts], Floats]
    least: float
    below: float


# ``least`` is the value of independent columns where there is one: pairs below it never pass.
MEASURES: dict[Measure, MeasureInfo] = {
    "phi": MeasureInfo(phi, 0, 1),
    "jaccard": MeasureInfo(jaccard, 0, 1),
    "cosine": MeasureInfo(cosine, 0, 1),
    "yule_q": MeasureInfo(yule_q, 0, 1),
    "lift": MeasureInfo(lift, 1, math.inf),
    "pmi": MeasureInfo(pmi, 0, math.inf),
    "npmi": MeasureInfo(npmi, 0, 1),
    "mutual_information": MeasureInfo(mutual_information, 0, 1),
}


def wide(counts: Counts) -> NDArray[np.int64]:
    """Counts in 64 bits, for products and sums of two of them."""
    return counts.astype(np.int64, copy=False)


def covariance(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> NDArray[np.int64]:
    """n² times the covariance: above 0 where columns go together, 0 where one is constant."""
    # |n c − s_i s_j| ≤ n²/4: exact in 64 bits up to 6·10⁹ rows, even where the products wrap.
    return n_rows * wide(joint) - wide(left) * wide(right)


def _product(one: Counts, other: Counts) -> Floats:
    # in floating point, since products of counts of 3·10⁹ rows leave 64 bits
    return one.astype(np.float64) * other
