"""Compare the targets of conjunct with the measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._measure import report
from benchmarks.quality.summary import average, more_than_columns, worse, worse_by_chance

RECOVERED = 0.9
N_ROWS = (250, 500, 1000, 2000)
"""Of the sets that are measured with more and more rows."""


def check(run: dict[str, Any]) -> int:
    missed = 0
    bits = average(run, "evidence", "bits")
    for other in ("columns", "bits", "uFCα", "uFC*"):
        what = f"bits of unseen rows, mean share, beside {other}"
        missed += report(what, bits or 0, average(run, other, "bits") or 0, at_least=False, unit="")
    for by, classifier in (("evidence", "Naive Bayes"), ("columns", "ChunkClassifier")):
        above = errors_above(run, by, f"{classifier}, accuracy")
        name = min(above, key=lambda name: above[name])
        what = f"{classifier} of {by} beside Naive Bayes of columns, least ({name})"
        missed += report(what, above[name], -1, at_least=True, unit="SE")
    more = more_than_columns(run, "columns", "ChunkClassifier, accuracy")
    what = "ChunkClassifier: sets worse by more than a standard error, beside chance"
    by_chance = worse_by_chance(more)
    missed += report(what, len(worse(more)), by_chance, at_least=False, unit="sets")
    more = more_than_columns(run, "evidence + columns", "logistic, accuracy")
    gain = 100 * float(np.mean([difference for difference, _ in more.values()]))
    what = "logistic regression, evidence + columns − columns, mean"
    missed += report(what, gain, 0, at_least=True, unit="points")
    most = {name: cells for name, cells in run["rows"].items() if name.endswith(f", {N_ROWS[-1]}")}
    for by, measure in (("evidence", "Naive Bayes"), ("evidence + columns", "logistic")):
        gains = [cells[by][f"{measure}, accuracy"][2] for cells in most.values()]
        what = f"{measure}, {by} − columns, mean of {len(most)} sets of {N_ROWS[-1]:,} rows"
        missed += report(what, 100 * float(np.mean(gains)), 0, at_least=True, unit="points")
    for kind, methods in run["planted"].items():
        least = min(level["recall"] for level in methods["evidence"].values())
        what = f"planted patterns recovered, {kind}, up to 10% noise"
        missed += report(what, least, RECOVERED, at_least=True, unit="")
    return missed


def errors_above(run: dict[str, Any], by: str, measure: str) -> dict[str, float]:
    """Return for each set the difference from the columns in standard errors."""
    more = more_than_columns(run, by, measure)
    return {name: gain / error if error else 0.0 for name, (gain, error) in more.items()}
