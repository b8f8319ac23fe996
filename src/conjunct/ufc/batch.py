"""Batch search: Algorithm 2 as a generator of steps. Each iteration replaces a whole matching.

Candidate pairs are chosen greedily (§3.3), in the documented order: larger score (the measure, r in
the paper) first, then larger joint count, then the two canonical texts in code-point order. So
neither the choice nor the features depend on the order of columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from conjunct.columns import Counts, PairCounts, Positions, Rewrite
from conjunct.counting import Store, Tally
from conjunct.features import Lineage, Merge
from conjunct.ufc.association import Floats
from conjunct.ufc.criteria import Pairs
from conjunct.ufc.run_state import Numbers, RunState, Step, write_merges

if TYPE_CHECKING:
    from conjunct.ufc.criteria import PairTest
    from conjunct.ufc.run import Plan


@dataclass(frozen=True, eq=False)
class Stage:
    """The feature set after some iterations."""

    iteration: int
    features: tuple[int, ...]
    tally: Tally

    @classmethod
    def first(cls, store: Store) -> Stage:
        """Return the primitives."""
        return cls(0, tuple(range(store.n_columns)), Tally.of(store))

    @property
    def counts(self) -> PairCounts:
        return self.tally.counts

    @property
    def supports(self) -> Counts:
        return self.counts.supports

    @property
    def observed(self) -> int | Counts:
        return self.counts.observed


class Replacement:
    """The next stage after replacing all pairs of a sequence, or only the first few.

    Each pair is replaced by its non-empty conjunctions (§3.3): kept features come first, then
    ``i ∧ j``, ``¬i ∧ j``, ``i ∧ ¬j`` of each pair in turn. New features are counted only once.
    """

    def __init__(self, stage: Stage, pairs: Pairs, lineage: Lineage) -> None:
        self.pairs = pairs
        self.stage = stage
        self._tally = stage.tally.with_conjunctions(pairs.left, pairs.right)
        both = len(stage.features) + np.arange(len(pairs))
        # one line per pair: i ∧ j, ¬i ∧ j, i ∧ ¬j
        self._plus = np.column_stack([both, pairs.right, pairs.left])
        self._minus = np.column_stack([np.full_like(both, -1), both, both])
        counts, conjoin = pairs.counts, lineage.conjoin
        rest = counts.right_support - counts.joint, counts.left_support - counts.joint
        self._occurs = np.column_stack([counts.joint, *rest]) > 0
        self.made: list[Numbers] = []
        columns = (pairs.left.tolist(), pairs.right.tolist(), self._occurs.tolist())
        for i, j, (has_both, has_right_only, has_left_only) in zip(*columns, strict=True):
            f, g = stage.features[i], stage.features[j]
            numbers = (
                conjoin(f, g) if has_both else None,
                conjoin(~f, g) if has_right_only else None,
                conjoin(f, ~g) if has_left_only else None,
            )
            self.made.append(numbers)

    @property
    def r(self) -> list[float]:
        return list(map(float, self.pairs.r))

    @property
    def size(self) -> int:
        """The number of pairs to count."""
        return len(self.stage.features) ** 2

    def of_first(self, n_pairs: int) -> Stage:
        """Return the stage after replacing the first ``n_pairs`` pairs."""
        stage, left, right = self.stage, self.pairs.left[:n_pairs], self.pairs.right[:n_pairs]
        keeps = np.ones(len(stage.features), bool)
        keeps[left] = keeps[right] = False
        kept = np.flatnonzero(keeps)
        occurs = self._occurs[:n_pairs]
        plus = np.concatenate([kept, self._plus[:n_pairs][occurs]])
        minus = np.concatenate([np.full_like(kept, -1), self._minus[:n_pairs][occurs]])
        features = [stage.features[position] for position in kept.tolist()]
        for made in self.made[:n_pairs]:
            features += [number for number in made if number is not None]
        tally = self._tally.rewritten(Rewrite(left, right, plus, minus))
        return Stage(stage.iteration + 1, tuple(features), tally)


def write_replaced(
    features: Sequence[int],
    pairs: Pairs,
    made: Sequence[Numbers],
    saved: Sequence[float],
    iteration: int,
) -> tuple[Merge, ...]:
    """Return the merges of the replaced pairs of columns."""
    ends = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
    each = zip(ends, made, saved, strict=True)
    return write_merges([(iteration, features[i], features[j], *o) for (i, j), *o in each], pairs)


ByText = Callable[[list[int]], list[int]]
"""Sort columns in the order of the canonical texts of their features."""


def greedy_matching(pairs: Pairs, n_columns: int, by_text: ByText) -> Positions:
    """Return the pairs that ``highest_scoring_pair`` and ``remove_candidate`` take, in order.

    The sequence for a higher threshold is a prefix of this one. Only the strongest free pairs are
    sorted: after each batch, pairs with a used end are dropped. Texts are compared only if tied
    pairs share an end, because elsewhere they do not change the result;
    ``sort_equals_by_text`` sorts the other ties.
    """
    free = bytearray(b"\1") * n_columns
    taken: list[Positions] = [np.empty(0, np.intp)]
    left = np.arange(len(pairs))
    while len(left):
        strongest = left[_at_least_nth(pairs.score[left], 2 * n_columns)]
        order, edges = _sort_in_runs(strongest, pairs.score, pairs.joint)
        ends = pairs.left[order].tolist(), pairs.right[order].tolist()
        taken.append(order[take_free(*ends, edges, free, by_text)])
        if len(strongest) == len(left):
            break
        is_free = np.frombuffer(free, bool)
        left = left[is_free[pairs.left[left]] & is_free[pairs.right[left]]]
    return np.concatenate(taken)


def take_free(
    left: list[int], right: list[int], edges: list[int], free: bytearray, by_text: ByText
) -> list[int]:
    """Take each pair whose two columns are free, and mark both as used.

    Pairs are sorted, with ties in runs between ``edges``. Return the positions of the taken pairs.
    """
    taken: list[int] = []
    for start, stop in pairwise(edges):
        run = [start]
        if stop - start > 1:
            run = [k for k in range(start, stop) if free[left[k]] and free[right[k]]]
            if len(run) > 1:
                run = _break_ties(run, left, right, by_text)
        for k in run:
            i, j = left[k], right[k]
            if free[i] and free[j]:
                free[i] = free[j] = 0
                taken.append(k)
    return taken


def _break_ties(run: list[int], left: list[int], right: list[int], by_text: ByText) -> list[int]:
    """Sort tied pairs in the order in which to try them, leaving out those that cannot be taken."""
    columns = [left[k] for k in run] + [right[k] for k in run]
    others = set(columns)
    if len(others) == len(columns):
        return run
    if len(others) == len(run) + 1:
        for shared in (left[run[0]], right[run[0]]):
            if columns.count(shared) == len(run):
                # all share one end, so the text of the other end decides, and only one is taken
                others.remove(shared)
                first = by_text([*others])[0]
                return [k for k in run if left[k] == first or right[k] == first]
    return [run[k] for k in sort_ties([(left[k], right[k]) for k in run], by_text)]


def sort_equals_by_text(pairs: Pairs, by_text: ByText) -> Pairs:
    """Sort matched pairs with equal score and joint count by their texts."""
    order, edges = _sort_in_runs(np.arange(len(pairs)), pairs.score, pairs.joint)
    for start, stop in pairwise(edges):
        if stop - start > 1:
            run = order[start:stop]
            ends = list(zip(pairs.left[run].tolist(), pairs.right[run].tolist(), strict=True))
            order[start:stop] = run[sort_ties(ends, by_text)]
    return pairs.take(order)


def _at_least_nth(values: Floats, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Test which values are at least the n-th largest, including ties."""
    if len(values) <= n:
        return np.ones(len(values), bool)
    nth = np.partition(values, len(values) - n)[len(values) - n]
    return np.asarray(values >= nth)


def _sort_in_runs(
    which: Positions, first: Floats | Counts, second: Floats | Counts
) -> tuple[Positions, list[int]]:
    """Sort by falling ``first``, then ``second``; also return the starts of runs of ties."""
    order = which[np.lexsort((-second[which], -first[which]))]
    one, other = first[order], second[order]
    edges = np.flatnonzero((one[1:] != one[:-1]) | (other[1:] != other[:-1])) + 1
    return order, [0, *edges.tolist(), len(order)]


def sort_ties(ends: list[tuple[int, int]], by_text: ByText) -> list[int]:
    """Sort tied pairs by their smaller text, then by the other one; return positions."""
    if len(ends) == 1:
        return [0]
    columns = by_text(list({column for pair in ends for column in pair}))
    rank = dict(zip(columns, range(len(columns)), strict=True))
    ranks = [(rank[i], rank[j]) if rank[i] < rank[j] else (rank[j], rank[i]) for i, j in ends]
    return sorted(range(len(ends)), key=ranks.__getitem__)


class BatchSearch:
    """A search that replaces all pairs of a greedy matching in each iteration."""

    def __init__(self, stage: Stage, state: RunState, plan: Plan, pair_test: PairTest) -> None:
        self.stage = stage
        self._state = state
        self._plan = plan
        self._pair_test = pair_test

    def steps(self) -> Iterator[Step]:
        """Yield the next iterations while pairs are replaced."""
        state, criterion, longest = self._state, self._plan.criterion, self._plan.max_length
        while True:
            pairs = criterion.candidates(self.stage, state, self._pair_test)
            if longest is not None:
                sizes = state.sizes(self.stage.features, longest, in_tags=criterion.counts_tags)
                pairs = pairs.take(sizes[pairs.left] + sizes[pairs.right] <= longest)
            pairs = choose_pairs(pairs, self.stage.features, state.lineage)
            if not len(pairs):
                return
            replacement = Replacement(self.stage, pairs, state.lineage)
            self.stage = replacement.of_first(len(pairs))
            step = self._enter(replacement)
            # free its columns and counts before the next iteration
            del replacement
            yield step

    def _enter(self, replaced: Replacement) -> Step:
        """Add the merges of the last iteration to the state, and return the step."""
        stage, state = self.stage, self._state
        every: dict[Any, int] = dict(zip(stage.features, stage.supports.tolist(), strict=True))
        known: dict[Any, int] | None = None
        if not isinstance(stage.observed, int):
            known = dict(zip(stage.features, stage.observed.tolist(), strict=True))
        saved = []
        features, counts = replaced.stage.features, replaced.pairs.counts
        columns = (counts.left, counts.right, *counts.table[1:])
        lines = zip(*(column.tolist() for column in columns), replaced.made, strict=True)
        for i, j, left_support, right_support, joint, made in lines:
            both, right_only, left_only = (every.get(number, 0) for number in made)
            in_known = None
            if known is not None:
                one, two, three = (known.get(number, 0) for number in made)
                in_known = one, two, three
            of_pair, parts = (left_support, right_support, joint), (both, right_only, left_only)
            saved.append(state.enter(features[i], features[j], of_pair, made, parts, in_known))
        # without a reference to the counts of columns
        merges = partial(write_replaced, features, replaced.pairs, replaced.made, saved)
        return state.make_step(stage.iteration, merges, math.fsum(saved))


def choose_pairs(pairs: Pairs, features: Sequence[int], lineage: Lineage) -> Pairs:
    """Choose the candidates that an iteration replaces, in the order of replacement."""
    return sort_equals_by_text(
        match_greedily(pairs, features, lineage), text_order(features, lineage)
    )


def match_greedily(pairs: Pairs, features: Sequence[int], lineage: Lineage) -> Pairs:
    """Return the pairs of a greedy matching, by falling score."""
    return pairs.take(greedy_matching(pairs, len(features), text_order(features, lineage)))


def text_order(features: Sequence[int], lineage: Lineage) -> ByText:
    """Return a function that sorts columns by the texts of their features."""

    def sort(columns: list[int]) -> list[int]:
        column_of = {features[column]: column for column in columns}
        return [column_of[feature] for feature in lineage.by_text(column_of)]

    return sort
