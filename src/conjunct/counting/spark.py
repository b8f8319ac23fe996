"""Spark: the parts of a data frame on the executors, which count; only counts come to the driver.

A part is packed where its rows are, and kept there; a part of lists of rows is also kept with most
of the rewrites. The others are made whenever it is counted. Nothing depends on what came before but
the source and the rewrites: an executor that is lost changes nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from conjunct.columns import (
    AnyRewrite,
    Columns,
    Rewrite,
    StoreKind,
    count_distinct,
    in_buckets,
    layout_for_parts,
    layout_named,
    united,
)
from conjunct.counting.partitioned import ENGINES, Engine, Partitions, ReadPart, Rewrites, added
from conjunct.errors import CellError, ClusterError, InputError
from conjunct.memory import available_bytes

NOT_INSTALLED = 'Spark is not installed: pip install "conjunct[spark]"'

# Counts of this many parts are added at a time, on any executor.
_BRANCHES = 8
# Merges that are made at each count before parts are kept with them, and how many times parts are
# made of such parts: lost ones are made again in so many steps, each in a process of its own.
_MOST_AHEAD = 16
_STEPS_IN_A_ROW = 4
# Rows that are packed at a time, whole words of bits, and bytes of a part.
_ROWS_AT_ONCE = 1 << 16
_PART_BYTES = 1 << 25
# Rows are told apart in buckets of about this many bytes.
_BUCKET_BYTES = 1 << 24
_FINGERPRINT_BYTES = 16
# A part as a row of a data frame: the arrays that its columns are made of.
_PACKED = (
    "layout string, n_rows long, types array<string>, shapes array<string>, cells array<binary>"
)


class Spark(Engine):
    name = "spark"
    summary = "data frames of Spark, counted by its executors"
    advice = (
        "only fit, score, transform, inverse_transform and chunks(form='text') take a Spark "
        "DataFrame: call .toPandas() first"
    )
    takes_expressions = True

    def holds(self, data: Any) -> bool:
        return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")

    def head(self, data: Any) -> Any:
        import pyarrow as pa

        if not data.columns:
            raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
        nothing = [pa.array([], pa.bool_()) for _ in data.columns]
        return pa.table(nothing, names=data.columns)

    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, store: StoreKind, n_jobs: int | None
    ) -> Partitions:
        if ".connect." in type(data).__module__:
            raise InputError(
                "a DataFrame of Spark Connect cannot be counted where it is: fit in a session of "
                "the driver, or on .toPandas(); transform takes it"
            )
        packed = data.mapInArrow(partial(_packed_rows, read), _PACKED)
        return SparkPartitions(packed.rdd.map(_part_of_row), n_columns, store)

    def made_by(
        self,
        tasks: Sequence[Callable[[], Columns]],
        n_columns: int,
        store: StoreKind,
        part_bytes: int,
    ) -> Partitions:
        rows = _session().sparkContext.parallelize(tasks, max(1, len(tasks)))
        return SparkPartitions(rows.map(_called), n_columns, store)

    def mapped(self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any) -> Any:
        raise InputError(self.advice)

    @contextmanager
    def connected(self, address: str | None, memory: int | None) -> Iterator[None]:
        """A session at a master, or one on this machine. Spark says nothing meanwhile."""
        if _active_session() is not None:
            yield
            return
        with _silent_errors():
            session = _session(address or "local[*]", memory)
        try:
            yield
        finally:
            with _silent_errors(), suppress(Exception):
                session.stop()


class SparkPartitions(Partitions):
    """Columns on the executors of Spark, in its memory or on its disks."""

    def __init__(self, parts: Any, n_columns: int, store: StoreKind = "auto") -> None:
        """``parts`` is an RDD of columns."""
        self.n_columns = n_columns
        self._source = self._hold(parts)
        with _one_line_errors():
            seen = self._source.map(_seen).collect()
        self.n_rows = sum(n_rows for n_rows, _ in seen)
        if not self.n_rows:
            return
        layouts = {layout for _, layout in seen}
        self.layout = layout_for_parts(
            layouts, store, n_columns, available_bytes(), self.total_of_source
        )
        if layouts != {self.layout}:
            self._source = self._hold(self._source.map(partial(_in_layout, self.layout)))
        self._latest, self._n_steps = ((), self._source), 0

    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        parts, ahead = self._nearest(rewrites)
        if not self._keeps(ahead):
            return _total(partial(_counted, ahead, count), parts)
        if self._n_steps == _STEPS_IN_A_ROW:
            parts, ahead = self._source, rewrites
        made = self._hold(parts.map(partial(_after, ahead)))
        total = _total(partial(_counted, (), count), made)
        before = self._latest[1]
        if before is not self._source:
            before.unpersist()
        self._latest = rewrites, made
        self._n_steps = 1 if parts is self._source else self._n_steps + 1
        return total

    def _keeps(self, ahead: Rewrites) -> bool:
        """Whether parts are kept with these rewrites; one of all columns is made only once.

        Lists of rows are no longer for a merge, which only tells rows apart. Packed parts have one
        more column for each, which Python would read at each count: fits took longer so.
        """
        is_much = len(ahead) >= _MOST_AHEAD or any(isinstance(some, Rewrite) for some in ahead)
        return is_much and not self.layout.grows_with_merges

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        return _total(partial(_counted, (), count), self._source)

    def count_distinct_rows(self) -> int:
        """Equal rows come together in one bucket, as 128-bit fingerprints."""
        n_buckets = 1 + _FINGERPRINT_BYTES * self.n_rows // _BUCKET_BYTES
        apart = self._source.flatMap(partial(_fingerprints, n_buckets))
        together = apart.groupByKey(min(n_buckets, self._source.getNumPartitions()))
        with _one_line_errors():
            return int(together.map(_count_united).sum())

    def _hold(self, parts: Any) -> Any:
        from pyspark import StorageLevel

        # what does not fit in memory is on disk, and what is lost is made again
        return parts.persist(StorageLevel.MEMORY_AND_DISK)


def _total(count: Callable[[Iterable[Columns]], Iterator[Any]], parts: Any) -> Any:
    """What is counted in each part, added up on the executors until one value is left."""
    counted, n = parts.mapPartitions(count), parts.getNumPartitions()
    while n > 1:
        n = -(-n // _BRANCHES)
        numbered = counted.mapPartitionsWithIndex(partial(_numbered, n))
        counted = numbered.partitionBy(n, int).mapPartitions(_sum_of_values)
    with _one_line_errors():
        return counted.collect()[0]


# What follows runs on executors.


def _packed_rows(read: ReadPart, batches: Iterable[Any]) -> Iterator[Any]:
    """Batches of Arrow as packed parts, each a batch of one row."""
    parts: list[Columns] = []
    for table in _tables(batches):
        parts.append(_read(read, table))
        if sum(part.work_bytes for part in parts) >= _PART_BYTES:
            yield _row_of_part(united(parts))
            parts = []
    if parts:
        yield _row_of_part(united(parts))


def _tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches brought together: as many rows as fill words, but for the last."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        n_rows = sum(map(len, held))
        if n_rows >= _ROWS_AT_ONCE:
            table = pa.Table.from_batches(held)
            whole = n_rows // _ROWS_AT_ONCE * _ROWS_AT_ONCE
            yield table.slice(0, whole)
            held = table.slice(whole).to_batches()
    if sum(map(len, held)):
        yield pa.Table.from_batches(held)


def _read(read: ReadPart, table: Any) -> Columns:
    from pyspark import TaskContext

    try:
        return read(table)
    except CellError as error:
        number = TaskContext.get().partitionId()
        raise InputError(f"partition {number}, {error}") from None


def _row_of_part(part: Columns) -> Any:
    import pyarrow as pa

    arrays = [np.ascontiguousarray(array) for array in part.arrays()]
    row = {
        "layout": type(part).__name__,
        "n_rows": part.n_rows,
        "types": [array.dtype.str for array in arrays],
        "shapes": [",".join(map(str, array.shape)) for array in arrays],
        "cells": [array.tobytes() for array in arrays],
    }
    kinds = [pa.string(), pa.int64(), *map(pa.list_, (pa.string(), pa.string(), pa.binary()))]
    cells = [pa.array([value], kind) for value, kind in zip(row.values(), kinds, strict=True)]
    return pa.RecordBatch.from_arrays(cells, names=list(row))


def _part_of_row(row: Any) -> Columns:
    arrays = tuple(
        np.frombuffer(cells, dtype).reshape([int(n) for n in shape.split(",") if n])
        for dtype, shape, cells in zip(row.types, row.shapes, row.cells, strict=True)
    )
    return layout_named(row.layout).from_arrays(arrays, row.n_rows, None)


def _called(make: Callable[[], Columns]) -> Columns:
    return make()


def _seen(part: Columns) -> tuple[int, type[Columns]]:
    return part.n_rows, type(part)


def _in_layout(layout: type[Columns], part: Columns) -> Columns:
    return layout.of(part)


def _after(rewrites: Sequence[AnyRewrite], part: Columns) -> Columns:
    return part.after(rewrites)


def _counted(
    rewrites: Sequence[AnyRewrite], count: Callable[[Any], Any], parts: Iterable[Columns]
) -> Iterator[Any]:
    """What the parts of one partition count together, if there are any."""
    total = [count(part.after(rewrites)) for part in parts]
    if total:
        yield added(total)


def _numbered(n: int, index: int, values: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    return ((index % n, value) for value in values)


def _sum_of_values(pairs: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    values = [value for _, value in pairs]
    if values:
        yield added(values)


def _fingerprints(n_buckets: int, part: Columns) -> Iterator[tuple[int, Any]]:
    rows, starts = in_buckets(part.row_words(), n_buckets)
    for k, (start, stop) in enumerate(pairwise(starts)):
        if start < stop:
            yield k, rows[start:stop]


def _count_united(bucket: tuple[int, Iterable[Any]]) -> int:
    return count_distinct(np.concatenate(list(bucket[1])))


# What follows runs on the driver.


def _active_session() -> Any | None:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(NOT_INSTALLED) from None
    return SparkSession.getActiveSession()


def _session(master: str = "local[*]", memory: int | None = None) -> Any:
    """The session that there is, or a new one."""
    active = _active_session()
    if active is not None:
        return active
    from pyspark.sql import SparkSession

    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise InputError("Spark needs Java 17 or newer: install it, or set JAVA_HOME")
    # the Python of the workers is that of the driver, unless it is said
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = SparkSession.builder.appName("conjunct").master(master)
    settings = settings.config("spark.ui.enabled", "false")
    settings = settings.config("spark.ui.showConsoleProgress", "false")
    if memory is not None:
        kind = "driver" if master.startswith("local") else "executor"
        settings = settings.config(f"spark.{kind}.memory", f"{max(memory >> 20, 1)}m")
    with _one_line_errors():
        session = settings.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@contextmanager
def _silent_errors() -> Iterator[None]:
    """Java and Spark write to standard error on their way up and down: not now, nor later."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """What went wrong on an executor comes back as a hundred lines of two languages."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        told = str(error)
        found = re.search(r"conjunct\.errors\.\w+: (.+)", told)
        if found:
            raise InputError(found[1]) from None
        lacking = re.search(r"No module named '([^']+)'", told)
        if lacking:
            raise InputError(
                f"an executor of Spark has no {lacking[1]}: install conjunct with the same "
                "versions there, or name its Python in PYSPARK_PYTHON"
            ) from None
        causes = [line for line in told.splitlines() if line.strip()]
        raise ClusterError(f"Spark could not go on: {causes[0] if causes else told}") from None


ENGINES.enter(Spark())
