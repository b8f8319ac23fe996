"""Columns as lists of the rows in which they are true, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.stores.base import (
    AnyRewrite,
    Arrays,
    Contingency,
    Positions,
    Rewrite,
    after_rewrites,
)
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.packing import Bits, line_bytes, pack_column
from conjunct.stores.sizing import Need, Size, check_packed
from conjunct.stores.sparse_tally import Ones, SparseTally, conjunctions, rewritten_ones
from conjunct.stores.surveying import first_seen, surveyed

RowList = NDArray[np.int32]
"""The rows in which a column is true, rising."""


class SparseStore:
    """One list of rows per column; joint counts are those of a sparse matrix product.

    Memory and time follow the number of ones, not of cells. Lists are never written to once they
    are made, so that stores can share them.
    """

    kind: Final = "sparse"

    def __init__(self, lines: Sequence[RowList], n_rows: int, n_jobs: int | None = None) -> None:
        self.lines = lines
        self.n_rows = n_rows
        self.n_jobs = n_jobs

    @classmethod
    def from_matrix(cls, matrix: Any, n_jobs: int | None = None) -> Self:
        """From a scipy sparse matrix, whose stored cells that are not 0 are true."""
        columns = sp.csc_array(matrix != 0)
        columns.sum_duplicates()
        rows = columns.indices.astype(np.int32, copy=False)
        return cls.from_arrays((columns.indptr, rows), columns.shape[0], n_jobs)

    @classmethod
    def from_table(cls, table: NDArray[np.bool_], n_jobs: int | None = None) -> Self:
        return cls([np.flatnonzero(line).astype(np.int32) for line in table.T], len(table), n_jobs)

    @classmethod
    def from_bits(cls, store: BitStore) -> Self:
        ones = store.ones()
        return cls.from_arrays((ones.indptr, ones.indices), store.n_rows, store.n_jobs)

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        starts, rows = arrays
        return cls([rows[a:b] for a, b in pairwise(starts.tolist())], n_rows, n_jobs)

    def arrays(self) -> Arrays:
        """Where each column starts, and the rows of all."""
        return self.ones.indptr, self.ones.indices

    def __reduce__(self) -> tuple[Any, ...]:
        # one list of all columns: thousands of short ones are slow to send
        return type(self).from_arrays, (self.arrays(), self.n_rows, self.n_jobs)

    def __sizeof__(self) -> int:
        """Memory of the lists, by which Dask decides what to move to disk."""
        return self.nbytes

    def to_bits(self) -> BitStore:
        """The same columns as packed bits: one bit a cell, whatever its value."""
        check_packed(self.n_rows, self.n_columns)
        lines = np.zeros((self.n_columns, line_bytes(self.n_rows)), np.uint8)
        for position in range(self.n_columns):
            lines[position] = self.packed(position)
        return BitStore(lines, self.n_rows, self.n_jobs)

    def packed(self, position: int) -> Bits:
        """A column as a packed line."""
        values = np.zeros(self.n_rows, np.bool_)
        values[self.lines[position]] = True
        return pack_column(values)

    @property
    def nbytes(self) -> int:
        """Memory of the lists."""
        return sum(line.nbytes for line in self.lines)

    @property
    def n_columns(self) -> int:
        return len(self.lines)

    @cached_property
    def ones(self) -> Ones:
        """The columns as a matrix of ones."""
        starts = np.concatenate([[0], np.cumsum(self.supports())])
        rows = np.concatenate([np.empty(0, np.int32), *self.lines])
        return sp.csc_array(
            (np.ones(len(rows), np.int32), rows, starts), shape=(self.n_rows, self.n_columns)
        )

    @cached_property
    def rows_matrix(self) -> Any:
        """The same ones, row by row."""
        return self.ones.tocsr()

    def supports(self) -> Counts:
        return np.array([len(line) for line in self.lines], np.int64)

    def count_ones(self) -> int:
        return int(self.supports().sum())

    def size(self) -> Size:
        """What is known of the data, and a guess of how many pairs meet, from some columns."""
        return surveyed(lambda look: look(self), self.n_columns)

    def least_size(self) -> Size:
        """What is seen at once, as if no pair met."""
        return first_seen(lambda look: look(self), self.n_columns)[0]

    def lengths(self) -> Counts:
        """Number of ones in each row."""
        return np.asarray(np.diff(self.ones.tocsr().indptr), np.int64)

    def meets(self, columns: Positions) -> Any:
        """With which columns some of them have a common row, as a sparse matrix."""
        return (self.ones[:, columns].T @ self.ones).astype(np.bool_)

    def need(self) -> Need:
        """What an iteration takes."""
        return self.size().of_sparse()

    def after(self, rewrites: Iterable[AnyRewrite]) -> Self:
        def rewritten(store: Self, rewrite: Rewrite) -> Self:
            both = conjunctions(store.ones, rewrite.left, rewrite.right)
            return store.from_matrix(rewritten_ones(store.ones, both, rewrite), store.n_jobs)

        return after_rewrites(self, rewrites, rewritten)

    def tally(self) -> SparseTally:
        return SparseTally.counted(self.ones)

    def conjunction(
        self, left: RowList, right: RowList, *, not_left: bool, not_right: bool
    ) -> RowList:
        if not_left and not_right:
            return np.setdiff1d(
                np.arange(self.n_rows, dtype=np.int32), self.disjunction(left, right)
            )
        if not_left:
            return right[~_among(right, left)]
        return left[~_among(left, right)] if not_right else left[_among(left, right)]

    def disjunction(self, left: RowList, right: RowList) -> RowList:
        return np.union1d(left, right)

    @property
    def nowhere(self) -> RowList:
        """The line of a column that is true in no row."""
        return np.empty(0, np.int32)

    def with_lines(self, lines: Sequence[RowList]) -> Self:
        """A store with other lines of the same rows."""
        return type(self)(lines, self.n_rows, self.n_jobs)

    def against(self, other: Self) -> Contingency:
        """The counts of the first column with each column of ``other``."""
        supports = other.supports()
        both = [int(np.count_nonzero(_among(line, self.lines[0]))) for line in other.lines]
        return Contingency(
            np.zeros(other.n_columns, np.intp),
            np.arange(other.n_columns),
            self.n_rows,
            np.full_like(supports, len(self.lines[0])),
            supports,
            np.array(both, np.int64),
        )

    def count_distinct_rows(self) -> int:
        return len(_firsts(self.ones.tocsr()))

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        """Each row once, equal ones of all stores with these columns in the same bucket."""
        rows = self.ones.tocsr()
        rows = rows[_firsts(rows)]
        bucket = (_sums(rows) >> np.uint64(32)).astype(np.intp) % n_buckets
        some = (rows[bucket == k] for k in range(n_buckets))
        return [(one.indptr, one.indices) for one in some]

    def fingerprints(self) -> NDArray[np.uint64]:
        """Each distinct row as two words."""
        rows = self.ones.tocsr()
        rows = rows[_firsts(rows)]
        return np.column_stack([_sums(rows), _sums(rows, seed=1)])

    @staticmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        """Number of distinct rows in the same bucket of some stores."""
        lengths = np.concatenate([np.diff(starts) for starts, _ in buckets])
        columns = np.concatenate([columns for _, columns in buckets])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        width = int(columns.max(initial=-1)) + 1
        ones = np.ones(len(columns), np.int8)
        return len(_firsts(sp.csr_array((ones, columns, starts), shape=(len(lengths), width))))

    def count_null_rows(self) -> int:
        return int(np.count_nonzero(self.lengths() == 0))


def _among(some: RowList, others: RowList) -> NDArray[np.bool_]:
    """Which of some rows are among the others."""
    if not len(others):
        return np.zeros(len(some), np.bool_)
    if len(some) > len(others):
        # each of the few is looked for among the many
        place = np.searchsorted(some, others)
        place[place == len(some)] = 0
        among = np.zeros(len(some), np.bool_)
        among[place[some[place] == others]] = True
        return among
    place = np.searchsorted(others, some)
    place[place == len(others)] = 0
    return np.asarray(others[place] == some)


def _sums(rows: Any, seed: int = 0) -> NDArray[np.uint64]:
    """The sum of a random word for each column of a row: equal for equal rows."""
    word = np.random.default_rng(seed).integers(0, 1 << 64, rows.shape[1], np.uint64)
    upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(word[rows.indices])])
    return np.asarray(upto[rows.indptr[1:]] - upto[rows.indptr[:-1]])


def _firsts(rows: Any) -> NDArray[np.intp]:
    """Where each distinct row of a sparse matrix of ones stands for the first time, exact.

    Rows are sorted by the sum of a random 64-bit word for each of their columns, which brings
    equal ones together; neighbours are then compared column by column. Different rows of equal
    sum (about n² / 2⁶⁵ likely) fall back on a dictionary of the rows themselves.
    """
    starts, lengths = rows.indptr[:-1], np.diff(rows.indptr)
    total = _sums(rows)
    order = np.argsort(total)
    alike = total[order[1:]] == total[order[:-1]]
    one, other = order[1:][alike], order[:-1][alike]
    if (lengths[one] != lengths[other]).any() or _cells_differ(
        rows.indices, starts, lengths, one, other
    ):
        where = {
            rows.indices[a : a + k].tobytes(): row
            for row, (a, k) in enumerate(zip(starts, lengths, strict=True))
        }
        return np.array(list(where.values()), np.intp)
    return np.append(order[:1], order[1:][~alike])


def _cells_differ(
    columns: Any, starts: Any, lengths: Any, one: NDArray[np.intp], other: NDArray[np.intp]
) -> bool:
    """Whether any two rows, given side by side and equally long, hold different columns."""
    length = lengths[one]
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    left = columns[np.repeat(starts[one], length) + within]
    return bool((left != columns[np.repeat(starts[other], length) + within]).any())
