"""Measure times and memory, and print results."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable


def best_time(function: Callable[[], object], repeat: int = 3) -> float:
    """Return the shortest of a few runs in seconds, which other processes disturbed least."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def report(what: str, value: float, bound: float, *, at_least: bool, unit: str = "×") -> int:
    """Print a figure and its limit; return 1 if it exceeds the limit."""
    kept = value >= bound if at_least else value <= bound
    sign = "≥" if at_least else "≤"
    verdict = "ok" if kept else "MISSED"
    print(f"{what:<62} {value:8.2f} {unit}  ({sign} {bound:g} {unit}) {verdict}", flush=True)
    return 0 if kept else 1


def peak_memory(function: Callable[[], object]) -> int:
    """Return the peak bytes that Python and NumPy allocated while ``function`` ran.

    Resident memory would include memory that the C library keeps from earlier calls.
    """
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
