"""Any container of Boolean data as packed columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from conjunct.binarize.table import BooleanTable, PackedLines
from conjunct.errors import ConjunctWarning
from conjunct.estimators.containers import frame_of, is_baskets, items
from conjunct.estimators.values import Cells, Missing, as_boolean
from conjunct.stores import BitStore, PartialStore
from conjunct.stores.packing import Bits, line_bytes

AnyStore = BitStore | PartialStore


@dataclass(frozen=True)
class Reading:
    """How cells become true, false or missing, and how many threads count them."""

    binarize: float | None = None
    missing: Missing = "raise"
    n_jobs: int | None = None

    def read(self, data: Any, names: Sequence[str]) -> AnyStore:
        """The packed columns of a container whose columns are called ``names``."""
        if isinstance(data, BooleanTable):
            return self._read_table(data.aligned(names))
        if is_baskets(data):
            return self._store(_baskets_as_bits(data, names), len(data))
        frame = frame_of(data)
        if frame is not None:
            return self._read_frame(frame, names)
        if sp.issparse(data):
            rows: Any = data.tocsr()  # type: ignore[attr-defined]
            return self._read_blocks(lambda a, b: rows[a:b].toarray(), rows.shape, names)
        table = np.asarray(data)
        return self._read_blocks(lambda a, b: table[a:b], table.shape, names)

    def _store(self, true: Bits, n_rows: int, known: Bits | None = None) -> AnyStore:
        store = BitStore(true, n_rows, self.n_jobs)
        if known is None:
            return store
        return PartialStore(store, BitStore(known, n_rows, self.n_jobs))

    def _read_table(self, table: BooleanTable) -> AnyStore:
        if self.missing == "raise":
            table.refuse_missing()
        known = table.observed if self.missing == "pairwise" and table.n_missing else None
        return self._store(table.values, table.n_rows, known)

    def _read_frame(self, frame: nw.DataFrame[Any], names: Sequence[str]) -> AnyStore:
        lines = PackedLines(len(frame))
        for column, name in zip(frame.iter_columns(), names, strict=True):
            values = column.to_numpy().reshape(-1, 1)
            true, missing = as_boolean(values, [name], 0, self.binarize, self.missing)
            lines.append(true[:, 0], None if missing is None else missing[:, 0])
        return self._store(*lines.stacked())

    def _read_blocks(
        self, block: Callable[[int, int], Any], shape: tuple[int, int], names: Sequence[str]
    ) -> AnyStore:
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


def _baskets_as_bits(baskets: Any, names: Sequence[str]) -> Bits:
    position = {name: k for k, name in enumerate(names)}
    bits = np.zeros((len(names), line_bytes(len(baskets))), np.uint8)
    unknown: set[str] = set()
    for row, basket in enumerate(baskets):
        for item in items(basket):
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
    return bits
