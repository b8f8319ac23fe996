"""Reading a generated CSV of 2,000,000 × 250 (1 GB) into packed columns, in a process apart."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._measure import report

N_ROWS, N_COLUMNS = 2_000_000, 250

_CHILD = """
import json, resource, sys, time
import polars
from conjunct.files import read_boolean
calls = []
start = time.perf_counter()
table = read_boolean(sys.argv[1], progress=lambda rows, total: calls.append((rows, total)))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([*table.shape, int(table.values.sum()), seconds, peak, len(calls), calls[-1]]))
"""


def generate(path: Path, n_rows: int) -> int:
    """Write a table of tags on 5% of the rows each; the sum of the bytes of its packed columns."""
    rng = np.random.default_rng(0)
    step = 16_000  # a multiple of 8: the packed bytes of a block are those of the whole
    total = 0
    with path.open("wb") as file:
        file.write((",".join(f"tag_{k}" for k in range(N_COLUMNS)) + "\n").encode())
        for start in range(0, n_rows, step):
            bits = rng.random((min(step, n_rows - start), N_COLUMNS), np.float32) < 0.05
            total += int(np.packbits(bits, axis=0, bitorder="little").sum())
            cells = np.full((len(bits), 2 * N_COLUMNS), ord(","), np.uint8)
            cells[:, ::2] = bits + ord("0")
            cells[:, -1] = ord("\n")
            file.write(cells.tobytes())
    return total


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tags.csv"
        expected = generate(path, N_ROWS)
        size = path.stat().st_size
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(path)], check=True, capture_output=True, text=True
        )
    n_rows, n_columns, total, seconds, peak, n_calls, last = json.loads(done.stdout)
    if (n_rows, n_columns, total) != (N_ROWS, N_COLUMNS, expected):
        print("the table read is not the one written: MISSED")
        return 1
    print(
        f"{size / 1e9:.2f} GB of CSV in {seconds:.1f} s, {n_calls} steps of progress, {last} rows"
    )
    print(f"packed: {N_ROWS * N_COLUMNS / 8e6:.1f} MB")
    return report("peak resident memory", peak / 1e9, 1, at_least=False, unit="GB")
