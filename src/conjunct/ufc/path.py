"""Every λ at once: the distinct solutions of uFC over a range of thresholds (§5.3).

The pairs of a greedy matching come in falling order of r, and λ only says where the sequence is
cut. So what an iteration makes of a stage depends on λ only through the interval between two
neighbouring r. Following each interval separately meets every distinct state once, for every real
λ instead of a grid of them.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from conjunct.columns import Columns
from conjunct.counting import Store
from conjunct.errors import InputError
from conjunct.features import Lineage, closest_point, pareto_front
from conjunct.ufc.batch import Replacement, Stage, match_greedily
from conjunct.ufc.criteria import PairFilter, correlated_pairs
from conjunct.ufc.row_stages import (
    RowReplacement,
    RowStage,
    find_replacements,
    replace_first,
)
from conjunct.ufc.run_state import Evaluator, without_garbage_collection

AnyStage = Stage | RowStage
AnyReplacement = Replacement | RowReplacement

# No r exceeds 1, so that every λ from the strongest r up to 1 leaves a stage as it is.
_NO_PAIR = 1.0

# stages are followed together up to this size: enough for long arrays, little enough for memory
_MAX_AT_ONCE = 1 << 16

# neighbouring λ make many of the same features: those of past stages are kept while they are few
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

    From ``settled_from`` on no pair is left to replace.
    """

    stage: AnyStage
    low: float
    high: float
    settled_from: float


@dataclass(frozen=True, eq=False, slots=True)
class NextState:
    """A state that is still to be made, of the first pairs of a replacement.

    ``n_features`` is how many features the lineage had when the replacement was found.
    """

    replacement: AnyReplacement
    n_pairs: int
    low: float
    high: float
    n_features: int

    @property
    def place(self) -> tuple[float, int]:
        """Grows from the highest λ down, and from a state to those that follow from it."""
        return -self.high, self.replacement.stage.iteration + 1


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some states, and which of those to come has the first place."""

    states: list[State]
    next_state: NextState | None


def first_stage(store: Store) -> AnyStage:
    """Return the primitives, by rows where that is less to look at."""
    by_rows = RowStage.first(store) if isinstance(store, Columns) else None
    return Stage.first(store) if by_rows is None else by_rows


def batches(first: AnyStage, lineage: Lineage, covered: Range) -> Iterator[Batch]:
    """Yield every distinct state, from the highest λ down, each before those that follow from it.

    Small ones are made many at once, and of these a later one may come before those that follow
    from an earlier one. Only the stages of a batch exist, and those that states to come are made
    of; ``lineage`` forgets the features of others when there are too many.
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
        chosen = _pop_next(pending)
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
    """Return the states of these stages and those to come, both from the highest λ down."""
    going = [k for k, stage in enumerate(stages) if stage.iteration < covered.max_iter]
    found: dict[int, AnyReplacement] = {}
    if going:
        some, lows = [stages[k] for k in going], [intervals[k][0] for k in going]
        find = find_replacements if isinstance(stages[0], RowStage) else _find_by_matrix
        found |= zip(going, find(some, lows, covered.prune, lineage), strict=True)
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


def _find_by_matrix(
    stages: Sequence[Stage], lows: Sequence[float], prune: bool, lineage: Lineage
) -> list[Replacement]:
    found = []
    for stage, low in zip(stages, lows, strict=True):
        pairs = correlated_pairs(stage.counts, PairFilter(low, prune=prune))
        taken = match_greedily(pairs, stage.features, lineage)
        found.append(Replacement(stage, taken, lineage))
    return found


def _pop_next(pending: list[NextState]) -> list[NextState]:
    """Pop the next states to make: one, and others as long as they are small."""
    chosen: list[NextState] = []
    room = _MAX_AT_ONCE
    while pending and (not chosen or pending[-1].replacement.size <= room):
        chosen.append(pending.pop())
        room -= chosen[-1].replacement.size
    return chosen


# §5.3: λ between 0.002 and 0.5 with a step of 0.002
_GRID_STEP = 0.002


@dataclass(frozen=True, slots=True)
class Solution:
    """One distinct outcome of uFC, and the parameters that lead to it.

    Every λ with ``min_threshold ≤ λ < max_threshold`` gives it after ``iterations`` iterations.
    From ``settled_from`` on no pair is left to replace: there, further iterations give it too.
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
        """A λ of the interval that is easy to read: see :func:`readable_threshold`."""
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
    """The limits of a path: ``None`` is no limit."""

    solutions: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Path:
    """Solutions by rising λ, then iterations. All λ from ``covered_from`` up were followed."""

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
        """Position of the closest point; ties: fewer features, then the smaller λ."""
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
    """Find all solutions of a range of λ. ``watch`` is called with each, for progress."""
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
                    f"a path weighs OI against C0, and C0 has no meaning here: it needs more "
                    f"distinct rows than columns, and there are {n_distinct_rows} distinct rows "
                    f"for {len(names)} columns. Choose one threshold and number of iterations "
                    f"instead"
                )
            if found and (len(found) >= most or time.monotonic() > deadline):
                complete, covered_from = False, solution.max_threshold
                break
            found.append(solution)
            watch(solution)
        del evaluate  # and with it the features, before garbage is looked for again
    found.sort(key=lambda solution: (solution.min_threshold, solution.iterations))
    return Path(tuple(found), covered_from, complete, n_distinct_rows)


def readable_threshold(low: float, high: float) -> float:
    """Return a λ in [low, high) that is easy to read and to type.

    The first point of the paper's grid (0.002, 0.004, …) where the interval holds one; else the
    number with the fewest decimals, of several the smallest.

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
    """Yield the solutions from the highest λ down, each before those that follow from it."""
    waiting: list[Solution] = []
    for batch in batches(first_stage(store), evaluate.lineage, covered):
        waiting += [_solution(state, evaluate) for state in batch.states]
        waiting.sort(key=_place)
        n_ready = len(waiting)
        if batch.next_state is not None:
            n_ready = bisect_left(waiting, batch.next_state.place, key=_place)
        yield from waiting[:n_ready]
        del waiting[:n_ready]


def _place(solution: Solution) -> tuple[float, int]:
    return -solution.max_threshold, solution.iterations


def _solution(state: State, evaluate: Evaluator) -> Solution:
    indicators = evaluate(state.stage)
    return Solution(
        state.low,
        state.high,
        state.settled_from,
        indicators.iteration,
        indicators.n_features,
        indicators.length,
        indicators.oi,
        indicators.c0,
        indicators.rms,
    )
