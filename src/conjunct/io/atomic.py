"""Output files that are whole or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from conjunct.errors import InputError


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside ``path``, then rename it into place.

    Whatever goes wrong, ``path`` keeps what it held before and nothing is left beside it.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder: name a file to write")
    # through a link, the file it points to is replaced and the link stays
    target = Path(os.path.realpath(target))
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".conjunct-", suffix=".part")
    except FileNotFoundError:
        raise InputError(f"{target.parent} does not exist: make the folder first") from None
    os.close(handle)
    part = Path(name)
    try:
        write(part)
        part.chmod(_mode(target))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The mode an ordinary ``open`` would have left: mkstemp's is for the owner only."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
