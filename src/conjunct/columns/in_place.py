"""Rewrites of columns, and columns that are merged in place.

When columns i and j are merged, i ∧ j takes the next position, and i ∧ ¬j and ¬i ∧ j stay at the
positions of i and j. Only i ∧ j is counted with the others: a merge costs the count of one column.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.kernel import Bits, Counts, counting_way, counts_dtype, merge_lines
from conjunct.columns.native.library import address, addresses, native_library

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class Rewrite:
    """Replace some pairs of columns by their conjunctions.

    Present columns have the positions 0 … m−1, the conjunctions of the pairs
    ``(left[k], right[k])`` the positions m + k. Next column t is column ``plus[t]`` less column
    ``minus[t]`` (−1: less nothing). What is taken away is always a part of what it is taken
    from, because ``i ∧ ¬j`` is ``i`` less ``i ∧ j``; so indicators subtract, and counts with them.
    """

    left: Positions
    right: Positions
    plus: Positions
    minus: Positions

    @property
    def n_after(self) -> int:
        """The number of columns after it."""
        return len(self.plus)

    def kept(self, n_columns: int) -> NDArray[np.bool_]:
        """Return which of the next columns are unchanged ones of the ``n_columns`` present ones."""
        return (self.plus < n_columns) & (self.minus < 0)


@dataclass(frozen=True)
class MergeRewrite:
    """Merge two columns in place.

    ``i ∧ ¬j`` and ``¬i ∧ j`` are at the places of i and j, and ``i ∧ j`` comes after all
    ``n_columns`` columns.
    """

    left: int
    right: int
    n_columns: int

    @property
    def n_after(self) -> int:
        """The number of columns after it."""
        return self.n_columns + 1


@dataclass(frozen=True)
class JoinRewrite:
    """Add ``i ∧ j`` after all ``n_columns`` columns, which stay as they are."""

    left: int
    right: int
    n_columns: int

    @property
    def n_after(self) -> int:
        """The number of columns after it."""
        return self.n_columns + 1


AnyRewrite = Rewrite | MergeRewrite | JoinRewrite


class MergedColumns(Protocol):
    """Columns that are merged in place, one pair after the other."""

    def merge(self, left: int, right: int) -> Any:
        """Replace a pair, and count what is new: one array, or four where cells are missing.

        The first is in how many rows each column before the merge was true with ``i ∧ j``; the
        four are the counts of the three columns that changed with all (``Borders``).
        """
        ...


class MergedBits:
    """Packed columns with room for new ones, in one piece of memory that the kernel reads."""

    def __init__(self, bits: Bits, n_threads: int) -> None:
        self._n = len(bits)
        self._n_threads = n_threads
        self._lines = bits
        self._make_room()

    def _make_room(self) -> None:
        n_bytes = self._lines.shape[1]
        larger = np.zeros((self._n + max(32, self._n // 4), n_bytes), np.uint8)
        larger[: self._n] = self._lines[: self._n]
        self._lines = larger

    def merge(self, left: int, right: int) -> Counts:
        if self._n == len(self._lines):
            self._make_room()
        joint = merge_lines(self._lines, self._n, left, right, self._n_threads)
        self._n += 1
        return joint


def merged_lists(ones: Any) -> MergedLists | CompiledLists:
    """Return lists of rows, in C where it was built and counts fit in 32 bits."""
    compiled = native_library is not None and counts_dtype(ones.shape[0]) is np.int32
    return CompiledLists(ones) if compiled else MergedLists(ones)


class CompiledLists:
    """Columns as lists of rows, and rows as lists of columns, in C."""

    def __init__(self, ones: Any) -> None:
        starts, rows = ones.indptr.astype(np.int64), ones.indices.astype(np.int32, copy=False)
        n_rows, n_columns = ones.shape
        arrays = map(address, (starts, np.ascontiguousarray(rows)))
        self.pointer: int | None = native_library.native_lists_new(n_columns, n_rows, *arrays)
        if self.pointer is None:
            raise MemoryError("no memory is left for lists of rows")
        self._n = n_columns
        weakref.finalize(self, native_library.native_lists_free, self.pointer)

    def merge(self, left: int, right: int) -> Counts:
        joint = np.empty(self._n, np.int32)
        if native_library.native_lists_merge(self.pointer, left, right, address(joint)) < 0:
            raise MemoryError("no memory is left for lists of rows")
        self._n += 1
        return joint


class MergedLists:
    """Columns as lists of rows, and rows as lists of columns."""

    def __init__(self, ones: Any) -> None:
        self._rows_of = np.split(ones.indices.astype(np.int32), ones.indptr[1:-1])
        rows = ones.tocsr()
        self._columns = rows.indices.astype(np.int32)
        self._starts = rows.indptr[:-1].astype(np.int64)
        self._lengths = np.diff(rows.indptr).astype(np.int64)
        self._is_there = np.zeros(ones.shape[0], np.bool_)

    def merge(self, left: int, right: int) -> Counts:
        both = self._take_common_rows(left, right)
        lengths, starts = self._lengths[both], self._starts[both]
        # where the cells of these rows stand, row after row
        ends = np.cumsum(lengths)
        cells = np.arange(lengths.sum()) + np.repeat(starts - (ends - lengths), lengths)
        columns = self._columns[cells]
        joint = np.bincount(columns, minlength=len(self._rows_of))
        self._columns[cells[columns == left]] = len(self._rows_of)
        # the last cell of a row takes the place of the one that goes
        self._columns[cells[columns == right]] = self._columns[starts + lengths - 1]
        self._lengths[both] -= 1
        self._rows_of.append(both)
        return joint

    def _take_common_rows(self, left: int, right: int) -> NDArray[np.int32]:
        """Take the rows with both columns from the two lists, and return them."""
        is_there, rows_of = self._is_there, self._rows_of
        is_there[rows_of[right]] = True
        shared = is_there[rows_of[left]]
        is_there[rows_of[right]] = False
        both: NDArray[np.int32] = rows_of[left][shared]
        rows_of[left] = rows_of[left][~shared]
        is_there[both] = True
        rows_of[right] = rows_of[right][~is_there[rows_of[right]]]
        is_there[both] = False
        return both


class CompiledPatterns:
    """Rows that have all tags of a pattern, in C: bits, or lists of rows."""

    def __init__(self, lines: Sequence[NDArray[Any]], supports: Counts) -> None:
        is_bits = len(lines) > 0 and lines[0].dtype == np.uint8
        dtype = np.uint8 if is_bits else np.int32
        # C reads what was there at first
        self._lines = [np.ascontiguousarray(line, dtype) for line in lines]
        where, lengths = addresses(self._lines), supports.astype(np.int64)
        n_bytes = lines[0].nbytes if is_bits else 0
        arrays = address(where), address(lengths)
        self.pointer: int | None = native_library.native_patterns_new(
            len(lines), counting_way(), n_bytes, *arrays
        )
        if self.pointer is None:
            raise MemoryError("no memory is left for patterns")
        weakref.finalize(self, native_library.native_patterns_free, self.pointer)

    def count(self, left: int, right: int) -> int:
        """Count the rows with all tags of both."""
        return int(native_library.native_patterns_count(self.pointer, left, right))

    def join(self, left: int, right: int) -> None:
        """Add the pattern with the tags of both after all others."""
        if native_library.native_patterns_join(self.pointer, left, right) < 0:
            raise MemoryError("no memory is left for patterns")
