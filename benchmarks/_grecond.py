"""GreConD, a Boolean factorisation (Belohlavek and Vychodil, 2010), for comparison.

Each factor is a formal concept: rows, and all the columns that they have in common. The greedy
search adds columns to a concept as long as it covers more cells that no factor covers yet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def find_factors(table: NDArray[np.bool_]) -> list[frozenset[int]]:
    """Return the columns of each factor, until all true cells are covered."""
    cells = table.astype(np.float32)
    uncovered = cells.copy()
    factors = []
    while uncovered.any():
        rows, columns, covered = np.ones(len(table), bool), np.zeros(table.shape[1], bool), 0.0
        while True:
            # all concepts that one more column gives: their rows, their columns, what is new
            extents = cells * rows[:, None]
            sizes = extents.sum(0)
            intents = (extents.T @ cells) == sizes[:, None]
            gains = ((extents.T @ uncovered) * intents).sum(1)
            gains[columns] = 0
            best = int(gains.argmax())
            if gains[best] <= covered:
                break
            covered, rows, columns = float(gains[best]), extents[:, best] > 0, intents[best]
        uncovered[np.ix_(rows, columns)] = 0
        factors.append(frozenset(np.flatnonzero(columns).tolist()))
    return factors
