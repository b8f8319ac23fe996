"""Files as Boolean tables of a few thousand rows each: what must be known first, then the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from conjunct.binarize.binarizer import applied
from conjunct.binarize.columns import Mask
from conjunct.binarize.rules import BooleanRule, Rule
from conjunct.binarize.table import BooleanTable, PackedLines
from conjunct.errors import CellError, InputError
from conjunct.io import baskets
from conjunct.io.files import BATCH_ROWS
from conjunct.io.formats import LONG, format_of, wide_format_of
from conjunct.io.packed import BooleanCells
from conjunct.io.svmlight import svmlight_batches
from conjunct.io.wide import AsText, ReadOptions, Scan, WideFormat, nothing, picked, words_of
from conjunct.stores import SparseStore
from conjunct.stores.packing import line_bytes

if TYPE_CHECKING:
    import polars as pl

# Tags that are listed take this for each row that has them.
_LIST_BYTES = 4


@dataclass(frozen=True)
class FileRows:
    """Some rows of a file and all that it takes to read them, on whatever machine."""

    file: Path
    options: ReadOptions
    recipe: WideRecipe | TagRecipe
    n_rows: int
    """Of the file, without blank lines at its end."""
    scan: int = 0
    """Which of the ways to read the file works."""
    start: int = 0
    stop: int | None = None

    def split(self, n_rows: int) -> Iterator[FileRows]:
        """The same rows, so many at a time."""
        for start in range(self.start, self._end, n_rows):
            yield replace(self, start=start, stop=min(start + n_rows, self._end))

    @property
    def _end(self) -> int:
        return self.n_rows if self.stop is None else self.stop

    def __len__(self) -> int:
        return self._end - self.start

    def tables(self) -> Iterator[BooleanTable]:
        """The rows, some thousands at a time. Errors about cells count rows from the first."""
        return self.recipe.tables(self)

    def located(self, error: CellError, first_row: int) -> InputError:
        """An error about a cell of a table that starts at ``first_row``, with file and line."""
        row = first_row + error.row
        wide = format_of(self.file, self.options.format).wide
        place = f"row {row + 1}" if wide is None else wide.place(self.file, self.options, row)
        return InputError(
            f"{self.file}, {place}, column {error.column!r}: {error.problem}; {error.advice}"
        )


@dataclass(frozen=True)
class WideRecipe:
    """What features the columns of wide tables become."""

    names: tuple[str, ...]
    rules: Mapping[str, Sequence[Rule]]

    def tables(self, rows: FileRows) -> Iterator[BooleanTable]:
        wide = wide_of(rows.file, rows.options)
        scan = nth_scan(wide, rows.file, rows.options, rows.scan, words_of(self.rules))
        scan = wide.completed(scan, self.rules)
        frame = picked(scan.frame, self.rules).slice(rows.start, len(rows))
        cells = {name: BooleanCells() for name in self.rules}
        first = rows.start
        for batch in frame_batches(wide, rows.file, rows.options, frame):
            lines = PackedLines(batch.height)
            try:
                for name, rules in self.rules.items():
                    column = batch.get_column(name)
                    for values, missing in self._made(wide, column, rules, cells[name]):
                        lines.append(values, missing)
            except CellError as error:
                raise rows.located(error, first) from None
            first += batch.height
            yield BooleanTable(self.names, *lines.stacked())

    def _made(
        self, wide: WideFormat, series: pl.Series, rules: Sequence[Rule], cells: BooleanCells
    ) -> Iterator[tuple[Mask, Mask | None]]:
        name = series.name
        if list(rules) == [BooleanRule(name)]:
            read = cells.read(series)
            if read is not None:
                yield read
                return
        yield from applied(rules, wide.column(series, rules))


@dataclass(frozen=True)
class TagRecipe:
    """Which tags become features."""

    names: tuple[str, ...]

    def tables(self, rows: FileRows) -> Iterator[BooleanTable]:
        position = {tag: k for k, tag in enumerate(self.names)}
        first, end = 0, rows.start + len(rows)
        for batch in tag_batches(rows.file, rows.options):
            start, stop = max(rows.start - first, 0), min(end - first, batch.n_rows)
            if start < stop:
                yield self._table(batch, position, start, stop)
            first += batch.n_rows
            if first >= end:
                return

    def _table(
        self, batch: baskets.TagBatch, position: Mapping[str, int], start: int, stop: int
    ) -> BooleanTable:
        codes = np.array([position.get(tag, -1) for tag in batch.tags], np.int64)
        here = (batch.rows >= start) & (batch.rows < stop) & (codes >= 0)
        rows = batch.rows[here] - start
        if _LIST_BYTES * len(rows) < len(self.names) * line_bytes(stop - start):
            ones = (np.ones(len(rows), np.bool_), (rows, codes[here]))
            listed = sp.coo_array(ones, shape=(stop - start, len(self.names)))
            return BooleanTable(
                self.names, SparseStore.from_matrix(listed), stop - start, tags=True
            )
        bits = np.zeros((len(self.names), line_bytes(stop - start)), np.uint8)
        np.bitwise_or.at(bits, (codes[here], rows // 8), (1 << rows % 8).astype(np.uint8))
        return BooleanTable(self.names, bits, stop - start, tags=True)


def tag_batches(file: Path, options: ReadOptions) -> Iterator[baskets.TagBatch]:
    """The rows of a file of tags."""
    kind = format_of(file, options.format)
    if options.format == LONG:
        raise InputError(
            f"{file}: the rows of a long table lie apart, and so it is read as a whole only; "
            "write it with one row per individual first"
        )
    if kind.name == "baskets":
        yield from baskets.basket_batches(file, options)
    elif kind.wide is not None:
        yield from baskets.tag_column_batches(file, kind.wide, options)
    else:
        for batch in svmlight_batches(file):
            if batch is None:
                raise InputError(
                    f"{file} holds other values than 0 and 1: such a file is read as a whole only"
                )
            yield batch


def is_wide(file: Path, options: ReadOptions) -> bool:
    """Whether columns of the file become features, and not tags."""
    wide = format_of(file, options.format).wide
    return wide is not None and options.tags is None and options.format != LONG


def wide_of(file: Path, options: ReadOptions) -> WideFormat:
    return wide_format_of(file, options.format)


def nth_scan(
    wide: WideFormat, file: Path, options: ReadOptions, n: int, as_text: AsText = nothing
) -> Scan:
    """The n-th way to read a file."""
    return next(islice(wide.scans(file, options, as_text), n, None))


def frame_batches(
    wide: WideFormat, file: Path, options: ReadOptions, frame: pl.LazyFrame
) -> Iterator[pl.DataFrame]:
    """The rows of a frame in batches; what is wrong with them is explained."""
    import polars as pl

    try:
        yield from frame.collect_batches(chunk_size=BATCH_ROWS)
    except pl.exceptions.PolarsError as error:
        raise wide.explain(file, options, error) from None
