"""Any container of Boolean data as columns that count."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.binarize.columns import as_float
from conjunct.binarize.table import BooleanTable, PackedLines
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.containers import frame_of, is_baskets, items
from conjunct.estimators.values import Cells, Missing, as_boolean
from conjunct.stores import BitStore, PartialStore, SparseStore
from conjunct.stores.packing import Bits
from conjunct.stores.sizing import StoreKind, check_packed, chosen_store, is_sparse

AnyStore = BitStore | PartialStore | SparseStore


@dataclass(frozen=True)
class Reading:
    """How cells become true, false or missing, and which store holds and counts them.

    ``counts`` says that pairs of columns will be counted, which takes more than to hold them.
    """

    binarize: float | None = None
    missing: Missing = "raise"
    n_jobs: int | None = None
    store: StoreKind = "bits"
    counts: bool = False

    def read(self, data: Any, names: Sequence[str]) -> AnyStore:
        """The columns of a container whose columns are called ``names``."""
        if isinstance(data, BooleanTable):
            return self._read_table(data.aligned(names))
        if is_baskets(data):
            return self._read_ones(_ones_of_baskets(data, names))
        frame = frame_of(data)
        if frame is not None:
            return self._as_asked(self._read_frame(frame, names))
        if sp.issparse(data):
            rows: Any = data.tocsr()  # type: ignore[attr-defined]
            true = self._true_cells(rows.data)
            if true is not None:
                rows = sp.csr_array((true, rows.indices, rows.indptr), shape=rows.shape)
                return self._read_ones(rows)
            check_packed(*rows.shape)
            return self._as_asked(
                self._read_blocks(lambda a, b: rows[a:b].toarray(), rows.shape, names)
            )
        table = np.asarray(data)
        check_packed(*table.shape)
        return self._as_asked(self._read_blocks(lambda a, b: table[a:b], table.shape, names))

    def _read_ones(self, ones: Any) -> AnyStore:
        """From a sparse matrix in which what is stored is true or false."""
        store = SparseStore.from_matrix(ones, self.n_jobs)
        return store if self._kind(store) == "sparse" else store.to_bits()

    def _kind(self, store: SparseStore) -> str:
        """The store to use for columns that are listed."""
        if self.counts:
            return chosen_store(store.least_size(), self.store, store.size)
        if self.store == "auto":
            n_ones = int(store.supports().sum())
            return "sparse" if is_sparse(n_ones, store.n_rows, store.n_columns) else "bits"
        return self.store

    def _as_asked(self, store: BitStore | PartialStore) -> AnyStore:
        """What was read from cells, in another store if that is better."""
        if isinstance(store, PartialStore):
            if self.store == "sparse":
                raise InputError("a sparse store keeps no missing cells: use store='auto'")
            return store
        if self.store == "sparse":
            return SparseStore.from_bits(store)
        if not self.counts:
            return store
        if chosen_store(store.size(), self.store) == "bits":
            return store
        # with all rows alike; what they are in fact can be told from the lists
        listed = SparseStore.from_bits(store)
        return listed if self._kind(listed) == "sparse" else store

    def _true_cells(self, cells: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which stored cells are true; ``None`` where only a look at all cells can tell."""
        if cells.dtype == np.bool_:
            return cells
        below_zero = self.binarize is not None and self.binarize < 0
        if cells.dtype.kind not in "iuf" or below_zero:
            return None
        gone = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), np.bool_)
        if gone.any() and self.missing != "false":
            return None
        if self.binarize is not None:
            cut = np.float64(as_float(self.binarize))
            return None if np.isinf(cells).any() else np.asarray(cells > cut)
        is_boolean = (cells == 0) | (cells == 1) | gone
        return np.asarray(cells == 1) if is_boolean.all() else None

    def _packed(
        self, true: Bits, n_rows: int, known: Bits | None = None
    ) -> BitStore | PartialStore:
        store = BitStore(true, n_rows, self.n_jobs)
        if known is None:
            return store
        return PartialStore(store, BitStore(known, n_rows, self.n_jobs))

    def _read_table(self, table: BooleanTable) -> AnyStore:
        if isinstance(table.values, SparseStore):
            store = SparseStore(table.values.lines, table.n_rows, self.n_jobs)
            return store if self._kind(store) == "sparse" else store.to_bits()
        if self.missing == "raise":
            table.refuse_missing()
        known = table.observed if self.missing == "pairwise" and table.n_missing else None
        return self._as_asked(self._packed(table.values, table.n_rows, known))

    def _read_frame(
        self, frame: nw.DataFrame[Any], names: Sequence[str]
    ) -> BitStore | PartialStore:
        lines = PackedLines(len(frame))
        for column, name in zip(frame.iter_columns(), names, strict=True):
            values = column.to_numpy().reshape(-1, 1)
            true, missing = as_boolean(values, [name], 0, self.binarize, self.missing)
            lines.append(true[:, 0], None if missing is None else missing[:, 0])
        return self._packed(*lines.stacked())

    def _read_blocks(
        self, block: Callable[[int, int], Any], shape: tuple[int, int], names: Sequence[str]
    ) -> BitStore | PartialStore:
        def cells(start: int, stop: int) -> Cells:
            return as_boolean(block(start, stop), names, start, self.binarize, self.missing)

        some_missing = False

        def true(start: int, stop: int) -> Any:
            nonlocal some_missing
            read = cells(start, stop)
            some_missing = some_missing or read.missing is not None
            return read.true

        store = BitStore.from_blocks(true, *shape, self.n_jobs)
        if not some_missing:
            return store

        def known(start: int, stop: int) -> Any:
            read = cells(start, stop)
            return np.ones_like(read.true) if read.missing is None else ~read.missing

        return PartialStore(store, BitStore.from_blocks(known, *shape, self.n_jobs))


def _ones_of_baskets(baskets: Any, names: Sequence[str]) -> Any:
    position = {name: k for k, name in enumerate(names)}
    rows: list[int] = []
    columns: list[int] = []
    unknown: set[str] = set()
    for row, basket in enumerate(baskets):
        before = len(columns)
        for item in items(basket):
            if item in position:
                columns.append(position[item])
            else:
                unknown.add(item)
        rows.extend(repeat(row, len(columns) - before))
    if unknown:
        warnings.warn(
            f"{len(unknown)} items were not seen in fit and are ignored, "
            f"for instance {min(unknown)!r}",
            ConjunctWarning,
            stacklevel=2,
        )
    ones = np.ones(len(rows), np.bool_)
    return sp.coo_array((ones, (rows, columns)), shape=(len(baskets), len(names)))
