"""Past the paper: one pair at a time, in the same plane as the path's front."""

from __future__ import annotations

import math
from typing import Any

from conjunct.construction.path import Solution
from conjunct.construction.stopping import Indicators
from conjunct.experiments.indicators import star
from conjunct.experiments.outcome import Outcome
from conjunct.experiments.study import Study
from conjunct.plots import plot_trajectories

SHORT = 4
ALPHA = 0.001  # the default of UFC
_NAMES = {None: "one pair at a time", SHORT: f"one pair at a time, {SHORT} literals at most"}


def beyond_the_front(studies: list[Study]) -> Outcome:
    """Where ``search="pairwise"`` stops, and the best that any λ of the paper's search gives."""
    rows = [row for study in studies for row in _rows(study)]
    charts = {f"-{study.name}": lambda study=study: _chart(study) for study in studies}
    text = " ".join(_verdict(study) for study in studies)
    title = "One pair at a time, and the front of the path"
    return Outcome("beyond-the-front", title, text, rows, charts)


def _rows(study: Study) -> list[dict[str, Any]]:
    best, pruned = study.path.closest_point_, study.pruned_path.closest_point_
    rows = [
        _row(study, "primitives", study.primitives),
        _row(study, f"{star(best)}, best of all λ", best),
        _row(study, f"{star(pruned)}, best of all λ, pruned", pruned),
    ]
    for max_length, name in _NAMES.items():
        stop, _ = _trajectory(study, max_length)
        rows.append(_row(study, name, stop))
    return rows


def _row(study: Study, solution: str, line: Indicators | Solution) -> dict[str, Any]:
    return {
        "data": study.name,
        "solution": solution,
        "features": line.n_features,
        "length": line.length,
        "oi": line.oi,
        "c0": line.c0,
        "distance": math.hypot(line.oi, line.c0),
        "covered_from": max(study.path.covered_from_, study.pruned_path.covered_from_),
    }


def _trajectory(study: Study, max_length: int | None) -> tuple[Indicators, tuple[Indicators, ...]]:
    """Where the RMS stop ends, and the way there and on for half as many pairs again."""
    options = {"search": "pairwise", "prune": True, "max_length": max_length}
    kept = study.risk_based(ALPHA, **options)
    on = study.risk_based(ALPHA, **options, max_iter=kept.n_iter_ * 3 // 2 + 1)
    return kept.history_[-1], on.history_


def _chart(study: Study) -> Any:
    ways, stops = {}, {}
    for max_length, name in _NAMES.items():
        stops[name], ways[name] = _trajectory(study, max_length)
    return plot_trajectories(
        study.path.front_, ways, stops, title=f"One pair at a time on {study.name}"
    )


def _verdict(study: Study) -> str:
    best = min(
        (study.path.closest_point_, study.pruned_path.closest_point_), key=lambda s: s.distance
    )
    stop, _ = _trajectory(study, None)
    distance = math.hypot(stop.oi, stop.c0)
    nearer = "nearer" if distance < best.distance else "farther"
    longer = "longer" if stop.length > best.length else "shorter"
    more = "more" if stop.n_features > best.n_features else "not more"
    return (
        f"On {study.name} one pair at a time ends {nearer} to (0, 0), at {distance:.4f} instead of "
        f"{best.distance:.4f}, with {longer} features ({stop.length:.2f} literals instead of "
        f"{best.length:.2f}) and {more} of them ({stop.n_features}, {best.n_features})."
        f"{study.coverage}"
    )
