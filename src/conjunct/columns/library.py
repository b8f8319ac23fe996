"""The C part of conjunct, if it was built when conjunct was installed.

NumPy can do the same with the same results: C is faster, and never needed.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

# number of the interface to C; a library with another one is not used
_VERSION = 17
_FILE = Path(__file__).parent / "native" / ("_native.dll" if os.name == "nt" else "_native.so")


def _load() -> Any:
    """Load the library; ``None`` if it was not built, or for another machine or version."""
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
        "native_distinct": (pointer, pointer, long, pointer, *3 * (long,), pointer, long, pointer),
        "native_hash_words": (pointer, long, long, pointer),
        "native_in_buckets": (pointer, long, long, word, *3 * (pointer,)),
        "native_meetings": (pointer, pointer, long, *4 * (pointer,)),
        "native_lists_new": (number, long, *3 * (pointer,)),
        "native_lists_merge": (pointer, number, number, pointer),
        "native_lists_free": (pointer,),
        "native_pairs_new": (number, number, long, pointer),
        "native_pairs_matrix": (pointer, pointer),
        "native_pairs_masked": (pointer, number, number, *3 * (pointer,)),
        "native_pairs_lists": (pointer, long, pointer, pointer, pointer),
        "native_pairs_make_room": (pointer, number, number),
        "native_pairs_row": (pointer, number, pointer, pointer),
        "native_pairs_merge": (pointer, number, number, pointer, pointer),
        "native_pairs_free": (pointer,),
        "native_order": (pointer, real, real, real, number, pointer, pointer),
        "native_forbid": (pointer, number, number),
        "native_best": (pointer, pointer, number),
        "native_patterns_new": (number, number, size, *3 * (pointer,)),
        "native_patterns_count": (pointer, number, number),
        "native_patterns_join": (pointer, number, number),
        "native_patterns_free": (pointer,),
        "native_evidence_new": (*3 * (pointer,), number, *3 * (pointer,)),
        "native_evidence_best": (pointer, pointer, pointer),
        "native_evidence_cap": (pointer, number, number, *4 * (long,)),
        "native_evidence_merged": (pointer, number, number, number),
        "native_evidence_run": (
            *(pointer, pointer, number, pointer, size, number, number, pointer, pointer),
        ),
        "native_evidence_free": (pointer,),
        "native_ask": (long, long, *3 * (pointer,), long, pointer, pointer, long, *5 * (pointer,)),
        "native_patterns": (long, long, pointer, pointer, long, *3 * (pointer,)),
        "native_code": (
            *(number, long, long, *3 * (pointer,), long),
            *(*4 * (pointer,), long, long, *4 * (pointer,)),
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


native_library: Any = _load()
