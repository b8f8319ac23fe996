"""New rows as features: ``transform`` beside the exports, and rows as chunks, in rows a second.

All ways work on the same table in one process, on as many threads as there are processors, and are
timed by the processor. ``transform`` of an array must not be slower than the quickest export.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC

N_ROWS, N_COLUMNS, N_TRAINING, MERGES = 5_000_000, 100, 100_000, 50
BLOCK = 500_000
REPEAT = 2
BOUND = 1.0


def main() -> int:
    table = tagged_rows(N_ROWS)
    names = [f"tag{k}" for k in range(N_COLUMNS)]
    frame = pl.DataFrame({name: table[:, k] for k, name in enumerate(names)})
    model = UFC(max_iter=MERGES).fit(table[:N_TRAINING])
    of_frames = UFC(max_iter=MERGES).fit(frame[:N_TRAINING])
    ways: dict[str, Callable[[], object]] = {
        "`transform` of an array": lambda: model.transform(table),
        "`transform` of a Polars table": lambda: of_frames.transform(frame),
        "`to_polars()`": lambda: frame.select(of_frames.to_polars()),
        "`to_sql()` in DuckDB": lambda: _in_duckdb(of_frames, frame),
        "`chunks` as texts": lambda: of_frames.chunks(frame, output="text"),
    }
    seconds = {name: _processor_time(way) for name, way in ways.items()}
    seconds["`conjunct transform`, Parquet to Parquet"] = _by_command(of_frames, frame)
    for name, took in seconds.items():
        print(f"{name:<42} {took:6.2f} s, {N_ROWS / took / 1e6:6.2f} million rows a second")
    save(
        "transform",
        {
            "shape": [N_ROWS, N_COLUMNS],
            "merges": MERGES,
            "features": len(model.features_),
            "ways": [{"name": name, "seconds": took} for name, took in seconds.items()],
        },
    )
    exports = min(seconds["`to_polars()`"], seconds["`to_sql()` in DuckDB"])
    ratio = seconds["`transform` of an array"] / exports
    return report("transform of an array / the quickest export", ratio, BOUND, at_least=False)


def tagged_rows(n_rows: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tags of falling frequency, of which neighbours go together."""
    random = np.random.default_rng(0)
    frequencies = 0.4 / np.arange(1, N_COLUMNS + 1) ** 0.5
    table = np.empty((n_rows, N_COLUMNS), np.bool_)
    for start in range(0, n_rows, BLOCK):
        rows = table[start : start + BLOCK]
        rows[:] = random.random(rows.shape, np.float32) < frequencies
        rows[:, 1::2] |= rows[:, ::2] & (random.random(rows[:, ::2].shape, np.float32) < 0.6)
    return table


def _processor_time(way: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEAT):
        start = time.process_time()
        way()
        times.append(time.process_time() - start)
    return min(times)


def _in_duckdb(model: UFC, frame: pl.DataFrame) -> object:
    with duckdb.connect() as connection:
        connection.register("rows", frame)
        return connection.sql(model.to_sql(table="rows", dialect="duckdb")).to_arrow_table()


def _by_command(model: UFC, frame: pl.DataFrame) -> float:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
        frame.write_parquet(Path(folder) / "rows.parquet")
        words = ["transform", "model.json", "rows.parquet", "--out", "features.parquet", "--quiet"]
        resources = "import resource; r = resource.getrusage(resource.RUSAGE_CHILDREN)"
        script = (
            f"import subprocess, sys; subprocess.run([sys.executable, '-m', 'conjunct', *{words}], "
            f"check=True); {resources}; print(r.ru_utime + r.ru_stime)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
        )
    return float(done.stdout.splitlines()[-1])
