"""Files that are not text: Parquet and Arrow, spreadsheets, SciPy's sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import scipy.sparse as sp

from conjunct.errors import InputError
from conjunct.files.formats.base import (
    FORMATS,
    AsText,
    Compression,
    Format,
    ReadOptions,
    Scan,
    TableFormat,
    describe_repeated,
    list_names,
    make_scan,
    make_series,
    number_names,
)
from conjunct.files.raw import first_line

if TYPE_CHECKING:
    import polars as pl

_ROW = "\0row"
_SQLITE = b"SQLite format 3\0"
# sqlite_master is a view in DuckDB too
_TABLES = """SELECT name FROM sqlite_master WHERE type IN ('table', 'view')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"""


class Columnar(TableFormat):
    """A file that says what its columns are and how many rows it has."""

    is_text = False
    counts_rows = True
    writes = "tables"
    holds_lists = True

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        return InputError(f"{file} is not a readable {self.name.title()} file: {first_line(error)}")


class Parquet(Columnar):
    name = "parquet"
    summary = "a table of Parquet"
    extensions = (".parquet",)
    rank = 30
    magic = (b"PAR1",)

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        frame = pl.scan_parquet(file, glob=False)
        yield make_scan(file, frame, frame.select(pl.len()).collect().item())

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_parquet(file)


class Arrow(Columnar):
    """Arrow's file format, which is Feather's too, or its stream format."""

    name = "arrow"
    summary = "a table of Arrow or Feather"
    extensions = (".arrow", ".feather", ".ipc")
    rank = 40
    magic = (b"ARROW1",)

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        with file.open("rb") as opened:
            is_file = opened.read(6) in self.magic
        frame = pl.scan_ipc(file, glob=False) if is_file else pl.read_ipc_stream(file).lazy()
        yield make_scan(file, frame, frame.select(pl.len()).collect().item())

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_ipc(file)


class Spreadsheet(TableFormat):
    """A row of column names, then rows, on one sheet; what has no name and no cells is left out."""

    name = "excel"
    summary = "a sheet of Excel or LibreOffice"
    extensions = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    rank = 45
    is_text = False
    holds_text = True
    parts = "sheet"
    needs = "a sheet with a row of column names, then rows"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        sheet, _ = _read_sheet(file, options.sheet, file.stat().st_mtime_ns)
        cells = pl.selectors.exclude(_ROW)
        if options.null_values:
            words = list(options.null_values)
            sheet = sheet.with_columns(cells.replace(words, [None] * len(words)))
        names = [name for name in sheet.columns if name != _ROW]
        yield Scan(sheet.lazy().select(cells), names, sheet.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        return f"row {_read_sheet(file, options.sheet, file.stat().st_mtime_ns)[0][_ROW][row]}"

    def remarks(self, file: Path, options: ReadOptions) -> Iterator[str]:
        names = _open_workbook(file).sheet_names
        if options.sheet is None and len(names) > 1:
            yield (
                f"{file} has {len(names)} sheets, and the first is read, {names[0]!r}; for "
                f"another, pass sheet= (--sheet {names[1]!r} on the command line)"
            )
        repeated = _read_sheet(file, options.sheet, file.stat().st_mtime_ns)[1]
        if repeated is not None:
            yield repeated


# a table is scanned several times while it is read, and a sheet is read as a whole
@lru_cache(maxsize=1)
def _read_sheet(file: Path, name: str | None, changed: int) -> tuple[pl.DataFrame, str | None]:
    """Return the cells of a sheet as text with their row numbers, without empty rows.

    The note is about columns of the same name.
    """
    import polars as pl
    from fastexcel import FastExcelError

    book = _open_workbook(file)
    if name is not None and name not in book.sheet_names:
        raise InputError(f"{file} has no sheet {name!r}: it has {list_names(book.sheet_names, 5)}")
    try:
        loaded = book.load_sheet(name or 0, header_row=None, skip_rows=0, dtypes="string")
    except FastExcelError as error:
        raise _unreadable_error(file, error) from None
    rows = loaded.to_polars().with_row_index(_ROW, 1)
    cells = pl.selectors.exclude(_ROW)
    blank = pl.all_horizontal(cells.is_null() | (cells.str.strip_chars() == ""))
    rows = rows.filter(~blank)
    if not rows.height:
        raise InputError(f"{file} holds no cells: it needs {Spreadsheet.needs}")
    header = rows.drop(_ROW).row(0)
    body = rows.slice(1)
    kept: dict[str, str] = {}
    for column, text in zip(rows.columns[1:], header, strict=True):
        label = (text or "").strip()
        if label or not body[column].is_null().all():
            kept[column] = label
    names = number_names([*kept.values()])
    named = body.select(_ROW, pl.selectors.by_name(*kept))
    renamed: pl.DataFrame = named.rename(dict(zip(kept, names, strict=True)))
    return renamed, describe_repeated(file, [*kept.values()])


def _open_workbook(file: Path) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise InputError(
            f"{file}: spreadsheets need fastexcel: pip install fastexcel, or save it as CSV"
        ) from None
    try:
        return fastexcel.read_excel(file)
    except fastexcel.FastExcelError as error:
        raise _unreadable_error(file, error) from None


def _unreadable_error(file: Path, error: BaseException) -> InputError:
    return InputError(f"{file} is not a readable spreadsheet: {first_line(error)}")


class Database(TableFormat):
    """A table of a database in a file, read as a whole."""

    name = "database"
    summary = "a table of SQLite or DuckDB"
    extensions = (".sqlite", ".sqlite3", ".db", ".duckdb")
    rank = 47
    magic = (_SQLITE,)
    is_text = False
    parts = "table"
    needs = "a table"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        frame = _read_database(file, options.table, file.stat().st_mtime_ns)
        words = list(options.null_values)
        if words:
            cells = pl.selectors.string()
            frame = frame.with_columns(cells.replace(words, [None] * len(words)))
        yield make_scan(file, frame.lazy(), frame.height)


@lru_cache(maxsize=1)
def _read_database(file: Path, name: str | None, changed: int) -> pl.DataFrame:
    import polars as pl

    with closing(_connect(file)) as base:
        try:
            known = [row[0] for row in base.execute(_TABLES).fetchall()]
            if name is None and len(known) == 1:
                name = known[0]
            if name not in known:
                what = f"has no table {name!r}" if name is not None else "has several tables"
                if not known:
                    raise InputError(f"{file} holds no table")
                raise InputError(
                    f"{file} {what}: it has {list_names(known)}; name one with table= "
                    "(--table on the command line)"
                )
            quoted = str(name).replace('"', '""')
            found = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608
            names = number_names([column[0] for column in found.description])
            rows = found.fetchall()
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 (databases have no errors in common)
            raise InputError(f"{file} is not a readable database: {first_line(error)}") from None
    if not rows:
        raise InputError(f"{file}: table {name!r} has no rows")
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pl.DataFrame([make_series(label, cells) for label, cells in columns])


def _connect(file: Path) -> Any:
    """Return a connection that only reads."""
    with file.open("rb") as opened:
        is_sqlite = opened.read(len(_SQLITE)) == _SQLITE
    if is_sqlite:
        import sqlite3

        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    try:
        import duckdb
    except ImportError:
        raise InputError(
            f"{file} is not a database of SQLite; those of DuckDB need duckdb: pip install duckdb"
        ) from None
    try:
        return duckdb.connect(file, read_only=True)
    except duckdb.Error as error:
        raise InputError(f"{file} is not a readable database: {first_line(error)}") from None


class Npz(Format):
    name = "npz"
    summary = "a sparse matrix of scipy"
    extensions = (".npz",)
    rank = 90
    is_text = False
    is_read = False
    writes = "matrices"

    def write(self, file: IO[bytes], data: sp.csr_array[Any], compression: Compression) -> None:
        sp.save_npz(file, data)


FORMATS.enter(Parquet())
FORMATS.enter(Arrow())
FORMATS.enter(Spreadsheet())
FORMATS.enter(Database())
FORMATS.enter(Npz())
