"""Tables of lines with separated cells: CSV, TSV and the like."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from conjunct.data import plain_number, says_missing
from conjunct.errors import InputError
from conjunct.files.formats.base import (
    FORMATS,
    AsText,
    Compression,
    Format,
    ReadOptions,
    Scan,
    TableFormat,
    UntidyError,
    Writes,
    describe_repeated,
    list_names,
    number_names,
)
from conjunct.files.raw import (
    estimate_rows,
    make_once,
    refuse_zero_bytes,
    text_file,
    text_lines,
    utf8_error,
)

if TYPE_CHECKING:
    import polars as pl

# rows that show which columns hold only 0 and 1
_SAMPLE = 1000

# possible separators, and the lines that decide on one
_SEPARATORS = ",;\t|"
_START = 100
_START_CHARACTERS = 1 << 18

# the maximum number of lines above a table, and of lines named in a message
_MOST_PREAMBLE = 20
_SHOWN_LINES = 5
_SHOWN = {"\t": "tabs", " ": "blanks"}
_BLANK_CELL = re.compile(r'"(?:[^"]|"")*"|\S+')
_SINGLE_QUOTED = re.compile(r"'(?:[^']|'')+'")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{4}")
_ID_NAME = re.compile(
    r".*(?:id|no|nr|number|order|invoice|transaction|basket|customer|user|session|member)s?",
    re.IGNORECASE,
)

# Excel may name the separator in a line before the column names
_EXCEL = re.compile(r'"?sep=([\x01-\x7f])"?\r?\n')


class Layout(NamedTuple):
    """Layout of the cells of a file."""

    separator: str
    is_given: bool
    """True if the user or the file names the separator."""
    n_skipped: int
    """Lines before the column names."""
    has_header: bool
    header: tuple[str, ...]
    """The column names as they are spelled in the file."""
    names: list[str]
    is_odd: bool
    """True if polars cannot read the file without a tidy copy."""
    is_single_quoted: bool
    """True if the column names are in single quotes; then cells may be, too."""


class Delimited(TableFormat):
    """A line of column names, then one line per row, with cells separated by one character."""

    reads_short_rows = True
    holds_text = True
    writes: Writes | None = "tables"

    separator: str

    def recognise(self, file: Path, options: ReadOptions) -> Format:
        if options.id is not None or options.tags is not None:
            return self
        has_baskets = _holds_baskets(self._find_layout(file, options), file)
        return FORMATS["baskets"] if has_baskets else self

    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        import polars as pl

        layout = self._find_layout(file, options)
        rows = list(islice(self._iter_rows(file, options), _SAMPLE))
        header = layout.names
        if not header:
            raise InputError(f"{file}, line {layout.n_skipped + 1} is blank: it needs column names")
        body = [row for _, row in rows]
        n_bytes = sum(len(cell.encode()) + 1 for row in body for cell in row)
        expected = estimate_rows(file, len(body), n_bytes)
        # one byte per cell suffices for 0 and 1; the type of other columns is inferred from text
        as_bytes = tuple(
            pl.UInt8
            if not as_text(name) and all(row[k] in ("0", "1", "") for row in body if len(row) > k)
            else pl.String
            for k, name in enumerate(header)
        )
        words = (pl.String,) * len(header)
        ways = [(kinds, False) for kinds in dict.fromkeys((as_bytes, words))]
        for kinds, is_tidy in ([] if layout.is_odd else ways) + [(words, True)]:
            path, n_blank = self._tidy(file, options) if is_tidy else (text_file(file), 0)
            blank = "1 blank line" if n_blank == 1 else f"{n_blank:,} blank lines"
            note = f"{file}: skipped {blank} between rows" if n_blank else ""
            frame = pl.scan_csv(
                path,
                separator="," if is_tidy else layout.separator,
                skip_lines=0 if is_tidy else layout.n_skipped,
                has_header=is_tidy or layout.has_header,
                schema_overrides=list(kinds),
                infer_schema=False,
                null_values=list(options.null_values) or None,
                glob=False,
            )
            found = frame.collect_schema().names()
            if len(found) != len(header):
                raise InputError(
                    f"{file}, line {layout.n_skipped + 1}: cannot parse the column names; "
                    "check the quotes"
                )
            renamed = frame.rename(dict(zip(found, header, strict=True)))
            yield Scan(renamed, header, expected, note)

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        with suppress(UntidyError):
            self.count_trailing_blanks(file, options)
        if "utf-8" in str(error) or "utf8" in str(error):
            return utf8_error(file)
        return super().explain(file, options, error)

    def count_trailing_blanks(self, file: Path, options: ReadOptions) -> int:
        """Refuse rows whose width differs from the header's: polars fills them with nulls."""
        layout = self._find_layout(file, options)
        if layout.is_odd:
            return 0
        n_blank, has_blank = 0, False
        for _, row in self._check_widths(file, options):
            has_blank = has_blank or bool(row and n_blank)
            n_blank = 0 if row else n_blank + 1
        if has_blank:
            raise UntidyError
        return n_blank

    def _check_widths(
        self, file: Path, options: ReadOptions
    ) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield the rows, and then report all rows with too many or too few cells."""
        layout = self._find_layout(file, options)
        width = len(layout.names)
        odd: list[int] = []
        n_odd, n_cells = 0, 0
        for line, row in self._iter_rows(file, options):
            if row and len(row) != width:
                n_odd, n_cells = n_odd + 1, n_cells or len(row)
                odd += [line] * (n_odd <= _SHOWN_LINES)
            yield line, row
        if not odd:
            return
        cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
        more = f" and {n_odd - len(odd):,} more lines" if n_odd > len(odd) else ""
        others = f"; see also lines {', '.join(map(str, odd[1:]))}{more}" if odd[1:] else ""
        names = "1 name" if width == 1 else f"{width} names"
        what = f"the first line has {names}" if layout.has_header else f"other lines have {width}"
        raise InputError(f"{file}, line {odd[0]}: {cells}, but {what}{others}")

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        """Return the line on which a row starts: quoted cells may span several lines."""
        rows = (line for line, cells in self._iter_rows(file, options) if cells)
        return f"line {next(islice(rows, row, None), row + 2)}"

    def infer_type(self, column: pl.Series) -> pl.Series:
        import polars as pl

        if column.dtype != pl.UInt8:
            return super().infer_type(column)
        return column.cast(pl.Boolean) if column.max() in (None, 0, 1) else column

    def remarks(self, file: Path, options: ReadOptions) -> Iterator[str]:
        layout = self._find_layout(file, options)
        yield from super().remarks(file, options)
        if not layout.is_given and layout.separator != self.separator:
            shown = _SHOWN.get(layout.separator, repr(layout.separator))
            yield (
                f"the cells of {file} seem to be separated by {shown}; if they are not, pass "
                "separator= (--separator on the command line)"
            )
        if layout.n_skipped > layout.is_given:
            lines = "line" if layout.n_skipped == 1 else f"{layout.n_skipped} lines"
            yield f"skipping the first {lines} above the table in {file}"
        if not layout.has_header and options.header is None:
            yield (
                f"{file} seems to have no line of column names; using {list_names(layout.names)}; "
                "if the first line has the names, pass header=True (--header on the command line)"
            )
        repeated = describe_repeated(file, layout.header) if layout.has_header else None
        if repeated is not None:
            yield repeated
        if options.format != "long" and options.tags is None:
            rows = [row for _, row in islice(self._iter_rows(file, options), _SAMPLE)]
            if _is_long(layout.names, rows):
                one, many = layout.names[:2]
                yield (
                    f"{file} may be a long table, with one {many!r} per line and several lines "
                    f"per {one!r}; format='long' makes one row per {one!r} "
                    "(--format long on the command line)"
                )

    def write(self, file: IO[bytes], data: pl.DataFrame, compression: Compression) -> None:
        """Write a table, with Booleans as 0 and 1."""
        import polars as pl

        data.with_columns(pl.selectors.boolean().cast(pl.UInt8)).write_csv(
            file,
            separator=self.separator,
            compression=compression,
            check_extension=False,
            # readers would skip a blank line in a table of one column
            null_value='""' if data.width == 1 else "",
        )

    def _find_layout(self, file: Path, options: ReadOptions) -> Layout:
        asked = options.separator
        if asked is not None and len(asked.encode()) != 1:
            raise InputError(f"separator must be one character; got {asked!r}")
        state = file.stat()
        return _find_layout(
            file, state.st_mtime_ns, state.st_size, self.separator, asked, options.header
        )

    def _iter_rows(self, file: Path, options: ReadOptions) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield the rows below the column names as text, with the numbers of their first lines."""
        layout = self._find_layout(file, options)
        rows = _iter_cells(file, layout.separator, layout.n_skipped, layout.is_odd)
        if layout.is_single_quoted:
            rows = ((line, _strip_single_quotes(row)) for line, row in rows)
        return islice(rows, int(layout.has_header), None)

    def _tidy(self, file: Path, options: ReadOptions) -> tuple[Path, int]:
        """Return a copy with commas and without blank lines, and the number of these."""

        def write(copy: Path) -> tuple[Path, int]:
            n_blank, n_trailing = 0, 0
            with copy.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out, lineterminator="\n")
                writer.writerow(self._find_layout(file, options).names)
                for _, row in self._check_widths(file, options):
                    if row:
                        writer.writerow(row) if row != [""] else out.write('""\n')
                        n_blank, n_trailing = n_blank + n_trailing, 0
                    else:
                        n_trailing += 1
            return copy, n_blank

        return make_once("tidy", file, write, options.separator, options.header)


def _iter_cells(
    file: Path, separator: str, n_skipped: int, skips_blanks: bool
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield rows as text, with the numbers of their first lines. Blank rows have no cells."""
    lines = islice(text_lines(file), n_skipped, None)
    if separator == " ":
        for line, text in enumerate(lines, start=1 + n_skipped):
            refuse_zero_bytes(file, line, text)
            yield line, _split_at_blanks(text)
        return
    line = 1 + n_skipped
    rows = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=skips_blanks)
    try:
        for row in rows:
            for cell in row:
                refuse_zero_bytes(file, line, cell)
            yield line, row
            line = rows.line_num + 1 + n_skipped
    except csv.Error as error:
        raise InputError(f"{file}, line {line}: wrongly quoted ({error})") from None


def _split_at_blanks(line: str) -> list[str]:
    cells = _BLANK_CELL.findall(line)
    return [c[1:-1].replace('""', '"') if c[:1] == '"' and len(c) > 1 else c for c in cells]


def _strip_single_quotes(row: Sequence[str]) -> list[str]:
    return [
        cell[1:-1].replace("''", "'") if cell == "''" or _SINGLE_QUOTED.fullmatch(cell) else cell
        for cell in row
    ]


@lru_cache(maxsize=16)
def _find_layout(
    file: Path, changed: int, size: int, usual: str, asked: str | None, header: bool | None
) -> Layout:
    start = _read_start(file)
    named = _EXCEL.fullmatch(start[0]) if start else None
    n_skipped = int(named is not None)
    is_given = named is not None or asked is not None
    if not is_given:
        n_skipped = _count_preamble(start, usual)
    separator = asked or (str(named[1]) if named else _sniff_separator(start[n_skipped:], usual))
    rows = [row for _, row in islice(_iter_cells(file, separator, n_skipped, False), _SAMPLE + 1)]
    first = rows[0] if rows else []
    skips_blanks = len(first) > 1 and all(cell.startswith(" ") for cell in first[1:])
    if skips_blanks:
        # "a", "b": quotes come after a blank
        rows = [r for _, r in islice(_iter_cells(file, separator, n_skipped, True), _SAMPLE + 1)]
        first = rows[0] if rows else []
    is_single_quoted = len(first) > 1 and all(map(_SINGLE_QUOTED.fullmatch, first))
    if is_single_quoted:
        rows = [*map(_strip_single_quotes, rows)]
        first = rows[0]
    body = [row for row in rows[1:] if row]
    numbered = [f"column {k}" for k in range(1, len(first) + 1)]
    has_header = header is not False or list(first) == numbered
    if header is None and has_header:
        has_header = _has_header(first, body)
    # R writes distinct row names first, without a column name
    is_wide = has_header and len(body) > 1 and all(len(row) == len(first) + 1 for row in body)
    is_wide = is_wide and len({row[0] for row in body}) == len(body)
    names = number_names(["", *first] if is_wide else first) if has_header else numbered
    has_blank = [] in rows and any(rows[rows.index([]) :])
    is_odd = skips_blanks or is_wide or has_blank or is_single_quoted or separator == " "
    of_names = has_header, tuple(first), names
    return Layout(separator, is_given, n_skipped, *of_names, is_odd, is_single_quoted)


def _count_preamble(lines: Sequence[str], usual: str) -> int:
    """Return how many lines before the table are blank, comments or titles."""
    filled = [line for line in lines if line.strip() and not line.startswith("#")]
    separator = _sniff_separator(filled, usual)
    widths = _count_widths(filled, separator)
    if len(widths) > 1 or max(widths, default=0) < 2:
        # the second half of the lines has nothing above the table
        later = filled[len(filled) // 2 :]
        separator = _sniff_separator(later, usual)
        widths = _count_widths(later, separator)
    # two columns may be words and their meanings
    width = max(widths) if len(widths) == 1 and len(filled) > 3 and max(widths) > 2 else 0
    for k, line in enumerate(lines[:_MOST_PREAMBLE]):
        row = next(csv.reader([line], delimiter=separator), [])
        is_comment = line.startswith("#") and len(row) not in widths
        # column names have one cell fewer than rows if R wrote row names
        is_alone = bool(row) and bool(row[0].strip()) and not any(map(str.strip, row[1:]))
        is_title = bool(width) and (len(row) < width - 1 or is_alone)
        # a quoted name may span several lines
        is_open = line.count('"') % 2 == 1
        if line.strip() and (is_open or not (is_comment or is_title)):
            return k
    return 0


def _count_widths(lines: Sequence[str], separator: str) -> set[int]:
    """Return the numbers of cells of rows. The last row may be incomplete, in open quotes."""
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    return {len(row) for row in (rows if len(rows) <= 2 else rows[:-1])}


def _has_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return True unless the first row looks like other rows."""
    columns = [[row[k] for row in body if len(row) > k] for k in range(len(first))]
    present = [[c for c in map(str.strip, cells) if not says_missing(c) and c] for cells in columns]
    heads = [name.strip() for name in first]
    numeric = [bool(cells) and all(map(_is_value, cells)) for cells in present]
    named = [head for head in heads if head and not says_missing(head)]
    if any(
        n and head in named and not _is_value(head) for n, head in zip(numeric, heads, strict=True)
    ):
        return True
    again = [
        head in cells
        for head, cells, n in zip(heads, present, numeric, strict=True)
        if head in named and not n
    ]
    values = [head for n, head in zip(numeric, heads, strict=True) if n and _is_value(head)]
    if not values:
        return len(body) < 3 or not again or not all(again)
    # names may be years, or the numbers of columns
    numbers = [plain_number(value) for value in values]
    whole = [int(n) for n in numbers if n is not None and n == n and n % 1 == 0]
    if len(whole) < len(values) or len({*whole}) < len(whole) or (again and all(again)):
        return False
    is_counted = len(whole) > 1 and whole == [*range(whole[0], whole[0] + len(whole))]
    return is_counted or 1800 <= min(whole) <= max(whole) <= 2100


def _is_value(cell: str) -> bool:
    return plain_number(cell) is not None or _DATE.match(cell) is not None


def _holds_baskets(layout: Layout, file: Path) -> bool:
    """Return True if lines are lists of tags: their lengths differ, and the first is no header."""
    separator = layout.separator
    if len(layout.names) < 2:
        start = "".join(_read_start(file))
        separator = next((s for s in _SEPARATORS if s in start), separator)
    rows = [row for _, row in islice(_iter_cells(file, separator, 0, False), _SAMPLE)]
    rows = [[cell.strip() for cell in row] for row in rows if row]
    widths = {len(row) for row in rows}
    rows = [row[: max((k + 1 for k, cell in enumerate(row) if cell), default=0)] for row in rows]
    if len(rows) < 3 or len({*map(len, rows)}) < 2 or not all(map(all, rows)):
        return False
    first, others = rows[0], {cell for row in rows[1:] for cell in row}
    again = sum(cell in others for cell in first)
    if not first or 2 * again < len(first):
        return False
    if len(widths) == 1:
        # a table may lack its last cells, but tags of lists change places
        second = {row[1] for row in rows if len(row) > 1}
        mixed = {row[0] for row in rows if row} & second
        return 2 * len(mixed) >= len(second) > 0 and not all(map(_is_value, first))
    n_cells = sum(map(len, rows))
    return len(others) <= 0.8 * n_cells


def _is_long(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first column holds ids that recur, and the second one holds words."""
    if len(names) != 2 or len(rows) < 6 or _ID_NAME.fullmatch(names[0]) is None:
        return False
    pairs = [(row[0], row[1]) for row in rows if len(row) == 2]
    ids, tags = ({pair[k] for pair in pairs} for k in (0, 1))
    is_repeated = 3 * len(ids) <= 2 * len(pairs) and len(tags) <= 0.8 * len(pairs)
    are_words = not all(map(_is_value, tags)) and len(tags) > 2
    return is_repeated and are_words and len({*pairs}) >= 0.95 * len(pairs)


def _read_start(file: Path) -> list[str]:
    """Return the first lines, at most about 256 KB."""
    lines: list[str] = []
    n_characters = 0
    for line in text_lines(file):
        lines.append(line)
        n_characters += len(line)
        if len(lines) == _START or (n_characters > _START_CHARACTERS and len(lines) > 2):
            break
    return lines


def _sniff_separator(lines: Sequence[str], usual: str) -> str:
    """Return the separator that gives all lines the same number of cells, as many as possible."""
    there = [separator for separator in _SEPARATORS if lines and separator in lines[0]]
    best, most = usual, 1
    for separator in sorted(there, key=lambda separator: separator != usual):
        widths = _count_widths(lines, separator)
        if len(widths) == 1 and max(widths) > most:
            best, most = separator, max(widths)
    if there or len(lines) < 3:
        return best
    rows = [row for row in map(_split_at_blanks, lines) if row]
    widths = {len(row) for row in rows[1:]}
    is_table = len(widths) == 1 and 0 <= max(widths) - len(rows[0]) <= 1 and max(widths) > 1
    # names and words may contain blanks, but in different numbers
    has_numbers = any(all(map(_is_value, column)) for column in zip(*rows[1:], strict=False))
    return " " if is_table and has_numbers else usual


class Csv(Delimited):
    name = "csv"
    summary = "one row per line, cells separated by commas"
    extensions = (".csv",)
    rank = 10
    separator = ","


class Tsv(Delimited):
    name = "tsv"
    summary = "one row per line, cells separated by tabs"
    extensions = (".tsv", ".tab")
    rank = 20
    separator = "\t"


class Text(Delimited):
    name = "text"
    summary = "a table, or one transaction per line, depending on the first lines"
    extensions = (".txt", ".text")
    rank = 25
    writes = None
    separator = ","

    def recognise(self, file: Path, options: ReadOptions) -> Format:
        found = super().recognise(file, options)
        layout = self._find_layout(file, options)
        return FORMATS["baskets"] if len(layout.names) < 2 else found


for kind in (Csv, Tsv, Text):
    FORMATS.enter(kind())
