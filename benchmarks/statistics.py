"""What the statistical options cost: a fit with each against Risk(), on 50,000 × 300."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks._measure import best_time, report
from conjunct import UFC, Risk

OPTIONS: dict[str, tuple[dict[str, Any], float]] = {
    "measure='mutual_information'": ({"measure": "mutual_information"}, 3),
    "correction='bh'": ({"correction": "bh"}, 3),
    "test='exact', correction='holm'": ({"test": "exact", "correction": "holm"}, 12),
}


def main() -> int:
    rng = np.random.default_rng(0)
    table = rng.random((50_000, 300), np.float32) < rng.uniform(0.02, 0.5, 300)
    for k in range(0, 300, 4):
        copied = rng.random(50_000) < 0.3
        table[copied, k] = table[copied, k + 1]

    def fit(**options: Any) -> float:
        model = UFC(Risk(**options), max_iter=2)
        model.fit(table[:2000])  # imports are not what is measured
        return best_time(lambda: model.fit(table))

    default = fit()
    print(f"50,000 × 300 Boolean, two iterations: {default:.3f} s with Risk()")
    return sum(
        report(f"{name} / default", fit(**options) / default, bound, at_least=False)
        for name, (options, bound) in OPTIONS.items()
    )
