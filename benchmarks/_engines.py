"""One fit of Parquet files on one engine, in a process of its own: what it took, and the model.

python -m benchmarks._engines ENGINE KILL FILE...; ENGINE is disk, dask or spark, and with KILL
(True) a worker is killed after the first merge. Memory is the most that this process and those
it started had at a time.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from conjunct import UFC, files
from conjunct.counting import ENGINES, PartitionedColumns
from conjunct.files.model import model_json

_PAGE = os.sysconf("SC_PAGE_SIZE")


def main(engine: str, kill: bool, paths: list[str]) -> None:
    received = []
    total = PartitionedColumns.total

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        value = total(self, *args, **options)
        received.append(_n_bytes(value))
        return value

    PartitionedColumns.total = watched  # type: ignore[method-assign]
    peak = _Peak()
    killed: list[int] = []

    def watch(line: Any) -> None:
        if kill and line.iteration == 1:
            victim = _worker(engine)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    connected = nullcontext() if engine == "disk" else ENGINES[engine].connected(None, None)
    with connected:
        start = time.perf_counter()
        rows = replace(files.stream(*paths), engine=engine)
        model = UFC(max_iter=20, callback=watch).fit(rows)
        seconds = time.perf_counter() - start
        most = peak.stop()
    if kill and not killed:
        raise SystemExit("no worker was killed")
    came = "" if engine == "disk" else f", {sum(received) / 1e6:.1f} MB of counts to the driver"
    print(f"{seconds:7.1f} s, {most / 1e6:6.0f} MB of memory in all{came}")
    print(hashlib.sha256(model_json(model._model_file())).hexdigest())


def _n_bytes(value: Any) -> int:
    """Bytes of the arrays of counts."""
    if isinstance(value, tuple | list):
        return sum(map(_n_bytes, value))
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(map(_n_bytes, vars(value).values())) if hasattr(value, "__dict__") else 8


def _processes() -> dict[int, tuple[int, str, int]]:
    """The parent, the command and the bytes of this process and all below it."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_text().replace("\0", " ")
            resident = int((folder / "statm").read_text().split()[1]) * _PAGE
        except (OSError, IndexError):
            continue
        found[int(folder.name)] = parent, words, resident
    ours, more = {os.getpid()}, True
    while more:
        below = {pid for pid, (parent, _, _) in found.items() if parent in ours} - ours
        ours, more = ours | below, bool(below)
    return {pid: found[pid] for pid in ours if pid in found}


def _worker(engine: str) -> int:
    """A process that counts: one of Dask, or one that the daemon of Spark has forked."""
    running = _processes()
    if engine == "spark":
        daemons = {pid for pid, (_, words, _) in running.items() if "-m pyspark.daemon" in words}
        return next(pid for pid in daemons if running[pid][0] in daemons)
    return next(
        pid
        for pid, (_, words, _) in running.items()
        if pid != os.getpid() and "spawn_main" in words
    )


class _Peak:
    """The most memory of all processes together, looked at ten times a second."""

    def __init__(self) -> None:
        self._most, self._goes_on = 0, True
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while self._goes_on:
            self._most = max(self._most, sum(n for _, _, n in _processes().values()))
            time.sleep(0.1)

    def stop(self) -> int:
        self._goes_on = False
        self._thread.join()
        return self._most


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "True", sys.argv[3:])
