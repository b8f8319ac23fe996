"""Columns whose rows are in parts, which are counted separately; the counts are then added.

The contents of a part depend only on its source and the rewrites so far. Only counts are held
together, and each iteration is one pass over the parts.
"""

from __future__ import annotations

import tempfile
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add, is_
from typing import Any, ClassVar, NamedTuple

import numpy as np

from conjunct.columns import (
    AnyRewrite,
    Arrays,
    Columns,
    CostEstimate,
    Counts,
    MergeRewrite,
    Positions,
    Size,
    StorageKind,
    count_borders,
    counts_dtype,
    counts_too_large,
    layout_for_parts,
    survey_size,
)
from conjunct.errors import InputError
from conjunct.parameters import Registry

Rewrites = tuple[AnyRewrite, ...]
# memory holds a page, its rewritten version, its conjunctions and the kernel's copies
_COPIES_OF_A_PAGE = 5

ReadPart = Callable[[Any], Columns]
"""Read the columns of one part, here or on a worker."""
MakeParts = Sequence[Callable[[], Columns]]
"""Calls with which workers build parts."""


class Partitions(ABC):
    """Parts of the rows, on disk or on other machines, all in one layout.

    The original parts (``_source``) stay, and so do the parts after the last requested rewrites,
    because the next rewrites usually extend these.
    """

    n_rows: int
    n_columns: int
    layout: type[Columns]
    _source: Any
    _latest: tuple[Rewrites, Any]

    @abstractmethod
    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        """Sum the counts of all parts after some rewrites.

        ``n_columns`` is the number of columns whose counts will be held together.
        """

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        """Sum the counts of all original parts."""
        return self.total((), count, self.n_columns)

    @abstractmethod
    def count_distinct_rows(self) -> int:
        """Count the distinct rows of all parts."""

    def begin_distinct_rows(self) -> Callable[[], int]:
        """Start counting distinct rows, if workers do it; return a function that waits for it."""
        return self.count_distinct_rows

    @cached_property
    def _size(self) -> Size:
        return survey_size(self.total_of_source, self.n_columns)

    def size_of(self, n_columns: int) -> Size:
        """Return the size of some columns that matters in this layout."""
        return self.layout.size_in_parts(self.n_rows, n_columns, lambda: self._size)

    def _begin_with(self, parts: Any) -> None:
        self._source, self._latest = parts, ((), parts)

    def _choose_layout(
        self, layouts: Iterable[type[Columns]], storage: StorageKind, memory: int
    ) -> bool:
        """Choose one layout, if counts may take ``memory`` bytes; True if all parts have it."""
        found, total = {*layouts}, self.total_of_source
        self.layout = layout_for_parts(found, storage, self.n_columns, memory, total)
        return found == {self.layout}

    def _nearest(self, rewrites: Rewrites) -> tuple[Any, Rewrites]:
        """Return the parts to start from, and the remaining rewrites."""
        done, parts = self._latest
        # compare identity, because arrays cannot be compared with ==
        if len(done) <= len(rewrites) and all(map(is_, rewrites, done)):
            return parts, rewrites[len(done) :]
        return self._source, rewrites


def sum_counts(values: Iterable[Any]) -> Any:
    """Sum the counts of parts: values that can be added, or flat tuples of such values."""
    return reduce(lambda a, b: tuple(map(add, a, b)) if isinstance(a, tuple) else a + b, values)


@dataclass(frozen=True, eq=False)
class PartitionedColumns:
    """The columns of parts after some rewrites."""

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
        # parts change only when the next counts are requested
        return replace(self, rewrites=(*self.rewrites, *rewrites))

    def with_conjunctions(self, left: Positions, right: Positions) -> PartitionedColumns:
        # parts recompute them instead of holding them between two passes
        return self

    def in_place(self) -> MergedParts:
        return MergedParts(self)

    def estimate_cost(self, *, in_merges: bool = False) -> CostEstimate:
        """Estimate the memory of a fit without the parts."""
        size = self.parts.size_of(self.n_columns)
        return size.estimate_cost(self.parts.layout.kind, in_parts=True, in_merges=in_merges)

    def count_ones(self) -> int:
        return self.parts.size_of(self.n_columns).n_ones

    def supports(self) -> Counts:
        return np.asarray(self.total(_count_supports))

    def count_known(self) -> Counts:
        return np.asarray(self.total(_count_known))

    def count_missing(self) -> int:
        return self.n_rows * self.n_columns - int(self.count_known().sum())

    def count_distinct_rows(self) -> int:
        # rewrites lose nothing: rows that differ before a rewrite differ after it
        return self.parts.count_distinct_rows()

    def begin_distinct_rows(self) -> Callable[[], int]:
        return self.parts.begin_distinct_rows()

    def count_null_rows(self) -> int:
        # the conjunctions of a pair are true in the same rows as the two columns
        return int(self.parts.total_of_source(count_null_rows))

    def fingerprint(self) -> int:
        return int(self.total(fingerprint_word)[0])


class MergedParts:
    """Columns in parts, merged in place; each merge is one pass over the parts."""

    def __init__(self, store: PartitionedColumns) -> None:
        self._store = store

    def merge(self, left: int, right: int) -> Any:
        before, dtype = self._store, counts_dtype(self._store.n_rows)
        n = before.n_columns
        self._store = before.after([MergeRewrite(left, right, n)])
        if before.has_missing:
            return self._store.total(partial(count_borders, np.array([left, right, n]), dtype))
        return before.total(partial(_count_merge, left, right, dtype), n_more=1)


class Engine(ABC):
    """A system that holds rows in parts and counts each part separately."""

    name: ClassVar[str]
    summary: ClassVar[str]
    advice: ClassVar[str]
    """The advice if all rows must be in memory."""
    takes_expressions: ClassVar[bool] = False
    """True if its tables can compute narwhals expressions."""

    @abstractmethod
    def recognizes(self, data: Any) -> bool:
        """Return True if these rows belong to the engine, without importing its library."""

    @abstractmethod
    def head(self, data: Any) -> Any:
        """Return a container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, storage: StorageKind, n_jobs: int | None
    ) -> Partitions:
        """Return the rows in parts that can be counted; ``read`` converts one part to columns."""

    def collect_columns(self, data: Any, positions: Sequence[int]) -> Any:
        """Return some columns of a raw table as a data frame in memory."""
        raise InputError(self.advice)

    def from_tasks(
        self, tasks: MakeParts, n_columns: int, storage: StorageKind, part_bytes: int
    ) -> Partitions:
        """Return parts that workers build by calls; the packed size is at most ``part_bytes``."""
        raise InputError(f"{self.name} has no workers that read files")

    def connect(self, address: str | None, memory: int | None) -> AbstractContextManager[object]:
        """Connect to a cluster, or start one here with at most ``memory`` bytes."""
        raise InputError(f"{self.name} is not a cluster")

    def map_partitions(
        self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any
    ) -> Any:
        """Return a lazy collection with ``make`` applied to each part.

        It has ``n_columns``. If the engine needs the type of cells, it is ``dtype``.
        """
        raise InputError(self.advice)


ENGINES: Registry[Engine] = Registry("engine", "conjunct.counting")


def engine_of(data: Any) -> Engine | None:
    """Return the engine that holds these rows; ``None`` if they are in memory."""
    return next((engine for engine in ENGINES.values() if engine.recognizes(data)), None)


# Rows on disk: streams of files, with columns in pages of a scratch file.


class StreamedRows(ABC):
    """Rows that are read in batches when needed."""

    @property
    @abstractmethod
    def head(self) -> Any:
        """Return a container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(self, read: ReadPart, n_jobs: int | None, storage: StorageKind) -> Partitions:
        """Divide the rows into parts."""


class Disk(Engine):
    name = "disk"
    summary = "streams of files, whose rows stay on disk"
    advice = 'a stream yields one table at a time: use "for table in stream"'

    def recognizes(self, data: Any) -> bool:
        return isinstance(data, StreamedRows)

    def head(self, data: StreamedRows) -> Any:
        return data.head

    def partitions(
        self,
        data: StreamedRows,
        read: ReadPart,
        n_columns: int,
        storage: StorageKind,
        n_jobs: int | None,
    ) -> Partitions:
        return data.partitions(read, n_jobs, storage)


class Page(NamedTuple):
    """The position of consecutive arrays in a scratch file."""

    start: int
    arrays: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]


class PartPage(NamedTuple):
    """A part of the rows, as a page."""

    page: Page
    layout: type[Columns]
    n_rows: int


@contextmanager
def room_in_scratch() -> Iterator[None]:
    """Name the folder that is full in errors, because the scratch file has no name."""
    try:
        yield
    except OSError as error:
        why = f"{error.strerror} while storing rows: set TMPDIR to a folder with more space"
        raise OSError(error.errno, why, tempfile.gettempdir()) from None


class ScratchFile:
    """Pages in an unnamed file, which is deleted when the process ends."""

    def __init__(self) -> None:
        # In TMPDIR; it disappears even if the process is killed. Without a buffer, because a write
        # that failed on a full disk must not be repeated at the end.
        self._file = tempfile.TemporaryFile(prefix="conjunct-", buffering=0)  # noqa: SIM115
        self._close = weakref.finalize(self, self._file.close)
        self.parts: list[PartPage] = []

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    @property
    def n_bytes(self) -> int:
        return int(self._file.seek(0, 2))

    def append(self, part: Columns) -> None:
        """Write a part."""
        self.parts.append(PartPage(self.write(part.arrays()), type(part), part.n_rows))

    def read_part(self, part: PartPage, n_jobs: int | None = None) -> Columns:
        """Read a part."""
        return part.layout.from_arrays(self.read(part.page), part.n_rows, n_jobs)

    def write(self, arrays: Arrays) -> Page:
        """Write a page."""
        start = self.n_bytes
        with room_in_scratch():
            for array in arrays:
                left = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                while left:
                    left = left[self._file.write(left) :]
        return Page(start, tuple((array.dtype, array.shape) for array in arrays))

    def read(self, page: Page) -> Arrays:
        """Read a page."""
        self._file.seek(page.start)
        arrays = tuple(np.empty(shape, dtype) for dtype, shape in page.arrays)
        for array in arrays:
            left = array.reshape(-1).view(np.uint8).data
            while left:
                n_read = self._file.readinto(left)
                if not n_read:
                    raise OSError("a scratch file is shorter than the data written to it")
                left = left[n_read:]
        return arrays

    def close(self) -> None:
        self._close()


class DiskPartitions(Partitions):
    """Columns in a scratch file, which use up to ``memory`` bytes of memory.

    Memory holds the counts of pairs of columns; the rest is for one page at a time.
    """

    def __init__(
        self,
        source: ScratchFile,
        memory: int,
        n_jobs: int | None = None,
        storage: StorageKind = "auto",
    ) -> None:
        self._begin_with(source)
        self.memory = memory
        self.n_jobs = n_jobs
        self.n_rows = source.n_rows
        self.n_columns = source.read_part(source.parts[0]).n_columns
        self._choose_layout((part.layout for part in source.parts), storage, memory)

    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        return sum_counts(map(count, self._parts(rewrites, self._page_limit(n_columns))))

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        return sum_counts(map(count, map(self._source.read_part, self._source.parts)))

    def count_distinct_rows(self) -> int:
        """Count the distinct rows exactly, in buckets that fit in memory and contain equal rows."""
        n_buckets = 1 + self._source.n_bytes // self._page_limit(0)
        scratch = ScratchFile()
        buckets: list[list[Page]] = [[] for _ in range(n_buckets)]
        for part in self._parts((), self._page_limit(0)):
            for bucket, rows in zip(buckets, part.row_buckets(n_buckets), strict=True):
                bucket.append(scratch.write(rows))
        return sum(
            self.layout.count_distinct_parts(list(map(scratch.read, bucket))) for bucket in buckets
        )

    def _parts(self, rewrites: Rewrites, limit: int) -> Iterator[Columns]:
        """Yield the parts after the rewrites, and keep them on disk for the next pass."""
        kept, ahead = self._nearest(rewrites)
        parts = (self.layout.of(kept.read_part(page, self.n_jobs)) for page in kept.parts)
        if not ahead:
            yield from parts
            return
        written = ScratchFile()
        for part in parts:
            for piece in part.after(ahead).pieces(limit):
                written.append(piece)
                yield piece
        if kept is not self._source:
            kept.close()
        self._latest = rewrites, written

    def _page_limit(self, n_columns: int) -> int:
        """Return the memory for a page, in addition to the counts of ``n_columns`` columns."""
        counts = 0
        if n_columns:
            itemsize = np.dtype(counts_dtype(self.n_rows)).itemsize
            counts = self.layout.bytes_of_counts(self.size_of(n_columns), itemsize)
            if counts > self.memory - _COPIES_OF_A_PAGE * 8 * n_columns:
                raise counts_too_large(n_columns, counts, self.memory)
        return max(1, (self.memory - counts) // _COPIES_OF_A_PAGE)


ENGINES.enter(Disk())


# Workers can only call functions of a module.


def describe_part(part: Columns) -> tuple[int, Counter[type[Columns]]]:
    """Return the number of rows of a part, and its layout, in a form that can be summed."""
    return part.n_rows, Counter([type(part)])


def _count_supports(part: Any) -> Any:
    return part.supports()


def _count_known(part: Any) -> Any:
    return part.count_known()


def count_null_rows(part: Any) -> Any:
    """Count the rows of a part in which nothing is true."""
    return part.count_null_rows()


def fingerprint_word(part: Any) -> Any:
    """Return the contribution of a part to the fingerprint of all rows."""
    return part.fingerprint_word()


def _count_merge(left: int, right: int, dtype: Any, part: Any) -> Any:
    one, other = part.raw_columns[left], part.raw_columns[right]
    both = part.conjunction(one, other, not_left=False, not_right=False)
    return part.with_raw_columns([both]).joint_with(part)[0].astype(dtype, copy=False)
