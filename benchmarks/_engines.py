"""Measure one fit of Parquet files on one engine in a separate process, and save the model.

python -m benchmarks._engines ENGINE KILL MERGES STORE FILE...; ENGINE is disk, dask or spark, and
after KILL merges (0: never) a worker of Dask or an executor of Spark, a Java of its own, is killed.
Memory is the common peak of this process and its children, and CPU time is that of all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from benchmarks._apart import Measurement
from conjunct import UFC, ConjunctWarning, files
from conjunct.columns import StorageKind
from conjunct.counting import ENGINES, PartitionedColumns
from conjunct.files.model import model_json

_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
# what the process that counts was started with
_VICTIM = {"dask": "spawn_main", "spark": "CoarseGrainedExecutorBackend"}


def main(
    engine: str, kill: int, max_iter: int, store: StorageKind, paths: list[str]
) -> Measurement:
    warnings.simplefilter("ignore", ConjunctWarning)
    received = []
    total = PartitionedColumns.total

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        value = total(self, *args, **options)
        received.append(_n_bytes(value))
        return value

    PartitionedColumns.total = watched  # type: ignore[method-assign]
    killed: list[int] = []

    def watch(line: Any) -> None:
        if kill and line.iteration == kill:
            victim = next(p for p, it in processes().items() if _VICTIM[engine] in it.command)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    with _connected(engine), _Watch() as seen:
        start = time.perf_counter()
        rows = replace(files.stream(*paths), engine=engine)
        model = UFC(max_iter=max_iter, n_jobs=-1, storage=store).fit(rows, callback=watch)
        seconds = time.perf_counter() - start
    if kill and not killed:
        raise SystemExit("no worker was killed")
    return {
        "engine": engine,
        "kill": kill,
        "seconds": seconds,
        "used": seen.used,
        "memory": seen.memory,
        "received": 0 if engine == "disk" else sum(received),
        "model": hashlib.sha256(model_json(model._model_file())).hexdigest(),
    }


@contextmanager
def _connected(engine: str) -> Iterator[None]:
    if engine == "disk":
        yield
    elif engine == "dask":
        with ENGINES[engine].connect(None, None):
            yield
    else:
        from tests import spark

        with tempfile.TemporaryDirectory() as folder, spark.cluster(Path(folder)):
            yield


def _n_bytes(value: Any) -> int:
    """Return the bytes of the arrays of counts."""
    if isinstance(value, tuple | list):
        return sum(map(_n_bytes, value))
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(map(_n_bytes, vars(value).values())) if hasattr(value, "__dict__") else 8


class _Process(NamedTuple):
    parent: int
    command: str
    resident: int
    used: float


def processes() -> dict[int, _Process]:
    """Return this process and its descendants."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text().replace("\0", " ")
            resident = int((folder / "statm").read_text().split()[1]) * _PAGE
        except (OSError, IndexError):
            continue
        used = (int(fields[11]) + int(fields[12])) / _TICKS
        found[int(folder.name)] = _Process(int(fields[1]), command, resident, used)
    ours, more = {os.getpid()}, True
    while more:
        below = {pid for pid, process in found.items() if process.parent in ours} - ours
        ours, more = ours | below, bool(below)
    return {pid: found[pid] for pid in ours if pid in found}


class _Watch:
    """Measure the memory and CPU time of all processes together, five times per second."""

    def __enter__(self) -> _Watch:
        self.memory = 0
        self._used: dict[int, float] = {}
        self._before = {pid: process.used for pid, process in processes().items()}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.2):
            running = processes()
            self.memory = max(self.memory, sum(p.resident for p in running.values()))
            self._used |= {pid: process.used for pid, process in running.items()}

    @property
    def used(self) -> float:
        return sum(used - self._before.get(pid, 0) for pid, used in self._used.items())


if __name__ == "__main__":
    told, after, merges, held, *names = sys.argv[1:]
    print(json.dumps(main(told, int(after), int(merges), cast(StorageKind, held), names)))
