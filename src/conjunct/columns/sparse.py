"""Columns as lists of the rows in which they are true."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from conjunct.columns.base import Arrays, Columns, Mask, Words
from conjunct.columns.counts import CommonPairs, Contingency, PairList, as_dtype
from conjunct.columns.in_place import (
    CompiledLists,
    MergedLists,
    Positions,
    Rewrite,
    merged_lists,
)
from conjunct.columns.kernel import Counts
from conjunct.columns.native.library import address, native_library
from conjunct.columns.packed import PackedColumns
from conjunct.columns.packing import count_distinct_in_c, line_bytes, pack_column
from conjunct.columns.sizing import Need, Size, check_packed, survey_rows, survey_size

RowList = NDArray[np.int32]
"""The rows in which a column is true, rising."""
Ones = Any
"""A scipy ``csc_array`` whose stored cells are all 1 and in order (int32)."""

Counter = Callable[[NDArray[np.int32], int], CommonPairs]
"""Counts the pairs of some new columns; the number is a bound of how many there are."""

# Meetings of two columns in a row that are counted together, at about 20 bytes each.
_AT_ONCE = 1 << 22
# Fewer meetings than this are counted faster than a thread starts.
_PER_THREAD = 1 << 20
# Columns whose rows are taken together: there may be very many, and most of them are short.
_LINES_AT_ONCE = 256
# Lists are there by rows and by columns, with a value beside each row.
_COPIES = 4


class SparseColumns(Columns):
    """One list of rows per column; joint counts are those of a sparse matrix product.

    Memory and time follow the number of ones, not of cells.
    """

    # a merge only moves rows from one list to another
    grows_with_merges = False

    def __init__(self, lines: Sequence[RowList], n_rows: int, n_jobs: int | None = None) -> None:
        self.lines = lines
        self.n_rows = n_rows
        self.n_jobs = n_jobs

    @classmethod
    def from_ones(cls, ones: Ones, n_jobs: int | None = None) -> Self:
        """Take a matrix of ones; its lists are made on demand."""
        columns = cls.__new__(cls)
        columns.ones, columns.n_rows, columns.n_jobs = ones, ones.shape[0], n_jobs
        return columns

    @classmethod
    def from_matrix(cls, matrix: Any, n_jobs: int | None = None) -> Self:
        """Read a SciPy sparse matrix, whose stored cells that are not 0 are true."""
        columns = sp.csc_array(matrix, copy=getattr(matrix, "format", None) == "csc")
        columns.sum_duplicates()
        columns.eliminate_zeros()
        rows = columns.indices.astype(np.int32, copy=False)
        listed = cls.from_arrays((columns.indptr, rows), columns.shape[0], n_jobs)
        is_by_rows = isinstance(matrix, sp.csr_array) and matrix.has_sorted_indices
        if is_by_rows and matrix.nnz == len(rows):
            # nothing was zero or there twice: these are the rows, which need not be made again
            ones = listed.ones.data, matrix.indices.astype(np.int32, copy=False), matrix.indptr
            listed.rows_matrix = sp.csr_array(ones, shape=matrix.shape)
        return listed

    @classmethod
    def from_table(cls, table: NDArray[np.bool_], n_jobs: int | None = None) -> Self:
        """List the true rows of a Boolean array."""
        return cls([np.flatnonzero(line).astype(np.int32) for line in table.T], len(table), n_jobs)

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        starts, rows = arrays
        values = np.ones(len(rows), np.int32)
        ones = sp.csc_array((values, rows, starts), shape=(n_rows, len(starts) - 1))
        return cls.from_ones(ones, n_jobs)

    @classmethod
    def of(cls, columns: Columns) -> Self:
        if isinstance(columns, cls):
            return columns
        return cls.from_ones(columns.to_bits().ones(), columns.n_jobs)

    def arrays(self) -> Arrays:
        """Return where each column starts, and the rows of all."""
        return self.ones.indptr, self.ones.indices

    def __reduce__(self) -> tuple[Any, ...]:
        # one list of all columns: thousands of short ones are slow to send
        return type(self).from_arrays, (self.arrays(), self.n_rows, self.n_jobs)

    def with_lines(self, lines: Sequence[RowList]) -> Self:
        return type(self)(lines, self.n_rows, self.n_jobs)

    def with_jobs(self, n_jobs: int | None) -> Self:
        return type(self)(self.lines, self.n_rows, n_jobs)

    @property
    def nbytes(self) -> int:
        return 4 * self.count_ones()

    @cached_property
    def lines(self) -> Sequence[RowList]:
        starts, rows = self.arrays()
        return [rows[a:b] for a, b in pairwise(starts.tolist())]

    @cached_property
    def ones(self) -> Ones:
        """The columns as a matrix of ones."""
        starts = np.concatenate([[0], np.cumsum(self.supports())])
        rows = np.concatenate([np.empty(0, np.int32), *self.lines])
        return self.from_arrays((starts, rows), self.n_rows).ones

    @cached_property
    def rows_matrix(self) -> Any:
        """The same ones, row by row."""
        return self.ones.tocsr()

    def to_bits(self) -> PackedColumns:
        check_packed(self.n_rows, self.n_columns)
        lines = np.zeros((self.n_columns, line_bytes(self.n_rows)), np.uint8)
        for k in range(self.n_columns):
            lines[k] = pack_column(self.cells(k)[0])
        return PackedColumns(lines, self.n_rows, self.n_jobs)

    def to_scipy(self) -> sp.csr_array[Any]:
        return self.ones.astype(np.bool_).tocsr()  # type: ignore[no-any-return]

    def cells(self, position: int) -> tuple[Mask, None]:
        values = np.zeros(self.n_rows, np.bool_)
        values[self.lines[position]] = True
        return values, None

    def row_block(self, start: int, stop: int) -> tuple[Mask, None]:
        rows = self.rows_matrix
        some = slice(rows.indptr[start], rows.indptr[stop])
        lengths = np.diff(rows.indptr[start : stop + 1])
        cells = np.zeros((self.n_columns, stop - start), np.bool_)
        cells[rows.indices[some], np.repeat(np.arange(stop - start), lengths)] = True
        return cells, None

    def true_rows(self, position: int) -> RowList:
        return self.lines[position]

    def first_rows(self, n_rows: int) -> Self:
        lines = [line[: np.searchsorted(line, n_rows)] for line in self.lines]
        return type(self)(lines, n_rows, self.n_jobs)

    def take_rows(self, rows: Positions) -> Self:
        place = np.full(self.n_rows, -1, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        lines: list[RowList] = []
        for first in range(0, self.n_columns, _LINES_AT_ONCE):
            some = self.lines[first : first + _LINES_AT_ONCE]
            taken = place[np.concatenate(some)]
            kept = np.flatnonzero(taken >= 0)
            ends = np.searchsorted(kept, np.cumsum([len(line) for line in some]))
            taken = taken[kept]
            lines += [taken[a:b] for a, b in pairwise([0, *ends.tolist()])]
        return type(self)(lines, len(rows), self.n_jobs)

    @property
    def nowhere(self) -> RowList:
        return np.empty(0, np.int32)

    def conjunction(
        self, left: RowList, right: RowList, *, not_left: bool, not_right: bool
    ) -> RowList:
        if not_left and not_right:
            return np.setdiff1d(
                np.arange(self.n_rows, dtype=np.int32), self.disjunction(left, right)
            )
        if not_left:
            return right[~_is_among(right, left)]
        return left[~_is_among(left, right)] if not_right else left[_is_among(left, right)]

    def disjunction(self, left: RowList, right: RowList) -> RowList:
        return np.union1d(left, right)

    def rewritten(self, rewrite: Rewrite) -> Self:
        ones = self.ones
        both = ones[:, rewrite.left].multiply(ones[:, rewrite.right]).tocsc()
        every = sp.hstack([ones, both], format="csc")
        whole, less = np.flatnonzero(rewrite.minus < 0), np.flatnonzero(rewrite.minus >= 0)
        parts = every[:, rewrite.plus[less]] - every[:, rewrite.minus[less]]
        parts = sp.hstack([every[:, rewrite.plus[whole]], parts.tocsc()], format="csc")
        ones = parts[:, np.argsort(np.concatenate([whole, less]))]
        ones.sort_indices()
        return self.from_ones(ones, self.n_jobs)

    def in_place(self) -> MergedLists | CompiledLists:
        return merged_lists(self.ones)

    @property
    def n_columns(self) -> int:
        return int(self.ones.shape[1]) if "ones" in self.__dict__ else len(self.lines)

    def supports(self) -> Counts:
        if "ones" in self.__dict__:
            return np.asarray(np.diff(self.ones.indptr), np.int64)
        return np.array([len(line) for line in self.lines], np.int64)

    def pair_counts(self, dtype: DTypeLike | None = None) -> PairList:
        return self.new_pair_counts(np.zeros(self.n_columns, np.bool_), dtype)

    def new_pair_counts(self, keeps: Mask, dtype: DTypeLike | None = None) -> PairList:
        """Count columns that are not kept, alone and in the pairs in which one of them is."""
        pairs = _cooccurring_pairs(self.ones, self.rows_matrix, keeps, self.n_threads)
        pairs = pairs._replace(joint=as_dtype(dtype, pairs.joint)[0])
        return PairList(self.n_rows, np.where(keeps, 0, self.supports()), pairs)

    def merge_counts(self, left: int, right: int, dtype: DTypeLike) -> Counts:
        """Count the rows in which each column is true with both columns of a pair."""
        rows = self.conjunction(
            self.lines[left], self.lines[right], not_left=False, not_right=False
        )
        return np.asarray(self.rows_matrix[rows].sum(axis=0)).astype(dtype).ravel()

    def count_table(self, left: RowList, right: RowList) -> tuple[int, int, int, int]:
        few, many = (left, right) if len(left) < len(right) else (right, left)
        joint = int(np.count_nonzero(_is_among(few, many)))
        return self.n_rows, len(left), len(right), joint

    def against(self, other: Self) -> Contingency:
        supports = other.supports()
        is_there = np.zeros(self.n_rows, np.bool_)
        is_there[self.lines[0]] = True
        # how many of the rows up to each line are there
        upto = np.append(0, np.cumsum(is_there[np.concatenate([self.nowhere, *other.lines])]))
        ends = np.append(0, np.cumsum(supports))
        both = upto[ends[1:]] - upto[ends[:-1]]
        return Contingency(
            np.zeros(other.n_columns, np.intp),
            np.arange(other.n_columns),
            self.n_rows,
            np.full_like(supports, len(self.lines[0])),
            supports,
            both,
        )

    def count_distinct_rows(self) -> int:
        rows = self.rows_matrix
        n_distinct = count_distinct_in_c(rows.indices, rows.indptr, self.n_threads)
        return len(_find_firsts(rows)) if n_distinct is None else n_distinct

    def count_null_rows(self) -> int:
        return int(np.count_nonzero(self.row_lengths() == 0))

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        rows = self.ones.tocsr()
        rows = rows[_find_firsts(rows)]
        bucket = (_sum_words(rows) >> np.uint64(32)).astype(np.intp) % n_buckets
        some = (rows[bucket == k] for k in range(n_buckets))
        return [(one.indptr, one.indices) for one in some]

    @staticmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        lengths = np.concatenate([np.diff(starts) for starts, _ in buckets])
        columns = np.concatenate([columns for _, columns in buckets])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        width = int(columns.max(initial=-1)) + 1
        ones = np.ones(len(columns), np.int8)
        return len(_find_firsts(sp.csr_array((ones, columns, starts), shape=(len(lengths), width))))

    def row_words(self) -> Words:
        rows = self.ones.tocsr()
        return np.column_stack([_sum_words(rows), _sum_words(rows, seed=1)])

    def size(self) -> Size:
        return self._size

    @cached_property
    def _size(self) -> Size:
        # needed to choose a store, and again to say what it takes
        return survey_size(self.total, self.n_columns)

    def least_size(self) -> Size:
        """Return the size that is seen at once, as if no pair had a common row."""
        return survey_rows(self.total, self.n_columns)[0]

    def need(self) -> Need:
        return self.size().of_sparse()

    @classmethod
    def size_in_parts(cls, n_rows: int, n_columns: int, survey: Callable[[], Size]) -> Size:
        return survey()

    @classmethod
    def need_in_parts(cls, size: Size) -> Need:
        return size.of_parts("sparse")

    @classmethod
    def bytes_of_counts(cls, size: Size, itemsize: int) -> int:
        return size.of_parts("sparse").n_bytes

    def row_lengths(self) -> Counts:
        return np.bincount(self.ones.indices, minlength=self.n_rows)

    def sharing_rows(self, columns: Positions) -> Any:
        return (self.ones[:, columns].T @ self.ones).astype(np.bool_)

    @property
    def work_bytes(self) -> int:
        return _COPIES * self.nbytes

    @classmethod
    def united(cls, parts: Sequence[Self]) -> Self:
        return cls.from_matrix(sp.vstack([part.ones for part in parts]))


def _is_among(some: RowList, others: RowList) -> NDArray[np.bool_]:
    """Return which of some rows are among the others."""
    if not len(others):
        return np.zeros(len(some), np.bool_)
    if len(some) > len(others):
        # search for each of the few among the many
        place = np.searchsorted(some, others)
        place[place == len(some)] = 0
        among = np.zeros(len(some), np.bool_)
        among[place[some[place] == others]] = True
        return among
    place = np.searchsorted(others, some)
    place[place == len(others)] = 0
    return np.asarray(others[place] == some)


def _sum_words(rows: Any, seed: int = 0) -> NDArray[np.uint64]:
    """Return the sum of a random word for each column of a row: equal for equal rows.

    The sums of two different rows are equal with a probability of 2⁻⁶⁴ over the words.
    """
    word = np.random.default_rng(seed).integers(0, 1 << 64, rows.shape[1], np.uint64)
    upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(word[rows.indices])])
    return np.asarray(upto[rows.indptr[1:]] - upto[rows.indptr[:-1]])


def _find_firsts(rows: Any) -> NDArray[np.intp]:
    """Return where each distinct row of a sparse matrix of ones first occurs, exactly.

    Rows are sorted by the sum of a random 64-bit word for each of their columns, which brings
    equal ones together; neighbours are then compared column by column. Different rows of equal
    sum (about n² / 2⁶⁵ likely) fall back on a dictionary of the rows themselves.
    """
    starts, lengths = rows.indptr[:-1], np.diff(rows.indptr)
    total = _sum_words(rows)
    order = np.argsort(total)
    alike = total[order[1:]] == total[order[:-1]]
    one, other = order[1:][alike], order[:-1][alike]
    length = lengths[one]
    differ = bool((length != lengths[other]).any())
    if not differ:
        # all cells of the one rows and of the other rows, side by side
        within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        left = rows.indices[np.repeat(starts[one], length) + within]
        differ = bool((left != rows.indices[np.repeat(starts[other], length) + within]).any())
    if differ:
        where = {
            rows.indices[a : a + k].tobytes(): row
            for row, (a, k) in enumerate(zip(starts, lengths, strict=True))
        }
        return np.array(list(where.values()), np.intp)
    return np.append(order[:1], order[1:][~alike])


def _cooccurring_pairs(ones: Any, rows: Any, keeps: Mask, n_threads: int = 1) -> CommonPairs:
    """Count the pairs of columns that are not kept, with each other and with those that are.

    ``ones`` is a matrix of ones column by column, and ``rows`` the same row by row.
    """
    new = np.flatnonzero(~keeps).astype(np.int32)
    meetings = ones[:, new].T @ np.diff(rows.indptr).astype(np.int64)
    # a column is in as many pairs as there are columns, or meetings in its rows, at most
    room = np.minimum(meetings, len(keeps))
    counter = _make_scipy_counter if native_library is None else _make_native_counter
    count = counter(ones, rows, keeps)

    def count_range(some: tuple[int, int]) -> CommonPairs:
        start, stop = some
        return count(new[start:stop], int(room[start:stop].sum()))

    ranges = _divide_columns(meetings, n_threads)
    if n_threads == 1 or len(ranges) == 1:
        parts = [*map(count_range, ranges)]
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            parts = [*pool.map(count_range, ranges)]
    return CommonPairs.joined([CommonPairs(*np.empty((3, 0), np.int32)), *parts])


def _divide_columns(meetings: NDArray[np.int64], n_threads: int) -> list[tuple[int, int]]:
    """Return ranges of columns that are counted together."""
    done = np.cumsum(meetings)
    total = int(done[-1]) if len(done) else 0
    step = min(_AT_ONCE, max(_PER_THREAD, -(-total // n_threads)))
    inner = np.searchsorted(done, np.arange(step, total, step))
    return [*pairwise(np.unique([0, *inner.tolist(), len(meetings)]).tolist())]


def _make_native_counter(ones: Any, rows: Any, keeps: Mask) -> Counter:
    lists = [
        np.ascontiguousarray(array, dtype)
        for matrix in (ones, rows)
        for array, dtype in ((matrix.indptr, np.int64), (matrix.indices, np.int32))
    ]
    is_kept = address(keeps) if keeps.any() else None

    def count(new: NDArray[np.int32], room: int) -> CommonPairs:
        places = (ctypes.c_void_p * 5)(len(keeps), *map(address, lists))
        found = np.empty((3, room), np.int32)
        n = native_library.native_meetings(
            places, address(new), len(new), is_kept, *map(address, found)
        )
        if n < 0:
            raise MemoryError("no memory is left to count in")
        return CommonPairs(*found[:, :n])

    return count


def _make_scipy_counter(ones: Any, rows: Any, keeps: Mask) -> Counter:
    def count(new: NDArray[np.int32], room: int) -> CommonPairs:
        product = ones[:, new].T @ rows
        one = np.repeat(new, np.diff(product.indptr))
        other = product.indices.astype(np.int32, copy=False)
        # the product has each pair of new columns twice, and each column with itself
        once = np.flatnonzero((other < one) | keeps[other])
        one, other = one[once], other[once]
        return CommonPairs(np.minimum(one, other), np.maximum(one, other), product.data[once])

    return count
