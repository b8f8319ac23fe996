"""Measure CPU time and resident memory in a separate process, on one thread, with limits.

The process sets its limits when its data are ready: the system then stops it after some CPU time
and refuses more memory. The result names the limit that was reached.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Measurement = dict[str, Any]

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)


def measured_apart(module: str, *arguments: object, seconds: int = 3600) -> Measurement:
    """What ``python -m module ARGUMENTS`` answers, or ``{"stopped": seconds}``."""
    patience = 60 + 6 * seconds  # a process that waits uses no processor time
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=patience,
            env=os.environ | ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        return {"stopped": patience}
    if done.returncode == -signal.SIGXCPU:
        return {"stopped": seconds}
    if done.returncode:
        raise RuntimeError(f"{module} {arguments}: {done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def answer(measure: Callable[[], Measurement]) -> None:
    """Report to the calling process; too little memory is also a result."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = measure()
    except MemoryError as error:
        found = {"needs": peak_resident() + _asked(error)}
    sys.stdout.write("\n" + json.dumps(found) + "\n")


def limit_memory(n_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def timed(
    run: Callable[[], Any],
    *,
    tell: Callable[[Any], object] = lambda _: None,
    repeat: int = 1,
    seconds: int | None = None,
) -> Measurement:
    """Return the shortest CPU time of some runs, the peak memory of the first, and its result.

    After a few seconds, there are no further runs. The system stops this process if a run takes
    more than ``seconds``.
    """
    best, begun, held = math.inf, time.process_time(), 0
    for _ in range(repeat):
        if seconds is not None:
            _limit_time(seconds)
        start = time.process_time()
        made = run()
        best = min(best, time.process_time() - start)
        # later runs may find memory in pieces
        held = held or peak_resident()
        if time.process_time() - begun > 5:
            break
    return {"seconds": best, "resident": held, "gives": tell(made)}


def _limit_time(seconds: int) -> None:
    used = math.ceil(time.process_time())
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no dump of memory when it is stopped


def peak_resident() -> int:
    """Return the peak memory of this process in bytes."""
    # what getrusage says begins with the process that started this one
    return _of_status("VmHWM")


def resident() -> int:
    """Return the present memory of this process in bytes, or its peak if only that is known."""
    return _of_status("VmRSS")


def _of_status(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


def _asked(error: MemoryError) -> int:
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    return 0 if shape is None or dtype is None else math.prod(shape) * dtype.itemsize
