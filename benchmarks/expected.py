"""Compare ``estimate_cost`` with the time and memory of default fits.

Time is CPU time on one thread; memory is that of the process without its data.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._apart import Measurement, answer, measured_apart, peak_resident, resident, timed
from benchmarks._data import benchmark_set, zipf
from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.default import clicks
from conjunct import UFC


def _rare(n_rows: int, n_columns: int, density: float) -> Any:
    random = np.random.default_rng(0)
    cells = random.integers(0, [[n_rows], [n_columns]], (2, int(n_rows * n_columns * density)))
    ones = np.ones(cells.shape[1], np.int32)
    matrix = sp.coo_array((ones, tuple(cells)), shape=(n_rows, n_columns)).tocsr()
    matrix.data[:] = 1
    return matrix


SHAPES: dict[str, Any] = {
    **{
        name: lambda name=name: benchmark_set(name)[1]
        for name in ("retail", "delicious", "t10i4d100k", "accidents_15k", "nuswide81")
    },
    "clicks": clicks,
    "200 × 200,000, 0.1% true": lambda: _rare(200, 200_000, 0.001),
    "200,000 × 100,000, 8 tags": lambda: zipf(200_000, 100_000, 8),
}
FACTORS = {"seconds": 3, "bytes": 2}


def main() -> int:
    missed, lines = 0, []
    for shape in SHAPES:
        line = {"shape": shape, **measured_apart("benchmarks.expected", shape)}
        lines.append(line)
        print(
            f"{shape}: expected {line['said_seconds']:.2f} s and "
            f"{line['said_bytes'] / 1e6:,.0f} MB, took {line['seconds']:.2f} s and "
            f"{line['bytes'] / 1e6:,.0f} MB, {line['merges']} merges",
            flush=True,
        )
        for what, factor in FACTORS.items():
            ratio = line[f"said_{what}"] / line[what]
            name = f"{shape}: {what}, expected / taken or its inverse"
            missed += report(name, max(ratio, 1 / ratio), factor, at_least=False)
    save("expected", {"factors": FACTORS, "lines": lines})
    return missed


def alone(shape: str) -> Measurement:
    warnings.simplefilter("ignore")
    UFC().fit(zipf(500, 50, 8))  # imports are not what is measured
    data = SHAPES[shape]()
    model = UFC()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget what was held at most before
    before = resident()
    taken = timed(lambda: model.fit(data))
    held = peak_resident() - before
    said = model.estimate_cost(data)
    merges = len(model.feature_set_.merges)
    return {
        "said_seconds": said.seconds,
        "said_bytes": said.n_bytes,
        "seconds": taken["seconds"],
        "bytes": max(held, 10**6),
        "merges": merges,
    }


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
