"""Amounts of memory: reading and writing them, and measuring those of the process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from conjunct.errors import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_ROOT = Path("/")
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def parse_bytes(amount: str | int) -> int:
    """Return the number of bytes of ``"500MB"``, ``"2 GiB"`` or 500000000.

    Examples
    --------
    >>> parse_bytes("500MB"), parse_bytes("2GiB"), parse_bytes(64)
    (500000000, 2147483648, 64)
    """
    if isinstance(amount, int):
        return amount
    found = _AMOUNT.fullmatch(amount)
    if found is None or (found[3] and not found[2]):
        raise InputError(f"memory must be a size such as 500MB or 2GiB; got {amount!r}")
    unit = found[2].lower()
    return int(float(found[1]) * (_BINARY if found[3] else _UNITS)[unit])


def byte_text(n_bytes: int) -> str:
    """Format a number of bytes for people.

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
    """Return the current memory of the process, or its peak if the system reports only that."""
    now = _statm(1)
    if now:
        return now
    try:
        import resource
    except ImportError:  # Windows: a typical size of Python with these libraries
        return 200 * 10**6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available_bytes() -> int:
    """Return the memory that is available to this process, as far as the system reports it."""
    limits = [available_addresses()]
    try:
        limits.append(_fields(_ROOT / "proc/meminfo")["MemAvailable:"] * 1024)
    except (OSError, KeyError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
            limits.append(pages - resident_bytes())
    for group in _own_groups():
        limits += _group_limits(group)
    return max(0, min(limits))


def available_addresses() -> int:
    """Return the address space that is available to this process (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return sys.maxsize if soft == resource.RLIM_INFINITY else max(0, soft - _statm(0))


def _own_groups() -> Iterator[Path]:
    """Yield the folders of this process's control groups, innermost first."""
    try:
        own = (_ROOT / "proc/self/cgroup").read_text().splitlines()
        mounts = (_ROOT / "proc/self/mountinfo").read_text().splitlines()
    except OSError:  # not Linux
        return
    named = [line.split(":", 2)[1:] for line in own]
    paths = {name: path for names, path in named for name in names.split(",")}
    for line in mounts:
        before, _, after = line.partition(" - ")
        top, mount = before.split()[3:5]
        kind, *_, options = after.split()
        # version 2 has one unnamed tree, version 1 one per controller
        which = {"cgroup2": "", "cgroup": "memory"}.get(kind)
        if which not in paths or (which and which not in options.split(",")):
            continue
        folder = _ROOT / mount.lstrip("/")
        path = PurePosixPath(paths[which])
        # a container may see only its own groups, as if they were the top
        below = path.relative_to(top) if path.is_relative_to(top) else PurePosixPath()
        for _ in below.parts:
            yield folder / below
            below = below.parent
        yield folder


def _group_limits(group: Path) -> Iterator[int]:
    """Yield the bytes that a control group of either version still allows."""
    for prefix, used, *limits in (
        ("", "memory.current", "memory.max", "memory.high"),
        ("total_", "memory.usage_in_bytes", "memory.limit_in_bytes"),
    ):
        for limit in limits:
            try:
                left = int((group / limit).read_text()) - int((group / used).read_text())
                stat = _fields(group / "memory.stat")
            except (OSError, ValueError):  # no such file, or "max" for no limit
                continue
            # cached files can be dropped, except for mapped ones, which running programs use;
            # files read more than once count as active
            mapped = stat.get(f"{prefix}mapped_file" if prefix else "file_mapped", 0)
            active = max(0, stat.get(f"{prefix}active_file", 0) - mapped)
            yield left + stat.get(f"{prefix}inactive_file", 0) + active


def _fields(path: Path) -> dict[str, int]:
    """Read the numbers of a system file, each by the word before it."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def _statm(position: int) -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[position])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
