"""Columns as lists of the rows in which they are true, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.stores.base import Contingency, Rewrite
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.packing import Bits, line_bytes, pack_column
from conjunct.stores.sizing import Need, Size, check_packed
from conjunct.stores.sparse_tally import Ones, SparseTally, conjunctions, rewritten_ones

# Columns that tell how many others a column meets.
_SAMPLE = 256

RowList = NDArray[np.int32]
"""The rows in which a column is true, rising."""


class SparseStore:
    """One list of rows per column; joint counts are those of a sparse matrix product.

    Memory and time follow the number of ones, not of cells. Lists are never written to once they
    are made, so that stores can share them.
    """

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
        lines = [rows[start:stop] for start, stop in pairwise(columns.indptr.tolist())]
        return cls(lines, columns.shape[0], n_jobs)

    @classmethod
    def from_table(cls, table: NDArray[np.bool_], n_jobs: int | None = None) -> Self:
        return cls([np.flatnonzero(line).astype(np.int32) for line in table.T], len(table), n_jobs)

    @classmethod
    def from_bits(cls, store: BitStore) -> Self:
        lines = [
            np.flatnonzero(np.unpackbits(line, count=store.n_rows, bitorder="little"))
            for line in store.lines
        ]
        return cls([line.astype(np.int32) for line in lines], store.n_rows, store.n_jobs)

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

    def supports(self) -> Counts:
        return np.array([len(line) for line in self.lines], np.int64)

    def size(self) -> Size:
        """What is known of the data, and a guess of how many pairs meet, from some columns."""
        rows = self.ones.tocsr()
        lengths = np.diff(rows.indptr).astype(np.int64)
        n_meetings = int((lengths * lengths).sum())
        # evenly from the rare to the common
        by_support = np.argsort(self.supports(), kind="stable")
        sample = by_support[:: max(1, self.n_columns // _SAMPLE)]
        met = (self.ones[:, sample].T @ rows).nnz - np.count_nonzero(self.supports()[sample])
        n_met = int(met * self.n_columns / max(len(sample), 1)) // 2
        return Size(self.n_rows, self.n_columns, int(lengths.sum()), n_meetings, n_met)

    def need(self) -> Need:
        """What an iteration takes."""
        return self.size().of_sparse()

    def after(self, rewrites: Iterable[Rewrite]) -> Self:
        ones = self.ones
        for rewrite in rewrites:
            both = conjunctions(ones, rewrite.left, rewrite.right)
            ones = rewritten_ones(ones, both, rewrite)
        return self.from_matrix(ones, self.n_jobs)

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
        return count_distinct(self.ones.tocsr())

    def count_null_rows(self) -> int:
        return int(np.count_nonzero(np.diff(self.ones.tocsr().indptr) == 0))


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


def count_distinct(rows: Any) -> int:
    """Number of distinct rows of a sparse matrix of ones, exact.

    Rows are sorted by the sum of a random 64-bit word for each of their columns, which brings
    equal ones together; neighbours are then compared column by column. Different rows of equal
    sum (about n² / 2⁶⁵ likely) fall back on a set of the rows themselves.
    """
    n_rows, n_columns = rows.shape
    if not n_rows:
        return 0
    word = np.random.default_rng(0).integers(0, 1 << 64, n_columns, np.uint64)
    upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(word[rows.indices])])
    starts, lengths = rows.indptr[:-1], np.diff(rows.indptr)
    total = upto[rows.indptr[1:]] - upto[starts]
    order = np.argsort(total)
    alike = total[order[1:]] == total[order[:-1]]
    one, other = order[1:][alike], order[:-1][alike]
    if (lengths[one] != lengths[other]).any() or _cells_differ(
        rows.indices, starts, lengths, one, other
    ):
        bytes_of = [rows.indices[a : a + k].tobytes() for a, k in zip(starts, lengths, strict=True)]
        return len(set(bytes_of))
    return int(n_rows - len(one))


def _cells_differ(
    columns: Any, starts: Any, lengths: Any, one: NDArray[np.intp], other: NDArray[np.intp]
) -> bool:
    """Whether any two rows, given side by side and equally long, hold different columns."""
    length = lengths[one]
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    left = columns[np.repeat(starts[one], length) + within]
    return bool((left != columns[np.repeat(starts[other], length) + within]).any())
