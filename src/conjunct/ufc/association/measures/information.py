"""Measures that compare with chance: how often columns meet, and would if independent."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import xlog1py

from conjunct.columns import Counts
from conjunct.ufc.association.measures.base import (
    MEASURES,
    Floats,
    Measure,
    Rows,
    covariance,
    product,
)


def lift(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """How many times as often as independent columns they occur together: in [0, n], 1 if so.

    Examples
    --------
    >>> lift(8, np.array([2]), np.array([2]), np.array([1]))
    array([2.])
    """
    with np.errstate(invalid="ignore"):
        return n_rows * joint.astype(np.float64) / product(left, right)


MEASURES.enter(
    Measure(
        name="lift",
        summary="how many times as often as independent columns they occur together",
        compute=lift,
        least=1,
        below=math.inf,
    )
)


def pmi(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Pointwise mutual information: the lift in bits, in [−∞, log₂ n], 0 if independent.

    Examples
    --------
    >>> pmi(8, np.array([2]), np.array([2]), np.array([1]))
    array([1.])
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(lift(n_rows, left, right, joint)), np.float64)


MEASURES.enter(
    Measure(name="pmi", summary="the lift in bits", compute=pmi, least=0, below=math.inf)
)


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


MEASURES.enter(
    Measure(
        name="npmi",
        summary="the lift in bits over the most it can be",
        compute=npmi,
        least=0,
        below=1,
    )
)


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
        both = xlog1py(joint, excess / product(left, right))
        neither = xlog1py(not_left - right + joint, excess / product(not_left, not_right))
        left_only = xlog1py(left - joint, -excess / product(left, not_right))
        right_only = xlog1py(right - joint, -excess / product(not_left, right))
        nats = (both + neither) + (left_only + right_only)
        bits = np.maximum(nats, 0.0) / (n_rows * math.log(2))
    return np.asarray(np.copysign(bits, excess), np.float64)


MEASURES.enter(
    Measure(
        name="mutual_information",
        summary="mutual information in bits, with the sign of the association",
        compute=mutual_information,
        least=0,
        below=1,
    )
)
