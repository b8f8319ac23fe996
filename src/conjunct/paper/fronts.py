"""Table 3, figures 6 to 8 and 11, §5.4: what every λ and limit_iter give."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from conjunct.estimators import UFC, UFringe
from conjunct.paper.study import (
    INDICATORS,
    KENDALL_P_VALUE,
    OTHER_RUN,
    Outcome,
    Study,
    indicators_of,
    paper_values,
)
from conjunct.plots import plot_curves, plot_front, plot_fronts
from conjunct.ufc import Solution


def table_of_indicators(study: Study) -> Outcome:
    """Make table 3: indicators of the primitives, uFC*, another uFC and uFRINGE."""
    best = study.path.closest_point_
    threshold, limit_iter = OTHER_RUN
    other = study.fit(UFC(threshold, max_iter=limit_iter))
    fringe = study.fit(UFringe())
    rows = [
        {
            "strategy": strategy,
            **indicators_of(line),
            **paper_values(INDICATORS, study.name, strategy),
        }
        for strategy, line in (
            ("primitives", study.primitives),
            (star(best), best),
            (f"uFC({threshold:g}, {limit_iter})", other.history_[-1]),
            ("uFRINGE", fringe.history_[-1]),
        )
    ]
    text = (
        "uFC* is the closest point of the path, and uFC another run with fixed parameters. uFRINGE "
        "stops at 300 features; its tree parameters are not published, so leaves have at least 4 "
        "rows here."
    )
    return study.outcome("table-3-indicators", "Indicators", text, rows)


def star(best: Solution) -> str:
    """Return the paper's name for the closest point: uFC*(λ, limit_iter)."""
    return f"uFC*({best.threshold:g}, {best.iterations})"


THRESHOLDS = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5)
LIMITS = (1, 2, 3, 5, 10, 20)
GRID = tuple(round(0.002 * k, 3) for k in range(1, 251))  # §5.3


def by_iterations(study: Study) -> Outcome:
    """Make figure 6a: OI and C0 against limit_iter, for several λ."""
    rows = [
        {
            "threshold": threshold,
            "limit_iter": limit,
            "oi": found.oi,
            "c0": found.c0,
            "rms": found.rms,
        }
        for threshold in THRESHOLDS
        for limit, found in _along_iterations(study, threshold)
    ]
    text = (
        "The overlap falls fast and levels off, while the complexity rises. A smaller λ gives "
        "less overlap and more features."
    )
    charts = {
        "-oi": _curves(study, rows, "limit_iter", "threshold", "OI"),
        "-c0": _curves(study, rows, "limit_iter", "threshold", "C0"),
    }
    title = "OI and C0 by number of iterations"
    return study.outcome("figure-6a-by-iterations", title, text, rows, charts)


def by_threshold(study: Study) -> Outcome:
    """Make figure 6b: OI and C0 against λ, for several limit_iter."""
    rows = [
        {"limit_iter": limit, "threshold": threshold, "oi": found.oi, "c0": found.c0}
        for limit in LIMITS
        for threshold in GRID
        if (found := _result_of(study, threshold, limit)) is not None
    ]
    text = "For the 250 λ of the paper. Nothing changes between two neighbouring values of r."
    charts = {
        "-oi": _curves(study, rows, "threshold", "limit_iter", "OI"),
        "-c0": _curves(study, rows, "threshold", "limit_iter", "C0"),
    }
    return study.outcome("figure-6b-by-threshold", "OI and C0 by λ", text, rows, charts)


def rms_by_iterations(study: Study) -> Outcome:
    """Make figure 8: RMS against limit_iter, from 0 on, for several λ."""
    rows = [
        {"threshold": threshold, "limit_iter": limit, "rms": found.rms}
        for threshold in THRESHOLDS
        for limit, found in _along_iterations(study, threshold)
    ]
    text = "RMS falls for a few iterations and then rises, which is where the RMS stop ends a run."
    charts = {"": _curves(study, rows, "limit_iter", "threshold", "RMS")}
    title = "RMS by number of iterations"
    return study.outcome("figure-8-rms-by-iterations", title, text, rows, charts)


def dependence(study: Study) -> Outcome:
    """Make §5.4: Kendall's test between C0 and C1 over limit_iter, for each λ."""
    from scipy.stats import kendalltau

    rows: list[dict[str, Any]] = []
    for threshold in GRID:
        line = [_result_of(study, threshold, limit) for limit in range(1, study.path.max_iter + 1)]
        found = [solution for solution in line if solution is not None]
        if len(found) < len(line):
            continue
        c0, c1 = [s.c0 for s in found], [s.length for s in found]
        varies = len(set(c0)) > 1 and len(set(c1)) > 1
        tau, p = kendalltau(c0, c1) if varies else (math.nan, math.nan)
        rows.append(
            {
                "threshold": threshold,
                "distinct_values": len(set(c0)),
                "tau": float(tau),
                "p_value": float(p),
                "published_p_value": KENDALL_P_VALUE,
            }
        )
    tested = [row for row in rows if row["tau"] == row["tau"]]
    untested = len(rows) - len(tested)
    text = (f"At {untested} λ nothing changes, so nothing can be tested. " if untested else "") + (
        f"The largest p-value is {max(row['p_value'] for row in tested):.2g}, "
        f"{sum(row['p_value'] < 1e-8 for row in tested)} of {len(tested)} are below 1e-8; the "
        f"smallest τ is {min(row['tau'] for row in tested):.2f}. The paper prints p-values of the "
        f"order of 1e-9."
        if tested
        else ""
    )
    return study.outcome("section-5.4-kendall", "Dependence of C0 and C1", text, rows)


def _along_iterations(study: Study, threshold: float) -> Iterator[tuple[int, Any]]:
    """Yield what each limit_iter gives at one λ, the primitives first."""
    yield 0, study.primitives
    for limit in range(1, study.path.max_iter + 1):
        found = _result_of(study, threshold, limit)
        if found is not None:
            yield limit, found


def _result_of(study: Study, threshold: float, limit: int) -> Solution | None:
    path = study.path
    covered = path.complete_ or threshold >= path.covered_from_
    return path.result_of(threshold, limit) if covered else None


def _curves(
    study: Study, rows: list[dict[str, Any]], x: str, series: str, name: str
) -> Callable[[], Any]:
    """Return what draws an indicator against x, with a curve for each value of ``series``."""
    words = {"threshold": "threshold λ", "limit_iter": "limit_iter"}
    y, by_threshold = name.lower(), x == "threshold"

    def draw() -> Any:
        return plot_curves(
            [{x: row[x], y: row[y], "series": f"{row[series]:g}"} for row in rows],
            x,
            y,
            title=f"{name} by {'λ' if by_threshold else x} on {study.name}",
            x_title=words[x],
            y_title=name,
            legend=words[series],
            steps=by_threshold,
            points=not by_threshold,
        )

    return draw


def solutions(study: Study) -> Outcome:
    """Make figure 7: all solutions, their front and the closest point; whole and magnified."""
    path = study.path
    best = path.closest_point_
    columns = path.get_solutions("dict")
    text = (
        f"{len(path.solutions_)} distinct solutions, {len(path.front_)} of them on the front. The "
        f"closest point is {star(best)}, at a distance of "
        f"{best.distance:.4f} from (0, 0)."
    )
    draw = partial(plot_front, path.solutions_, path.front_, best)
    return study.outcome(
        "figure-7-solutions",
        "Solutions, Pareto front and closest point",
        text,
        [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        _both_views(draw, f"Solutions on {study.name}"),
    )


def pruning_fronts(study: Study) -> Outcome:
    """Make figure 11: the front with and without pruning; whole and magnified."""
    fronts = {"not pruned": study.path.front_, "pruned": study.path_with_pruning.front_}
    rows = [
        {
            "front": name,
            "threshold": solution.threshold,
            "iterations": solution.iterations,
            **indicators_of(solution),
            "distance": solution.distance,
        }
        for name, front in fronts.items()
        for solution in front
    ]
    worse = points_beyond(fronts["not pruned"], fronts["pruned"])
    reach = max(solution.c0 for solution in fronts["pruned"])
    text = f"The pruned front ends at C0 = {reach:.3f}. " + (
        f"It dominates or equals the other one, except at {len(worse)} of the "
        f"{sum(s.c0 <= reach for s in fronts['not pruned'])} points that the other one has up to "
        f"there: C0 = {', '.join(f'{s.c0:.3f}' for s in worse)}."
        if worse
        else "Up to there it dominates or equals the other one everywhere."
    )
    draw = partial(plot_fronts, fronts)
    return study.outcome(
        "figure-11-pruned-fronts",
        "Pareto fronts with and without pruning",
        text,
        rows,
        _both_views(draw, f"Pruned and unpruned fronts on {study.name}"),
    )


def _both_views(draw: Callable[..., Any], title: str) -> dict[str, Callable[[], Any]]:
    return {
        "-a": partial(draw, title=title),
        "-b-magnified": partial(draw, title=f"{title}, magnified", magnified=True),
    }


def points_beyond(front: Sequence[Solution], other: Sequence[Solution]) -> list[Solution]:
    """Return points of a front that no point of ``other`` equals or beats, within its reach."""
    reach = max(solution.c0 for solution in other)
    return [
        point
        for point in front
        if point.c0 <= reach and not any(s.oi <= point.oi and s.c0 <= point.c0 for s in other)
    ]
