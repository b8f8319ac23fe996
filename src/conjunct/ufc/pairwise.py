"""Pairwise search: the best pair is replaced by its conjunctions, one pair after the other.

Each column has an upper bound of what its best pair is worth. A merge changes three columns, whose
bounds are made anew; the bounds of all others stay valid, but for a small rise that is known. So
the best pair of all is found by looking at the few columns whose bounds come first, until the
first one is exact: never at all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency
from conjunct.counting import CompiledMerging, GrowableArray, Merging
from conjunct.features import Merge, largest_rise, round_savings
from conjunct.ufc.association import Floats, phi
from conjunct.ufc.batch import ByText, sort_ties
from conjunct.ufc.criteria import PairFilter, Pairs, saved_bits
from conjunct.ufc.run_state import EMPTY, MergeList, OpenMerge, Pair, RunState, Step

if TYPE_CHECKING:
    from conjunct.ufc.criteria import Criterion, PairTest


class ByJointCount:
    """The pair with the largest joint count first: steepest descent on OI.

    An order says what pairs are ``worth``; merges of other pairs raise that, but by no more than
    ``rise`` after the last one. ``second`` decides between pairs of equal worth, before their texts
    do, and ``score`` is reported for chosen pairs, given the bits that each saved.
    """

    def __init__(self, pair_filter: PairFilter) -> None:
        self._filter = pair_filter

    def worth(self, pairs: Contingency) -> Floats:
        return pairs.joint.astype(np.float64)

    def second(self, pairs: Contingency) -> Floats:
        return self._filter.score(phi(*pairs.table), pairs)

    def score(self, pairs: Contingency, saved: Sequence[float]) -> Floats:
        return self.second(pairs)

    def note_merge(self, left: int, right: int) -> None:
        pass

    def rise(self) -> float:
        return 0.0


class BySavedBits:
    """The pair that shortens the description most first.

    Where cells are missing, a pair is judged in the rows in which both are known, and S is the
    number of cells that are known to be true.
    """

    def __init__(self, merging: Merging, state: RunState, features: list[int]) -> None:
        self._merging = merging
        self._state = state
        costs = [0.0 if number == EMPTY else state.costs[number] for number in features]
        self._costs = GrowableArray(np.array(costs))
        self._total, self._n_used = state.total, state.n_used
        self._before = self._total, self._n_used

    @property
    def costs(self) -> Floats:
        """Bits that name the pattern of each column."""
        return self._costs.values

    def worth(self, pairs: Contingency) -> Floats:
        return saved_bits(pairs, self._total, self._n_used, self.costs)

    def second(self, pairs: Contingency) -> Floats:
        return pairs.joint.astype(np.float64)

    def score(self, pairs: Contingency, saved: Sequence[float]) -> Floats:
        return round_savings(np.array(saved))

    def note_merge(self, left: int, right: int) -> None:
        costs, state = self._costs.values, self._state
        self._costs.append(costs[left] + costs[right])
        self._before = self._total, self._n_used
        self._total, self._n_used = state.total, state.n_used

    def rise(self) -> float:
        total, n_used = self._before
        joint, added = total - self._total, self._n_used - n_used
        return largest_rise(total, n_used, joint, added, int(self._merging.supports.max()))


Order = ByJointCount | BySavedBits


class BestPairs:
    """The pairs that may be joined, of which the best is asked for again and again.

    A bound is kept less the rise of its time, so that all bounds rise together.
    """

    def __init__(
        self,
        merging: Merging,
        pair_filter: PairFilter,
        order: Order,
        fits: Callable[[Contingency], NDArray[np.bool_]],
        by_text: ByText,
    ) -> None:
        self._merging = merging
        self._filter = pair_filter
        self._order = order
        self._fits = fits
        self._by_text = by_text
        self._bounds = GrowableArray(self._first_bounds())
        # after how many merges each bound was made
        self._made_at = GrowableArray(np.full(merging.n_columns, -1))
        self._n_merges = 0
        self._rise = 0.0
        # the pairs of columns whose bounds are exact, and what they are worth
        self._rows: dict[int, tuple[Contingency, Floats]] = {}
        # partners that the exact test has refused, for as long as neither column changes
        self._refused: dict[int, set[int]] = {}

    def best(self) -> Pair | None:
        """Return the best pair; ``None`` if no pair may be joined."""
        while True:
            bounds = self._bounds.values
            highest = bounds.max(initial=-math.inf)
            if highest == -math.inf:
                return None
            # every column whose bound reaches the first one has a say
            first = np.flatnonzero(bounds >= highest)
            stale = first[self._made_at.values[first] != self._n_merges].tolist()
            for column in stale:
                self._renew(column)
            if not stale and not self._refuses_some(first.tolist()):
                return self._first_of(first.tolist())

    def note_merge(self, left: int, right: int) -> None:
        """Take notice of a merge: the new column has the next position."""
        self._order.note_merge(left, right)
        self._n_merges += 1
        self._rise += self._order.rise()
        self._rows.clear()
        for column in (left, right):
            for partner in self._refused.pop(column, ()):
                self._refused[partner].discard(column)
        self._bounds.append(math.inf)
        self._made_at.append(-1)
        self._bounds.values[[left, right]] = math.inf

    def _first_bounds(self) -> Floats:
        """Look at each pair once, and put it in the bound of one of its columns."""
        bounds = np.full(self._merging.n_columns, -math.inf)
        for pairs in self._merging.first.pair_blocks():
            # all tests at once: where chance explains most pairs, one by one would take long
            some = self._select_allowed(pairs.take(np.flatnonzero(self._filter.accepts(pairs))))
            np.maximum.at(bounds, some.left, self._order.worth(some))
        return bounds

    def _select_allowed(self, pairs: Contingency) -> Contingency:
        pairs = pairs.take(np.flatnonzero(self._filter.may_accept(pairs)))
        return pairs.take(np.flatnonzero(self._fits(pairs)))

    def _renew(self, column: int) -> None:
        """Make the bound of a column exact, but for pairs that the exact test would refuse."""
        pairs = self._select_allowed(self._merging.row(column))
        if refused := self._refused.get(column):
            pairs = pairs.take(np.flatnonzero(~np.isin(pairs.right, list(refused))))
        self._keep(column, pairs, self._order.worth(pairs))

    def _keep(self, column: int, pairs: Contingency, worth: Floats) -> None:
        """Keep the pairs of a column, and their best as its bound."""
        self._rows[column] = pairs, worth
        self._bounds.values[column] = worth.max(initial=-math.inf) - self._rise
        self._made_at.values[column] = self._n_merges

    def _refuses_some(self, columns: list[int]) -> bool:
        """Put the pairs that would come first to the exact test; return True if it refuses any."""
        if not self._filter.needs_more_than_r:
            return False
        refuses_any = False
        for column in columns:
            pairs, worth = self._rows[column]
            # what no other column can beat is tested together
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

    def _first_of(self, columns: list[int]) -> Pair:
        """Return the best of the pairs of some columns, whose bounds are exact and the same."""
        found = []
        for column in columns:
            pairs, worth = self._rows[column]
            found.append(pairs.take(np.flatnonzero(worth == worth.max())))
        ties = Contingency.concat(found, self._merging.n_rows)
        left, right = _first_of_ties(ties, self._order, self._by_text)
        row = self._merging.row(left)
        return Pair.of(row.take(np.flatnonzero(row.right == right)))


def _first_of_ties(ties: Contingency, order: Order, by_text: ByText) -> tuple[int, int]:
    """Return the columns of the pair that comes first, of those of equal worth."""
    second = order.second(ties)
    ties = ties.take(np.flatnonzero(second == second.max()))
    ends = zip(ties.left.tolist(), ties.right.tolist(), strict=True)
    pairs_of_columns = sorted({(min(pair), max(pair)) for pair in ends})
    return pairs_of_columns[sort_ties(pairs_of_columns, by_text)[0]]


def has_native_search(order: Order, pair_filter: PairFilter) -> TypeGuard[BySavedBits]:
    """Return True if C can compute what pairs are worth, and which may be joined."""
    tests = pair_filter.test == "exact" if pair_filter.alpha else pair_filter.threshold == 0
    is_plain = pair_filter.measure == "phi" and not pair_filter.prune
    return isinstance(order, BySavedBits) and tests and is_plain


class CompiledBest:
    """The same as ``BestPairs``, found by C; where rounding or a test is a close call, NumPy's
    numbers decide, so that the pair is the same.
    """

    def __init__(
        self, merging: CompiledMerging, pair_filter: PairFilter, order: Order, by_text: ByText
    ) -> None:
        self._merging = merging
        self._filter = pair_filter
        self._order = order
        self._by_text = by_text

    def best(self) -> Pair | None:
        """Return the best pair; ``None`` if no pair may be joined."""
        while found := self._merging.candidates():
            pairs = [Pair(i, j, self._merging.n_rows, *counts) for i, j, *counts in found]
            pair = pairs[0] if len(pairs) == 1 else self._first_of(pairs)
            if pair is not None:
                return pair
        return None

    def note_merge(self, left: int, right: int) -> None:
        """Pass a merge on to the order; C knows already."""
        self._order.note_merge(left, right)

    def _first_of(self, pairs: list[Pair]) -> Pair | None:
        """Return the best of some pairs; ``None`` if the test refuses any, which C then skips."""
        by_columns = {(pair.left, pair.right): pair for pair in pairs}
        left, right, _, *table = np.array([*by_columns.values()], np.int64).T
        counts = Contingency(left, right, self._merging.n_rows, *table)
        refused = counts.take(np.flatnonzero(~self._filter.confirms(counts)))
        if len(refused):
            for left, right in zip(refused.left.tolist(), refused.right.tolist(), strict=True):
                self._merging.forbid(left, right)
            return None
        worth = self._order.worth(counts)
        ties = counts.take(np.flatnonzero(worth == worth.max()))
        return by_columns[_first_of_ties(ties, self._order, self._by_text)]


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
    ) -> None:
        self._merging = merging
        self._state = state
        self._criterion = criterion
        self._max_length = max_length
        self._iteration = len(merges)
        self._merges = MergeList(merging, state, merges, self._describe)
        self._features = self._merges.features
        self._sizes = GrowableArray(self._sizes_of(self._features))
        self._best: BestPairs | CompiledBest
        self._pair_test = pair_test
        self._order: ByJointCount | BySavedBits = ByJointCount(pair_test.pair_filter)
        if criterion.saves_bits:
            self._order = BySavedBits(merging, state, self._features)
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

    def steps(self) -> Iterator[Step]:
        """Yield the next merges, for as long as a pair may be joined."""
        merges, state = self._merges, self._state
        while (pair := self._best.best()) is not None:
            self._iteration += 1
            columns = [pair.left, pair.right, self._merging.merge(pair.left, pair.right)]
            saved = merges.join(self._iteration, pair)
            if self._max_length is not None:
                self._sizes.append(0)
                changed = [self._features[column] for column in columns]
                self._sizes.values[columns] = self._sizes_of(changed)
            self._best.note_merge(pair.left, pair.right)
            gain = self._criterion.gain(saved, state.merge_cost(self._iteration))
            yield state.make_step(self._iteration, merges.write, saved, gain)

    def _describe(self, counts: Contingency, joined: list[OpenMerge]) -> Pairs:
        score = self._order.score(counts, [each.saved for each in joined])
        return self._pair_test.evidence(counts, score)

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
