"""Columns whose rows are apart, in parts that count by themselves: their counts add up.

What a part holds after some iterations is a function of its source and of the rewrites so far.
Only counts are held together; each iteration is one pass over the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Protocol

from conjunct.stores.base import Contingency, Positions, Rewrite
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.matrix import CountMatrix

NewCounts = tuple[Counts, Counts]
"""Counts of conjunctions with all columns, and with one another."""


class Partitions(Protocol):
    """Parts of the rows, wherever they are. What is asked is summed over all parts.

    ``rewrites`` are those since the source, in order.
    """

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def pair_counts(self, rewrites: tuple[Rewrite, ...]) -> Counts:
        """How often each two columns are both true."""
        ...

    def new_counts(
        self, rewrites: tuple[Rewrite, ...], left: Positions, right: Positions
    ) -> NewCounts:
        """How often the conjunctions ``left[k] ∧ right[k]`` are true with what."""
        ...

    def count_distinct_rows(self) -> int: ...

    def count_null_rows(self) -> int: ...


def count_new(part: BitStore, left: Positions, right: Positions) -> NewCounts:
    """The share of one part in ``Partitions.new_counts``."""
    both = part.conjunctions(left, right)
    return part.joint_counts(both), both.joint_counts()


def starts_with(rewrites: tuple[Rewrite, ...], done: tuple[Rewrite, ...]) -> bool:
    """Whether ``done`` are the first of the rewrites: these very objects, for arrays have no ==."""
    return len(done) <= len(rewrites) and all(map(is_, rewrites, done))


@dataclass(frozen=True, eq=False)
class PartitionedStore:
    """The columns of partitions after some rewrites."""

    parts: Partitions
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def n_rows(self) -> int:
        return self.parts.n_rows

    @property
    def n_columns(self) -> int:
        return len(self.rewrites[-1].plus) if self.rewrites else self.parts.n_columns

    def after(self, rewrites: Sequence[Rewrite]) -> PartitionedStore:
        return replace(self, rewrites=(*self.rewrites, *rewrites))

    def tally(self) -> PartitionedTally:
        counts = CountMatrix(self.n_rows, self.parts.pair_counts(self.rewrites))
        return PartitionedTally(self, counts)

    def count_distinct_rows(self) -> int:
        # a rewrite loses nothing: rows that differ before it differ after it
        return self.parts.count_distinct_rows()

    def count_null_rows(self) -> int:
        # the conjunctions of a pair cover what the two columns cover
        return self.parts.count_null_rows()


@dataclass(frozen=True, eq=False)
class PartitionedTally:
    """Partitioned columns and the sums of their counts."""

    store: PartitionedStore
    counts: CountMatrix

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def supports(self) -> Counts:
        return self.counts.supports

    @property
    def observed(self) -> int:
        return self.counts.n_rows

    def met(self) -> Iterator[Contingency]:
        return self.counts.met()

    def of(self, left: Positions, right: Positions) -> Contingency:
        return self.counts.of(left, right)

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedParts:
        new = self.store.parts.new_counts(self.store.rewrites, left, right)
        return ConjoinedParts(self.store, self.counts.extended(*new))


@dataclass(frozen=True, eq=False)
class ConjoinedParts:
    """Parts are not touched until the next counts are asked for."""

    store: PartitionedStore
    counts: CountMatrix

    def rewritten(self, rewrite: Rewrite) -> PartitionedTally:
        return PartitionedTally(self.store.after([rewrite]), self.counts.rewritten(rewrite))
