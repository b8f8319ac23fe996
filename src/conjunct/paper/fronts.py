"""Figures 7 and 11: the distribution of solutions, their front, and what pruning does to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conjunct.estimators import UFCPath
from conjunct.paper.outcome import Outcome
from conjunct.paper.study import Study
from conjunct.plots import plot_front, plot_fronts
from conjunct.ufc import Solution


def solutions(study: Study) -> Outcome:
    """Figure 7: all solutions, their front and the closest point; whole and magnified."""
    path = study.path
    best = path.closest_point_
    text = (
        f"{len(path.solutions_)} distinct solutions, {len(path.front_)} of them on the front. The "
        f"closest point is uFC*({best.threshold:g}, {best.iterations}), at a distance of "
        f"{best.distance:.4f} from (0, 0)."
    )

    def chart(magnified: bool) -> Any:
        title = f"Solutions on {study.name}" + (", magnified" if magnified else "")
        return plot_front(path.solutions_, path.front_, best, title=title, magnified=magnified)

    return Outcome(
        "figure-7-solutions",
        f"Solutions, Pareto front and closest point on {study.name}",
        text + study.coverage,
        _rows(path),
        {"-a": lambda: chart(False), "-b-magnified": lambda: chart(True)},
    )


def pruned_fronts(study: Study) -> Outcome:
    """Figure 11: the front with and without pruning; whole and magnified."""
    fronts = {"not pruned": study.path.front_, "pruned": study.pruned_path.front_}
    rows = [
        {"front": name, **_numbers(solution)}
        for name, front in fronts.items()
        for solution in front
    ]
    worse = not_covered_by(fronts["not pruned"], fronts["pruned"])
    reach = max(solution.c0 for solution in fronts["pruned"])
    text = f"The pruned front ends at C0 = {reach:.3f}. " + (
        f"It dominates or equals the other one, except at {len(worse)} of the "
        f"{sum(s.c0 <= reach for s in fronts['not pruned'])} points that the other one has up to "
        f"there: C0 = {', '.join(f'{s.c0:.3f}' for s in worse)}."
        if worse
        else "Up to there it dominates or equals the other one everywhere."
    )

    def chart(magnified: bool) -> Any:
        title = f"Pruned and unpruned fronts on {study.name}" + (", magnified" if magnified else "")
        return plot_fronts(fronts, title=title, magnified=magnified)

    return Outcome(
        "figure-11-pruned-fronts",
        f"Pareto fronts with and without pruning on {study.name}",
        text + study.coverage,
        rows,
        {"-a": lambda: chart(False), "-b-magnified": lambda: chart(True)},
    )


def not_covered_by(front: Sequence[Solution], other: Sequence[Solution]) -> list[Solution]:
    """The points of a front that no point of ``other`` equals or beats, where ``other`` reaches."""
    reach = max(solution.c0 for solution in other)
    return [
        point
        for point in front
        if point.c0 <= reach and not any(s.oi <= point.oi and s.c0 <= point.c0 for s in other)
    ]


def _rows(path: UFCPath) -> list[dict[str, Any]]:
    columns = path.get_solutions("dict")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _numbers(solution: Solution) -> dict[str, Any]:
    return {
        "threshold": solution.threshold,
        "iterations": solution.iterations,
        "features": solution.n_features,
        "length": solution.length,
        "oi": solution.oi,
        "c0": solution.c0,
        "distance": solution.distance,
    }
