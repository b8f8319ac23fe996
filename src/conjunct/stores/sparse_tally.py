"""Sparse columns with the pairs that have a common row, and how many rows they have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.stores.base import Positions, Rewrite
from conjunct.stores.counted import Counted
from conjunct.stores.counting import Counts
from conjunct.stores.merging import CompleteMerging, MergedLists
from conjunct.stores.pair_list import MetPairs, PairList

Ones = Any
"""A scipy ``csc_array`` whose stored cells are all 1 and in order (int32)."""

# Meetings of two columns in a row that are counted together, at about 20 bytes each.
_MEETINGS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class SparseTally(Counted[PairList]):
    """A matrix of ones and its counts."""

    ones: Ones
    counts: PairList

    @classmethod
    def counted(cls, ones: Ones) -> SparseTally:
        """Count every pair of columns."""
        return cls(ones, PairList(ones.shape[0], supports_of(ones), met_pairs(ones)))

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedOnes:
        return ConjoinedOnes(self, conjunctions(self.ones, left, right))

    def merging(self) -> CompleteMerging:
        return CompleteMerging(self.counts, MergedLists(self.ones))


@dataclass(frozen=True, eq=False)
class ConjoinedOnes:
    """Only what is new is counted: pairs of kept columns keep their counts."""

    tally: SparseTally
    both: Ones

    def rewritten(self, rewrite: Rewrite) -> SparseTally:
        keeps = rewrite.kept(self.tally.ones.shape[1])
        ones = rewritten_ones(self.tally.ones, self.both, rewrite)
        new = met_pairs(ones, keeps)
        return SparseTally(ones, self.tally.counts.rewritten(rewrite, supports_of(ones), new))


def supports_of(ones: Ones) -> Counts:
    return np.asarray(np.diff(ones.indptr), np.int64)


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


def met_pairs(ones: Ones, keeps: NDArray[np.bool_] | None = None) -> MetPairs:
    """The pairs that meet, without those of two columns that were kept."""
    kept = np.zeros(ones.shape[1], np.bool_) if keeps is None else keeps
    return MetPairs.joined(list(_meetings(ones, np.flatnonzero(~kept), kept)))


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
