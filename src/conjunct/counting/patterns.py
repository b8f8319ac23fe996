"""Rows that have all tags of a pattern, while columns are merged in place.

The columns of a run are features: after a merge, ``i ∧ ¬j`` is true in fewer rows than the tags of
i are. What a reader would count, the rows that have all tags of a pattern, is kept here beside the
features: position k holds the pattern of the feature at position k. A merge leaves the patterns of
i and j as they are, and adds that of both after all others, so a table of two positions never
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from conjunct.columns import (
    Columns,
    CompiledPatterns,
    Counts,
    JoinRewrite,
    MergeRewrite,
    PairCounts,
    PairList,
    Rewrite,
    counts_dtype,
)
from conjunct.counting.partitioned import PartitionedColumns


class PatternTable(NamedTuple):
    """Rows in which two patterns are known, and those with all tags of one, the other, both."""

    n_rows: int
    left: int
    right: int
    both: int

    def swap(self) -> PatternTable:
        """Return the same table, the other pattern first."""
        return PatternTable(self.n_rows, self.right, self.left, self.both)


class Patterns(Protocol):
    """The patterns at each position, and how often two of them occur together."""

    def join(self, left: int, right: int) -> None:
        """Add the pattern with the tags of both after all others."""
        ...

    def table(self, left: int, right: int) -> PatternTable:
        """Count the rows of two patterns."""
        ...


class LinePatterns:
    """Patterns of rows in memory: a line for each, counted when a pair is asked for."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._lines = list(columns.lines)

    def join(self, left: int, right: int) -> None:
        one, other = self._lines[left], self._lines[right]
        both = self._columns.conjunction(one, other, not_left=False, not_right=False)
        self._lines.append(both)

    def table(self, left: int, right: int) -> PatternTable:
        return PatternTable(*self._columns.count_table(self._lines[left], self._lines[right]))


class NativePatterns:
    """The same in C, where no cell is missing."""

    def __init__(self, columns: Columns) -> None:
        self._n_rows = columns.n_rows
        self.in_c = CompiledPatterns(columns.lines, columns.supports())

    def join(self, left: int, right: int) -> None:
        self.in_c.join(left, right)

    def table(self, left: int, right: int) -> PatternTable:
        count = self.in_c.count
        counts = count(left, left), count(right, right), count(left, right)
        return PatternTable(self._n_rows, *counts)


class WeightedPatterns:
    """Patterns of rows with weights: what each part counts, as often as its rows count."""

    def __init__(self, parts: Sequence[Columns], factors: Sequence[int]) -> None:
        self._parts = [LinePatterns(part) for part in parts]
        self._factors = factors

    def join(self, left: int, right: int) -> None:
        for part in self._parts:
            part.join(left, right)

    def table(self, left: int, right: int) -> PatternTable:
        counted = np.array([part.table(left, right) for part in self._parts], np.int64)
        return PatternTable(*(counted.T @ np.array(self._factors, np.int64)).tolist())


class MergedPartsWithPatterns:
    """Columns in parts, merged in place with their patterns: each merge is one pass over both.

    The parts hold features at even positions and patterns at odd ones. A pass is dear, so every
    table of a new pattern is counted at once.
    """

    def __init__(
        self, store: PartitionedColumns, first: PairCounts, merges: Sequence[MergeRewrite] = ()
    ) -> None:
        n = store.n_columns
        nothing = np.empty(0, np.intp)
        twice = np.repeat(np.arange(n), 2)
        doubled = Rewrite(nothing, nothing, twice, np.full_like(twice, -1))
        self._store = store.after([doubled])
        self._first = first
        # of lists of pairs, one is found sooner in a sparse matrix
        self._matrix = first.matrix if isinstance(first, PairList) else None
        self._n_first = self._n = n
        # of each new pattern, the tables with all before it
        self._tables: list[Counts] = []
        for merge in merges:
            self._rewrite(merge.left, merge.right)
        if merges:
            self._tables += self._total(_CountPatterns(n, self._n))

    def _total(self, count: Callable[[Columns], Any]) -> Any:
        # held together are the counts of features, not of all columns of the parts
        return self._store.parts.total(self._store.rewrites, count, self._n)

    def _rewrite(self, left: int, right: int) -> None:
        n = self._n
        self._store = self._store.after(
            [
                MergeRewrite(2 * left, 2 * right, 2 * n),
                JoinRewrite(2 * left + 1, 2 * right + 1, 2 * n + 1),
            ]
        )
        self._n += 1

    def merge(self, left: int, right: int) -> Any:
        n = self._n
        self._rewrite(left, right)
        dtype = counts_dtype(self._store.n_rows)
        *counts, table = self._total(_CountMerge(left, right, n, dtype))
        self._tables.append(table)
        return tuple(counts) if self._store.has_missing else counts[0]

    def join(self, left: int, right: int) -> None:
        """Do nothing: ``merge`` has added the pattern."""

    def table(self, left: int, right: int) -> PatternTable:
        if left > right:
            return self.table(right, left).swap()
        if right >= self._n_first:
            table = self._tables[right - self._n_first]
            if self._store.has_missing:
                n_rows, newer, older, both = table[:, left].tolist()
                return PatternTable(n_rows, older, newer, both)
            counts = self._support(left), self._support(right), int(table[0, left])
            return PatternTable(self._store.n_rows, *counts)
        if self._matrix is not None:
            joint = int(self._matrix[left, right])
            counts = self._support(left), self._support(right), joint
            return PatternTable(self._store.n_rows, *counts)
        pair = self._first.for_pairs(np.array([left]), np.array([right]))
        return PatternTable(*(int(np.ravel(count)[0]) for count in pair.table))

    def _support(self, position: int) -> int:
        """Return in how many rows a pattern is, where no cell is missing."""
        if position < self._n_first:
            return int(self._first.supports[position])
        return int(self._tables[position - self._n_first][0, -1])


@dataclass(frozen=True)
class _CountMerge:
    """Count what a merge has changed in a part: features with features, patterns with patterns."""

    left: int
    right: int
    new: int
    dtype: Any

    def __call__(self, columns: Columns) -> tuple[Counts, ...]:
        features = columns.select(range(0, 2 * self.new + 2, 2))
        table = _count_tables(columns.select(range(1, 2 * self.new + 2, 2)), self.new)
        if columns.has_missing:
            changed = np.array([self.left, self.right, self.new])
            return (*features.border_counts(changed, self.dtype), table)  # type: ignore[attr-defined]
        joint = features.select([self.new]).against(features).joint.astype(self.dtype)
        # as before the merge, when the two columns still held the rows of both
        joint[[self.left, self.right]] = joint[self.new]
        return joint[: self.new], table


@dataclass(frozen=True)
class _CountPatterns:
    """Count in a part the tables of all patterns that some merges have added."""

    n_first: int
    n: int

    def __call__(self, columns: Columns) -> tuple[Counts, ...]:
        patterns = columns.select(range(1, 2 * self.n, 2))
        return tuple(_count_tables(patterns, new) for new in range(self.n_first, self.n))


def _count_tables(patterns: Columns, new: int) -> Counts:
    """Count the tables of a pattern with all up to itself, one column each."""
    pairs = patterns.select([new]).against(patterns.select(range(new + 1)))
    if not patterns.has_missing:
        # all else is known
        return pairs.joint[None].astype(np.int64)
    return np.stack(np.broadcast_arrays(*pairs.table)).astype(np.int64)
