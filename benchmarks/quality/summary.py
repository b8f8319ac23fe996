"""Summarise numbers per split as means, standard errors and differences from the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.quality.sets import N_FOLDS, N_ROUNDS

Numbers = dict[str, list[float]]
Figures = dict[str, list[float]]
"""By measure: mean, standard error; then those of what it is more than with the columns."""

SUMMED_UP = ("recall", "precision", "first", "found", "cut off")


def summarised(part: str, found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Index cells by set and representation, or planted cells by kind and method."""
    if part == "planted":
        return {
            kind: {by: _by_noise(lines) for by, lines in methods.items() if lines is not None}
            for kind, methods in found.items()
        }
    here = {
        on: {by: what for by, what in cells.items() if what is not None}
        for on, cells in found.items()
    }
    return {
        on: {by: figures_of(what, cells["columns"]["numbers"]) for by, what in cells.items()}
        for on, cells in here.items()
        if cells
    }


def figures_of(what: dict[str, Any], bare: Numbers) -> Figures:
    """Return the measures of one cell. Bits are a share of the bits by the columns."""
    numbers: Numbers = dict(what["numbers"])
    for measure in ("bits", "bits, variables known"):
        if measure in numbers:
            pairs = zip(numbers[measure], bare["bits"], strict=False)
            numbers[measure] = [bits / needed for bits, needed in pairs]
    found = {"cut off": [float(what["cut off"])]}
    for measure, values in numbers.items():
        if values:
            found[measure] = mean_and_error(values)
            # what finds its features itself is held against Naive Bayes
            beside = measure.replace("ChunkClassifier", "Naive Bayes")
            if beside in bare and not measure.startswith(("bits", "stability")):
                more = [x - y for x, y in zip(values, bare[beside], strict=False)]
                found[measure] += mean_and_error(more)
    return found


def mean_and_error(values: list[float]) -> list[float]:
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return [round(float(np.mean(values)), 5), round(float(error), 5)]


def _by_noise(lines: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    levels = sorted({line["noise"] for line in lines})
    return {
        f"{noise:g}": {
            what: round(float(np.mean([line[what] for line in lines if line["noise"] == noise])), 4)
            for what in SUMMED_UP
        }
        for noise in levels
    }


def average(run: dict[str, Any], by: str, measure: str) -> float | None:
    """Return the mean over the sets on which the representation has the measure."""
    found = [
        cells[by][measure][0] for cells in run["sets"].values() if measure in cells.get(by, ())
    ]
    return float(np.mean(found)) if found else None


def more_than_columns(run: dict[str, Any], by: str, measure: str) -> dict[str, tuple[float, float]]:
    """Return for each set the difference of a measure from the columns, and its standard error."""
    return {
        name: (cells[by][measure][2], cells[by][measure][3])
        for name, cells in run["sets"].items()
        if measure in cells.get(by, ())
    }


def worse(more: dict[str, tuple[float, float]]) -> list[str]:
    """Return the sets on which it is less by more than a standard error."""
    return [name for name, (gain, error) in more.items() if gain < -error]


def worse_by_chance(more: dict[str, tuple[float, float]]) -> float:
    """Return the number of losses expected for equally good methods: Student's t below -1.

    Sets on which every split gives the same result do not count.
    """
    n_differ = sum(error > 0 for _, error in more.values())
    return n_differ * float(student.cdf(-1, N_FOLDS * N_ROUNDS - 1))
