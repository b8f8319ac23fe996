"""Pairwise search: replace the best pair by its conjunctions, one pair after the other.

By bits or by joint counts, each column has an upper bound for the gain of its best pair. A merge
changes three columns, whose bounds are recomputed. The bounds of all other columns stay valid,
except for a small rise that is known. So the search examines only the few columns with the largest
bounds, until the largest one is exact, and never all pairs.

By evidence, a pair has two tables: that of its current features, and that of the rows that have all
tags of its patterns. Its evidence is the smaller of the two. The first changes only with its
features, and the second never, so each column keeps its best pair until that pair changes.
Patterns are counted only when a pair would come first; until then the evidence of the features is
a bound.

If a pass over the rows is expensive, pairs with the most evidence are merged in rounds: all pairs
that are the best pair of both their columns and have enough of the evidence of the best pair. Such
pairs have no column in common, so one pass counts all merges of a round.

C finds the same pairs as NumPy, but much faster. Only NumPy finds rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conjunct.columns import Contingency, MergeRewrite
from conjunct.counting import (
    CompiledMaskedMerging,
    CompiledMerging,
    GrowableArray,
    MergedPartsWithPatterns,
    Merging,
    NativePatterns,
    Patterns,
)
from conjunct.features import DECIMALS, Merge, largest_rise, merge_cost, round_savings
from conjunct.ufc.association import Floats, evidence, phi, x_log2_x
from conjunct.ufc.batch import sort_ties, text_order
from conjunct.ufc.criteria import PairFilter, PairTest, saved_bits
from conjunct.ufc.run_state import Numbers, RunState, Step, check_source, write_merges

if TYPE_CHECKING:
    from conjunct.ufc.run import Plan

# size of the table of x·log2(x) in C; NumPy computes larger values
_LARGEST_TABLE = 1 << 24
# merges that C makes in advance, before it is known whether the run continues
_MOST_AHEAD = 128

LEAST_SHARE = 0.5
"""A round merges pairs with at least this share of the evidence of its best pair."""

Tags = tuple[int, ...]
"""A pattern as the sorted ranks of the names of its tags."""


class Pair(NamedTuple):
    """Two columns, and their counts in the rows in which both are known."""

    left: int
    right: int
    n_rows: int
    left_support: int
    right_support: int
    joint: int

    @classmethod
    def each_of(cls, pairs: Contingency) -> list[Pair]:
        """Return pairs one by one."""
        columns = np.broadcast_arrays(pairs.left, pairs.right, *pairs.table)
        return [*map(cls, *(column.tolist() for column in columns))]


Found = tuple[Pair, float | None]
"""A merged pair, and its evidence if pairs are chosen by evidence."""


class OpenMerge(NamedTuple):
    """A joined pair: its features, the new features, and its columns.

    ``saved`` is the gain of the merge in bits, minus its cost.
    """

    iteration: int
    left: int
    right: int
    made: Numbers
    saved: float
    cost: float
    pair: Pair


class PairwiseSearch:
    """The features of columns, and the merges so far, one or a round of them per iteration.

    ``features`` has the feature of each column, or None if it is true in no row. The
    tests of merges are computed in batches, on first use.
    """

    def __init__(
        self,
        merging: Merging,
        patterns: Patterns | None,
        state: RunState,
        plan: Plan,
        pair_test: PairTest,
        merges: Sequence[Merge],
        rewrites: Sequence[MergeRewrite],
    ) -> None:
        self._merging = merging
        self._state = state
        self._criterion = plan.criterion
        self._pair_test = pair_test
        self._n_before = merges[-1].iteration if merges else 0
        self._n_merges = len(merges)
        self._open: list[OpenMerge] = []
        self._sizes: list[int] = []
        self._merges: list[tuple[Merge, ...]] = []
        self.features: list[Any] = [*range(len(state.lineage.primitives))]
        for merge, one in zip(merges, rewrites, strict=True):
            self.features[one.left], self.features[one.right] = merge.left_only, merge.right_only
            self.features.append(merge.both)
        if merges:
            supports = [0 if f is None else state.supports[f] for f in self.features]
            check_source(supports == merging.supports.tolist(), "its merges do not match the data")
        self._found: Iterator[Sequence[Found]]
        if patterns is None:
            self._found = zip(find_best(merging, state, plan, pair_test.pair_filter, self.features))
        else:
            self._found = find_evident(merging, patterns, state, rewrites, plan)

    def steps(self) -> Iterator[Step]:
        """Yield the next iterations while a pair may be joined."""
        state, features, merging = self._state, self.features, self._merging
        n_merges = self._n_merges
        for iteration, found in enumerate(self._found, self._n_before + 1):
            gain = 0.0
            for pair, value in found:
                n_merges += 1
                cost = merge_cost(state.n_rows, state.n_occurring, n_merges)
                if features[pair.left] > features[pair.right]:
                    # the earlier feature comes first
                    right, left, n_rows, right_support, left_support, joint = pair
                    pair = Pair(left, right, n_rows, left_support, right_support, joint)
                left, right, _, left_support, right_support, joint = pair
                f, g, known = features[left], features[right], None
                both, right_only, left_only = joint, right_support - joint, left_support - joint
                observed = merging.observed
                if not isinstance(observed, int):
                    # the counts of the pair refer to the rows in which both are known
                    columns = [len(features), right, left]
                    both, right_only, left_only = merging.supports[columns].tolist()
                    known = tuple(observed[columns].tolist())
                # none of a pair of present features was ever joined
                of_pair, parts = (left_support, right_support, joint), (both, right_only, left_only)
                made = state.lineage.conjoin_pair(f, g, parts)
                # the bits that the merge saved in Krimp's code, or its evidence less its cost
                saved = state.enter(f, g, of_pair, made, parts, known)
                if value is not None:
                    saved = value - cost
                    state.evidence += saved
                self._open.append(OpenMerge(iteration, f, g, made, saved, cost, pair))
                features[right], features[left] = made[1:]
                features.append(made[0])
                gain += self._criterion.gain(saved, cost)
            self._sizes.append(len(found))
            yield state.make_step(iteration, self._write, gain)

    def _write(self, iteration: int) -> tuple[Merge, ...]:
        """Create the merges of an iteration."""
        k = iteration - self._n_before - 1
        if k >= len(self._merges):
            *joined, costs_, of_pairs = zip(*self._open, strict=True)
            left, right, n_rows, *table = np.array(of_pairs, np.int64).T
            is_same = bool((n_rows == n_rows[0]).all())
            counts = Contingency(left, right, int(n_rows[0]) if is_same else n_rows, *table)
            saved, costs = np.array(joined[-1]), np.array(costs_)
            if self._criterion.needs_patterns:
                pairs = self._pair_test.evidence(counts, round_savings(saved + costs))
                pairs = replace(pairs, cutoff=replace(pairs.cutoff, threshold=costs))
            elif self._criterion.saves_bits:
                pairs = self._pair_test.evidence(counts, round_savings(saved))
            else:
                score = self._pair_test.pair_filter.score(phi(*counts.table), counts)
                pairs = self._pair_test.evidence(counts, score)
            written = write_merges(zip(*joined, strict=True), pairs)
            each, sizes = iter(written), self._sizes[len(self._merges) :]
            is_single = len(sizes) == len(written)
            self._merges += zip(each) if is_single else [tuple(islice(each, n)) for n in sizes]
            self._open.clear()
        return self._merges[k]


class Order:
    """The value of pairs: the bits that they save or, for steepest descent on OI, joint counts.

    With missing cells, a pair is judged by the rows in which both are known, and S is the number of
    cells that are known to be true.
    """

    def __init__(
        self, state: RunState, plan: Plan, pair_filter: PairFilter, features: Sequence[Any]
    ) -> None:
        self._state = state
        self._filter = pair_filter
        self._by_text = text_order(features, state.lineage)
        self._max_length = plan.max_length
        self._in_tags = plan.criterion.counts_tags
        # a removed column has no common row with others, so its size does not matter
        numbers, longest = [number or 0 for number in features], plan.max_length or 0
        self.sizes = GrowableArray(state.sizes(numbers, longest, in_tags=self._in_tags))
        self.costs: GrowableArray | None = None
        if plan.criterion.saves_bits:
            # the bits that name the pattern of each column
            costs = [0.0 if number is None else state.costs[number] for number in features]
            self.costs = GrowableArray(np.array(costs))
        self._known = state.total, state.n_used

    def select_short(self, pairs: Contingency) -> Contingency:
        """Return the pairs whose union is not too long."""
        if self._max_length is None:
            return pairs
        sizes = self.sizes.values
        fits = sizes[pairs.left] + sizes[pairs.right] <= self._max_length
        return pairs.take(np.flatnonzero(fits))

    def worth(self, pairs: Contingency) -> Floats:
        if self.costs is None:
            return pairs.joint.astype(np.float64)
        return saved_bits(pairs, self._state.total, self._state.n_used, self.costs.values)

    def first_of(self, ties: Contingency) -> tuple[int, int]:
        """Return the columns of the first of several pairs with equal value."""
        second: Any = ties.joint
        if self.costs is None:
            second = self._filter.score(phi(*ties.table), ties)
        ties = ties.take(np.flatnonzero(second == second.max()))
        ends = zip(ties.left.tolist(), ties.right.tolist(), strict=True)
        columns = sorted({(min(pair), max(pair)) for pair in ends})
        return columns[sort_ties(columns, self._by_text)[0]]

    def note_merge(self, left: int, right: int) -> None:
        """Record a merge, whose new column has the next position."""
        if self._max_length is not None:
            sizes = self.sizes.values
            size = min(sizes[left] + sizes[right], self._max_length + 1)
            if not self._in_tags:
                sizes[[left, right]] = size
            self.sizes.append(size)
        if self.costs is not None:
            costs = self.costs.values
            self.costs.append(costs[left] + costs[right])

    def rise(self, largest_joint: int) -> float:
        """Return an upper bound of the increase of other pairs' values since the last call."""
        if self.costs is None:
            return 0.0
        (total, n_used), self._known = self._known, (self._state.total, self._state.n_used)
        changes = total - self._known[0], self._known[1] - n_used
        return largest_rise(total, n_used, *changes, largest_joint)


def find_best(
    merging: Merging,
    state: RunState,
    plan: Plan,
    pair_filter: PairFilter,
    features: Sequence[Any],
) -> Iterator[Found]:
    """Merge and yield the best pairs in turn; the caller must update the state after each pair.

    This uses C if C can compute the values of pairs and the test.
    """
    order = Order(state, plan, pair_filter, features)
    best: BestPairs | CompiledBest
    is_tested = pair_filter.test == "exact" if pair_filter.alpha else pair_filter.threshold == 0
    is_plain = is_tested and pair_filter.measure == "phi" and not pair_filter.prune
    if isinstance(merging, CompiledMerging) and is_plain and order.costs is not None:
        rules = state.total, state.n_used, pair_filter.alpha, plan.max_length
        merging.set_order(*rules, order.costs.values, order.sizes.values)
        best = CompiledBest(merging, pair_filter, order)
    else:
        best = BestPairs(merging, pair_filter, order)
    while (pair := best.best()) is not None:
        merging.merge(pair.left, pair.right)
        yield pair, None
        order.note_merge(pair.left, pair.right)
        best.note_merge(pair.left, pair.right)


class BestPairs:
    """The pairs that may be joined, in a structure that repeatedly returns the best one.

    Bounds are stored minus the total rise at that time, so all bounds rise together.
    """

    def __init__(self, merging: Merging, pair_filter: PairFilter, order: Order) -> None:
        self._merging = merging
        self._filter = pair_filter
        self._order = order
        # each pair contributes to the bound of one of its columns
        bounds = np.full(merging.n_columns, -math.inf)
        for pairs in merging.first.pair_blocks():
            # test all pairs at once, because single tests are slow if chance explains most pairs
            some = order.select_short(pairs.take(np.flatnonzero(pair_filter.accepts(pairs))))
            np.maximum.at(bounds, some.left, order.worth(some))
        self._bounds = GrowableArray(bounds)
        # the number of merges when each bound was computed
        self._made_at = GrowableArray(np.full(merging.n_columns, -1))
        self._n_merges = 0
        self._rise = 0.0
        # the pairs of columns whose bounds are exact, and their values
        self._rows: dict[int, tuple[Contingency, Floats]] = {}
        # partners that the exact test has rejected, until one of the columns changes
        self._refused: dict[int, set[int]] = {}

    def best(self) -> Pair | None:
        """Return the best pair; ``None`` if no pair may be joined."""
        while True:
            bounds = self._bounds.values
            highest = bounds.max(initial=-math.inf)
            if highest == -math.inf:
                return None
            # all columns with the highest bound are candidates
            first = np.flatnonzero(bounds >= highest)
            stale = first[self._made_at.values[first] != self._n_merges].tolist()
            for column in stale:
                self._renew(column)
            if stale or self._refuses_some(first.tolist()):
                continue
            rows = [self._rows[column] for column in first.tolist()]
            found = [pairs.take(np.flatnonzero(worth == worth.max())) for pairs, worth in rows]
            left, right = self._order.first_of(Contingency.concat(found, self._merging.n_rows))
            row = self._merging.row(left)
            return Pair.each_of(row.take(np.flatnonzero(row.right == right)))[0]

    def note_merge(self, left: int, right: int) -> None:
        self._n_merges += 1
        self._rise += self._order.rise(int(self._merging.supports.max()))
        self._rows.clear()
        for column in (left, right):
            for partner in self._refused.pop(column, ()):
                self._refused[partner].discard(column)
        self._bounds.append(math.inf)
        self._made_at.append(-1)
        self._bounds.values[[left, right]] = math.inf

    def _renew(self, column: int) -> None:
        """Make the bound of a column exact, except for pairs that the exact test would reject."""
        pairs = self._merging.row(column)
        pairs = self._order.select_short(pairs.take(np.flatnonzero(self._filter.may_accept(pairs))))
        if refused := self._refused.get(column):
            pairs = pairs.take(np.flatnonzero(~np.isin(pairs.right, list(refused))))
        self._keep(column, pairs, self._order.worth(pairs))

    def _keep(self, column: int, pairs: Contingency, worth: Floats) -> None:
        """Keep the pairs of a column, and their best as its bound."""
        self._rows[column] = pairs, worth
        self._bounds.values[column] = worth.max(initial=-math.inf) - self._rise
        self._made_at.values[column] = self._n_merges

    def _refuses_some(self, columns: list[int]) -> bool:
        """Test the pairs that would come first exactly; return True if any is rejected."""
        if not self._filter.needs_more_than_r:
            return False
        refuses_any = False
        for column in columns:
            pairs, worth = self._rows[column]
            # test all pairs together that no other column can beat
            others = np.delete(self._bounds.values, column).max(initial=-math.inf)
            first = np.flatnonzero(worth >= min(others + self._rise, worth.max()))
            refused = first[~self._filter.confirms(pairs.take(first))]
            if len(refused):
                refuses_any = True
                for partner in pairs.right[refused].tolist():
                    self._refused.setdefault(column, set()).add(partner)
                    self._refused.setdefault(partner, set()).add(column)
                stays = np.ones(len(pairs), np.bool_)
                stays[refused] = False
                self._keep(column, pairs.take(np.flatnonzero(stays)), worth[stays])
        return refuses_any


class CompiledBest:
    """``BestPairs`` in C. NumPy decides close cases, so both find the same pairs."""

    def __init__(self, merging: CompiledMerging, pair_filter: PairFilter, order: Order) -> None:
        self._merging = merging
        self._filter = pair_filter
        self._order = order

    def best(self) -> Pair | None:
        while found := self._merging.candidates():
            pairs = [Pair(i, j, self._merging.n_rows, *counts) for i, j, *counts in found]
            pair = pairs[0] if len(pairs) == 1 else self._first_of(pairs)
            if pair is not None:
                return pair
        return None

    def note_merge(self, left: int, right: int) -> None:
        """Do nothing, because C has already recorded the merge."""

    def _first_of(self, pairs: list[Pair]) -> Pair | None:
        """Return the best of some pairs; ``None`` if the test rejects any, which C then skips."""
        by_columns = {(pair.left, pair.right): pair for pair in pairs}
        left, right, _, *table = np.array([*by_columns.values()], np.int64).T
        counts = Contingency(left, right, self._merging.n_rows, *table)
        refused = counts.take(np.flatnonzero(~self._filter.confirms(counts)))
        if len(refused):
            for left, right in zip(refused.left.tolist(), refused.right.tolist(), strict=True):
                self._merging.forbid(left, right)
            return None
        worth = self._order.worth(counts)
        return by_columns[self._order.first_of(counts.take(np.flatnonzero(worth == worth.max())))]


def find_evident(
    merging: Merging,
    patterns: Patterns,
    state: RunState,
    rewrites: Sequence[MergeRewrite],
    plan: Plan,
) -> Iterator[Sequence[Found]]:
    """Merge and yield the pairs with the most evidence, with that evidence, by iteration."""
    # patterns are compared by the ranks of their names
    primitives = state.lineage.primitives
    ranks = np.empty(len(primitives), np.int64)
    ranks[sorted(range(len(primitives)), key=primitives.__getitem__)] = np.arange(len(ranks))
    tags: list[Tags] = [*zip(ranks.tolist())]
    # True for a feature that is true in all rows with its tags, until it is merged
    is_whole = [True] * len(primitives)
    for one in rewrites:
        tags.append(tuple(sorted(tags[one.left] + tags[one.right])))
        is_whole.append(is_whole[one.left] and is_whole[one.right])
        is_whole[one.left] = is_whole[one.right] = False
    is_small, max_length = merging.n_rows < _LARGEST_TABLE, plan.max_length
    if plan.search == "batch":

        def is_worth(column: int, value: float) -> bool:
            k = column - len(primitives) + 1
            cost = merge_cost(state.n_rows, state.n_occurring, k)
            return round(plan.criterion.gain(value - cost, cost), DECIMALS) > 0

        yield from Rounds(merging, patterns, tags, is_whole, max_length, is_worth).merge()
        return
    if not is_small or not isinstance(merging, CompiledMerging | CompiledMaskedMerging):
        yield from EvidencePairs(merging, patterns, tags, is_whole, max_length).merge()
        return
    if isinstance(merging, CompiledMaskedMerging):
        rows = [*map(int, is_whole)]
    else:
        rows = [*state.primitive_supports]
        for k in range(len(primitives), len(tags)):
            rows.append(patterns.table(k, k).both)
    logs = x_log2_x(np.arange(merging.n_rows + 1))
    pointer = patterns if isinstance(patterns, NativePatterns) else None
    merging.begin_evidence(logs, max_length, rows, tags, pointer)
    most, n_rows = 1, merging.n_rows
    # start with a single merge ahead, because merges after the end of the run are wasted
    while (merged := merging.run_evidence(most)) is not None:
        for (left, right, *counts), value in merged:
            yield ((Pair(left, right, n_rows, *counts), value),)
        if not merged:
            return
        most = min(2 * most, _MOST_AHEAD)
    # C has no columns or patterns
    while (found := merging.most_evidence()) is not None:
        (left, right, *counts), value, is_known = found
        if not is_known:
            merging.cap_evidence(left, right, patterns.table(left, right))
            continue
        pair, n_both = Pair(left, right, n_rows, *counts), 0
        if isinstance(merging, CompiledMaskedMerging):
            pair = Pair(left, right, *merging.table(left, right))
        merging.merge(left, right)
        if not isinstance(patterns, NativePatterns):
            patterns.join(left, right)
            n_both = patterns.table(left, right).both
        merging.merge_evidence(left, right, n_both)
        yield ((pair, value),)


class EvidencePairs:
    """Find and merge the best pairs with NumPy, if C is not available or counts are large."""

    def __init__(
        self,
        merging: Merging,
        patterns: Patterns,
        tags: list[Tags],
        is_whole: list[bool],
        max_length: int | None,
    ) -> None:
        self._merging = merging
        self._patterns = patterns
        self._tags = tags
        self._is_whole = is_whole
        self._max_length = max_length
        self._lengths = GrowableArray(np.array([*map(len, tags)], np.int64))
        # the evidence of pairs of patterns by column, so that each pair is counted only once
        self._caps: dict[int, dict[int, float]] = {}
        # for each column the evidence of its best pair, or an upper bound if that is stale
        self._values = GrowableArray(np.full(len(tags), math.inf))
        self._is_stale = GrowableArray(np.ones(len(tags), np.bool_))
        # the best pair of each column, which comes first in it, and its other column
        self._pairs: dict[int, Pair] = {}
        self._partners = GrowableArray(np.full(len(tags), -1))

    def merge(self) -> Iterator[Sequence[Found]]:
        """Merge the best pairs in turn, and yield them with their evidence, by iteration."""
        merging, tags, is_whole = self._merging, self._tags, self._is_whole
        while found := self._next():
            ends, n_before = [pair[:2] for pair, _ in found], len(tags)
            if isinstance(self._patterns, MergedPartsWithPatterns):
                self._patterns.count_ahead(ends)
            for left, right in ends:
                merging.merge(left, right)
                self._patterns.join(left, right)
                tags.append(tuple(sorted(tags[left] + tags[right])))
                self._lengths.append(len(tags[-1]))
                is_whole.append(is_whole[left] and is_whole[right])
                is_whole[left] = is_whole[right] = False
                self._values.append(-math.inf)
                self._is_stale.append(True)
                self._partners.append(-1)
            changed = [*chain(*ends), *range(n_before, len(tags))]
            self._is_stale.values[np.isin(self._partners.values, changed)] = True
            for column in changed:
                pairs, values = self._renew(column)
                # other columns may have a new best pair
                better = np.flatnonzero(values >= self._values.values[pairs.right])
                self._values.values[pairs.right[better]] = values[better]
                self._is_stale.values[pairs.right[better]] = True
            yield found

    def _next(self) -> Sequence[Found]:
        """Return the pairs of the next iteration: the best one, if any pair may be joined."""
        best = self._best()
        return [] if best is None else [best]

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
            pair = min((self._pairs[column] for column in first), key=self._tie)
            if self._is_counted(pair):
                return pair, float(highest)

    def _tie(self, pair: Pair) -> tuple[int, list[Tags]]:
        """Return the order of pairs with equal evidence: larger joint count first, then by name."""
        return -pair.joint, sorted(self._tags[k] for k in pair[:2])

    def _is_counted(self, pair: Pair) -> bool:
        """Return True if the patterns of a pair are counted; otherwise count them."""
        left, right = pair[:2]
        is_whole = self._is_whole[left] and self._is_whole[right]
        if is_whole or right in self._caps.get(left, ()):
            return True
        table = (np.array([count]) for count in self._patterns.table(left, right))
        cap = float(evidence(*table)[0])
        for column, partner in ((left, right), (right, left)):
            self._caps.setdefault(column, {})[partner] = cap
            self._is_stale.values[column] = True
        return False

    def _renew(self, column: int) -> tuple[Contingency, Floats]:
        """Find the best pair of a column again; return its pairs and their evidence."""
        pairs = self._merging.row(column)
        if self._max_length is not None:
            lengths = self._lengths.values
            fits = lengths[pairs.left] + lengths[pairs.right] <= self._max_length
            pairs = pairs.take(np.flatnonzero(fits))
        values = evidence(*pairs.table)
        if (caps := self._caps.get(column)) is not None:
            most = np.full(len(self._tags), math.inf)
            most[[*caps]] = [*caps.values()]
            values = np.minimum(values, most[pairs.right])
        some = np.flatnonzero(values > 0)
        pairs, values = pairs.take(some), values[some]
        highest = values.max(initial=-math.inf)
        self._values.values[column], self._is_stale.values[column] = highest, False
        self._partners.values[column] = -1
        if len(pairs):
            best = Pair.each_of(pairs.take(np.flatnonzero(values == highest)))
            self._pairs[column] = min(best, key=self._tie)
            self._partners.values[column] = self._pairs[column].right
        return pairs, values


class Rounds(EvidencePairs):
    """Find and merge rounds: the pairs that are best for both columns, unless weak or too costly.

    ``is_worth`` tests the evidence of the merge that makes the n-th column. If even the best pair
    is not worth its cost, it is alone in its round.
    """

    def __init__(
        self,
        merging: Merging,
        patterns: Patterns,
        tags: list[Tags],
        is_whole: list[bool],
        max_length: int | None,
        is_worth: Callable[[int, float], bool],
    ) -> None:
        super().__init__(merging, patterns, tags, is_whole, max_length)
        self._is_worth = is_worth

    def _next(self) -> Sequence[Found]:
        first = self._best()
        if first is None:
            return []
        best = self._best_of_columns(LEAST_SHARE * first[1])
        pairs = [
            (pair, value)
            for pair, value in best.values()
            if pair.left < pair.right and best[pair.right][0].right == pair.left
        ]
        pairs.sort(key=lambda one: (-one[1], *self._tie(one[0])))
        made = enumerate(pairs, start=len(self._tags))
        worth = [*takewhile(lambda one: self._is_worth(one[0], one[1][1]), made)]
        return pairs[: max(1, len(worth))]

    def _best_of_columns(self, least: float) -> dict[int, tuple[Pair, float]]:
        """Return the best pair of each column, beginning with it, if it has enough evidence."""
        values, best = self._values.values, dict[int, tuple[Pair, float]]()
        columns = np.flatnonzero(values >= least).tolist()
        while columns:
            for column in columns:
                if self._is_stale.values[column]:
                    self._renew(column)
                best.pop(column, None)
                if values[column] >= least:
                    best[column] = self._pairs[column], float(values[column])
            found = [best[column][0] for column in columns if column in best]
            # counting patterns may lower the evidence of a pair
            columns = [*{k for pair in found if not self._is_counted(pair) for k in pair[:2]}]
        return best
