"""Find the distinct solutions of uFC for all λ of a range at once (§5.3).

The pairs of a greedy matching come in falling order of r, and λ only determines where the sequence
ends. So the result of an iteration depends only on the interval between two neighbouring r that
contains λ. Following each interval separately meets every distinct state once, for every real λ
instead of a grid.

Stages are stored by row: the features of each row, and the pairs of features that share a row.
Conjunctions split the features that they replace, so rows have fewer and fewer features, and two
features rarely share a row. This is far less data than matrices of joint counts, and it gives the
same integers. Many stages are computed at once in concatenated arrays, because for single small
stages the calls would take longer than the counting.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns, Counts, unpack
from conjunct.counting import Store
from conjunct.errors import InputError
from conjunct.features import Lineage, closest_point, pareto_front
from conjunct.ufc.association import Floats, has_expected_frequencies, phi
from conjunct.ufc.batch import Replacement, Stage, match_greedily, take_free, text_order
from conjunct.ufc.criteria import PairFilter, correlated_pairs
from conjunct.ufc.run_state import Evaluator, without_garbage_collection

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

# 32 bytes per pair of features that share a row; more pairs are counted in a matrix
_MAX_MEETINGS = 1 << 20
_MAX_CELLS = 1 << 26


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class RowStage:
    """A feature set after some iterations.

    The first ``n_kept`` features existed before the last iteration. An entry is a feature in a
    row; ``column_of`` is its column. A meeting is a pair of entries of the same row.
    """

    iteration: int
    features: tuple[int, ...]
    n_kept: int
    n_rows: int
    supports: Counts
    column_of: Indices
    one: Indices
    other: Indices

    @property
    def observed(self) -> int:
        return self.n_rows

    @classmethod
    def first(cls, store: Columns) -> RowStage | None:
        """Return the primitives; ``None`` if cells are missing or too many are true."""
        if store.has_missing or store.n_rows * store.n_columns > _MAX_CELLS:
            return None
        table = unpack(store.to_bits().bits, store.n_rows)
        held = table.sum(axis=1)
        if int((held * (held - 1) // 2).sum()) > _MAX_MEETINGS:
            return None
        _, column_of = np.nonzero(table)
        starts = np.concatenate([[0], np.cumsum(held)])
        met = [np.triu_indices(k, 1) for k in range(int(held.max(initial=0)) + 1)]
        one = [met[k][0] + start for k, start in zip(held, starts[:-1], strict=True)]
        other = [met[k][1] + start for k, start in zip(held, starts[:-1], strict=True)]
        nothing = [np.empty(0, np.intp)]
        return cls(
            0,
            tuple(range(store.n_columns)),
            0,
            store.n_rows,
            table.sum(axis=0, dtype=np.int64),
            column_of,
            np.concatenate(one + nothing),
            np.concatenate(other + nothing),
        )


@dataclass(frozen=True, eq=False, slots=True)
class RowReplacement:
    """The pairs that the next iteration replaces in a stage, strongest first.

    ``parts`` has a line per pair: the supports of i ∧ j, ¬i ∧ j and i ∧ ¬j. ``made`` lists the
    features that replace the pair.
    """

    stage: RowStage
    r: list[float]
    left: Indices
    right: Indices
    parts: Counts
    made: list[list[int]]

    @property
    def size(self) -> int:
        """The number of meetings to count."""
        return len(self.stage.one)


@dataclass(frozen=True, eq=False, slots=True)
class RowPairs:
    """Pairs of columns (``left < right``), their joint counts and correlations."""

    left: Indices
    right: Indices
    joint: Counts
    r: Floats


class JoinedRows:
    """Several concatenated stages, with continuous numbers of columns and entries."""

    def __init__(self, stages: Sequence[RowStage]) -> None:
        self.stages = stages
        self.n_rows = stages[0].n_rows
        self.sizes = np.array([len(stage.features) for stage in stages])
        self.n_entries = np.array([len(stage.column_of) for stage in stages])
        self.n_meetings = np.array([len(stage.one) for stage in stages])
        self.first_column = _starts(self.sizes)
        first_entry = _starts(self.n_entries)
        self.supports = np.concatenate([stage.supports for stage in stages])
        self.column_of = np.concatenate([stage.column_of for stage in stages])
        self.column_of += np.repeat(self.first_column, self.n_entries)
        shifts = np.repeat(first_entry, self.n_meetings)
        self.one = np.concatenate([stage.one for stage in stages])
        self.one += shifts
        self.other = np.concatenate([stage.other for stage in stages])
        self.other += shifts

    def candidates(self, lows: Sequence[float], prune: bool) -> RowPairs:
        """Find the pairs above the threshold of their stage, as ``correlated_pairs`` does.

        Thresholds are not below the one that led to the stage. Therefore no pair of kept features
        can pass; otherwise the matching would already contain it, or another pair with one of its
        features.
        """
        m, supports = len(self.supports), self.supports
        n_kept = np.array([stage.n_kept for stage in self.stages])
        is_new = np.arange(m) >= np.repeat(self.first_column + n_kept, self.sizes)
        one, other = self.column_of[self.one], self.column_of[self.other]
        some = is_new[one] | is_new[other]
        one, other = one[some], other[some]
        codes = np.minimum(one, other) * m + np.maximum(one, other)
        codes.sort()
        is_edge = np.ones(len(codes) + 1, bool)
        np.not_equal(codes[1:], codes[:-1], out=is_edge[1:-1])
        edges = np.flatnonzero(is_edge)
        starts = edges[:-1]
        joint = edges[1:] - starts
        left, right = np.divmod(codes[starts], m)
        r = phi(self.n_rows, supports[left], supports[right], joint)
        passes = r > np.repeat(lows, self.sizes)[left]
        if prune:
            passes &= has_expected_frequencies(self.n_rows, supports[left], supports[right])
        return RowPairs(left[passes], right[passes], joint[passes], r[passes])


def find_replacements(
    stages: Sequence[RowStage], lows: Sequence[float], prune: bool, lineage: Lineage
) -> list[RowReplacement]:
    """Return the pairs to replace next in each stage, for thresholds from ``lows``."""
    joined = JoinedRows(stages)
    pairs = joined.candidates(lows, prune)
    features = [*chain.from_iterable([stage.features for stage in stages])]
    stage_of = np.repeat(np.arange(len(stages)), joined.sizes)
    # the greedy matchings of all stages at once, because no pair spans two stages
    group = stage_of[pairs.left]
    order = np.lexsort((-pairs.joint, -pairs.r, group))
    r, joint, group = pairs.r[order], pairs.joint[order], group[order]
    changes = (group[1:] != group[:-1]) | (r[1:] != r[:-1]) | (joint[1:] != joint[:-1])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else []
    ends = pairs.left[order].tolist(), pairs.right[order].tolist()
    free = bytearray(b"\1") * len(features)
    in_order = take_free(*ends, edges, free, text_order(features, lineage))
    taken = order[np.array(in_order, np.intp)]
    left, right, joint = pairs.left[taken], pairs.right[taken], pairs.joint[taken]
    parts = np.empty((len(taken), 3), np.int64)
    parts[:, 0] = joint
    parts[:, 1] = joined.supports[right] - joint
    parts[:, 2] = joined.supports[left] - joint
    occurs = parts > 0
    # the literals of i ∧ j, ¬i ∧ j and i ∧ ¬j
    numbers = np.array(features)
    f, g = numbers[left], numbers[right]
    ones, others = np.stack([f, ~f, f], axis=1), np.stack([g, g, ~g], axis=1)
    made = [*map(lineage.conjoin, ones[occurs].tolist(), others[occurs].tolist())]
    n_pairs = np.bincount(stage_of[left], minlength=len(stages))
    shifts = np.repeat(joined.first_column, n_pairs)
    left -= shifts
    right -= shifts
    n_made = np.cumsum(np.append(0, occurs.sum(axis=1))).tolist()
    return [
        RowReplacement(
            stage,
            pairs.r[taken[which]].tolist(),
            left[which],
            right[which],
            parts[which],
            [made[start:stop] for start, stop in pairwise(n_made[which.start : which.stop + 1])],
        )
        for stage, which in zip(stages, _slices(n_pairs), strict=True)
    ]


def replace_first(wanted: Sequence[tuple[RowReplacement, int]]) -> list[RowStage]:
    """Replace the given number of first pairs in each stage, and return the new stages."""
    joined = JoinedRows([replacement.stage for replacement, _ in wanted])
    n_pairs = np.array([n for _, n in wanted])
    shifts = np.repeat(joined.first_column, n_pairs)
    left = np.concatenate([replacement.left[:n] for replacement, n in wanted]) + shifts
    right = np.concatenate([replacement.right[:n] for replacement, n in wanted]) + shifts
    parts = np.concatenate([replacement.parts[:n] for replacement, n in wanted])
    occurs = parts > 0

    m = len(joined.supports)
    keeps = np.ones(m, bool)
    keeps[left] = keeps[right] = False
    n_kept = _totals(keeps, joined.sizes)
    n_made = _totals(occurs, 3 * n_pairs)
    sizes = n_kept + n_made
    first_column = _starts(sizes)
    # the new columns of entries: alone in a row, or together with the partner
    alone = np.cumsum(keeps) + np.repeat(first_column - _starts(n_kept) - 1, joined.sizes)
    places = np.cumsum(occurs).reshape(-1, 3)
    places += np.repeat(first_column + n_kept - _starts(n_made) - 1, n_pairs)[:, None]
    supports = np.empty(int(sizes.sum()), np.int64)
    supports[alone[keeps]] = joined.supports[keeps]
    supports[places[occurs]] = parts[occurs]
    alone[left], alone[right] = places[:, 2], places[:, 1]
    together = np.empty(m, np.intp)
    together[left] = together[right] = places[:, 0]
    partner = np.full(m, -1)
    partner[left], partner[right] = right, left

    one, other = joined.column_of[joined.one], joined.column_of[joined.other]
    merged = partner[one] == other
    column_of = alone[joined.column_of]
    column_of[joined.one[merged]] = together[one[merged]]
    column_of -= np.repeat(first_column, joined.n_entries)
    # one of two merged entries remains; the other has no meetings
    is_gone = np.zeros(len(column_of), bool)
    is_gone[joined.other[merged]] = True
    stays = ~(is_gone[joined.one] | is_gone[joined.other])
    starts = np.repeat(_starts(joined.n_entries), joined.n_meetings)
    one, other = (joined.one - starts)[stays], (joined.other - starts)[stays]
    is_kept = keeps.tobytes()
    cuts = zip(
        _slices(sizes),
        _slices(joined.n_entries),
        _slices(_totals(stays, joined.n_meetings)),
        _slices(joined.sizes),
        n_kept.tolist(),
        strict=True,
    )
    return [
        RowStage(
            replacement.stage.iteration + 1,
            (
                *compress(replacement.stage.features, is_kept[there]),
                *chain.from_iterable(replacement.made[:n]),
            ),
            kept,
            joined.n_rows,
            supports[columns],
            column_of[entries],
            one[meetings],
            other[meetings],
        )
        for (replacement, n), (columns, entries, meetings, there, kept) in zip(
            wanted, cuts, strict=True
        )
    ]


def _starts(lengths: Indices) -> Indices:
    """Return the start of each of several concatenated pieces."""
    return np.cumsum(lengths) - lengths


def _slices(lengths: Indices) -> Iterator[slice]:
    ends = np.cumsum(lengths).tolist()
    return map(slice, [0, *ends], ends)


def _totals(values: Mask, lengths: Indices) -> Indices:
    """Count the true values in each of several concatenated pieces."""
    before = np.concatenate([[0], np.cumsum(values)])
    ends = np.cumsum(lengths)
    return np.asarray(before[ends] - before[ends - lengths])


AnyStage = Stage | RowStage
AnyReplacement = Replacement | RowReplacement

# no r exceeds 1, so a λ from the strongest r up to 1 changes nothing
_NO_PAIR = 1.0

# the size limit of a batch of stages, which balances speed and memory
_MAX_AT_ONCE = 1 << 16

# neighbouring λ share many features, so those of past stages are kept up to this number
_MAX_REMEMBERED = 1 << 16


@dataclass(frozen=True)
class Range:
    """The range of a path: every λ in [lowest, highest], and up to ``max_iter`` iterations."""

    lowest: float
    highest: float
    max_iter: int
    prune: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """A stage, and the λ that lead to it: ``low ≤ λ < high``.

    From ``settled_from`` on, no pair is left to replace.
    """

    stage: AnyStage
    low: float
    high: float
    settled_from: float


@dataclass(frozen=True, eq=False, slots=True)
class NextState:
    """A state that is still to be built from the first pairs of a replacement.

    ``n_features`` is the size of the lineage when the replacement was found.
    """

    replacement: AnyReplacement
    n_pairs: int
    low: float
    high: float
    n_features: int

    @property
    def place(self) -> tuple[float, int]:
        """A search from the highest λ down, and from each state to its successors."""
        return -self.high, self.replacement.stage.iteration + 1


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some states, and the position of the first state to come."""

    states: list[State]
    next_state: NextState | None


def first_stage(store: Store) -> AnyStage:
    """Return the primitives, by row if that is smaller."""
    by_rows = RowStage.first(store) if isinstance(store, Columns) else None
    return Stage.first(store) if by_rows is None else by_rows


def batches(first: AnyStage, lineage: Lineage, covered: Range) -> Iterator[Batch]:
    """Yield every distinct state, from the highest λ down, each before its successors.

    Small states are built in batches, in which a later state may precede the successors of an
    earlier one. Only the stages of the batch and the parents of future states are in memory;
    ``lineage`` drops the features of other stages if there are too many.
    """
    stages: list[Any] = [first]
    intervals = [(covered.lowest, _NO_PAIR)]
    pending: list[NextState] = []  # the highest λ last
    while True:
        states, coming = _follow(stages, intervals, lineage, covered)
        pending += reversed(coming)
        yield Batch(states, pending[-1] if pending else None)
        if not pending:
            return
        del stages, states, coming
        # one state, and more while they are small
        chosen, room = [pending.pop()], _MAX_AT_ONCE
        room -= chosen[0].replacement.size
        while pending and pending[-1].replacement.size <= room:
            chosen.append(pending.pop())
            room -= chosen[-1].replacement.size
        if len(lineage) > _MAX_REMEMBERED:
            lineage.forget_after(chosen[0].n_features)
        wanted: list[Any] = [(state.replacement, state.n_pairs) for state in chosen]
        if isinstance(wanted[0][0], RowReplacement):
            stages = replace_first(wanted)
        else:
            stages = [replacement.of_first(n_pairs) for replacement, n_pairs in wanted]
        intervals = [(state.low, state.high) for state in chosen]


def _follow(
    stages: list[Any],
    intervals: list[tuple[float, float]],
    lineage: Lineage,
    covered: Range,
) -> tuple[list[State], list[NextState]]:
    """Return the states of these stages and their successors, both from the highest λ down."""
    going = [k for k, stage in enumerate(stages) if stage.iteration < covered.max_iter]
    found: dict[int, AnyReplacement] = {}
    if going:
        some, lows = [stages[k] for k in going], [intervals[k][0] for k in going]
        if isinstance(stages[0], RowStage):
            found |= zip(going, find_replacements(some, lows, covered.prune, lineage), strict=True)
        else:
            for k, stage, low in zip(going, some, lows, strict=True):
                pairs = correlated_pairs(stage.counts, PairFilter(low, prune=covered.prune))
                pairs = match_greedily(pairs, stage.features, lineage)
                found[k] = Replacement(stage, pairs, lineage)
    states: list[State] = []
    coming: list[NextState] = []
    n_features = len(lineage)
    for k, (stage, (low, high)) in enumerate(zip(stages, intervals, strict=True)):
        settled_from = high
        if k in found:
            replacement = found[k]
            r = replacement.r
            settled_from = min(r[0], high) if r else low
            for n_pairs, (above, below) in enumerate(pairwise([*r, low]), start=1):
                if below < high and below < above and below <= covered.highest:
                    coming.append(
                        NextState(replacement, n_pairs, below, min(above, high), n_features)
                    )
        if stage.iteration:
            states.append(State(stage, low, high, settled_from))
        elif settled_from <= covered.highest:  # §5.3 counts limit_iter from 1
            states.append(State(stage, settled_from, high, settled_from))
    return states, coming


# §5.3: λ between 0.002 and 0.5 with a step of 0.002
_GRID_STEP = 0.002


@dataclass(frozen=True, slots=True)
class Solution:
    """One distinct solution of uFC, and the parameters that lead to it.

    Every λ with ``min_threshold ≤ λ < max_threshold`` leads to it after ``iterations`` iterations.
    From ``settled_from`` on no pair is left to replace, so more iterations give the same solution.
    """

    min_threshold: float
    max_threshold: float
    settled_from: float
    iterations: int
    n_features: int
    length: float
    oi: float
    c0: float
    rms: float

    @property
    def threshold(self) -> float:
        """A λ of the interval that is easy to read; see :func:`readable_threshold`."""
        return readable_threshold(self.min_threshold, self.max_threshold)

    @property
    def distance(self) -> float:
        """Distance to the ideal point (0, 0)."""
        return math.hypot(self.oi, self.c0)

    def is_result_of(self, threshold: float, limit_iter: int) -> bool:
        """Return True if uFC(threshold, limit_iter) ends with this solution."""
        if self.iterations == limit_iter:
            return self.min_threshold <= threshold < self.max_threshold
        return self.iterations < limit_iter and self.settled_from <= threshold < self.max_threshold


@dataclass(frozen=True)
class Budget:
    """The limits of a path; ``None`` means no limit."""

    solutions: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Path:
    """Solutions by rising λ, then iterations, for all λ from ``covered_from`` up."""

    solutions: tuple[Solution, ...]
    covered_from: float
    complete: bool
    n_distinct_rows: int

    @cached_property
    def _by_iterations(self) -> dict[int, list[Solution]]:
        grouped: dict[int, list[Solution]] = {}
        for solution in self.solutions:
            grouped.setdefault(solution.iterations, []).append(solution)
        return grouped

    def result_of(self, threshold: float, limit_iter: int) -> Solution | None:
        """Return the solution of uFC(threshold, limit_iter); ``None`` if it is not covered."""
        for iterations in range(limit_iter, -1, -1):
            there = self._by_iterations.get(iterations, [])
            k = bisect_right(there, threshold, key=lambda solution: solution.min_threshold) - 1
            if k >= 0 and there[k].is_result_of(threshold, limit_iter):
                return there[k]
        return None

    @cached_property
    def front(self) -> tuple[int, ...]:
        """Positions of the solutions on the Pareto front, by rising C0."""
        chosen = pareto_front([s.oi for s in self.solutions], [s.c0 for s in self.solutions])
        return tuple(chosen)

    @cached_property
    def closest(self) -> int:
        """Position of the closest point; of ties, the fewest features, then the smallest λ."""
        order = sorted(
            range(len(self.solutions)),
            key=lambda k: (
                self.solutions[k].n_features,
                self.solutions[k].min_threshold,
                self.solutions[k].iterations,
            ),
        )
        ranked = [self.solutions[k] for k in order]
        return order[closest_point([s.oi for s in ranked], [s.c0 for s in ranked])]


def follow_path(
    store: Store,
    names: Sequence[str],
    covered: Range,
    *,
    budget: Budget = Budget(),  # noqa: B008 (immutable)
    null_feature: bool = False,
    watch: Callable[[Solution], None] = lambda solution: None,
) -> Path:
    """Find all solutions for a range of λ, and call ``watch`` with each one."""
    n_distinct_rows = store.count_distinct_rows()
    null_support = store.count_null_rows() if null_feature else None
    deadline = math.inf if budget.seconds is None else time.monotonic() + budget.seconds
    most = math.inf if budget.solutions is None else budget.solutions
    found: list[Solution] = []
    complete, covered_from = True, covered.lowest
    with without_garbage_collection():
        evaluate = Evaluator(Lineage(names), store.n_rows, n_distinct_rows, null_support)
        for solution in _by_falling_threshold(store, evaluate, covered):
            if solution.iterations and not evaluate.has_complexity:
                raise InputError(
                    f"C0 is undefined for {n_distinct_rows} distinct rows and {len(names)} "
                    f"columns, because it needs more distinct rows than columns. Use UFC with "
                    f"one threshold and max_iter"
                )
            if found and (len(found) >= most or time.monotonic() > deadline):
                complete, covered_from = False, solution.max_threshold
                break
            found.append(solution)
            watch(solution)
        del evaluate  # release the features before garbage collection resumes
    found.sort(key=lambda solution: (solution.min_threshold, solution.iterations))
    return Path(tuple(found), covered_from, complete, n_distinct_rows)


def readable_threshold(low: float, high: float) -> float:
    """Return a λ in [low, high) that is easy to read and to type.

    This is the first point of the paper's grid (0.002, 0.004, …) in the interval, if any. Otherwise
    it is the number with the fewest decimals, and of several the smallest.

    Examples
    --------
    >>> readable_threshold(0.4303, 0.4402)
    0.432
    >>> readable_threshold(0.4303, 0.4312)
    0.431
    """
    steps = math.ceil(low / _GRID_STEP)
    for on_grid in (round(k * _GRID_STEP, 3) for k in (steps - 1, steps, steps + 1)):
        if low <= on_grid < high:
            return on_grid
    for decimals in range(17):
        candidate = round(low, decimals)
        if candidate < low:
            candidate = round(candidate + 10.0**-decimals, decimals)
        if low <= candidate < high:
            return candidate
    return low


def _by_falling_threshold(store: Store, evaluate: Evaluator, covered: Range) -> Iterator[Solution]:
    """Yield the solutions from the highest λ down, each before its successors."""

    def place(solution: Solution) -> tuple[float, int]:
        return -solution.max_threshold, solution.iterations

    waiting: list[Solution] = []
    for batch in batches(first_stage(store), evaluate.lineage, covered):
        for state in batch.states:
            one = evaluate(state.stage)
            bounds = state.low, state.high, state.settled_from
            numbers = one.length, one.oi, one.c0, one.rms
            waiting.append(Solution(*bounds, one.iteration, one.n_features, *numbers))
        waiting.sort(key=place)
        n_ready = len(waiting)
        if batch.next_state is not None:
            n_ready = bisect_left(waiting, batch.next_state.place, key=place)
        yield from waiting[:n_ready]
        del waiting[:n_ready]
