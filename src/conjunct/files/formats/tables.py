"""Other tables: JSON, ARFF, Parquet, Arrow, spreadsheets and databases; matrices of SciPy."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
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
from conjunct.files.raw import (
    BATCH_ROWS,
    estimate_rows,
    first_line,
    refuse_dense,
    refuse_zero_bytes,
    text_file,
    text_lines,
)

if TYPE_CHECKING:
    import polars as pl

# from this number, check the size: each line may add a key that all other lines lack
_MANY_COLUMNS = 10_000
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+)\s+(.+)", re.IGNORECASE)
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"\s]+)\s*(?:,|$)")
_NUMBERS = ("numeric", "real", "integer")
_ROW = "\0row"
_SQLITE = b"SQLite format 3\0"
# sqlite_master is a view in DuckDB too
_TABLES = """SELECT name FROM sqlite_master WHERE type IN ('table', 'view')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"""


class Objects(TableFormat):
    """Rows of named cells. A cell is missing if its key is absent."""

    def complete(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        import polars as pl

        absent = [name for name in wanted if name not in scan.names]
        if not absent or set(scan.names).isdisjoint(wanted):
            return scan
        frame = scan.frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
        return replace(scan, frame=frame, names=[*scan.names, *absent])


class JsonLines(Objects):
    """One JSON object per line."""

    name = "jsonl"
    summary = "one JSON object per line"
    extensions = (".jsonl", ".ndjson")
    rank = 50
    writes = "tables"
    holds_lists = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        # read all lines to find the columns: a key may come late
        scan = partial(pl.scan_ndjson, text_file(file), infer_schema_length=None)
        frame = scan()
        schema = frame.collect_schema()
        words = {
            name: pl.String for name in schema if as_text(name) and not schema[name].is_nested()
        }
        if words:
            frame = scan(schema_overrides=words)
        if len(schema) > _MANY_COLUMNS:
            refuse_dense(file, sum(1 for _ in text_lines(file)), len(schema))
        start = "".join(islice(text_lines(file), 1000))
        yield make_scan(
            file, frame, estimate_rows(file, start.count("\n") or 1, len(start.encode()))
        )

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
        for number, line in enumerate(text_lines(file), start=1):
            if not line.strip():
                continue
            try:
                decoder.decode(line)
            except (msgspec.MsgspecError, RecursionError) as bad:
                return InputError(f"{file}, line {number}: not a JSON object ({bad})")
        return super().explain(file, options, error)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        filled = (k for k, line in enumerate(text_lines(file), start=1) if line.strip())
        line = next(islice(filled, row, None), None)
        return super().place(file, options, row) if line is None else f"line {line}"

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_ndjson(file, compression=compression, check_extension=False)


class Json(Objects):
    """A list of JSON objects, possibly under a key, or another JSON format of pandas."""

    name = "json"
    summary = "a JSON list of objects"
    extensions = (".json",)
    rank = 55
    needs = "a list of objects: [{…}, {…}]"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        text = text_file(file).read_bytes().removeprefix(codecs.BOM_UTF8)
        try:
            rows = _find_records(msgspec.json.decode(text))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{file} is not a JSON list of objects: {first_line(error)}") from None
        if rows is None:
            raise InputError(f"{file} is not a JSON list of objects: it needs {self.needs}")
        flat = [_flatten(row) for row in rows]
        names = dict.fromkeys(name for row in flat for name in row)
        if not names:
            raise InputError(f"{file} has no columns")
        if len(names) > _MANY_COLUMNS:
            refuse_dense(file, len(rows), len(names))
        frame = pl.DataFrame([make_series(n, [row.get(n) for row in flat]) for n in names])
        yield make_scan(file, _drop_null_words(frame, options), len(rows))


def _find_records(content: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a JSON document, or None if it does not contain a table."""
    if isinstance(content, list):
        if content and all(isinstance(row, dict) for row in content):
            return content
        if content and all(isinstance(row, list) for row in content):
            return _name_cells(content, None)
        return None
    if not isinstance(content, dict) or not content:
        return None
    if isinstance(content.get("columns"), list) and isinstance(content.get("data"), list):
        return _name_cells(content["data"], [*map(str, content["columns"])])
    lists = [value for value in content.values() if isinstance(value, list) and value]
    tables = [value for value in lists if all(isinstance(row, dict) for row in value)]
    if tables and len(tables) == len(lists):
        return max(tables, key=len)
    if len(lists) == len(content) and len({*map(len, lists)}) == 1:
        return [dict(zip(content, cells, strict=True)) for cells in zip(*lists, strict=True)]
    if not all(isinstance(value, dict) for value in content.values()):
        return None
    keys = list(dict.fromkeys(key for value in content.values() for key in value))
    if keys and all(map(str.isdecimal, keys)) and not all(map(str.isdecimal, content)):
        return [{name: cells.get(key) for name, cells in content.items()} for key in keys]
    return [*content.values()]


def _name_cells(rows: Sequence[Any], names: Sequence[str] | None) -> list[dict[str, Any]] | None:
    width = max((len(row) for row in rows if isinstance(row, list)), default=0)
    names = number_names(names or [f"column {k}" for k in range(1, width + 1)])
    if any(not isinstance(row, list) or len(row) > len(names) for row in rows):
        return None
    return [dict(zip(names, row, strict=False)) for row in rows]


def _flatten(row: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return the cells of an object; cells of nested objects have names such as ``home.city``."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = value
    return flat


def _drop_null_words(frame: pl.DataFrame, options: ReadOptions) -> pl.LazyFrame:
    """Make cells of text missing that the user declared as missing."""
    import polars as pl

    words = list(options.null_values)
    return frame.lazy().with_columns(pl.selectors.string().replace(words, [None] * len(words)))


@dataclass(frozen=True)
class Attribute:
    """A column. ``values`` lists the values of a nominal attribute, in the declared order."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


class Arff(TableFormat):
    """A header of attributes, then rows of all values, or of the values that are not zero."""

    name = "arff"
    summary = "a table from Weka"
    extensions = (".arff",)
    rank = 60
    # the declared formats of dates are ignored: dates are inferred as in other files
    holds_text = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        attributes = _read_attributes(file)
        names = [attribute.name for attribute in attributes]
        # before reading any row, because rows of a sparse file may be very short
        refuse_dense(file, sum(1 for _ in _iter_data_lines(file)), len(names))
        parts: list[pl.DataFrame] = []
        rows = _iter_arff_rows(file, attributes)
        while batch := list(islice(rows, BATCH_ROWS)):
            columns = {}
            for attribute, *cells in zip(attributes, *batch, strict=True):
                column = columns[attribute.name] = _make_series(attribute, cells)
                if column.null_count() > cells.count(None):
                    lost = zip(cells, column.is_null(), strict=True)
                    row = [cell is not None and is_lost for cell, is_lost in lost].index(True)
                    problem = f"{cells[row]!r} is not a number"
                    where = file, options, BATCH_ROWS * len(parts) + row, attribute.name
                    raise self.error_at(*where, problem)
            parts.append(pl.DataFrame(columns))
        if not parts:
            raise InputError(f"{file} has attributes but no rows")
        frame = pl.concat(parts)
        yield Scan(frame.lazy(), names, frame.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        line, _ = next(islice(_iter_data_lines(file), row, None), (None, ""))
        return super().place(file, options, row) if line is None else f"line {line}"


def _read_attributes(file: Path) -> list[Attribute]:
    attributes: dict[str, Attribute] = {}
    for number, line in enumerate(text_lines(file), start=1):
        refuse_zero_bytes(file, number, line)
        text = line.strip()
        if text.lower().startswith("@data"):
            if not attributes:
                raise InputError(f"{file}, line {number}: no @attribute before @data")
            return list(attributes.values())
        if text.lower().startswith("@attribute"):
            attribute = _parse_attribute(text)
            if attribute is None:
                raise InputError(f"{file}, line {number}: not an attribute: {text[:60]!r}")
            if attribute.name in attributes:
                raise InputError(
                    f"{file}, line {number}: two attributes are called {attribute.name!r}"
                )
            attributes[attribute.name] = attribute
        elif text and not text.startswith("%") and not text.lower().startswith("@relation"):
            raise InputError(f"{file}, line {number}: expected @attribute or @data: {text[:60]!r}")
    raise InputError(f"{file} has no @data: the ARFF file is incomplete")


def _parse_attribute(text: str) -> Attribute | None:
    found = _ATTRIBUTE.fullmatch(text)
    if found is None:
        return None
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        try:
            return Attribute(name, "nominal", tuple(_split_cells(kind[1:-1])))
        except csv.Error:
            return None
    word = kind.split()[0].lower()
    return Attribute(name, word) if word in (*_NUMBERS, "string", "date") else None


def _iter_data_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the rows of the data section as text, with their line numbers."""
    inside = False
    for number, line in enumerate(text_lines(file), start=1):
        text = line.strip()
        if inside and text and not text.startswith("%"):
            refuse_zero_bytes(file, number, text)
            yield number, text
        inside = inside or text.lower().startswith("@data")


def _iter_arff_rows(file: Path, attributes: Sequence[Attribute]) -> Iterator[list[str | None]]:
    allowed = [frozenset(attribute.values) for attribute in attributes]
    for number, text in _iter_data_lines(file):
        try:
            if text.startswith("{"):
                row = _parse_sparse(text, attributes)
            else:
                row = [None if cell == "?" else cell for cell in _split_cells(text)]
                if len(row) != len(attributes):
                    n = len(attributes)
                    raise ValueError(f"{len(row)} values, but the header has {n} attributes")
        except (csv.Error, ValueError) as error:
            raise InputError(f"{file}, line {number}: {error}") from None
        for value, attribute, values in zip(row, attributes, allowed, strict=True):
            if value is not None and values and value not in values:
                raise InputError(
                    f"{file}, line {number}, column {attribute.name!r}: "
                    f"{value!r} is not one of its declared values"
                )
        yield row


def _parse_sparse(text: str, attributes: Sequence[Attribute]) -> list[str | None]:
    if not text.endswith("}"):
        raise ValueError("the sparse row has no closing brace")
    # a value that is left out is zero, or the first one of a nominal attribute
    row: list[str | None] = [a.values[0] if a.values else "0" for a in attributes]
    inner, position = text[1:-1].strip(), 0
    while position < len(inner):
        found = _SPARSE_CELL.match(inner, position)
        if found is None:
            raise ValueError(f"expected a number and a value: {inner[position:][:40]!r}")
        index, value = int(found[1]), _unquote(found[2])
        if index >= len(attributes):
            raise ValueError(f"there is no attribute {index}: attributes are numbered from 0")
        row[index] = None if found[2] == "?" else value
        position = found.end()
    return row


def _split_cells(text: str) -> list[str]:
    quote = '"' if text.count('"') > text.count("'") else "'"
    cells = next(
        csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True, strict=True)
    )
    return [cell.strip() for cell in cells]


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _make_series(attribute: Attribute, cells: list[str | None]) -> pl.Series:
    import polars as pl

    text = pl.Series(attribute.name, cells, pl.String)
    if set(attribute.values) == {"0", "1"}:
        return text == "1"
    if attribute.values:
        return text.cast(pl.Enum(list(dict.fromkeys(attribute.values))))
    if attribute.kind not in _NUMBERS:
        return text
    return text.cast(pl.Float64, strict=False)


class Columnar(TableFormat):
    """A file that states the types of its columns and the number of rows."""

    is_text = False
    counts_rows = True
    writes = "tables"
    holds_lists = True

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        return InputError(f"{file} is not a readable {self.name.title()} file: {first_line(error)}")


class Parquet(Columnar):
    name = "parquet"
    summary = "a Parquet table"
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
    """The file format of Arrow and Feather, or the stream format of Arrow."""

    name = "arrow"
    summary = "an Arrow or Feather table"
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
    """One sheet: a row of column names, then rows. Empty columns without a name are left out."""

    name = "excel"
    summary = "an Excel or LibreOffice sheet"
    extensions = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    rank = 45
    is_text = False
    holds_text = True
    parts = "sheet"
    needs = "a sheet with a row of column names, then rows"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        sheet, _ = _read_sheet(file, options.sheet, file.stat().st_mtime_ns)
        names = [name for name in sheet.columns if name != _ROW]
        cells = _drop_null_words(sheet, options).select(pl.selectors.exclude(_ROW))
        yield Scan(cells, names, sheet.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        return f"row {_read_sheet(file, options.sheet, file.stat().st_mtime_ns)[0][_ROW][row]}"

    def remarks(self, file: Path, options: ReadOptions) -> Iterator[str]:
        names = _open_workbook(file).sheet_names
        if options.sheet is None and len(names) > 1:
            yield (
                f"{file} has {len(names)} sheets; reading the first one, {names[0]!r}; for another "
                f"one, pass sheet= (--sheet {names[1]!r} on the command line)"
            )
        repeated = _read_sheet(file, options.sheet, file.stat().st_mtime_ns)[1]
        if repeated is not None:
            yield repeated


# cached, because reading a table scans it several times, and a sheet is read as a whole
@lru_cache(maxsize=1)
def _read_sheet(file: Path, name: str | None, changed: int) -> tuple[pl.DataFrame, str | None]:
    """Return the cells of a sheet as text with row numbers, and a note about repeated names."""
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
        raise InputError(f"{file} is empty: it needs {Spreadsheet.needs}")
    body = rows.slice(1)
    first = rows.drop(_ROW).row(0, named=True)
    header = {name: (text or "").strip() for name, text in first.items()}
    kept = [name for name, label in header.items() if label or not body[name].is_null().all()]
    labels = [header[name] for name in kept]
    named = body.select(_ROW, pl.selectors.by_name(*kept))
    renamed: pl.DataFrame = named.rename(dict(zip(kept, number_names(labels), strict=True)))
    return renamed, describe_repeated(file, labels)


def _open_workbook(file: Path) -> Any:
    try:
        import fastexcel
    except ImportError:
        raise InputError(
            f"{file}: spreadsheets need fastexcel: pip install fastexcel, or save the sheet as CSV"
        ) from None
    try:
        return fastexcel.read_excel(file)
    except fastexcel.FastExcelError as error:
        raise _unreadable_error(file, error) from None


def _unreadable_error(file: Path, error: BaseException) -> InputError:
    return InputError(f"{file} is not a readable spreadsheet: {first_line(error)}")


class Database(TableFormat):
    """A table in the file of a database, read as a whole."""

    name = "database"
    summary = "a table in SQLite or DuckDB"
    extensions = (".sqlite", ".sqlite3", ".db", ".duckdb")
    rank = 47
    magic = (_SQLITE,)
    is_text = False
    parts = "table"
    needs = "a table"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        frame = _read_database(file, options.table, file.stat().st_mtime_ns)
        yield make_scan(file, _drop_null_words(frame, options), frame.height)


@lru_cache(maxsize=1)
def _read_database(file: Path, name: str | None, changed: int) -> pl.DataFrame:
    """Read a table through a read-only connection."""
    import polars as pl

    with file.open("rb") as opened:
        is_sqlite = opened.read(len(_SQLITE)) == _SQLITE
    unreadable = f"{file} is not a readable database"
    connection: Any
    if is_sqlite:
        import sqlite3

        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
    else:
        try:
            import duckdb
        except ImportError:
            raise InputError(
                f"{file} is not an SQLite database; DuckDB files need duckdb: pip install duckdb"
            ) from None
        try:
            connection = duckdb.connect(file, read_only=True)
        except duckdb.Error as error:
            raise InputError(f"{unreadable}: {first_line(error)}") from None
    with closing(connection) as base:
        try:
            known = [row[0] for row in base.execute(_TABLES).fetchall()]
            if name is None and len(known) == 1:
                name = known[0]
            if not known:
                raise InputError(f"{file} contains no table")
            if name not in known:
                what = f"has no table {name!r}" if name is not None else "has several tables"
                raise InputError(
                    f"{file} {what}: it has {list_names(known)}; choose one with table= "
                    "(--table on the command line)"
                )
            quoted = str(name).replace('"', '""')
            found = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608
            names = number_names([column[0] for column in found.description])
            rows = found.fetchall()
        except InputError:
            raise
        except Exception as error:  # noqa: BLE001 (errors of databases have no common class)
            raise InputError(f"{unreadable}: {first_line(error)}") from None
    if not rows:
        raise InputError(f"{file}: table {name!r} has no rows")
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pl.DataFrame([make_series(label, cells) for label, cells in columns])


class Npz(Format):
    name = "npz"
    summary = "a sparse matrix of SciPy"
    extensions = (".npz",)
    rank = 90
    is_text = False
    is_read = False
    writes = "matrices"

    def write(self, file: IO[bytes], data: sp.csr_array[Any], compression: Compression) -> None:
        sp.save_npz(file, data)


for kind in (Json, JsonLines, Arff, Parquet, Arrow, Spreadsheet, Database, Npz):
    FORMATS.enter(kind())
