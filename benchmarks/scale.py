"""Wide and long data: uFC against one product ``X.T @ X`` of the same data, time and memory.

Each set is measured in a process of its own, so that resident memory is its own. Times are of the
processor, on one thread for both sides: machines are shared.
"""

from __future__ import annotations

import ctypes
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._data import benchmark_set, zipf
from benchmarks._measure import report
from conjunct import UFC
from conjunct.stores import BitStore
from conjunct.stores.counting import kernel_name

N_ITER = 3


def main() -> int:
    missed = 0
    for name, gigabytes in (("retail", 2), ("zipf", 6)):
        product = _in_process(name, "product")
        print(
            f"{product['name']}, {product['shape'][0]:,} × {product['shape'][1]:,}, "
            f"{product['ones']:,} ones: X.T @ X {product['seconds']:.2f} s"
        )
        for prune in ("prune", "no-prune"):
            fit = _in_process(name, prune)
            print(
                f"UFC(alpha=0.001, max_iter={N_ITER}, prune={prune == 'prune'}): "
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


def _in_process(name: str, what: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", name, what], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def measured(name: str, what: str) -> dict[str, Any]:
    """One measurement, alone in its process."""
    title, data = benchmark_set(name) if name == "retail" else ("Zipf", zipf(1_000_000, 40_000, 8))
    found: dict[str, Any] = {"name": title, "shape": data.shape, "ones": data.nnz}
    if what == "product":
        found["seconds"] = _seconds(lambda: data.T @ data, 3)
        return found
    UFC(max_iter=1, prune=False).fit(zipf(500, 50, 8))  # imports are not what is measured
    model = UFC(alpha=0.001, max_iter=N_ITER, prune=what == "prune")
    found["seconds"] = _seconds(lambda: model.fit(data))
    found["resident"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found["iterations"], found["features"] = model.n_iter_, len(model.feature_set_.features)
    found["expected"] = str(model.expected_cost(data))
    return found


def _dense(n_rows: int = 1_000_000, n_columns: int = 1000) -> int:
    random = np.random.default_rng(0)
    table = np.empty((n_rows, n_columns), bool)
    for start in range(0, n_rows, 10_000):
        table[start : start + 10_000] = random.random((10_000, n_columns), np.float32) < 0.2
    table[:, 1::10] |= table[:, ::10]  # some go together
    model = UFC(max_iter=2)
    whole = _seconds(lambda: model.fit(table))
    store = BitStore.from_table(table)
    packed = _seconds(lambda: model._fit_store(store, None))
    floats = table.astype(np.float32)
    with threadpool_limits(1):
        product = _seconds(lambda: floats.T @ floats)
    rate = n_columns * (n_columns + 1) / 2 * n_rows / _seconds(store.joint_counts, 2)
    limit = popcount_limit()
    print(
        f"{n_rows:,} × {n_columns:,} dense: float32 X.T @ X {product:.2f} s, UFC(max_iter=2).fit "
        f"{whole:.2f} s with {model.n_iter_} iterations, of packed bits {packed:.2f} s\n"
        f"kernel {kernel_name()}: {rate / 1e12:.3f} tera bit pairs a second, limit "
        f"{limit / 1e12:.3f}"
    )
    return report(
        "dense: float32 X.T @ X / two iterations", product / whole, 1, at_least=True
    ) + report("kernel / popcount limit", 100 * rate / limit, 40, at_least=True, unit="%")


_POPCOUNT = """
#include <stdint.h>
#include <stddef.h>
uint64_t count_and(const uint64_t *a, const uint64_t *b, size_t n, size_t times) {
    uint64_t total = 0;
    for (size_t t = 0; t < times; t++) {
        __asm__ volatile("" ::: "memory");
        for (size_t k = 0; k < n; k++) total += __builtin_popcountll(a[k] & b[k]);
    }
    return total;
}
"""


def popcount_limit() -> float:
    """Bit pairs that a thread can count a second where nothing comes from memory.

    The better one of the kernel itself on lines that fit in the first or second-level cache, and
    of a loop in C over two lines, where there is a compiler.
    """
    lines = np.random.default_rng(0).integers(0, 256, (128, 4096), np.uint8)
    limit = 0.0
    for n_bytes in (512, 4096):
        small = BitStore(np.ascontiguousarray(lines[:, :n_bytes]), 8 * n_bytes)
        times = 400_000 // n_bytes
        seconds = _seconds(lambda small=small, n=times: [small.joint_counts() for _ in range(n)], 5)
        limit = max(limit, times * 128 * 129 / 2 * small.n_rows / seconds)
    if shutil.which("cc") is None:
        return limit
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "count.c", Path(folder) / "count.so"
        source.write_text(_POPCOUNT)
        options = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["cc", *options, "-o", library, source], check=True)
        count = ctypes.CDLL(str(library)).count_and
        words = lines.view(np.uint64)
        one, other = (words[k : k + 2].ctypes.data_as(ctypes.c_void_p) for k in (0, 2))
        n_words, repeats = ctypes.c_size_t(1024), ctypes.c_size_t(20_000)
        seconds = _seconds(lambda: count(one, other, n_words, repeats), 5)
    return max(limit, 64 * n_words.value * repeats.value / seconds)


def _seconds(function: Callable[[], object], repeat: int = 1) -> float:
    """Shortest processor time of a few runs."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured(*sys.argv[1:])) + "\n")
