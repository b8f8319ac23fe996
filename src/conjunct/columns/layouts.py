"""The choice of a layout for columns, and the concatenation of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from conjunct.columns.base import Columns, Mask
from conjunct.columns.kernel import Bits, line_bytes, pack_column
from conjunct.columns.packed import MaskedColumns, PackedColumns
from conjunct.columns.sizing import (
    Size,
    StorageKind,
    choose_storage,
    is_sparse,
    survey_rows,
    survey_size,
)
from conjunct.columns.sparse import SparseColumns
from conjunct.errors import InputError

_BY_KIND: dict[str, type[Columns]] = {"dense": PackedColumns, "sparse": SparseColumns}
# The earlier ones can be kept in the layout of the later ones.
_LAYOUTS: tuple[type[Columns], ...] = (PackedColumns, SparseColumns, MaskedColumns)

_NO_GAPS_IN_SPARSE = "sparse storage keeps no missing cells: use storage='auto'"
# A matrix of counts below this is made sooner than the data is surveyed.
_SMALL_BYTES = 1 << 24


def pack_columns(
    cells: Iterable[tuple[Mask, Mask | None]], n_rows: int, n_jobs: int | None = None
) -> Columns:
    """Make columns from where each is true and where it is missing, ``None`` for nowhere."""
    lines = (
        (pack_column(true), None if missing is None or not missing.any() else pack_column(~missing))
        for true, missing in cells
    )
    return columns_of_lines(lines, n_rows, n_jobs)


def columns_of_lines(
    lines: Iterable[tuple[Bits, Bits | None]], n_rows: int, n_jobs: int | None = None
) -> Columns:
    """Make columns from packed lines: where each is true, and where known, ``None`` for all."""
    values, known = [], []
    for line, seen in lines:
        values.append(line)
        known.append(seen)
    shape = (len(values), line_bytes(n_rows))
    true = PackedColumns(np.array(values, np.uint8).reshape(shape), n_rows, n_jobs)
    if all(seen is None for seen in known):
        return true
    everywhere = pack_column(np.ones(n_rows, np.bool_))
    seen = np.array([everywhere if line is None else line for line in known], np.uint8)
    return MaskedColumns(true, PackedColumns(seen, n_rows, n_jobs))


def convert_layout(columns: Columns, kind: StorageKind, *, counts: bool = False) -> Columns:
    """Return the columns in the layout asked for, or (``"auto"``) in the better one.

    ``counts`` says that pairs of columns will be counted, which takes more than to hold them.
    """
    if isinstance(columns, MaskedColumns):
        if kind == "sparse":
            raise InputError(_NO_GAPS_IN_SPARSE)
        return columns
    if isinstance(columns, PackedColumns):
        if kind == "sparse":
            return SparseColumns.of(columns)
        if not counts or choose_storage(columns.size(), kind) == "dense":
            return columns
        # that is an estimate for rows of equal length; the lists give the true lengths
        better = convert_layout(SparseColumns.of(columns), kind, counts=True)
        return better if isinstance(better, SparseColumns) else columns
    listed = SparseColumns.of(columns)
    choice: str = kind
    if counts:
        # as if no pair had a common row, which is seen at once
        least, _ = survey_rows(listed.total, listed.n_columns)
        choice = choose_storage(least, kind, listed.size)
    elif kind == "auto":
        pays = is_sparse(listed.count_ones(), listed.n_rows, listed.n_columns)
        choice = "sparse" if pays else "dense"
    return listed if choice == "sparse" else listed.to_bits()


def layout_for_parts(
    layouts: set[type[Columns]],
    kind: StorageKind,
    n_columns: int,
    memory: int,
    total: Callable[[Callable[[Any], Any]], Any],
) -> type[Columns]:
    """Choose one layout for all parts, if counts may take ``memory`` bytes.

    ``total`` adds up what is counted in each part.
    """
    if MaskedColumns in layouts:
        if kind == "sparse":
            raise InputError(_NO_GAPS_IN_SPARSE)
        return MaskedColumns
    if kind != "auto":
        return _BY_KIND[kind]
    counts = Size(0, n_columns, 0, 0, 0).estimate_cost("dense", in_parts=True)
    if layouts <= {PackedColumns} and counts.n_bytes <= min(_SMALL_BYTES, memory):
        return PackedColumns
    least, _ = survey_rows(total, n_columns)
    return _BY_KIND[choose_storage(least, kind, lambda: survey_size(total, n_columns), memory)]


def find_layout(name: str) -> type[Columns]:
    """Return the layout whose class has that name, for parts that are sent as arrays."""
    return next(layout for layout in _LAYOUTS if layout.__name__ == name)


def concat_rows(parts: Sequence[Columns]) -> Columns:
    """Concatenate successive parts, in the one layout that can hold all of them."""
    if len(parts) == 1:
        return parts[0]
    layout: type[Columns] = max(map(type, parts), key=_LAYOUTS.index)
    return layout.concat_rows([layout.of(part) for part in parts])


def concat_parts(parts: Iterable[Columns], limit: int) -> Iterator[Columns]:
    """Concatenate successive parts until they take about ``limit`` bytes."""
    some: list[Columns] = []
    for part in parts:
        is_full = sum(one.work_bytes for one in some) >= limit
        if some and (is_full or type(some[-1]) is not type(part) or not some[-1].fills_words):
            yield concat_rows(some)
            some = []
        some.append(part)
    if some:
        yield concat_rows(some)
