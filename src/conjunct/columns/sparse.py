"""Columns as lists of rows, and the choice between lists and bits."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from conjunct.columns.base import Arrays, Columns, Mask, Words
from conjunct.columns.counts import CommonPairs, PairList, Positions, Rewrite
from conjunct.columns.kernel import (
    Counts,
    address,
    find_equal_rows,
    line_bytes,
    native_library,
    pack_column,
    random_words,
    run_threads,
)
from conjunct.columns.packed import (
    CompiledLists,
    MaskedColumns,
    MergedLists,
    PackedColumns,
    merge_lists,
)
from conjunct.columns.sizing import (
    Kind,
    Size,
    StorageKind,
    check_packed_size,
    choose_storage,
    is_sparse,
    survey_rows,
    survey_size,
)
from conjunct.errors import InputError

RowList = NDArray[np.int32]
"""The rows in which a column is true, in ascending order."""
Ones = Any
"""A ``csc_array`` of SciPy whose stored cells are sorted and all 1 (int32)."""

# Meetings of columns that are counted together, at about 20 bytes each.
_AT_ONCE = 1 << 22
# Counting fewer meetings than this takes less time than starting a thread.
_PER_THREAD = 1 << 20
# Columns whose rows are selected together: there may be very many, mostly short ones.
_LINES_AT_ONCE = 256
# Lists exist by rows and by columns, with a value for each entry.
_COPIES = 4
# Making a matrix of counts below this size takes less time than a survey of the data.
_SMALL_BYTES = 1 << 24


class SparseColumns(Columns):
    """One list of rows per column. Memory and time depend on the number of ones, not of cells."""

    kind: ClassVar[Kind] = "sparse"
    # a merge only moves rows from one list to another
    grows_with_merges: ClassVar[bool] = False

    @classmethod
    def from_ones(cls, ones: Ones, n_jobs: int | None = None) -> Self:
        """Use a matrix of ones, whose lists are made on demand."""
        columns = cls.__new__(cls)
        columns.ones, columns.n_rows, columns.n_jobs = ones, ones.shape[0], n_jobs
        return columns

    @classmethod
    def from_matrix(cls, matrix: Any, n_jobs: int | None = None) -> Self:
        """Read a sparse matrix of SciPy. Cells that are not 0 are true."""
        columns = sp.csc_array(matrix, copy=getattr(matrix, "format", None) == "csc")
        columns.sum_duplicates()
        columns.eliminate_zeros()
        rows = columns.indices.astype(np.int32, copy=False)
        listed = cls.from_arrays((columns.indptr, rows), columns.shape[0], n_jobs)
        is_by_rows = isinstance(matrix, sp.csr_array) and matrix.has_sorted_indices
        if is_by_rows and matrix.nnz == len(rows):
            # there were no zeros or duplicates: keep these rows instead of making them again
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
        """Return the starts of columns, and the rows of all columns."""
        return self.ones.indptr, self.ones.indices

    def __reduce__(self) -> tuple[Any, ...]:
        # send one list of all columns, because thousands of short ones are slow
        return type(self).from_arrays, (self.arrays(), self.n_rows, self.n_jobs)

    @property
    def nbytes(self) -> int:
        return 4 * self.count_ones()

    @cached_property
    def raw_columns(self) -> Sequence[RowList]:  # type: ignore[override]
        starts, rows = self.arrays()
        return [rows[a:b] for a, b in pairwise(starts.tolist())]

    @cached_property
    def ones(self) -> Ones:
        """The columns as a matrix of ones."""
        starts = np.concatenate([[0], np.cumsum(self.supports())])
        rows = np.concatenate([np.empty(0, np.int32), *self.raw_columns])
        return self.from_arrays((starts, rows), self.n_rows).ones

    @cached_property
    def rows_matrix(self) -> Any:
        """The same ones, row by row."""
        return self.ones.tocsr()

    def to_bits(self) -> PackedColumns:
        check_packed_size(self.n_rows, self.n_columns)
        lines = np.zeros((self.n_columns, line_bytes(self.n_rows)), np.uint8)
        for k in range(self.n_columns):
            lines[k] = pack_column(self.cells(k)[0])
        return PackedColumns(lines, self.n_rows, self.n_jobs)

    def to_scipy(self) -> sp.csr_array[Any]:
        return self.ones.astype(np.bool_).tocsr()  # type: ignore[no-any-return]

    def cells(self, position: int) -> tuple[Mask, None]:
        values = np.zeros(self.n_rows, np.bool_)
        values[self.raw_columns[position]] = True
        return values, None

    def row_block(self, start: int, stop: int) -> tuple[Mask, None]:
        rows = self.rows_matrix
        some = slice(rows.indptr[start], rows.indptr[stop])
        lengths = np.diff(rows.indptr[start : stop + 1])
        cells = np.zeros((self.n_columns, stop - start), np.bool_)
        cells[rows.indices[some], np.repeat(np.arange(stop - start), lengths)] = True
        return cells, None

    def true_rows(self, position: int) -> RowList:
        return self.raw_columns[position]

    def first_rows(self, n_rows: int) -> Self:
        lines = [line[: np.searchsorted(line, n_rows)] for line in self.raw_columns]
        return type(self)(lines, n_rows, self.n_jobs)

    def take_rows(self, rows: Positions) -> Self:
        place = np.full(self.n_rows, -1, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        lines: list[RowList] = []
        for first in range(0, self.n_columns, _LINES_AT_ONCE):
            some = self.raw_columns[first : first + _LINES_AT_ONCE]
            taken = place[np.concatenate(some)]
            kept = np.flatnonzero(taken >= 0)
            ends = np.searchsorted(kept, np.cumsum([len(line) for line in some]))
            taken = taken[kept]
            lines += [taken[a:b] for a, b in pairwise([0, *ends.tolist()])]
        return type(self)(lines, len(rows), self.n_jobs)

    @property
    def empty_column(self) -> RowList:
        return np.empty(0, np.int32)

    def conjunction(
        self, left: RowList, right: RowList, *, not_left: bool, not_right: bool
    ) -> RowList:
        if not_left and not_right:
            every = np.arange(self.n_rows, dtype=np.int32)
            return np.setdiff1d(every, self.disjunction(left, right))
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
        return merge_lists(self.ones)

    @property
    def n_columns(self) -> int:
        return int(self.ones.shape[1]) if "ones" in self.__dict__ else len(self.raw_columns)

    def supports(self) -> Counts:
        if "ones" in self.__dict__:
            return np.asarray(np.diff(self.ones.indptr), np.int64)
        return np.array([len(line) for line in self.raw_columns], np.int64)

    def pair_counts(self, dtype: DTypeLike | None = None) -> PairList:
        return self.new_pair_counts(np.zeros(self.n_columns, np.bool_), dtype)

    def new_pair_counts(self, keeps: Mask, dtype: DTypeLike | None = None) -> PairList:
        """Count new columns, alone and in all pairs with at least one of them."""
        ones, rows = self.ones, self.rows_matrix
        new = np.flatnonzero(~keeps).astype(np.int32)
        meetings = ones[:, new].T @ np.diff(rows.indptr).astype(np.int64)
        # a column has at most as many pairs as there are columns, or meetings in its rows
        room = np.minimum(meetings, len(keeps))
        arrays = [
            np.ascontiguousarray(array, kind)
            for matrix in (ones, rows)
            for array, kind in ((matrix.indptr, np.int64), (matrix.indices, np.int32))
        ]
        places = (ctypes.c_void_p * 5)(len(keeps), *map(address, arrays))
        is_kept = address(keeps) if keeps.any() else None
        found: dict[int, CommonPairs] = {-1: CommonPairs(*np.empty((3, 0), np.int32))}

        def count(start: int, stop: int) -> None:
            some = new[start:stop]
            if native_library is None:
                found[start] = _multiply(ones, rows, keeps, some)
                return
            pairs = np.empty((3, int(room[start:stop].sum())), np.int32)
            n = native_library.native_meetings(
                places, address(some), len(some), is_kept, *map(address, pairs)
            )
            if n < 0:
                raise MemoryError("not enough memory to count")
            found[start] = CommonPairs(*pairs[:, :n])

        # columns that are counted together
        done = np.cumsum(meetings)
        total = int(done[-1]) if len(done) else 0
        step = min(_AT_ONCE, max(_PER_THREAD, -(-total // self.n_threads)))
        inner = np.searchsorted(done, np.arange(step, total, step)).tolist()
        run_threads(np.unique([0, *inner, len(new)]).tolist(), count, self.n_threads)
        pairs = CommonPairs.concat([found[start] for start in sorted(found)])
        pairs = pairs._replace(joint=np.asarray(pairs.joint, dtype))
        return PairList(self.n_rows, np.where(keeps, 0, self.supports()), pairs)

    def count_table(self, left: RowList, right: RowList) -> tuple[int, int, int, int]:
        few, many = (left, right) if len(left) < len(right) else (right, left)
        joint = int(np.count_nonzero(_is_among(few, many)))
        return self.n_rows, len(left), len(right), joint

    def joint_with(self, other: Self) -> Counts:
        # temporary matrices of ones, because the one of a part would stay in memory
        mine, others = (
            (np.ones(len(rows), np.int32), rows, np.append(0, np.cumsum(one.supports())))
            for one in (self, other)
            for rows in [np.concatenate([one.empty_column, *one.raw_columns])]
        )
        new = sp.csc_array(mine, shape=(self.n_rows, self.n_columns)).tocsr()
        return (sp.csr_array(others, shape=(other.n_columns, self.n_rows)) @ new).toarray().T

    def count_distinct_rows(self) -> int:
        return len(_find_firsts(self.rows_matrix, self.n_threads))

    def find_equal_rows(self) -> NDArray[np.int32] | None:
        return find_equal_rows(self.rows_matrix.indices, self.rows_matrix.indptr, self.n_threads)

    def count_null_rows(self) -> int:
        return int(np.count_nonzero(self.row_lengths() == 0))

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        rows = self.ones.tocsr()
        rows = rows[_find_firsts(rows)]
        bucket = (_sum_words(rows) >> np.uint64(32)).astype(np.intp) % n_buckets
        some = (rows[bucket == k] for k in range(n_buckets))
        return [(one.indptr, one.indices) for one in some]

    @staticmethod
    def count_distinct_parts(buckets: Sequence[Arrays]) -> int:
        lengths = np.concatenate([np.diff(starts) for starts, _ in buckets])
        columns = np.concatenate([columns for _, columns in buckets])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        width = int(columns.max(initial=-1)) + 1
        ones = np.ones(len(columns), np.int8)
        return len(_find_firsts(sp.csr_array((ones, columns, starts), shape=(len(lengths), width))))

    def row_words(self) -> Words:
        rows = self.ones.tocsr()
        return np.column_stack([_sum_words(rows), _sum_words(rows, seed=1)])

    def sum_words(self, seed: int) -> Words:
        return _sum_words(self.ones.tocsr(), seed)

    def size(self) -> Size:
        return self._size

    @cached_property
    def _size(self) -> Size:
        # needed twice: to choose a layout, and to estimate its cost
        return survey_size(self.total, self.n_columns)

    def row_lengths(self) -> Counts:
        return np.bincount(self.ones.indices, minlength=self.n_rows)

    def sharing_rows(self, columns: Positions) -> Any:
        return (self.ones[:, columns].T @ self.ones).astype(np.bool_)

    @property
    def work_bytes(self) -> int:
        return _COPIES * self.nbytes

    @classmethod
    def concat_rows(cls, parts: Sequence[Self]) -> Self:
        return cls.from_matrix(sp.vstack([part.ones for part in parts]))


def _is_among(some: RowList, others: RowList) -> NDArray[np.bool_]:
    """Return True for each row that is among other rows."""
    if not len(others):
        return np.zeros(len(some), np.bool_)
    if len(some) > len(others):
        # search the longer list for the rows of the shorter one
        place = np.searchsorted(some, others)
        place[place == len(some)] = 0
        among = np.zeros(len(some), np.bool_)
        among[place[some[place] == others]] = True
        return among
    place = np.searchsorted(others, some)
    place[place == len(others)] = 0
    return np.asarray(others[place] == some)


def _sum_words(rows: Any, seed: int = 0) -> NDArray[np.uint64]:
    """Sum the random words of the columns of each row.

    The sums of two different rows are equal with a probability of 2⁻⁶⁴.
    """
    word = random_words(rows.shape[1], seed)
    upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(word[rows.indices])])
    return np.asarray(upto[rows.indptr[1:]] - upto[rows.indptr[:-1]])


def _find_firsts(rows: Any, n_threads: int = 1) -> NDArray[np.intp]:
    """Return where each distinct row of a sparse matrix of ones first occurs."""
    firsts = find_equal_rows(rows.indices, rows.indptr, n_threads)
    if firsts is not None:
        return np.flatnonzero(firsts == np.arange(len(firsts)))
    found: dict[bytes, int] = {}
    for row, (start, stop) in enumerate(pairwise(rows.indptr.tolist())):
        found.setdefault(rows.indices[start:stop].tobytes(), row)
    return np.array([*found.values()], np.intp)


def _multiply(ones: Any, rows: Any, keeps: Mask, new: NDArray[np.int32]) -> CommonPairs:
    """Count the pairs of some new columns, without C, as a product of sparse matrices."""
    product = ones[:, new].T @ rows
    one = np.repeat(new, np.diff(product.indptr))
    other = product.indices.astype(np.int32, copy=False)
    # the product has each pair of new columns twice, and each column with itself
    once = np.flatnonzero((other < one) | keeps[other])
    one, other = one[once], other[once]
    return CommonPairs(np.minimum(one, other), np.maximum(one, other), product.data[once])


_BY_KIND: dict[str, type[Columns]] = {"dense": PackedColumns, "sparse": SparseColumns}
# Each layout can hold the columns of the earlier ones.
_LAYOUTS: tuple[type[Columns], ...] = (PackedColumns, SparseColumns, MaskedColumns)
_NO_GAPS_IN_SPARSE = "sparse storage keeps no missing cells: use storage='auto'"


def convert_layout(columns: Columns, kind: StorageKind, *, counts: bool = False) -> Columns:
    """Return the columns in the requested layout, or (``"auto"``) in the better one.

    ``counts``: choose the layout for counting pairs of columns, too.
    """
    if isinstance(columns, MaskedColumns):
        if kind == "sparse":
            raise InputError(_NO_GAPS_IN_SPARSE)
        return columns
    if isinstance(columns, PackedColumns):
        if kind == "sparse":
            return SparseColumns.of(columns)
        if not counts or choose_storage(columns.size(), kind) == "dense":
            return columns
        # this assumed rows of equal length, but lists show their true lengths
        better = convert_layout(SparseColumns.of(columns), kind, counts=True)
        return better if isinstance(better, SparseColumns) else columns
    listed = SparseColumns.of(columns)
    choice: str = kind
    if counts:
        # a quick lower bound, as if no pair had a common row
        least, _ = survey_rows(listed.total, listed.n_columns)
        choice = choose_storage(least, kind, listed.size)
    elif kind == "auto":
        pays = is_sparse(listed.count_ones(), listed.n_rows, listed.n_columns)
        choice = "sparse" if pays else "dense"
    return listed if choice == "sparse" else listed.to_bits()


def layout_for_parts(
    layouts: set[type[Columns]],
    kind: StorageKind,
    n_columns: int,
    memory: int,
    total: Callable[[Callable[[Any], Any]], Any],
) -> type[Columns]:
    """Choose one layout for all parts, with at most ``memory`` bytes for counts.

    ``total`` adds up the results of a function of each part.
    """
    if MaskedColumns in layouts:
        if kind == "sparse":
            raise InputError(_NO_GAPS_IN_SPARSE)
        return MaskedColumns
    if kind != "auto":
        return _BY_KIND[kind]
    counts = Size(0, n_columns, 0, 0, 0).estimate_cost("dense", in_parts=True)
    if layouts <= {PackedColumns} and counts.n_bytes <= min(_SMALL_BYTES, memory):
        return PackedColumns
    least, _ = survey_rows(total, n_columns)
    return _BY_KIND[choose_storage(least, kind, lambda: survey_size(total, n_columns), memory)]


def find_layout(name: str) -> type[Columns]:
    """Return the layout whose class has this name, for parts that are sent as arrays."""
    return next(layout for layout in _LAYOUTS if layout.__name__ == name)


def concat_rows(parts: Sequence[Columns]) -> Columns:
    """Concatenate successive parts, in a layout that can hold all of them."""
    if len(parts) == 1:
        return parts[0]
    layout: type[Columns] = max(map(type, parts), key=_LAYOUTS.index)
    return layout.concat_rows([layout.of(part) for part in parts])


def concat_parts(parts: Iterable[Columns], limit: int) -> Iterator[Columns]:
    """Concatenate successive parts until they take about ``limit`` bytes."""
    some: list[Columns] = []
    for part in parts:
        if some:
            last = some[-1]
            # bits can only be appended to full words
            is_apart = type(last) is not type(part) or (last.kind == "dense" and last.n_rows % 64)
            if is_apart or sum(one.work_bytes for one in some) >= limit:
                yield concat_rows(some)
                some = []
        some.append(part)
    if some:
        yield concat_rows(some)
