"""Packed columns with a matrix of their joint counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conjunct.stores.base import Positions, Rewrite
from conjunct.stores.counted import Counted
from conjunct.stores.matrix import CountMatrix

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


@dataclass(frozen=True, eq=False)
class ConjoinedBits:
    """Only the columns ``i ∧ j`` are counted; all the rest follows by subtraction."""

    store: BitStore
    both: BitStore
    counts: CountMatrix

    def rewritten(self, rewrite: Rewrite) -> BitTally:
        return BitTally(self.store.rewritten(rewrite, self.both), self.counts.rewritten(rewrite))
