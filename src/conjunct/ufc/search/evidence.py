"""The pair with the most evidence, asked for again and again while columns are merged.

A pair has two tables: that of its features as they are now, and that of the rows that have all tags
of its patterns. Its evidence is the smaller of the two. The first changes only when one of its
features does, the second never, so each column keeps its best pair until that pair changes.
Patterns are counted only when a pair would come first: until then the evidence of the features
alone is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from conjunct.columns import Contingency, MergeRewrite
from conjunct.counting import (
    CompiledMerging,
    Growing,
    Merging,
    NativePatterns,
    Patterns,
)
from conjunct.ufc.association import Floats, evidence, x_log2_x
from conjunct.ufc.search.best import Pair

# Values of x·log2(x) that C looks up; beyond, NumPy computes them.
_LARGEST_TABLE = 1 << 24

Tags = tuple[int, ...]
"""A pattern: the ranks of the names of its tags, rising."""


class _PatternEvidence:
    """The evidence of pairs of patterns, each counted once."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns
        self._values: dict[tuple[int, int], float] = {}

    def get(self, one: int, other: int) -> float | None:
        """Return the evidence of two patterns if it is known."""
        return self._values.get((one, other) if one < other else (other, one))

    def count(self, one: int, other: int) -> None:
        n_rows, *counts = (np.array([count]) for count in self._patterns.table(one, other))
        value = float(evidence(n_rows, *counts)[0])
        self._values[(one, other) if one < other else (other, one)] = value


class EvidencePairs:
    """Find the best pair by NumPy, where cells may be missing or counts are large."""

    value: float
    """The evidence of the pair that was found last."""

    def __init__(
        self,
        merging: Merging,
        patterns: Patterns,
        tags: Sequence[Tags],
        merges: Sequence[MergeRewrite],
        max_length: int | None,
    ) -> None:
        self._merging = merging
        self._patterns = patterns
        self._tags = list(tags)
        self._max_length = max_length
        self._lengths = Growing(np.array([len(some) for some in tags], np.int64))
        self._caps = _PatternEvidence(patterns)
        # of the best pair of each column; no less than that where it is stale
        self._values = Growing(np.full(len(self._tags), math.inf))
        self._is_stale = Growing(np.ones(len(self._tags), np.bool_))
        # whether a feature is true wherever its tags are: as long as it was not merged
        self._is_whole = [True] * (len(self._tags) - len(merges))
        for merge in merges:
            self._join_whole(merge.left, merge.right)
        self._rows: dict[int, tuple[Contingency, Floats]] = {}

    def best(self) -> Pair | None:
        """Return the best pair, and keep its evidence; None if no pair may be joined."""
        while True:
            values = self._values.values
            highest = values.max(initial=-math.inf)
            if highest == -math.inf:
                return None
            first = np.flatnonzero(values == highest).tolist()
            stale = [column for column in first if self._is_stale.values[column]]
            for column in stale:
                self._renew(column)
            if stale:
                continue
            ties = [pair for column in first for pair in self._best_of(column)]
            most = max(pair.joint for pair in ties)
            ties = [pair for pair in ties if pair.joint == most]
            pair = min(ties, key=self._names)
            is_whole = self._is_whole[pair.left] and self._is_whole[pair.right]
            if is_whole or self._caps.get(pair.left, pair.right) is not None:
                self.value = float(highest)
                return pair
            self._caps.count(pair.left, pair.right)
            self._is_stale.values[[pair.left, pair.right]] = True

    def before_merge(self, left: int, right: int) -> None:
        """Forget the best pairs of all columns that meet one of the two."""
        for column in (left, right):
            self._is_stale.values[self._merging.row(column).right] = True

    def note_merge(self, left: int, right: int) -> None:
        """Take notice of a merge: the new column has the next position."""
        self._patterns.join(left, right)
        self._tags.append(tuple(sorted(self._tags[left] + self._tags[right])))
        self._lengths.append(len(self._tags[-1]))
        self._join_whole(left, right)
        self._values.append(-math.inf)
        self._is_stale.append(True)
        self._rows.clear()
        for column in (left, right, len(self._tags) - 1):
            self._renew(column)
            pairs, values = self._rows[column]
            np.maximum.at(self._values.values, pairs.right, values)

    def _join_whole(self, left: int, right: int) -> None:
        whole = self._is_whole
        whole.append(whole[left] and whole[right])
        whole[left] = whole[right] = False

    def _renew(self, column: int) -> None:
        """Find the best pairs of a column again."""
        pairs = self._merging.row(column)
        if self._max_length is not None:
            lengths = self._lengths.values
            fits = lengths[pairs.left] + lengths[pairs.right] <= self._max_length
            pairs = pairs.take(np.flatnonzero(fits))
        values = evidence(*pairs.table)
        some = np.flatnonzero(values > 0)
        pairs, values = pairs.take(some), values[some]
        for k, partner in enumerate(pairs.right.tolist()):
            cap = self._caps.get(column, partner)
            if cap is not None and not (self._is_whole[column] and self._is_whole[partner]):
                values[k] = min(values[k], cap)
        self._rows[column] = pairs, values
        self._values.values[column] = values.max(initial=-math.inf)
        self._is_stale.values[column] = False

    def _best_of(self, column: int) -> list[Pair]:
        if column not in self._rows:
            self._renew(column)
        pairs, values = self._rows[column]
        best = pairs.take(np.flatnonzero(values == values.max()))
        return [Pair.of(best.take(slice(k, k + 1))) for k in range(len(best))]

    def _names(self, pair: Pair) -> tuple[Tags, ...]:
        return tuple(sorted((self._tags[pair.left], self._tags[pair.right])))


class CompiledEvidence:
    """The same as ``EvidencePairs``, found by C."""

    value: float

    def __init__(
        self,
        merging: CompiledMerging,
        patterns: Patterns,
        tags: Sequence[Tags],
        max_length: int | None,
    ) -> None:
        self._patterns = patterns
        self._merging = merging
        in_c = patterns.in_c if isinstance(patterns, NativePatterns) else None
        self._counts_patterns = in_c is None
        rows = [patterns.table(k, k).both for k in range(len(tags))]
        logs = x_log2_x(np.arange(merging.n_rows + 1))
        merging.begin_evidence(logs, max_length, rows, tags, in_c)

    def best(self) -> Pair | None:
        """Return the best pair, and keep its evidence; None if no pair may be joined."""
        merging = self._merging
        while (found := merging.most_evidence()) is not None:
            left, right, *counts, value, is_known = found
            if is_known:
                self.value = value
                return Pair(left, right, merging.n_rows, *counts)
            merging.cap_evidence(left, right, self._patterns.table(left, right).both)
        return None

    def before_merge(self, left: int, right: int) -> None:
        """Do nothing: C knows which best pairs change."""

    def note_merge(self, left: int, right: int) -> None:
        """Take notice of a merge: the new column has the next position."""
        rows = 0
        if self._counts_patterns:
            self._patterns.join(left, right)
            rows = self._patterns.table(left, right).both
        self._merging.merge_evidence(left, right, rows)


def find_most_evidence(
    merging: Merging,
    patterns: Patterns,
    ranks: Sequence[int],
    merges: Sequence[MergeRewrite],
    max_length: int | None,
) -> EvidencePairs | CompiledEvidence:
    """Return what finds the best pair, in C where it was built and a table of logarithms fits.

    ``ranks`` are those of the names of the primitives, and ``merges`` what was merged so far.
    """
    tags: list[Tags] = [(rank,) for rank in ranks]
    for merge in merges:
        tags.append(tuple(sorted(tags[merge.left] + tags[merge.right])))
    if isinstance(merging, CompiledMerging) and merging.n_rows < _LARGEST_TABLE:
        return CompiledEvidence(merging, patterns, tags, max_length)
    return EvidencePairs(merging, patterns, tags, merges, max_length)
