"""Spreadsheets of Excel and LibreOffice, whose cells are read as the text that they show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conjunct.errors import InputError
from conjunct.files.formats.base import FORMATS, AsText, ReadOptions, Scan, TableFormat, listed
from conjunct.files.raw import reason

if TYPE_CHECKING:
    import polars as pl

_ROW = "\0row"


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

        sheet = _sheet(file, options.sheet, file.stat().st_mtime_ns)
        cells = pl.selectors.exclude(_ROW)
        if options.null_values:
            words = list(options.null_values)
            sheet = sheet.with_columns(cells.replace(words, [None] * len(words)))
        names = [name for name in sheet.columns if name != _ROW]
        yield Scan(sheet.lazy().select(cells), names, sheet.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        return f"row {_sheet(file, options.sheet, file.stat().st_mtime_ns)[_ROW][row]}"

    def remark(self, file: Path, options: ReadOptions) -> str | None:
        names = _workbook(file).sheet_names
        if options.sheet is not None or len(names) < 2:
            return None
        return (
            f"{file} has {len(names)} sheets, and the first is read, {names[0]!r}; for another, "
            f"pass sheet= (at a prompt: --sheet {names[1]!r})"
        )


# a table is scanned several times while it is read, and a sheet is read as a whole
@lru_cache(maxsize=1)
def _sheet(file: Path, name: str | None, changed: int) -> pl.DataFrame:
    """The cells of a sheet as text, and the number of each row; rows without a cell are none."""
    import polars as pl
    from fastexcel import FastExcelError

    book = _workbook(file)
    if name is not None and name not in book.sheet_names:
        raise InputError(f"{file} has no sheet {name!r}: it has {listed(book.sheet_names, 5)}")
    try:
        loaded = book.load_sheet(name or 0, header_row=None, skip_rows=0, dtypes="string")
    except FastExcelError as error:
        raise _unreadable(file, error) from None
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


def _workbook(file: Path) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise InputError(
            f"{file}: spreadsheets need fastexcel: pip install fastexcel, or save it as CSV"
        ) from None
    try:
        return fastexcel.read_excel(file)
    except fastexcel.FastExcelError as error:
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: BaseException) -> InputError:
    return InputError(f"{file} is not a readable spreadsheet: {reason(error)}")


FORMATS.enter(Spreadsheet())
