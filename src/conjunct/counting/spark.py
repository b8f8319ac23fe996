"""Spark: count the parts of a data frame on the executors; only counts come to the driver.

The executors pack parts and keep them. Parts with lists of rows are also kept after most rewrites;
the other rewrites are repeated at each count. A part depends only on its source and the rewrites,
so Spark can rebuild it if an executor is lost.
"""

from __future__ import annotations

import operator
import os
import re
import shutil
import sys
from collections import Counter
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
    StorageKind,
    concat_parts,
    count_distinct,
    find_layout,
    in_buckets,
)
from conjunct.counting.partitioned import (
    ENGINES,
    Engine,
    MakeParts,
    Partitions,
    ReadPart,
    Rewrites,
    describe_part,
    sum_counts,
)
from conjunct.errors import CellError, ClusterError, InputError
from conjunct.memory import available_bytes

NOT_INSTALLED = 'Spark is not installed: pip install "conjunct[spark]"'

# number of parts whose counts an executor adds at once
_BRANCHES = 8
# Number of merges that are repeated at each count before rewritten parts are kept, and maximum
# chain of kept parts: rebuilding a lost part takes that many steps, each in its own process.
_MOST_AHEAD = 16
_STEPS_IN_A_ROW = 4
# rows that are packed at a time (whole words of bits), and bytes of a part
_ROWS_AT_ONCE = 1 << 16
_PART_BYTES = 1 << 25
# approximate size of buckets in which distinct rows are counted
_BUCKET_BYTES = 1 << 24
_FINGERPRINT_BYTES = 16
# a part as a row of a data frame: the arrays of its columns
_PACKED = (
    "layout string, n_rows long, types array<string>, shapes array<string>, cells array<binary>"
)


class Spark(Engine):
    name = "spark"
    summary = "Spark data frames, counted by the executors"
    advice = (
        "only fit, score, transform, inverse_transform and chunks(output='text') take a Spark "
        "DataFrame: call .toPandas() first"
    )
    takes_expressions = True

    def recognizes(self, data: Any) -> bool:
        return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")

    def head(self, data: Any) -> Any:
        import pyarrow as pa

        if not data.columns:
            raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
        nothing = [pa.array([], pa.bool_()) for _ in data.columns]
        return pa.table(nothing, names=data.columns)

    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, storage: StorageKind, n_jobs: int | None
    ) -> Partitions:
        if ".connect." in type(data).__module__:
            raise InputError(
                "cannot fit on a Spark Connect DataFrame: fit in a driver session, or on "
                ".toPandas(); transform accepts it"
            )
        packed = data.mapInArrow(partial(_pack_batches, read), _PACKED)
        return SparkPartitions(packed.rdd.map(_part_of_row), n_columns, storage)

    def from_tasks(
        self, tasks: MakeParts, n_columns: int, storage: StorageKind, part_bytes: int
    ) -> Partitions:
        rows = _session().sparkContext.parallelize(tasks, max(1, len(tasks)))
        return SparkPartitions(rows.map(operator.call), n_columns, storage)

    @contextmanager
    def connect(self, address: str | None, memory: int | None) -> Iterator[None]:
        """Start a session at a master or on this machine, without Spark's messages."""
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
    """Columns on the executors of Spark, in memory or on disk."""

    def __init__(self, parts: Any, n_columns: int, storage: StorageKind = "auto") -> None:
        """Hold ``parts``, an RDD of columns."""
        self.n_columns, self._n_steps = n_columns, 0
        source = self._hold(parts)
        self._begin_with(source)
        with _one_line_errors():
            seen = source.map(describe_part).collect()
        self.n_rows, layouts = sum_counts([(0, Counter()), *seen])
        if self.n_rows and not self._choose_layout(layouts, storage, available_bytes()):
            self._begin_with(self._hold(source.map(self.layout.of)))

    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        parts, ahead = self._nearest(rewrites)
        is_much = len(ahead) >= _MOST_AHEAD or any(isinstance(some, Rewrite) for some in ahead)
        # Merges do not lengthen lists of rows. Packed parts would get one more column per merge,
        # which Python would read at each count; fits took longer that way.
        if not is_much or self.layout.grows_with_merges:
            return _total(partial(_count_partition, ahead, count), parts)
        if self._n_steps == _STEPS_IN_A_ROW:
            parts, ahead = self._source, rewrites
        made = self._hold(parts.map(partial(_after, ahead)))
        total = _total(partial(_count_partition, (), count), made)
        before = self._latest[1]
        if before is not self._source:
            before.unpersist()
        self._latest = rewrites, made
        self._n_steps = 1 if parts is self._source else self._n_steps + 1
        return total

    def count_distinct_rows(self) -> int:
        """Count the distinct rows as 128-bit fingerprints, with equal rows in one bucket."""
        n_buckets = 1 + _FINGERPRINT_BYTES * self.n_rows // _BUCKET_BYTES
        fingerprints = self._source.flatMap(partial(_fingerprints, n_buckets))
        together = fingerprints.groupByKey(min(n_buckets, self._source.getNumPartitions()))
        with _one_line_errors():
            return int(together.map(_count_distinct_parts).sum())

    def _hold(self, parts: Any) -> Any:
        from pyspark import StorageLevel

        # on disk if it does not fit in memory; rebuilt if lost
        return parts.persist(StorageLevel.MEMORY_AND_DISK)


def _total(count: Callable[[Iterable[Columns]], Iterator[Any]], parts: Any) -> Any:
    """Count in each part, and add the counts on the executors."""
    counts, n = parts.mapPartitions(count), parts.getNumPartitions()
    while n > 1:
        n = -(-n // _BRANCHES)
        numbered = counts.mapPartitionsWithIndex(partial(_number_values, n))
        counts = numbered.partitionBy(n, int).mapPartitions(_add_values)
    with _one_line_errors():
        return counts.collect()[0]


# These functions run on executors.


def _pack_batches(read: ReadPart, batches: Iterable[Any]) -> Iterator[Any]:
    """Pack Arrow batches into parts, each a batch with one row."""
    return map(_row_of_part, concat_parts(_read_batches(read, batches), _PART_BYTES))


def _read_batches(read: ReadPart, batches: Iterable[Any]) -> Iterator[Columns]:
    from pyspark import TaskContext

    for table in _join_batches(batches):
        try:
            yield read(table)
        except CellError as error:
            number = TaskContext.get().partitionId()
            raise InputError(f"partition {number}, {error}") from None


def _join_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Join batches into tables of whole words of rows, except for the last table."""
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
    return find_layout(row.layout).from_arrays(arrays, row.n_rows)


def _after(rewrites: Sequence[AnyRewrite], part: Columns) -> Columns:
    return part.after(rewrites)


def _count_partition(
    rewrites: Sequence[AnyRewrite], count: Callable[[Any], Any], parts: Iterable[Columns]
) -> Iterator[Any]:
    """Sum the counts of the parts of one partition, if any."""
    total = [count(part.after(rewrites)) for part in parts]
    if total:
        yield sum_counts(total)


def _number_values(n: int, index: int, values: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    return ((index % n, value) for value in values)


def _add_values(pairs: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    values = [value for _, value in pairs]
    if values:
        yield sum_counts(values)


def _fingerprints(n_buckets: int, part: Columns) -> Iterator[tuple[int, Any]]:
    rows, starts = in_buckets(part.row_words(), n_buckets)
    for k, (start, stop) in enumerate(pairwise(starts)):
        if start < stop:
            yield k, rows[start:stop]


def _count_distinct_parts(bucket: tuple[int, Iterable[Any]]) -> int:
    return count_distinct(np.concatenate(list(bucket[1])))


# These functions run on the driver.


def _active_session() -> Any | None:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError(NOT_INSTALLED) from None
    return SparkSession.getActiveSession()


def _session(master: str = "local[*]", memory: int | None = None) -> Any:
    """Return the active session, or a new one."""
    active = _active_session()
    if active is not None:
        return active
    from pyspark.sql import SparkSession

    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise InputError("Spark needs Java 17 or newer: install it, or set JAVA_HOME")
    # the workers use the driver's Python by default
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
    """Silence standard error, where Java and Spark write messages when they start and stop."""
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
    """Replace the error of an executor, which has a hundred lines in two languages, by one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        text = str(error)
        found = re.search(r"conjunct\.errors\.\w+: (.+)", text)
        if found:
            raise InputError(found[1]) from None
        lacking = re.search(r"No module named '([^']+)'", text)
        if lacking:
            raise InputError(
                f"a Spark executor lacks {lacking[1]}: install conjunct there with the same "
                "versions, or set PYSPARK_PYTHON to a Python that has it"
            ) from None
        causes = [line for line in text.splitlines() if line.strip()]
        raise ClusterError(f"Spark failed: {causes[0] if causes else text}") from None


ENGINES.enter(Spark())
