"""Tags in files: baskets, lists of tags in a column, and one row per individual and tag."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.binarize.columns import BLANKS
from conjunct.binarize.table import BooleanTable, Ids
from conjunct.errors import InputError
from conjunct.io.files import BATCH_ROWS, Progress, about_rows, line_batches
from conjunct.io.incidence import TagPacker
from conjunct.io.wide import ReadOptions, WideFormat, picked

if TYPE_CHECKING:
    import polars as pl

Split = Callable[[str], list[str]]

_SEPARATORS = "\t;|,"


@dataclass(frozen=True)
class TagBatch:
    """Some rows: pairs of a row (counted from the first of them) and a tag, side by side."""

    n_rows: int
    rows: NDArray[np.int64]
    tags: list[str]
    ids: list[str]
    expected: int | None
    """About how many rows the file has."""


def basket_batches(file: Path, options: ReadOptions) -> Iterator[TagBatch]:
    """One transaction a line; a blank line is an empty one."""
    n_rows, split, expected = 0, None, None
    for batch in line_batches(file):
        if split is None:
            split = _splitter(batch, options.separator) or str.split
            expected = about_rows(file, len(batch), sum(len(x.encode()) + 1 for x in batch))
        try:
            pairs = _pairs(batch, split)
        except _BadCellError as bad:
            line = n_rows + bad.row + 1
            raise InputError(f"{file}, line {line}: not a list of tags ({bad})") from None
        yield TagBatch(len(batch), *pairs, [], expected)
        n_rows += len(batch)


def tag_column_batches(file: Path, wide: WideFormat, options: ReadOptions) -> Iterator[TagBatch]:
    """The tags of each row in one cell: ``water;tree``, a JSON list, or a list proper."""
    _, expected, batches = _text_batches(file, wide, options, [options.tags, options.id])
    n_rows, split = 0, None
    for batch in batches:
        cells = batch.get_column(options.tags or "").to_list()
        if split is None:
            texts = [cell for cell in cells if isinstance(cell, str)]
            split = _splitter(texts, options.separator) or _one_tag
        try:
            pairs = _pairs(cells, split)
        except _BadCellError as bad:
            place = wide.place(file, options, n_rows + bad.row)
            raise InputError(
                f"{file}, {place}, column {options.tags!r}: not a list of tags ({bad})"
            ) from None
        ids = [] if options.id is None else _spelled_ids(batch.get_column(options.id))
        yield TagBatch(len(cells), *pairs, ids, expected)
        n_rows += len(cells)
    if not n_rows:
        raise InputError(f"{file} has column names but no rows")


def read_tags(
    file: Path, batches: Iterator[TagBatch], id_name: str | None, progress: Progress | None
) -> BooleanTable:
    """All batches together; tags in code-point order."""
    packer, ids, n_rows = TagPacker(), list[str](), 0
    for batch in batches:
        if batch.tags:
            packer.add(batch.rows + n_rows, batch.tags)
        ids.extend(batch.ids)
        n_rows += batch.n_rows
        if progress is not None:
            progress(n_rows, batch.expected)
    return _checked(packer.table(n_rows, _ids(id_name, ids)), file)


def read_long(
    file: Path, wide: WideFormat, options: ReadOptions, progress: Progress | None
) -> BooleanTable:
    """One row per individual and tag: individuals in the order in which they first come."""
    names, expected, batches = _text_batches(file, wide, options, [])
    if len(names) < 2:
        raise InputError(f"{file} has one column: a long table needs one of ids and one of tags")
    id_name = options.id if options.id is not None else next(n for n in names if n != options.tags)
    tag_name = options.tags if options.tags is not None else next(n for n in names if n != id_name)
    import polars as pl

    packer, row_of = TagPacker(), dict[str, int]()
    n_read = 0
    for batch in batches:
        ids, tags = batch.get_column(id_name), batch.get_column(tag_name)
        for column in (ids, tags):
            blank = column.cast(pl.String).str.strip_chars(BLANKS).fill_null("") == ""
            if blank.any():
                place = wide.place(file, options, n_read + int(blank.arg_max() or 0))
                raise InputError(f"{file}, {place}, column {column.name!r}: the cell is empty")
        cells = [str(tag).strip() for tag in tags]
        rows = [row_of.setdefault(key, len(row_of)) for key in _spelled_ids(ids)]
        packer.add(np.array(rows, np.int64), cells)
        n_read += len(cells)
        if progress is not None:
            progress(n_read, expected)
    if not n_read:
        raise InputError(f"{file} has column names but no rows")
    return _checked(packer.table(len(row_of), Ids(id_name, tuple(row_of))), file)


class _BadCellError(Exception):
    def __init__(self, why: object, row: int) -> None:
        super().__init__(why)
        self.row = row


def _text_batches(
    file: Path, wide: WideFormat, options: ReadOptions, wanted: Sequence[str | None]
) -> tuple[Sequence[str], int | None, Iterator[pl.DataFrame]]:
    """The columns wanted, or all, in batches."""
    import polars as pl

    def read(frame: pl.LazyFrame) -> Iterator[pl.DataFrame]:
        try:
            yield from frame.collect_batches(chunk_size=BATCH_ROWS)
        except pl.exceptions.PolarsError as error:
            raise wide.explain(file, options, error) from None

    try:
        scan = next(iter(wide.scans(file, options, as_text=lambda name: True)))
    except pl.exceptions.PolarsError as error:
        raise wide.explain(file, options, error) from None
    for name in (options.tags, options.id):
        if name is not None and name not in scan.names:
            raise InputError(f"{file} has no column {name!r}")
    names = [name for name in wanted if name is not None] or list(scan.names)
    return scan.names, scan.n_rows, read(picked(scan.frame, names))


def _pairs(cells: Sequence[Any], split: Split) -> tuple[NDArray[np.int64], list[str]]:
    rows: list[int] = []
    tags: list[str] = []
    for k, cell in enumerate(cells):
        try:
            basket = split(cell) if isinstance(cell, str) else _listed_tags(cell)
        except msgspec.MsgspecError as error:
            raise _BadCellError(error, k) from None
        rows.extend([k] * len(basket))
        tags.extend(basket)
    return np.array(rows, np.int64), tags


def _splitter(cells: Sequence[str], separator: str | None) -> Split | None:
    """How to split cells: as asked, as JSON, or at the first usual separator that occurs."""
    if separator is None:
        filled = [cell for cell in cells if cell.strip()]
        if filled and all(cell.lstrip().startswith("[") for cell in filled):
            return _json_tags
        separator = next((s for s in _SEPARATORS if any(s in cell for cell in cells)), None)
    if separator is None:
        return None
    if not separator.strip(" "):
        return str.split
    between = separator
    return lambda cell: [tag for part in cell.split(between) if (tag := part.strip())]


def _one_tag(cell: str) -> list[str]:
    return [cell.strip()] if cell.strip() else []


def _json_tags(cell: str) -> list[str]:
    return (
        _listed_tags(msgspec.json.decode(cell, type=list[str | int | float]))
        if cell.strip()
        else []
    )


def _listed_tags(cell: Any) -> list[str]:
    tags = cell if isinstance(cell, list) else [cell]
    return [text for tag in tags if tag is not None and (text := str(tag).strip())]


def _spelled_ids(column: pl.Series) -> list[str]:
    return ["" if value is None else str(value) for value in column]


def _ids(name: str | None, values: list[str]) -> Ids | None:
    return None if name is None else Ids(name, tuple(values))


def _checked(table: BooleanTable, file: Path) -> BooleanTable:
    if not table.names:
        raise InputError(f"{file} holds no tag at all")
    return table
