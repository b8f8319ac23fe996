"""Files as bytes and as lines, compressed or not; and what can be wrong with them."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from conjunct.errors import InputError

StrPath = str | os.PathLike[str]
Progress = Callable[[int, int | None], object]
"""Called with the number of rows read so far and about how many there are, if that is known."""

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

BATCH_ROWS = 16_384


def existing_file(path: StrPath) -> Path:
    """The file at ``path``, if it is one."""
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{file} is a folder: name a file to read")
    if not file.is_file():
        what = "is not an ordinary file" if file.exists() else "does not exist"
        raise InputError(f"{file} {what}")
    return file


def filled_file(path: StrPath, needs: str = "a line of column names, then rows") -> Path:
    """The file at ``path``, if it is one and holds something."""
    file = existing_file(path)
    with file.open("rb") as opened:
        empty = not opened.read(1)
    if empty:
        raise InputError(f"{file} is empty: it needs {needs}")
    return file


def compression(file: Path) -> str | None:
    """``"gzip"``, ``"zstd"`` or None: by content, as polars does, not by name."""
    with file.open("rb") as opened:
        start = opened.read(4)
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def text_lines(file: Path) -> Iterator[str]:
    """The lines of a text file with their ends; a byte order mark is left out."""
    if compression(file) == "zstd":
        yield from _zstd_lines(file)
        return
    with _opened(file) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as lines:
        try:
            yield from lines
        except UnicodeDecodeError:
            raise not_utf8(file) from None


def refuse_carriage_returns(file: Path) -> None:
    """Refuse line ends that only Python takes for such."""
    if compression(file) == "zstd":
        return
    with _opened(file) as raw:
        start = raw.read(1 << 16)
    if b"\r" in start and b"\n" not in start:
        raise InputError(f"{file} has line ends of carriage return only: save it with line feeds")


def not_utf8(file: Path) -> InputError:
    """That the file is not UTF-8, and on which line."""
    line = _undecodable_line(file)
    where = f"{file}, line {line}" if line else str(file)
    return InputError(f"{where} is not UTF-8 text: save the file as UTF-8")


def refuse_zero_bytes(file: Path, line: int, text: str) -> None:
    if "\0" in text:
        raise InputError(f"{file}, line {line} holds zero bytes: not a text file")


def about_rows(file: Path, n_rows: int, n_bytes: int) -> int | None:
    """About how many rows a file has if ``n_rows`` of them take ``n_bytes``."""
    if compression(file) or not n_bytes:
        return None
    return max(n_rows, round(file.stat().st_size / n_bytes * n_rows))


def reason(error: BaseException) -> str:
    """Why, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0]


def line_batches(file: Path) -> Iterator[list[str]]:
    """Lines without their ends, some thousands at a time."""
    batch: list[str] = []
    for number, line in enumerate(text_lines(file), start=1):
        refuse_zero_bytes(file, number, line)
        batch.append(line.rstrip("\r\n"))
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _opened(file: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(file, "rb") if compression(file) == "gzip" else file.open("rb")


def _zstd_lines(file: Path) -> Iterator[str]:
    import polars as pl

    first = True
    try:
        for batch in pl.scan_lines(file, glob=False).collect_batches(chunk_size=BATCH_ROWS):
            for line in batch.to_series():
                yield (line.removeprefix("\ufeff") if first else line) + "\n"
                first = False
    except pl.exceptions.PolarsError as error:
        if "utf8" in str(error):
            raise not_utf8(file) from None
        raise InputError(f"{file} cannot be read: {reason(error)}") from None


def _undecodable_line(file: Path) -> int | None:
    if compression(file) == "zstd":
        return None
    with _opened(file) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None
