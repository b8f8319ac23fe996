"""Packed columns with a matrix of their joint counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from conjunct.stores.base import Positions, Rewrite
from conjunct.stores.counted import Counted
from conjunct.stores.counting import Counts, count_across
from conjunct.stores.matrix import CountMatrix
from conjunct.stores.merging import CompleteMerging, MergedLists
from conjunct.stores.sizing import merges_as_lists

if TYPE_CHECKING:
    from conjunct.stores.bits import BitStore


@dataclass(frozen=True, eq=False)
class BitTally(Counted[CountMatrix]):
    """A store of packed columns and its counts."""

    store: BitStore
    counts: CountMatrix

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedBits:
        both = self.store.conjunctions(left, right)
        counts = self.counts.extended(self.store.joint_counts(both), both.joint_counts())
        return ConjoinedBits(self.store, both, counts)

    def merging(self) -> CompleteMerging:
        n_ones = int(self.counts.supports.sum())
        if merges_as_lists(self.n_rows, self.store.n_columns, n_ones):
            return CompleteMerging(self.counts, MergedLists(self.store.ones()))
        return CompleteMerging(self.counts, MergedBits(self.store))


@dataclass(frozen=True, eq=False)
class ConjoinedBits:
    """Only the columns ``i ∧ j`` are counted; all the rest follows by subtraction."""

    store: BitStore
    both: BitStore
    counts: CountMatrix

    def rewritten(self, rewrite: Rewrite) -> BitTally:
        return BitTally(self.store.rewritten(rewrite, self.both), self.counts.rewritten(rewrite))


class MergedBits:
    """Packed columns with room for new ones, in one piece of memory that the kernel reads."""

    def __init__(self, store: BitStore) -> None:
        self._n = store.n_columns
        self._n_threads = store.n_threads
        self._lines = store.bits
        self._make_room()

    def _make_room(self) -> None:
        n_bytes = self._lines.shape[1]
        larger = np.zeros((self._n + max(32, self._n // 4), n_bytes), np.uint8)
        larger[: self._n] = self._lines[: self._n]
        self._lines = larger

    def merge(self, left: int, right: int) -> Counts:
        if self._n == len(self._lines):
            self._make_room()
        both = self._lines[left] & self._lines[right]
        joint = count_across(self._lines[: self._n], both[None], self._n_threads)[:, 0]
        self._lines[left] ^= both
        self._lines[right] ^= both
        self._lines[self._n] = both
        self._n += 1
        return joint
