"""Which layout columns are kept in, and the rows of several parts together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from conjunct.columns.base import Columns, Mask
from conjunct.columns.kernel import Bits
from conjunct.columns.masked import MaskedColumns
from conjunct.columns.packed import PackedColumns
from conjunct.columns.packing import line_bytes, pack_column
from conjunct.columns.sizing import (
    StoreKind,
    chosen_for_parts,
    chosen_store,
    first_seen,
    is_sparse,
    matrix_bytes,
    surveyed,
)
from conjunct.columns.sparse import SparseColumns
from conjunct.errors import InputError

_BY_KIND: dict[str, type[Columns]] = {"bits": PackedColumns, "sparse": SparseColumns}
# The earlier ones can be kept in the layout of the later ones.
_LAYOUTS: tuple[type[Columns], ...] = (PackedColumns, SparseColumns, MaskedColumns)

_NO_GAPS_IN_SPARSE = "a sparse store keeps no missing cells: use store='auto'"
# A matrix of counts below this is made sooner than the data is looked at.
_SMALL_BYTES = 1 << 24


def packed_columns(
    cells: Iterable[tuple[Mask, Mask | None]], n_rows: int, n_jobs: int | None = None
) -> Columns:
    """Columns from where each is true and where it is missing, ``None`` for nowhere."""
    return columns_of_lines(
        (
            (pack_column(true), None if missing is None or not missing.any() else _known(missing))
            for true, missing in cells
        ),
        n_rows,
        n_jobs,
    )


def columns_of_lines(
    lines: Iterable[tuple[Bits, Bits | None]], n_rows: int, n_jobs: int | None = None
) -> Columns:
    """Columns from packed lines: where each is true, and where it is known, ``None`` for all."""
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


def _known(missing: Mask) -> Bits:
    return pack_column(~np.asarray(missing))


def stored_as(columns: Columns, kind: StoreKind, *, counts: bool = False) -> Columns:
    """The columns in the layout asked for, or (``"auto"``) in the better one.

    ``counts`` says that pairs of columns will be counted, which takes more than to hold them.
    """
    if isinstance(columns, MaskedColumns):
        if kind == "sparse":
            raise InputError(_NO_GAPS_IN_SPARSE)
        return columns
    if isinstance(columns, PackedColumns):
        if kind == "sparse":
            return SparseColumns.of(columns)
        if not counts or chosen_store(columns.size(), kind) == "bits":
            return columns
        # with all rows alike; what they are in fact can be told from the lists
        better = stored_as(SparseColumns.of(columns), kind, counts=True)
        return better if isinstance(better, SparseColumns) else columns
    listed = SparseColumns.of(columns)
    chosen: str = kind
    if counts:
        chosen = chosen_store(listed.least_size(), kind, listed.size)
    elif kind == "auto":
        pays = is_sparse(listed.count_ones(), listed.n_rows, listed.n_columns)
        chosen = "sparse" if pays else "bits"
    return listed if chosen == "sparse" else listed.to_bits()


def layout_for_parts(
    layouts: set[type[Columns]],
    kind: StoreKind,
    n_columns: int,
    memory: int,
    total: Callable[[Callable[[Any], Any]], Any],
) -> type[Columns]:
    """One layout for parts in different ones, if counts may take ``memory`` bytes.

    ``total`` gives what is seen in all parts together.
    """
    if MaskedColumns in layouts:
        if kind == "sparse":
            raise InputError(_NO_GAPS_IN_SPARSE)
        return MaskedColumns
    if kind != "auto":
        return _BY_KIND[kind]
    if layouts <= {PackedColumns} and matrix_bytes(n_columns) <= min(_SMALL_BYTES, memory):
        return PackedColumns
    least, _ = first_seen(total, n_columns)
    return _BY_KIND[chosen_for_parts(least, memory, lambda: surveyed(total, n_columns))]


def layout_named(name: str) -> type[Columns]:
    """The layout that a class of that name is, of parts that are sent as arrays."""
    return next(layout for layout in _LAYOUTS if layout.__name__ == name)


def united(parts: Sequence[Columns]) -> Columns:
    """The rows of successive parts, in the one layout that can keep all of them."""
    if len(parts) == 1:
        return parts[0]
    layout: type[Columns] = max(map(type, parts), key=_LAYOUTS.index)
    return layout.united([layout.of(part) for part in parts])


def joined_parts(parts: Iterable[Columns], limit: int) -> Iterator[Columns]:
    """Successive parts brought together, for about ``limit`` bytes each."""
    some: list[Columns] = []
    for part in parts:
        is_full = sum(one.work_bytes for one in some) >= limit
        if some and (is_full or type(some[-1]) is not type(part) or not some[-1].fills_words):
            yield united(some)
            some = []
        some.append(part)
    if some:
        yield united(some)
