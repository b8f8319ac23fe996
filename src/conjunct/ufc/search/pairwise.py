"""Pairwise search: the best pair is replaced by its conjunctions, one pair after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency
from conjunct.counting import CompiledMerging, GrowableArray, Merging
from conjunct.features import Merge
from conjunct.ufc.association import Pairs
from conjunct.ufc.replaying import check_source
from conjunct.ufc.run_state import Made, Numbers, RunState, Step
from conjunct.ufc.search.best import (
    EMPTY,
    BestPairs,
    ByJointCount,
    BySavedBits,
    CompiledBest,
    Pair,
    has_native_search,
)

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

    def first(self) -> Step:
        return self._state.make_step(self._iteration)

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


class OpenMerge(NamedTuple):
    """A pair that was joined: its features, what they became, and its columns."""

    iteration: int
    left: int
    right: int
    made: Made
    pair: Pair
    saved: float
    """Bits that it brought less what it cost."""
    cost: float


class MergeList:
    """The features of columns, and the merges so far.

    The tests of merges are computed for many at once, on first use.
    """

    def __init__(
        self,
        merging: Merging,
        state: RunState,
        merges: Sequence[Merge],
        describe: Callable[[Contingency, list[OpenMerge]], Pairs],
    ) -> None:
        self._merging = merging
        self._state = state
        self._describe = describe
        self._n_before = len(merges)
        self._open: list[OpenMerge] = []
        self._merges: list[Merge] = []
        self.features = [*range(len(state.lineage.primitives))]
        """The feature of each column."""
        column = dict(zip(self.features, self.features, strict=True))
        for merge in merges:
            left, right = column.pop(merge.left), column.pop(merge.right)
            self._replace(left, right, (merge.both, merge.right_only, merge.left_only))
            column |= {self.features[k]: k for k in (left, right, len(self.features) - 1)}
        if merges:
            supports = [0 if f == EMPTY else state.supports[f] for f in self.features]
            check_source(supports == merging.supports.tolist(), "its merges are not of the data")

    def _replace(self, left: int, right: int, made: Numbers) -> None:
        """Put the conjunctions of a pair in their columns."""
        both, right_only, left_only = made
        self.features[left] = EMPTY if left_only is None else left_only
        self.features[right] = EMPTY if right_only is None else right_only
        self.features.append(EMPTY if both is None else both)

    def join(
        self, iteration: int, pair: Pair, saved: float | None = None, cost: float = 0
    ) -> float:
        """Make the features of a pair whose columns are merged; return the bits that it saved.

        That is ``saved``, or if not given what it saved in Krimp's code.
        """
        features, merging, conjoin = self.features, self._merging, self._state.lineage.conjoin
        if features[pair.left] > features[pair.right]:
            # the earlier feature is written first
            pair = pair.swap()
        left, right, _, left_support, right_support, joint = pair
        f, g, known = features[left], features[right], None
        both, right_only, left_only = joint, right_support - joint, left_support - joint
        observed = merging.observed
        if not isinstance(observed, int):
            # the counts of the pair are those of the rows in which both are known
            columns = [len(features), right, left]
            both, right_only, left_only = merging.supports[columns].tolist()
            known = tuple(observed[columns].tolist())
        numbers = (
            conjoin(f, g) if both else None,
            conjoin(~f, g) if right_only else None,
            conjoin(f, ~g) if left_only else None,
        )
        made = Made(numbers, (both, right_only, left_only), known)
        in_bits = self._state.enter(f, g, (left_support, right_support, joint), made)
        saved = in_bits if saved is None else saved
        self._open.append(OpenMerge(iteration, f, g, made, pair, saved, cost))
        self._replace(left, right, numbers)
        return saved

    def write(self, iteration: int) -> tuple[Merge]:
        """Return the merge of an iteration."""
        k = iteration - self._n_before - 1
        if k >= len(self._merges):
            self._write_open()
        return (self._merges[k],)

    def _write_open(self) -> None:
        left, right, n_rows, *table = np.array([*map(attrgetter("pair"), self._open)], np.int64).T
        is_same = bool((n_rows == n_rows[0]).all())
        counts = Contingency(left, right, int(n_rows[0]) if is_same else n_rows, *table)
        described = self._describe(counts, self._open)
        cutoff = described.cutoff
        numbers = described.r, described.score, described.p_value, described.p_adjusted
        thresholds = np.broadcast_to(cutoff.threshold, len(counts))
        lines = np.column_stack([*numbers, thresholds]).tolist()
        for joined, line in zip(self._open, lines, strict=True):
            r, score, p_value, p_adjusted, threshold = line
            iteration, left, right, made, pair, saved, _ = joined
            of_pair = (iteration, left, right, *made.numbers, pair.n_rows, pair.joint)
            tests = (r, score, p_value, p_adjusted, threshold)
            rule = (cutoff.compared, cutoff.family_size, saved, cutoff.n_significant)
            self._merges.append(Merge(*of_pair, *tests, *rule))
        self._open.clear()
