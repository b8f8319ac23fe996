"""Rows of files and all that it takes to read them: some thousands at a time, on any machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from conjunct.columns import PackedColumns, SparseColumns, line_bytes, packed_columns
from conjunct.data import BooleanData, ColumnRule, Mask, applied
from conjunct.errors import CellError, InputError
from conjunct.files.cells import BooleanCells
from conjunct.files.choosing import format_of
from conjunct.files.formats.base import ReadOptions, TableFormat, is_boolean, picked, words_of
from conjunct.files.survey import located
from conjunct.files.tags import TagBatch

if TYPE_CHECKING:
    import polars as pl

# Tags that are listed take this for each row that has them.
_LIST_BYTES = 4


@dataclass(frozen=True)
class FileRows:
    """Some rows of a file; the recipe says what becomes of them."""

    file: Path
    options: ReadOptions
    recipe: WideRecipe | TagRecipe
    n_rows: int
    """Of the file, without blank lines at its end."""
    way: int = 0
    """Which of the ways to read the file works."""
    start: int = 0
    stop: int | None = None

    def split(self, n_rows: int) -> Iterator[FileRows]:
        """The same rows in parts of ``n_rows``."""
        for start in range(self.start, self._end, n_rows):
            yield replace(self, start=start, stop=min(start + n_rows, self._end))

    @property
    def _end(self) -> int:
        return self.n_rows if self.stop is None else self.stop

    def __len__(self) -> int:
        return self._end - self.start

    def tables(self) -> Iterator[BooleanData]:
        """The rows, some thousands at a time. Errors about cells count rows from the first."""
        return self.recipe.tables(self)

    def located(self, error: CellError, first_row: int) -> InputError:
        """An error about a cell of a table that starts at ``first_row``, with file and line."""
        kind = format_of(self.file, self.options.format)
        return located(error, kind, self.file, self.options, first_row + error.row)


@dataclass(frozen=True)
class WideRecipe:
    """What features the columns of wide tables become."""

    names: tuple[str, ...]
    rules: Mapping[str, Sequence[ColumnRule]]

    def tables(self, rows: FileRows) -> Iterator[BooleanData]:
        wide = format_of(rows.file, rows.options.format).table(rows.file)
        scan = wide.scan(rows.file, rows.options, rows.way, words_of(self.rules))
        scan = wide.completed(scan, self.rules)
        frame = picked(scan.frame, self.rules).slice(rows.start, len(rows))
        cells = {name: BooleanCells() for name in self.rules}
        first = rows.start
        for batch in wide.batches(rows.file, rows.options, frame):
            try:
                columns = packed_columns(self._made(wide, batch, cells), batch.height)
            except CellError as error:
                raise rows.located(error, first) from None
            first += batch.height
            yield BooleanData(self.names, columns)

    def _made(
        self, wide: TableFormat, batch: pl.DataFrame, cells: Mapping[str, BooleanCells]
    ) -> Iterator[tuple[Mask, Mask | None]]:
        """Where each feature is true, and where it is missing."""
        for name, rules in self.rules.items():
            column = batch.get_column(name)
            read = cells[name].read(column) if is_boolean(rules) else None
            if read is None:
                yield from applied(rules, wide.column(column, rules))
            else:
                yield read


@dataclass(frozen=True)
class TagRecipe:
    """Which tags become features."""

    names: tuple[str, ...]

    def tables(self, rows: FileRows) -> Iterator[BooleanData]:
        position = {tag: k for k, tag in enumerate(self.names)}
        first, end = 0, rows.start + len(rows)
        kind = format_of(rows.file, rows.options.format)
        for batch in kind.tag_batches(rows.file, rows.options):
            start, stop = max(rows.start - first, 0), min(end - first, batch.n_rows)
            if start < stop:
                yield self._table(batch, position, start, stop)
            first += batch.n_rows
            if first >= end:
                return

    def _table(
        self, batch: TagBatch, position: Mapping[str, int], start: int, stop: int
    ) -> BooleanData:
        codes = np.array([position.get(tag, -1) for tag in batch.tags], np.int64)
        here = (batch.rows >= start) & (batch.rows < stop) & (codes >= 0)
        rows = batch.rows[here] - start
        if _LIST_BYTES * len(rows) < len(self.names) * line_bytes(stop - start):
            ones = (np.ones(len(rows), np.bool_), (rows, codes[here]))
            listed = sp.coo_array(ones, shape=(stop - start, len(self.names)))
            return BooleanData(self.names, SparseColumns.from_matrix(listed), tags=True)
        bits = np.zeros((len(self.names), line_bytes(stop - start)), np.uint8)
        np.bitwise_or.at(bits, (codes[here], rows // 8), (1 << rows % 8).astype(np.uint8))
        return BooleanData(self.names, PackedColumns(bits, stop - start), tags=True)
