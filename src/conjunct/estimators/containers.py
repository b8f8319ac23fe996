"""Any container of Boolean data in, packed columns out; and features back into the same kind.

Kinds: arrays and nested lists, pandas/polars/pyarrow tables (through narwhals), scipy sparse
matrices, lists of baskets (sets, or lists that hold strings), and packed Boolean tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from conjunct.binarize.preparation import Preparation
from conjunct.binarize.table import BooleanTable, without_padding
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.values import as_boolean
from conjunct.stores import BitStore
from conjunct.stores.packing import Bits, line_bytes, pack_column


def names_its_columns(data: Any) -> bool:
    """Whether ``data`` says by itself what its columns are: baskets, and Boolean tables."""
    return isinstance(data, BooleanTable) or is_baskets(data)


def preparation(data: Any) -> Preparation:
    """How the columns came from raw data, as far as the container knows."""
    return data.preparation if isinstance(data, BooleanTable) else Preparation()


def is_baskets(data: Any) -> bool:
    """Whether ``data`` is a list of baskets: sets, or lists with a string among their items.

    Lists of numbers are rows of a table; baskets of numbers must be sets.
    """
    if not isinstance(data, list | tuple) or not len(data):
        return False
    if any(isinstance(row, set | frozenset) for row in data):
        return True
    return all(isinstance(row, list | tuple) for row in data) and any(
        isinstance(item, str) for row in data for item in row
    )


def basket_items(baskets: Iterable[Any]) -> tuple[str, ...]:
    """The distinct items, as text, in code-point order."""
    return tuple(sorted({item for basket in baskets for item in _items(basket)}))


def column_names(data: Any) -> tuple[str, ...] | None:
    """Names the container brings along, if it has any."""
    if isinstance(data, BooleanTable):
        return data.names
    if is_baskets(data):
        return basket_items(data)
    frame = _frame(data)
    if frame is None:
        return None
    names = tuple(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None


def frame_backend(data: Any) -> str | None:
    """The library of a data frame, by name; ``None`` for other containers."""
    frame = None if names_its_columns(data) else _frame(data)
    return None if frame is None else str(frame.implementation.value)


def read_store(
    data: Any, names: Sequence[str], *, binarize: float | None, n_jobs: int | None
) -> BitStore:
    """The packed columns of a container whose columns are called ``names``."""
    if isinstance(data, BooleanTable):
        packed = data.aligned(names)
        packed.refuse_missing()
        return BitStore(packed.values, packed.n_rows, n_jobs)
    if is_baskets(data):
        return _read_baskets(data, names, n_jobs)
    frame = _frame(data)
    if frame is not None:
        return _read_frame(frame, names, binarize, n_jobs)
    if sp.issparse(data):
        return _read_sparse(data, names, binarize, n_jobs)
    table = np.asarray(data)
    return BitStore.from_blocks(
        lambda start, stop: as_boolean(table[start:stop], names, start, binarize),
        len(table),
        table.shape[1],
        n_jobs,
    )


def checked(data: Any) -> Any:
    """``data`` with its shape checked as scikit-learn does; values are checked when read."""
    if isinstance(data, BooleanTable):
        if not data.names or not data.n_rows:
            what = "rows (0 sample(s))" if data.names else "columns (0 feature(s))"
            raise InputError(f"the table has no {what}: at least 1 is needed")
        return data
    if is_baskets(data):
        return data
    frame = _frame(data)
    if frame is None:
        try:
            return check_array(data, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        except ValueError as error:
            if "inhomogeneous" in str(error):
                raise InputError(
                    "the rows have different lengths: a table needs rows of one length, "
                    "and baskets of numbers must be given as sets"
                ) from None
            what, *rest = str(error).splitlines()
            advice = [line for line in rest if line.startswith("Reshape")]
            raise InputError(" ".join([what, *advice])) from None
    if not frame.columns:
        raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
    if not len(frame):
        raise InputError("the table has no rows (0 sample(s)): at least 1 is needed")
    return data


def write_like(data: Any, bits: Bits, n_rows: int, names: Sequence[str]) -> Any:
    """Packed lines as a container of the kind of ``data``, with columns called ``names``."""
    if isinstance(data, BooleanTable):
        return BooleanTable(tuple(names), without_padding(bits, n_rows), n_rows, ids=data.ids)
    columns = _unpacked(bits, n_rows)
    if is_baskets(data):
        return _write_baskets(columns, n_rows, names)
    frame = _frame(data)
    if frame is not None:
        return _write_frame(frame, dict(zip(names, columns, strict=True)))
    if sp.issparse(data):
        written = _write_sparse(columns, n_rows, len(names))
        return sp.csr_matrix(written) if isinstance(data, sp.spmatrix) else written
    table = np.empty((n_rows, len(names)), np.bool_)
    for k, column in enumerate(columns):
        table[:, k] = column
    return table


def _frame(data: Any) -> nw.DataFrame[Any] | None:
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise InputError(_twice(list(data.columns))) from None
    if isinstance(frame, nw.LazyFrame):
        raise InputError("lazy tables are not read by themselves: call .collect() first")
    return frame if isinstance(frame, nw.DataFrame) else None


def check_distinct(names: Sequence[str]) -> None:
    """Refuse names that stand for two columns."""
    if len(set(names)) < len(names):
        raise InputError(_twice(names))


def _twice(names: Sequence[str]) -> str:
    name = next(name for k, name in enumerate(names) if name in names[:k])
    return f"two columns are called {name!r}: names must be distinct"


def _items(basket: Any) -> Iterator[str]:
    if isinstance(basket, str) or not isinstance(basket, Iterable):
        raise InputError(f"a basket must be a set or a list of items, not {basket!r}")
    for item in basket:
        if item is None or item != item:
            raise InputError(f"a basket holds {item!r}: items are strings or numbers")
        yield str(item)


def _read_baskets(baskets: Any, names: Sequence[str], n_jobs: int | None) -> BitStore:
    position = {name: k for k, name in enumerate(names)}
    bits = np.zeros((len(names), line_bytes(len(baskets))), np.uint8)
    unknown: set[str] = set()
    for row, basket in enumerate(baskets):
        for item in _items(basket):
            if item in position:
                bits[position[item], row // 8] |= 1 << row % 8
            else:
                unknown.add(item)
    if unknown:
        warnings.warn(
            f"{len(unknown)} items were not seen in fit and are ignored, "
            f"for instance {min(unknown)!r}",
            ConjunctWarning,
            stacklevel=2,
        )
    return BitStore(bits, len(baskets), n_jobs)


def _read_frame(
    frame: nw.DataFrame[Any], names: Sequence[str], binarize: float | None, n_jobs: int | None
) -> BitStore:
    lines = np.empty((len(names), line_bytes(len(frame))), np.uint8)
    for k, (column, name) in enumerate(zip(frame.iter_columns(), names, strict=True)):
        values = column.to_numpy().reshape(-1, 1)
        lines[k] = pack_column(as_boolean(values, [name], 0, binarize)[:, 0])
    return BitStore(lines, len(frame), n_jobs)


def _read_sparse(
    matrix: Any, names: Sequence[str], binarize: float | None, n_jobs: int | None
) -> BitStore:
    rows = matrix.tocsr()
    return BitStore.from_blocks(
        lambda start, stop: as_boolean(rows[start:stop].toarray(), names, start, binarize),
        rows.shape[0],
        rows.shape[1],
        n_jobs,
    )


def _unpacked(bits: Bits, n_rows: int) -> Iterator[NDArray[np.bool_]]:
    for line in bits:
        yield np.unpackbits(line, count=n_rows, bitorder="little").view(np.bool_)


def _write_baskets(
    columns: Iterable[NDArray[np.bool_]], n_rows: int, names: Sequence[str]
) -> list[list[str]]:
    baskets: list[list[str]] = [[] for _ in range(n_rows)]
    for name, column in zip(names, columns, strict=True):
        for row in np.flatnonzero(column):
            baskets[row].append(name)
    return baskets


def _write_frame(frame: nw.DataFrame[Any], columns: dict[str, NDArray[np.bool_]]) -> Any:
    native = nw.from_dict(columns, backend=frame.implementation).to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        native.index = index
    return native


def _write_sparse(
    columns: Iterable[NDArray[np.bool_]], n_rows: int, n_columns: int
) -> sp.csr_array[np.bool_]:
    rows = [np.flatnonzero(column) for column in columns]
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows) if rows else np.empty(0, np.intp)
    ones = np.ones(len(indices), np.bool_)
    return sp.csc_array((ones, indices, starts), shape=(n_rows, n_columns)).tocsr()
