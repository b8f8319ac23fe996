"""Tables in files, by extension: CSV, TSV (gzip too) and Parquet, read and written by polars."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from conjunct.errors import CellError, InputError
from conjunct.io.atomic import write_atomically

if TYPE_CHECKING:
    import polars as pl

StrPath = str | os.PathLike[str]

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}
_PARQUET = ".parquet"
_SPELLED = {"0": False, "1": True, "false": False, "true": True}


def read_table(path: StrPath) -> pl.DataFrame:
    """Read a table. A column of 0/1 or true/false is Boolean; an empty cell is null.

    Other columns come as numbers or as text: whether they will do is for the reader to say.

    Raises
    ------
    InputError
        For whatever is not a table, in one line that names the file and the place.
    """
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{file} is a folder: name a file to read")
    if not file.is_file():
        what = "is not an ordinary file" if file.exists() else "does not exist"
        raise InputError(f"{file} {what}")
    extension = table_extension(file)
    try:
        with file.open("rb") as opened:
            empty = not opened.read(1)
        if empty:
            raise InputError(f"{file} is empty: it needs a line of column names, then rows")
        if extension == _PARQUET:
            frame = _read_parquet(file)
        else:
            frame = _read_text(file, _SEPARATORS[extension])
    except (OSError, EOFError) as error:
        raise InputError(f"{file} cannot be read: {_reason(error)}") from None
    if not frame.height:
        raise InputError(f"{file} has column names but no rows")
    return frame


def write_table(path: StrPath, frame: pl.DataFrame) -> None:
    """Write a table of Booleans: 0/1 in text files, Boolean in Parquet. Whole or not at all."""
    extension = table_extension(path)

    def write(part: Path) -> None:
        if extension == _PARQUET:
            frame.write_parquet(part)
            return
        _numbers(frame).write_csv(
            part,
            separator=_SEPARATORS[extension],
            compression="gzip" if extension.endswith(".gz") else "uncompressed",
            check_extension=False,
        )

    write_atomically(path, write)


def as_csv(frame: pl.DataFrame) -> str:
    """A table of Booleans as CSV text, as ``write_table`` writes it."""
    return _numbers(frame).write_csv()


def table_extension(path: StrPath) -> str:
    """The extension that says how a table is stored, in lower case."""
    name = Path(path).name.lower()
    known = (*_SEPARATORS, _PARQUET)
    for extension in known:
        if name.endswith(extension):
            return extension
    raise InputError(f"{path}: not a known kind of table; the name must end in {', '.join(known)}")


@contextmanager
def naming_cells_of(path: StrPath) -> Iterator[None]:
    """Add the file and the line to an error about a cell of the table read from ``path``."""
    try:
        yield
    except CellError as error:
        file = Path(path)
        is_text = table_extension(file) in _SEPARATORS
        place = f"line {_line_of(file, error.row)}" if is_text else f"row {error.row + 1}"
        column = f"column {error.column!r}"
        if error.value is None or error.value != error.value:
            raise InputError(
                f"{file}, {place}, {column}: the cell is empty; fill it or leave its row out"
            ) from None
        raise InputError(
            f"{file}, {place}, {column}: {error.problem}; write 0/1 or true/false, "
            "or leave the column out"
        ) from None


def _read_parquet(file: Path) -> pl.DataFrame:
    import polars as pl

    try:
        frame = pl.read_parquet(file, glob=False)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{file} is not a readable Parquet file: {_reason(error)}") from None
    if not frame.width:
        raise InputError(f"{file} has no columns")
    words = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    for name, kind in frame.schema.items():
        if not kind.is_numeric() and kind not in words:
            raise InputError(
                f"{file}, column {name!r}: {kind} is not Boolean; leave the column out"
            )
    return frame


def _read_text(file: Path, separator: str) -> pl.DataFrame:
    import polars as pl

    header = _header(file, separator)
    frame = None
    # one byte a cell serves the usual file; all that is not 0 to 255 is read as text, then typed
    for kind in (pl.UInt8, pl.String):
        try:
            frame = pl.read_csv(
                file,
                separator=separator,
                schema_overrides=[kind] * len(header),
                infer_schema=False,
                glob=False,
            )
            break
        except pl.exceptions.PolarsError as error:
            reason = _reason(error)
    if frame is None:
        _check_rows(file, separator, len(header))
        raise InputError(f"{file} cannot be read: {reason}")
    if frame.width != len(header):
        raise InputError(f"{file}, line 1: the column names cannot be told apart; check the quotes")
    # polars fills a short row with nulls without a word
    if frame[:, -1].null_count():
        frame = frame.head(frame.height - _check_rows(file, separator, len(header)))
    return pl.DataFrame(dict(zip(header, map(_typed, frame), strict=True)))


def _typed(column: pl.Series) -> pl.Series:
    """Boolean if it can be, else a number if it can be, else as it is."""
    import polars as pl

    if column.dtype == pl.UInt8:
        largest = column.max()
        return column.cast(pl.Boolean) if largest in (None, 0, 1) else column
    text = column.str.strip_chars().str.to_lowercase()
    for typed in (
        text.replace_strict(_SPELLED, default=None, return_dtype=pl.Boolean),
        text.cast(pl.Int64, strict=False),
        text.cast(pl.Float64, strict=False),
    ):
        if typed.null_count() == column.null_count():
            return typed
    return column


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.selectors.boolean().cast(pl.UInt8))


def _header(file: Path, separator: str) -> Sequence[str]:
    with _opened(file) as raw:
        start = raw.read(1 << 16)
    if b"\r" in start and b"\n" not in start:
        raise InputError(f"{file} has line ends of carriage return only: save it with line feeds")
    for _, header in _rows(file, separator):
        seen: set[str] = set()
        for name in header:
            if name in seen:
                raise InputError(
                    f"{file}, line 1: two columns are called {name!r}; "
                    "the first line must hold distinct column names"
                )
            seen.add(name)
        if header:
            return header
        break
    raise InputError(f"{file}, line 1 is blank: it must hold the column names")


def _check_rows(file: Path, separator: str, width: int) -> int:
    """Refuse rows of another width than the header's; how many blank lines end the file."""
    blank: list[int] = []
    for line, row in _rows(file, separator):
        if not row:
            blank.append(line)
            continue
        if blank:
            raise InputError(f"{file}, line {blank[0]} is blank: remove it, or fill it in")
        if len(row) != width:
            cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            raise InputError(f"{file}, line {line}: {cells} where the first line has {width} names")
    return len(blank)


def _line_of(file: Path, row: int) -> int:
    """The line on which a row starts: names and cells in quotes may run over several."""
    separator = _SEPARATORS[table_extension(file)]
    for k, (line, _) in enumerate(_rows(file, separator), start=-1):
        if k == row:
            return line
    return row + 2


def _rows(file: Path, separator: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows as text, each with the number of its first line; for messages, not for data."""
    line = 1
    with _opened(file) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as lines:
        rows = csv.reader(lines, delimiter=separator, strict=True)
        try:
            for row in rows:
                if any("\0" in cell for cell in row):
                    raise InputError(f"{file}, line {line} holds zero bytes: not a text file")
                yield line, row
                line = rows.line_num + 1
        except UnicodeDecodeError:
            raise InputError(
                f"{file}, line {_undecodable_line(file)} is not UTF-8 text: save the file as UTF-8"
            ) from None
        except csv.Error as error:
            raise InputError(f"{file}, line {line}: wrongly quoted ({error})") from None


def _opened(file: Path) -> gzip.GzipFile | io.BufferedReader:
    # as polars does: by content, not by name
    with file.open("rb") as opened:
        zipped = opened.read(2) == b"\x1f\x8b"
    return gzip.open(file, "rb") if zipped else file.open("rb")


def _undecodable_line(file: Path) -> int:
    with _opened(file) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).partition("\n")[0]
