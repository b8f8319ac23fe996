"""Data in parts: streams of files, and the collections of Dask, which is not named here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjunct.binarize.table import BooleanTable
from conjunct.construction.feature_set import FeatureSet
from conjunct.errors import CellError, InputError
from conjunct.estimators.container_reading import Reading
from conjunct.estimators.container_writing import write_like
from conjunct.estimators.containers import is_dask
from conjunct.io.streaming import Stream
from conjunct.stores import Counts, PartitionedStore, Partitions, SparseStore
from conjunct.stores.partial import known_true
from conjunct.stores.parts import Part
from conjunct.stores.sizing import StoreKind


def is_partitioned(data: Any) -> bool:
    """Whether ``data`` is in parts, and not to be read as a whole."""
    return isinstance(data, Stream) or is_dask(data)


def template(data: Any) -> Any:
    """A container without rows, with the columns of the parts of a collection of Dask."""
    if isinstance(data, Stream):
        return data
    if getattr(data, "ndim", 0) != 2:
        raise InputError(
            f"a Dask {type(data).__name__} has no columns: give a Dask DataFrame or a Dask array "
            "of two dimensions"
        )
    if hasattr(data, "columns"):
        if not len(data.columns):
            raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
        return data._meta
    return np.empty((0, data.shape[1]), data.dtype)


def partitioned_store(data: Any, names: tuple[str, ...], reading: Reading) -> PartitionedStore:
    """The columns of data in parts, wherever they are."""
    # each part as it is quickly read; which form is best for counting depends on all of them
    part = PartReading(names, replace(reading, store="auto"))
    if isinstance(data, Stream):
        parts = data.partitions(part, reading.n_jobs, reading.store)
    else:
        parts = _on(data, part, reading.store)
    if not parts.n_rows:
        raise InputError("the table has no rows (0 sample(s)): at least 1 is needed")
    return PartitionedStore(parts)


def _on(data: Any, read: PartReading, store: StoreKind) -> Partitions:
    from conjunct.stores.dask import DaskPartitions, task

    parts = _whole_rows(data).to_delayed()
    each = np.ravel(np.array(parts, object)).tolist()
    return DaskPartitions(
        [task(read.part)(k, part) for k, part in enumerate(each)], len(read.names), store
    )


def _whole_rows(data: Any) -> Any:
    """An array whose chunks have all columns; a data frame's parts always do."""
    return data if hasattr(data, "columns") else data.rechunk({1: -1})


@dataclass(frozen=True)
class PartReading:
    """Reads a part, here or on a worker."""

    names: tuple[str, ...]
    reading: Reading

    def __call__(self, table: BooleanTable) -> Part:
        aligned = table.aligned(self.names)
        # lists stay lists: whether bits are better is asked of all parts together
        if isinstance(aligned.values, SparseStore):
            return aligned.values
        return self.reading.read(aligned, self.names)

    def part(self, number: int, data: Any) -> Part:
        """A part of a collection of Dask."""
        try:
            return self.reading.read(data, self.names)
        except CellError as error:
            raise InputError(f"partition {number}, {error}") from None


@dataclass(frozen=True)
class FeatureSupports:
    """In how many rows of a part each feature is true."""

    feature_set: FeatureSet

    @classmethod
    def of(cls, feature_set: FeatureSet) -> FeatureSupports:
        # expressions are made anew where they are wanted: nested ones are deep for pickle
        lineage = feature_set.lineage.renamed(feature_set.lineage.primitives)
        return cls(replace(feature_set, lineage=lineage, merges=()))

    def __call__(self, part: Part) -> Counts:
        supports: Counts = self.feature_set.evaluate(known_true(part)).supports()
        return supports


@dataclass(frozen=True)
class PartFeatures:
    """Makes the features of a part, on a worker."""

    names: tuple[str, ...]
    reading: Reading
    feature_set: FeatureSet
    columns: list[str]

    def __call__(self, data: Any) -> Any:
        store = self.feature_set.evaluate(self.reading.read(data, self.names))
        return write_like(data, store, self.columns, self.reading.missing == "pairwise")

    def over(self, data: Any) -> Any:
        """The features of a collection of Dask, lazily."""
        # expressions are made anew where they are wanted: nested ones are deep for pickle
        lineage = self.feature_set.lineage.renamed(self.feature_set.lineage.primitives)
        sent = replace(self, feature_set=replace(self.feature_set, lineage=lineage, merges=()))
        if hasattr(data, "columns"):
            return data.map_partitions(sent, meta=sent(data._meta))
        rows = _whole_rows(data)
        known = self.reading.missing != "pairwise"
        return rows.map_blocks(
            sent if known else sent.as_floats,
            chunks=(rows.chunks[0], (len(self.columns),)),
            dtype=np.bool_ if known else np.float64,
        )

    def as_floats(self, data: Any) -> Any:
        """NaN where a cell is missing, of one type whether one is or not."""
        return self(data).astype(np.float64)
