"""Files that are not text: Parquet and Arrow, spreadsheets, SciPy's sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
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
    list_names,
    make_scan,
)
from conjunct.files.raw import first_line

if TYPE_CHECKING:
    import polars as pl

_ROW = "\0row"


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
    has_sheets = True
    needs = "a sheet with a row of column names, then rows"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        sheet = _read_sheet(file, options.sheet, file.stat().st_mtime_ns)
        cells = pl.selectors.exclude(_ROW)
        if options.null_values:
            words = list(options.null_values)
            sheet = sheet.with_columns(cells.replace(words, [None] * len(words)))
        names = [name for name in sheet.columns if name != _ROW]
        yield Scan(sheet.lazy().select(cells), names, sheet.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        return f"row {_read_sheet(file, options.sheet, file.stat().st_mtime_ns)[_ROW][row]}"

    def remark(self, file: Path, options: ReadOptions) -> str | None:
        names = _open_workbook(file).sheet_names
        if options.sheet is not None or len(names) < 2:
            return None
        return (
            f"{file} has {len(names)} sheets, and the first is read, {names[0]!r}; for another, "
            f"pass sheet= (at a prompt: --sheet {names[1]!r})"
        )


# a table is scanned several times while it is read, and a sheet is read as a whole
@lru_cache(maxsize=1)
def _read_sheet(file: Path, name: str | None, changed: int) -> pl.DataFrame:
    """Return the cells of a sheet as text with their row numbers, without empty rows."""
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
        if not label and body[column].is_null().all():
            continue
        if label in kept.values():
            raise InputError(
                f"{file}, row {rows[_ROW][0]}: two columns are called {label!r}; "
                "the first row must hold distinct column names"
            )
        kept[column] = label
    named: pl.DataFrame = body.select(_ROW, pl.selectors.by_name(*kept)).rename(kept)
    return named


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
FORMATS.enter(Npz())
