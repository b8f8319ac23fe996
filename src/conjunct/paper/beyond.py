"""Past the paper: one pair at a time, in the same plane as the path's front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conjunct.paper.indicators import star
from conjunct.paper.outcome import Outcome
from conjunct.paper.study import Study
from conjunct.plots import plot_trajectories
from conjunct.ufc import Indicators, Solution

# name → options of UFC; all with pruning and the RMS stop
RUNS: dict[str, dict[str, Any]] = {
    "pairwise, α = 0.001": {"alpha": 0.001},
    "pairwise, α = 0.05": {"alpha": 0.05},
    "pairwise, α = 0.001, at most 4 literals": {"alpha": 0.001, "max_length": 4},
}


def beyond_the_front(studies: Sequence[Study]) -> Outcome:
    """Where ``search="pairwise"`` stops, and the best that any λ of the paper's search gives."""
    compared = [_Comparison(study) for study in studies]
    return Outcome(
        "beyond-the-front",
        "One pair at a time, and the front of the path",
        " ".join(one.verdict() for one in compared),
        [row for one in compared for row in one.rows()],
        # the name of a data set of one's own may not do for a file
        {f"-{one.study.name}" if compared[1:] else "": one.chart for one in compared},
    )


@dataclass(frozen=True, eq=False)
class _Comparison:
    study: Study

    @cached_property
    def ways(self) -> dict[str, tuple[int, tuple[Indicators, ...]]]:
        """For each run, where the RMS stop ends it, and the way there and half as far again."""
        found = {}
        for name, options in RUNS.items():
            pairwise = {**options, "search": "pairwise", "prune": True}
            stop = self.study.risk_based(**pairwise).n_iter_
            on = self.study.risk_based(**pairwise, max_iter=stop * 3 // 2 + 1)
            found[name] = (stop, on.history_)
        return found

    def rows(self) -> list[dict[str, Any]]:
        study = self.study
        best, pruned = study.path.closest_point_, study.pruned_path.closest_point_
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

    def verdict(self) -> str:
        """Better or worse than the best that the path offers, in plain words."""
        study = self.study
        paths = (study.path.closest_point_, study.pruned_path.closest_point_)
        best = min(paths, key=lambda solution: solution.distance)
        words = []
        for name, (stop, way) in self.ways.items():
            end = way[stop]
            distance = math.hypot(end.oi, end.c0)
            judged = "better" if distance < best.distance else "worse"
            words.append(
                f"{name}: {judged}, {distance:.4f} with {end.n_features} features of "
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
        "features": line.n_features,
        "length": line.length,
        "oi": line.oi,
        "c0": line.c0,
        "distance": math.hypot(line.oi, line.c0),
        "path_covered_from": max(study.path.covered_from_, study.pruned_path.covered_from_),
    }
