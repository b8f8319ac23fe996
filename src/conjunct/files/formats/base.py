"""Formats: recognising, reading and writing kinds of files, and finding the format of a file."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

from conjunct.data import BooleanData, BooleanRule, ColumnRule, Ids
from conjunct.errors import ConjunctWarning, InputError
from conjunct.files import raw
from conjunct.files.cells import (
    BadCellError,
    TagBatch,
    TagPacker,
    find_splitter,
    parse_text,
    split_cells,
)
from conjunct.files.raw import (
    Progress,
    StrPath,
    check_exists,
    check_not_empty,
    describe_text,
    first_line,
)
from conjunct.parameters import Registry

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

AsText: TypeAlias = Callable[[str], bool]
"""Returns True for a column to read as text, even if it holds numbers."""

_SEPARATORS_HINT = "separator splits lines into cells, and tag_separator splits cells into tags"
_NUMBERED = re.compile(r"column \d+")
Writes: TypeAlias = Literal["tables", "matrices"]
Compression: TypeAlias = Literal["uncompressed", "gzip", "zstd"]
COMPRESSIONS: dict[str, Compression] = {"": "uncompressed", ".gz": "gzip", ".zst": "zstd"}
FORMATS: Registry[Format] = Registry("formats", "conjunct.files.formats")


@dataclass(frozen=True)
class ReadOptions:
    """Options of :func:`conjunct.files.read_boolean`, which describes them."""

    format: str | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    id: str | None = None
    separator: str | None = None
    tags: str | None = None
    null_values: Sequence[str] = ()
    tag_separator: str | None = None
    sheet: str | None = None
    table: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        for word in self.null_values:
            if any("\ud800" <= character <= "\udfff" for character in word):
                raise InputError(
                    f"{word!r} cannot occur in a text file: choose another word for missing cells"
                )

    def expect(self, names: Sequence[str] | None, binarizer: object = None) -> ReadOptions:
        """Return the options for a file that a model reads; its column names imply the header."""
        names = getattr(binarizer, "feature_names_in_", names)
        if self.header is not None or names is None:
            return self
        return replace(self, header=not all(map(_NUMBERED.fullmatch, map(str, names))))

    def choose_columns(self, names: Sequence[str], file: Path) -> list[str]:
        """Return the columns to make features from, in the order of the options or of the file."""
        known = set(names)

        def split(given: Sequence[str]) -> list[str]:
            """Split ``a,b`` into two names, unless it is the name of a column."""
            parts = ([n] if n in known or "," not in n else n.split(",") for n in given)
            return list(dict.fromkeys(name for some in parts for name in some))

        columns, exclude = split(self.columns or ()), split(self.exclude)
        asked = dict.fromkeys([*columns, *exclude, *([self.id] if self.id is not None else ())])
        absent = [name for name in asked if name not in known]
        if absent:
            raise InputError(
                f"{file} has no column {list_names(absent)}: it has {list_names(names, 5)}"
            )
        left_out = {*exclude, self.id}
        chosen = [name for name in columns or names if name not in left_out]
        if not chosen:
            raise InputError(f"{file}: no column is left for features")
        return chosen


class Format(ABC):
    """A kind of file. Errors name the file, the line and the column."""

    name: str
    summary: str = ""
    """A short description of such files."""
    extensions: tuple[str, ...] = ()
    rank: int = 100
    """The position in lists of formats."""
    magic: tuple[bytes, ...] = ()
    """The first bytes of such files, if they are unique."""
    is_text: bool = True
    """True if files may be compressed and end in .gz or .zst."""
    is_read: bool = True
    needs: str = "a line of column names, then rows"
    """The content of a valid file, for errors about an empty one."""
    no_tags: str = "contains no tags"
    writes: Writes | None = None
    """The data that ``write`` accepts: data frames, sparse matrices, or none."""
    parts: Literal["sheet", "table"] | None = None
    """The option that chooses one of several tables in such a file."""
    holds_lists: bool = False
    """True if lists can be written to cells."""
    numbers: TableFormat | None = None
    """The format of files with values other than 0 and 1, if the format is one of tags."""

    def endings(self) -> Iterator[tuple[str, Compression]]:
        """Yield the endings of file names, with their compression."""
        for extension in self.extensions:
            for ending, compression in COMPRESSIONS.items():
                if self.is_text or not ending:
                    yield extension + ending, compression

    def check(self, path: StrPath, options: ReadOptions) -> None:
        """Refuse options that do not apply to such a file."""
        if options.tags is not None:
            raise InputError(f"{path}: {self.name} files have no column of tags")
        refuse_parts(path, self, options)

    def recognise(self, file: Path, options: ReadOptions) -> Format:
        """Return the format of the content of a file, usually this one."""
        return self

    def table(self, path: StrPath) -> TableFormat:
        """Return the format of a file that has to be a table."""
        raise InputError(f"{path}: {self.name} is not a table with columns")

    def remarks(self, file: Path, options: ReadOptions) -> Iterator[str]:
        """Yield remarks for the user about how the file is read."""
        note = describe_text(file) if self.is_text else None
        if note is not None:
            yield note

    def place(self, file: Path, options: ReadOptions, row: int) -> str:
        """Return the place of a row, for messages."""
        return f"row {row + 1}"

    def error_at(
        self, file: Path, options: ReadOptions, row: int, column: str | None, problem: str
    ) -> InputError:
        """Return an error about a cell, with its place in the file."""
        where = f"{file}, {self.place(file, options, row)}, column {column!r}"
        return InputError(f"{where}: {problem}")

    def holds_tags(self, options: ReadOptions) -> bool:
        """Return True if tags become features, instead of columns."""
        return True

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        """Yield batches of the tags of some thousand rows."""
        raise InputError(f"{file}: {self.name} is not read")

    def tags(self, file: Path, options: ReadOptions, progress: Progress | None) -> BooleanData:
        """Return the tags of all rows, in code-point order."""
        packer, ids, n_rows = TagPacker(), list[str](), 0
        for batch in self.tag_batches(file, options):
            if batch.tags:
                packer.add(batch.rows + n_rows, batch.tags)
            ids.extend(batch.ids)
            n_rows += batch.n_rows
            if progress is not None:
                progress(n_rows, batch.expected)
        if not packer.n_tags:
            raise InputError(f"{file} {self.no_tags}")
        named = options.id is not None and ids
        return packer.table(n_rows, Ids(options.id or "", tuple(ids)) if named else None)

    def write(self, file: IO[bytes], data: Any, compression: Compression) -> None:
        """Write a polars data frame or a sparse matrix, depending on ``writes``."""
        raise InputError(f"{file}: {self.name} is not written")


@dataclass(frozen=True)
class Scan:
    """A table that is not yet read: its columns, and its estimated number of rows."""

    frame: pl.LazyFrame
    names: Sequence[str]
    n_rows: int | None = None
    note: str = ""
    """A remark for the user if the table is read in this way."""


def never(name: str) -> bool:
    """Return False: read no column as text."""
    return False


def columns_as_text(rules: Mapping[str, Sequence[ColumnRule]] | None) -> AsText:
    """Return the columns that rules read as text: all that are not Boolean."""
    if rules is None:
        return never
    return lambda name: name in rules and not is_boolean(rules[name])


def is_boolean(rules: Sequence[ColumnRule]) -> bool:
    """Return True if the rules keep a column unchanged."""
    return len(rules) == 1 and isinstance(rules[0], BooleanRule)


class UntidyError(Exception):
    """The file has to be read in another way."""


def refuse_parts(path: StrPath, kind: Format, options: ReadOptions) -> None:
    """Refuse options about sheets or tables that such a file does not have."""
    for part in ("sheet", "table"):
        if getattr(options, part) is not None and kind.parts != part:
            raise InputError(f"{path}: {kind.name} has no {part}s")


def number_names(names: Sequence[str]) -> list[str]:
    """Make names distinct: a second ``a`` becomes ``a (2)``, and a second empty name ``column 4``.

    Examples
    --------
    >>> number_names(["a", "", "a", ""])
    ['a', '', 'a (2)', 'column 4']
    """
    found: dict[str, None] = {}
    for place, name in enumerate(names, start=1):
        unique, count = name, 1
        while unique in found:
            count += 1
            unique = f"{name} ({count})" if name else f"column {place}{'+' * (count - 2)}"
        found[unique] = None
    return list(found)


def describe_repeated(file: Path, names: Sequence[str]) -> str | None:
    """Return a remark about columns with the same name, if there are any."""
    changed = [new for old, new in zip(names, number_names(names), strict=True) if old != new]
    if not changed:
        return None
    return f"{file} has several columns of the same name, which are numbered: {list_names(changed)}"


class TableFormat(Format):
    """A kind of file that holds a table of columns, one of which may hold tags."""

    reads_short_rows: ClassVar[bool] = False
    """True if the reader fills short rows with nulls."""

    holds_text: ClassVar[bool] = False
    """True if numbers and dates are text, from which their type is inferred."""

    counts_rows: ClassVar[bool] = False
    """True if the file states its number of rows."""

    @abstractmethod
    def scans(self, file: Path, options: ReadOptions, as_text: AsText) -> Iterator[Scan]:
        """Yield ways to read the file, the quickest first. If one fails, the next is tried.

        ``as_text`` chooses the columns of text files to read as text, even if they hold numbers.
        """

    def complete(self, scan: Scan, wanted: Iterable[str]) -> Scan:
        """Add wanted columns that the file omits because all of their cells are missing."""
        return scan

    def explain(self, file: Path, options: ReadOptions, error: BaseException) -> InputError:
        """Return an error that explains why the file cannot be read."""
        return InputError(f"{file} cannot be read: {first_line(error)}")

    def count_trailing_blanks(self, file: Path, options: ReadOptions) -> int:
        """Count the blank rows at the end. This is called if the last column has a missing cell."""
        return 0

    def infer_type(self, column: pl.Series) -> pl.Series:
        """Convert text to numbers or dates if all of it fits."""
        return parse_text(column) if self.holds_text else column

    def check(self, path: StrPath, options: ReadOptions) -> None:
        if options.tag_separator is not None and not self.holds_tags(options):
            raise InputError(
                f"{path}: tag_separator= needs a column of tags: name it with tags= "
                "(--tag-separator and --tags on the command line)"
            )
        refuse_parts(path, self, options)

    def table(self, path: StrPath) -> TableFormat:
        return self

    def holds_tags(self, options: ReadOptions) -> bool:
        return options.tags is not None

    def read(
        self, file: Path, options: ReadOptions, use: Callable[[Scan], T], as_text: AsText = never
    ) -> tuple[T, int]:
        """Return the result of ``use``, and the first way to read the table that works."""
        import polars as pl

        failed: BaseException = InputError("it cannot be read")
        try:
            for way, scan in enumerate(self.scans(file, options, as_text)):
                try:
                    done = use(scan)
                    if scan.note:
                        warnings.warn(scan.note, ConjunctWarning, stacklevel=2)
                    return done, way
                except (pl.exceptions.PolarsError, UntidyError) as error:
                    failed = error
        except pl.exceptions.PolarsError as error:
            failed = error
        raise self.explain(file, options, failed) from None

    def scan(self, file: Path, options: ReadOptions, way: int, as_text: AsText) -> Scan:
        """Return the table, read in a way that works."""
        return next(islice(self.scans(file, options, as_text), way, None))

    def batches(
        self, file: Path, options: ReadOptions, frame: pl.LazyFrame
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of a frame in batches, and explain errors."""
        import polars as pl

        try:
            yield from frame_batches(frame)
        except pl.exceptions.PolarsError as error:
            raise self.explain(file, options, error) from None

    def text_batches(
        self, file: Path, options: ReadOptions, *wanted: str | None
    ) -> tuple[Scan, Iterator[pl.DataFrame]]:
        """Return the wanted columns, by default all, in batches of cells as they are spelled."""
        scan, _ = self.read(file, options, lambda scan: scan, as_text=lambda name: True)
        for name in (options.tags, options.id):
            if name is not None and name not in scan.names:
                hint = "" if options.separator is None else f" ({_SEPARATORS_HINT})"
                raise InputError(
                    f"{file} has no column {name!r}: it has {list_names(scan.names, 5)}{hint}"
                )
        names = [name for name in wanted if name is not None] or scan.names
        return scan, self.batches(file, options, select_columns(scan.frame, names))

    def tag_batches(self, file: Path, options: ReadOptions) -> Iterator[TagBatch]:
        """Yield the tags of rows from cells: ``water;tree``, a JSON list, or a list."""

        def take_one(cell: str) -> list[str]:
            return [tag] if (tag := cell.strip()) else []

        scan, batches = self.text_batches(file, options, options.tags, options.id)
        n_rows, split = 0, None
        for batch in batches:
            cells = batch.get_column(options.tags or "").to_list()
            if split is None:
                texts = [cell for cell in cells if isinstance(cell, str)]
                split = find_splitter(texts, options.tag_separator, take_one)
            try:
                pairs = split_cells(cells, split)
            except BadCellError as bad:
                problem = f"not a list of tags ({bad})"
                row = n_rows + bad.row
                raise self.error_at(file, options, row, options.tags, problem) from None
            ids = [] if options.id is None else spell_ids(batch.get_column(options.id))
            yield TagBatch(len(cells), *pairs, ids, scan.n_rows)
            n_rows += len(cells)
        if not n_rows:
            raise InputError(f"{file} has column names but no rows")


def make_scan(file: Path, frame: pl.LazyFrame, n_rows: int | None) -> Scan:
    """Return a scan of a frame, which must have columns."""
    names = frame.collect_schema().names()
    if not names:
        raise InputError(f"{file} has no columns")
    return Scan(frame, names, n_rows)


def make_series(name: str, cells: Sequence[Any]) -> pl.Series:
    """Return a column of values of any type. Values of several types become text."""
    import polars as pl

    def spell(cell: Any) -> str | None:
        if isinstance(cell, bool):
            return str(cell).lower()
        return None if cell is None else str(cell)

    kinds = {type(cell) for cell in cells if cell is not None}
    if list in kinds or tuple in kinds:
        items = (cell if isinstance(cell, list | tuple) else [cell] for cell in cells)
        texts = ([text for text in map(spell, some) if text is not None] for some in items)
        lists = [None if c is None else some for c, some in zip(cells, texts, strict=True)]
        return pl.Series(name, lists, pl.List(pl.String))
    if bytes in kinds:
        return pl.Series(name, [None if c is None else b"bytes" for c in cells], pl.Binary)
    is_large = int in kinds and any(type(c) is int and abs(c) >> 63 for c in cells)
    if kinds == {int, float} or (kinds == {int} and is_large):
        return pl.Series(name, [None if c is None else float(c) for c in cells], pl.Float64)
    if len(kinds) > 1:
        return pl.Series(name, [*map(spell, cells)], pl.String)
    return pl.Series(name, cells, strict=False)


def frame_batches(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield batches of some thousand rows."""
    return frame.collect_batches(chunk_size=raw.BATCH_ROWS)


def select_columns(frame: pl.LazyFrame, names: Iterable[str]) -> pl.LazyFrame:
    """Select columns by name. The method ``select`` would read ``^a.*$`` as a pattern."""
    import polars as pl

    return frame.select(pl.selectors.by_name(*names))


def spell_ids(column: pl.Series) -> list[str]:
    return ["" if value is None else str(value) for value in column]


def list_names(names: Sequence[str], most: int = 10) -> str:
    """List the first names, and count the others."""
    shown = ", ".join(map(repr, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def find_format(path: StrPath, name: str | None = None) -> Format:
    """Return the format called ``name``, or the format of the file's name or first bytes."""
    read = [kind for kind in FORMATS.values() if kind.is_read]
    if name is not None:
        kind = FORMATS.get(name)
        if kind is not None and kind.is_read:
            return kind
        names = ", ".join(kind.name for kind in read)
        raise InputError(f"format must be one of {names}; got {name!r}")
    found = _match_name(path, read)
    if found is not None:
        return found[0]
    if Path(path).is_file():
        with Path(path).open("rb") as opened:
            start = opened.read(16)
        for kind in read:
            if kind.magic and start.startswith(kind.magic):
                return kind
    raise InputError(f"{_describe_unknown(path, read)}, or use --format (format= in Python)")


def find_source(path: StrPath, options: ReadOptions) -> tuple[Path, Format]:
    """Return a file to read and its format, after checking these and the options."""
    check_exists(path)
    kind = find_format(path, options.format)
    kind.check(path, options)
    file = check_not_empty(path, kind.needs)
    named, kind = kind, recognise_format(file, options)
    if kind is not named:
        remark = (
            f"{file} holds lists: each line is read as the tags of one row; to read a table with a "
            f"line of column names, pass format={named.name!r} (--format {named.name} on the "
            "command line)"
        )
        warnings.warn(remark, ConjunctWarning, stacklevel=2)
    for remark in kind.remarks(file, options):
        warnings.warn(remark, ConjunctWarning, stacklevel=2)
    return file, kind


def recognise_format(file: Path, options: ReadOptions) -> Format:
    """Return the format of the options, or of the file's name and content."""
    kind = find_format(file, options.format)
    return kind if options.format is not None else kind.recognise(file, options)


def find_writer(path: StrPath, writes: Writes = "tables") -> tuple[Format, Compression]:
    """Return the format for writing a file of this name, and its compression."""
    written = [kind for kind in FORMATS.values() if kind.writes == writes]
    found = _match_name(path, written)
    if found is None:
        raise InputError(_describe_unknown(path, written))
    return found


def _match_name(path: StrPath, kinds: Sequence[Format]) -> tuple[Format, Compression] | None:
    name = Path(path).name.lower()
    endings = ((kind, *ending) for kind in kinds for ending in kind.endings())
    return next(((kind, how) for kind, ending, how in endings if name.endswith(ending)), None)


def _describe_unknown(path: StrPath, kinds: Sequence[Format]) -> str:
    extensions = ", ".join(extension for kind in kinds for extension in kind.extensions)
    return (
        f"{path}: not a known kind of table; the name must end in {extensions} "
        "(text formats may add .gz or .zst)"
    )
