"""Work that is shared between threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise


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
