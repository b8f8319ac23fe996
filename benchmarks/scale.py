"""Wide and long data: uFC against one product ``X.T @ X`` of the same data, time and memory.

Each set is measured in a process of its own, so that resident memory is its own. Times are of the
processor, on one thread for both sides: machines are shared.
"""

from __future__ import annotations

import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._apart import Measurement, answer, measured_apart, timed
from benchmarks._data import benchmark_set, zipf
from benchmarks._measure import report
from conjunct import UFC, BooleanData, Risk
from conjunct.columns import PackedColumns

N_ITER = 3


def main() -> int:
    missed = 0
    for name, gigabytes in (("retail", 2), ("zipf", 6)):
        product = measured_apart("benchmarks.scale", name, "product")
        print(
            f"{product['name']}, {product['shape'][0]:,} × {product['shape'][1]:,}, "
            f"{product['ones']:,} ones: X.T @ X {product['seconds']:.2f} s"
        )
        for prune in ("prune", "no-prune"):
            fit = measured_apart("benchmarks.scale", name, prune)
            print(
                f"UFC(Risk(prune={prune == 'prune'}), max_iter={N_ITER}): "
                f"{fit['seconds']:.2f} s for {fit['iterations']} iterations, "
                f"{fit['features']:,} features; expected {fit['expected']}"
            )
            each = fit["seconds"] / fit["iterations"] / product["seconds"]
            missed += report(f"{name}, {prune}: an iteration / X.T @ X", each, 10, at_least=False)
            missed += report(
                f"{name}, {prune}: resident memory",
                fit["resident"] / 1e9,
                gigabytes,
                at_least=False,
                unit="GB",
            )
    return missed + _dense()


def alone(name: str, what: str) -> Measurement:
    """One measurement, in the process that it was given."""
    title, data = benchmark_set(name) if name == "retail" else ("Zipf", zipf(1_000_000, 40_000, 8))
    found = {"name": title, "shape": data.shape, "ones": data.nnz}
    if what == "product":
        return {**found, **timed(lambda: data.T @ data, repeat=3)}
    UFC(Risk(prune=False), max_iter=1).fit(zipf(500, 50, 8))  # imports are not what is measured
    model = UFC(Risk(prune=what == "prune"), max_iter=N_ITER)
    found |= timed(lambda: model.fit(data))
    found["iterations"], found["features"] = model.n_iter_, len(model.feature_set_.features)
    found["expected"] = str(model.estimate_cost(data))
    return found


def _dense(n_rows: int = 1_000_000, n_columns: int = 1000) -> int:
    random = np.random.default_rng(0)
    table = np.empty((n_rows, n_columns), bool)
    for start in range(0, n_rows, 10_000):
        table[start : start + 10_000] = random.random((10_000, n_columns), np.float32) < 0.2
    table[:, 1::10] |= table[:, ::10]  # some go together
    model = UFC("risk", max_iter=2)
    whole = timed(lambda: model.fit(table))["seconds"]
    data = BooleanData.from_columns(PackedColumns.from_table(table))
    packed = timed(lambda: model.fit(data))["seconds"]
    floats = table.astype(np.float32)
    with threadpool_limits(1):
        product = timed(lambda: floats.T @ floats)["seconds"]
    print(
        f"{n_rows:,} × {n_columns:,} dense: float32 X.T @ X {product:.2f} s, "
        f"UFC('risk', max_iter=2).fit {whole:.2f} s with {model.n_iter_} iterations, "
        f"of packed bits {packed:.2f} s"
    )
    return report("dense: float32 X.T @ X / two iterations", product / whole, 1, at_least=True)


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
