"""Batch search: Algorithm 2 as a generator of steps. An iteration replaces a whole matching."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, Counts, PairCounts, Positions, Rewrite
from conjunct.counting import Store, Tally
from conjunct.features import Lineage, Merge
from conjunct.ufc.association import Floats, PairFilter, Pairs, correlated_pairs
from conjunct.ufc.run_state import Ledger, Made, Numbers, Step

if TYPE_CHECKING:
    from conjunct.ufc.criteria import Criterion, Judge


@dataclass(frozen=True, eq=False)
class Stage:
    """The feature set after some iterations, and the merges of the last one."""

    iteration: int
    features: tuple[int, ...]
    tally: Tally
    replaced: Replaced | None = None

    @classmethod
    def first(cls, store: Store) -> Stage:
        """The primitives."""
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

    def candidates(self, criterion: PairFilter) -> Pairs:
        """The pairs that pass."""
        return correlated_pairs(self.counts, criterion)

    @property
    def merges(self) -> tuple[Merge, ...]:
        """What the last iteration replaced."""
        return () if self.replaced is None else tuple(self.replaced.merges(self.iteration))


@dataclass(frozen=True, eq=False)
class Replaced:
    """The pairs that an iteration replaced; written out as merges only where they are wanted."""

    features: tuple[int, ...]
    pairs: Pairs
    made: list[Numbers]

    def merges(self, iteration: int, saved: Sequence[float] | None = None) -> Iterator[Merge]:
        """The merges of an iteration; with the bits that each saved, if these are known."""
        pairs, cut_off = self.pairs, self.pairs.cut_off
        columns = (pairs.left, pairs.right, pairs.joint, pairs.r, pairs.score)
        tests = (pairs.p_value, pairs.p_adjusted)
        each = (
            np.broadcast_to(value, len(pairs)) for value in (pairs.counts.n_rows, cut_off.threshold)
        )
        lines = zip(
            *(column.tolist() for column in (*columns, *tests, *each)),
            self.made,
            [math.nan] * len(pairs) if saved is None else saved,
            strict=True,
        )
        for i, j, joint, r, score, p, p_adjusted, n_rows, threshold, made, bits in lines:
            both, right_only, left_only = made
            yield Merge(
                iteration=iteration,
                left=self.features[i],
                right=self.features[j],
                both=both,
                right_only=right_only,
                left_only=left_only,
                n_rows=n_rows,
                joint=joint,
                r=r,
                score=score,
                p_value=p,
                p_adjusted=p_adjusted,
                threshold=threshold,
                compared=cut_off.compared,
                family_size=cut_off.family_size,
                saved=bits,
            )


def replace_pairs(stage: Stage, pairs: Pairs, lineage: Lineage) -> Stage:
    """The next stage: each pair gives way to its non-empty conjunctions (§3.3).

    Kept features come first, then ``i ∧ j``, ``¬i ∧ j``, ``i ∧ ¬j`` of each pair in turn.
    """
    return Replacement(stage, pairs, lineage).of_first(len(pairs))


class Replacement:
    """The next stages of a sequence of pairs: that of all of them, or of the first few only.

    What is new is counted once for all.
    """

    def __init__(self, stage: Stage, pairs: Pairs, lineage: Lineage) -> None:
        self.pairs = pairs
        self.stage = stage
        self._tally = stage.tally.with_conjunctions(pairs.left, pairs.right)
        both = len(stage.features) + np.arange(len(pairs))
        # one line a pair: i ∧ j, ¬i ∧ j, i ∧ ¬j
        self._plus = np.column_stack([both, pairs.right, pairs.left])
        self._minus = np.column_stack([np.full_like(both, -1), both, both])
        self._occurs = parts_of(pairs.counts) > 0
        self._made = numbered_conjunctions(
            stage.features, pairs.left, pairs.right, self._occurs, lineage
        )

    @property
    def r(self) -> list[float]:
        return list(map(float, self.pairs.r))

    @property
    def size(self) -> int:
        """How much there is to look at."""
        return len(self.stage.features) ** 2

    def of_first(self, n_pairs: int) -> Stage:
        """The stage in which the first ``n_pairs`` pairs are replaced."""
        stage = self.stage
        pairs = self.pairs.take(slice(n_pairs))
        keeps = np.ones(len(stage.features), bool)
        keeps[pairs.left] = keeps[pairs.right] = False
        kept = np.flatnonzero(keeps)
        occurs = self._occurs[:n_pairs]
        rewrite = Rewrite(
            pairs.left,
            pairs.right,
            np.concatenate([kept, self._plus[:n_pairs][occurs]]),
            np.concatenate([np.full_like(kept, -1), self._minus[:n_pairs][occurs]]),
        )
        features = [stage.features[position] for position in kept.tolist()]
        for made in self._made[:n_pairs]:
            features += [number for number in made if number is not None]
        return Stage(
            stage.iteration + 1,
            tuple(features),
            self._tally.rewritten(rewrite),
            Replaced(stage.features, pairs, self._made[:n_pairs]),
        )


def parts_of(pairs: Contingency) -> Counts:
    """Rows with ``i ∧ j``, ``¬i ∧ j`` and ``i ∧ ¬j``, one line a pair."""
    joint = pairs.joint
    return np.column_stack([joint, pairs.right_support - joint, pairs.left_support - joint])


def numbered_conjunctions(
    features: Sequence[int],
    left: Positions,
    right: Positions,
    occurs: NDArray[np.bool_],
    lineage: Lineage,
) -> list[Numbers]:
    """The numbers of the conjunctions of each pair, ``None`` for those that occur nowhere."""
    made: list[Numbers] = []
    conjoin = lineage.conjoin
    for i, j, (both, right_only, left_only) in zip(
        left.tolist(), right.tolist(), occurs.tolist(), strict=True
    ):
        f, g = features[i], features[j]
        made.append(
            (
                conjoin(f, g) if both else None,
                conjoin(~f, g) if right_only else None,
                conjoin(f, ~g) if left_only else None,
            )
        )
    return made


class Associated(Protocol):
    """Pairs of columns with what orders them."""

    @property
    def left(self) -> Positions: ...

    @property
    def right(self) -> Positions: ...

    @property
    def joint(self) -> Counts: ...

    @property
    def r(self) -> Floats: ...


ByText = Callable[[list[int]], list[int]]
"""Puts columns in the order of the canonical texts of their features."""


def greedy_matching(pairs: Pairs, n_columns: int, by_text: ByText) -> Positions:
    """Which pairs ``highest_scoring_pair`` and ``remove_candidate`` take, in the order taken.

    The sequence for a higher threshold is a prefix of this one. Only the strongest pairs that
    are still free are ever sorted: after each batch, pairs with a used end are dropped. Texts are
    compared only where tied pairs share an end, for nowhere else do they decide what is taken;
    ``in_order_of_texts`` puts the others in order too.
    """
    free = bytearray(b"\1") * n_columns
    taken: list[int] = []
    left = np.arange(len(pairs))
    while len(left):
        strongest = left[_at_least_nth(pairs.score[left], 2 * n_columns)]
        order, edges = _in_runs(strongest, pairs.score, pairs.joint)
        ends = list(zip(pairs.left[order].tolist(), pairs.right[order].tolist(), strict=True))
        numbers = order.tolist()
        for start, stop in pairwise(edges):
            if stop - start == 1:
                run = [start]
            else:
                run = [k for k in range(start, stop) if free[ends[k][0]] and free[ends[k][1]]]
                if len(run) > 1 and _overlap([ends[k] for k in run]):
                    run = [run[k] for k in in_order([ends[k] for k in run], by_text)]
            for k in run:
                i, j = ends[k]
                if free[i] and free[j]:
                    free[i] = free[j] = 0
                    taken.append(numbers[k])
        if len(strongest) == len(left):
            break
        is_free = np.frombuffer(free, bool)
        left = left[is_free[pairs.left[left]] & is_free[pairs.right[left]]]
    return np.array(taken, np.intp)


def greedy_matchings(pairs: Associated, group_of: Positions, by_text: ByText) -> Positions:
    """The greedy matchings of several groups of columns at once, group after group.

    ``group_of`` is the group of each column; no pair goes from one to another.
    """
    group = group_of[pairs.left]
    order = np.lexsort((-pairs.joint, -pairs.r, group))
    joint, r, group = pairs.joint[order], pairs.r[order], group[order]
    changes = (group[1:] != group[:-1]) | (r[1:] != r[:-1]) | (joint[1:] != joint[:-1])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else []
    left, right = pairs.left[order].tolist(), pairs.right[order].tolist()
    free = bytearray(b"\1") * len(group_of)
    taken: list[int] = []
    for start, stop in pairwise(edges):
        if stop - start == 1:
            i, j = left[start], right[start]
            if free[i] and free[j]:
                free[i] = free[j] = 0
                taken.append(start)
            continue
        run = [k for k in range(start, stop) if free[left[k]] and free[right[k]]]
        if len(run) > 1:
            run = _untied(run, left, right, by_text)
        for k in run:
            i, j = left[k], right[k]
            if free[i] and free[j]:
                free[i] = free[j] = 0
                taken.append(k)
    return order[np.array(taken, np.intp)]


def _untied(run: list[int], left: list[int], right: list[int], by_text: ByText) -> list[int]:
    """Tied pairs in the order in which they are to be tried, those without a chance left out."""
    columns = [left[k] for k in run] + [right[k] for k in run]
    others = set(columns)
    if len(others) == len(columns):
        return run
    if len(others) == len(run) + 1:
        for shared in (left[run[0]], right[run[0]]):
            if columns.count(shared) == len(run):
                # whatever the text of the shared end, that of the other decides, and one is taken
                others.remove(shared)
                first = by_text([*others])[0]
                return [k for k in run if left[k] == first or right[k] == first]
    return [run[k] for k in in_order([(left[k], right[k]) for k in run], by_text)]


def in_order_of_texts(pairs: Pairs, by_text: ByText) -> Pairs:
    """Matched pairs with those of equal score and joint count in the order of their texts."""
    order, edges = _in_runs(np.arange(len(pairs)), pairs.score, pairs.joint)
    for start, stop in pairwise(edges):
        if stop - start > 1:
            run = order[start:stop]
            ends = list(zip(pairs.left[run].tolist(), pairs.right[run].tolist(), strict=True))
            order[start:stop] = run[in_order(ends, by_text)]
    return pairs.take(order)


def _at_least_nth(values: Floats, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which values are at least the n-th largest, ties included."""
    if len(values) <= n:
        return np.ones(len(values), bool)
    nth = np.partition(values, len(values) - n)[len(values) - n]
    return np.asarray(values >= nth)


def _in_runs(
    which: Positions, first: Floats | Counts, second: Floats | Counts
) -> tuple[Positions, list[int]]:
    """``which`` by falling ``first``, then falling ``second``; and where runs of equals begin."""
    order = which[np.lexsort((-second[which], -first[which]))]
    one, other = first[order], second[order]
    edges = np.flatnonzero((one[1:] != one[:-1]) | (other[1:] != other[:-1])) + 1
    return order, [0, *edges.tolist(), len(order)]


def _overlap(ends: list[tuple[int, int]]) -> bool:
    """Whether two of the pairs share a column."""
    return len({column for pair in ends for column in pair}) < 2 * len(ends)


def in_order(ends: list[tuple[int, int]], by_text: ByText) -> list[int]:
    """Tied pairs in the order of their smaller text, then of the other one."""
    if len(ends) == 1:
        return [0]
    columns = by_text(list({column for pair in ends for column in pair}))
    rank = dict(zip(columns, range(len(columns)), strict=True))
    ranks = [(rank[i], rank[j]) if rank[i] < rank[j] else (rank[j], rank[i]) for i, j in ends]
    return sorted(range(len(ends)), key=ranks.__getitem__)


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
