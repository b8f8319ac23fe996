"""Every table and figure, written to a folder with an index page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conjunct.errors import InputError
from conjunct.files import write_atomically
from conjunct.paper.beyond import beyond_the_front
from conjunct.paper.fronts import pruned_fronts, solutions
from conjunct.paper.index import index_page
from conjunct.paper.indicators import table_of_indicators
from conjunct.paper.noise import bootstrap_stability, noise_stability
from conjunct.paper.outcome import Outcome
from conjunct.paper.parameters import (
    by_iterations,
    by_threshold,
    dependence,
    rms_by_iterations,
)
from conjunct.paper.risk import (
    risk_and_pruning,
    risk_based,
    table_of_features,
    table_of_risk,
)
from conjunct.paper.study import Study
from conjunct.plots import save_chart

EXPERIMENTS: tuple[Callable[[Study], Outcome], ...] = (
    table_of_indicators,
    by_iterations,
    by_threshold,
    solutions,
    dependence,
    rms_by_iterations,
    risk_based,
    table_of_risk,
    table_of_features,
    risk_and_pruning,
    pruned_fronts,
    noise_stability,
    bootstrap_stability,
)

# how many solutions to follow: without pruning, coco_val2017 has no end of them
BEYOND = {"spect": None, "zoo": None, "coco_street": None, "coco_val2017": 1000}
# bounds what an unknown table may cost
MAX_SOLUTIONS = 20_000


def outcomes(study: Study | None = None) -> Iterator[Outcome]:
    """The paper's experiments on a data set, and what goes past them.

    ``None``: on ``spect``, with the comparison past the paper on four bundled data sets.
    """
    own = Study.of_bundled("spect") if study is None else study
    for experiment in EXPERIMENTS:
        yield experiment(own)
    if study is not None:
        yield beyond_the_front([own])
        return
    others = [Study.of_bundled(name, most) for name, most in BEYOND.items() if name != own.name]
    yield beyond_the_front([own, *others])


def reproduce(
    out: str | os.PathLike[str],
    X: Any = None,
    *,
    name: str = "data",
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Write each table and figure as CSV, SVG and PNG, and ``index.html`` that shows them.

    Parameters
    ----------
    out : path
        Folder to write to; made if need be.
    X : any container that estimators take, optional
        By default ``spect``, the one data set of the paper that is still available.
    name : str, default="data"
        What to call ``X`` in titles.
    watch : callable, optional
        Called with each outcome as it is written.
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} is a file: name a folder for the results") from None
    written = []
    study = None if X is None else Study.of(X, name, MAX_SOLUTIONS)
    for outcome in outcomes(study):
        _write(folder, outcome)
        written.append(outcome)
        watch(outcome)
    page = index_page(written, "spect" if study is None else name)
    write_atomically(folder / "index.html", lambda part: part.write_text(page, "utf-8"))
    return written


def _write(folder: Path, outcome: Outcome) -> None:
    text = outcome.csv()
    write_atomically(folder / f"{outcome.name}.csv", lambda part: part.write_text(text, "utf-8"))
    for ending, chart in outcome.charts.items():
        name = f"{outcome.name}{ending}"
        save_chart(chart(), folder / f"{name}.svg", folder / f"{name}.png")
