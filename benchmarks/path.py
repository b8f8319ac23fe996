"""Compare the exact path with the paper's grid of 250 λ × 20 limit_iter in plain NumPy.

The plain loop is the oracle of the tests: it constructs the same features. Each (λ, limit_iter) of
the grid is a separate run, as in the paper; the time of the grid is estimated from a sample of λ.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pandas as pd
from tests import naive_path

from benchmarks._measure import report
from conjunct import UFCPath, datasets

THRESHOLDS = [round(0.002 * k, 3) for k in range(1, 251)]
LIMITS = range(1, 21)
SAMPLED = THRESHOLDS[12::25]


def main() -> int:
    return sum(_compared(datasets.load(name)) for name in ("spect", "coco_street"))


def _compared(data: datasets.BooleanDataset) -> int:
    table = pd.DataFrame(data.values, columns=list(data.feature_names))

    def plain(threshold: float, limit: int) -> object:
        formulas = naive_path.Formulas()
        return naive_path.run(formulas, data.values, data.feature_names, threshold, limit)

    n_solutions = len(UFCPath().fit(table).solutions_)
    ours, separate, together = [], 0.0, 0.0
    for threshold in SAMPLED:
        separate += sum(_seconds(partial(plain, threshold, limit)) for limit in LIMITS)
        together += _seconds(partial(plain, threshold, LIMITS[-1]))
        # between the others, so that a busy neighbour slows both
        ours.append(_seconds(partial(UFCPath().fit, table)))
    scale = len(THRESHOLDS) / len(SAMPLED)
    path = sum(ours) / len(ours)
    print(
        f"{data.name}: UFCPath.fit {path:.2f} s for {n_solutions} solutions; the grid of "
        f"{len(THRESHOLDS)} × {len(LIMITS)} runs {separate * scale:.0f} s, or "
        f"{together * scale:.1f} s if each λ is run once for all limit_iter "
        f"({together * scale / path:.0f} ×)"
    )
    what = f"{data.name}: grid in plain NumPy / UFCPath.fit"
    return report(what, separate * scale / path, 300, at_least=True)


def _seconds(function: Callable[[], object]) -> float:
    """Return CPU time: both sides use one thread, and machines are shared."""
    start = time.process_time()
    function()
    return time.process_time() - start
