"""Pairwise search: the best pair is replaced by its conjunctions, one pair after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, MergeRewrite
from conjunct.counting import CompiledMerging, Growing, Merging, Patterns
from conjunct.features import Merge, rounded
from conjunct.ufc.association import Pairs
from conjunct.ufc.run_state import Made, RunState, Step
from conjunct.ufc.search.best import (
    EMPTY,
    BestPairs,
    CompiledBest,
    Pair,
    counts_of,
    has_native_search,
)
from conjunct.ufc.search.evidence import CompiledEvidence, EvidencePairs, find_most_evidence

if TYPE_CHECKING:
    from conjunct.ufc.criteria import Criterion, PairTest


class PairwiseSearch:
    """One pair after the other."""

    def __init__(
        self,
        merging: Merging,
        state: RunState,
        criterion: Criterion,
        pair_test: PairTest,
        max_length: int | None,
        merges: tuple[Merge, ...] = (),
        patterns: Patterns | None = None,
        rewrites: Sequence[MergeRewrite] = (),
    ) -> None:
        self._merging = merging
        self._state = state
        self._criterion = criterion
        self._max_length = max_length
        self._iteration = len(merges)
        # the feature of each column
        self._features = columns_after(merges, len(state.lineage.primitives))
        self._sizes = Growing(self._sizes_of(self._features))
        self._best: BestPairs | CompiledBest | EvidencePairs | CompiledEvidence
        self._pair_test = pair_test
        self._by_evidence: EvidencePairs | CompiledEvidence | None = None
        if patterns is not None:
            primitives = state.lineage.primitives
            rank = {name: k for k, name in enumerate(sorted(primitives))}
            ranks = [rank[name] for name in primitives]
            found = find_most_evidence(merging, patterns, ranks, rewrites, max_length)
            self._best = self._by_evidence = found
            self._merges = _Merges(self._describe_evidence)
            state.bits = math.nan
            if not merges:
                state.evidence = 0.0
            return
        self._order = criterion.order(merging, state, pair_test, self._features)
        self._merges = _Merges(self._describe_order)
        if isinstance(merging, CompiledMerging) and has_native_search(
            self._order, pair_test.pair_filter
        ):
            alpha, of_columns = pair_test.pair_filter.alpha, (self._order.costs, self._sizes.values)
            merging.set_order(state.total, state.n_used, alpha, max_length, *of_columns)
            self._best = CompiledBest(merging, pair_test.pair_filter, self._order, self._by_text)
        else:
            self._best = BestPairs(
                merging, pair_test.pair_filter, self._order, self._fits, self._by_text
            )

    def first(self) -> Step:
        indicators = self._state.indicators(self._iteration)
        return Step(self._iteration, indicators)

    def steps(self) -> Iterator[Step]:
        """Yield the next merges, for as long as a pair may be joined."""
        while (pair := self._best.best()) is not None:
            self._iteration += 1
            saved = self._merge(pair)
            merges = partial(self._merges.merge, len(self._merges) - 1)
            indicators = self._state.indicators(self._iteration)
            gain = self._criterion.gain(saved, self._state.merge_cost(self._iteration))
            yield Step(self._iteration, indicators, merges, (saved,), gain)

    def _merge(self, pair: Pair) -> float:
        """Replace a pair of columns, wherever it is known, and return the bits it saved."""
        features = self._features
        if features[pair.left] > features[pair.right]:
            # the earlier feature is written first
            pair = pair.swap()
        left, right = pair.left, pair.right
        f, g = features[left], features[right]
        self._best.before_merge(left, right)
        new = self._merging.merge(left, right)
        made = self._make_features(pair, new)
        saved, cost = self._state.enter(f, g, pair[3:], made), 0.0
        if self._by_evidence is not None:
            cost = self._state.merge_cost(self._iteration)
            saved = self._by_evidence.value - cost
            self._state.evidence += saved
        self._merges.add(_JoinedPair(self._iteration, f, g, made, pair, saved, cost))
        both, right_only, left_only = (EMPTY if n is None else n for n in made.numbers)
        features[left], features[right] = left_only, right_only
        features.append(both)
        if self._max_length is not None:
            self._sizes.append(0)
            self._sizes.values[[left, right, new]] = self._sizes_of([left_only, right_only, both])
        self._best.note_merge(left, right)
        return saved

    def _make_features(self, pair: Pair, new: int) -> Made:
        left, right, _, left_support, right_support, joint = pair
        known = None
        supports = joint, right_support - joint, left_support - joint
        observed = self._merging.observed
        if not isinstance(observed, int):
            # the counts of the pair are those of the rows in which both are known
            columns = [new, right, left]
            supports = tuple(self._merging.supports[columns].tolist())
            known = (int(observed[new]), int(observed[right]), int(observed[left]))
        f, g, conjoin = self._features[left], self._features[right], self._state.lineage.conjoin
        both, right_only, left_only = supports
        numbers = (
            conjoin(f, g) if both else None,
            conjoin(~f, g) if right_only else None,
            conjoin(f, ~g) if left_only else None,
        )
        return Made(numbers, supports, known)

    def _describe_order(self, counts: Contingency, taken: list[_JoinedPair]) -> Pairs:
        score = self._order.score(counts, [each.saved for each in taken])
        return self._pair_test.evidence(counts, score)

    def _describe_evidence(self, counts: Contingency, taken: list[_JoinedPair]) -> Pairs:
        costs = np.array([each.cost for each in taken])
        score = rounded(np.array([each.saved for each in taken]) + costs)
        pairs = self._pair_test.evidence(counts, score)
        return replace(pairs, cutoff=replace(pairs.cutoff, threshold=costs))

    def _sizes_of(self, features: list[int]) -> NDArray[np.int64]:
        if self._max_length is None:
            return np.zeros(len(features), np.int64)
        # a column that is gone meets no other, whatever its size
        numbers = (max(number, 0) for number in features)
        in_tags = self._criterion.counts_tags
        return self._state.sizes(numbers, self._max_length, in_tags=in_tags)

    def _fits(self, pairs: Contingency) -> NDArray[np.bool_]:
        """Test which pairs are not too long together."""
        if self._max_length is None:
            return np.ones(len(pairs), np.bool_)
        sizes = self._sizes.values
        return np.asarray(sizes[pairs.left] + sizes[pairs.right] <= self._max_length)

    def _by_text(self, columns: list[int]) -> list[int]:
        column_of = {self._features[column]: column for column in columns}
        return [column_of[feature] for feature in self._state.lineage.by_text(column_of)]


class _JoinedPair(NamedTuple):
    """A pair that was joined."""

    iteration: int
    left: int
    right: int
    made: Made
    pair: Pair
    saved: float
    """Bits that it brought less what it cost."""
    cost: float


class _Merges:
    """The merges so far. Their tests are computed for many at once, on first use."""

    def __init__(self, describe: Callable[[Contingency, list[_JoinedPair]], Pairs]) -> None:
        self._describe = describe
        self._open: list[_JoinedPair] = []
        self._merges: list[Merge] = []

    def __len__(self) -> int:
        return len(self._merges) + len(self._open)

    def add(self, taken: _JoinedPair) -> None:
        self._open.append(taken)

    def merge(self, k: int) -> tuple[Merge]:
        """Return the k-th merge, as the merges of a step."""
        if k >= len(self._merges):
            self._merges += self._write()
            self._open.clear()
        return (self._merges[k],)

    def _write(self) -> Iterator[Merge]:
        pairs = [taken.pair for taken in self._open]
        n_rows = np.array([pair.n_rows for pair in pairs])
        same = bool((n_rows == n_rows[0]).all())
        counts = counts_of(pairs, int(n_rows[0]) if same else n_rows)
        described = self._describe(counts, self._open)
        cutoff = described.cutoff
        lines = np.column_stack(
            [
                described.r,
                described.score,
                described.p_value,
                described.p_adjusted,
                np.broadcast_to(cutoff.threshold, len(counts)),
            ]
        ).tolist()
        for taken, line in zip(self._open, lines, strict=True):
            r, score, p_value, p_adjusted, threshold = line
            yield Merge(
                taken.iteration,
                taken.left,
                taken.right,
                *taken.made.numbers,
                taken.pair.n_rows,
                taken.pair.joint,
                r,
                score,
                p_value,
                p_adjusted,
                threshold,
                cutoff.compared,
                cutoff.family_size,
                taken.saved,
            )


def columns_after(merges: tuple[Merge, ...], n_primitives: int) -> list[int]:
    """Return the feature of each column after some merges, made one at a time."""
    features = list(range(n_primitives))
    column = dict(enumerate(features))
    for merge in merges:
        left, right = column.pop(merge.left), column.pop(merge.right)
        for k, number in ((left, merge.left_only), (right, merge.right_only)):
            features[k] = EMPTY if number is None else number
            column[features[k]] = k
        features.append(EMPTY if merge.both is None else merge.both)
        column[features[-1]] = len(features) - 1
    return features
