"""Boolean columns in memory, whatever their layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import DTypeLike, NDArray

from conjunct.columns.counts import Contingency, PairCounts
from conjunct.columns.in_place import (
    AnyRewrite,
    JoinRewrite,
    MergedColumns,
    MergeRewrite,
    Positions,
    Rewrite,
)
from conjunct.columns.kernel import Counts
from conjunct.columns.sizing import Need, Size

if TYPE_CHECKING:
    from conjunct.columns.packed import PackedColumns

Arrays = tuple[NDArray[Any], ...]
"""What columns are made of, to be written and read again, or sent."""
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]


class Columns(ABC):
    """Boolean columns of the same rows. Never changed in place.

    A *line* is one column as the layout holds it. Lines are never written to, so that columns and
    those made from them share the lines that they have in common.
    """

    has_missing: ClassVar[bool] = False
    """Whether cells may be missing."""
    grows_with_merges: ClassVar[bool] = True
    """Whether there is more to hold after a merge."""
    n_rows: int
    n_jobs: int | None

    @property
    @abstractmethod
    def lines(self) -> Sequence[Any]:
        """One for each column, in order."""

    @property
    @abstractmethod
    def nowhere(self) -> Any:
        """The line of a column that is true in no row."""

    @abstractmethod
    def with_lines(self, lines: Sequence[Any]) -> Self:
        """Columns with other lines of the same rows."""

    @classmethod
    @abstractmethod
    def of(cls, columns: Columns) -> Self:
        """The same columns in this layout."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        """What ``arrays`` was made from."""

    @abstractmethod
    def arrays(self) -> Arrays: ...

    @abstractmethod
    def with_jobs(self, n_jobs: int | None) -> Self:
        """The same columns, counted by ``n_jobs`` threads."""

    @property
    def n_threads(self) -> int:
        """Threads that count."""
        return int(effective_n_jobs(self.n_jobs))

    @property
    def n_columns(self) -> int:
        return len(self.lines)

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory of the lines."""

    def __sizeof__(self) -> int:
        # by which Dask decides what to move to disk
        return self.nbytes

    @abstractmethod
    def conjunction(self, left: Any, right: Any, *, not_left: bool, not_right: bool) -> Any:
        """The line of ``left ∧ right``; ``not_left`` and ``not_right`` negate a side."""

    @abstractmethod
    def disjunction(self, left: Any, right: Any) -> Any:
        """The line of ``left ∨ right``."""

    def tally(self, literals: Sequence[tuple[Any, bool]], number: int, *, exactly: bool) -> Any:
        """The line that is true where at least, or exactly, ``number`` of some literals are.

        A literal is a line, and whether it is negated. Where cells are missing, it is missing
        unless it is the same whatever they are.
        """
        # at_least[k]: where k or more of the literals seen so far are true
        nowhere = self.nowhere
        everywhere = self.conjunction(nowhere, nowhere, not_left=True, not_right=True)
        at_least = [everywhere, *[nowhere] * (number + exactly)]
        for line, negated in literals:
            for k in range(len(at_least) - 1, 0, -1):
                more = self.conjunction(at_least[k - 1], line, not_left=False, not_right=negated)
                at_least[k] = self.disjunction(at_least[k], more)
        if not exactly:
            return at_least[number]
        return self.conjunction(at_least[number], at_least[-1], not_left=False, not_right=True)

    def select(self, positions: Iterable[int | None]) -> Self:
        """Some of the columns, in the order given; ``None`` is one that is true in no row."""
        lines, nowhere = self.lines, self.nowhere
        return self.with_lines([nowhere if k is None else lines[k] for k in positions])

    @abstractmethod
    def first_rows(self, n_rows: int) -> Self:
        """The same columns of fewer rows."""

    @abstractmethod
    def take_rows(self, rows: Positions) -> Self:
        """The same columns of some rows, in rising order."""

    def filled(self) -> Columns:
        """The same columns, false where a cell is missing."""
        return self

    def with_conjunctions(self, left: Positions, right: Positions) -> Self:
        """The same columns, with what helps to count and to rewrite ``left[k] ∧ right[k]``."""
        return self

    @abstractmethod
    def rewritten(self, rewrite: Rewrite) -> Self:
        """The columns of the next feature set."""

    def after(self, rewrites: Sequence[AnyRewrite]) -> Self:
        """The columns after some rewrites, in order."""
        columns = self
        for is_batch, some in groupby(rewrites, lambda one: isinstance(one, Rewrite)):
            if not is_batch:
                columns = columns._merged(some)  # type: ignore[arg-type]
                continue
            for rewrite in some:
                columns = columns.rewritten(rewrite)  # type: ignore[arg-type]
        return columns

    def _merged(self, merges: Iterable[MergeRewrite | JoinRewrite]) -> Self:
        lines, conjunction = list(self.lines), self.conjunction
        for merge in merges:
            i, j = merge.left, merge.right
            one, other = lines[i], lines[j]
            lines.append(conjunction(one, other, not_left=False, not_right=False))
            if isinstance(merge, JoinRewrite):
                continue
            lines[i] = conjunction(one, other, not_left=False, not_right=True)
            lines[j] = conjunction(one, other, not_left=True, not_right=False)
        return self.with_lines(lines)

    @abstractmethod
    def in_place(self) -> MergedColumns:
        """A copy, to be merged in place."""

    @abstractmethod
    def cells(self, position: int) -> tuple[Mask, Mask | None]:
        """Where a column is true, and where it is missing; ``None``: nowhere."""

    @abstractmethod
    def row_block(self, start: int, stop: int) -> tuple[Mask, Mask | None]:
        """Where columns are true in some rows, and where they are known; ``None``: everywhere.

        A line is a column. ``start`` is a multiple of 64.
        """

    def true_rows(self, position: int) -> NDArray[np.integer[Any]]:
        """The rows in which a column is true, rising."""
        return np.flatnonzero(self.cells(position)[0])

    @abstractmethod
    def to_bits(self) -> PackedColumns:
        """Where columns are true, as packed bits."""

    def to_dense(self) -> NDArray[Any]:
        """An array of Booleans; of floats, NaN where a cell is missing, if any may be."""
        table = np.empty((self.n_rows, self.n_columns), float if self.has_missing else bool)
        for k in range(self.n_columns):
            table[:, k] = _with_nan(*self.cells(k))
        return table

    def to_scipy(self) -> sp.csr_array[Any]:
        """A sparse matrix of Booleans; of floats, NaN where a cell is missing, if any may be."""
        rows, values = [np.empty(0, np.intp)], [np.empty(0, float if self.has_missing else bool)]
        for k in range(self.n_columns):
            column = _with_nan(*self.cells(k))
            rows.append(np.flatnonzero(column))
            values.append(column[rows[-1]])
        starts = np.cumsum(list(map(len, rows)))
        cells = np.concatenate(values), np.concatenate(rows), starts
        return sp.csc_array(cells, shape=(self.n_rows, self.n_columns)).tocsr()

    @abstractmethod
    def supports(self) -> Counts:
        """Number of rows in which each column is true."""

    def count_ones(self) -> int:
        """Number of true cells."""
        return int(self.supports().sum())

    def count_known(self) -> Counts:
        """Number of rows in which each column is known."""
        return np.full(self.n_columns, self.n_rows)

    def count_missing(self) -> int:
        """Number of missing cells."""
        return self.n_rows * self.n_columns - int(self.count_known().sum())

    @abstractmethod
    def pair_counts(self, dtype: DTypeLike | None = None) -> PairCounts:
        """Count every pair of columns."""

    @abstractmethod
    def count_table(self, left: Any, right: Any) -> tuple[int, int, int, int]:
        """Count two lines: rows in which both are known, and those with one, the other, both."""

    @abstractmethod
    def against(self, other: Self) -> Contingency:
        """The counts of the first column with each column of ``other``."""

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        """What is counted in all rows: these columns are one part."""
        return count(self)

    @abstractmethod
    def count_distinct_rows(self) -> int:
        """Number of distinct rows, the paper's ``unique(I)``; a missing cell is a value."""

    def begin_distinct_rows(self) -> Callable[[], int]:
        # there is nobody else here who could count meanwhile
        return self.count_distinct_rows

    @abstractmethod
    def count_null_rows(self) -> int:
        """Number of rows in which no column is true: the support of the paper's "null"."""

    @abstractmethod
    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        """Each row once, equal ones of all columns in this layout in the same bucket."""

    @staticmethod
    @abstractmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        """Number of distinct rows in the same bucket of some parts."""

    @abstractmethod
    def row_words(self) -> Words:
        """Return one or two words per row: the row itself, or a 128-bit fingerprint of it."""

    def fingerprint(self) -> int:
        """A number that tells these rows from others. Their order and layout do not matter."""
        return int(self.fingerprint_word()[0])

    def fingerprint_word(self) -> Words:
        """The fingerprint as one word, which adds up over parts."""
        sums = _row_sums(map(self.true_rows, range(self.n_columns)), self.n_columns, self.n_rows, 0)
        if self.has_missing:
            missing = (self.cells(k)[1] for k in range(self.n_columns))
            sums += _row_sums(missing, self.n_columns, self.n_rows, 1)
        # words that say nothing about each other any more, so that a sum of them tells rows apart
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            sums = (sums ^ (sums >> np.uint64(shift))) * np.uint64(factor)
        return np.array([(sums ^ (sums >> np.uint64(31))).sum(dtype=np.uint64)])

    @abstractmethod
    def size(self) -> Size:
        """What the columns are like before they are counted."""

    @abstractmethod
    def need(self) -> Need:
        """What an iteration takes."""

    @classmethod
    @abstractmethod
    def size_in_parts(cls, n_rows: int, n_columns: int, survey: Callable[[], Size]) -> Size:
        """What all parts together are like; ``survey`` looks at them, which may take long."""

    @classmethod
    @abstractmethod
    def need_in_parts(cls, size: Size) -> Need:
        """What an iteration takes, besides the parts."""

    @classmethod
    @abstractmethod
    def bytes_of_counts(cls, size: Size, itemsize: int) -> int:
        """What the counts of all pairs take, with those of the next iteration."""

    @abstractmethod
    def row_lengths(self) -> Counts:
        """Number of ones in each row."""

    @abstractmethod
    def sharing_rows(self, columns: Positions) -> Any:
        """Which columns have a common row with each of some, as a sparse matrix."""

    @property
    def work_bytes(self) -> int:
        """What columns take while they are counted, compared with bits."""
        return self.nbytes

    @property
    def fills_words(self) -> bool:
        """Whether other rows can follow without moving any bit."""
        return True

    @classmethod
    @abstractmethod
    def united(cls, parts: Sequence[Self]) -> Self:
        """The rows of successive parts."""

    def pieces(self, limit: int) -> Iterator[Self]:
        """The rows in pieces of ``limit`` bytes or less, where columns grow with rewrites."""
        yield self


def _with_nan(true: Mask, missing: Mask | None) -> NDArray[Any]:
    return true if missing is None else np.where(missing, np.nan, true)


def _row_sums(columns: Iterable[Any], n_columns: int, n_rows: int, seed: int) -> Words:
    """The sum of a random word for each column that holds a row."""
    words = np.random.default_rng(seed).integers(0, 1 << 64, n_columns, np.uint64)
    sums = np.zeros(n_rows, np.uint64)
    for rows, word in zip(columns, words, strict=True):
        sums[rows] += word
    return sums
