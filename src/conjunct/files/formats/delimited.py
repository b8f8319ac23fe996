"""CSV and TSV, read by polars; Python's csv module finds the line that is wrong."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from conjunct.errors import InputError
from conjunct.files.formats.base import FORMATS, AsText, Compression, ReadOptions, Scan, TableFormat
from conjunct.files.raw import (
    about_rows,
    not_utf8,
    refuse_carriage_returns,
    refuse_zero_bytes,
    text_lines,
)

if TYPE_CHECKING:
    import polars as pl

_SAMPLE = 1000


# what may separate cells, and the lines that are looked at to find out
_SEPARATORS = ",;\t|"
_START = 100
_START_CHARACTERS = 1 << 18
# how Excel says it: a line before the column names
_EXCEL = re.compile(r'"?sep=([\x01-\x7f])"?\r?\n')


class Layout(NamedTuple):
    """What separates the cells of a file, and how many lines stand before the column names."""

    separator: str
    n_skipped: int
    is_given: bool


class Delimited(TableFormat):
    """A line of column names, then one line a row, cells apart by a separator."""

    reads_short_rows = True
    holds_text = True
    writes = "tables"

    separator: str

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        refuse_carriage_returns(file)
        layout = self._layout(file, options)
        rows = list(islice(self._rows(file, options), _SAMPLE + 1))
        header = _checked_header(file, rows)
        body = [row for _, row in rows[1:]]
        n_bytes = sum(len(cell.encode()) + 1 for row in body for cell in row)
        expected = about_rows(file, len(body), n_bytes)
        # one byte a cell serves the usual file; what is not 0 or 1 is read as text, then typed
        as_bytes = [
            pl.UInt8 if _is_bits(body, k) and not as_text(name) else pl.String
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
        self.n_blank_at_the_end(file, options)
        if "utf-8" in str(error) or "utf8" in str(error):
            return not_utf8(file)
        return super().explain(file, options, error)

    def n_blank_at_the_end(self, file: Path, options: ReadOptions) -> int:
        """Refuse rows of another width than the header's: polars fills them with nulls."""
        blank: list[int] = []
        width = 0
        for k, (line, row) in enumerate(self._rows(file, options)):
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
        """The line on which a row starts: names and cells in quotes may run over several."""
        for k, (line, _) in enumerate(self._rows(file, options), start=-1):
            if k == row:
                return f"line {line}"
        return f"line {row + 2}"

    def typed(self, column: pl.Series) -> pl.Series:
        import polars as pl

        if column.dtype != pl.UInt8:
            return super().typed(column)
        return column.cast(pl.Boolean) if column.max() in (None, 0, 1) else column

    def remark(self, file: Path, options: ReadOptions) -> str | None:
        layout = self._layout(file, options)
        if layout.is_given or layout.separator == self.separator:
            return None
        shown = "tabs" if layout.separator == "\t" else repr(layout.separator)
        return (
            f"the cells of {file} are separated by {shown}, as its first lines say; if they are "
            "not, pass separator= (at a prompt: --separator)"
        )

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        """Booleans are 0 and 1."""
        import polars as pl

        data.with_columns(pl.selectors.boolean().cast(pl.UInt8)).write_csv(
            file,
            separator=self.separator,
            compression=compression,
            check_extension=False,
            # in a single column, not a blank line, which readers skip
            null_value='""' if data.width == 1 else "",
        )

    def _layout(self, file: Path, options: ReadOptions) -> Layout:
        asked = options.separator
        if asked is not None and len(asked.encode()) != 1:
            raise InputError(f"separator must be one character; got {asked!r}")
        start = _start(file)
        named = _EXCEL.fullmatch(start[0]) if start else None
        if named is not None or asked is not None:
            separator = asked or str(named and named[1])
            return Layout(separator, int(named is not None), is_given=True)
        return Layout(_sniffed(start, self.separator), 0, is_given=False)

    def _rows(self, file: Path, options: ReadOptions) -> Iterator[tuple[int, Sequence[str]]]:
        """The rows as text, each with the number of its first line; for messages, not for data."""
        layout = self._layout(file, options)
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


def _checked_header(file: Path, rows: Sequence[tuple[int, Sequence[str]]]) -> Sequence[str]:
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


def _start(file: Path) -> list[str]:
    """The first lines, as many as are not much to look at."""
    lines: list[str] = []
    n_characters = 0
    for line in text_lines(file):
        lines.append(line)
        n_characters += len(line)
        if len(lines) == _START or (n_characters > _START_CHARACTERS and len(lines) > 2):
            break
    return lines


def _sniffed(lines: Sequence[str], usual: str) -> str:
    """The separator that gives all lines the same number of cells, and the most; else the usual."""
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


def _is_bits(rows: Sequence[Any], column: int) -> bool:
    return all(len(row) <= column or row[column] in ("0", "1", "") for row in rows)


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


FORMATS.enter(Csv())
FORMATS.enter(Tsv())
