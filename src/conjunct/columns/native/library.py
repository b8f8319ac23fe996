"""The C part of conjunct, if it was built when conjunct was installed.

Whatever it does is done by NumPy too, with the same result: it is quicker, and never needed.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns.threads import even_edges, share

# of the functions in C and what they take; a library of another number is not used
_VERSION = 14
# Fewer rows than this are told apart faster than a thread starts.
_ROWS_PER_THREAD = 1 << 16
_FILE = Path(__file__).with_name("_native.so")


def _loaded() -> Any:
    """The library, or ``None``: it was not built, or for another machine or version."""
    try:
        library = ctypes.CDLL(str(_FILE))
        if library.native_version() != _VERSION:
            return None
    except (OSError, AttributeError):
        return None
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    number, long, real = ctypes.c_int32, ctypes.c_int64, ctypes.c_double
    word = ctypes.c_uint64
    takes = {
        "native_count": (number, *2 * (pointer, size, size), pointer, number, number),
        "native_merge_lines": (number, pointer, size, size, size, size, pointer),
        "native_turn": (pointer, *3 * (size,), pointer, size),
        "native_pack": (pointer, *3 * (size,), pointer, size),
        "native_hash": (pointer, pointer, *3 * (long,), pointer),
        "native_distinct": (pointer, pointer, long, pointer, *3 * (long,), pointer, long),
        "native_hash_words": (pointer, long, long, pointer),
        "native_in_buckets": (pointer, long, long, word, *3 * (pointer,)),
        "native_meetings": (pointer, pointer, long, *4 * (pointer,)),
        "native_lists_new": (number, long, pointer, pointer),
        "native_lists_merge": (pointer, number, number, pointer),
        "native_lists_free": (pointer,),
        "native_pairs_new": (number, number, long, pointer),
        "native_pairs_matrix": (pointer, pointer),
        "native_pairs_lists": (pointer, long, pointer, pointer, pointer),
        "native_pairs_make_room": (pointer, number, number),
        "native_pairs_row": (pointer, number, pointer, pointer),
        "native_pairs_merge": (pointer, number, number, pointer, pointer),
        "native_pairs_free": (pointer,),
        "native_order": (pointer, real, real, real, number, pointer, pointer),
        "native_forbid": (pointer, number, number),
        "native_best": (pointer, pointer, number),
        "native_patterns_new": (number, number, size, pointer, pointer),
        "native_patterns_count": (pointer, number, number),
        "native_patterns_join": (pointer, number, number),
        "native_patterns_free": (pointer,),
        "native_evidence_new": (*3 * (pointer,), number, *3 * (pointer,)),
        "native_evidence_best": (pointer, pointer, pointer),
        "native_evidence_cap": (pointer, number, number, number),
        "native_evidence_merged": (pointer, number, number, number),
        "native_evidence_free": (pointer,),
        "native_ask": (long, long, *3 * (pointer,), long, pointer, pointer, long, *5 * (pointer,)),
        "native_patterns": (long, long, pointer, pointer, long, *3 * (pointer,)),
        "native_code_counts": (
            *(number, long, long, *3 * (pointer,), long),
            *(*4 * (pointer,), long, long, pointer, pointer),
        ),
    }
    for name, types in takes.items():
        getattr(library, name).argtypes = types
    library.native_distinct.restype = library.native_in_buckets.restype = long
    library.native_meetings.restype = long
    library.native_lists_new.restype = library.native_pairs_new.restype = pointer
    library.native_evidence_new.restype = library.native_patterns_new.restype = pointer
    library.native_patterns_count.restype = library.native_patterns_join.restype = long
    return library


native_library: Any = _loaded()


def address(array: NDArray[Any]) -> int:
    """Where an array begins."""
    return int(array.ctypes.data)


def turn(lines: NDArray[np.uint8], n_bits: int, turned: NDArray[np.uint8]) -> None:
    """Bit b of line k to bit k of line b; the bytes of a line are side by side."""
    step, turned_step = lines.strides[0], turned.strides[0]
    native_library.native_turn(
        address(lines), len(lines), n_bits, step, address(turned), turned_step
    )


def pack(cells: NDArray[np.bool_], packed: NDArray[np.uint8]) -> None:
    """Write the rows of a table to the first bits of lines, one for each of its columns."""
    step, packed_step = cells.strides[0], packed.strides[0]
    native_library.native_pack(address(cells), *cells.shape, step, address(packed), packed_step)


def count_distinct(
    cells: NDArray[Any], starts: NDArray[np.integer[Any]] | None = None, n_threads: int = 1
) -> int | None:
    """Number of distinct rows of a matrix, or of what is between one start and the next.

    ``None``: C cannot tell.
    """
    n_rows = len(cells) if starts is None else len(starts) - 1
    if native_library is None or n_rows >= 1 << 31:
        return None
    n_parts = max(1, min(n_threads, n_rows // _ROWS_PER_THREAD))
    cells = np.ascontiguousarray(cells)
    if starts is not None:
        starts = np.multiply(starts, cells.itemsize, dtype=np.int64)
    start_address = None if starts is None else address(starts)
    rows = address(cells), start_address, cells.strides[0]
    hashes, found = np.empty(n_rows, np.uint64), np.empty(n_parts, np.int64)
    hashed = address(hashes)

    def mix(start: int, stop: int) -> None:
        native_library.native_hash(*rows, start, stop, hashed)

    def count(part: int, _: int) -> None:
        table = _places(n_rows, n_parts)
        found[part] = native_library.native_distinct(
            *rows, hashed, n_rows, part, n_parts, address(table), len(table)
        )

    share(even_edges(n_rows, n_parts), mix)
    share([*range(n_parts + 1)], count)
    return None if found.min() < 0 else int(found.sum())


def _places(n_rows: int, n_parts: int) -> NDArray[np.int64]:
    """Places for the rows of a part, of which one in four stays free, or more; all are free yet."""
    # parts of hashes are nearly of one size
    expected = n_rows if n_parts == 1 else n_rows // n_parts * 17 // 16 + 4096
    return np.full(1 << max(8, (4 * expected // 3).bit_length()), -1, np.int64)


def hash_rows(rows: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Write both hashes of each row."""
    native_library.native_hash_words(address(rows), *rows.shape, address(hashes))


def in_buckets(
    rows: NDArray[np.uint64], n_buckets: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Each row about once, one bucket after the other, and where each bucket starts."""
    rows, starts = np.ascontiguousarray(rows), np.zeros(n_buckets + 2, np.int64)
    hashes, found = np.empty(len(rows), np.uint64), np.empty_like(rows)
    arrays = map(address, (hashes, starts, found))
    n = native_library.native_in_buckets(address(rows), *rows.shape, n_buckets, *arrays)
    # few of many do not hold what all of them took
    return found[:n].copy() if 2 * n < len(rows) else found[:n], starts[:-1]


def addresses(lines: Any) -> NDArray[np.uint64]:
    """Where each line begins: those of one array, or of several."""
    if isinstance(lines, np.ndarray):
        first, step = address(lines), lines.strides[0]
        return np.uint64(first) + np.uint64(step) * np.arange(len(lines), dtype=np.uint64)
    return np.array([address(line) for line in lines], np.uint64)
