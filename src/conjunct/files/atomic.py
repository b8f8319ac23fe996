"""Output files that are whole or absent."""

from __future__ import annotations

import os
import platform
import secrets
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from conjunct.errors import InputError

_SUFFIX = ".part"


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that writing to ``path`` makes or replaces; refuse it if it cannot."""
    # through a link, the file it points to is replaced and the link stays
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path} is a folder: name a file to write")
    if target.exists() and not target.is_file():
        raise InputError(f"{path} is not an ordinary file: name one to write")
    # a link may point into a folder that is not there
    folder = target.parent if Path(path).is_symlink() else Path(path).parent
    if not target.parent.is_dir():
        raise InputError(f"{folder} is not a folder: make it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError(f"{folder} is read-only: name another folder")
    return target


def check_page_target(path: str | os.PathLike[str]) -> Path:
    """Check the target of a page for a browser, whose name must say so."""
    target = check_target(path)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is a page for a browser: name it .html")
    return target


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside ``path``, then rename it into place.

    If anything goes wrong, ``path`` keeps what it held before and no other file remains, unless
    the process is killed outright; then the next one that writes there clears up.
    """
    target = check_target(path)
    _remove_leftovers(target.parent)
    mode = _read_mode(target)
    # an interrupt may come between any two steps: the name is known before the file exists
    part, handle = target, -1
    try:
        while True:
            part = target.parent / f"{_part_prefix()}{secrets.token_hex(8)}{_SUFFIX}"
            # the system applies the umask; who may not read the target may not read the part
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            handle = os.open(part, flags, 0o666 if mode is None else mode)
            # no process removes a part that is locked; before, one may take it for abandoned
            if _try_lock(handle) is not False and part.exists():
                break
            os.close(handle)
            handle = -1
        write(part)
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except BaseException as error:
        if part != target:
            part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        if handle >= 0:
            os.close(handle)


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed processes have left: a living one holds a lock on its part."""
    for part in folder.glob(f"{_part_prefix()}*{_SUFFIX}"):
        # not ours to remove, or gone already
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _try_lock(handle):
                    part.unlink()
            finally:
                os.close(handle)


def _part_prefix() -> str:
    """Return how the parts of this machine begin: some network locks hold for one machine only."""
    return f".conjunct-{zlib.crc32(platform.node().encode()):08x}-"


def _try_lock(handle: int) -> bool | None:
    """Lock a file until it is closed; False if another process has, None if locks do not work."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _read_mode(target: Path) -> int | None:
    """Return the mode of a file that is replaced, or None."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return None
