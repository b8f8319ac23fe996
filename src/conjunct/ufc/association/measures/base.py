"""Measures of association of two Boolean columns.

Each takes the number of rows, the two supports and the joint count, and is exactly symmetric in
the two columns, so that ties do not depend on the order of columns. All grow with the joint count
where the supports are given; they differ in how they compare pairs of different supports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Counts
from conjunct.registry import Registry

Floats = NDArray[np.float64]
Rows = int | Counts
"""Rows in which both columns are known: one number for all pairs, or one for each."""


@dataclass(frozen=True)
class Measure:
    """A measure, and the thresholds that it can be compared with: from ``least`` to ``below``.

    ``least`` is the value of independent columns where there is one: pairs below it never pass.
    """

    name: str
    summary: str
    compute: Callable[[Rows, Counts, Counts, Counts], Floats]
    least: float
    below: float


MEASURES: Registry[Measure] = Registry("measure", "conjunct.ufc.association.measures")


def wide(counts: Counts) -> NDArray[np.int64]:
    """Counts in 64 bits, for products and sums of two of them."""
    return counts.astype(np.int64, copy=False)


def covariance(n_rows: Rows, left: Counts, right: Counts, joint: Counts) -> NDArray[np.int64]:
    """n² times the covariance: above 0 where columns go together, 0 where one is constant."""
    # |n c − s_i s_j| ≤ n²/4: exact in 64 bits up to 6·10⁹ rows, even where the products wrap.
    return n_rows * wide(joint) - wide(left) * wide(right)


def product(one: Counts, other: Counts) -> Floats:
    """The product of two counts."""
    # in floating point, since products of counts of 3·10⁹ rows leave 64 bits
    return one.astype(np.float64) * other
