"""Columns with the counts of their pairs, wherever the rows are: one part, or many.

A row of weight w counts as w equal rows, exactly. Rows with weights are in parts by the binary
digits of their weights, and what is counted in the part of digit b counts 2ᵇ times. So a row is
there as often as its weight has ones in binary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    AnyRewrite,
    Columns,
    MergedColumns,
    MergeRewrite,
    Need,
    PairCounts,
    Positions,
    Rewrite,
    counts_dtype,
    native_library,
)
from conjunct.counting.merging import CompiledMerging, CompleteMerging, MaskedMerging, Merging
from conjunct.counting.partitioned import (
    PartitionedColumns,
    count_null_rows,
    fingerprint_word,
    sum_counts,
)
from conjunct.counting.patterns import (
    LinePatterns,
    MergedPartsWithPatterns,
    NativePatterns,
    Patterns,
    WeightedPatterns,
)


class Store(Protocol):
    """Boolean columns that count, in memory (``Columns``) or in parts. Never changed in place."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def has_missing(self) -> bool:
        """Return True if cells may be missing."""
        ...

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        """Add up what is counted in each part of the rows, for these columns and some more."""
        ...

    def after(self, rewrites: Sequence[AnyRewrite]) -> Store:
        """Return the columns after some rewrites, in order."""
        ...

    def with_conjunctions(self, left: Positions, right: Positions) -> Store:
        """Prepare the columns to count and to rewrite ``left[k] ∧ right[k]``."""
        ...

    def in_place(self) -> MergedColumns:
        """Return a copy, to be merged in place."""
        ...

    def need(self) -> Need:
        """Estimate what an iteration takes."""
        ...

    def count_ones(self) -> int:
        """Count the true cells, or return a bound where counting would take long."""
        ...

    def count_distinct_rows(self) -> int:
        """Count the distinct rows: the paper's ``unique(I)``."""
        ...

    def begin_distinct_rows(self) -> Callable[[], int]:
        """Begin to count them, if workers do; the function returned waits for the number."""
        ...

    def count_null_rows(self) -> int:
        """Count the rows in which no column is true: the support of the paper's "null"."""
        ...

    def fingerprint(self) -> int:
        """Return a number that identifies these rows."""
        ...


@dataclass(frozen=True, eq=False)
class Tally:
    """Columns and the counts of their pairs, from which those of the next feature set follow."""

    store: Store
    counts: PairCounts

    @classmethod
    def of(cls, store: Store) -> Tally:
        """Count every pair of columns."""
        count = partial(_count_pairs, counts_dtype(store.n_rows))
        return cls(store, store.total(count))

    def with_conjunctions(self, left: Positions, right: Positions) -> Tally:
        """Count the conjunctions ``left[k] ∧ right[k]``, once for all rewrites with them."""
        store = self.store.with_conjunctions(left, right)
        return Tally(store, self.counts.with_conjunctions(left, right, store.total))

    def rewritten(self, rewrite: Rewrite) -> Tally:
        """Return the next tally; ``rewrite`` has the first pairs of ``with_conjunctions``."""
        store = self.store.after([rewrite])
        return Tally(store, self.counts.rewritten(rewrite, store.total))

    def merging(self) -> Merging:
        """Return the same columns, to be merged in place, one pair at a time."""
        return self._merge_with(self.store.in_place())

    def merging_with_patterns(
        self, merges: Sequence[MergeRewrite] = ()
    ) -> tuple[Merging, Patterns]:
        """Return the columns after some merges, to be merged on, and the patterns of each."""
        store = self.store
        tally = Tally.of(store.after(merges)) if merges else self
        if isinstance(store, PartitionedColumns):
            parts = MergedPartsWithPatterns(store, self.counts, merges)
            return tally._merge_with(parts), parts
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

    def _merge_with(self, columns: MergedColumns) -> Merging:
        if self.store.has_missing:
            return MaskedMerging(self.counts, columns)
        if native_library is not None and counts_dtype(self.store.n_rows) is np.int32:
            return CompiledMerging(self.counts, columns)
        return CompleteMerging(self.counts, columns)


@dataclass(frozen=True, eq=False)
class WeightedColumns:
    """Columns whose rows have weights; ``n_rows`` is the sum of these."""

    rows: Columns
    """Each row of a weight above 0 once."""
    parts: tuple[Columns, ...]
    factors: tuple[int, ...]
    n_rows: int

    @classmethod
    def of(cls, columns: Columns, weights: NDArray[np.int64]) -> WeightedColumns:
        """Divide rows by the digits of ``weights``, which are whole and not all 0."""
        digits = [k for k in range(int(weights.max()).bit_length()) if (weights >> k & 1).any()]
        return cls(
            columns.take_rows(np.flatnonzero(weights)),
            tuple(columns.take_rows(np.flatnonzero(weights >> k & 1)) for k in digits),
            tuple(1 << k for k in digits),
            int(weights.sum()),
        )

    @property
    def n_columns(self) -> int:
        return self.parts[0].n_columns

    @property
    def has_missing(self) -> bool:
        return self.rows.has_missing

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        return _add_weighted(map(count, self.parts), self.factors)

    def after(self, rewrites: Sequence[AnyRewrite]) -> Self:
        return replace(self, parts=tuple(part.after(rewrites) for part in self.parts))

    def with_conjunctions(self, left: Positions, right: Positions) -> Self:
        parts = tuple(part.with_conjunctions(left, right) for part in self.parts)
        return replace(self, parts=parts)

    def in_place(self) -> MergedColumns:
        merged = [part.in_place() for part in self.parts]
        return _MergedWeighted(merged, self.factors, counts_dtype(self.n_rows))

    def need(self) -> Need:
        return self.rows.need()

    def count_ones(self) -> int:
        return self.rows.count_ones()

    def count_distinct_rows(self) -> int:
        return self.rows.count_distinct_rows()

    def begin_distinct_rows(self) -> Callable[[], int]:
        return self.count_distinct_rows

    def count_null_rows(self) -> int:
        return int(self.total(count_null_rows))

    def fingerprint(self) -> int:
        return int(self.total(fingerprint_word)[0])


class _MergedWeighted:
    """Parts that are merged in place, all alike."""

    def __init__(
        self, parts: Sequence[MergedColumns], factors: tuple[int, ...], dtype: type[Any]
    ) -> None:
        self._parts = parts
        self._factors = factors
        self._dtype = dtype

    def merge(self, left: int, right: int) -> Any:
        counts = (_convert(self._dtype, part.merge(left, right)) for part in self._parts)
        return _add_weighted(counts, self._factors)


def _count_pairs(dtype: Any, part: Columns) -> PairCounts:
    return part.pair_counts(dtype)


def _add_weighted(counts: Any, factors: tuple[int, ...]) -> Any:
    return sum_counts([_times(value, k) for value, k in zip(counts, factors, strict=True)])


def _times(value: Any, factor: int) -> Any:
    """Return what ``factor`` times the same rows count."""
    if isinstance(value, tuple):
        return tuple(_times(each, factor) for each in value)
    return value.times(factor) if isinstance(value, PairCounts) else value * factor


def _convert(dtype: type[Any], counts: Any) -> Any:
    if isinstance(counts, tuple):
        return tuple(each.astype(dtype) for each in counts)
    return counts.astype(dtype)
