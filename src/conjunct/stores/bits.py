"""Columns as packed bits, in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.stores import packing
from conjunct.stores.base import (
    AnyRewrite,
    Arrays,
    Contingency,
    Positions,
    Rewrite,
    after_rewrites,
)
from conjunct.stores.bit_tally import BitTally
from conjunct.stores.counting import Counts, count_across, count_each, count_pairs
from conjunct.stores.matrix import CountMatrix
from conjunct.stores.packing import Bits, line_bytes
from conjunct.stores.sizing import Need, Size


class BitStore:
    """One line of bits per column; joint counts are population counts of ``and``.

    Lines are never written to once they are made, so that a store and the one rewritten from it
    share those that they have in common.
    """

    kind: Final = "bits"

    def __init__(
        self, lines: Bits | Sequence[Bits], n_rows: int, n_jobs: int | None = None
    ) -> None:
        self.lines = lines
        self.n_rows = n_rows
        self.n_jobs = n_jobs

    @classmethod
    def from_table(cls, table: NDArray[np.bool_], n_jobs: int | None = None) -> Self:
        return cls(packing.pack(table), len(table), n_jobs)

    @classmethod
    def from_blocks(
        cls,
        block: Callable[[int, int], NDArray[np.bool_]],
        n_rows: int,
        n_columns: int,
        n_jobs: int | None = None,
    ) -> Self:
        """From a table given in blocks of rows: ``block(start, stop)`` → Boolean array."""
        return cls(packing.pack_blocks(block, n_rows, n_columns), n_rows, n_jobs)

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        return cls(arrays[0], n_rows, n_jobs)

    def arrays(self) -> Arrays:
        return (self.bits,)

    def __sizeof__(self) -> int:
        """Memory of the lines, by which Dask decides what to move to disk."""
        return self.n_columns * line_bytes(self.n_rows)

    @property
    def n_columns(self) -> int:
        return len(self.lines)

    @property
    def n_threads(self) -> int:
        return effective_jobs(self.n_jobs)

    @property
    def bits(self) -> Bits:
        """All lines as one array."""
        if isinstance(self.lines, np.ndarray):
            return self.lines
        return np.array(self.lines, np.uint8).reshape(self.n_columns, line_bytes(self.n_rows))

    def supports(self) -> Counts:
        return count_each(self.bits)

    def count_ones(self) -> int:
        return int(self.supports().sum())

    def ones(self) -> Any:
        """The columns as a sparse matrix of ones, column by column."""
        rows = [
            np.flatnonzero(np.unpackbits(line, count=self.n_rows, bitorder="little"))
            for line in self.lines
        ]
        starts = np.cumsum([0, *map(len, rows)])
        every = np.concatenate([np.empty(0, np.intp), *rows]).astype(np.int32)
        shape = (self.n_rows, self.n_columns)
        return sp.csc_array((np.ones(len(every), np.int32), every, starts), shape=shape)

    def size(self) -> Size:
        return Size.spread(self.n_rows, self.n_columns, int(self.supports().sum()))

    def lengths(self) -> Counts:
        """Number of ones in each row."""
        return np.asarray(np.bitwise_count(self.packed_rows()).sum(axis=1), np.int64)

    def meets(self, columns: Positions) -> Any:
        """With which columns some of them have a common row, as a sparse matrix."""
        return sp.csr_array(self.taken(columns).joint_counts(self) > 0)

    def need(self) -> Need:
        """What an iteration takes."""
        return self.size().of_bits()

    def tally(self) -> BitTally:
        return BitTally(self, self.count_matrix())

    def count_matrix(self) -> CountMatrix:
        """How often each two columns are both true."""
        return CountMatrix(self.n_rows, self.joint_counts())

    def joint_counts(self, other: Self | None = None) -> Counts:
        """Rows in which a column of this store and one of ``other`` (or of this) are both true."""
        if other is None:
            return count_pairs(self.bits, self.n_threads)
        return count_across(self.lines, other.bits, self.n_threads)

    def conjunctions(self, left: Positions, right: Positions) -> Self:
        """The columns ``left[k] ∧ right[k]``."""
        pairs = zip(left, right, strict=True)
        return self.with_lines([self.lines[i] & self.lines[j] for i, j in pairs])

    def conjoined(self, left: Positions, right: Positions) -> Self:
        """The columns ``left[k] ∧ right[k]`` of literals: ``~position`` is a negated column."""

        def line(k: int) -> Bits:
            return self.lines[k] if k >= 0 else self.lines[~k]

        return self.with_lines(
            [
                self.conjunction(line(i), line(j), not_left=bool(i < 0), not_right=bool(j < 0))
                for i, j in zip(left, right, strict=True)
            ]
        )

    def conjunction(self, left: Bits, right: Bits, *, not_left: bool, not_right: bool) -> Bits:
        if not_left and not_right:
            return self.everywhere ^ (left | right)
        if not_left:
            left, right, not_right = right, left, True
        return left & (np.bitwise_not(right) if not_right else right)

    def disjunction(self, left: Bits, right: Bits) -> Bits:
        return left | right

    @property
    def everywhere(self) -> Bits:
        """The line of a column that is true in every row."""
        return packing.pack_column(np.ones(self.n_rows, np.bool_))

    @property
    def nowhere(self) -> Bits:
        return np.zeros(line_bytes(self.n_rows), np.uint8)

    def joined(self, other: Self) -> Self:
        """The columns of this store, then those of ``other``."""
        return self.with_lines([*self.lines, *other.lines])

    def taken(self, columns: Positions) -> Self:
        """Some of the columns, in the order given."""
        return self.with_lines([self.lines[k] for k in columns])

    def rewritten(self, rewrite: Rewrite, conjunctions: Self) -> Self:
        """The columns of the next feature set."""
        lines = [*self.lines, *conjunctions.lines]
        columns = zip(rewrite.plus, rewrite.minus, strict=True)
        return self.with_lines([lines[p] if m < 0 else lines[p] ^ lines[m] for p, m in columns])

    def after(self, rewrites: Iterable[AnyRewrite]) -> Self:
        return after_rewrites(
            self,
            rewrites,
            lambda store, rewrite: store.rewritten(
                rewrite, store.conjunctions(rewrite.left, rewrite.right)
            ),
        )

    def packed_rows(self) -> NDArray[np.uint64]:
        """Each row as whole words."""
        return packing.packed_rows(self.bits, self.n_rows)

    def count_distinct_rows(self) -> int:
        return packing.count_distinct(self.packed_rows())

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        """Each row once, equal ones of all stores with these columns in the same bucket."""
        rows = packing.distinct_rows(self.packed_rows())
        bucket = packing.bucket_of_rows(rows, n_buckets)
        return [(rows[bucket == k],) for k in range(n_buckets)]

    def fingerprints(self) -> NDArray[np.uint64]:
        """Each distinct row as two words, or one."""
        return packing.fingerprints(packing.distinct_rows(self.packed_rows()))

    @staticmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        """Number of distinct rows in the same bucket of some stores."""
        return packing.count_distinct(np.concatenate([rows for (rows,) in buckets]))

    def count_null_rows(self) -> int:
        union = np.bitwise_or.reduce(self.bits, axis=0, keepdims=True)
        return self.n_rows - int(count_each(union)[0])

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

    def with_lines(self, lines: Bits | Sequence[Bits]) -> Self:
        """A store with other lines of the same rows."""
        return type(self)(lines, self.n_rows, self.n_jobs)


def effective_jobs(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: ``None`` is one, −1 all processors, −2 all but one, as in joblib."""
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return max(1, n_jobs)
