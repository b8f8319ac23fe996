"""Packed columns as a container of the kind that data came in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.binarize.binarizer import boolean_series
from conjunct.binarize.table import BooleanTable
from conjunct.estimators.container_reading import AnyStore
from conjunct.estimators.containers import frame_of, is_baskets
from conjunct.estimators.values import Cells
from conjunct.stores import BitStore, PartialStore, SparseStore
from conjunct.stores.packing import Bits


def write_like(data: Any, store: AnyStore, names: Sequence[str], nullable: bool = False) -> Any:
    """The columns of a store, called ``names``, as a container of the kind of ``data``.

    Missing cells are null in data frames, and NaN in arrays, which are of floats then.
    ``nullable``: cells may be missing in other rows, so data frames get a type that allows it.
    """
    if isinstance(data, BooleanTable):
        if isinstance(store, SparseStore):
            return BooleanTable(tuple(names), store, store.n_rows, ids=data.ids)
        true, known = _planes(store)
        return BooleanTable(tuple(names), true, store.n_rows, known, data.ids)
    if is_baskets(data):
        return _write_baskets(store, names)
    frame = frame_of(data)
    if frame is not None:
        return _write_frame(frame, store, names, nullable)
    if sp.issparse(data):
        written = _write_sparse(store)
        return sp.csr_matrix(written) if isinstance(data, sp.spmatrix) else written
    dtype = np.float64 if isinstance(store, PartialStore) else np.bool_
    table: NDArray[Any] = np.empty((store.n_rows, len(names)), dtype)
    for k, cells in enumerate(_columns(store)):
        table[:, k] = _with_nan(cells)
    return table


def _planes(store: BitStore | PartialStore) -> tuple[Bits, Bits | None]:
    if isinstance(store, PartialStore):
        return store.true.bits, store.known.bits
    return store.bits, None


def _columns(store: AnyStore) -> Iterator[Cells]:
    def unpacked(line: Bits) -> NDArray[np.bool_]:
        return np.unpackbits(line, count=store.n_rows, bitorder="little").view(np.bool_)

    if isinstance(store, SparseStore):
        for rows in store.lines:
            column = np.zeros(store.n_rows, np.bool_)
            column[rows] = True
            yield Cells(column)
    elif isinstance(store, PartialStore):
        for true, known in store.lines:
            yield Cells(unpacked(true), ~unpacked(known))
    else:
        for line in store.lines:
            yield Cells(unpacked(line))


def _with_nan(cells: Cells) -> NDArray[Any]:
    return cells.true if cells.missing is None else np.where(cells.missing, np.nan, cells.true)


def _write_baskets(store: AnyStore, names: Sequence[str]) -> list[list[str]]:
    baskets: list[list[str]] = [[] for _ in range(store.n_rows)]
    for name, rows in zip(names, true_rows(store), strict=True):
        for row in rows.tolist():
            baskets[row].append(name)
    return baskets


def true_rows(store: AnyStore) -> Iterator[NDArray[np.integer[Any]]]:
    """The rows in which each column is true."""
    if isinstance(store, SparseStore):
        return iter(store.lines)
    return (np.flatnonzero(cells.true) for cells in _columns(store))


def _write_frame(
    frame: nw.DataFrame[Any], store: AnyStore, names: Sequence[str], nullable: bool
) -> Any:
    backend = frame.implementation
    columns = {
        name: boolean_series(name, cells.true, cells.missing, backend, nullable)
        for name, cells in zip(names, _columns(store), strict=True)
    }
    native = nw.from_dict(columns).to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        native.index = index
    return native


def _write_sparse(store: AnyStore) -> sp.csr_array[Any]:
    if isinstance(store, SparseStore):
        return store.ones.astype(np.bool_).tocsr()  # type: ignore[no-any-return]
    rows, values = [], []
    for cells in _columns(store):
        column = _with_nan(cells)
        rows.append(np.flatnonzero(column))
        values.append(column[rows[-1]])
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows) if rows else np.empty(0, np.intp)
    cells_ = np.concatenate(values) if values else np.empty(0, np.bool_)
    shape = (store.n_rows, store.n_columns)
    return sp.csc_array((cells_, indices, starts), shape=shape).tocsr()
