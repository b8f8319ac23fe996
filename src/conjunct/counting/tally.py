"""Columns with the counts of their pairs, for rows in one part or in many.

A row of weight w counts exactly as w equal rows. Rows with weights are divided into parts by the
binary digits of their weights: the counts of the part of digit b are multiplied by 2ᵇ. So a row is
in as many parts as its weight has ones in binary.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    AnyRewrite,
    Columns,
    CompiledLists,
    Contingency,
    CostEstimate,
    Counts,
    MergedColumns,
    MergeRewrite,
    PairCounts,
    PairList,
    Positions,
    Rewrite,
    SparseColumns,
    address,
    addresses,
    concat_rows,
    count_borders,
    counting_way,
    counts_dtype,
    line_bytes,
    native_library,
)
from conjunct.counting.merging import (
    CompiledMaskedMerging,
    CompiledMerging,
    CompleteMerging,
    MaskedMerging,
    Merging,
)
from conjunct.counting.partitioned import (
    PartitionedColumns,
    count_null_rows,
    fingerprint_word,
    sum_counts,
)

# Finding equal rows takes longer than counting fewer rows than this. Distinct rows must be fewer
# than all rows by this factor and, with rows in parts, fit in memory easily.
_FEWEST_ROWS, _FEWEST_REPEATS, _MOST_DISTINCT = 1 << 15, 4, 1 << 20


@dataclass(frozen=True, eq=False)
class Tally:
    """Columns and the counts of their pairs, from which the next counts follow."""

    store: Store
    counts: PairCounts

    @classmethod
    def of(cls, store: Store) -> Tally:
        """Count every pair of columns."""
        return cls(store, store.total(partial(_count_pairs, counts_dtype(store.n_rows))))

    def with_conjunctions(self, left: Positions, right: Positions) -> Tally:
        """Count the conjunctions ``left[k] ∧ right[k]``, once for all rewrites that use them."""
        store = self.store.with_conjunctions(left, right)
        return Tally(store, self.counts.with_conjunctions(left, right, store.total))

    def rewritten(self, rewrite: Rewrite) -> Tally:
        """Return the next tally; ``rewrite`` uses the first pairs of ``with_conjunctions``."""
        store = self.store.after([rewrite])
        return Tally(store, self.counts.rewritten(rewrite, store.total))

    def merging_with_patterns(
        self, merges: Sequence[MergeRewrite] = ()
    ) -> tuple[Merging, Patterns]:
        """Return the columns after some merges, for further merges, and their patterns."""
        store = self.store
        tally = Tally.of(store.after(merges)) if merges else self
        patterns: Patterns
        if isinstance(store, PartitionedColumns):
            patterns = MergedPartsWithPatterns(store, self.counts, merges)
            return tally.merging(patterns), patterns
        if isinstance(store, WeightedColumns):
            patterns = store.patterns()
        elif native_library is None or store.has_missing:
            patterns = LinePatterns([store], [1])
        else:
            patterns = NativePatterns(store)
        for merge in merges:
            patterns.join(merge.left, merge.right)
        return tally.merging(), patterns

    def merging(self, columns: MergedColumns | None = None) -> Merging:
        """Return the same columns for merging in place, one pair at a time."""
        columns = self.store.in_place() if columns is None else columns
        in_c = native_library is not None and counts_dtype(self.store.n_rows) is np.int32
        if self.store.has_missing:
            return (CompiledMaskedMerging if in_c else MaskedMerging)(self.counts, columns)
        return (CompiledMerging if in_c else CompleteMerging)(self.counts, columns)


@dataclass(frozen=True, eq=False)
class WeightedColumns:
    """Columns whose rows have weights; ``n_rows`` is the sum of the weights."""

    rows: Columns
    """The rows with positive weight, each once, before any rewrite."""
    weights: NDArray[np.int64]
    parts: tuple[Columns, ...]
    factors: tuple[int, ...]
    n_rows: int
    rewrites: tuple[AnyRewrite, ...] = ()

    @classmethod
    def of(cls, columns: Columns, weights: NDArray[np.integer[Any]]) -> WeightedColumns:
        """Divide rows by the binary digits of ``weights``, which are integers and not all 0."""
        counted = np.flatnonzero(weights)
        rows, whole = columns.take_rows(counted), weights[counted].astype(np.int64)
        digits = (1 << k for k in range(int(whole.max()).bit_length()))
        factors = tuple(digit for digit in digits if (whole & digit).any())
        parts = tuple(rows.take_rows(np.flatnonzero(whole & digit)) for digit in factors)
        return cls(rows, whole, parts, factors, int(whole.sum()))

    @classmethod
    def deduplicate(cls, store: Store) -> Store:
        """Return the distinct rows in memory, with their numbers of occurrences, if that is faster.

        For rows in parts this takes one pass. Rows with weights do not change.
        """
        # with missing cells, many parts of a few rows take longer than many rows
        fewest = 16 * _FEWEST_ROWS if store.has_missing else _FEWEST_ROWS
        if isinstance(store, cls) or store.n_rows < fewest:
            return store
        most = store.n_rows // _FEWEST_REPEATS
        if not isinstance(store, Columns):
            most = min(most, _MOST_DISTINCT)
        found: DistinctRows = store.total(partial(DistinctRows.of, most))
        if isinstance(store, Columns):
            store.n_distinct = found.n_distinct
        if found.rows is None:
            return store
        distinct = cls.of(found.rows, found.weights)
        distinct.rows.n_distinct = found.n_distinct
        return distinct

    @property
    def n_columns(self) -> int:
        return self.parts[0].n_columns

    @property
    def has_missing(self) -> bool:
        return self.rows.has_missing

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        return sum_counts(map(_times, map(count, self.parts), self.factors))

    def after(self, rewrites: Sequence[AnyRewrite]) -> Self:
        parts = tuple(part.after(rewrites) for part in self.parts)
        return replace(self, parts=parts, rewrites=(*self.rewrites, *rewrites))

    def with_conjunctions(self, left: Positions, right: Positions) -> Self:
        parts = tuple(part.with_conjunctions(left, right) for part in self.parts)
        return replace(self, parts=parts)

    def in_place(self) -> MergedColumns:
        if self._has_lists:
            rows = SparseColumns.of(self.rows.after(self.rewrites))
            return CompiledLists(rows.ones, self.weights.astype(np.int32))
        return _MergedWeighted(self.parts, self.factors)

    def patterns(self) -> Patterns:
        """Return the patterns of the columns, before any rewrite."""
        if self._has_lists:
            return NativePatterns(SparseColumns.of(self.rows), self.weights.astype(np.int32))
        return LinePatterns(self.parts, self.factors)

    @property
    def _has_lists(self) -> bool:
        """True if C can count with weights: lists of rows with counts that fit in 32 bits."""
        has_c = native_library is not None and counts_dtype(self.n_rows) is np.int32
        return has_c and not self.has_missing

    def estimate_cost(self, *, in_merges: bool = False) -> CostEstimate:
        return self.rows.estimate_cost(in_merges=in_merges)

    def count_ones(self) -> int:
        return self.rows.count_ones()

    def count_distinct_rows(self) -> int:
        return self.rows.count_distinct_rows()

    def begin_distinct_rows(self) -> Callable[[], int]:
        return self.rows.begin_distinct_rows()

    def count_null_rows(self) -> int:
        return int(self.total(count_null_rows))

    def fingerprint(self) -> int:
        return int(self.total(fingerprint_word)[0])


Store = Columns | PartitionedColumns | WeightedColumns
"""Boolean columns that can be counted, in memory or in parts.

``total`` sums the counts of all parts of the rows, for these columns and some more.
"""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of some parts, at most ``most``, and the number of occurrences of each.

    ``rows`` is ``None`` if there are more, or if they cannot be determined.
    """

    most: int
    n_distinct: int | None
    rows: Columns | None = None
    weights: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(cls, most: int, part: Columns, weights: NDArray[np.int64] | None = None) -> DistinctRows:
        """Find the distinct rows of a part."""
        firsts = part.find_equal_rows()
        if firsts is None:
            return cls(most, None)
        counts = np.bincount(firsts, weights, part.n_rows)
        distinct = np.flatnonzero(counts)
        if len(distinct) > most:
            return cls(most, len(distinct))
        # exact, because floats hold integers of 53 bits
        whole = counts[distinct].astype(np.int64)
        return cls(most, len(distinct), part.take_rows(distinct), whole)

    def __add__(self, other: DistinctRows) -> DistinctRows:
        if self.rows is None or other.rows is None:
            return self if self.rows is None else other
        rows = concat_rows([self.rows, other.rows])
        return self.of(self.most, rows, np.concatenate([self.weights, other.weights]))


class _MergedWeighted:
    """Parts that are merged in place, all in the same way."""

    def __init__(self, parts: Sequence[Columns], factors: Sequence[int]) -> None:
        self._parts = [part.in_place() for part in parts]
        # 64 bits, like the products
        self._factors = np.array(factors, np.int64)

    def merge(self, left: int, right: int) -> Any:
        counts = (part.merge(left, right) for part in self._parts)
        return sum_counts(map(_times, counts, self._factors))


def _times(value: Any, factor: int) -> Any:
    """Return the counts of ``factor`` copies of the same rows."""
    return tuple(each * factor for each in value) if isinstance(value, tuple) else value * factor


# A column of a run is a feature: after a merge, ``i ∧ ¬j`` is true in fewer rows than the tags of
# i. The rows that have all tags of a pattern, which a reader would count, are stored separately:
# position k has the pattern of the feature at position k. A merge does not change the patterns of
# i and j, and appends the pattern of both, so the table of two positions never changes.


class PatternTable(NamedTuple):
    """The number of rows in which two patterns are known, and with all tags of each and of both."""

    n_rows: int
    left: int
    right: int
    both: int


class LinePatterns:
    """Patterns of rows in memory, with a line per pattern, counted when a pair is requested.

    The counts of a part of the rows are multiplied by its factor.
    """

    def __init__(self, parts: Sequence[Columns], factors: Sequence[int]) -> None:
        self._parts = [(part, list(part.raw_columns)) for part in parts]
        self._factors = np.array(factors, np.int64)

    def join(self, left: int, right: int) -> None:
        """Append the pattern with the tags of both."""
        for part, lines in self._parts:
            lines.append(
                part.conjunction(lines[left], lines[right], not_left=False, not_right=False)
            )

    def table(self, left: int, right: int) -> PatternTable:
        """Count the rows of two patterns."""
        counted = [part.count_table(lines[left], lines[right]) for part, lines in self._parts]
        return PatternTable(*(self._factors @ np.array(counted, np.int64)).tolist())


class NativePatterns:
    """Patterns in C, without missing cells: bits, or lists of rows, which may have weights."""

    def __init__(self, columns: Columns, weights: NDArray[np.int32] | None = None) -> None:
        self._n_rows = columns.n_rows if weights is None else int(weights.sum())
        self._weights = weights  # keep alive for C
        lines = columns.raw_columns
        is_bits = len(lines) > 0 and lines[0].dtype == np.uint8
        to_array = partial(np.ascontiguousarray, dtype=np.uint8 if is_bits else np.int32)
        # keep the original lines alive for C
        self._lines = [*map(to_array, lines)]
        where, lengths = addresses(self._lines), columns.supports().astype(np.int64)
        size = len(lines), counting_way(), line_bytes(columns.n_rows) if is_bits else 0
        of_weights = None if weights is None else address(weights)
        self.pointer: int | None = native_library.native_patterns_new(
            *size, address(where), address(lengths), of_weights
        )
        if self.pointer is None:
            raise MemoryError("not enough memory for the patterns")
        weakref.finalize(self, native_library.native_patterns_free, self.pointer)

    def join(self, left: int, right: int) -> None:
        if native_library.native_patterns_join(self.pointer, left, right) < 0:
            raise MemoryError("not enough memory for the patterns")

    def table(self, left: int, right: int) -> PatternTable:
        pointer, count = self.pointer, native_library.native_patterns_count
        counts = count(pointer, left, left), count(pointer, right, right)
        return PatternTable(self._n_rows, *counts, count(pointer, left, right))


class MergedPartsWithPatterns:
    """Columns in parts, merged in place with their patterns; a pass counts one or more merges.

    The parts hold features at even positions and patterns at odd ones. A pass is expensive, so all
    tables of a new pattern are counted at once.
    """

    def __init__(
        self, store: PartitionedColumns, first: PairCounts, merges: Sequence[MergeRewrite] = ()
    ) -> None:
        n = store.n_columns
        nothing = np.empty(0, np.intp)
        twice = np.repeat(np.arange(n), 2)
        doubled = Rewrite(nothing, nothing, twice, np.full_like(twice, -1))
        self._store = store.after([doubled])
        self._first = first
        # a sparse matrix finds a pair faster than lists of pairs
        self._matrix = first.matrix if isinstance(first, PairList) else None
        self._n_first = self._n = n
        # the tables of each new pattern with all earlier ones
        self._tables: list[Counts] = []
        # the counts of the next merges
        self._ahead: list[Any] = []
        for merge in merges:
            self._rewrite(merge.left, merge.right)
        if merges:
            new, dtype = np.arange(n, self._n), counts_dtype(store.n_rows)
            self._keep_tables(new, self._total(partial(_count_tables, new, dtype)))

    def _total(self, count: Callable[[Columns], Any]) -> Any:
        # only the counts of features are held together, not those of all columns of the parts
        return self._store.parts.total(self._store.rewrites, count, self._n)

    def _rewrite(self, left: int, right: int) -> None:
        n = self._n
        self._store = self._store.after(
            [
                MergeRewrite(2 * left, 2 * right, 2 * n),
                MergeRewrite(2 * left + 1, 2 * right + 1, 2 * n + 1, only_adds=True),
            ]
        )
        self._n += 1

    def count_ahead(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Count the next merges in one pass; no two of them have a column in common."""
        n, n_merges, dtype = self._n, len(pairs), counts_dtype(self._store.n_rows)
        for pair in pairs:
            self._rewrite(*pair)
        left, right = np.array(pairs, np.intp).T
        new = np.arange(n, self._n)
        changed = np.stack([left, right, new])
        *counts, tables = self._total(partial(_count_merges, changed, dtype))
        self._keep_tables(new, tables)
        if self._store.has_missing:
            for k, end in enumerate((new + 1).tolist()):
                self._ahead.append(tuple(lines[k::n_merges, :end] for lines in counts))
            return
        joint = counts[0]
        # as before its merge, when the two columns of a pair still contained their common rows
        common = np.triu(joint[:, n:])
        joint[:, left] += common
        joint[:, right] += common
        self._ahead += [joint[k, :end] for k, end in enumerate(new.tolist())]

    def _keep_tables(self, new: Positions, tables: Counts) -> None:
        """Keep the tables of each new pattern with the patterns up to itself."""
        for k, end in enumerate((new + 1).tolist()):
            self._tables.append(tables[:, k, :end].copy())

    def merge(self, left: int, right: int) -> Any:
        if not self._ahead:
            self.count_ahead([(left, right)])
        return self._ahead.pop(0)

    def join(self, left: int, right: int) -> None:
        """Do nothing, because ``merge`` has added the pattern."""

    def table(self, left: int, right: int) -> PatternTable:
        if left > right:
            n_rows, one, other, both = self.table(right, left)
            return PatternTable(n_rows, other, one, both)
        if right >= self._n_first:
            table = self._tables[right - self._n_first]
            if self._store.has_missing:
                n_rows, newer, older, both = table[:, left].tolist()
                return PatternTable(n_rows, older, newer, both)
            joint = table[0, left]
        elif self._matrix is not None:
            joint = self._matrix[left, right]
        else:
            pair = self._first.for_pairs(np.array([left]), np.array([right]))
            return PatternTable(*(int(np.ravel(count)[0]) for count in pair.table))
        supports = self._support(left), self._support(right)
        return PatternTable(self._store.n_rows, *supports, int(joint))

    def _support(self, position: int) -> int:
        """Count the rows of a pattern, without missing cells."""
        if position < self._n_first:
            return int(self._first.supports[position])
        return int(self._tables[position - self._n_first][0, -1])


Patterns = LinePatterns | NativePatterns | MergedPartsWithPatterns


def _count_merges(changed: Positions, dtype: Any, columns: Columns) -> tuple[Counts, ...]:
    """Count the changes of merges in a part: features with features, patterns with patterns.

    ``changed`` has a column per merge: the positions of the pair and of the new feature.
    """
    new = changed[2]
    features = columns.select(range(0, 2 * new[-1] + 2, 2))
    tables = _count_tables(new, dtype, columns)
    if columns.has_missing:
        return *count_borders(changed.ravel(), dtype, features), tables
    return features.select(new.tolist()).joint_with(features).astype(dtype), tables


def _count_tables(new: Positions, dtype: Any, columns: Columns) -> Counts:
    """Count the tables of new patterns with all patterns: an array per count, a row per pattern."""
    patterns = columns.select(range(1, 2 * new[-1] + 2, 2))
    some = patterns.select(new.tolist())
    if not columns.has_missing:
        # all else is known
        return some.joint_with(patterns)[None].astype(dtype)
    true, true_known, known_true, known = some.count_with(patterns)  # type: ignore[attr-defined]
    return np.array([known, true_known, known_true, true], dtype)


class RowSample(NamedTuple):
    """Distinct rows in the order of their hashes, and the weight of each in the sample.

    A distinct row is sampled by its hash, with a probability proportional to its number of
    occurrences, at most 1. The order of rows, their partitions and layouts, and weights instead of
    repeated rows therefore change nothing. Frequent rows are never left out.
    """

    rows: Columns
    hashes: NDArray[np.uint64]
    weights: NDArray[Any]

    def thin(self, n_rows: int, limit: int) -> RowSample:
        """Return a sample of about ``limit`` of all ``n_rows`` rows, of which these are distinct.

        A rare row in the sample counts once; frequent rows count in proportion to their frequency.
        """
        some = _is_sampled(self.hashes, self.weights, n_rows, limit)
        weights = np.maximum(self.weights[some] * (limit / n_rows), 1.0)
        return RowSample(self.rows.take_rows(np.flatnonzero(some)), self.hashes[some], weights)


def sample_rows(store: Store, limit: int, places: Sequence[int] | None = None) -> RowSample:
    """Return all distinct rows of some columns, or about ``limit`` if there are more rows."""
    places = range(store.n_columns) if places is None else places
    if isinstance(store, WeightedColumns):
        rows = store.rows.after(store.rewrites).select(places)
        parts = [RowSample(rows, rows.row_hashes(), store.weights)]
    else:
        parts = store.total(partial(_sample_part, places, limit))
    every = parts[0]
    if len(parts) > 1:
        rows, hashes, weights = zip(*parts, strict=True)
        every = RowSample(concat_rows(rows), np.concatenate(hashes), np.concatenate(weights))
    hashes, first, which = np.unique(every.hashes, return_index=True, return_inverse=True)
    if len(parts) == 1 or store.n_rows <= limit:
        counts = np.bincount(which, every.weights, len(hashes)).astype(np.int64)
    else:
        # a row in the sample of all rows is also in the sample of a part, where it is not rarer
        counts = np.asarray(store.total(partial(_count_hashes, places, hashes)))
    found = RowSample(every.rows.take_rows(first), hashes, counts)
    return found if store.n_rows <= limit else found.thin(store.n_rows, limit)


def _sample_part(places: Sequence[int], limit: int, part: Columns) -> list[RowSample]:
    """Return the sampled rows of a part, and the number of occurrences of each."""
    part = part.select(places)
    hashes, some, n_rows = part.row_hashes(), np.arange(part.n_rows), part.n_rows
    if n_rows > limit:
        # a row is not more frequent than the bucket of the last bits of its hash
        n_buckets = 1 << max(16, n_rows.bit_length() - 2)
        last = (hashes & np.uint64(n_buckets - 1)).astype(np.intp)
        most = np.bincount(last, minlength=n_buckets)[last]
        some = np.flatnonzero(_is_sampled(hashes, most, n_rows, limit))
    hashes, first, counts = np.unique(hashes[some], return_index=True, return_counts=True)
    if n_rows > limit:
        found = _is_sampled(hashes, counts, n_rows, limit)
        hashes, first, counts = hashes[found], first[found], counts[found]
    return [RowSample(part.take_rows(some[first]), hashes, counts)]


def _count_pairs(dtype: Any, part: Columns) -> PairCounts:
    return part.pair_counts(dtype)


def _is_sampled(hashes: Any, counts: Any, n_rows: int, limit: int) -> NDArray[np.bool_]:
    return np.asarray(hashes < counts * (2.0**64 * limit / n_rows))


def _count_hashes(places: Sequence[int], hashes: NDArray[np.uint64], part: Columns) -> Counts:
    """Count the rows of a part that have each of some sorted hashes."""
    own = part.select(places).row_hashes()
    place = np.minimum(np.searchsorted(hashes, own), len(hashes) - 1)
    return np.bincount(place[hashes[place] == own], minlength=len(hashes))


MAX_TAGS = 5000
"""Number of most frequent tags to learn from: three matrices of this size take 600 MB."""
MAX_ROWS = 10_000
"""Approximate size of the sample of rows."""
MAX_CELLS = 2_000_000
"""Maximum number of cells of the sample: 250 kB as bits."""


@dataclass(frozen=True, eq=False)
class TagCounts:
    """The counts of tags, alone and together.

    With missing cells, ``alone[i, j]`` counts the rows with tag i in which tag j is known, and
    ``known[i, j]`` counts the rows in which both are known.
    """

    places: tuple[int, ...]
    """Positions of the tags among the columns."""
    tags: tuple[str, ...]
    variables: tuple[str | None, ...]
    n_rows: int
    n_tags: int
    """Number of tags that occur; only the most frequent ones are included."""
    joint: Counts
    alone: Counts | None = None
    known: Counts | None = None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        counts: PairCounts,
        variables: Sequence[str | None] = (),
        max_tags: int = MAX_TAGS,
    ) -> TagCounts:
        """Return the counts of the most frequent tags, in the order of their names."""
        supports = np.asarray(counts.supports)
        some = np.flatnonzero(supports)
        by_name = np.array(sorted(some.tolist(), key=names.__getitem__), np.intp)
        order = by_name[np.argsort(-supports[by_name], kind="stable")]
        # in the order of names; counts of pairs need the order of columns
        kept = np.array(sorted(order[:max_tags].tolist(), key=names.__getitem__), np.intp)
        m, by_column = len(kept), np.argsort(kept)
        joint = np.zeros((m, m), supports.dtype)
        alone = known = None
        if not isinstance(counts.observed, int):
            alone, known = np.zeros_like(joint), np.zeros_like(joint)
        for pair in _pair_blocks(m):
            left, right = map(by_column.__getitem__, pair)
            table = counts.for_pairs(kept[left], kept[right])
            joint[left, right] = joint[right, left] = table.joint
            if alone is not None and known is not None:
                alone[left, right], alone[right, left] = table.left_support, table.right_support
                known[left, right] = known[right, left] = table.n_rows
        np.fill_diagonal(joint, supports[kept])
        if alone is not None and known is not None:
            np.fill_diagonal(alone, supports[kept])
            np.fill_diagonal(known, np.asarray(counts.observed)[kept])
        places = tuple(kept.tolist())
        tags = tuple(map(names.__getitem__, places))
        values = tuple(map(variables.__getitem__, places)) if variables else (None,) * m
        return cls(places, tags, values, counts.n_rows, len(some), joint, alone, known)

    def sample(self, store: Store) -> RowSample:
        """Return a sample of rows to learn from, with only these tags as columns."""
        limit = min(MAX_ROWS, MAX_CELLS // max(len(self.tags), 1))
        return sample_rows(store, limit, self.places)

    @property
    def supports(self) -> Counts:
        return np.diagonal(self.joint)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of rows with each tag among the rows in which it is known."""
        known = self.n_rows if self.known is None else np.diagonal(self.known)
        return self.supports / np.maximum(known, 1)

    @cached_property
    def strata(self) -> Positions:
        """The frequency class of each tag, by powers of 2, with 0 for the most frequent tags."""
        halvings = np.floor(-np.log2(self.shares)).astype(np.intp)
        return np.unique(halvings, return_inverse=True)[1].astype(np.intp)

    @cached_property
    def groups(self) -> list[Positions]:
        """The positions of the tags of each variable; a plain tag is a group by itself."""
        places: dict[Any, list[int]] = {}
        for k, variable in enumerate(self.variables):
            places.setdefault(k if variable is None else (variable,), []).append(k)
        return [np.array(some, np.intp) for some in places.values()]

    def may_meet(self, left: Positions, right: Positions) -> NDArray[np.bool_]:
        """Mark the pairs that are not two values of one variable."""
        group = np.empty(len(self.tags), np.intp)
        for k, some in enumerate(self.groups):
            group[some] = k
        apart: NDArray[np.bool_] = group[left] != group[right]
        return apart

    def pairs(self) -> Iterator[Contingency]:
        """Yield blocks of all pairs of tags that are not two values of one variable."""
        for left, right in _pair_blocks(len(self.tags)):
            may_meet = self.may_meet(left, right)
            yield self.for_pairs(left[may_meet], right[may_meet])

    def for_pairs(self, left: Positions, right: Positions) -> Contingency:
        """Return the counts of some pairs."""
        joint = self.joint[left, right]
        if self.alone is None or self.known is None:
            alone, other = self.supports[left], self.supports[right]
            return Contingency(left, right, self.n_rows, alone, other, joint)
        alone, other = self.alone[left, right], self.alone[right, left]
        return Contingency(left, right, self.known[left, right], alone, other, joint)

    def gram(self) -> NDArray[np.float64]:
        """Return the joint counts, scaled to all rows if cells are missing."""
        if self.known is None:
            return self.joint.astype(np.float64)
        return self.joint * (self.n_rows / np.maximum(self.known, 1))

    def take(self, positions: Positions) -> TagCounts:
        """Return the counts of some of the tags."""
        square, order = np.ix_(positions, positions), positions.tolist()
        return replace(
            self,
            places=tuple(map(self.places.__getitem__, order)),
            tags=tuple(map(self.tags.__getitem__, order)),
            variables=tuple(map(self.variables.__getitem__, order)),
            joint=self.joint[square],
            alone=None if self.alone is None else self.alone[square],
            known=None if self.known is None else self.known[square],
        )


def _pair_blocks(n_tags: int) -> Iterator[tuple[Positions, Positions]]:
    """Yield blocks of all pairs of numbers below ``n_tags``."""
    step = max(1, (1 << 20) // max(n_tags, 1))
    for start in range(0, n_tags, step):
        cells = np.arange(start * n_tags, min(start + step, n_tags) * n_tags)
        left, right = np.divmod(cells, n_tags)
        above = right > left
        yield left[above], right[above]
