"""Joint counts of the pairs of columns that have a common row, and of no others, as a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.stores.base import Contingency, Positions, Rewrite
from conjunct.stores.counting import Counts

# Pairs that are looked at together: their temporaries stay in the cache.
_PAIRS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class MetPairs:
    """Pairs of columns (``left < right``) with a common row, each once, in no special order."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    joint: Counts

    @classmethod
    def joined(cls, parts: Sequence[MetPairs]) -> MetPairs:
        return cls(
            np.concatenate([part.left for part in parts]),
            np.concatenate([part.right for part in parts]),
            np.concatenate([part.joint for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class PairList:
    """Counts over rows that are complete. Pairs that never meet are nowhere in memory."""

    n_rows: int
    supports: Counts
    pairs: MetPairs

    @classmethod
    def from_matrix(cls, n_rows: int, matrix: Any) -> PairList:
        """From what ``matrix_of`` makes of all pairs, alone or summed."""
        return cls(n_rows, matrix.diagonal(), pairs_of(matrix))

    @property
    def observed(self) -> int:
        return self.n_rows

    def met(self) -> Iterator[Contingency]:
        for start in range(0, len(self.pairs), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            left = self.pairs.left[some].astype(np.intp)
            right = self.pairs.right[some].astype(np.intp)
            yield self._counted(left, right, self.pairs.joint[some])

    def of(self, left: Positions, right: Positions) -> Contingency:
        n_columns = len(self.supports)
        listed = self.pairs.left.astype(np.int64) * n_columns + self.pairs.right
        order = np.argsort(listed)
        wanted = left.astype(np.int64) * n_columns + right
        # one more at the end, for those that are not in the list
        place = np.append(order, -1)[np.searchsorted(listed, wanted, sorter=order)]
        is_met = np.append(listed, -1)[place] == wanted
        return self._counted(
            left, right, np.where(is_met, np.append(self.pairs.joint, 0)[place], 0)
        )

    def rewritten(self, rewrite: Rewrite, supports: Counts, new: MetPairs) -> PairList:
        """The counts after a rewrite.

        ``supports`` are those of new columns, at their places; ``new`` the pairs with these.
        """
        keeps = rewrite.kept(len(self.supports))
        place = np.full(len(self.supports), -1, np.int32)
        place[rewrite.plus[keeps]] = np.flatnonzero(keeps)
        every = np.where(keeps, self.supports[np.where(keeps, rewrite.plus, 0)], supports)
        return PairList(self.n_rows, every, MetPairs.joined([_renumbered(self.pairs, place), new]))

    def _counted(self, left: Positions, right: Positions, joint: Counts) -> Contingency:
        supports = self.supports
        return Contingency(left, right, self.n_rows, supports[left], supports[right], joint)


def matrix_of(pairs: MetPairs, supports: Counts) -> Any:
    """Pairs above the diagonal of a sparse matrix, supports on it: such matrices can be added."""
    m = len(supports)
    alone = np.flatnonzero(supports).astype(np.int32)
    matrix = sp.csr_array(
        (
            np.concatenate([pairs.joint, supports[alone]]),
            (np.concatenate([pairs.left, alone]), np.concatenate([pairs.right, alone])),
        ),
        shape=(m, m),
    )
    matrix.sort_indices()
    return matrix


def pairs_of(matrix: Any) -> MetPairs:
    """The pairs above the diagonal."""
    left = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    above = np.flatnonzero(matrix.indices > left)
    right = matrix.indices[above].astype(np.int32, copy=False)
    return MetPairs(left[above], right, matrix.data[above])


def _renumbered(pairs: MetPairs, place: NDArray[np.int32]) -> MetPairs:
    """The pairs of which both columns are kept, which is where ``place`` is not −1."""
    kept = np.flatnonzero((place[pairs.left] >= 0) & (place[pairs.right] >= 0))
    one, other = place[pairs.left[kept]], place[pairs.right[kept]]
    return MetPairs(np.minimum(one, other), np.maximum(one, other), pairs.joint[kept])
