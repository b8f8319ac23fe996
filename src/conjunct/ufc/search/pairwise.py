"""Pairwise search: the best pair gives way to its conjunctions, one pair after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency
from conjunct.counting import CompiledMerging, Growing, Merging
from conjunct.features import Merge
from conjunct.ufc.search.best import (
    GONE,
    BestPairs,
    CompiledBest,
    Order,
    Pair,
    counts_of,
    is_in_c,
)
from conjunct.ufc.search.ledger import Ledger, Made, Step

if TYPE_CHECKING:
    from conjunct.ufc.criteria.base import Criterion, Judge


class PairwiseSearch:
    """One pair after the other."""

    def __init__(
        self,
        merging: Merging,
        ledger: Ledger,
        criterion: Criterion,
        judge: Judge,
        max_length: int | None,
        merges: tuple[Merge, ...] = (),
    ) -> None:
        self._merging = merging
        self._ledger = ledger
        self._criterion = criterion
        self._max_length = max_length
        self._iteration = len(merges)
        # the feature of each column
        self._features = columns_after(merges, len(ledger.lineage.primitives))
        self._order = criterion.order(merging, ledger, judge, self._features)
        self._sizes = Growing(self._sizes_of(self._features))
        self._taken = _Taken(judge, self._order)
        self._best: BestPairs | CompiledBest
        if isinstance(merging, CompiledMerging) and is_in_c(self._order, judge.pair_filter):
            alpha, of_columns = judge.pair_filter.alpha, (self._order.costs, self._sizes.values)
            merging.set_order(ledger.total, ledger.n_used, alpha, max_length, *of_columns)
            self._best = CompiledBest(merging, judge.pair_filter, self._order, self._by_text)
        else:
            self._best = BestPairs(
                merging, judge.pair_filter, self._order, self._fits, self._by_text
            )

    def first(self) -> Step:
        indicators = self._ledger.indicators(self._iteration)
        return Step(self._iteration, indicators)

    def steps(self) -> Iterator[Step]:
        """The next merges, for as long as a pair may be joined."""
        while (pair := self._best.best()) is not None:
            self._iteration += 1
            saved = self._merged(pair)
            merges = partial(self._taken.merge, len(self._taken) - 1)
            indicators = self._ledger.indicators(self._iteration)
            yield Step(self._iteration, indicators, merges, (saved,))

    def _merged(self, pair: Pair) -> float:
        """Replace a pair of columns, everywhere it is known; the bits that it saved."""
        features = self._features
        if features[pair.left] > features[pair.right]:
            # the earlier feature is written first
            pair = pair.swapped()
        left, right = pair.left, pair.right
        f, g = features[left], features[right]
        new = self._merging.merge(left, right)
        made = self._made(pair, new)
        saved = self._ledger.enter(f, g, pair[3:], made)
        self._taken.add(self._iteration, f, g, made, pair, saved)
        both, right_only, left_only = (GONE if n is None else n for n in made.numbers)
        features[left], features[right] = left_only, right_only
        features.append(both)
        if self._max_length is not None:
            self._sizes.append(0)
            self._sizes.values[[left, right, new]] = self._sizes_of([left_only, right_only, both])
        self._order.merged(left, right)
        self._best.merged(left, right)
        return saved

    def _made(self, pair: Pair, new: int) -> Made:
        left, right, _, left_support, right_support, joint = pair
        known = None
        supports = joint, right_support - joint, left_support - joint
        observed = self._merging.observed
        if not isinstance(observed, int):
            # the counts of the pair are those of the rows in which both are known
            columns = [new, right, left]
            supports = tuple(self._merging.supports[columns].tolist())
            known = (int(observed[new]), int(observed[right]), int(observed[left]))
        f, g, conjoin = self._features[left], self._features[right], self._ledger.lineage.conjoin
        both, right_only, left_only = supports
        numbers = (
            conjoin(f, g) if both else None,
            conjoin(~f, g) if right_only else None,
            conjoin(f, ~g) if left_only else None,
        )
        return Made(numbers, supports, known)

    def _sizes_of(self, features: list[int]) -> NDArray[np.int64]:
        if self._max_length is None:
            return np.zeros(len(features), np.int64)
        # a column that is gone meets no other, whatever its size
        numbers = (max(number, 0) for number in features)
        in_tags = self._criterion.counts_tags
        return self._ledger.sizes(numbers, self._max_length, in_tags=in_tags)

    def _fits(self, pairs: Contingency) -> NDArray[np.bool_]:
        """Which pairs are not too long together."""
        if self._max_length is None:
            return np.ones(len(pairs), np.bool_)
        sizes = self._sizes.values
        return np.asarray(sizes[pairs.left] + sizes[pairs.right] <= self._max_length)

    def _by_text(self, columns: list[int]) -> list[int]:
        column_of = {self._features[column]: column for column in columns}
        return [column_of[feature] for feature in self._ledger.lineage.by_text(column_of)]


class _Taken:
    """The pairs that were taken. What speaks for them is told of many at once, when asked for."""

    def __init__(self, judge: Judge, order: Order) -> None:
        self._judge = judge
        self._order = order
        self._open: list[tuple[int, int, int, Made, Pair, float]] = []
        self._merges: list[Merge] = []

    def __len__(self) -> int:
        return len(self._merges) + len(self._open)

    def add(
        self, iteration: int, left: int, right: int, made: Made, pair: Pair, saved: float
    ) -> None:
        self._open.append((iteration, left, right, made, pair, saved))

    def merge(self, k: int) -> tuple[Merge]:
        """The k-th merge, as the merges of a step."""
        if k >= len(self._merges):
            self._merges += self._written()
            self._open.clear()
        return (self._merges[k],)

    def _written(self) -> Iterator[Merge]:
        *_, pairs, saved = zip(*self._open, strict=True)
        n_rows = np.array([pair.n_rows for pair in pairs])
        same = bool((n_rows == n_rows[0]).all())
        counts = counts_of(pairs, int(n_rows[0]) if same else n_rows)
        evidence = self._judge.evidence(counts, self._order.score(counts, saved))
        cut_off = evidence.cut_off
        lines = np.column_stack(
            [
                evidence.r,
                evidence.score,
                evidence.p_value,
                evidence.p_adjusted,
                np.broadcast_to(cut_off.threshold, len(counts)),
            ]
        ).tolist()
        for taken, line in zip(self._open, lines, strict=True):
            iteration, left, right, made, pair, saved_by_it = taken
            r, score, p_value, p_adjusted, threshold = line
            yield Merge(
                iteration,
                left,
                right,
                *made.numbers,
                pair.n_rows,
                pair.joint,
                r,
                score,
                p_value,
                p_adjusted,
                threshold,
                cut_off.compared,
                cut_off.family_size,
                saved_by_it,
            )


def columns_after(merges: tuple[Merge, ...], n_primitives: int) -> list[int]:
    """The feature of each column after some merges, made one at a time."""
    features = list(range(n_primitives))
    column = dict(enumerate(features))
    for merge in merges:
        left, right = column.pop(merge.left), column.pop(merge.right)
        for k, number in ((left, merge.left_only), (right, merge.right_only)):
            features[k] = GONE if number is None else number
            column[features[k]] = k
        features.append(GONE if merge.both is None else merge.both)
        column[features[-1]] = len(features) - 1
    return features
