"""Tables that are text: CSV and TSV, JSON, ARFF."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from conjunct.errors import CellError, InputError
from conjunct.files.formats.base import (
    FORMATS,
    AsText,
    Compression,
    ReadOptions,
    Scan,
    TableFormat,
    make_scan,
)
from conjunct.files.raw import (
    BATCH_ROWS,
    estimate_rows,
    first_line,
    open_bytes,
    refuse_carriage_returns,
    refuse_dense,
    refuse_zero_bytes,
    text_lines,
    utf8_error,
)

if TYPE_CHECKING:
    import polars as pl

# rows that decide which columns hold 0 and 1 only
_SAMPLE = 1000

# what may separate cells, and the lines that decide which does
_SEPARATORS = ",;\t|"
_START = 100
_START_CHARACTERS = 1 << 18

# how Excel says it: a line before the column names
_EXCEL = re.compile(r'"?sep=([\x01-\x7f])"?\r?\n')

# each line may bring a new key, which all others then lack
_MANY_COLUMNS = 10_000
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|\S+)\s+(.+)", re.IGNORECASE)
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,'\"\s]+)\s*(?:,|$)")
_NUMBERS = ("numeric", "real", "integer")


class Layout(NamedTuple):
    """The separator of a file, and the number of lines before the column names."""

    separator: str
    n_skipped: int
    is_given: bool


class Delimited(TableFormat):
    """A line of column names, then one line per row, cells separated by one character."""

    reads_short_rows = True
    holds_text = True
    writes = "tables"

    separator: str

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        refuse_carriage_returns(file)
        layout = self._find_layout(file, options)
        rows = list(islice(self._iter_rows(file, options), _SAMPLE + 1))
        header = _check_header(file, rows)
        body = [row for _, row in rows[1:]]
        n_bytes = sum(len(cell.encode()) + 1 for row in body for cell in row)
        expected = estimate_rows(file, len(body), n_bytes)
        # one byte a cell serves the usual file; what is not 0 or 1 is read as text, then typed
        as_bytes = [
            pl.UInt8
            if not as_text(name) and all(row[k] in ("0", "1", "") for row in body if len(row) > k)
            else pl.String
            for k, name in enumerate(header)
        ]
        for kinds in dict.fromkeys((tuple(as_bytes), (pl.String,) * len(header))):
            frame = pl.scan_csv(
                file,
                separator=layout.separator,
                skip_lines=layout.n_skipped,
                schema_overrides=list(kinds),
                infer_schema=False,
                null_values=list(options.null_values) or None,
                glob=False,
            )
            found = frame.collect_schema().names()
            if len(found) != len(header):
                raise InputError(
                    f"{file}, line 1: the column names cannot be told apart; check the quotes"
                )
            renamed = frame.rename(dict(zip(found, header, strict=True)))
            yield Scan(renamed, header, expected)

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        self.count_trailing_blanks(file, options)
        if "utf-8" in str(error) or "utf8" in str(error):
            return utf8_error(file)
        return super().explain(file, options, error)

    def count_trailing_blanks(self, file: Path, options: ReadOptions) -> int:
        """Refuse rows of another width than the header's: polars fills them with nulls."""
        blank: list[int] = []
        width = 0
        for k, (line, row) in enumerate(self._iter_rows(file, options)):
            width = width or len(row)
            if not row:
                blank.append(line)
                continue
            if blank:
                raise InputError(f"{file}, line {blank[0]} is blank: remove it, or fill it in")
            if len(row) != width:
                cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                of_r = "; if R wrote it, write it with row.names=FALSE"
                raise InputError(
                    f"{file}, line {line}: {cells} where the first line has {width} names"
                    f"{of_r if (k, len(row)) == (1, width + 1) else ''}"
                )
        return len(blank)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        """Return the line on which a row starts: quoted cells may run over several."""
        for k, (line, _) in enumerate(self._iter_rows(file, options), start=-1):
            if k == row:
                return f"line {line}"
        return f"line {row + 2}"

    def infer_type(self, column: pl.Series) -> pl.Series:
        import polars as pl

        if column.dtype != pl.UInt8:
            return super().infer_type(column)
        return column.cast(pl.Boolean) if column.max() in (None, 0, 1) else column

    def remark(self, file: Path, options: ReadOptions) -> str | None:
        layout = self._find_layout(file, options)
        if layout.is_given or layout.separator == self.separator:
            return None
        shown = "tabs" if layout.separator == "\t" else repr(layout.separator)
        return (
            f"the cells of {file} are separated by {shown}, as its first lines say; if they are "
            "not, pass separator= (at a prompt: --separator)"
        )

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        """Write a table; Booleans are 0 and 1."""
        import polars as pl

        data.with_columns(pl.selectors.boolean().cast(pl.UInt8)).write_csv(
            file,
            separator=self.separator,
            compression=compression,
            check_extension=False,
            # in a single column, not a blank line, which readers skip
            null_value='""' if data.width == 1 else "",
        )

    def _find_layout(self, file: Path, options: ReadOptions) -> Layout:
        asked = options.separator
        if asked is not None and len(asked.encode()) != 1:
            raise InputError(f"separator must be one character; got {asked!r}")
        start = _read_start(file)
        named = _EXCEL.fullmatch(start[0]) if start else None
        if named is not None or asked is not None:
            separator = asked or str(named and named[1])
            return Layout(separator, int(named is not None), is_given=True)
        return Layout(_sniff_separator(start, self.separator), 0, is_given=False)

    def _iter_rows(self, file: Path, options: ReadOptions) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield rows as text, each with the number of its first line; for messages only."""
        layout = self._find_layout(file, options)
        lines = islice(text_lines(file), layout.n_skipped, None)
        line = 1 + layout.n_skipped
        rows = csv.reader(lines, delimiter=layout.separator, strict=True)
        try:
            for row in rows:
                for cell in row:
                    refuse_zero_bytes(file, line, cell)
                yield line, row
                line = rows.line_num + 1 + layout.n_skipped
        except csv.Error as error:
            raise InputError(f"{file}, line {line}: wrongly quoted ({error})") from None


def _check_header(file: Path, rows: Sequence[tuple[int, Sequence[str]]]) -> Sequence[str]:
    line, header = rows[0] if rows else (1, ())
    if not header:
        raise InputError(f"{file}, line {line} is blank: it must hold the column names")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise InputError(
                f"{file}, line {line}: two columns are called {name!r}; "
                "the first line must hold distinct column names"
            )
        seen.add(name)
    return header


def _read_start(file: Path) -> list[str]:
    """Return the first lines, at most about 256 KB of them."""
    lines: list[str] = []
    n_characters = 0
    for line in text_lines(file):
        lines.append(line)
        n_characters += len(line)
        if len(lines) == _START or (n_characters > _START_CHARACTERS and len(lines) > 2):
            break
    return lines


def _sniff_separator(lines: Sequence[str], usual: str) -> str:
    """Return the separator that gives all lines the same number of cells, and the most."""
    there = [separator for separator in _SEPARATORS if lines and separator in lines[0]]
    if not set(there) - {usual}:
        return usual
    best, most = usual, 1
    for separator in sorted(there, key=lambda separator: separator != usual):
        rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        # the last cell may be in quotes and go on
        widths = {len(row) for row in (rows if len(rows) <= 2 else rows[:-1])}
        if len(widths) == 1 and max(widths) > most:
            best, most = separator, max(widths)
    return best


class Csv(Delimited):
    name = "csv"
    summary = "a line a row, cells apart by commas"
    extensions = (".csv",)
    rank = 10
    separator = ","


class Tsv(Delimited):
    name = "tsv"
    summary = "a line a row, cells apart by tabs"
    extensions = (".tsv", ".tab")
    rank = 20
    separator = "\t"


class JsonLines(TableFormat):
    """One JSON object a line; a key that a line lacks is missing there."""

    name = "jsonl"
    summary = "one object of JSON a line"
    extensions = (".jsonl", ".ndjson")
    rank = 50
    writes = "tables"
    holds_lists = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        # all lines say what the columns are: a key may come late
        frame = pl.scan_ndjson(file, infer_schema_length=None)
        schema = frame.collect_schema()
        n_columns = len(schema)
        words = {
            name: pl.String for name in schema if as_text(name) and not schema[name].is_nested()
        }
        if words:
            frame = pl.scan_ndjson(file, infer_schema_length=None, schema_overrides=words)
        if n_columns > _MANY_COLUMNS:
            refuse_dense(file, sum(1 for _ in text_lines(file)), n_columns)
        start = "".join(line for line, _ in zip(text_lines(file), range(1000), strict=False))
        yield make_scan(
            file, frame, estimate_rows(file, start.count("\n") or 1, len(start.encode()))
        )

    def complete(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        return _complete_with_nulls(scan, wanted)

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
        for number, line in enumerate(text_lines(file), start=1):
            row -= bool(line.strip())
            if row < 0:
                return f"line {number}"
        return super().place(file, options, row)

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        data.write_ndjson(file, compression=compression, check_extension=False)


class Json(TableFormat):
    """A JSON list of objects, read as a whole; a key that an object lacks is missing there."""

    name = "json"
    summary = "a list of objects of JSON"
    extensions = (".json",)
    rank = 55
    needs = "a list of objects: [{…}, {…}]"

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        with open_bytes(file) as content:
            text = content.read().removeprefix(codecs.BOM_UTF8)
        try:
            rows = msgspec.json.decode(text, type=list[dict[str, msgspec.Raw]])
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InputError(f"{file} is not a JSON list of objects: {first_line(error)}") from None
        n_columns = len({name for row in rows for name in row})
        if not n_columns:
            raise InputError(f"{file} has no columns")
        if n_columns > _MANY_COLUMNS:
            refuse_dense(file, len(rows), n_columns)
        frame = pl.read_json(io.BytesIO(text), infer_schema_length=None)
        yield make_scan(file, frame.lazy(), len(rows))

    def complete(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        return _complete_with_nulls(scan, wanted)


def _complete_with_nulls(scan: Scan, wanted: Iterable[str]) -> Scan:
    import polars as pl

    absent = [name for name in wanted if name not in scan.names]
    if not absent or set(scan.names).isdisjoint(wanted):
        return scan
    frame = scan.frame.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    return replace(scan, frame=frame, names=[*scan.names, *absent])


@dataclass(frozen=True)
class Attribute:
    """A column: ``values`` are those a nominal attribute may have, in the order declared."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """Return the value in sparse rows that leave it out: zero, or the first value."""
        return self.values[0] if self.values else "0"


class Arff(TableFormat):
    """A header of attributes, then rows of values, or of the values that are not zero."""

    name = "arff"
    summary = "a table of Weka"
    extensions = (".arff",)
    rank = 60
    # dates are declared in many formats; those that look like dates of other files are read
    holds_text = True

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        attributes = _read_attributes(file)
        names = [attribute.name for attribute in attributes]
        # before any row is written out: those of a sparse file may say next to nothing
        refuse_dense(file, sum(1 for _ in _iter_data_lines(file)), len(names))
        parts: list[pl.DataFrame] = []
        rows = _iter_arff_rows(file, attributes)
        while batch := list(islice(rows, BATCH_ROWS)):
            columns = {}
            for attribute, *cells in zip(attributes, *batch, strict=True):
                try:
                    columns[attribute.name] = _make_series(attribute, cells)
                except CellError as error:
                    place = self.place(file, options, BATCH_ROWS * len(parts) + error.row)
                    raise InputError(
                        f"{file}, {place}, column {error.column!r}: {error.problem}"
                    ) from None
            parts.append(pl.DataFrame(columns))
        if not parts:
            raise InputError(f"{file} has attributes but no rows")
        frame = pl.concat(parts)
        yield Scan(frame.lazy(), names, frame.height)

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        for number, _ in _iter_data_lines(file):
            row -= 1
            if row < 0:
                return f"line {number}"
        return super().place(file, options, row)


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
            try:
                attribute = _parse_attribute(text)
            except csv.Error:
                attribute = None
            if attribute is None:
                raise InputError(f"{file}, line {number}: not an attribute: {text[:60]!r}")
            if attribute.name in attributes:
                raise InputError(
                    f"{file}, line {number}: two attributes are called {attribute.name!r}"
                )
            attributes[attribute.name] = attribute
        elif text and not text.startswith("%") and not text.lower().startswith("@relation"):
            raise InputError(f"{file}, line {number}: expected @attribute or @data: {text[:60]!r}")
    raise InputError(f"{file} has no @data: not a whole ARFF file")


def _parse_attribute(text: str) -> Attribute | None:
    found = _ATTRIBUTE.fullmatch(text)
    if found is None:
        return None
    name, kind = _unquote(found[1]), found[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        return Attribute(name, "nominal", tuple(_split_cells(kind[1:-1])))
    word = kind.split()[0].lower()
    return Attribute(name, word) if word in (*_NUMBERS, "string", "date") else None


def _iter_data_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of the data section that hold rows."""
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
            row = (
                _parse_sparse(text, attributes)
                if text.startswith("{")
                else _parse_dense(text, attributes)
            )
        except (csv.Error, ValueError) as error:
            raise InputError(f"{file}, line {number}: {error}") from None
        for value, attribute, values in zip(row, attributes, allowed, strict=True):
            if value is not None and values and value not in values:
                raise InputError(
                    f"{file}, line {number}, column {attribute.name!r}: "
                    f"{value!r} is not one of its declared values"
                )
        yield row


def _parse_dense(text: str, attributes: Sequence[Attribute]) -> list[str | None]:
    cells = _split_cells(text)
    if len(cells) != len(attributes):
        raise ValueError(f"{len(cells)} values where the header has {len(attributes)} attributes")
    return [None if cell == "?" else cell for cell in cells]


def _parse_sparse(text: str, attributes: Sequence[Attribute]) -> list[str | None]:
    if not text.endswith("}"):
        raise ValueError("a sparse row without its closing brace")
    row: list[str | None] = [attribute.default for attribute in attributes]
    inner, position = text[1:-1].strip(), 0
    while position < len(inner):
        found = _SPARSE_CELL.match(inner, position)
        if found is None:
            raise ValueError(f"not a number and a value: {inner[position:][:40]!r}")
        index, value = int(found[1]), _unquote(found[2])
        if index >= len(attributes):
            raise ValueError(f"there is no attribute {index}: they are counted from 0")
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
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        bad = (numbers.is_null() & text.is_not_null()).arg_max() or 0
        problem = f"{cells[bad]!r} is not a number"
        raise CellError(attribute.name, bad, cells[bad], problem, "correct it")
    return numbers


FORMATS.enter(Csv())
FORMATS.enter(Tsv())
FORMATS.enter(Json())
FORMATS.enter(JsonLines())
FORMATS.enter(Arff())
