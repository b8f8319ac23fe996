"""Figures 9 and 10, tables 4 and 5: the risk-based heuristic; and one pair at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from conjunct.estimators import UFC, UFCPath
from conjunct.paper.fronts import star
from conjunct.paper.study import (
    ALPHA,
    ALPHAS,
    RISK_BASED,
    Outcome,
    Study,
    indicators_of,
    paper_values,
)
from conjunct.plots import plot_front, plot_trajectories
from conjunct.ufc import Indicators, Solution


def risk_runs(study: Study) -> Outcome:
    """Make figure 9: the runs for the paper's ten α beside the closest point and the front."""
    runs = {alpha: study.fit_risk(alpha) for alpha in ALPHAS}
    rows = [_risk_row(alpha, run, pruned=False) for alpha, run in runs.items()]
    distances = [row["distance"] for row in rows]
    text = (
        f"The ten α of the paper. The closest point is at a distance of "
        f"{study.path.closest_point_.distance:.4f} from (0, 0); the runs are between "
        f"{min(distances):.4f} and {max(distances):.4f}."
    )
    return study.outcome(
        "figure-9-risk-based",
        "Risk-based runs and the closest point",
        text,
        rows,
        {"": lambda: _draw_runs(study, study.path, runs, "")},
    )


def risk_and_pruning(study: Study) -> Outcome:
    """Make figure 10: the same without (a) and with (b) pruning."""
    plain = {alpha: study.fit_risk(alpha) for alpha in ALPHAS}
    pruned = {alpha: study.fit_risk(alpha, prune=True) for alpha in ALPHAS}
    rows, texts = [], []
    for words, runs, path in (
        ("Without", plain, study.path),
        ("With", pruned, study.path_with_pruning),
    ):
        some = [_risk_row(alpha, run, pruned=words == "With") for alpha, run in runs.items()]
        distances = [row["distance"] for row in some]
        rows += some
        texts.append(
            f"{words} pruning the runs are between {min(distances):.4f} and {max(distances):.4f} "
            f"from (0, 0), the closest point of the path at {path.closest_point_.distance:.4f}."
        )
    return study.outcome(
        "figure-10-risk-and-pruning",
        "Risk-based runs without and with pruning",
        " ".join(texts),
        rows,
        {
            "-a": lambda: _draw_runs(study, study.path, plain, ", not pruned"),
            "-b-pruned": lambda: _draw_runs(study, study.path_with_pruning, pruned, ", pruned"),
        },
    )


def table_of_risk(study: Study) -> Outcome:
    """Make table 4: primitives, the closest point and the risk-based run."""
    best, run = study.path.closest_point_, study.fit_risk(ALPHA)
    common = len(set(study.path.solution(best).features_) & set(run.features_))
    found = run.history_[-1]
    lines: dict[str, tuple[Any, ...]] = {
        "primitives": (study.primitives, None, None, None),
        star(best): (best, best.threshold, best.iterations, common),
        f"uFCα({ALPHA:g})": (found, run.threshold_, run.n_iter_, common),
    }
    rows = [
        {
            "strategy": strategy,
            "threshold": threshold,
            "iterations": iterations,
            "features": line.n_features,
            "common": n_common,
            "length": line.length,
            "oi": line.oi,
            "c0": line.c0,
            **paper_values(RISK_BASED, study.name, strategy),
        }
        for strategy, (line, threshold, iterations, n_common) in lines.items()
    ]
    text = (
        f"Of the {best.n_features} features of the closest point and the {found.n_features} of the "
        f"risk-based run, {common} are the same."
    )
    title = "Closest point and risk-based run"
    return study.outcome("table-4-closest-and-risk", title, text, rows)


def table_of_features(study: Study) -> Outcome:
    """Make table 5: both feature sets side by side, with the common features marked."""
    best = study.path.closest_point_
    ours, theirs = study.path.solution(best).features_, study.fit_risk(ALPHA).features_
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
    title = "Features of the closest point and of the risk-based run"
    return study.outcome("table-5-features", title, text, rows)


def _risk_row(alpha: float, run: UFC, *, pruned: bool) -> dict[str, Any]:
    found = run.history_[-1]
    return {
        "alpha": alpha,
        "pruned": pruned,
        "threshold": run.threshold_,
        "iterations": run.n_iter_,
        **indicators_of(found),
        "distance": math.hypot(found.oi, found.c0),
    }


def _draw_runs(study: Study, path: UFCPath, runs: dict[float, UFC], how: str) -> Any:
    return plot_front(
        path.solutions_,
        path.front_,
        path.closest_point_,
        title=f"Risk-based runs on {study.name}{how}",
        marked={"risk-based, ten α": [run.history_[-1] for run in runs.values()]},
        magnified=True,
    )


# name → options of UFC; all with pruning and the RMS stop
RUNS: dict[str, dict[str, Any]] = {
    "pairwise, α = 0.001": {"alpha": 0.001},
    "pairwise, α = 0.05": {"alpha": 0.05},
    "pairwise, α = 0.001, at most 4 literals": {"alpha": 0.001, "max_length": 4},
}


def beyond_the_front(studies: Sequence[Study]) -> Outcome:
    """Compare where ``search="pairwise"`` stops with the best that any λ of the paper gives."""
    rows: list[dict[str, Any]] = []
    texts, charts = [], {}
    for study in studies:
        best, pruned = study.path.closest_point_, study.path_with_pruning.closest_point_
        ways: dict[str, tuple[Indicators, ...]] = {}
        ends: dict[str, Indicators] = {}
        for name, options in RUNS.items():
            pairwise = {**options, "search": "pairwise", "prune": True}
            stop = study.fit_risk(**pairwise).n_iter_
            # half as far again as the RMS stop
            ways[name] = study.fit_risk(**pairwise, max_iter=stop * 3 // 2 + 1).history_
            ends[name] = ways[name][stop]
        lines: dict[str, Indicators | Solution] = {
            "primitives": study.primitives,
            f"best of all λ: {star(best)}": best,
            f"best of all λ, pruned: {star(pruned)}": pruned,
            **ends,
        }
        covered_from = max(study.path.covered_from_, study.path_with_pruning.covered_from_)
        rows += [
            {
                "data": study.name,
                "solution": name,
                **indicators_of(line),
                "distance": math.hypot(line.oi, line.c0),
                "path_covered_from": covered_from,
            }
            for name, line in lines.items()
        ]
        texts.append(_compare_ends(study, min((best, pruned), key=lambda x: x.distance), ends))
        # the name of a user's data set may be no file name
        charts[f"-{study.name}" if studies[1:] else ""] = partial(
            plot_trajectories,
            study.path.front_,
            ways,
            ends,
            title=f"One pair at a time on {study.name}",
        )
    title = "One pair at a time, and the front of the path"
    return Outcome("beyond-the-front", title, " ".join(texts), rows, charts)


def _compare_ends(study: Study, best: Solution, ends: Mapping[str, Indicators]) -> str:
    """Return in a sentence which runs are better than the best that the path offers."""
    words = []
    for name, end in ends.items():
        distance = math.hypot(end.oi, end.c0)
        verdict = "better" if distance < best.distance else "worse"
        words.append(
            f"{name}: {verdict}, {distance:.4f} with {end.n_features} features of "
            f"{end.length:.2f} literals"
        )
    return (
        f"On {study.name} the path comes within {best.distance:.4f} of (0, 0), with "
        f"{best.n_features} features of {best.length:.2f} literals; {'; '.join(words)}."
        f"{study.coverage}"
    )
