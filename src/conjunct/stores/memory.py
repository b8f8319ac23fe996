"""Amounts of memory: as people write them, and as the process has them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from conjunct.errors import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def parse_bytes(amount: str | int) -> int:
    """The number of bytes of ``"500MB"``, ``"2 GiB"`` or 500000000.

    Examples
    --------
    >>> parse_bytes("500MB"), parse_bytes("2GiB"), parse_bytes(64)
    (500000000, 2147483648, 64)
    """
    if isinstance(amount, int):
        return amount
    found = _AMOUNT.fullmatch(amount)
    if found is None or (found[3] and not found[2]):
        raise InputError(f"memory must be like 500MB or 2GiB; got {amount!r}")
    unit = found[2].lower()
    return int(float(found[1]) * (_BINARY if found[3] else _UNITS)[unit])


def byte_text(n_bytes: int) -> str:
    """
    Examples
    --------
    >>> byte_text(1_500_000), byte_text(512)
    ('1.5 MB', '512 bytes')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if abs(n_bytes) >= unit:
            return f"{n_bytes / unit:.3g} {name}"
    return f"{n_bytes} bytes"


def resident_bytes() -> int:
    """Memory that the process has now; where the system does not say, the most it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return _most_resident_bytes()
    import resource

    return pages * resource.getpagesize()


def machine_bytes() -> int:
    """Memory of the machine; 8 GB where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 * 10**9


def _most_resident_bytes() -> int:
    try:
        import resource
    except ImportError:  # Windows: about what Python and its libraries take
        return 200 * 10**6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
