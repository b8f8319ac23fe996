"""Which format a file has: as it is told, by the file's name or by its first bytes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from conjunct.errors import ConjunctWarning, InputError
from conjunct.files.formats.base import FORMATS, Compression, Format, ReadOptions, Writes
from conjunct.files.raw import StrPath, filled_file


def format_of(path: StrPath, name: str | None = None) -> Format:
    """The format called ``name``, or else what the file's name ends in, or its bytes say."""
    read = [kind for kind in FORMATS.values() if kind.is_read]
    if name is not None:
        kind = FORMATS.get(name)
        if kind is not None and kind.is_read:
            return kind
        names = ", ".join(kind.name for kind in read)
        raise InputError(f"format must be one of {names}; got {name!r}")
    found = _by_name(path, read)
    if found is not None:
        return found[0]
    if Path(path).is_file():
        with Path(path).open("rb") as opened:
            start = opened.read(16)
        for kind in read:
            if kind.magic and start.startswith(kind.magic):
                return kind
    raise InputError(f"{_unknown(path, read)}, or the format be given")


def file_to_read(path: StrPath, kind: Format, options: ReadOptions) -> Path:
    """The file, which must hold something; a person is told what is odd about it."""
    file = filled_file(path, kind.needs)
    remark = kind.remark(file, options)
    if remark is not None:
        warnings.warn(remark, ConjunctWarning, stacklevel=2)
    return file


def writer_of(path: StrPath, writes: Writes = "tables") -> tuple[Format, Compression]:
    """The format in which a file of this name is written, and how it is compressed."""
    written = [kind for kind in FORMATS.values() if kind.writes == writes]
    found = _by_name(path, written)
    if found is None:
        raise InputError(_unknown(path, written))
    return found


def _by_name(path: StrPath, kinds: Sequence[Format]) -> tuple[Format, Compression] | None:
    name = Path(path).name.lower()
    for kind in kinds:
        for ending, compression in kind.endings():
            if name.endswith(ending):
                return kind, compression
    return None


def _unknown(path: StrPath, kinds: Sequence[Format]) -> str:
    extensions = ", ".join(extension for kind in kinds for extension in kind.extensions)
    return (
        f"{path}: not a known kind of table; the name must end in {extensions} "
        "(text also in .gz or .zst after that)"
    )
