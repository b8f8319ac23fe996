"""How things are measured and told."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable


def best_time(function: Callable[[], object], repeat: int = 3) -> float:
    """Shortest of a few runs, in seconds: the least disturbed by neighbours."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def report(what: str, value: float, bound: float, *, at_least: bool, unit: str = "×") -> int:
    """Print a figure beside the bound it must keep; 1 if it does not."""
    kept = value >= bound if at_least else value <= bound
    sign = "≥" if at_least else "≤"
    verdict = "ok" if kept else "MISSED"
    print(f"{what:<62} {value:8.2f} {unit}  ({sign} {bound:g} {unit}) {verdict}", flush=True)
    return 0 if kept else 1


def peak_memory(function: Callable[[], object]) -> int:
    """Most bytes that Python and NumPy had allocated at once while ``function`` ran.

    Resident memory would add what the C library keeps for later; that depends on what ran before.
    """
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
