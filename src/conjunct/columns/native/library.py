"""The C part of conjunct, if it was built when conjunct was installed.

Whatever it does is done by NumPy too, with the same result: it is quicker, and never needed.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# of the functions in C and what they take; a library of another number is not used
_VERSION = 1
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
    library.native_count.argtypes = (
        *(ctypes.c_int, pointer, size, size, pointer, size, size, pointer),
        *(ctypes.c_int, ctypes.c_int),
    )
    return library


library: Any = _loaded()


def address(array: NDArray[Any]) -> int:
    """Where an array begins."""
    return int(array.ctypes.data)


def addresses(lines: Any) -> NDArray[np.uint64]:
    """Where each line begins: those of one array, or of several."""
    if isinstance(lines, np.ndarray):
        first, step = address(lines), lines.strides[0]
        return np.uint64(first) + np.uint64(step) * np.arange(len(lines), dtype=np.uint64)
    return np.array([address(line) for line in lines], np.uint64)
