"""Which columns meet, from lists of rows: in C where it was built, and otherwise with SciPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.counts import CommonPairs
from conjunct.columns.native.library import address, native_library

Mask = NDArray[np.bool_]
Counter = Callable[[NDArray[np.int32], int], CommonPairs]
"""Counts the pairs of some new columns, which are no more than a number."""

# Meetings of two columns in a row that are counted together, at about 20 bytes each.
_AT_ONCE = 1 << 22
# Fewer meetings than this are counted faster than a thread starts.
_PER_THREAD = 1 << 20


def meeting_pairs(ones: Any, rows: Any, keeps: Mask, n_threads: int = 1) -> CommonPairs:
    """The pairs of columns that are not kept with each other and with those that are.

    ``ones`` is a matrix of ones column by column, and ``rows`` the same row by row.
    """
    new = np.flatnonzero(~keeps).astype(np.int32)
    meetings = ones[:, new].T @ np.diff(rows.indptr).astype(np.int64)
    # a column is in as many pairs as there are columns, or meetings in its rows, at most
    room = np.minimum(meetings, len(keeps))
    counter = _with_scipy if native_library is None else _in_c
    count = counter(ones, rows, keeps)

    def counted(some: tuple[int, int]) -> CommonPairs:
        start, stop = some
        return count(new[start:stop], int(room[start:stop].sum()))

    ranges = _ranges(meetings, n_threads)
    if n_threads == 1 or len(ranges) == 1:
        parts = [*map(counted, ranges)]
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            parts = [*pool.map(counted, ranges)]
    return CommonPairs.joined([CommonPairs(*np.empty((3, 0), np.int32)), *parts])


def _ranges(meetings: NDArray[np.int64], n_threads: int) -> list[tuple[int, int]]:
    """Ranges of columns that are counted together."""
    done = np.cumsum(meetings)
    total = int(done[-1]) if len(done) else 0
    step = min(_AT_ONCE, max(_PER_THREAD, -(-total // n_threads)))
    inner = np.searchsorted(done, np.arange(step, total, step))
    return [*pairwise(np.unique([0, *inner.tolist(), len(meetings)]).tolist())]


def _in_c(ones: Any, rows: Any, keeps: Mask) -> Counter:
    lists = [
        np.ascontiguousarray(array, dtype)
        for matrix in (ones, rows)
        for array, dtype in ((matrix.indptr, np.int64), (matrix.indices, np.int32))
    ]
    is_kept = address(keeps) if keeps.any() else None

    def count(new: NDArray[np.int32], room: int) -> CommonPairs:
        places = (ctypes.c_void_p * 5)(len(keeps), *map(address, lists))
        found = np.empty((3, room), np.int32)
        n = native_library.native_meetings(
            places, address(new), len(new), is_kept, *map(address, found)
        )
        if n < 0:
            raise MemoryError("no memory is left to count in")
        return CommonPairs(*found[:, :n])

    return count


def _with_scipy(ones: Any, rows: Any, keeps: Mask) -> Counter:
    def count(new: NDArray[np.int32], room: int) -> CommonPairs:
        product = ones[:, new].T @ rows
        one = np.repeat(new, np.diff(product.indptr))
        other = product.indices.astype(np.int32, copy=False)
        # the product has each pair of new columns twice, and each column with itself
        once = np.flatnonzero((other < one) | keeps[other])
        one, other = one[once], other[once]
        return CommonPairs(np.minimum(one, other), np.maximum(one, other), product.data[once])

    return count
