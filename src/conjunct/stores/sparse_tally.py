"""Sparse columns with the pairs that have a common row, and how many rows they have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.stores.base import Contingency, Positions, Rewrite
from conjunct.stores.counting import Counts

Ones = Any
"""A scipy ``csc_array`` whose stored cells are all 1 and in order (int32)."""

# Pairs that are looked at together: their temporaries stay in the cache.
_PAIRS_AT_ONCE = 1 << 16
# Meetings of two columns in a row that are counted together, at about 20 bytes each.
_MEETINGS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class MetPairs:
    """Pairs of columns (``left < right``) with a common row, each once, in no special order."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    joint: NDArray[np.int32]

    @classmethod
    def joined(cls, parts: list[MetPairs]) -> MetPairs:
        return cls(
            np.concatenate([part.left for part in parts]),
            np.concatenate([part.right for part in parts]),
            np.concatenate([part.joint for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class SparseTally:
    """A matrix of ones and its counts. Pairs that never meet are nowhere in memory."""

    ones: Ones
    pairs: MetPairs

    @classmethod
    def counted(cls, ones: Ones) -> SparseTally:
        """Count every pair of columns."""
        every = np.arange(ones.shape[1])
        return cls(ones, MetPairs.joined(list(_meetings(ones, every, np.zeros(len(every), bool)))))

    @property
    def n_rows(self) -> int:
        return int(self.ones.shape[0])

    @cached_property
    def supports(self) -> Counts:
        return np.asarray(np.diff(self.ones.indptr), np.int64)

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
        n_columns = self.ones.shape[1]
        listed = self.pairs.left.astype(np.int64) * n_columns + self.pairs.right
        order = np.argsort(listed)
        wanted = left.astype(np.int64) * n_columns + right
        # one more at the end, for those that are not in the list
        place = np.append(order, -1)[np.searchsorted(listed, wanted, sorter=order)]
        is_met = np.append(listed, -1)[place] == wanted
        return self._counted(
            left, right, np.where(is_met, np.append(self.pairs.joint, 0)[place], 0)
        )

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedOnes:
        return ConjoinedOnes(self, conjunctions(self.ones, left, right))

    def _counted(self, left: Positions, right: Positions, joint: Counts) -> Contingency:
        supports = self.supports
        return Contingency(left, right, self.n_rows, supports[left], supports[right], joint)


@dataclass(frozen=True, eq=False)
class ConjoinedOnes:
    """Only what is new is counted: pairs of kept columns keep their counts."""

    tally: SparseTally
    both: Ones

    def rewritten(self, rewrite: Rewrite) -> SparseTally:
        n_columns = self.tally.ones.shape[1]
        keeps = (rewrite.plus < n_columns) & (rewrite.minus < 0)
        place = np.full(n_columns, -1, np.int32)
        place[rewrite.plus[keeps]] = np.flatnonzero(keeps)
        ones = rewritten_ones(self.tally.ones, self.both, rewrite)
        old = _renumbered(self.tally.pairs, place)
        new = list(_meetings(ones, np.flatnonzero(~keeps), keeps))
        return SparseTally(ones, MetPairs.joined([old, *new]))


def conjunctions(ones: Ones, left: Positions, right: Positions) -> Ones:
    """The columns ``left[k] ∧ right[k]``."""
    return ones[:, left].multiply(ones[:, right]).tocsc()


def rewritten_ones(ones: Ones, both: Ones, rewrite: Rewrite) -> Ones:
    """The columns of the next feature set."""
    every = sp.hstack([ones, both], format="csc")
    whole, less = np.flatnonzero(rewrite.minus < 0), np.flatnonzero(rewrite.minus >= 0)
    parts = every[:, rewrite.plus[less]] - every[:, rewrite.minus[less]]
    parts = sp.hstack([every[:, rewrite.plus[whole]], parts.tocsc()], format="csc")
    return parts[:, np.argsort(np.concatenate([whole, less]))]


def _renumbered(pairs: MetPairs, place: NDArray[np.int32]) -> MetPairs:
    """The pairs of which both columns are kept, which is where ``place`` is not −1."""
    kept = np.flatnonzero((place[pairs.left] >= 0) & (place[pairs.right] >= 0))
    one, other = place[pairs.left[kept]], place[pairs.right[kept]]
    return MetPairs(np.minimum(one, other), np.maximum(one, other), pairs.joint[kept])


def _meetings(ones: Ones, new: Positions, keeps: NDArray[np.bool_]) -> Iterator[MetPairs]:
    """The pairs of some new columns with each other and with those that are kept."""
    rows = ones.tocsr()
    columns = ones[:, new].T
    work = np.concatenate([[0], np.cumsum(columns @ np.diff(rows.indptr).astype(np.int64))])
    start = 0
    while start < len(new):
        stop = max(start + 1, int(np.searchsorted(work, work[start] + _MEETINGS_AT_ONCE)) - 1)
        product = columns[start:stop] @ rows
        one = np.repeat(new[start:stop].astype(np.int32), np.diff(product.indptr))
        other = product.indices.astype(np.int32, copy=False)
        # the product has each pair of new columns twice, and each column with itself
        once = np.flatnonzero((other < one) | keeps[other])
        one, other = one[once], other[once]
        yield MetPairs(np.minimum(one, other), np.maximum(one, other), product.data[once])
        start = stop
    yield MetPairs(*(np.empty(0, np.int32) for _ in range(3)))
