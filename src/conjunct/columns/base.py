"""Boolean columns in memory, in any layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import DTypeLike, NDArray

from conjunct.columns import kernel
from conjunct.columns.counts import (
    AnyRewrite,
    Contingency,
    MergedColumns,
    PairCounts,
    Positions,
    Rewrite,
)
from conjunct.columns.kernel import Counts
from conjunct.columns.sizing import CostEstimate, Kind, Size

if TYPE_CHECKING:
    from conjunct.columns.packed import PackedColumns

Arrays = tuple[NDArray[Any], ...]
"""The arrays of columns, for writing, reading and sending them."""
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]


class Columns(ABC):
    """Boolean columns of the same rows, which never change.

    A *line* is one column in the format of the layout. Columns share unchanged lines. By default,
    methods count packed bits.
    """

    has_missing: ClassVar[bool] = False
    """True if cells may be missing."""
    kind: ClassVar[Kind] = "dense"
    """The format of a line: bits of all rows, or a list of the rows in which it is true."""
    grows_with_merges: ClassVar[bool] = True
    """True if columns take more memory after a merge."""
    n_counts: ClassVar[int] = 1
    """The number of counts of a pair."""
    n_distinct: int | None = None
    """The number of distinct rows, if it was counted."""
    n_rows: int
    n_jobs: int | None
    raw_columns: Sequence[Any]
    """The lines of all columns, in order."""

    def __init__(self, lines: Any, n_rows: int, n_jobs: int | None = None) -> None:
        self.raw_columns = lines
        self.n_rows = n_rows
        self.n_jobs = n_jobs

    @property
    @abstractmethod
    def empty_column(self) -> Any:
        """The line of a column that is true in no row."""

    def with_raw_columns(self, lines: Any) -> Self:
        """Return columns of the same rows with other lines."""
        return type(self)(lines, self.n_rows, self.n_jobs)

    @classmethod
    @abstractmethod
    def of(cls, columns: Columns) -> Self:
        """Return the same columns in this layout."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        """Return the columns that consist of ``arrays``."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return the arrays that the columns consist of."""

    def with_jobs(self, n_jobs: int | None) -> Self:
        """Return the same columns, counted by ``n_jobs`` threads."""
        return type(self)(self.raw_columns, self.n_rows, n_jobs)

    @property
    def n_threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    @property
    def n_columns(self) -> int:
        return len(self.raw_columns)

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The memory of the lines in bytes."""

    def __sizeof__(self) -> int:
        # Dask decides by this what to move to disk
        return self.nbytes

    @abstractmethod
    def conjunction(self, left: Any, right: Any, *, not_left: bool, not_right: bool) -> Any:
        """Return the line of ``left ∧ right``; ``not_left`` and ``not_right`` negate a side."""

    @abstractmethod
    def disjunction(self, left: Any, right: Any) -> Any:
        """Return the line of ``left ∨ right``."""

    def tally(self, literals: Sequence[tuple[Any, bool]], number: int, *, exactly: bool) -> Any:
        """Return the line that is true where at least (or exactly) ``number`` literals are true.

        A literal is a line, and True to negate it. A cell is missing if it depends on missing ones.
        """
        # at_least[k]: where k or more of the literals so far are true
        empty_column = self.empty_column
        everywhere = self.conjunction(empty_column, empty_column, not_left=True, not_right=True)
        at_least = [everywhere, *[empty_column] * (number + exactly)]
        for line, negated in literals:
            for k in range(len(at_least) - 1, 0, -1):
                more = self.conjunction(at_least[k - 1], line, not_left=False, not_right=negated)
                at_least[k] = self.disjunction(at_least[k], more)
        if not exactly:
            return at_least[number]
        return self.conjunction(at_least[number], at_least[-1], not_left=False, not_right=True)

    def select(self, positions: Iterable[int | None]) -> Self:
        """Return columns in the given order. ``None`` stands for a column that is never true."""
        lines, empty_column = self.raw_columns, self.empty_column
        return self.with_raw_columns([empty_column if k is None else lines[k] for k in positions])

    @abstractmethod
    def first_rows(self, n_rows: int) -> Self:
        """Return the columns of the first rows."""

    @abstractmethod
    def take_rows(self, rows: Positions) -> Self:
        """Return the columns of some rows, in ascending order."""

    def fill_missing(self) -> Columns:
        """Return the same columns, with false for missing cells."""
        return self

    def with_conjunctions(self, left: Positions, right: Positions) -> Self:
        """Prepare for counting and rewriting the conjunctions ``left[k] ∧ right[k]``."""
        return self

    @abstractmethod
    def rewritten(self, rewrite: Rewrite) -> Self:
        """Return the columns of the next feature set."""

    def after(self, rewrites: Sequence[AnyRewrite]) -> Self:
        """Return the columns after successive rewrites."""
        columns = self
        for is_batch, some in groupby(rewrites, lambda one: isinstance(one, Rewrite)):
            lines = [] if is_batch else list(columns.raw_columns)
            for rewrite in some:
                if isinstance(rewrite, Rewrite):
                    columns = columns.rewritten(rewrite)
                    continue
                i, j = rewrite.left, rewrite.right
                one, other = lines[i], lines[j]
                lines.append(self.conjunction(one, other, not_left=False, not_right=False))
                if not rewrite.only_adds:
                    lines[i] = self.conjunction(one, other, not_left=False, not_right=True)
                    lines[j] = self.conjunction(one, other, not_left=True, not_right=False)
            columns = columns if is_batch else columns.with_raw_columns(lines)
        return columns

    @abstractmethod
    def in_place(self) -> MergedColumns:
        """Return a copy that merges change in place."""

    @abstractmethod
    def cells(self, position: int) -> tuple[Mask, Mask | None]:
        """Return the true cells and the missing cells of a column (``None``: none is missing)."""

    @abstractmethod
    def row_block(self, start: int, stop: int) -> tuple[Mask, Mask | None]:
        """Return the true and the known cells of some rows (``None``: all cells are known).

        Lines of the result are columns. ``start`` is a multiple of 64.
        """

    def true_rows(self, position: int) -> NDArray[np.integer[Any]]:
        """Return the rows in which a column is true, in ascending order."""
        return np.flatnonzero(self.cells(position)[0])

    @abstractmethod
    def to_bits(self) -> PackedColumns:
        """Return the true cells as packed bits."""

    def to_dense(self) -> NDArray[Any]:
        """Return an array of Booleans, or of floats with NaN if cells may be missing."""
        table = np.empty((self.n_rows, self.n_columns), float if self.has_missing else bool)
        for k in range(self.n_columns):
            table[:, k] = _with_nan(*self.cells(k))
        return table

    def to_scipy(self) -> sp.csr_array[Any]:
        """Return a sparse matrix of Booleans, or of floats with NaN if cells may be missing."""
        rows, values = [np.empty(0, np.intp)], [np.empty(0, float if self.has_missing else bool)]
        for k in range(self.n_columns):
            column = _with_nan(*self.cells(k))
            rows.append(np.flatnonzero(column))
            values.append(column[rows[-1]])
        starts = np.cumsum(list(map(len, rows)))
        cells = np.concatenate(values), np.concatenate(rows), starts
        return sp.csc_array(cells, shape=(self.n_rows, self.n_columns)).tocsr()

    def supports(self) -> Counts:
        """Count the rows in which each column is true."""
        return kernel.count_each(self.to_bits().raw_columns)

    def count_ones(self) -> int:
        """Count the true cells."""
        return int(self.supports().sum())

    def count_known(self) -> Counts:
        """Count the rows in which each column is known."""
        return np.full(self.n_columns, self.n_rows)

    def count_missing(self) -> int:
        """Count the missing cells."""
        return self.n_rows * self.n_columns - int(self.count_known().sum())

    @abstractmethod
    def pair_counts(self, dtype: DTypeLike | None = None) -> PairCounts:
        """Count every pair of columns."""

    @abstractmethod
    def count_table(self, left: Any, right: Any) -> tuple[int, int, int, int]:
        """Count rows of two lines: known in both, true in the left, in the right, and in both."""

    def joint_with(self, other: Self) -> Counts:
        """Count the rows in which each of these columns and each column of ``other`` are true."""
        lines = self.to_bits().raw_columns, other.to_bits().raw_columns
        return kernel.count_pairs(*lines, self.n_threads)

    def against(self, other: Self) -> Contingency:
        """Count the first column with each column of ``other``."""
        supports, first = other.supports(), self.select([0])
        return Contingency(
            np.zeros(other.n_columns, np.intp),
            np.arange(other.n_columns),
            self.n_rows,
            np.full_like(supports, first.supports()[0]),
            supports,
            first.joint_with(other)[0],
        )

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        """Return the result of ``count`` in all rows: these columns are a single part."""
        return count(self)

    def rows_as_bits(self) -> PackedColumns:
        """Return packed columns with the same pairs of equal rows."""
        return self.to_bits()

    def count_distinct_rows(self) -> int:
        """Count the distinct rows, the paper's ``unique(I)``; a missing cell is a value."""
        words = kernel.rows_as_words(self.rows_as_bits().bits, self.n_rows, self.n_threads)
        return kernel.count_distinct(words, self.n_threads)

    def find_equal_rows(self) -> NDArray[np.int32] | None:
        """Return the first equal row of each row. Return None without C."""
        words = kernel.rows_as_words(self.rows_as_bits().bits, self.n_rows, self.n_threads)
        return kernel.find_equal_rows(words, n_threads=self.n_threads)

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        """Partition distinct rows by hash, so that equal rows of all parts share a bucket."""
        words = kernel.rows_as_words(self.rows_as_bits().bits, self.n_rows, self.n_threads)
        rows, starts = kernel.in_buckets(words, n_buckets)
        return [(rows[start:stop],) for start, stop in pairwise(starts)]

    @staticmethod
    def count_distinct_parts(buckets: Sequence[Arrays]) -> int:
        """Count the distinct rows in the same bucket of some parts."""
        return kernel.count_distinct(np.concatenate([rows for (rows,) in buckets]))

    def row_words(self) -> Words:
        """Return one or two words per row: the row itself, or a 128-bit fingerprint of it."""
        return kernel.row_words(self.rows_as_bits().bits, self.n_rows)

    def begin_distinct_rows(self) -> Callable[[], int]:
        """Return a function for the number of distinct rows, which are counted only once."""
        n_distinct = self.n_distinct
        return self.count_distinct_rows if n_distinct is None else lambda: n_distinct

    @abstractmethod
    def count_null_rows(self) -> int:
        """Count the rows in which no column is true: the support of the paper's "null"."""

    def fingerprint(self) -> int:
        """Return a number that identifies the rows, independent of their order and layout."""
        return int(self.fingerprint_word()[0])

    def fingerprint_word(self) -> Words:
        """Return the fingerprint as one word, which adds up over parts."""
        return np.array([self.row_hashes().sum(dtype=np.uint64)])

    def row_hashes(self) -> Words:
        """Return a random word for each row. Equal rows have equal words in every layout."""
        sums = self.sum_words(0)
        # mix the bits by the finaliser of SplitMix64: sums of words then identify sets of rows
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            sums = (sums ^ (sums >> np.uint64(shift))) * np.uint64(factor)
        return sums ^ (sums >> np.uint64(31))

    @abstractmethod
    def sum_words(self, seed: int) -> Words:
        """Sum the random words of the columns that are true or missing in each row."""

    def size(self) -> Size:
        """Return the size of the columns, from which the cost of counting follows."""
        # a lower bound of meetings: all rows have equal numbers of ones
        n_ones, m = self.count_ones(), self.n_columns
        n_meetings = n_ones * n_ones // max(self.n_rows, 1)
        return Size(self.n_rows, m, n_ones, n_meetings, min(n_meetings, m**2) // 2)

    def estimate_cost(self, *, in_merges: bool = False) -> CostEstimate:
        """Estimate the cost of a fit that merges pairs one at a time or together."""
        need = self.size().estimate_cost(self.kind, in_merges=in_merges)
        return CostEstimate(self.n_counts * need.n_bytes, self.n_counts * need.seconds)

    @classmethod
    def size_in_parts(cls, n_rows: int, n_columns: int, survey: Callable[[], Size]) -> Size:
        """Return the size of all parts. ``survey`` reads them, which may take long."""
        if cls.kind == "sparse":
            return survey()
        # the cost of bits does not depend on the number of ones
        return Size(n_rows, n_columns, n_rows * n_columns, 0, 0)

    @classmethod
    def bytes_of_counts(cls, size: Size, itemsize: int) -> int:
        """Return the bytes of the counts of all pairs, including those of the next iteration."""
        if cls.kind == "sparse":
            return size.estimate_cost(cls.kind, in_parts=True).n_bytes
        # known with true is the transpose of true with known; the next set needs the same again
        return 3 * min(cls.n_counts, 3) * itemsize * size.n_columns**2

    def row_lengths(self) -> Counts:
        """Count the ones in each row."""
        words = kernel.rows_as_words(self.to_bits().bits, self.n_rows, self.n_threads)
        return np.asarray(np.bitwise_count(words).sum(axis=1), np.int64)

    def sharing_rows(self, columns: Positions) -> Any:
        """Return a sparse matrix: True if one of the given ``columns`` and a column share a row."""
        bits = self.to_bits()
        return sp.csr_array(bits.select(columns).joint_counts(bits) > 0)

    @property
    def work_bytes(self) -> int:
        """The memory of the columns while they are counted, in bytes."""
        return self.nbytes

    @classmethod
    @abstractmethod
    def concat_rows(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the rows of successive parts."""

    def pieces(self, limit: int) -> Iterator[Self]:
        """Split the rows into pieces of at most ``limit`` bytes, if columns grow with rewrites."""
        yield self


def _with_nan(true: Mask, missing: Mask | None) -> NDArray[Any]:
    return true if missing is None else np.where(missing, np.nan, true)
