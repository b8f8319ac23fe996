"""Dask: the parts of a data frame or an array, on the workers of a cluster or in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from conjunct.columns import Columns, StoreKind
from conjunct.counting.engines.base import ENGINES, Engine, ReadPart
from conjunct.counting.partitioned import Partitions
from conjunct.errors import CellError, InputError


class Dask(Engine):
    name = "dask"
    summary = "data frames and arrays of Dask, counted by its workers"
    advice = "only fit and transform take a Dask collection: call .compute() first"

    def holds(self, data: Any) -> bool:
        return type(data).__module__.partition(".")[0] == "dask" and hasattr(data, "to_delayed")

    def head(self, data: Any) -> Any:
        if getattr(data, "ndim", 0) != 2:
            raise InputError(
                f"a Dask {type(data).__name__} has no columns: give a Dask DataFrame or a Dask "
                "array of two dimensions"
            )
        if hasattr(data, "columns"):
            if not len(data.columns):
                raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
            return data._meta
        return np.empty((0, data.shape[1]), data.dtype)

    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, store: StoreKind, n_jobs: int | None
    ) -> Partitions:
        from conjunct.counting.dask import DaskPartitions, with_value

        rows = _whole_rows(data)
        parts = np.ravel(np.array(rows.to_delayed(), object)).tolist()
        make = with_value(_read_part, read, len(parts), n_columns)
        numbered = [make(k, part) for k, part in enumerate(parts)]
        # arrays mostly know how many rows there are in each of their chunks
        most_rows = 0 if hasattr(rows, "columns") else np.nan_to_num(max(rows.chunks[0]))
        return DaskPartitions(numbered, n_columns, store, int(most_rows) * n_columns // 8)

    def made_by(
        self,
        tasks: Sequence[Callable[[], Columns]],
        n_columns: int,
        store: StoreKind,
        part_bytes: int,
    ) -> Partitions:
        from conjunct.counting.dask import DaskPartitions, task

        return DaskPartitions([task(_made)(make) for make in tasks], n_columns, store, part_bytes)

    def connected(self, address: str | None, memory: int | None) -> AbstractContextManager[object]:
        from conjunct.counting.dask_cluster import connected

        return connected(address or "local", memory)

    def mapped(self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any) -> Any:
        if hasattr(data, "columns"):
            return data.map_partitions(make, meta=make(data._meta))
        rows = _whole_rows(data)
        chunks = rows.chunks[0], (n_columns,)
        # the blocks of an array are of one type, whether a cell is missing in them or not
        return rows.map_blocks(_of_type, make, dtype, chunks=chunks, dtype=dtype)


def _whole_rows(data: Any) -> Any:
    """An array whose chunks have all columns; a data frame's parts always do."""
    return data if hasattr(data, "columns") else data.rechunk({1: -1})


def _read_part(read: ReadPart, number: int, part: Any) -> Columns:
    try:
        return read(part)
    except CellError as error:
        raise InputError(f"partition {number}, {error}") from None


def _made(make: Callable[[], Columns]) -> Columns:
    return make()


def _of_type(block: Any, make: Callable[[Any], Any], dtype: Any) -> Any:
    return make(block).astype(dtype)


ENGINES.enter(Dask())
