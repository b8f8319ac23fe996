"""Files as bytes and as lines, compressed or not, and errors about them."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

from conjunct.errors import InputError

T = TypeVar("T")
StrPath = str | os.PathLike[str]
Progress = Callable[[int, int | None], object]
"""A function of the number of rows read so far, and of their estimated total or None."""

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

BATCH_ROWS = 16_384

LONGEST_LINE = 1 << 24
"""Bytes. Lines are read whole, but a small compressed file may hold a line of gigabytes."""

_BATCH_BYTES = 1 << 29
_MOST_BLANK = 1 << 23
_MOST_COPIES = 16
_CHUNK = 1 << 20
_START = 1 << 16
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# control characters that text never contains; zero bytes are refused elsewhere
_CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CELLS = 1 << 28


def check_name(path: StrPath) -> None:
    """Refuse a name that is not text, which polars cannot open: ``é`` is not in the C locale."""
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
    plain_file(file)
    return file


def text_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a text file with their line ends, without a byte order mark."""
    with text_file(file).open(encoding="utf-8-sig", newline="") as lines:
        try:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), ""), start=1):
                if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
                    raise _long_line_error(file, number)
                yield line
        except UnicodeDecodeError:
            raise utf8_error(file) from None


def text_file(file: Path) -> Path:
    """Return the file if it is UTF-8 with line feeds, or a converted copy."""
    return _find_text(file)[0]


def describe_text(file: Path) -> str | None:
    """Describe the conversion of the text of a file, if there was one."""
    note = _find_text(file)[1]
    return f"{file} {note}" if note else None


def _find_text(file: Path) -> tuple[Path, str]:
    """Return a file of UTF-8 with line feeds, and a note about its conversion."""

    def decode(copy: Path) -> tuple[Path, str]:
        plain = plain_file(file)
        with plain.open("rb") as raw:
            start = raw.read(_START)
        encoding = _find_encoding(plain, start)
        text = start.decode(encoding or "utf-8", "ignore")
        has_returns = "\r" in text and "\n" not in text
        if encoding is None and not has_returns:
            return plain, ""
        to_text = codecs.getincrementaldecoder(encoding or "utf-8-sig")().decode
        with plain.open("rb") as raw, copy.open("w", encoding="utf-8", newline="") as out:
            while chunk := raw.read(_CHUNK):
                try:
                    text = to_text(chunk)
                except UnicodeDecodeError:
                    raise utf8_error(file) from None
                if encoding == "cp1252" and _CONTROLS.search(text):
                    raise utf8_error(file)
                out.write(text.replace("\r", "\n") if has_returns else text)
        notes = []
        if encoding == "cp1252":
            notes.append(
                "is not UTF-8, and is read as Western European text (Windows-1252, Latin-1); "
                "if some letters look wrong, save the file as UTF-8"
            )
        elif encoding is not None:
            notes.append(f"is {encoding.upper()} text, and is decoded")
        if has_returns:
            notes.append("ends lines with carriage returns alone, and is read accordingly")
        return copy, "; it ".join(notes)

    return make_once("decode", file, decode)


# results and copies, the oldest first, by the step, the file, its state and the settings
_MADE: dict[tuple[object, ...], tuple[Any, Path]] = {}


@cache
def _scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed when Python ends."""
    return tempfile.TemporaryDirectory(prefix="conjunct-")


def make_once(step: str, file: Path, make: Callable[[Path], T], *settings: object) -> T:
    """Return the result of ``make``, which may fill a copy. Repeat it only if the file changed.

    A few copies are kept until Python ends. Older ones are removed, and made again when needed.
    """
    state = file.stat()
    key = (step, file.absolute(), state.st_mtime_ns, state.st_size, *settings)
    if key not in _MADE:
        descriptor, name = tempfile.mkstemp(dir=_scratch_folder().name)
        os.close(descriptor)
        copy = Path(name)
        try:
            made = make(copy)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise
        while len(_MADE) >= _MOST_COPIES:
            _, oldest = _MADE.pop(next(iter(_MADE)))
            with suppress(OSError):  # Windows does not remove open files
                oldest.unlink(missing_ok=True)
        _MADE[key] = made, copy
    return cast("T", _MADE[key][0])


def _find_encoding(file: Path, start: bytes) -> str | None:
    """Return the encoding of a text file, or None for UTF-8."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    if len(start) >= 4 and b"\0" in start[:2]:
        low, high = start[0:200:2], start[1:200:2]
        for zeros, others, name in ((high, low, "utf-16-le"), (low, high, "utf-16-be")):
            if not any(zeros) and all(others):
                return name
    decode = codecs.getincrementaldecoder("utf-8")().decode
    has_letters = False
    try:
        with file.open("rb") as raw:
            while chunk := raw.read(_CHUNK):
                text = "" if chunk.isascii() and not has_letters else decode(chunk)
                has_letters = has_letters or not text.isascii()
            decode(b"", final=True)
    except UnicodeDecodeError as error:
        # a wrong byte after valid letters of UTF-8 means damage, not another encoding
        has_letters = has_letters or not error.object[: error.start].isascii()
        return None if has_letters else "cp1252"
    return None


def utf8_error(file: Path) -> InputError:
    """Return the error for a file that is not UTF-8, with the line."""
    with plain_file(file).open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                where = f"{file}, line {number}"
                break
        else:
            where = str(file)
    return InputError(f"{where} is not UTF-8 text: save the file as UTF-8")


def refuse_zero_bytes(file: Path, line: int, text: str) -> None:
    """Refuse a line with zero bytes."""
    if "\0" in text:
        raise InputError(f"{file}, line {line} contains zero bytes: not a text file")


def estimate_rows(file: Path, n_rows: int, n_bytes: int) -> int | None:
    """Estimate the number of rows of a file if ``n_rows`` of them take ``n_bytes``."""
    if not n_bytes:
        return None
    return max(n_rows, round(plain_file(file).stat().st_size / n_bytes * n_rows))


def refuse_dense(file: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a table that is small in its file, which omits empty cells, but large in memory."""
    if n_rows * n_columns > _MOST_CELLS:
        raise InputError(
            f"{file}: {n_rows:,} rows of {n_columns:,} columns are too many cells for this kind "
            "of file; write the data as baskets"
        )


def first_line(error: BaseException) -> str:
    """Return the reason for an error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0]


@contextmanager
def one_line_errors(path: StrPath) -> Iterator[None]:
    """Turn errors of the system and of polars into one line about a file."""
    try:
        yield
    except BaseException as error:
        # some Arrow files make polars panic, which is no Exception; baskets do not load polars
        polars = sys.modules.get("polars")
        panic = () if polars is None else (polars.exceptions.PanicException,)
        if not isinstance(error, (OSError, EOFError, *panic)):
            raise
        raise InputError(f"{path} cannot be read: {first_line(error)}") from None


def line_batches(file: Path) -> Iterator[list[str]]:
    """Yield lists of some thousand lines, without line ends."""
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


def plain_file(file: Path) -> Path:
    """Return the file, or a decompressed copy. As in polars, the content decides, not the name."""
    with file.open("rb") as opened:
        start = opened.read(4)
    kind = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
    return file if kind is None else make_once("decompress", file, partial(_decompress, file, kind))


def _decompress(file: Path, kind: str, copy: Path) -> Path:
    """Fill the copy. Refuse endless lines and blank lines, because lines are later read whole."""
    opener: Any = gzip.open
    broken: tuple[type[BaseException], ...] = (EOFError, zlib.error)
    if kind == "zstd":
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        opener, broken = zstd.open, (*broken, zstd.ZstdError)
    n_lines, line_bytes, batch_lines, batch_bytes, blank_bytes = 0, 0, 0, 0, 0
    try:
        with opener(file, "rb") as raw, copy.open("wb") as out:
            while chunk := raw.read(_CHUNK):
                ends = chunk.count(b"\n")
                longest = line_bytes + (chunk.index(b"\n") if ends else len(chunk))
                if longest > LONGEST_LINE:
                    raise _long_line_error(file, n_lines + 1)
                line_bytes = len(chunk) - chunk.rindex(b"\n") - 1 if ends else longest
                n_lines, batch_lines = n_lines + ends, batch_lines + ends
                batch_bytes += len(chunk)
                blank_bytes = 0 if chunk.strip() else blank_bytes + len(chunk)
                advice = "if this is intended, decompress the file first"
                if blank_bytes > _MOST_BLANK:
                    raise InputError(
                        f"{file}, line {n_lines:,}: {blank_bytes >> 20} MB of blank lines; {advice}"
                    )
                if batch_lines >= BATCH_ROWS:
                    batch_lines, batch_bytes = 0, 0
                elif batch_bytes > _BATCH_BYTES:
                    raise InputError(
                        f"{file}: {batch_lines:,} lines hold {batch_bytes >> 20} MB; {advice}"
                    )
                out.write(chunk)
    except broken as error:
        raise InputError(f"{file} cannot be read: {first_line(error)}") from None
    return copy


def _long_line_error(file: Path, line: int) -> InputError:
    return InputError(f"{file}, line {line} is longer than {LONGEST_LINE >> 20} MB: not a table")
