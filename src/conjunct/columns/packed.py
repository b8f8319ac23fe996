"""Columns as packed bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import DTypeLike, NDArray

from conjunct.columns import packing
from conjunct.columns.base import Arrays, Columns, Mask, Words
from conjunct.columns.counts import Contingency, CountMatrix, as_dtype
from conjunct.columns.in_place import MergedBits, MergedColumns, Positions, Rewrite, merged_lists
from conjunct.columns.kernel import (
    Bits,
    Counts,
    count_across,
    count_each,
    count_pairs,
    line_edges,
    share,
)
from conjunct.columns.packing import line_bytes
from conjunct.columns.sizing import COPIES_OF_COUNTS, Need, Size, merges_as_lists


class PackedColumns(Columns):
    """One line of bits per column; joint counts are population counts of ``and``."""

    # the last conjunctions: left, right, columns
    _cache: tuple[Positions, Positions, Self] | None = None

    def __init__(
        self, lines: Bits | Sequence[Bits], n_rows: int, n_jobs: int | None = None
    ) -> None:
        self._lines = lines
        self.n_rows = n_rows
        self.n_jobs = n_jobs

    @classmethod
    def from_table(cls, table: NDArray[np.bool_], n_jobs: int | None = None) -> Self:
        """Pack a Boolean array."""
        return cls(packing.pack(table, effective_n_jobs(n_jobs)), len(table), n_jobs)

    @classmethod
    def from_blocks(
        cls,
        block: Callable[[int, int], NDArray[np.bool_]],
        n_rows: int,
        n_columns: int,
        n_jobs: int | None = None,
    ) -> Self:
        """Pack a table given in blocks of rows: ``block(start, stop)`` → Boolean array."""
        bits = packing.pack_blocks(block, n_rows, n_columns, effective_n_jobs(n_jobs))
        return cls(bits, n_rows, n_jobs)

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        return cls(arrays[0], n_rows, n_jobs)

    @classmethod
    def of(cls, columns: Columns) -> Self:
        bits = columns.to_bits()
        return bits if isinstance(bits, cls) else cls(bits.lines, bits.n_rows, bits.n_jobs)

    def arrays(self) -> Arrays:
        return (self.bits,)

    @property
    def lines(self) -> Any:
        return self._lines

    def with_lines(self, lines: Bits | Sequence[Bits]) -> Self:
        return type(self)(lines, self.n_rows, self.n_jobs)

    def with_jobs(self, n_jobs: int | None) -> Self:
        return type(self)(self._lines, self.n_rows, n_jobs)

    @property
    def nbytes(self) -> int:
        return self.n_columns * line_bytes(self.n_rows)

    @property
    def bits(self) -> Bits:
        """All lines as one array."""
        if isinstance(self._lines, np.ndarray):
            return self._lines
        return np.array(self._lines, np.uint8).reshape(self.n_columns, line_bytes(self.n_rows))

    def to_bits(self) -> PackedColumns:
        return self

    def cells(self, position: int) -> tuple[Mask, None]:
        return packing.unpack_line(self.lines[position], self.n_rows), None

    def row_block(self, start: int, stop: int) -> tuple[Mask, None]:
        first, n_bytes = start // 8, line_bytes(stop - start)
        lines = self._lines
        if not isinstance(lines, np.ndarray):
            some = [line[first : first + n_bytes] for line in lines]
            lines, first = np.array(some, np.uint8).reshape(len(lines), n_bytes), 0
        bits = lines[:, first : first + n_bytes]
        cells = np.unpackbits(bits, axis=1, count=stop - start, bitorder="little")
        return cells.view(np.bool_), None

    def to_dense(self) -> Mask:
        return packing.unpack(self.bits, self.n_rows, self.n_threads)

    def first_rows(self, n_rows: int) -> Self:
        bits = self.bits[:, : line_bytes(n_rows)]
        if n_rows % 64:
            bits = bits & packing.pack_column(np.ones(n_rows, np.bool_))
        return type(self)(np.ascontiguousarray(bits), n_rows, self.n_jobs)

    def take_rows(self, rows: Positions) -> Self:
        lines = [packing.pack_column(self.cells(k)[0][rows]) for k in range(self.n_columns)]
        shape = (self.n_columns, line_bytes(len(rows)))
        return type(self)(np.array(lines, np.uint8).reshape(shape), len(rows), self.n_jobs)

    @property
    def everywhere(self) -> Bits:
        """The line of a column that is true in every row."""
        return packing.pack_column(np.ones(self.n_rows, np.bool_))

    @property
    def nowhere(self) -> Bits:
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
        same = self.with_lines(self._lines)
        same._cache = left, right, self.conjunctions(left, right)
        return same

    def conjunctions(
        self, left: Sequence[int] | Positions, right: Sequence[int] | Positions
    ) -> Self:
        """Return the columns ``left[k] ∧ right[k]``; ``~position`` is a negated column."""
        if self._cache is not None:
            n, (one, other, cached) = len(left), self._cache
            if np.array_equal(one[:n], left) and np.array_equal(other[:n], right):
                return cached.with_lines(cached.lines[:n])
        lines = self.lines

        def conjunction(i: int, j: int) -> Bits:
            if i >= 0 and j >= 0:
                both: Bits = lines[i] & lines[j]
                return both
            one, other = lines[max(i, ~i)], lines[max(j, ~j)]
            return self.conjunction(one, other, not_left=bool(i < 0), not_right=bool(j < 0))

        pairs = list(zip(left, right, strict=True))
        return self.with_lines(self._make_lines(lambda k: conjunction(*pairs[k]), len(pairs)))

    def joined(self, other: Self) -> Self:
        """Return these columns, then those of ``other``."""
        return self.with_lines([*self.lines, *other.lines])

    def rewritten(self, rewrite: Rewrite) -> Self:
        lines = [*self.lines, *self.conjunctions(rewrite.left, rewrite.right).lines]
        columns = list(zip(rewrite.plus, rewrite.minus, strict=True))

        def line(k: int) -> Bits:
            plus, minus = columns[k]
            less: Bits = lines[plus] if minus < 0 else lines[plus] ^ lines[minus]
            return less

        return self.with_lines(self._make_lines(line, len(columns)))

    def _make_lines(self, line: Callable[[int], Bits], n_lines: int) -> list[Bits]:
        """Make lines on all threads; ``line(k)`` is the k-th."""
        lines: list[Bits] = [self.nowhere] * n_lines

        def make(start: int, stop: int) -> None:
            for k in range(start, stop):
                lines[k] = line(k)

        share(line_edges(n_lines, line_bytes(self.n_rows), self.n_threads), make)
        return lines

    def in_place(self) -> MergedColumns:
        if merges_as_lists(self.n_rows, self.n_columns, self.count_ones()):
            return merged_lists(self.ones())
        return MergedBits(self.bits, self.n_threads)

    def ones(self) -> Any:
        """Return the columns as a sparse matrix of ones, column by column."""
        rows = [self.true_rows(k) for k in range(self.n_columns)]
        starts = np.cumsum([0, *map(len, rows)])
        every = np.concatenate([np.empty(0, np.intp), *rows]).astype(np.int32)
        shape = (self.n_rows, self.n_columns)
        return sp.csc_array((np.ones(len(every), np.int32), every, starts), shape=shape)

    def supports(self) -> Counts:
        return count_each(self.lines, self.n_threads)

    def pair_counts(self, dtype: DTypeLike | None = None) -> CountMatrix:
        return CountMatrix(self.n_rows, *as_dtype(dtype, self.joint_counts()))

    def joint_counts(self, other: Self | None = None) -> Counts:
        """Count rows in which a column of these and one of ``other`` (or of these) are true."""
        if other is None:
            return count_pairs(self.lines, self.n_threads)
        return count_across(self.lines, other.lines, self.n_threads)

    def conjunction_counts(
        self, left: Positions, right: Positions, dtype: DTypeLike
    ) -> tuple[Counts, ...]:
        """Count ``left[k] ∧ right[k]`` with each column, and with each other."""
        both = self.conjunctions(left, right)
        return as_dtype(dtype, self.joint_counts(both), both.joint_counts())

    def merge_counts(self, left: int, right: int, dtype: DTypeLike) -> Counts:
        """Count the rows in which each column is true with both columns of a pair."""
        both = self.conjunctions([left], [right])
        return self.joint_counts(both)[:, 0].astype(dtype, copy=False)

    def count_table(self, left: Bits, right: Bits) -> tuple[int, int, int, int]:
        one, other = left.view(np.uint64), right.view(np.uint64)
        counts = (int(np.bitwise_count(words).sum()) for words in (one, other, one & other))
        return (self.n_rows, *counts)  # type: ignore[return-value]

    def against(self, other: Self) -> Contingency:
        supports = other.supports()
        return Contingency(
            np.zeros(other.n_columns, np.intp),
            np.arange(other.n_columns),
            self.n_rows,
            np.full_like(supports, self.supports()[0]),
            supports,
            self.joint_counts(other)[0],
        )

    def packed_rows(self) -> Words:
        """Return each row as whole words."""
        return packing.packed_rows(self.bits, self.n_rows, self.n_threads)

    def count_distinct_rows(self) -> int:
        return packing.count_distinct(self.packed_rows(), self.n_threads)

    def count_null_rows(self) -> int:
        union = np.bitwise_or.reduce(self.bits, axis=0, keepdims=True)
        return self.n_rows - int(count_each(union)[0])

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        rows, starts = packing.in_buckets(self.packed_rows(), n_buckets)
        return [(rows[start:stop],) for start, stop in pairwise(starts)]

    @staticmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        return packing.count_distinct(np.concatenate([rows for (rows,) in buckets]))

    def row_words(self) -> Words:
        return packing.row_words(self.bits, self.n_rows)

    def size(self) -> Size:
        return Size.spread(self.n_rows, self.n_columns, self.count_ones())

    def need(self) -> Need:
        return self.size().of_bits()

    @classmethod
    def size_in_parts(cls, n_rows: int, n_columns: int, survey: Callable[[], Size]) -> Size:
        # what bits take does not depend on how many of them are ones
        return Size(n_rows, n_columns, n_rows * n_columns, 0, 0)

    @classmethod
    def need_in_parts(cls, size: Size) -> Need:
        return size.of_parts("bits")

    @classmethod
    def bytes_of_counts(cls, size: Size, itemsize: int) -> int:
        return COPIES_OF_COUNTS * itemsize * size.n_columns**2

    def row_lengths(self) -> Counts:
        return np.asarray(np.bitwise_count(self.packed_rows()).sum(axis=1), np.int64)

    def sharing_rows(self, columns: Positions) -> Any:
        return sp.csr_array(self.select(columns).joint_counts(self) > 0)

    @property
    def fills_words(self) -> bool:
        return self.n_rows % 64 == 0

    @classmethod
    def united(cls, parts: Sequence[Self]) -> Self:
        n_rows = [part.n_rows for part in parts]
        return cls(packing.concat_rows([part.bits for part in parts], n_rows), sum(n_rows))

    def pieces(self, limit: int) -> Iterator[Self]:
        bits = self.bits
        if bits.nbytes <= limit:
            yield self.with_lines(bits)
            return
        for some, n_rows in packing.row_slices(self.n_rows, self.n_columns, limit):
            yield type(self)(np.ascontiguousarray(bits[:, some]), n_rows, self.n_jobs)
