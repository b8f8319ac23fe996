"""Evidence: by how many bits the data speak for "together" rather than "by chance"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Counts
from conjunct.features import rounded
from conjunct.ufc.association.measures.base import Floats, Rows, covariance


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
    bits = rounded(cells - margins + x_log2_x(n))
    is_more = (covariance(n_rows, s, t, c) > 0) & (bits > 0)
    return np.where(is_more, bits, -math.inf)


def x_log2_x(counts: NDArray[np.integer[Any]]) -> Floats:
    """Return x · log₂ x of each count, 0 for 0."""
    x = np.asarray(counts, np.float64)
    return x * np.log2(np.maximum(x, 1.0))
