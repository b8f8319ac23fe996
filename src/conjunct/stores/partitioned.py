"""Columns whose rows are apart, in parts that count by themselves: their counts add up.

What a part holds after some iterations is a function of its source and of the rewrites so far.
Only counts are held together; each iteration is one pass over the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Protocol

import numpy as np

from conjunct.stores.base import (
    AnyRewrite,
    MergeRewrite,
    Positions,
    Rewrite,
    Tally,
    columns_after,
)
from conjunct.stores.counted import Counted
from conjunct.stores.counting import Counts, counts_dtype
from conjunct.stores.matrix import CountMatrix
from conjunct.stores.merging import CompleteMerging, MaskedMerging
from conjunct.stores.pair_list import PairList, pairs_of
from conjunct.stores.partial_tally import Borders, PartialCounts
from conjunct.stores.parts import (
    JointCounts,
    KnownCounts,
    Meetings,
    NewCounts,
    PairedCounts,
    PartKind,
)
from conjunct.stores.sizing import Need, Size


class Partitions(Protocol):
    """Parts of the rows, wherever they are, all in one form."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def kind(self) -> PartKind: ...

    @property
    def size(self) -> Size:
        """What the columns are like, which takes a pass or two to see."""
        ...

    def total(
        self, rewrites: tuple[AnyRewrite, ...], count: Callable[[Any], Any], n_columns: int
    ) -> Any:
        """What is counted in each part, added up.

        ``rewrites`` are those since the source, in order; ``n_columns`` those whose counts will
        be held together.
        """
        ...

    def count_distinct_rows(self) -> int: ...

    def count_null_rows(self) -> int: ...


def starts_with(rewrites: tuple[AnyRewrite, ...], done: tuple[AnyRewrite, ...]) -> bool:
    """Whether ``done`` are the first of the rewrites: these very objects, for arrays have no ==."""
    return len(done) <= len(rewrites) and all(map(is_, rewrites, done))


@dataclass(frozen=True, eq=False)
class PartitionedStore:
    """The columns of partitions after some rewrites."""

    parts: Partitions
    rewrites: tuple[AnyRewrite, ...] = ()

    @property
    def n_rows(self) -> int:
        return self.parts.n_rows

    @property
    def n_columns(self) -> int:
        return columns_after(self.rewrites[-1]) if self.rewrites else self.parts.n_columns

    def need(self) -> Need:
        """What an iteration takes, beside the parts."""
        if self.parts.kind == "sparse":
            return self.parts.size.of_parts("sparse")
        # what bits take does not depend on how many of them are ones
        return Size(self.n_rows, self.n_columns, 0, 0, 0).of_parts("bits")

    def count_ones(self) -> int:
        """Number of true cells; of bits no more than this, for a look would be one more pass."""
        if self.parts.kind == "sparse":
            return self.parts.size.n_ones
        return self.n_rows * self.n_columns

    def after(self, rewrites: Sequence[AnyRewrite]) -> PartitionedStore:
        return replace(self, rewrites=(*self.rewrites, *rewrites))

    def tally(self) -> Tally:
        dtype = counts_dtype(self.n_rows)
        if self.parts.kind == "sparse":
            return ListedTally(
                self, PairList.from_matrix(self.n_rows, self.total(Meetings(None, 0, dtype)))
            )
        if self.parts.kind == "partial":
            true, true_known, _, known = self.total(KnownCounts(None, dtype))
            return PartialPartsTally(self, PartialCounts(self.n_rows, true, true_known, known))
        return MatrixTally(self, CountMatrix(self.n_rows, self.total(JointCounts(dtype))))

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        """What the parts count, for these columns and some more."""
        return self.parts.total(self.rewrites, count, self.n_columns + n_more)

    def count_distinct_rows(self) -> int:
        # a rewrite loses nothing: rows that differ before it differ after it
        return self.parts.count_distinct_rows()

    def count_null_rows(self) -> int:
        # the conjunctions of a pair cover what the two columns cover
        return self.parts.count_null_rows()


@dataclass(frozen=True, eq=False)
class MatrixTally(Counted[CountMatrix]):
    """Packed columns in parts, and the sums of their counts."""

    store: PartitionedStore
    counts: CountMatrix

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedParts:
        dtype = counts_dtype(self.n_rows)
        new = self.store.total(NewCounts(left, right, dtype), n_more=len(left))
        return ConjoinedParts(self.store, self.counts.extended(*new))

    def merging(self) -> CompleteMerging:
        return CompleteMerging(self.counts, MergedParts(self.store))


@dataclass(frozen=True, eq=False)
class ConjoinedParts:
    """Parts are not touched until the next counts are asked for."""

    store: PartitionedStore
    counts: CountMatrix

    def rewritten(self, rewrite: Rewrite) -> MatrixTally:
        return MatrixTally(self.store.after([rewrite]), self.counts.rewritten(rewrite))


@dataclass(frozen=True, eq=False)
class ListedTally(Counted[PairList]):
    """Lists of rows in parts, and the pairs that meet in any of them."""

    store: PartitionedStore
    counts: PairList

    def conjoined(self, left: Positions, right: Positions) -> ListedTally:
        # the columns themselves are counted, once they are made
        return self

    def rewritten(self, rewrite: Rewrite) -> ListedTally:
        store = self.store.after([rewrite])
        dtype = counts_dtype(self.n_rows)
        new = store.total(Meetings(rewrite, self.store.n_columns, dtype))
        return ListedTally(store, self.counts.rewritten(rewrite, new.diagonal(), pairs_of(new)))

    def merging(self) -> CompleteMerging:
        return CompleteMerging(self.counts, MergedParts(self.store))


@dataclass(frozen=True, eq=False)
class PartialPartsTally(Counted[PartialCounts]):
    """Columns with missing cells in parts, and the sums of their counts."""

    store: PartitionedStore
    counts: PartialCounts

    def conjoined(self, left: Positions, right: Positions) -> PartialPartsTally:
        # the columns themselves are counted, once they are made
        return self

    def rewritten(self, rewrite: Rewrite) -> PartialPartsTally:
        store = self.store.after([rewrite])
        kept = rewrite.plus[rewrite.kept(self.store.n_columns)]
        columns = np.arange(len(kept), store.n_columns)
        new = store.total(KnownCounts(columns, counts_dtype(self.n_rows)))
        return PartialPartsTally(store, self.counts.followed_by(kept, new))

    def merging(self) -> MaskedMerging:
        store, dtype = self.store, counts_dtype(self.n_rows)

        def merge(left: int, right: int) -> Borders:
            nonlocal store
            store = store.after([MergeRewrite(left, right, store.n_columns)])
            counts: Borders = store.total(
                KnownCounts(np.array([left, right, store.n_columns - 1]), dtype)
            )
            return counts

        return MaskedMerging(self.counts, merge)


class MergedParts:
    """Columns in parts: each merge is one pass over them."""

    def __init__(self, store: PartitionedStore) -> None:
        self._store = store

    def merge(self, left: int, right: int) -> Counts:
        store = self._store
        joint: Counts = store.total(PairedCounts(left, right, counts_dtype(store.n_rows)), n_more=1)
        self._store = store.after([MergeRewrite(left, right, store.n_columns)])
        return joint
