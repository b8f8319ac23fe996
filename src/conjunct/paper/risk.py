"""Figures 9 and 10, tables 4 and 5: the risk-based heuristic beside the closest point."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

from conjunct.estimators import UFC, UFCPath
from conjunct.paper.indicators import star
from conjunct.paper.outcome import Outcome
from conjunct.paper.published import beside_risk
from conjunct.paper.study import ALPHA, ALPHAS, Study
from conjunct.plots import plot_front
from conjunct.ufc import Indicators, Solution


def risk_based(study: Study) -> Outcome:
    """Figure 9: the runs for the paper's ten α beside the closest point and the front."""
    runs = {alpha: study.risk_based(alpha) for alpha in ALPHAS}
    rows = [_risk_row(alpha, run, pruned=False) for alpha, run in runs.items()]
    distances = [row["distance"] for row in rows]
    text = (
        f"The ten α of the paper. The closest point is at a distance of "
        f"{study.path.closest_point_.distance:.4f} from (0, 0); the runs are between "
        f"{min(distances):.4f} and {max(distances):.4f}."
    )
    return Outcome(
        "figure-9-risk-based",
        f"Risk-based runs and the closest point on {study.name}",
        text + study.coverage,
        rows,
        {"": lambda: _chart(study, study.path, runs, "")},
    )


def risk_and_pruning(study: Study) -> Outcome:
    """Figure 10: the same without (a) and with (b) pruning."""
    plain = {alpha: study.risk_based(alpha) for alpha in ALPHAS}
    pruned = {alpha: study.risk_based(alpha, prune=True) for alpha in ALPHAS}
    rows = [
        _risk_row(alpha, run, pruned=is_pruned)
        for is_pruned, runs in ((False, plain), (True, pruned))
        for alpha, run in runs.items()
    ]
    distances = {
        is_pruned: [row["distance"] for row in rows if row["pruned"] is is_pruned]
        for is_pruned in (False, True)
    }
    text = " ".join(
        f"{words} pruning the runs are between {min(found):.4f} and {max(found):.4f} from (0, 0), "
        f"the closest point of the path at {path.closest_point_.distance:.4f}."
        for words, found, path in (
            ("Without", distances[False], study.path),
            ("With", distances[True], study.pruned_path),
        )
    )
    return Outcome(
        "figure-10-risk-and-pruning",
        f"Risk-based runs without and with pruning on {study.name}",
        text + study.coverage,
        rows,
        {
            "-a": lambda: _chart(study, study.path, plain, ", not pruned"),
            "-b-pruned": lambda: _chart(study, study.pruned_path, pruned, ", pruned"),
        },
    )


def table_of_risk(study: Study) -> Outcome:
    """Table 4: primitives, the closest point and the risk-based run."""
    best, run = study.path.closest_point_, study.risk_based(ALPHA)
    common = _common(study)
    found = run.history_[-1]
    rows = [
        _line(study, "primitives", study.primitives),
        _line(study, star(best), best, best.threshold, best.iterations, common),
        _line(study, f"uFCα({ALPHA:g})", found, run.threshold_, run.n_iter_, common),
    ]
    text = (
        f"Of the {best.n_features} features of the closest point and the {found.n_features} of the "
        f"risk-based run, {common} are the same."
    )
    return Outcome(
        "table-4-closest-and-risk",
        f"Closest point and risk-based run on {study.name}",
        text + study.coverage,
        rows,
    )


def table_of_features(study: Study) -> Outcome:
    """Table 5: both feature sets side by side, with the common features marked."""
    best = study.path.closest_point_
    ours, theirs = study.path.solution(best).features_, study.risk_based(ALPHA).features_
    common = set(ours) & set(theirs)
    shared = [feature for feature in ours if feature in common]
    left = [*shared, *(feature for feature in ours if feature not in common)]
    right = [*shared, *(feature for feature in theirs if feature not in common)]
    rows = [
        {
            "primitives": name,
            star(best): None if one is None else str(one),
            f"uFCα({ALPHA:g})": None if other is None else str(other),
            "common": one is not None and one == other,
        }
        for name, one, other in zip_longest(study.names, left, right)
    ]
    text = f"{len(common)} features are common to both; they come first."
    title = f"Features of the closest point and of the risk-based run on {study.name}"
    return Outcome("table-5-features", title, text + study.coverage, rows)


def _common(study: Study) -> int:
    best = study.path.solution(study.path.closest_point_)
    return len(set(best.features_) & set(study.risk_based(ALPHA).features_))


def _line(
    study: Study,
    strategy: str,
    line: Indicators | Solution,
    threshold: float | None = None,
    iterations: int | None = None,
    common: int | None = None,
) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "threshold": threshold,
        "iterations": iterations,
        "features": line.n_features,
        "common": common,
        "length": line.length,
        "oi": line.oi,
        "c0": line.c0,
        **beside_risk(study.name, strategy),
    }


def _risk_row(alpha: float, run: UFC, *, pruned: bool) -> dict[str, Any]:
    found = run.history_[-1]
    return {
        "alpha": alpha,
        "pruned": pruned,
        "threshold": run.threshold_,
        "iterations": run.n_iter_,
        "features": found.n_features,
        "length": found.length,
        "oi": found.oi,
        "c0": found.c0,
        "distance": math.hypot(found.oi, found.c0),
    }


def _chart(study: Study, path: UFCPath, runs: dict[float, UFC], how: str) -> Any:
    return plot_front(
        path.solutions_,
        path.front_,
        path.closest_point_,
        title=f"Risk-based runs on {study.name}{how}",
        marked={"risk-based, ten α": [run.history_[-1] for run in runs.values()]},
        magnified=True,
    )
