"""Work that is cut into parts, and shared between threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

# Fewer bytes than this are read or written faster than a thread starts.
_BYTES_PER_THREAD = 1 << 22


def even_edges(n: int, n_parts: int) -> list[int]:
    """Where each of some parts of ``n`` things begins, and the last one ends."""
    return [n * k // n_parts for k in range(n_parts + 1)]


def line_edges(n_lines: int, n_bytes: int, n_threads: int) -> list[int]:
    """Parts of lines of so many bytes, one for each thread that has enough to do."""
    return even_edges(n_lines, max(1, min(n_threads, n_lines * n_bytes // _BYTES_PER_THREAD)))


def share(edges: list[int], work: Callable[[int, int], object]) -> None:
    """Do ``work(start, stop)`` between one edge and the next, each on a thread of its own.

    Where some fail, the error is that of the first of them.
    """
    ranges = [(start, stop) for start, stop in pairwise(edges) if start < stop]
    if len(ranges) <= 1:
        for start, stop in ranges:
            work(start, stop)
        return
    with ThreadPoolExecutor(len(ranges)) as pool:
        for done in [pool.submit(work, start, stop) for start, stop in ranges]:
            done.result()
