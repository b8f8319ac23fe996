"""Batch search: Algorithm 2 as a generator of steps. An iteration replaces a whole matching."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from conjunct.features import Lineage, Merge
from conjunct.ufc.association import Pairs
from conjunct.ufc.criteria.base import Criterion, Judge
from conjunct.ufc.search.ledger import Ledger, Made, Step
from conjunct.ufc.search.pairing import ByText, greedy_matching, in_order_of_texts
from conjunct.ufc.search.stage import Replaced, Stage, replace_pairs


class BatchSearch:
    """All pairs of a greedy matching at once, iteration after iteration."""

    def __init__(
        self,
        stage: Stage,
        ledger: Ledger,
        criterion: Criterion,
        judge: Judge,
        max_length: int | None,
    ) -> None:
        self.stage = stage
        self._ledger = ledger
        self._criterion = criterion
        self._judge = judge
        self._max_length = max_length

    def first(self) -> Step:
        return self._step()

    def steps(self) -> Iterator[Step]:
        """The next iterations, for as long as a pair is replaced."""
        lineage = self._ledger.lineage
        while len(pairs := taken_pairs(self._candidates(), self.stage.features, lineage)):
            self.stage = replace_pairs(self.stage, pairs, lineage)
            yield self._step(self.stage.replaced)

    def _candidates(self) -> Pairs:
        """The pairs that the next iteration may replace."""
        pairs = self._criterion.candidates(self.stage, self._ledger, self._judge)
        if self._max_length is None:
            return pairs
        in_tags = self._criterion.counts_tags
        sizes = self._ledger.sizes(self.stage.features, self._max_length, in_tags=in_tags)
        return pairs.take(sizes[pairs.left] + sizes[pairs.right] <= self._max_length)

    def _step(self, replaced: Replaced | None = None) -> Step:
        iteration, saved = self.stage.iteration, list[float]()
        merges: Callable[[], tuple[Merge, ...]] = tuple
        if replaced is not None:
            saved = self._entered(replaced)
            merges = partial(_written, replaced, iteration, saved)
        indicators = self._ledger.indicators(iteration)
        return Step(iteration, indicators, merges, saved)

    def _entered(self, replaced: Replaced) -> list[float]:
        """Enter the merges of the last iteration in the books; what each saved."""
        supports = dict(zip(self.stage.features, self.stage.supports.tolist(), strict=True))
        observed = self.stage.observed
        known: dict[int, int] | None = None
        if not isinstance(observed, int):
            known = dict(zip(self.stage.features, observed.tolist(), strict=True))
        saved = []
        features, counts = replaced.features, replaced.pairs.counts
        columns = (counts.left, counts.right, *counts.table[1:])
        lines = zip(*(column.tolist() for column in columns), replaced.made, strict=True)
        for i, j, left_support, right_support, joint, numbers in lines:
            made = Made(
                numbers,
                _each(supports, numbers),
                None if known is None else _each(known, numbers),
            )
            of_pair = (left_support, right_support, joint)
            saved.append(self._ledger.enter(features[i], features[j], of_pair, made))
        return saved


def _written(replaced: Replaced, iteration: int, saved: list[float]) -> tuple[Merge, ...]:
    return tuple(replaced.merges(iteration, saved))


def _each(counts: dict[int, int], numbers: Sequence[int | None]) -> tuple[int, int, int]:
    both, right, left = (0 if number is None else counts[number] for number in numbers)
    return both, right, left


def taken_pairs(pairs: Pairs, features: Sequence[int], lineage: Lineage) -> Pairs:
    """The candidates that an iteration replaces, in the order in which they are taken."""
    return in_order_of_texts(matched(pairs, features, lineage), text_order(features, lineage))


def matched(pairs: Pairs, features: Sequence[int], lineage: Lineage) -> Pairs:
    """The pairs that a greedy matching takes, by falling score."""
    return pairs.take(greedy_matching(pairs, len(features), text_order(features, lineage)))


def text_order(features: Sequence[int], lineage: Lineage) -> ByText:
    """What puts columns in the order of the texts of their features."""

    def ordered(columns: list[int]) -> list[int]:
        column_of = {features[column]: column for column in columns}
        return [column_of[feature] for feature in lineage.by_text(column_of)]

    return ordered
