"""How time and memory grow with rows, columns and density, and with threads and workers.

Growth is measured on one thread, in processor time, each point alone in a process. What threads
and Dask workers bring can only be seen on the clock: on a busy machine that is less than it is.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks._apart import Measurement, answer, measured_apart, peak_resident, timed
from benchmarks._data import correlated, zipf
from benchmarks._results import save
from conjunct import UFC

FORMS: dict[str, Callable[[Any], Any]] = {
    "bits": lambda data: data.astype(bool).toarray(),
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

WORKERS = (1, 2)
N_COLUMNS, DENSITY = 400, 0.1
BLOCK_ROWS, N_BLOCKS = 250_000, 16
RUNS = ((1, N_BLOCKS // 2), (1, N_BLOCKS), (2, N_BLOCKS))
"""Threads or workers, and blocks: the second and the third are strong scaling, the first and the
third weak scaling."""
REPEAT = 5

Fits = tuple[Callable[[int, int], object], Callable[[int], float]]
"""``fit(threads or workers, blocks)``, and the processor time that so many have used so far."""


def main(scaling: bool = False) -> int:
    """With ``--scaling``, only threads and workers, for which the machine should be idle."""
    warnings.simplefilter("ignore")
    if not scaling:
        sweeps = {name: _swept(name, points) for name, points in SWEEPS.items()}
        save("growth", {"n_iter": N_ITER, "sweeps": sweeps})
    load = os.getloadavg()[0]
    print(f"load of the machine before scaling is measured: {load:.1f}")
    save("scaling", {"load": load, "lines": _scaling()})
    return 0


def exponent(sizes: list[float], values: list[float]) -> float:
    """Slope on two logarithmic scales, of the last points."""
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
    """One point, in the process that it was given. ``before`` is resident when it begins."""
    warnings.simplefilter("ignore")

    def run(data: Any) -> object:
        if method == "np.corrcoef":
            return np.corrcoef(data, rowvar=False, dtype=np.float32)
        return UFC("risk", max_iter=N_ITER, store=method).fit(data)

    run(FORMS[method](zipf(400, 60, 8)))
    before = peak_resident()
    data = FORMS[method](correlated(int(n_rows), int(n_columns), float(density)))
    return {**timed(partial(run, data), repeat=3), "before": before}


def _scaling() -> list[Measurement]:
    """Seconds on the clock with 1 and 2 threads or workers; in turn, so that all are disturbed."""
    found = []
    for how, ways in WAYS.items():
        best = dict.fromkeys(RUNS, (math.inf, math.inf))
        with ways() as (fit, processor_time):
            for _ in range(REPEAT):
                for run in RUNS:
                    start, used = time.perf_counter(), processor_time(run[0])
                    fit(*run)
                    seconds = time.perf_counter() - start
                    best[run] = min(best[run], (seconds, processor_time(run[0]) - used))
        for (n, n_blocks), (seconds, used) in best.items():
            shape = [n_blocks * BLOCK_ROWS, N_COLUMNS]
            size = f"{shape[0]:,} × {N_COLUMNS}"
            print(f"{n} {how}, {size}: {seconds:.2f} s, {used:.2f} s of the processor", flush=True)
            line = {"how": how, "workers": n, "shape": shape, "seconds": seconds, "used": used}
            found.append(line)
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
    from distributed import Client, LocalCluster
    from distributed import wait as wait_for

    with ExitStack() as stack:
        clients, tables = {}, {}
        for n in WORKERS:
            options = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
            cluster = LocalCluster(n_workers=n, threads_per_worker=1, memory_limit=0, **options)
            stack.enter_context(cluster)
            clients[n] = stack.enter_context(Client(cluster, set_as_default=False))
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


WAYS: dict[str, Callable[[], AbstractContextManager[Fits]]] = {
    "fits apart": _in_processes,
    "threads": _on_threads,
    "Dask workers": _on_workers,
}


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
