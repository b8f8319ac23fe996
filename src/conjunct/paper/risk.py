"""Figures 9 and 10, tables 4 and 5: the risk-based heuristic; and one pair at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
    return Outcome(
        "figure-9-risk-based",
        f"Risk-based runs and the closest point on {study.name}",
        text + study.coverage,
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
    text = " ".join(texts)
    return Outcome(
        "figure-10-risk-and-pruning",
        f"Risk-based runs without and with pruning on {study.name}",
        text + study.coverage,
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
    title = f"Features of the closest point and of the risk-based run on {study.name}"
    return Outcome("table-5-features", title, text + study.coverage, rows)


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
        **paper_values(RISK_BASED, study.name, strategy),
    }


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
    comparisons = [_Comparison(study) for study in studies]
    return Outcome(
        "beyond-the-front",
        "One pair at a time, and the front of the path",
        " ".join(one.describe() for one in comparisons),
        [row for one in comparisons for row in one.rows()],
        # the name of a user's data set may be no file name
        {f"-{one.study.name}" if comparisons[1:] else "": one.chart for one in comparisons},
    )


@dataclass(frozen=True, eq=False)
class _Comparison:
    study: Study

    @cached_property
    def ways(self) -> dict[str, tuple[int, tuple[Indicators, ...]]]:
        """For each run, where the RMS stop ends it, and its history half as far again."""
        found = {}
        for name, options in RUNS.items():
            pairwise = {**options, "search": "pairwise", "prune": True}
            stop = self.study.fit_risk(**pairwise).n_iter_
            on = self.study.fit_risk(**pairwise, max_iter=stop * 3 // 2 + 1)
            found[name] = (stop, on.history_)
        return found

    def rows(self) -> list[dict[str, Any]]:
        study = self.study
        best, pruned = study.path.closest_point_, study.path_with_pruning.closest_point_
        lines: dict[str, Indicators | Solution] = {
            "primitives": study.primitives,
            f"best of all λ: {star(best)}": best,
            f"best of all λ, pruned: {star(pruned)}": pruned,
            **{name: way[stop] for name, (stop, way) in self.ways.items()},
        }
        return [_row(study, name, line) for name, line in lines.items()]

    def chart(self) -> Any:
        return plot_trajectories(
            self.study.path.front_,
            {name: way for name, (_, way) in self.ways.items()},
            {name: way[stop] for name, (stop, way) in self.ways.items()},
            title=f"One pair at a time on {self.study.name}",
        )

    def describe(self) -> str:
        """Return in a sentence which runs are better than the best that the path offers."""
        study = self.study
        paths = (study.path.closest_point_, study.path_with_pruning.closest_point_)
        best = min(paths, key=lambda solution: solution.distance)
        words = []
        for name, (stop, way) in self.ways.items():
            end = way[stop]
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


def _row(study: Study, solution: str, line: Indicators | Solution) -> dict[str, Any]:
    return {
        "data": study.name,
        "solution": solution,
        **indicators_of(line),
        "distance": math.hypot(line.oi, line.c0),
        "path_covered_from": max(study.path.covered_from_, study.path_with_pruning.covered_from_),
    }
