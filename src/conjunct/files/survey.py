"""Tables looked through once, batch by batch: how many rows, and what each column becomes.

Read as a whole, a file has its Boolean columns packed on the way: its text is never in memory.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from conjunct.columns import Bits, columns_of_lines, line_bytes, pack_column
from conjunct.data import (
    Binarizer,
    BooleanData,
    BooleanRule,
    Column,
    ColumnRule,
    Dropped,
    Ids,
    Preparation,
    applied,
    rules_for,
)
from conjunct.errors import CellError, ConjunctWarning, InputError
from conjunct.files import raw
from conjunct.files.cells import BooleanCells, column_of
from conjunct.files.formats.base import (
    AsText,
    Format,
    ReadOptions,
    Scan,
    TableFormat,
    check_kinds,
    frame_batches,
    is_boolean,
    listed,
    picked,
    words_of,
)
from conjunct.files.raw import Progress, StrPath, one_line_errors
from conjunct.memory import byte_text

if TYPE_CHECKING:
    import polars as pl

Found: TypeAlias = list[ColumnRule] | Dropped
Line: TypeAlias = tuple[Bits, Bits | None]

# columns that are not Boolean are read whole, as many at a time as take about this much memory
_GROUP_BYTES = 1 << 28
_CELL_BYTES = 64


@dataclass
class Survey:
    """What is found out about files with the same columns before their rows are used.

    Without ``memory``, there is one file and its rows are kept, for ``table``.
    """

    files: Sequence[Path]
    formats: Sequence[TableFormat]
    options: ReadOptions
    binarizer: Binarizer
    progress: Progress | None = None
    memory: int | None = None
    wanted: Callable[[str], bool] = lambda name: True
    """Which of the columns chosen are wanted."""
    columns: list[str] = field(default_factory=list)
    n_rows: list[int] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    """Which of the ways to read each file works."""

    def __post_init__(self) -> None:
        self.rules = rules_by_column(self.binarizer)
        self._keep = self.memory is None
        self._boolean: dict[str, _BooleanColumn] = {}
        self._lines: dict[str, list[Line]] = {}
        self._ids: list[str] = []
        self._scan: Scan | None = None

    def look(self) -> Self:
        """Look through the files; what a fitted Binarizer makes of columns stays as it is."""
        for file, wide in zip(self.files, self.formats, strict=True):
            with one_line_errors(file):
                self._look_through(file, wide)
        try:
            self._find_rules()
        except CellError as error:
            raise self._located(error) from None
        return self

    def table(self) -> BooleanData:
        """The rows, which were kept."""
        n_rows = sum(self.n_rows)
        lines = (line for name in self.columns for line in self._lines.pop(name))
        id_name = self.options.id
        return BooleanData(
            tuple(self.binarizer.get_feature_names_out()),
            columns_of_lines(lines, n_rows),
            ids=None if id_name is None else Ids(id_name, tuple(self._ids[:n_rows])),
            preparation=Preparation(self.binarizer).if_needed(),
        )

    def _look_through(self, file: Path, wide: TableFormat) -> None:
        """Find a way to read the file, its rows, and which columns are Boolean."""
        before = self._boolean

        def look(scan: Scan) -> int:
            self._boolean, self._ids = copy.deepcopy(before), []
            scan = wide.completed(scan, self.rules or ())
            self._choose(file, scan.names)
            self._scan = scan if self._keep else None
            return self._look_at(file, wide, scan)

        n_rows, way = wide.read(file, self.options, look, words_of(self.rules))
        self.n_rows.append(n_rows)
        self.ways.append(way)

    def _choose(self, file: Path, names: Sequence[str]) -> None:
        chosen = self.options.selected(names, file)
        if self.rules is None:
            chosen = [name for name in chosen if self.wanted(name)]
        else:
            absent = [name for name in self.rules if name not in names]
            if absent:
                raise InputError(f"{file} lacks columns of the model: {listed(absent)}")
            known = set(self.binarizer.feature_names_in_)
            if self._keep:
                warn_of_others(file, [name for name in chosen if name not in known], "columns")
            chosen = list(self.rules)
        if not self.n_rows:
            self.columns = chosen
            settings = self.binarizer.settings()
            told = {*settings.edges, *settings.words}
            self._boolean = {
                name: _BooleanColumn(self._keep)
                for name in chosen
                if (name not in told if self.rules is None else is_boolean(self.rules[name]))
            }
        if set(chosen) != set(self.columns):
            other = sorted(set(chosen) ^ set(self.columns))[0]
            lacking, having = (file, self.files[0])[:: 1 if other in self.columns else -1]
            raise InputError(
                f"{lacking} has no column {other!r}, and {having} has: they must agree"
            )

    def _look_at(self, file: Path, wide: TableFormat, scan: Scan) -> int:
        import polars as pl

        schema = picked(scan.frame, self.columns).collect_schema()
        check_kinds(file, schema)
        looked_at = dict(self._boolean)
        if not self._keep:
            self._skip_declared(scan.frame, schema, looked_at)
        # without rules all columns are read, to know that this is a way to read them
        needed = [*looked_at]
        if self.rules is None:
            needed += [name for name in self.columns if name not in self._boolean]
        id_name = self.options.id if self._keep else None
        if id_name is not None:
            needed.append(id_name)
        last = scan.names[-1]
        n_rows, n_missing_last = 0, 0
        frame = picked(scan.frame, dict.fromkeys([*needed, last]))
        for batch in _by_bytes(frame_batches(frame)):
            for name in [n for n, c in looked_at.items() if not c.take(batch.get_column(n))]:
                del self._boolean[name], looked_at[name]
            if id_name is not None:
                self._ids += batch.get_column(id_name).cast(pl.String).fill_null("").to_list()
            n_rows += batch.height
            n_missing_last += batch.get_column(last).null_count()
            self._tell(n_rows, scan)
        if n_missing_last and wide.reads_short_rows:
            n_rows -= wide.n_blank_at_the_end(file, self.options)
        if wide.counts_rows and scan.n_rows is not None and n_rows < scan.n_rows:
            raise InputError(
                f"{file}: only {n_rows:,} of its {scan.n_rows:,} rows can be read; a column may be "
                "of a kind that polars does not know, such as decimal256, or two share a name"
            )
        # below 0 where carriage returns alone end lines for Python, and not for polars
        if n_rows <= 0:
            raise InputError(f"{file} has column names but no rows")
        return n_rows

    def _skip_declared(
        self, frame: pl.LazyFrame, schema: pl.Schema, looked_at: dict[str, _BooleanColumn]
    ) -> None:
        """Leave out what is declared Boolean, once some cell is known not to be empty."""
        import polars as pl

        declared = [name for name in looked_at if schema[name] == pl.Boolean]
        for column in picked(frame, declared).head(raw.BATCH_ROWS).collect().iter_columns():
            looked_at[column.name].take(column)
        for name in declared:
            if looked_at[name].seen:
                del looked_at[name]

    def _tell(self, n_rows: int, scan: Scan) -> None:
        if self.progress is not None:
            known = self._keep and scan.n_rows is not None
            expected = max(n_rows, scan.n_rows or 0) if known else None
            self.progress(sum(self.n_rows) + n_rows, expected)

    def _find_rules(self) -> None:
        """The rules of each column, and its packed features if rows are kept."""
        total = sum(self.n_rows)
        found: dict[str, Found] = {}
        for name, boolean in self._boolean.items():
            # where every cell is empty, nothing says that they would be Boolean
            if boolean.seen or self.rules is not None:
                found[name] = [BooleanRule(name)]
                if self._keep:
                    self._lines[name] = [boolean.line(total)]
        if self.rules is None or self._keep:
            settings = self.binarizer.settings()
            for cells in self._whole([name for name in self.columns if name not in found]):
                given = None if self.rules is None else self.rules[cells.name]
                as_words = cells.name in settings.words
                column = self.formats[0].column(cells, given, as_words=as_words)
                rules = rules_for(column, settings) if given is None else given
                found[column.name] = rules
                if self._keep:
                    self._lines[column.name] = _packed(rules, column)
        if self.rules is None:
            named = [(name, found[name]) for name in self.columns]
            self.binarizer = Binarizer.fitted(self.binarizer.get_params(), named)
            self.rules = rules_by_column(self.binarizer) or {}

    def _whole(self, names: Sequence[str]) -> Iterator[pl.Series]:
        """Columns of all files together, a few at a time."""
        import polars as pl

        column_bytes = sum(self.n_rows) * _CELL_BYTES
        if names and self.memory is not None and column_bytes > self.memory:
            raise InputError(
                f"column {names[0]!r} is not Boolean, and to cut it takes "
                f"{byte_text(column_bytes)}: allow more memory, or fit a Binarizer to a sample and "
                "pass it as binarizer="
            )
        most = _GROUP_BYTES if self.memory is None else min(_GROUP_BYTES, self.memory // 4)
        step = max(1, most // column_bytes)
        for start in range(0, len(names), step):
            group = names[start : start + step]
            frames = self._frames(group, words_of(self.rules))
            for name in group:
                parts = [frame.get_column(name) for frame in frames]
                kinds = {part.dtype for part in parts}
                if pl.String in kinds and len(kinds) > 1:
                    # words in one file: numbers in the others are words, as they are written there
                    texts = self._frames([name], partial(eq, name))
                    parts = [_as_words(frame.to_series()) for frame in texts]
                cells = [part.alias("cells").to_frame() for part in parts]
                yield pl.concat(cells, how="vertical_relaxed").to_series().alias(name)

    def _frames(self, names: Sequence[str], as_text: AsText) -> list[pl.DataFrame]:
        """Some columns of each file."""
        import polars as pl

        frames = []
        each = zip(self.files, self.formats, self.n_rows, self.ways, strict=True)
        for file, wide, n_rows, way in each:
            scan = self._scan or wide.scan(file, self.options, way, as_text)
            frame = picked(scan.frame, names).head(n_rows)
            with one_line_errors(file):
                frames.append(pl.concat(wide.batches(file, self.options, frame)))
        return frames

    def _located(self, error: CellError) -> InputError:
        row, k = error.row, 0
        while row >= self.n_rows[k]:
            row, k = row - self.n_rows[k], k + 1
        return located(error, self.formats[k], self.files[k], self.options, row)


def located(
    error: CellError, kind: Format, file: Path, options: ReadOptions, row: int
) -> InputError:
    """An error about a cell, with the file and the place in it."""
    where = f"{file}, {kind.place(file, options, row)}, column {error.column!r}"
    return InputError(f"{where}: {error.problem}; {error.advice}")


def rules_by_column(binarizer: Binarizer) -> dict[str, list[ColumnRule]] | None:
    """The rules of a Binarizer, if it is fitted."""
    if not hasattr(binarizer, "rules_"):
        return None
    rules: dict[str, list[ColumnRule]] = {}
    for rule in binarizer.rules_:
        rules.setdefault(rule.column, []).append(rule)
    return rules


def warn_of_others(path: StrPath, others: Sequence[str], what: str) -> None:
    if others:
        message = f"{what} of {path} that the model does not use: {listed(others)}"
        warnings.warn(message, ConjunctWarning, stacklevel=2)


class _BooleanColumn:
    """A column for as long as all of its cells say yes or no; packed if they are kept."""

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self._cells = BooleanCells()
        self._values: list[Bits] = []
        self._observed: list[Bits | None] = []

    @property
    def seen(self) -> bool:
        """Whether some cell was not empty."""
        return self._cells.seen

    def take(self, cells: pl.Series) -> bool:
        """Take some cells, unless one is not Boolean."""
        read = self._cells.read(cells)
        if read is not None and self._keep:
            values, missing = read
            self._values.append(np.packbits(values, bitorder="little"))
            observed = None if missing is None else np.packbits(~missing, bitorder="little")
            self._observed.append(observed)
        return read is not None

    def line(self, n_rows: int) -> Line:
        values = _joined(self._values, n_rows)
        if all(part is None for part in self._observed):
            return values, None
        parts = [
            np.full(len(part), 255, np.uint8) if seen is None else seen
            for part, seen in zip(self._values, self._observed, strict=True)
        ]
        # the last byte of a part may be filled beyond the last row
        return values, _joined(parts, n_rows) & pack_column(np.ones(n_rows, np.bool_))


def _joined(parts: Sequence[Bits], n_rows: int) -> Bits:
    line = np.zeros(line_bytes(n_rows), np.uint8)
    packed = np.concatenate(parts)[: len(line)]
    line[: len(packed)] = packed
    return line


def _as_words(cells: pl.Series) -> pl.Series:
    import polars as pl

    return cells if cells.dtype == pl.String else pl.Series(cells.name, column_of(cells).cells())


def _packed(found: Found, column: Column) -> list[Line]:
    rules = () if isinstance(found, Dropped) else found
    return [
        (pack_column(values), pack_column(~missing) if missing.any() else None)
        for values, missing in applied(rules, column)
    ]


def _by_bytes(batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in batches of a multiple of 8, but for the last."""
    import polars as pl

    carried: pl.DataFrame | None = None
    for batch in batches:
        rows = batch if carried is None else pl.concat([carried, batch])
        whole = rows.height // 8 * 8
        if whole:
            yield rows.head(whole)
        carried = rows.tail(rows.height - whole) if whole < rows.height else None
    if carried is not None:
        yield carried
