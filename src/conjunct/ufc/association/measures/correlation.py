"""Measures that compare agreement with disagreement: 0 for independent columns."""

from __future__ import annotations

import numpy as np

from conjunct.columns import Counts
from conjunct.ufc.association.measures.base import (
    MEASURES,
    Floats,
    Measure,
    Rows,
    covariance,
    product,
    wide,
)


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


MEASURES.enter(
    Measure(
        name="phi",
        summary="Pearson's correlation of the two columns",
        compute=phi,
        least=0,
        below=1,
    )
)


def yule_q(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Yule's Q = (ad − bc) / (ad + bc) of the four cells, in [−1, 1].

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


MEASURES.enter(
    Measure(
        name="yule_q",
        summary="Yule's Q, which is 1 where one column is part of the other",
        compute=yule_q,
        least=0,
        below=1,
    )
)
