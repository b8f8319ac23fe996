"""What construction needs of the data: columns that count themselves, and how they change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from conjunct.stores.counting import Counts
from conjunct.stores.sizing import Need

if TYPE_CHECKING:
    from conjunct.stores.merging import Merging

Positions = NDArray[np.intp]
Arrays = tuple[NDArray[Any], ...]
"""What a store is made of, to be written and read again, or sent."""
Which = Positions | NDArray[np.bool_] | slice


@dataclass(frozen=True)
class Contingency:
    """How often the two columns of some pairs (``left < right``) are true, alone and together.

    ``n_rows`` is the number of rows in which both are known, and the supports are counted in
    these: one number for all pairs where no cell is missing.
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
        """What measures and tests are functions of."""
        return self.n_rows, self.left_support, self.right_support, self.joint

    @classmethod
    def joined(cls, parts: Sequence[Contingency], n_rows: int) -> Contingency:
        """The pairs of all parts, of a table of ``n_rows`` rows."""
        if not parts:
            nothing = np.empty(0, np.intp)
            return cls(nothing, nothing, n_rows, nothing, nothing, nothing)
        rows = parts[0].n_rows
        return cls(
            np.concatenate([part.left for part in parts]),
            np.concatenate([part.right for part in parts]),
            rows if isinstance(rows, int) else np.concatenate([part.n_rows for part in parts]),
            np.concatenate([part.left_support for part in parts]),
            np.concatenate([part.right_support for part in parts]),
            np.concatenate([part.joint for part in parts]),
        )

    def swapped(self) -> Contingency:
        """The same pairs, the other column first."""
        return Contingency(
            self.right, self.left, self.n_rows, self.right_support, self.left_support, self.joint
        )

    def take(self, which: Which) -> Contingency:
        return Contingency(
            self.left[which],
            self.right[which],
            taken(self.n_rows, which),
            self.left_support[which],
            self.right_support[which],
            self.joint[which],
        )


@dataclass(frozen=True)
class Rewrite:
    """How the columns of the next feature set follow from the present ones.

    Present columns have the positions 0 … m−1, the conjunctions of the pairs
    ``(left[k], right[k])`` the positions m + k. Next column t is column ``plus[t]`` less column
    ``minus[t]`` (−1: less nothing). What is taken away is always a part of what it is taken
    from, since ``i ∧ ¬j`` is ``i`` less ``i ∧ j``; so indicators subtract, and counts with them.
    """

    left: Positions
    right: Positions
    plus: Positions
    minus: Positions

    def kept(self, n_columns: int) -> NDArray[np.bool_]:
        """Which of the next columns are present ones (of so many) as they are."""
        return (self.plus < n_columns) & (self.minus < 0)


@dataclass(frozen=True)
class MergeRewrite:
    """The rewrite that merges two columns in place.

    ``i ∧ ¬j`` and ``¬i ∧ j`` are at the places of i and j, and ``i ∧ j`` comes after all
    ``n_columns`` columns.
    """

    left: int
    right: int
    n_columns: int


AnyRewrite = Rewrite | MergeRewrite


def columns_after(rewrite: AnyRewrite) -> int:
    """Number of columns after a rewrite."""
    return rewrite.n_columns + 1 if isinstance(rewrite, MergeRewrite) else len(rewrite.plus)


class PairCounts(Protocol):
    """How often columns occur, alone and in pairs."""

    @property
    def n_rows(self) -> int: ...

    @property
    def supports(self) -> Counts:
        """Number of rows in which each column is true."""
        ...

    @property
    def observed(self) -> int | Counts:
        """Number of rows in which columns are known: one number where no cell is missing."""
        ...

    def met(self) -> Iterator[Contingency]:
        """All pairs with a common row, some at a time; all pairs where cells are missing."""
        ...

    def of(self, left: Positions, right: Positions) -> Contingency:
        """The counts of some pairs."""
        ...


class Tally(PairCounts, Protocol):
    """Columns with their counts, from which those of the next feature set follow."""

    def conjoined(self, left: Positions, right: Positions) -> Conjoined:
        """Count the conjunctions ``left[k] ∧ right[k]``, once for all rewrites with them."""
        ...

    def merging(self) -> Merging:
        """The same columns, to be merged in place, one pair at a time."""
        ...


class Conjoined(Protocol):
    """A tally with conjunctions that may take the place of some of its columns."""

    def rewritten(self, rewrite: Rewrite) -> Tally:
        """The next tally; ``rewrite`` names the first pairs that were conjoined, or all."""
        ...


class Store(Protocol):
    """Boolean columns. Never changed in place."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def need(self) -> Need:
        """What an iteration takes."""
        ...

    def count_ones(self) -> int:
        """Number of true cells, or a bound of it where a look would take long."""
        ...

    def after(self, rewrites: Sequence[AnyRewrite]) -> Store:
        """The columns after some rewrites, in order."""
        ...

    def tally(self) -> Tally:
        """Count every pair of columns."""
        ...

    def count_distinct_rows(self) -> int:
        """Number of distinct rows: the paper's ``unique(I)``."""
        ...

    def count_null_rows(self) -> int:
        """Number of rows in which no column is true: the support of the paper's "null"."""
        ...


class Columns(Store, Protocol):
    """A store that can be computed with, column by column; what a line is, each store knows."""

    @property
    def lines(self) -> Any:
        """One for each column, in order."""
        ...

    @property
    def nowhere(self) -> Any:
        """The line of a column that is true in no row."""
        ...

    def conjunction(self, left: Any, right: Any, *, not_left: bool, not_right: bool) -> Any:
        """The line of ``left ∧ right``, either of them negated if so told."""
        ...

    def disjunction(self, left: Any, right: Any) -> Any:
        """The line of ``left ∨ right``."""
        ...

    def with_lines(self, lines: Sequence[Any]) -> Self:
        """A store with other lines of the same rows."""
        ...

    def supports(self) -> Counts:
        """Number of rows in which each column is true."""
        ...

    def against(self, other: Self) -> Contingency:
        """The counts of the first column with each column of ``other``."""
        ...


def taken(values: Any, which: Which) -> Any:
    """Some of the values; a single value that holds for all of them as it is."""
    return values[which] if isinstance(values, np.ndarray) else values


C = TypeVar("C", bound=Columns)


def after_rewrites(
    columns: C, rewrites: Iterable[AnyRewrite], rewritten: Callable[[C, Rewrite], C]
) -> C:
    """The columns after some rewrites; ``rewritten`` does those that are no merges in place."""
    for is_merge, some in groupby(rewrites, lambda rewrite: isinstance(rewrite, MergeRewrite)):
        if not is_merge:
            for rewrite in some:
                columns = rewritten(columns, rewrite)  # type: ignore[arg-type]
            continue
        lines = list(columns.lines)
        conjunction = columns.conjunction
        for merge in some:
            i, j = merge.left, merge.right
            one, other = lines[i], lines[j]
            lines.append(conjunction(one, other, not_left=False, not_right=False))
            lines[i] = conjunction(one, other, not_left=False, not_right=True)
            lines[j] = conjunction(one, other, not_left=True, not_right=False)
        columns = columns.with_lines(lines)
    return columns
