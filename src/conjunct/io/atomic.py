"""Output files that are whole or absent."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from conjunct.errors import InputError

_PREFIX, _SUFFIX = ".conjunct-", ".part"


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

    Whatever goes wrong, ``path`` keeps what it held before and nothing is left beside it, unless
    the process is killed outright; then the next one that writes there clears up.
    """
    target = check_target(path)
    _remove_abandoned(target.parent)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_PREFIX, suffix=_SUFFIX)
    part = Path(name)
    try:
        _locked(handle)
        write(part)
        part.chmod(_mode(target))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have left: a living one holds a lock on its part."""
    for part in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        # not ours to remove, or gone already
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _locked(handle):
                    part.unlink()
            finally:
                os.close(handle)


def _locked(handle: int) -> bool:
    """Lock a file until it is closed; False if another process has."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # or a file system without locks
        return False
    return True


def _mode(target: Path) -> int:
    """The mode an ordinary ``open`` would have left: mkstemp's is for the owner only."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
