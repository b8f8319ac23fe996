"""Measure the growth of time and memory with rows, columns and density.

Each point is measured in a separate process, on one thread, in CPU time.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks._apart import Measurement, answer, measured_apart, peak_resident, timed
from benchmarks._data import correlated, zipf
from benchmarks._results import save
from conjunct import UFC

FORMS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda data: data.astype(bool).toarray(),
    "sparse": lambda data: data,
    "np.corrcoef": lambda data: data.astype(np.float32).toarray(),
}
"""What is measured, and what it takes."""
N_ITER = 2
SWEEPS: dict[str, list[tuple[int, int, float]]] = {
    "rows": [(n * 1000, 400, 0.02) for n in (50, 100, 200, 400, 800)],
    "columns": [(50_000, m, 0.02) for m in (100, 200, 400, 800, 1600)],
    "density": [(50_000, 800, d / 1000) for d in (1, 3, 8, 20, 50)],
}
VARIED = {"rows": 0, "columns": 1, "density": 2}
TAIL = 3
"""Exponents are those of the last points, where what is constant no longer matters."""


def main() -> int:
    sweeps = {name: _swept(name, points) for name, points in SWEEPS.items()}
    save("growth", {"n_iter": N_ITER, "sweeps": sweeps})
    return 0


def exponent(sizes: list[float], values: list[float]) -> float:
    """Return the slope of the last points on two logarithmic scales."""
    return float(np.polyfit(np.log(sizes[-TAIL:]), np.log(values[-TAIL:]), 1)[0])


def _swept(name: str, points: list[tuple[int, int, float]]) -> list[Measurement]:
    found = []
    for n_rows, n_columns, density in points:
        for method in FORMS:
            arguments = (method, n_rows, n_columns, density)
            line = {
                "shape": [n_rows, n_columns],
                "density": density,
                "method": method,
                **measured_apart("benchmarks.growth", *arguments),
            }
            found.append(line)
    sizes = [float(point[VARIED[name]]) for point in points]
    for method in FORMS:
        times = [line["seconds"] for line in found if line["method"] == method]
        memory = [line["resident"] - line["before"] for line in found if line["method"] == method]
        print(
            f"{method:<12} with {name:<8} "
            + "  ".join(f"{seconds:7.3f} s" for seconds in times)
            + f"   exponent {exponent(sizes, times):.2f}, memory {exponent(sizes, memory):.2f}",
            flush=True,
        )
    return found


def alone(method: str, n_rows: str, n_columns: str, density: str) -> Measurement:
    """Measure one point in this process; ``before`` is the resident memory at the start."""
    warnings.simplefilter("ignore")

    def run(data: Any) -> object:
        if method == "np.corrcoef":
            return np.corrcoef(data, rowvar=False, dtype=np.float32)
        return UFC("risk", max_iter=N_ITER, storage=method).fit(data)

    run(FORMS[method](zipf(400, 60, 8)))
    before = peak_resident()
    data = FORMS[method](correlated(int(n_rows), int(n_columns), float(density)))
    return {**timed(partial(run, data), repeat=3), "before": before}


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
