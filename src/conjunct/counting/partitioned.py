"""Columns whose rows are in parts, each of which counts: their counts add up.

What a part holds after some iterations depends only on its source and the rewrites so far.
Only counts are held together; each iteration is one pass over the parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add, is_
from typing import Any, ClassVar

import numpy as np

from conjunct.columns import (
    AnyRewrite,
    Columns,
    Counts,
    MergeRewrite,
    Need,
    Positions,
    Size,
    StoreKind,
    count_borders,
    counts_dtype,
    survey_size,
)
from conjunct.errors import InputError
from conjunct.registry import Registry

Rewrites = tuple[AnyRewrite, ...]
ReadPart = Callable[[Any], Columns]
"""Reads the columns of one part, here or on a worker."""


class Partitions(ABC):
    """Parts of the rows, on disk or on other machines, all in one layout.

    Parts as they were read (``_source``) stay. So do those after the rewrites that were last
    asked for, because the next rewrites mostly follow on these.
    """

    n_rows: int
    n_columns: int
    layout: type[Columns]
    _source: Any
    _latest: tuple[Rewrites, Any]

    @abstractmethod
    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        """Add up what is counted in each part after some rewrites.

        ``n_columns`` is the number of columns whose counts will be held together.
        """

    @abstractmethod
    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        """Add up what is counted in each part as it was read."""

    @abstractmethod
    def count_distinct_rows(self) -> int:
        """Count the distinct rows of all parts."""

    def begin_distinct_rows(self) -> Callable[[], int]:
        """Begin to count them, if workers do; the function returned waits for the number."""
        return self.count_distinct_rows

    def count_null_rows(self) -> int:
        """Count the rows in which no column is true."""
        return int(self.total_of_source(count_null_rows))

    @cached_property
    def size(self) -> Size:
        """The size of the columns, which takes a pass or two to see."""
        return survey_size(self.total_of_source, self.n_columns)

    def _nearest(self, rewrites: Rewrites) -> tuple[Any, Rewrites]:
        """Return the parts to start from, and the rewrites that are still to be done."""
        done, parts = self._latest
        # the very same objects, because arrays have no ==
        if len(done) <= len(rewrites) and all(map(is_, rewrites, done)):
            return parts, rewrites[len(done) :]
        return self._source, rewrites


def sum_counts(values: Sequence[Any]) -> Any:
    """Add up what parts counted: anything that can be added, or tuples of it."""
    if isinstance(values[0], tuple):
        return tuple(map(sum_counts, zip(*values, strict=True)))
    return reduce(add, values)


# Parts count with these, here or on a worker: module functions can be pickled.


def count_null_rows(part: Columns) -> int:
    """Count the rows of a part in which no column is true."""
    return part.count_null_rows()


def fingerprint_word(part: Columns) -> Any:
    """Return the fingerprint of a part, which adds up."""
    return part.fingerprint_word()


def _count_supports(part: Columns) -> Counts:
    return part.supports()


def _count_missing(part: Columns) -> int:
    return part.count_missing()


def _count_merge(left: int, right: int, dtype: Any, part: Any) -> Counts:
    counts: Counts = part.merge_counts(left, right, dtype)
    return counts


@dataclass(frozen=True, eq=False)
class PartitionedColumns:
    """The columns of partitions after some rewrites."""

    parts: Partitions
    rewrites: Rewrites = ()

    @property
    def n_rows(self) -> int:
        return self.parts.n_rows

    @property
    def n_columns(self) -> int:
        return self.rewrites[-1].n_after if self.rewrites else self.parts.n_columns

    @property
    def has_missing(self) -> bool:
        return self.parts.layout.has_missing

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        return self.parts.total(self.rewrites, count, self.n_columns + n_more)

    def after(self, rewrites: Sequence[AnyRewrite]) -> PartitionedColumns:
        # parts are not touched until the next counts are asked for
        return replace(self, rewrites=(*self.rewrites, *rewrites))

    def with_conjunctions(self, left: Positions, right: Positions) -> PartitionedColumns:
        # parts make them again rather than hold them between two passes
        return self

    def in_place(self) -> MergedParts:
        return MergedParts(self)

    def need(self) -> Need:
        """Estimate what an iteration takes, besides the parts."""
        return self.parts.layout.need_in_parts(self._size())

    def count_ones(self) -> int:
        return self._size().n_ones

    def _size(self) -> Size:
        return self.parts.layout.size_in_parts(self.n_rows, self.n_columns, lambda: self.parts.size)

    def supports(self) -> Counts:
        supports: Counts = self.total(_count_supports)
        return supports

    def count_missing(self) -> int:
        return int(self.total(_count_missing))

    def count_distinct_rows(self) -> int:
        # a rewrite loses nothing: rows that differ before it differ after it
        return self.parts.count_distinct_rows()

    def begin_distinct_rows(self) -> Callable[[], int]:
        return self.parts.begin_distinct_rows()

    def count_null_rows(self) -> int:
        # the conjunctions of a pair cover what the two columns cover
        return self.parts.count_null_rows()

    def fingerprint(self) -> int:
        return int(self.total(fingerprint_word)[0])


class MergedParts:
    """Columns in parts that are merged in place: each merge is one pass over them."""

    def __init__(self, store: PartitionedColumns) -> None:
        self._store = store

    def merge(self, left: int, right: int) -> Any:
        before, n = self._store, self._store.n_columns
        dtype = counts_dtype(before.n_rows)
        self._store = before.after([MergeRewrite(left, right, n)])
        if before.has_missing:
            changed = np.array([left, right, n])
            return self._store.total(partial(count_borders, changed, dtype))
        return before.total(partial(_count_merge, left, right, dtype), n_more=1)


class Engine(ABC):
    """A place where rows are in parts, each of which counts by itself."""

    name: ClassVar[str]
    summary: ClassVar[str]
    advice: ClassVar[str]
    """The advice where all rows must be in memory."""
    takes_expressions: ClassVar[bool] = False
    """True if its tables compute expressions of narwhals by themselves."""

    @abstractmethod
    def holds(self, data: Any) -> bool:
        """Return True if these rows are the engine's, without importing its library."""

    @abstractmethod
    def head(self, data: Any) -> Any:
        """Return a container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, store: StoreKind, n_jobs: int | None
    ) -> Partitions:
        """Return the rows as parts that count; ``read`` makes columns of one."""

    def made_by(
        self,
        tasks: Sequence[Callable[[], Columns]],
        n_columns: int,
        store: StoreKind,
        part_bytes: int,
    ) -> Partitions:
        """Return parts that workers make by calls; the largest takes ``part_bytes``, packed."""
        raise InputError(f"{self.name} has no workers that read files")

    def connected(self, address: str | None, memory: int | None) -> AbstractContextManager[object]:
        """Connect to a cluster, or start one here, which may take ``memory`` bytes."""
        raise InputError(f"{self.name} is no cluster")

    @abstractmethod
    def mapped(self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any) -> Any:
        """Return a lazy collection of what ``make`` makes of each part.

        It has ``n_columns``; where the engine has to know, their cells are of type ``dtype``.
        """


ENGINES: Registry[Engine] = Registry("engine", "conjunct.counting")


def engine_of(data: Any) -> Engine | None:
    """Return the engine that holds these rows; ``None`` if they are in memory."""
    return next((engine for engine in ENGINES.values() if engine.holds(data)), None)
