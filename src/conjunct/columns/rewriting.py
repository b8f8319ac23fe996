"""How the columns of the next feature set follow from the present ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Rewrite:
    """Replaces some pairs of columns by their conjunctions.

    Present columns have the positions 0 … m−1, the conjunctions of the pairs
    ``(left[k], right[k])`` the positions m + k. Next column t is column ``plus[t]`` less column
    ``minus[t]`` (−1: less nothing). What is taken away is always a part of what it is taken
    from, since ``i ∧ ¬j`` is ``i`` less ``i ∧ j``; so indicators subtract, and counts with them.
    """

    left: Positions
    right: Positions
    plus: Positions
    minus: Positions

    @property
    def n_after(self) -> int:
        """Number of columns after it."""
        return len(self.plus)

    def kept(self, n_columns: int) -> NDArray[np.bool_]:
        """Which of the next columns are present ones (of ``n_columns``) as they are."""
        return (self.plus < n_columns) & (self.minus < 0)


@dataclass(frozen=True)
class MergeRewrite:
    """Merges two columns in place.

    ``i ∧ ¬j`` and ``¬i ∧ j`` are at the places of i and j, and ``i ∧ j`` comes after all
    ``n_columns`` columns.
    """

    left: int
    right: int
    n_columns: int

    @property
    def n_after(self) -> int:
        """Number of columns after it."""
        return self.n_columns + 1


@dataclass(frozen=True)
class JoinRewrite:
    """Adds ``i ∧ j`` after all ``n_columns`` columns, which stay as they are."""

    left: int
    right: int
    n_columns: int

    @property
    def n_after(self) -> int:
        """Return the number of columns after it."""
        return self.n_columns + 1


AnyRewrite = Rewrite | MergeRewrite | JoinRewrite
