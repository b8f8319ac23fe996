"""Every λ at once: the distinct solutions of uFC over a range of thresholds (§5.3)."""

from __future__ import annotations

import gc
import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from conjunct.counting import Store
from conjunct.errors import InputError
from conjunct.features import Lineage, closest_point, pareto_front
from conjunct.ufc.course import Evaluator
from conjunct.ufc.path.states import Range, State, batches, first_stage

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
        """Whether uFC(threshold, limit_iter) ends with this solution."""
        if self.iterations == limit_iter:
            return self.min_threshold <= threshold < self.max_threshold
        return self.iterations < limit_iter and self.settled_from <= threshold < self.max_threshold


@dataclass(frozen=True)
class Budget:
    """When to give up: ``None`` is never."""

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
        """The solution of uFC(threshold, limit_iter); ``None`` if the path does not cover it."""
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
    """All solutions of a range of λ. ``watch`` is called with each, for progress."""
    n_distinct_rows = store.count_distinct_rows()
    null_support = store.count_null_rows() if null_feature else None
    deadline = math.inf if budget.seconds is None else time.monotonic() + budget.seconds
    most = math.inf if budget.solutions is None else budget.solutions
    found: list[Solution] = []
    complete, covered_from = True, covered.lowest
    with _without_garbage_collection():
        evaluate = Evaluator(Lineage(names), store.n_rows, n_distinct_rows, null_support)
        for solution in _by_falling_threshold(store, evaluate, covered):
            if solution.iterations and not evaluate.has_complexity:
                raise InputError(_no_complexity(n_distinct_rows, len(names)))
            if found and (len(found) >= most or time.monotonic() > deadline):
                complete, covered_from = False, solution.max_threshold
                break
            found.append(solution)
            watch(solution)
        del evaluate  # and with it the features, before garbage is looked for again
    found.sort(key=lambda solution: (solution.min_threshold, solution.iterations))
    return Path(tuple(found), covered_from, complete, n_distinct_rows)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """A path makes many objects and no cycles: looking for some takes a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def readable_threshold(low: float, high: float) -> float:
    """A λ in [low, high) that is easy to read and to type.

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


def _no_complexity(n_distinct_rows: int, n_columns: int) -> str:
    return (
        f"a path weighs OI against C0, and C0 has no meaning here: it needs more distinct rows "
        f"than columns, and there are {n_distinct_rows} distinct rows for {n_columns} "
        f"columns. Choose one threshold and number of iterations instead"
    )


def _by_falling_threshold(store: Store, evaluate: Evaluator, covered: Range) -> Iterator[Solution]:
    """The solutions from the highest λ down, each before those that follow from it."""
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
