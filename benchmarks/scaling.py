"""What a second thread, a second worker of Dask and a second core for Spark bring.

That can only be seen on the clock: on a busy machine it is less than it is.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
from tests import spark

from benchmarks._apart import ONE_THREAD, Measurement
from benchmarks._data import correlated
from benchmarks._engines import processes
from benchmarks._results import save
from conjunct import UFC, files
from conjunct.counting import ENGINES

N_ITER = 2
WORKERS = (1, 2)
N_COLUMNS, DENSITY = 400, 0.1
BLOCK_ROWS, N_BLOCKS = 250_000, 16
RUNS = ((1, N_BLOCKS // 2), (1, N_BLOCKS), (2, N_BLOCKS))
"""Threads or workers, and blocks: the second and the third are strong scaling, the first and the
third weak scaling."""
SPARK_BYTES = 4 << 30

Fits = tuple[Callable[[int, int], object], Callable[[int], float]]
"""``fit(threads or workers, blocks)``, and the processor time that so many have used so far."""


def main() -> int:
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0]
    print(f"load of the machine before: {load:.1f}")
    save("scaling", {"load": load, "lines": _scaling()})
    return 0


def _scaling() -> list[Measurement]:
    """Seconds on the clock with 1 and 2 threads or workers, in rounds: a machine that others use
    too is quicker at one time than at another, so that only runs of one round can be compared."""
    found = []
    for how, (ways, repeat) in WAYS.items():
        if how.startswith("Spark") and (why := spark.missing()):
            print(why)
            continue
        seconds, used = ({run: list[float]() for run in RUNS} for _ in range(2))
        with ways() as (fit, processor_time):
            for _ in range(repeat):
                for run in RUNS:
                    start, before = time.perf_counter(), processor_time(run[0])
                    fit(*run)
                    seconds[run].append(time.perf_counter() - start)
                    used[run].append(processor_time(run[0]) - before)
        for run in RUNS:
            (n, n_blocks), took, work = run, median(seconds[run]), median(used[run])
            shape = [n_blocks * BLOCK_ROWS, N_COLUMNS]
            size = f"{shape[0]:,} × {N_COLUMNS}"
            print(f"{n} {how}, {size}: {took:.2f} s, {work:.2f} s of the processor", flush=True)
            rounds = {"seconds": seconds[run], "used": used[run]}
            found.append({"how": how, "workers": n, "shape": shape} | rounds)
    return found


def block(number: int) -> Any:
    return correlated(BLOCK_ROWS, N_COLUMNS, DENSITY, number).astype(bool).toarray()


@contextmanager
def _on_threads() -> Iterator[Fits]:
    table = np.concatenate([block(k) for k in range(N_BLOCKS)])

    def fit(n_threads: int, n_blocks: int) -> object:
        rows = table[: n_blocks * BLOCK_ROWS]
        return UFC("risk", max_iter=N_ITER, n_jobs=n_threads).fit(rows)

    yield fit, lambda _: time.process_time()


@contextmanager
def _on_workers() -> Iterator[Fits]:
    """Rows are on the workers before the clock starts, as Booleans."""
    import dask
    import dask.array as da
    from distributed import wait as wait_for

    from conjunct.counting.dask import local_cluster

    with ExitStack() as stack:
        clients, tables = {}, {}
        for n in WORKERS:
            clients[n] = stack.enter_context(local_cluster(n, memory=0))
            made = [dask.delayed(block)(k) for k in range(N_BLOCKS)]
            shape = (BLOCK_ROWS, N_COLUMNS)
            parts = [da.from_delayed(part, shape, np.bool_) for part in made]
            with clients[n].as_current():
                tables[n] = da.concatenate(parts).persist()
                wait_for(tables[n])

        def fit(n_workers: int, n_blocks: int) -> object:
            with clients[n_workers].as_current():
                rows = tables[n_workers][: n_blocks * BLOCK_ROWS]
                return UFC("risk", max_iter=N_ITER).fit(rows)

        def processor_time(n_workers: int) -> float:
            workers = clients[n_workers].run(time.process_time).values()
            return time.process_time() + sum(workers)

        yield fit, processor_time


@contextmanager
def _on_spark() -> Iterator[Fits]:
    """Rows are in Parquet files, which are read meanwhile; one session for each number of cores."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        names = [f"c{k}" for k in range(N_COLUMNS)]
        made = [folder / f"{k}.parquet" for k in range(N_BLOCKS)]
        for k, file in enumerate(made):
            pl.DataFrame(block(k), schema=names).write_parquet(file)
        context = get_context("spawn")
        pools = {n: stack.enter_context(ProcessPoolExecutor(1, context)) for n in WORKERS}

        def fit(n_cores: int, n_blocks: int) -> None:
            pools[n_cores].submit(_fit_on_spark, n_cores, made[:n_blocks]).result()

        for n in WORKERS:
            fit(n, 1)  # which starts Java, and the processes of Python that it counts with
        yield fit, lambda _: sum(process.used for process in processes().values())


def _fit_on_spark(n_cores: int, paths: list[Path]) -> None:
    os.environ |= ONE_THREAD  # of Polars, in each process that reads files
    _session(n_cores)
    UFC("risk", max_iter=N_ITER).fit(replace(files.stream(*paths), engine="spark"))


@cache
def _session(n_cores: int) -> Any:
    """Of the process that asks for it, until that ends."""
    stack = ExitStack()
    stack.enter_context(ENGINES["spark"].connect(f"local[{n_cores}]", SPARK_BYTES))
    atexit.register(stack.close)
    return stack


@contextmanager
def _in_processes() -> Iterator[Fits]:
    """Fits that know nothing of each other, each of its own rows: what the machine itself gives."""
    used = [0.0]
    with ProcessPoolExecutor(max(WORKERS), mp_context=get_context("spawn")) as pool:
        wait([pool.submit(_fit_here, 1) for _ in WORKERS])  # which make their rows

        def fit(n_processes: int, n_blocks: int) -> None:
            share = n_blocks // n_processes
            fits = [pool.submit(_fit_here, share) for _ in range(n_processes)]
            used[0] += sum(done.result() for done in fits)

        yield fit, lambda _: used[0]


@cache
def _rows_here() -> Any:
    return np.concatenate([block(k) for k in range(N_BLOCKS)])


def _fit_here(n_blocks: int) -> float:
    """What a fit of some blocks takes of the processor."""
    rows, start = _rows_here()[: n_blocks * BLOCK_ROWS], time.process_time()
    UFC("risk", max_iter=N_ITER, n_jobs=1).fit(rows)
    return time.process_time() - start


WAYS: dict[str, tuple[Callable[[], AbstractContextManager[Fits]], int]] = {
    "separate fits": (_in_processes, 15),
    "threads": (_on_threads, 15),
    "Dask workers": (_on_workers, 15),
    "Spark cores": (_on_spark, 3),
}
"""Each with the number of its rounds."""
