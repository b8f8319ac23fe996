"""Table 3: indicators of the primitives, uFC*, another uFC and uFRINGE."""

from __future__ import annotations

from typing import Any

from conjunct.estimators import UFC, UFringe
from conjunct.paper.outcome import Outcome
from conjunct.paper.published import beside
from conjunct.paper.study import OTHER_RUN, Study
from conjunct.ufc import Indicators, Solution


def table_of_indicators(study: Study) -> Outcome:
    best = study.path.closest_point_
    threshold, limit_iter = OTHER_RUN
    other = study.fitted(UFC(threshold, max_iter=limit_iter))
    fringe = study.fitted(UFringe())
    rows = [
        _row(study, strategy, line)
        for strategy, line in (
            ("primitives", study.primitives),
            (star(best), best),
            (f"uFC({threshold:g}, {limit_iter})", other.history_[-1]),
            ("uFRINGE", fringe.history_[-1]),
        )
    ]
    text = (
        "uFC* is the closest point of the path, uFC another run with fixed parameters, uFRINGE "
        "ends at 300 features; its tree parameters are not published, and leaves of at least 4 "
        "rows are used here."
    )
    return Outcome("table-3-indicators", f"Indicators on {study.name}", text + study.coverage, rows)


def star(best: Solution) -> str:
    """The paper's name for the closest point: uFC*(λ, limit_iter)."""
    return f"uFC*({best.threshold:g}, {best.iterations})"


def _row(study: Study, strategy: str, line: Indicators | Solution) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "features": line.n_features,
        "length": line.length,
        "oi": line.oi,
        "c0": line.c0,
        **beside(study.name, strategy),
    }
