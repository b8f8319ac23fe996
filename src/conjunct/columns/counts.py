"""Counts of columns, alone and in pairs, which add up over parts of the rows; and rewrites.

Counts are a matrix of all pairs, or a list of the pairs with a common row. If cells are missing, a
pair is counted in the rows in which both columns are known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import add
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.columns.kernel import Counts
from conjunct.columns.sizing import check_counts

Positions = NDArray[np.intp]
Which = Positions | NDArray[np.bool_] | slice

Total = Callable[[Callable[[Any], Any], int], Any]
"""Adds up the counts of a function of each part, for a number of additional columns."""

Borders = tuple[Counts, Counts, Counts, Counts]
"""Counts of some columns with all: true with true, true with known, known with true, known."""

# Pairs that are read together, to keep temporaries in the cache.
_PAIRS_AT_ONCE = 1 << 16
# Rows of a matrix of counts that are rewritten together, to keep them in the cache.
_ROWS_IN_CACHE = 64


@dataclass(frozen=True)
class Rewrite:
    """Replace some pairs of columns by their conjunctions.

    The present columns have positions 0 … m−1, and the conjunction of ``left[k]`` and ``right[k]``
    has position m + k. Next column t is column ``plus[t]`` minus column ``minus[t]`` (−1: minus
    nothing). Indicators can be subtracted, as in ``i ∧ ¬j = i − i ∧ j``, and therefore counts, too.
    """

    left: Positions
    right: Positions
    plus: Positions
    minus: Positions

    @property
    def n_after(self) -> int:
        """The number of columns after it."""
        return len(self.plus)

    def keep_mask(self, n_columns: int) -> NDArray[np.bool_]:
        """Mark the next columns that are equal to one of the ``n_columns`` present columns."""
        return (self.plus < n_columns) & (self.minus < 0)


@dataclass(frozen=True)
class MergeRewrite:
    """Merge two columns in place: ``i ∧ j`` comes after all ``n_columns`` columns.

    ``i ∧ ¬j`` and ``¬i ∧ j`` replace i and j, unless the rewrite ``only_adds``.
    """

    left: int
    right: int
    n_columns: int
    only_adds: bool = False

    @property
    def n_after(self) -> int:
        """The number of columns after it."""
        return self.n_columns + 1


AnyRewrite = Rewrite | MergeRewrite


class MergedColumns(Protocol):
    """Columns that are merged in place, one pair at a time."""

    def merge(self, left: int, right: int) -> Any:
        """Replace a pair, and count new columns: one array, or four if cells are missing.

        One array counts the rows of ``i ∧ j`` with each column before the merge. Four arrays count
        the three changed columns with all columns (``Borders``).
        """
        ...


@dataclass(frozen=True)
class Contingency:
    """Counts of the two columns of some pairs (``left < right``), alone and together.

    All counts refer to the ``n_rows`` rows in which both columns are known, which is a single
    number if no cell is missing.
    """

    left: Positions
    right: Positions
    n_rows: int | Counts
    left_support: Counts
    right_support: Counts
    joint: Counts

    def __len__(self) -> int:
        return len(self.left)

    @property
    def table(self) -> tuple[int | Counts, Counts, Counts, Counts]:
        """The arguments of measures and tests."""
        return self.n_rows, self.left_support, self.right_support, self.joint

    @classmethod
    def concat(cls, parts: Sequence[Contingency], n_rows: int) -> Contingency:
        """Concatenate the pairs of all parts of a table of ``n_rows`` rows."""
        if not parts:
            nothing = np.empty(0, np.intp)
            return cls(nothing, nothing, n_rows, nothing, nothing, nothing)
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        # a single number of rows holds for all pairs
        every: Any = (x[0] if isinstance(x[0], int) else np.concatenate(x) for x in columns)
        return cls(*every)

    def swap(self) -> Contingency:
        """Return the same pairs with the columns swapped."""
        one, other = self.left_support, self.right_support
        return Contingency(self.right, self.left, self.n_rows, other, one, self.joint)

    def take(self, which: Which) -> Contingency:
        """Return some of the pairs."""
        return Contingency(*[take_if_array(each, which) for each in vars(self).values()])


def take_if_array(values: Any, which: Which) -> Any:
    """Return some values, or the single value that holds for all."""
    return values[which] if isinstance(values, np.ndarray) else values


class PairCounts(ABC):
    """Counts of columns, alone and in pairs. Counts of different rows add up."""

    n_rows: int

    @property
    @abstractmethod
    def supports(self) -> Counts:
        """The number of rows in which each column is true."""

    @property
    def observed(self) -> int | Counts:
        """The number of rows in which each column is known: a single one if no cell is missing."""
        return self.n_rows

    @abstractmethod
    def pair_blocks(self) -> Iterator[Contingency]:
        """Yield blocks of the pairs with a common row, or of all pairs if cells are missing."""

    @property
    @abstractmethod
    def n_pairs(self) -> int:
        """The number of pairs in ``pair_blocks``."""

    @abstractmethod
    def for_pairs(self, left: Positions, right: Positions) -> Contingency:
        """Return the counts of some pairs."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, vars(self).values(), vars(other).values()))

    def __mul__(self, factor: int) -> Self:
        """Return the counts with each row ``factor`` times."""
        return type(self)(*(factor * each for each in vars(self).values()))

    def with_conjunctions(self, left: Positions, right: Positions, total: Total) -> PairCounts:
        """Prepare for rewrites to the conjunctions ``left[k] ∧ right[k]``."""
        return self

    @abstractmethod
    def rewritten(self, rewrite: Rewrite, total: Total) -> PairCounts:
        """Return the counts after a rewrite to some first pairs of ``with_conjunctions``.

        ``total`` counts new columns.
        """


def _row_blocks(n_columns: int) -> Iterator[slice]:
    """Yield the rows of a matrix of counts in blocks."""
    step = max(1, _PAIRS_AT_ONCE // max(n_columns, 1))
    for start in range(0, n_columns - 1, step):
        yield slice(start, min(start + step, n_columns))


@dataclass(frozen=True, eq=False)
class CountMatrix(PairCounts):
    """A symmetric matrix of joint counts with supports on the diagonal, without missing cells."""

    n_rows: int
    joint: Counts

    @property
    def supports(self) -> Counts:
        return np.diagonal(self.joint)

    @property
    def n_pairs(self) -> int:
        return int(np.count_nonzero(self.joint) - np.count_nonzero(self.supports)) // 2

    def pair_blocks(self) -> Iterator[Contingency]:
        for some in _row_blocks(len(self.joint)):
            # the pairs below the diagonal are the same
            row, right = np.divmod(np.flatnonzero(self.joint[some]), len(self.joint))
            above = right > row + some.start
            yield self.for_pairs(row[above] + some.start, right[above])

    def for_pairs(self, left: Positions, right: Positions) -> Contingency:
        supports, joint = self.supports, self.joint[left, right]
        return Contingency(left, right, self.n_rows, supports[left], supports[right], joint)

    def with_conjunctions(self, left: Positions, right: Positions, total: Total) -> CountMatrix:
        # count only the columns i ∧ j: other counts follow by subtraction
        count = partial(_count_conjunctions, left, right, self.joint.dtype)
        return self.append_columns(*total(count, len(left)))

    def to_matrix(self, limit: int) -> Counts | None:
        return self.joint

    def append_columns(self, across: Counts, new: Counts) -> CountMatrix:
        """Append the counts of more columns."""
        check_counts(len(self.joint) + len(new), self.joint.itemsize)
        joint = np.block([[self.joint, across], [across.T, new]])
        return CountMatrix(self.n_rows, joint.astype(self.joint.dtype, copy=False))

    def select(self, columns: Positions) -> CountMatrix:
        """Return the counts of some columns, in the given order."""
        return CountMatrix(self.n_rows, self.joint[np.ix_(columns, columns)])

    def rewritten(self, rewrite: Rewrite, total: Total | None = None) -> CountMatrix:
        # a column is one indicator minus another: subtract counts by rows, then by columns
        n, m = rewrite.n_after, len(self.joint)
        # −1: subtract an empty column after all others
        less = rewrite.minus >= 0
        minus = np.where(less, rewrite.minus, m)
        counts = np.empty((n, n), self.joint.dtype)
        padded = np.zeros((_ROWS_IN_CACHE, m + 1), self.joint.dtype)
        for start in range(0, n, _ROWS_IN_CACHE):
            here = slice(start, min(start + _ROWS_IN_CACHE, n))
            rows = padded[: here.stop - start]
            rows[:, :m] = self.joint[rewrite.plus[here]]
            rows[less[here], :m] -= self.joint[minus[here][less[here]]]
            plus = np.take(rows, rewrite.plus, axis=1)
            np.subtract(plus, np.take(rows, minus, axis=1), out=counts[here])
        return CountMatrix(self.n_rows, counts)


class CommonPairs(NamedTuple):
    """Distinct pairs of columns (``left < right``) with a common row, in any order."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    joint: Counts

    @classmethod
    def concat(cls, parts: Sequence[CommonPairs]) -> CommonPairs:
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


class PairList(PairCounts):
    """Counts without missing cells. Pairs without a common row take no memory.

    The counts come as pairs, or as a sparse matrix with supports on its diagonal and pairs above
    it. The other form is made on demand. Matrices can be added.
    """

    def __init__(self, n_rows: int, supports: Counts, made_of: CommonPairs | Any) -> None:
        self.n_rows = n_rows
        self._supports = supports
        self._made_of = made_of

    @property
    def supports(self) -> Counts:
        return self._supports

    @cached_property
    def pairs(self) -> CommonPairs:
        matrix = self._made_of
        if isinstance(matrix, CommonPairs):
            return matrix
        left = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
        above = np.flatnonzero(matrix.indices > left)
        right = matrix.indices[above].astype(np.int32, copy=False)
        return CommonPairs(left[above], right, matrix.data[above])

    @property
    def matrix(self) -> Any:
        if not isinstance(self._made_of, CommonPairs):
            return self._made_of
        m, (left, right, joint) = len(self.supports), self._made_of
        alone = np.flatnonzero(self.supports).astype(np.int32)
        counts = np.concatenate([joint, self.supports[alone].astype(joint.dtype)])
        places = np.concatenate([left, alone]), np.concatenate([right, alone])
        matrix = sp.csr_array((counts, places), shape=(m, m))
        matrix.sort_indices()
        return matrix

    def __add__(self, other: PairList) -> PairList:
        matrix = self.matrix + other.matrix
        supports = matrix.diagonal().astype(np.int64)
        return PairList(self.n_rows + other.n_rows, supports, matrix)

    def __mul__(self, factor: int) -> PairList:
        return PairList(factor * self.n_rows, factor * self.supports, factor * self.matrix)

    @property
    def n_pairs(self) -> int:
        return len(self.pairs.left)

    def pair_blocks(self) -> Iterator[Contingency]:
        left, right, joint = self.pairs
        for start in range(0, len(left), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            ends = left[some].astype(np.intp), right[some].astype(np.intp)
            yield self._with_supports(*ends, joint[some])

    def for_pairs(self, left: Positions, right: Positions) -> Contingency:
        n_columns = len(self.supports)
        # for most pairs, reading a matrix is quicker than a list
        matrix = self.to_matrix(4 * self.pairs.joint.itemsize * len(left))
        if matrix is not None:
            return self._with_supports(left, right, matrix[left, right])
        # sorting only the pairs of these columns is much quicker than sorting a long list
        is_left, is_right = np.zeros((2, n_columns), np.bool_)
        is_left[left], is_right[right] = True, True
        near = np.flatnonzero(is_left[self.pairs.left] & is_right[self.pairs.right])
        listed = self.pairs.left[near].astype(np.int64) * n_columns + self.pairs.right[near]
        order = np.argsort(listed)
        wanted = left.astype(np.int64) * n_columns + right
        # an entry at the end stands for pairs that are not listed
        place = np.append(order, -1)[np.searchsorted(listed, wanted, sorter=order)]
        is_listed = np.append(listed, -1)[place] == wanted
        joint = np.where(is_listed, np.append(self.pairs.joint[near], 0)[place], 0)
        return self._with_supports(left, right, joint)

    def rewritten(self, rewrite: Rewrite, total: Total) -> PairList:
        # pairs of kept columns keep their counts
        keeps = rewrite.keep_mask(len(self.supports))
        new = total(partial(_count_new_pairs, keeps, self.pairs.joint.dtype), 0)
        place = np.full(len(self.supports), -1, np.int32)
        place[rewrite.plus[keeps]] = np.flatnonzero(keeps)
        supports = np.where(keeps, self.supports[np.where(keeps, rewrite.plus, 0)], new.supports)
        one, other = place[self.pairs.left], place[self.pairs.right]
        kept = np.flatnonzero((one >= 0) & (other >= 0))
        one, other, joint = one[kept], other[kept], self.pairs.joint[kept]
        old = CommonPairs(np.minimum(one, other), np.maximum(one, other), joint)
        return PairList(self.n_rows, supports, CommonPairs.concat([old, new.pairs]))

    def to_matrix(self, limit: int) -> Counts | None:
        """Return a matrix of joint counts without supports, if it takes at most ``limit`` bytes."""
        m, (left, right, joint) = len(self.supports), self.pairs
        if joint.itemsize * m**2 > limit:
            return None
        matrix = np.zeros((m, m), joint.dtype)
        matrix[left, right] = matrix[right, left] = joint
        return matrix

    def _with_supports(self, left: Positions, right: Positions, joint: Counts) -> Contingency:
        supports = self.supports
        return Contingency(left, right, self.n_rows, supports[left], supports[right], joint)


@dataclass(frozen=True, eq=False)
class MaskedCounts(PairCounts):
    """Three matrices of counts if cells are missing.

    They count rows in which columns i and j are both true (``true``), in which i is true and j is
    known (``true_known``), and in which both are known (``known``).
    """

    n_rows: int
    true: Counts
    true_known: Counts
    known: Counts

    @property
    def supports(self) -> Counts:
        return np.diagonal(self.true)

    @property
    def observed(self) -> Counts:
        return np.diagonal(self.known)

    @property
    def n_pairs(self) -> int:
        return len(self.true) * (len(self.true) - 1) // 2

    def pair_blocks(self) -> Iterator[Contingency]:
        m = len(self.true)
        for some in _row_blocks(m):
            left, right = np.divmod(np.arange(some.start * m, some.stop * m), m)
            above = right > left
            yield self.for_pairs(left[above], right[above])

    def for_pairs(self, left: Positions, right: Positions) -> Contingency:
        ones = self.true_known[left, right], self.true_known[right, left], self.true[left, right]
        return Contingency(left, right, self.known[left, right], *ones)

    def rewritten(self, rewrite: Rewrite, total: Total) -> MaskedCounts:
        # counts do not subtract if cells are missing: count each new column, after the kept ones
        kept = rewrite.plus[rewrite.keep_mask(len(self.true))]
        columns = np.arange(len(kept), rewrite.n_after)
        check_counts(rewrite.n_after, 3 * self.true.itemsize)
        count = partial(count_borders, columns, self.true.dtype)
        true, true_known, known_true, known = total(count, 0)
        square, m = np.ix_(kept, kept), len(kept)

        def extend(counts: Counts, rows: Counts, columns: Counts) -> Counts:
            return np.block([[counts[square], columns[:, :m].T], [rows]])

        return MaskedCounts(
            self.n_rows,
            extend(self.true, true, true),
            extend(self.true_known, true_known, known_true),
            extend(self.known, known, known),
        )


# Workers can only call functions of modules.


def _count_conjunctions(left: Positions, right: Positions, dtype: Any, part: Any) -> Any:
    both = part.conjunctions(left, right)
    return np.asarray(part.joint_counts(both), dtype), np.asarray(both.joint_counts(), dtype)


def _count_new_pairs(keeps: Any, dtype: Any, part: Any) -> Any:
    return part.new_pair_counts(keeps, dtype)


def count_borders(columns: Positions, dtype: Any, part: Any) -> Borders:
    """Count some columns of a part with all columns, if cells are missing."""
    counts = part.select(columns.tolist()).count_with(part)
    return tuple(np.asarray(each, dtype) for each in counts)  # type: ignore[return-value]
