"""What construction needs of the data: columns that count themselves, and how they change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from conjunct.stores.counting import Counts

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Rewrite:
    """How the columns of the next feature set follow from the present ones.

    Present columns have the positions 0 … m−1, the conjunctions of the pairs
    ``(left[k], right[k])`` the positions m + k. Next column t is column ``plus[t]`` less column
    ``minus[t]`` (−1: less nothing). What is taken away is always a part of what it is taken
    from, since ``i ∧ ¬j`` is ``i`` less ``i ∧ j``; so indicators subtract, and counts with them.
    """

    left: Positions
    right: Positions
    plus: Positions
    minus: Positions


class Store(Protocol):
    """Boolean columns that can count. Never changed in place."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def supports(self) -> Counts:
        """Number of rows in which each column is true."""
        ...

    def joint_counts(self, other: Self | None = None) -> Counts:
        """Rows in which a column of this store and one of ``other`` (or of this) are both true."""
        ...

    def conjunctions(self, left: Positions, right: Positions) -> Self:
        """The columns ``left[k] ∧ right[k]``."""
        ...

    def rewritten(self, rewrite: Rewrite, conjunctions: Self) -> Self:
        """The columns of the next feature set."""
        ...

    def count_distinct_rows(self) -> int:
        """Number of distinct rows: the paper's ``unique(I)``."""
        ...

    def count_null_rows(self) -> int:
        """Number of rows in which no column is true: the support of the paper's "null"."""
        ...
