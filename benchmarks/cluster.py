"""Fit data larger than memory, with killed workers, on Dask and on Spark: always the same model."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks._apart import measured_apart
from benchmarks._measure import report
from benchmarks._results import save
from conjunct import UFC, BooleanData, ConjunctWarning, datasets
from conjunct import files as io
from conjunct.columns import PackedColumns, is_sparse
from conjunct.columns.kernel import pack
from conjunct.files.model import model_json

BENCH = Path(os.environ.get("CONJUNCT_BENCH_DATA", "../shared/data/bench"))
N_COLUMNS = 500
STREAMED_BLOCKS, MEMORY = 40, 400
DASK_BLOCKS, DASK_ROWS, WORKER_MEMORY = 500, 40_000, 600
KILLS = 20
ENGINE_ROWS, ENGINE_COLUMNS, ENGINE_FILE_ROWS = 20_000_000, 200, 1_000_000
ENGINE_MERGES = 20
# after which merge a worker is killed
ENGINE_RUNS = (
    ("disk", 0),
    ("dask", 0),
    ("dask", 1),
    ("spark", 0),
    ("spark", 1),
)

_STREAM = """
import resource, sys
from conjunct import UFC
from conjunct import files as io
UFC("risk", max_iter=3).fit(io.stream(*sys.argv[2:], memory=sys.argv[1])).save("streamed.json")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def main(engines: bool = False) -> int:
    """With ``--engines``, only Spark beside Dask beside one machine."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        if engines:
            return engines_side_by_side(Path(folder))
        missed = larger_than_memory(Path(folder)) + killed(Path(folder))
        missed += on_two_workers() + larger_than_the_workers()
        return missed + engines_side_by_side(Path(folder))


def block(number: int, n_rows: int = 100_000, n_columns: int = N_COLUMNS) -> NDArray[np.bool_]:
    """Return columns that are true in an eighth of the rows; every tenth often equals the next."""
    rng = np.random.default_rng(number)
    shape = (n_rows, -(-n_columns // 8))
    bits = np.bitwise_and.reduce([rng.integers(0, 256, shape, np.uint8) for _ in range(3)])
    table = np.unpackbits(bits, axis=1, count=n_columns).view(np.bool_)
    copied = rng.random((n_rows, 1), np.float32) < 0.5
    table[:, ::10] = np.where(copied, table[:, 1::10], table[:, ::10])
    return table


def frame(number: int) -> pl.DataFrame:
    return pl.DataFrame({f"c{k}": column for k, column in enumerate(block(number).T)})


def larger_than_memory(folder: Path) -> int:
    files = [folder / f"{k}.parquet" for k in range(STREAMED_BLOCKS)]
    for k, file in enumerate(files):
        frame(k).write_parquet(file)
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _STREAM, f"{MEMORY}MB", *map(str, files)],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    seconds = time.perf_counter() - start
    in_memory = UFC("risk", max_iter=3).fit(pl.concat([frame(k) for k in range(STREAMED_BLOCKS)]))
    same = (folder / "streamed.json").read_bytes() == _bytes(in_memory)
    n_rows = in_memory.feature_set_.n_rows
    packed = n_rows * N_COLUMNS / 8e6
    print(f"{n_rows:,} × {N_COLUMNS} in {STREAMED_BLOCKS} Parquet files")
    print(f"({packed:.0f} MB packed) streamed in {seconds:.1f} s; same model file: {same}")
    peak = int(done.stdout) / 1e6
    return (not same) + report("peak resident memory", peak, MEMORY, at_least=False, unit="MB")


def killed(folder: Path) -> int:
    """Kill a fit repeatedly at random points, and finally let it end."""
    data = datasets.find("coco_val2017").path
    fit = [sys.executable, "-m", "conjunct", "fit", str(data), "--search", "pairwise"]
    fit += ["--max-iter", "200", "--max-length", "6", "--out"]
    quiet: dict[str, Any] = {
        "cwd": folder,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "env": os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    }
    start = time.perf_counter()
    subprocess.run([*fit, "whole.json"], check=True, **quiet)
    seconds = time.perf_counter() - start
    at, n_killed, n_same = random.Random(0), 0, 0
    resumed = [*fit, "killed.json", "--checkpoint", "run.json"]
    while n_killed < KILLS:
        running = subprocess.Popen(resumed, **quiet)
        try:
            running.wait(at.uniform(0.1, 1) * seconds)
            continue  # it was quicker
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
        n_killed += 1
        subprocess.run(resumed, check=True, **quiet)
        n_same += (folder / "killed.json").read_bytes() == (folder / "whole.json").read_bytes()
    print(f"a run of {seconds:.1f} s killed at random points and resumed")
    return report("resumed to the same model file", n_same, KILLS, at_least=True, unit="times")


def on_two_workers() -> int:
    """Write a model file for every bundled set and every set of the benchmarks."""
    tables = {d.name: io.read_boolean(d.path) for d in datasets.DATASETS}
    for file in sorted(BENCH.glob("*.dat.gz")):
        tables[file.name.removesuffix(".dat.gz")] = io.read_boolean(file)
    differ = []
    with _cluster(memory_limit=0):
        import dask.array as da

        for name, table in tables.items():
            rows = _rows(table)
            start = time.perf_counter()
            local = UFC("risk", max_iter=3).fit(rows)
            middle = time.perf_counter()
            half = -(-rows.shape[0] // 2)
            parts = [da.from_array(some, chunks=some.shape) for some in (rows[:half], rows[half:])]
            apart = UFC("risk", max_iter=3).fit(da.concatenate(parts))
            seconds = time.perf_counter() - middle
            same = _bytes(apart) == _bytes(local)
            shape = f"{name} {rows.shape[0]:,} × {rows.shape[1]:,}"
            print(f"{shape:<32} local {middle - start:6.1f} s, 2 workers {seconds:6.1f} s: {same}")
            differ += [] if same else [name]
    return report("sets with another model file on 2 workers", len(differ), 0, at_least=False)


def _rows(table: BooleanData) -> Any:
    """Return Dask arrays, sparse if few cells are true."""
    columns = table.columns
    few = is_sparse(columns.count_ones(), *table.shape)
    return columns.to_scipy() if few else columns.to_dense()


def larger_than_the_workers() -> int:
    """Fit columns that the workers cannot hold even as bits, and kill one worker."""
    import dask.array as da
    from dask import delayed

    n_rows = DASK_BLOCKS * DASK_ROWS
    packed = n_rows * N_COLUMNS / 8e6
    with _cluster(memory_limit=f"{WORKER_MEMORY}MB") as client:

        def kill(line: Any) -> None:
            if line.iteration == 1:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        shape = (DASK_ROWS, N_COLUMNS)
        blocks = [delayed(block)(k, DASK_ROWS) for k in range(DASK_BLOCKS)]
        rows = da.concatenate([da.from_delayed(some, shape, np.bool_) for some in blocks])
        start = time.perf_counter()
        apart = UFC("risk", max_iter=3).fit(rows, callback=kill)
        seconds = time.perf_counter() - start
    lines = np.hstack([pack(block(k, DASK_ROWS)) for k in range(DASK_BLOCKS)])
    whole = UFC("risk", max_iter=3).fit(BooleanData.from_columns(PackedColumns(lines, n_rows)))
    same = _bytes(apart) == _bytes(whole)
    print(f"{n_rows:,} × {N_COLUMNS}: {packed:.0f} MB packed on 2 workers of {WORKER_MEMORY} MB")
    print(f"each, one of them killed, took {seconds:.1f} s; same model file: {same}")
    share = packed / (2 * WORKER_MEMORY)
    return (not same) + report("packed data / memory of the workers", share, 1, at_least=True)


def engines_side_by_side(folder: Path) -> int:
    """The same Parquet files on one machine, on Dask and on Spark: time, memory, bytes to the
    driver; then once more with a worker killed on the way. CONJUNCT_ENGINE_ROWS sets the rows."""
    n_rows = int(os.environ.get("CONJUNCT_ENGINE_ROWS", ENGINE_ROWS))
    files = engine_files(folder, n_rows)
    print(f"{n_rows:,} × {ENGINE_COLUMNS} in {len(files)} Parquet files", flush=True)
    runs = []
    for engine, kill in ENGINE_RUNS:
        told = measured_apart("benchmarks._engines", engine, kill, ENGINE_MERGES, "auto", *files)
        runs.append(told)
        print(
            f"  {engine:<6}{'one worker killed' if kill else '':<18}"
            + f"{told['seconds']:7.1f} s, {told['used']:7.1f} s of the processor, "
            + f"{told['memory'] / 1e6:6.0f} MB of memory in all, "
            + f"{told['received'] / 1e6:.2f} MB of counts to the driver",
            flush=True,
        )
    found = {"shape": [n_rows, ENGINE_COLUMNS], "max_iter": ENGINE_MERGES, "files": len(files)}
    save("cluster", {**found, "load": os.getloadavg()[0], "runs": runs})
    differ = sum(run["model"] != runs[0]["model"] for run in runs)
    return report("engines with another model file", differ, 0, at_least=False)


def engine_files(folder: Path, n_rows: int, file_rows: int = ENGINE_FILE_ROWS) -> list[Path]:
    """Write Parquet files with a limited number of rows, in parts."""
    names = [f"c{k}" for k in range(ENGINE_COLUMNS)]
    files = []
    for start in range(0, n_rows, file_rows):
        rows = min(file_rows, n_rows - start)
        sizes = [min(100_000, rows - first) for first in range(0, rows, 100_000)]
        parts = [block(start + k, size, ENGINE_COLUMNS) for k, size in enumerate(sizes)]
        files.append(folder / f"side{len(files)}.parquet")
        pl.concat(pl.DataFrame(part, schema=names) for part in parts).write_parquet(files[-1])
    return files


def _cluster(**options: Any) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", **options
    ).get_client()


def _bytes(model: UFC) -> bytes:
    return model_json(model._model_file())


if __name__ == "__main__":
    sys.exit(main())
