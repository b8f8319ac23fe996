"""The pair with the most evidence, asked for again and again while columns are merged.

A pair has two tables: that of its features as they are now, and that of the rows that have all tags
of its patterns. Its evidence is the smaller of the two. The first changes only when one of its
features does, the second never, so each column keeps its best pair until that pair changes.
Patterns are counted only when a pair would come first: until then the evidence of the features
alone is a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from conjunct.columns import Contingency, MergeRewrite
from conjunct.counting import (
    CompiledMaskedMerging,
    CompiledMerging,
    GrowableArray,
    Merging,
    NativePatterns,
    Patterns,
)
from conjunct.features import Merge, round_savings
from conjunct.ufc.association import Floats, evidence, x_log2_x
from conjunct.ufc.run_state import MergeList, OpenMerge, Pair, RunState, Step

if TYPE_CHECKING:
    from conjunct.ufc.criteria import Criterion, Pairs, PairTest

# Values of x·log2(x) that C looks up; beyond, NumPy computes them.
_LARGEST_TABLE = 1 << 24
# merges that C makes before it is known whether the run goes on
_MOST_AHEAD = 128

Tags = tuple[int, ...]
"""A pattern: the ranks of the names of its tags, rising."""


class EvidencePairs:
    """Find and merge the best pairs by NumPy, where there is no C or counts are large."""

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
        self._lengths = GrowableArray(np.array([len(some) for some in tags], np.int64))
        # the evidence of pairs of patterns, each counted once
        self._caps: dict[frozenset[int], float] = {}
        # of the best pair of each column; no less than that where it is stale
        self._values = GrowableArray(np.full(len(self._tags), math.inf))
        self._is_stale = GrowableArray(np.ones(len(self._tags), np.bool_))
        # whether a feature is true wherever its tags are: as long as it was not merged
        self._is_whole = _whole_features(len(self._tags) - len(merges), merges)
        self._rows: dict[int, tuple[Contingency, Floats]] = {}

    def merge(self, most: int) -> list[tuple[Pair, float]]:
        """Merge the best pair; return it with its evidence, or nothing if none may be joined."""
        found = self._best()
        if found is None:
            return []
        left, right = found[0][:2]
        # the best pairs of all columns that meet one of the two may change
        for column in (left, right):
            self._is_stale.values[self._merging.row(column).right] = True
        self._merging.merge(left, right)
        self._patterns.join(left, right)
        self._tags.append(tuple(sorted(self._tags[left] + self._tags[right])))
        self._lengths.append(len(self._tags[-1]))
        _join_whole(self._is_whole, left, right)
        self._values.append(-math.inf)
        self._is_stale.append(True)
        self._rows.clear()
        for column in (left, right, len(self._tags) - 1):
            self._renew(column)
            pairs, values = self._rows[column]
            np.maximum.at(self._values.values, pairs.right, values)
        return [found]

    def _best(self) -> tuple[Pair, float] | None:
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
            columns = pair.left, pair.right
            is_whole = self._is_whole[pair.left] and self._is_whole[pair.right]
            if is_whole or frozenset(columns) in self._caps:
                return pair, float(highest)
            table = (np.array([count]) for count in self._patterns.table(*columns))
            self._caps[frozenset(columns)] = float(evidence(*table)[0])
            self._is_stale.values[[*columns]] = True

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
            cap = self._caps.get(frozenset((column, partner)))
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


def _whole_features(n_primitives: int, merges: Sequence[MergeRewrite]) -> list[bool]:
    """Return for each feature whether nothing was taken from it by a merge."""
    is_whole = [True] * n_primitives
    for merge in merges:
        _join_whole(is_whole, merge.left, merge.right)
    return is_whole


def _join_whole(is_whole: list[bool], left: int, right: int) -> None:
    is_whole.append(is_whole[left] and is_whole[right])
    is_whole[left] = is_whole[right] = False


class CompiledEvidence:
    """The same as ``EvidencePairs``, by C."""

    def __init__(
        self,
        merging: CompiledMerging | CompiledMaskedMerging,
        patterns: Patterns,
        tags: Sequence[Tags],
        primitive_supports: Sequence[int],
        merges: Sequence[MergeRewrite],
        max_length: int | None,
    ) -> None:
        self._patterns = patterns
        self._merging = merging
        in_c = patterns if isinstance(patterns, NativePatterns) else None
        if isinstance(merging, CompiledMaskedMerging):
            # instead of rows: whether a feature is known and true wherever its tags are
            rows = [*map(int, _whole_features(len(primitive_supports), merges))]
        else:
            later = range(len(primitive_supports), len(tags))
            rows = [*primitive_supports, *(patterns.table(k, k).both for k in later)]
        logs = x_log2_x(np.arange(merging.n_rows + 1))
        merging.begin_evidence(logs, max_length, rows, tags, in_c)

    def merge(self, most: int) -> list[tuple[Pair, float]]:
        """Merge the best pairs, one after the other, and return each with its evidence.

        They are at least one and at most ``most``, or none if no pair may be joined.
        """
        merged, n_rows = self._merging.run_evidence(most), self._merging.n_rows
        found = []
        if merged is None:
            return self._merge_one()
        for (left, right, *counts), value in merged:
            found.append((Pair(left, right, n_rows, *counts), value))
        return found

    def _merge_one(self) -> list[tuple[Pair, float]]:
        merging, patterns = self._merging, self._patterns
        while (found := merging.most_evidence()) is not None:
            (left, right, *counts), value, is_known = found
            if not is_known:
                merging.cap_evidence(left, right, patterns.table(left, right))
                continue
            pair, rows = Pair(left, right, merging.n_rows, *counts), 0
            if isinstance(merging, CompiledMaskedMerging):
                pair = Pair(left, right, *merging.table(left, right))
            merging.merge(left, right)
            if not isinstance(patterns, NativePatterns):
                patterns.join(left, right)
                rows = patterns.table(left, right).both
            merging.merge_evidence(left, right, rows)
            return [(pair, value)]
        return []


class EvidenceSearch:
    """The pair with the most evidence first, one pair after the other."""

    def __init__(
        self,
        merging: Merging,
        patterns: Patterns,
        state: RunState,
        criterion: Criterion,
        pair_test: PairTest,
        max_length: int | None,
        merges: tuple[Merge, ...],
        rewrites: Sequence[MergeRewrite],
    ) -> None:
        self._state = state
        self._criterion = criterion
        self._pair_test = pair_test
        self._iteration = len(merges)
        self._merges = MergeList(merging, state, merges, self._describe)
        # patterns are compared by the ranks of their names
        primitives = state.lineage.primitives
        ranks = np.empty(len(primitives), np.int64)
        ranks[sorted(range(len(primitives)), key=primitives.__getitem__)] = np.arange(len(ranks))
        tags: list[Tags] = [*zip(ranks.tolist())]
        for rewrite in rewrites:
            tags.append(tuple(sorted(tags[rewrite.left] + tags[rewrite.right])))
        self._pairs: EvidencePairs | CompiledEvidence
        is_small = merging.n_rows < _LARGEST_TABLE
        if is_small and isinstance(merging, CompiledMerging | CompiledMaskedMerging):
            supports = state.primitive_supports
            self._pairs = CompiledEvidence(merging, patterns, tags, supports, rewrites, max_length)
        else:
            self._pairs = EvidencePairs(merging, patterns, tags, rewrites, max_length)

    def steps(self) -> Iterator[Step]:
        """Yield the next merges, for as long as a pair may be joined."""
        state, gain, merges = self._state, self._criterion.gain, self._merges
        most = 1
        while merged := self._pairs.merge(most):
            for pair, value in merged:
                self._iteration += 1
                cost = state.merge_cost(self._iteration)
                saved = merges.join(self._iteration, pair, value - cost, cost)
                state.evidence += saved
                yield state.make_step(self._iteration, merges.write, saved, gain(saved, cost))
            # more at a time, as the run grows long: what is made after its end is of no use
            most = min(2 * most, _MOST_AHEAD)

    def _describe(self, counts: Contingency, joined: list[OpenMerge]) -> Pairs:
        saved, costs = np.array([*map(attrgetter("saved", "cost"), joined)]).T
        score = round_savings(saved + costs)
        pairs = self._pair_test.evidence(counts, score)
        return replace(pairs, cutoff=replace(pairs.cutoff, threshold=costs))
