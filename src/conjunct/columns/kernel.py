"""The counting kernel: how often packed columns occur together, on all threads.

Our own C does the work where it was built; ``np.bitwise_count`` gives the same integers where it
was not. Counts of a block of rows fit in 32 bits; blocks are added up in 64, and only a table of
one block, whose counts cannot outgrow 32 bits, keeps them there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.native.library import address, addresses, native_library

native: Any = native_library
# how the C kernel counts: as wide as this processor can
_way: int = 0 if native is None else native.native_best_way()

Bits = NDArray[np.uint8]
Counts = NDArray[np.signedinteger[Any]]
Lines = Bits | Sequence[Bits]
"""Lines in one piece of memory, or in many."""

# 2^27 bytes are 2^30 rows: their counts fit in a signed 32-bit integer.
_BLOCK_BYTES = 1 << 27
# Fewer bit pairs than this are counted faster than a thread starts.
_PAIRS_PER_THREAD = 1 << 28
# Fewer bytes than this are read or written faster than a thread starts.
_BYTES_PER_THREAD = 1 << 22
# Words that NumPy counts together: they stay in the cache.
_WORDS_AT_ONCE = 1 << 16
# Cells of a matrix that are mirrored together.
_TILE = 256


def kernel_name() -> str:
    """Return the name of the kernel that counts here: ``"native"`` or ``"numpy"``."""
    return "numpy" if native is None else "native"


def bit_pairs_a_second() -> float:
    """Estimate how many pairs of bits a thread counts per second on this processor."""
    return 1e10 if native is None else (3e10, 1e11, 3e11, 5e11)[_way]


def counting_way() -> int:
    """Return how C counts bits on this machine."""
    return _way


def counts_dtype(n_rows: int) -> type[np.int32] | type[np.int64]:
    """Return the type that holds counts of ``n_rows`` rows."""
    return np.int32 if n_rows <= 8 * _BLOCK_BYTES else np.int64


def count_each(lines: Lines, n_jobs: int = 1) -> Counts:
    """Count the ones in each line."""
    counts = np.zeros(len(lines), np.int64)

    def count(start: int, stop: int) -> None:
        for k in range(start, stop):
            counts[k] = _count_ones(lines[k].view(np.uint64))

    share(line_edges(len(lines), _n_bytes(lines), n_jobs), count)
    return counts


def count_pairs(lines: Lines, n_jobs: int = 1) -> Counts:
    """Count every pair of lines: a symmetric matrix, supports on the diagonal.

    Lines may be in different places in memory.
    """
    m = len(lines)
    total = np.zeros((m, m), counts_dtype(8 * _n_bytes(lines)))
    threads = _count_threads(m * m // 2, lines, n_jobs)
    # about equal numbers of pairs for each thread: row i of the triangle has m − i of them
    edges = [round(m * (1 - math.sqrt(1 - k / threads))) for k in range(threads + 1)]
    _count(lines, lines, total, edges, is_triangle=True)
    # Below the diagonal there are zeros or, with threads, some of the counts: the larger one of two
    # cells is right. Tile by tile, so that no temporary is as large as the matrix.
    for start in range(0, m, _TILE):
        stop = min(start + _TILE, m)
        tile = total[start:stop, start:stop]
        np.maximum(tile, tile.T, out=tile)
        total[stop:, start:stop] = total[start:stop, stop:].T
    return total


def count_across(left: Lines, right: Lines, n_jobs: int = 1) -> Counts:
    """Count each line of ``left`` with each line of ``right``."""
    total = np.zeros((len(left), len(right)), counts_dtype(8 * _n_bytes(right)))
    if total.size:
        _count(left, right, total, even_edges(len(left), _count_threads(total.size, right, n_jobs)))
    return total


def merge_lines(lines: Bits, n: int, left: int, right: int, n_jobs: int = 1) -> Counts:
    """Merge two of the first ``n`` lines in place, and count the new one.

    ``left ∧ right`` is written after them, and taken from both. The counts are those with each line
    as it was before.
    """
    n_bytes = lines.shape[1]
    is_small = counts_dtype(8 * n_bytes) is np.int32 and _count_threads(n, lines, n_jobs) == 1
    if native is not None and is_small:
        joint = np.empty(n, np.int32)
        native.native_merge_lines(_way, address(lines), n, n_bytes, left, right, address(joint))
        return joint
    both = lines[left] & lines[right]
    joint_counts = count_across(lines[:n], both[None], n_jobs)[:, 0]
    lines[left] ^= both
    lines[right] ^= both
    lines[n] = both
    return joint_counts


def even_edges(n: int, n_parts: int) -> list[int]:
    """Return where each of some equal parts of ``n`` things begins, and where the last one ends."""
    return [n * k // n_parts for k in range(n_parts + 1)]


def line_edges(n_lines: int, n_bytes: int, n_threads: int) -> list[int]:
    """Divide lines of ``n_bytes`` each between the threads that have enough to do."""
    return even_edges(n_lines, max(1, min(n_threads, n_lines * n_bytes // _BYTES_PER_THREAD)))


def share(edges: list[int], work: Callable[[int, int], object]) -> None:
    """Call ``work(start, stop)`` between one edge and the next, each on its own thread.

    If some fail, raise the error of the first of them.
    """
    ranges = [(start, stop) for start, stop in pairwise(edges) if start < stop]
    if len(ranges) <= 1:
        for start, stop in ranges:
            work(start, stop)
        return
    with ThreadPoolExecutor(len(ranges)) as pool:
        for future in [pool.submit(work, start, stop) for start, stop in ranges]:
            future.result()


def _count(
    left: Lines, right: Lines, total: Counts, edges: list[int], *, is_triangle: bool = False
) -> None:
    """Add counts to a total, a range of its rows on each thread.

    Of a triangle, only the pairs from the diagonal on are counted.
    """
    if native is None:
        _count_in_numpy(left, right, total, is_triangle=is_triangle)
        return
    one, other = addresses(left), addresses(right)
    n_right, n_bytes = len(right), _n_bytes(right)
    lines, others, out = address(one), address(other), address(total)
    is_wide = total.dtype == np.int64

    def count(start: int, stop: int) -> None:
        if native.native_count(
            _way, lines, start, stop, others, n_right, n_bytes, out, is_wide, is_triangle
        ):
            raise MemoryError("no memory is left to count in")

    share(edges, count)


def _count_in_numpy(left: Lines, right: Lines, total: Counts, *, is_triangle: bool) -> None:
    if len(left) > len(right):
        # each line of one side is a step in Python
        left, right, total = right, left, total.T
    n_bytes = _n_bytes(right)
    words = np.asarray(right, np.uint8).reshape(len(right), n_bytes).view(np.uint64)
    step = max(1, _WORDS_AT_ONCE // len(right)) if len(right) else 1
    for start in range(0, n_bytes // 8, step):
        some = slice(start, start + step)
        for k, line in enumerate(left):
            first = k if is_triangle else 0
            both = words[first:, some] & line.view(np.uint64)[some]
            total[k, first:] += _count_ones(both)


def _count_ones(words: NDArray[np.uint64]) -> Any:
    return np.bitwise_count(words).sum(axis=-1, dtype=np.int64)


def _n_bytes(lines: Lines) -> int:
    """Return the bytes of a line."""
    return len(lines[0]) if len(lines) else 0


def _count_threads(n_pairs: int, lines: Lines, n_jobs: int) -> int:
    """Return how many threads have enough to count."""
    return max(1, min(n_jobs, n_pairs * 8 * _n_bytes(lines) // _PAIRS_PER_THREAD))
