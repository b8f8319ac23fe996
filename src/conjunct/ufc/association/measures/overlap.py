"""Measures of how much two columns overlap, whatever the other rows."""

from __future__ import annotations

import numpy as np

from conjunct.columns import Counts
from conjunct.ufc.association.measures.base import MEASURES, Floats, Measure, Rows, product, wide


def jaccard(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Rows with both over rows with at least one, in [0, 1].

    Examples
    --------
    >>> jaccard(9, np.array([3]), np.array([2]), np.array([1]))
    array([0.25])
    """
    with np.errstate(invalid="ignore"):
        return joint / (wide(left) + right - joint)


MEASURES.enter(
    Measure(
        name="jaccard",
        summary="rows with both over rows with at least one",
        compute=jaccard,
        least=0,
        below=1,
    )
)


def cosine(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Joint count over the geometric mean of the supports, in [0, 1].

    Examples
    --------
    >>> cosine(9, np.array([4]), np.array([1]), np.array([1]))
    array([0.5])
    """
    with np.errstate(invalid="ignore"):
        return joint / np.sqrt(product(left, right))


MEASURES.enter(
    Measure(
        name="cosine",
        summary="rows with both over the geometric mean of the two supports",
        compute=cosine,
        least=0,
        below=1,
    )
)
