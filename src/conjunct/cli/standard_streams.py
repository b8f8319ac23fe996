"""Standard input and output under the name ``-``."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from pathlib import Path

DASH = Path("-")
_CHUNK = 1 << 20

_copy: ContextVar[Path | None] = ContextVar("copy", default=None)


def file_of(data: Path) -> Path:
    """The file to read: standard input is copied to one first, since it is read more than once."""
    import tempfile

    from conjunct.counting import room_in_scratch

    if data != DASH:
        return data
    copy = _copy.get()
    if copy is None:
        # CSV unless --format says otherwise
        handle, name = tempfile.mkstemp(prefix="conjunct-", suffix=".csv")
        copy = Path(name)
        _copy.set(copy)
        with os.fdopen(handle, "wb", buffering=0) as opened:
            while some := sys.stdin.buffer.read(_CHUNK):
                with room_in_scratch():
                    while some:
                        some = some[opened.write(some) :]
    return copy


def remove_copy() -> None:
    """Remove the copy of standard input, if there is one."""
    copy = _copy.get()
    if copy is not None:
        copy.unlink(missing_ok=True)
        _copy.set(None)


def name_of(data: Path) -> str:
    """What to call a file in words."""
    return "standard input" if data == DASH else str(data)


def named(message: str) -> str:
    """A message about the copy as one about standard input."""
    copy = _copy.get()
    return message if copy is None else message.replace(str(copy), name_of(DASH))


def is_printed(out: Path | None) -> bool:
    """Whether a result that is text goes to standard output."""
    return out is None or out == DASH
