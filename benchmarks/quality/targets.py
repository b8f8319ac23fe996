"""What conjunct promises, held against what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._measure import report
from benchmarks.quality.summary import average, more_than_columns

RECOVERED = 0.9


def check(run: dict[str, Any]) -> int:
    missed = 0
    bits = average(run, "bits", "bits")
    for other in ("columns", "uFCα", "uFC*"):
        what = f"bits of unseen rows, mean share, beside {other}"
        missed += report(what, bits or 0, average(run, other, "bits") or 0, at_least=False, unit="")
    worst = errors_below(run, "bits", "Naive Bayes, accuracy")
    name = min(worst, key=lambda name: worst[name])
    what = f"Naive Bayes, bits − columns, least ({name})"
    missed += report(what, worst[name], -1, at_least=True, unit="SE")
    more = more_than_columns(run, "bits + columns", "logistic, accuracy")
    gain = 100 * float(np.mean([difference for difference, _ in more.values()]))
    what = "logistic regression, bits + columns − columns, mean"
    missed += report(what, gain, 0, at_least=True, unit="points")
    for kind, methods in run["planted"].items():
        least = min(level["recall"] for level in methods["bits"].values())
        what = f"planted patterns recovered, {kind}, up to 10% noise"
        missed += report(what, least, RECOVERED, at_least=True, unit="")
    return missed


def errors_below(run: dict[str, Any], by: str, measure: str) -> dict[str, float]:
    """For each set, how many standard errors above the columns."""
    return {
        name: difference / error
        if error
        else float(np.sign(difference)) * np.inf
        if difference
        else 0.0
        for name, (difference, error) in more_than_columns(run, by, measure).items()
    }
