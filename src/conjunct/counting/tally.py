"""Columns with the counts of their pairs, wherever the rows are: one part, or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Protocol

import numpy as np

from conjunct.columns import (
    AnyRewrite,
    MergedColumns,
    MergeRewrite,
    Need,
    PairCounts,
    Positions,
    Rewrite,
    counts_dtype,
    native_library,
)
from conjunct.counting.compiled import CompiledMerging
from conjunct.counting.merging import CompleteMerging, MaskedMerging, Merging
from conjunct.counting.partitioned import PartitionedColumns
from conjunct.counting.patterns import (
    LinePatterns,
    MergedPartsWithPatterns,
    NativePatterns,
    Patterns,
    WeightedPatterns,
)
from conjunct.counting.weighted import WeightedColumns


class Store(Protocol):
    """Boolean columns that count, in memory (``Columns``) or in parts. Never changed in place."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def has_missing(self) -> bool:
        """Whether cells may be missing."""
        ...

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        """What is counted in each part of the rows, added up, for these columns and some more."""
        ...

    def after(self, rewrites: Sequence[AnyRewrite]) -> Store:
        """The columns after some rewrites, in order."""
        ...

    def with_conjunctions(self, left: Positions, right: Positions) -> Store:
        """The same columns, with what helps to count and to rewrite ``left[k] ∧ right[k]``."""
        ...

    def in_place(self) -> MergedColumns:
        """A copy, to be merged in place."""
        ...

    def need(self) -> Need:
        """What an iteration takes."""
        ...

    def count_ones(self) -> int:
        """Number of true cells, or a bound of it where a look would take long."""
        ...

    def count_distinct_rows(self) -> int:
        """Number of distinct rows: the paper's ``unique(I)``."""
        ...

    def begin_distinct_rows(self) -> Callable[[], int]:
        """Begin to count them where others do the work; what is returned waits for the number."""
        ...

    def count_null_rows(self) -> int:
        """Number of rows in which no column is true: the support of the paper's "null"."""
        ...

    def fingerprint(self) -> int:
        """A number that tells these rows from others."""
        ...


@dataclass(frozen=True, eq=False)
class Tally:
    """Columns and the counts of their pairs, from which those of the next feature set follow."""

    store: Store
    counts: PairCounts

    @classmethod
    def of(cls, store: Store) -> Tally:
        """Count every pair of columns."""
        count = methodcaller("pair_counts", counts_dtype(store.n_rows))
        return cls(store, store.total(count))

    def with_conjunctions(self, left: Positions, right: Positions) -> Tally:
        """Count the conjunctions ``left[k] ∧ right[k]``, once for all rewrites with them."""
        store = self.store.with_conjunctions(left, right)
        return Tally(store, self.counts.with_conjunctions(left, right, store.total))

    def rewritten(self, rewrite: Rewrite) -> Tally:
        """The next tally; ``rewrite`` names the first pairs of ``with_conjunctions``, or all."""
        store = self.store.after([rewrite])
        return Tally(store, self.counts.rewritten(rewrite, store.total))

    def merging(self) -> Merging:
        """The same columns, to be merged in place, one pair at a time."""
        return self._merging(self.store.in_place())

    def merging_with_patterns(
        self, merges: Sequence[MergeRewrite] = ()
    ) -> tuple[Merging, Patterns]:
        """Return the columns after some merges, to be merged on, and the patterns of each."""
        store = self.store
        tally = Tally.of(store.after(merges)) if merges else self
        if isinstance(store, PartitionedColumns):
            parts = MergedPartsWithPatterns(store, self.counts, merges)
            return tally._merging(parts), parts
        patterns: Patterns
        if isinstance(store, WeightedColumns):
            patterns = WeightedPatterns(store.parts, store.factors)
        elif native_library is None or store.has_missing:
            patterns = LinePatterns(store)  # type: ignore[arg-type]
        else:
            patterns = NativePatterns(store)  # type: ignore[arg-type]
        for merge in merges:
            patterns.join(merge.left, merge.right)
        return tally.merging(), patterns

    def _merging(self, columns: MergedColumns) -> Merging:
        if self.store.has_missing:
            return MaskedMerging(self.counts, columns)
        if native_library is not None and counts_dtype(self.store.n_rows) is np.int32:
            return CompiledMerging(self.counts, columns)
        return CompleteMerging(self.counts, columns)
