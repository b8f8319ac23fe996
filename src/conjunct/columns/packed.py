"""Columns as packed bits; if cells are missing, with further bits of where they are known."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import DTypeLike, NDArray

from conjunct.columns import kernel
from conjunct.columns.base import Arrays, Columns, Mask, Words
from conjunct.columns.counts import (
    Borders,
    Contingency,
    CountMatrix,
    MaskedCounts,
    MergedColumns,
    Positions,
    Rewrite,
)
from conjunct.columns.kernel import (
    Bits,
    Counts,
    address,
    count_pairs,
    counts_dtype,
    even_edges,
    line_bytes,
    native_library,
    pack_column,
    rows_as_words,
    run_threads,
)
from conjunct.columns.sizing import LISTED_BYTES, fits, merge_seconds

# Writing fewer bytes than this takes less time than starting a thread.
_BYTES_PER_THREAD = 1 << 22


class PackedColumns(Columns):
    """One line of bits per column. Joint counts are population counts of ``and``."""

    # the last conjunctions: left, right, columns
    _cache: tuple[Positions, Positions, Self] | None = None

    raw_columns: Any

    @classmethod
    def from_table(cls, table: Mask, n_jobs: int | None = None) -> Self:
        """Pack a Boolean array."""
        return cls(kernel.pack(table, effective_n_jobs(n_jobs)), len(table), n_jobs)

    @classmethod
    def from_blocks(
        cls,
        block: Callable[[int, int], Mask],
        n_rows: int,
        n_columns: int,
        n_jobs: int | None = None,
    ) -> Self:
        """Pack a table in blocks of rows: ``block(start, stop)`` → Boolean array."""
        bits = kernel.pack_blocks(block, n_rows, n_columns, effective_n_jobs(n_jobs))
        return cls(bits, n_rows, n_jobs)

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        return cls(arrays[0], n_rows, n_jobs)

    @classmethod
    def of(cls, columns: Columns) -> Self:
        bits = columns.to_bits()
        return bits if isinstance(bits, cls) else cls(bits.raw_columns, bits.n_rows, bits.n_jobs)

    def arrays(self) -> Arrays:
        return (self.bits,)

    @property
    def nbytes(self) -> int:
        return self.n_columns * line_bytes(self.n_rows)

    @property
    def bits(self) -> Bits:
        """All lines as one array."""
        if isinstance(self.raw_columns, np.ndarray):
            return self.raw_columns
        return np.array(self.raw_columns, np.uint8).reshape(self.n_columns, line_bytes(self.n_rows))

    def to_bits(self) -> PackedColumns:
        return self

    rows_as_bits = to_bits

    def cells(self, position: int) -> tuple[Mask, None]:
        line = self.raw_columns[position]
        return np.unpackbits(line, count=self.n_rows, bitorder="little").view(np.bool_), None

    def row_block(self, start: int, stop: int) -> tuple[Mask, None]:
        n_bytes, lines = line_bytes(stop - start), self.raw_columns
        some = slice(start // 8, start // 8 + n_bytes)
        if isinstance(lines, np.ndarray):
            bits = lines[:, some]
        else:
            bits = np.array([line[some] for line in lines], np.uint8).reshape(len(lines), n_bytes)
        cells = np.unpackbits(bits, axis=1, count=stop - start, bitorder="little")
        return cells.view(np.bool_), None

    def to_dense(self) -> Mask:
        return kernel.unpack(self.bits, self.n_rows, self.n_threads)

    def first_rows(self, n_rows: int) -> Self:
        bits = self.bits[:, : line_bytes(n_rows)]
        if n_rows % 64:
            bits = bits & pack_column(np.ones(n_rows, np.bool_))
        return type(self)(np.ascontiguousarray(bits), n_rows, self.n_jobs)

    def take_rows(self, rows: Positions) -> Self:
        if len(rows) < self.n_rows // 16:
            # reading few bits takes less time and memory than transposing all of them
            place, bit = rows >> 3, (rows & 7).astype(np.uint8)
            lines = [pack_column(line[place] >> bit & 1) for line in self.raw_columns]
            return type(self)(lines, len(rows), self.n_jobs)
        words = rows_as_words(self.bits, self.n_rows, self.n_threads)[rows]
        bits = kernel.pack_rows(words.view(np.uint8), self.n_columns)
        return type(self)(bits, len(rows), self.n_jobs)

    @property
    def everywhere(self) -> Bits:
        """The line of a column that is always true."""
        return pack_column(np.ones(self.n_rows, np.bool_))

    @property
    def empty_column(self) -> Bits:
        return np.zeros(line_bytes(self.n_rows), np.uint8)

    def conjunction(self, left: Bits, right: Bits, *, not_left: bool, not_right: bool) -> Bits:
        if not_left and not_right:
            return self.everywhere ^ (left | right)
        if not_left:
            left, right, not_right = right, left, True
        return left & (np.bitwise_not(right) if not_right else right)

    def disjunction(self, left: Bits, right: Bits) -> Bits:
        return left | right

    def with_conjunctions(self, left: Positions, right: Positions) -> Self:
        same = self.with_raw_columns(self.raw_columns)
        same._cache = left, right, self.conjunctions(left, right)
        return same

    def conjunctions(self, left: Positions, right: Positions) -> Self:
        """Return the columns ``left[k] ∧ right[k]``."""
        if self._cache is not None:
            n, (one, other, cached) = len(left), self._cache
            if np.array_equal(one[:n], left) and np.array_equal(other[:n], right):
                return cached.with_raw_columns(cached.raw_columns[:n])
        lines = self.raw_columns
        return self._make_columns(lambda k: lines[left[k]] & lines[right[k]], len(left))

    def append_columns(self, other: Self) -> Self:
        """Return these columns, then those of ``other``."""
        return self.with_raw_columns([*self.raw_columns, *other.raw_columns])

    def rewritten(self, rewrite: Rewrite) -> Self:
        lines = [*self.raw_columns, *self.conjunctions(rewrite.left, rewrite.right).raw_columns]

        def line(k: int) -> Bits:
            whole: Bits = lines[rewrite.plus[k]]
            return whole if rewrite.minus[k] < 0 else whole ^ lines[rewrite.minus[k]]

        return self._make_columns(line, rewrite.n_after)

    def _make_columns(self, line: Callable[[int], Bits], n_lines: int) -> Self:
        """Make columns on all threads. ``line(k)`` is the k-th line."""
        lines: list[Bits] = [self.empty_column] * n_lines

        def make(start: int, stop: int) -> None:
            for k in range(start, stop):
                lines[k] = line(k)

        n_bytes = n_lines * line_bytes(self.n_rows)
        n_threads = max(1, min(self.n_threads, n_bytes // _BYTES_PER_THREAD))
        run_threads(even_edges(n_lines, n_threads), make)
        return self.with_raw_columns(lines)

    def in_place(self) -> MergedColumns:
        n_ones = self.count_ones()
        of_dense, of_lists = merge_seconds(self.n_rows, self.n_columns, n_ones)
        if of_lists < of_dense and fits(LISTED_BYTES * n_ones):
            return merge_lists(self.ones())
        return MergedBits(self.bits, self.n_threads)

    def ones(self) -> Any:
        """Return the columns as a sparse matrix of ones, in column order."""
        rows = [self.true_rows(k) for k in range(self.n_columns)]
        starts = np.cumsum([0, *map(len, rows)])
        every = np.concatenate([np.empty(0, np.intp), *rows]).astype(np.int32)
        shape = (self.n_rows, self.n_columns)
        return sp.csc_array((np.ones(len(every), np.int32), every, starts), shape=shape)

    def pair_counts(self, dtype: DTypeLike | None = None) -> CountMatrix:
        joint = count_pairs(self.raw_columns, n_jobs=self.n_threads)
        return CountMatrix(self.n_rows, np.asarray(joint, dtype))

    def joint_counts(self, other: Self | None = None) -> Counts:
        """Count the rows of each column with each column of ``other``, by default these columns."""
        others = None if other is None else other.raw_columns
        return count_pairs(self.raw_columns, others, self.n_threads)

    def count_table(self, left: Bits, right: Bits) -> tuple[int, int, int, int]:
        one, other = left.view(np.uint64), right.view(np.uint64)
        counts = (int(np.bitwise_count(words).sum()) for words in (one, other, one & other))
        return (self.n_rows, *counts)  # type: ignore[return-value]

    def count_null_rows(self) -> int:
        union = np.bitwise_or.reduce(self.bits, axis=0, keepdims=True)
        return self.n_rows - int(kernel.count_each(union)[0])

    def sum_words(self, seed: int) -> Words:
        return kernel.sum_words(self.bits, self.n_rows, seed)

    @classmethod
    def concat_rows(cls, parts: Sequence[Self]) -> Self:
        if all(part.n_rows % 64 == 0 for part in parts[:-1]):
            bits = np.hstack([part.bits for part in parts])
        else:
            bits = kernel.pack(np.concatenate([part.to_dense() for part in parts]))
        return cls(bits, sum(part.n_rows for part in parts))

    def pieces(self, limit: int) -> Iterator[Self]:
        bits = self.bits
        if bits.nbytes <= limit:
            yield self.with_raw_columns(bits)
            return
        # pieces of whole words, with at least 64 rows
        step = max(1, limit // max(self.n_columns, 1) // 8) * 8
        for start in range(0, bits.shape[1], step):
            some = np.ascontiguousarray(bits[:, start : start + step])
            n_rows = min(self.n_rows - 8 * start, 8 * some.shape[1])
            yield type(self)(some, n_rows, self.n_jobs)


class MaskedLine(NamedTuple):
    """The true cells and the known cells of a column, as bits."""

    true: Bits
    known: Bits

    @property
    def false(self) -> Bits:
        return self.true ^ self.known


class MaskedColumns(Columns):
    """Two lines of bits per column, with missing cells. True cells are known.

    Conjunctions follow Kleene's logic: false if either part is false, otherwise missing if either
    part is missing. Pairs of columns are judged in the rows in which both are known.
    """

    has_missing: ClassVar[bool] = True
    # true with true, true with known, known with true, known with known
    n_counts: ClassVar[int] = 4

    def __init__(self, true: PackedColumns, known: PackedColumns) -> None:
        self.true = true
        self.known = known
        self.n_rows = true.n_rows
        self.n_jobs = true.n_jobs

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        true, known = (PackedColumns(bits, n_rows, n_jobs) for bits in arrays)
        return cls(true, known)

    @classmethod
    def of(cls, columns: Columns) -> Self:
        if isinstance(columns, cls):
            return columns
        bits = columns.to_bits()
        return cls(bits, bits.with_raw_columns([bits.everywhere] * bits.n_columns))

    def arrays(self) -> Arrays:
        return self.true.bits, self.known.bits

    def with_jobs(self, n_jobs: int | None) -> Self:
        return type(self)(self.true.with_jobs(n_jobs), self.known.with_jobs(n_jobs))

    @property
    def nbytes(self) -> int:
        return self.true.nbytes + self.known.nbytes

    @property
    def n_columns(self) -> int:
        return self.true.n_columns

    @cached_property
    def raw_columns(self) -> list[MaskedLine]:  # type: ignore[override]
        return list(map(MaskedLine, self.true.raw_columns, self.known.raw_columns))

    @property
    def empty_column(self) -> MaskedLine:
        return MaskedLine(self.true.empty_column, self.true.everywhere)

    def with_raw_columns(self, lines: Sequence[MaskedLine]) -> Self:
        true = self.true.with_raw_columns([line.true for line in lines])
        return type(self)(true, self.true.with_raw_columns([line.known for line in lines]))

    def fill_missing(self) -> PackedColumns:
        return self.true

    def to_bits(self) -> PackedColumns:
        return self.true

    def rows_as_bits(self) -> PackedColumns:
        return self.true.append_columns(self.known)

    def cells(self, position: int) -> tuple[Mask, Mask]:
        return self.true.cells(position)[0], ~self.known.cells(position)[0]

    def row_block(self, start: int, stop: int) -> tuple[Mask, Mask]:
        return self.true.row_block(start, stop)[0], self.known.row_block(start, stop)[0]

    def first_rows(self, n_rows: int) -> Self:
        return type(self)(self.true.first_rows(n_rows), self.known.first_rows(n_rows))

    def take_rows(self, rows: Positions) -> Self:
        return type(self)(self.true.take_rows(rows), self.known.take_rows(rows))

    def conjunction(
        self, left: MaskedLine, right: MaskedLine, *, not_left: bool, not_right: bool
    ) -> MaskedLine:
        one = MaskedLine(left.false, left.known) if not_left else left
        other = MaskedLine(right.false, right.known) if not_right else right
        true = one.true & other.true
        return MaskedLine(true, true | one.false | other.false)

    def disjunction(self, left: MaskedLine, right: MaskedLine) -> MaskedLine:
        true = left.true | right.true
        return MaskedLine(true, true | left.false & right.false)

    def rewritten(self, rewrite: Rewrite) -> Self:
        lines, m = self.raw_columns, self.n_columns
        following = []
        for plus, minus in zip(rewrite.plus.tolist(), rewrite.minus.tolist(), strict=True):
            if plus < m and minus < 0:
                following.append(lines[plus])
                continue
            pair = (plus if minus < 0 else minus) - m
            i, j = rewrite.left[pair], rewrite.right[pair]
            line = self.conjunction(
                lines[i], lines[j], not_left=bool(plus == j), not_right=bool(plus == i)
            )
            following.append(line)
        return self.with_raw_columns(following)

    def in_place(self) -> MergedColumns:
        return _MergedMasked(self)

    def count_known(self) -> Counts:
        return self.known.supports()

    def pair_counts(self, dtype: DTypeLike | None = None) -> MaskedCounts:
        across = self.true.joint_counts(self.known)
        counts = self.true.joint_counts(), across, self.known.joint_counts()
        return MaskedCounts(self.n_rows, *(np.asarray(each, dtype) for each in counts))

    def count_with(self, other: Self) -> Iterator[Counts]:
        """Yield the counts of these columns with others, in the order of ``Borders``."""
        for one in (self.true, self.known):
            for another in (other.true, other.known):
                yield one.joint_counts(another)

    def count_table(self, left: MaskedLine, right: MaskedLine) -> tuple[int, int, int, int]:
        known = left.known & right.known
        one, other = left.true & known, right.true & known
        lines = known, one, other, one & other
        return tuple(int(np.bitwise_count(line).sum()) for line in lines)  # type: ignore[return-value]

    def against(self, other: Self) -> Contingency:
        one = self.with_raw_columns(self.raw_columns[:1])
        true, true_known, known_true, known = (counts[0] for counts in one.count_with(other))
        nothing = np.zeros(other.n_columns, np.intp)
        places = np.arange(other.n_columns)
        return Contingency(nothing, places, known, true_known, known_true, true)

    def count_null_rows(self) -> int:
        # count rows in which every column is known to be false
        false = [line.false for line in self.raw_columns]
        return int(self.true.with_raw_columns([np.bitwise_and.reduce(false)]).supports()[0])

    def sum_words(self, seed: int) -> Words:
        missing = kernel.random_words(self.n_columns, seed + 1).sum(dtype=np.uint64)
        return np.asarray(self.true.sum_words(seed) + (missing - self.known.sum_words(seed + 1)))

    @classmethod
    def concat_rows(cls, parts: Sequence[Self]) -> Self:
        true = PackedColumns.concat_rows([part.true for part in parts])
        return cls(true, PackedColumns.concat_rows([part.known for part in parts]))

    def pieces(self, limit: int) -> Iterator[Self]:
        halves = self.true.pieces(limit // 2), self.known.pieces(limit // 2)
        for true, known in zip(*halves, strict=True):
            yield type(self)(true, known)


def pack_columns(
    cells: Iterable[tuple[Mask, Mask | None]], n_rows: int, n_jobs: int | None = None
) -> Columns:
    """Make columns from arrays of their true and missing cells (None: no cell is missing)."""
    lines = (
        (pack_column(true), None if missing is None or not missing.any() else pack_column(~missing))
        for true, missing in cells
    )
    return columns_of_lines(lines, n_rows, n_jobs)


def columns_of_lines(
    lines: Iterable[tuple[Bits, Bits | None]], n_rows: int, n_jobs: int | None = None
) -> Columns:
    """Make columns from packed lines of their true and known cells (None: all are known)."""
    pairs = list(lines)
    values = PackedColumns([true for true, _ in pairs], n_rows, n_jobs)
    true = values.with_raw_columns(values.bits)
    if all(known is None for _, known in pairs):
        return true
    everywhere = true.everywhere
    seen = np.array([everywhere if known is None else known for _, known in pairs], np.uint8)
    return MaskedColumns(true, true.with_raw_columns(seen))


# Columns that are merged in place.


class _MergedMasked:
    """Columns with missing cells. Counts do not subtract, so each merge counts three columns.

    All lines are in one array with room for new ones: column k is true at 2k, known at 2k + 1.
    """

    def __init__(self, columns: MaskedColumns) -> None:
        self._columns = columns
        self._n = columns.n_columns
        true, known = columns.arrays()
        self._lines = np.stack([true, known], axis=1)

    def merge(self, left: int, right: int) -> Borders:
        n = self._n
        if n == len(self._lines):
            self._lines = np.pad(self._lines, ((0, max(32, n // 4)), (0, 0), (0, 0)))
        lines = self._lines
        one, other = MaskedLine(*lines[left].copy()), MaskedLine(*lines[right].copy())
        conjoin = self._columns.conjunction
        lines[left] = conjoin(one, other, not_left=False, not_right=True)
        lines[right] = conjoin(one, other, not_left=True, not_right=False)
        lines[n] = conjoin(one, other, not_left=False, not_right=False)
        self._n = n + 1
        flat = lines.reshape(-1, lines.shape[-1])
        changed = lines[[left, right, n]].reshape(6, -1)
        counts = count_pairs(changed, flat[: 2 * self._n], self._columns.true.n_threads)
        by_line = counts.reshape(3, 2, self._n, 2)
        return by_line[:, 0, :, 0], by_line[:, 0, :, 1], by_line[:, 1, :, 0], by_line[:, 1, :, 1]


class MergedBits:
    """Packed columns with room for new ones, in a single array that the kernel reads."""

    def __init__(self, bits: Bits, n_threads: int) -> None:
        self.n_lines = len(bits)
        self._n_threads = n_threads
        self._lines = bits  # the first merge copies them to make room

    def in_c(self) -> tuple[int, int, int, int] | None:
        """Return the way to count, the address of lines, their size and their maximum number.

        Return None if threads count or without C. The caller has to update ``n_lines``.
        """
        n, lines = self.n_lines, self._lines
        if n == len(lines):
            # zeros take no memory until a merge writes a line
            self._lines = np.zeros((n + max(32, n // 4), lines.shape[1]), np.uint8)
            self._lines[:n] = lines
            lines = self._lines
        if not kernel.counts_in_c(n, lines, self._n_threads):
            return None
        return kernel.counting_way(), address(lines), lines.shape[1], len(lines)

    def merge(self, left: int, right: int) -> Counts:
        in_c = self.in_c()
        n, lines = self.n_lines, self._lines
        self.n_lines += 1
        if in_c is not None:
            way, place, n_bytes, _ = in_c
            joint = np.empty(n, np.int32)
            native_library.native_merge_lines(way, place, n, n_bytes, left, right, address(joint))
            return joint
        both = lines[left] & lines[right]
        joint_counts = count_pairs(lines[:n], both[None], self._n_threads)[:, 0]
        lines[[left, right]] ^= both
        lines[n] = both
        return joint_counts


def merge_lists(ones: Any) -> MergedLists | CompiledLists:
    """Return lists of rows, in C if it was built and counts fit in 32 bits."""
    compiled = native_library is not None and counts_dtype(ones.shape[0]) is np.int32
    return CompiledLists(ones) if compiled else MergedLists(ones)


class CompiledLists:
    """Columns as lists of rows, and rows as lists of columns, in C. Rows may have weights."""

    def __init__(self, ones: Any, weights: NDArray[np.int32] | None = None) -> None:
        self._weights = weights  # C reads them
        starts, rows = ones.indptr.astype(np.int64), np.ascontiguousarray(ones.indices, np.int32)
        n_rows, n_columns = ones.shape
        arrays = address(starts), address(rows), None if weights is None else address(weights)
        self.pointer: int | None = native_library.native_lists_new(n_columns, n_rows, *arrays)
        if self.pointer is None:
            raise MemoryError("not enough memory for the lists of rows")
        self._n = n_columns
        weakref.finalize(self, native_library.native_lists_free, self.pointer)

    def merge(self, left: int, right: int) -> Counts:
        joint = np.empty(self._n, np.int32)
        if native_library.native_lists_merge(self.pointer, left, right, address(joint)) < 0:
            raise MemoryError("not enough memory for the lists of rows")
        self._n += 1
        return joint


class MergedLists:
    """Lists without C: the row and the column of each one."""

    def __init__(self, ones: Any) -> None:
        self._n = ones.shape[1]
        self._rows = ones.indices.astype(np.int32)
        self._columns = np.repeat(np.arange(self._n, dtype=np.int32), np.diff(ones.indptr))

    def merge(self, left: int, right: int) -> Counts:
        one, other = (self._rows[self._columns == column] for column in (left, right))
        both = np.intersect1d(one, other, assume_unique=True)
        cells = np.flatnonzero(np.isin(self._rows, both))
        columns = self._columns[cells]
        joint = np.bincount(columns, minlength=self._n)
        self._columns[cells[columns == left]] = self._n
        gone = cells[columns == right]
        self._rows, self._columns = np.delete(self._rows, gone), np.delete(self._columns, gone)
        self._n += 1
        return joint
