"""Output files that are whole or absent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from conjunct.errors import InputError


def check_target(path: str | os.PathLike[str]) -> Path:
    """The file that writing to ``path`` will make or replace; refused where none can be."""
    # through a link, the file it points to is replaced and the link stays
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a folder: name a file to write")
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is not an ordinary file: name one to write")
    if not target.parent.is_dir():
        raise InputError(f"{Path(path).parent} is not a folder: make it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{Path(path).parent} is read-only: name another folder")
    return target


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside ``path``, then rename it into place.

    Whatever goes wrong, ``path`` keeps what it held before and nothing is left beside it.
    """
    target = check_target(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".conjunct-", suffix=".part")
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
