"""Files as bytes and as lines, compressed or not; and what can be wrong with them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, cast

from conjunct.errors import InputError

StrPath = str | os.PathLike[str]
Progress = Callable[[int, int | None], object]
"""Called with the number of rows read so far and about how many there are, if that is known."""

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

BATCH_ROWS = 16_384

LONGEST_LINE = 1 << 24
"""Bytes. A small compressed file may hold a line of gigabytes, and a line is read whole."""

_BATCH_BYTES = 1 << 29
_CHUNK = 1 << 20
_MOST_CELLS = 1 << 28


def check_name(path: StrPath) -> None:
    """Refuse a name that is not text, as one with ``é`` is not in the C locale: polars would."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{str(path)!a} is not text in this locale: set PYTHONUTF8=1, or rename the file"
        ) from None


def check_exists(path: StrPath) -> Path:
    """Return the file at ``path``, which must exist and be a file."""
    file = Path(path)
    check_name(file)
    if file.is_dir():
        raise InputError(f"{file} is a folder: name a file to read")
    if not file.is_file():
        what = "is not an ordinary file" if file.exists() else "does not exist"
        raise InputError(f"{file} {what}")
    return file


def check_not_empty(path: StrPath, needs: str = "a line of column names, then rows") -> Path:
    """Return the file at ``path``, which must exist and not be empty."""
    file = check_exists(path)
    with file.open("rb") as opened:
        empty = not opened.read(1)
    if empty:
        raise InputError(f"{file} is empty: it needs {needs}")
    if detect_compression(file) is not None:
        _refuse_bomb(file)
    return file


def detect_compression(file: Path) -> str | None:
    """Return ``"gzip"``, ``"zstd"`` or None: by content, as polars does, not by name."""
    with file.open("rb") as opened:
        start = opened.read(4)
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def text_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a text file with their ends, without a byte order mark."""
    with open_bytes(file) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as lines:
        try:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), ""), start=1):
                if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
                    raise _long_line_error(file, number)
                yield line
        except UnicodeDecodeError:
            raise utf8_error(file) from None


def refuse_carriage_returns(file: Path) -> None:
    """Refuse line ends that only Python takes for such."""
    with open_bytes(file) as raw:
        start = raw.read(1 << 16)
    if b"\r" in start and b"\n" not in start:
        raise InputError(f"{file} has line ends of carriage return only: save it with line feeds")


def utf8_error(file: Path) -> InputError:
    """Return an error: the file is not UTF-8, and on which line."""
    line = _find_undecodable_line(file)
    where = f"{file}, line {line}" if line else str(file)
    return InputError(f"{where} is not UTF-8 text: save the file as UTF-8")


def refuse_zero_bytes(file: Path, line: int, text: str) -> None:
    """Refuse a line that holds zero bytes."""
    if "\0" in text:
        raise InputError(f"{file}, line {line} holds zero bytes: not a text file")


def estimate_rows(file: Path, n_rows: int, n_bytes: int) -> int | None:
    """Estimate how many rows a file has if ``n_rows`` of them take ``n_bytes``."""
    if detect_compression(file) or not n_bytes:
        return None
    return max(n_rows, round(file.stat().st_size / n_bytes * n_rows))


def refuse_dense(file: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a table that is small only in its file, where cells of zero or none are left out."""
    if n_rows * n_columns > _MOST_CELLS:
        raise InputError(
            f"{file}: {n_rows:,} rows of {n_columns:,} columns are too many cells for this kind "
            "of file; write the data as baskets"
        )


def first_line(error: BaseException) -> str:
    """Return why, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0]


@contextmanager
def one_line_errors(path: StrPath) -> Iterator[None]:
    """Say in one line what is wrong with a file."""
    try:
        yield
    except _damage_types() as error:
        raise InputError(f"{path} cannot be read: {first_line(error)}") from None


def _damage_types() -> tuple[type[BaseException], ...]:
    """Return the errors that damaged files cause.

    polars panics over some Arrow files: not an Exception, but no more than bad input. Where it is
    not loaded, as for baskets, nothing of it can be raised.
    """
    polars = sys.modules.get("polars")
    return OSError, EOFError, *(() if polars is None else (polars.exceptions.PanicException,))


def line_batches(file: Path) -> Iterator[list[str]]:
    """Yield lines without their ends, some thousands at a time."""
    batch: list[str] = []
    length = 0
    for number, line in enumerate(text_lines(file), start=1):
        refuse_zero_bytes(file, number, line)
        batch.append(line.rstrip("\r\n"))
        length += len(line)
        if len(batch) == BATCH_ROWS or length > LONGEST_LINE:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def open_bytes(file: Path) -> IO[bytes]:
    """Open the bytes of a file, decompressed as they are read."""
    kind = detect_compression(file)
    if kind == "zstd":
        return cast("IO[bytes]", _import_zstd().open(file, "rb"))
    return cast("IO[bytes]", gzip.open(file, "rb")) if kind == "gzip" else file.open("rb")


def _import_zstd() -> ModuleType:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _refuse_bomb(file: Path) -> None:
    """Read a compressed file through, to refuse it if it is damaged or its lines are endless.

    Everything after this reads lines or batches of them whole.
    """
    broken = (
        EOFError,
        zlib.error,
        *([_import_zstd().ZstdError] if detect_compression(file) == "zstd" else ()),
    )
    n_lines, line_bytes, batch_lines, batch_bytes = 0, 0, 0, 0
    try:
        with open_bytes(file) as raw:
            while chunk := raw.read(_CHUNK):
                ends = chunk.count(b"\n")
                longest = line_bytes + (chunk.index(b"\n") if ends else len(chunk))
                if longest > LONGEST_LINE:
                    raise _long_line_error(file, n_lines + 1)
                line_bytes = len(chunk) - chunk.rindex(b"\n") - 1 if ends else longest
                n_lines, batch_lines = n_lines + ends, batch_lines + ends
                batch_bytes += len(chunk)
                if batch_lines >= BATCH_ROWS:
                    batch_lines, batch_bytes = 0, 0
                elif batch_bytes > _BATCH_BYTES:
                    raise InputError(
                        f"{file}: {batch_lines:,} lines hold {batch_bytes >> 20} MB; "
                        "if that is meant, decompress the file first"
                    )
    except broken as error:
        raise InputError(f"{file} cannot be read: {first_line(error)}") from None


def _long_line_error(file: Path, line: int) -> InputError:
    return InputError(f"{file}, line {line} is longer than {LONGEST_LINE >> 20} MB: not a table")


def _find_undecodable_line(file: Path) -> int | None:
    with open_bytes(file) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None
