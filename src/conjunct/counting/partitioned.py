"""Columns whose rows are in parts, each of which counts: their counts add up.

What a part holds after some iterations depends only on its source and the rewrites so far.
Only counts are held together; each iteration is one pass over the parts.
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
# A page is in memory with what it is rewritten to, its conjunctions, and the kernel's copies.
_COPIES_OF_A_PAGE = 5

ReadPart = Callable[[Any], Columns]
"""Reads the columns of one part, here or on a worker."""
MakeParts = Sequence[Callable[[], Columns]]
"""Calls by which workers make parts."""


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

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        """Add up what is counted in each part as it was read."""
        return self.total((), count, self.n_columns)

    @abstractmethod
    def count_distinct_rows(self) -> int:
        """Count the distinct rows of all parts."""

    def begin_distinct_rows(self) -> Callable[[], int]:
        """Begin to count them, if workers do; the function returned waits for the number."""
        return self.count_distinct_rows

    @cached_property
    def _size(self) -> Size:
        return survey_size(self.total_of_source, self.n_columns)

    def size_of(self, n_columns: int) -> Size:
        """Return the size of some columns, as far as it matters in this layout."""
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
        """Return the parts to start from, and the rewrites that are still to be done."""
        done, parts = self._latest
        # the very same objects, because arrays have no ==
        if len(done) <= len(rewrites) and all(map(is_, rewrites, done)):
            return parts, rewrites[len(done) :]
        return self._source, rewrites


def sum_counts(values: Iterable[Any]) -> Any:
    """Add up what parts counted: anything that can be added, or flat tuples of it."""
    return reduce(lambda a, b: tuple(map(add, a, b)) if isinstance(a, tuple) else a + b, values)


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

    def estimate_cost(self, *, in_merges: bool = False) -> CostEstimate:
        """Estimate what a fit takes, besides the parts."""
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
        # a rewrite loses nothing: rows that differ before it differ after it
        return self.parts.count_distinct_rows()

    def begin_distinct_rows(self) -> Callable[[], int]:
        return self.parts.begin_distinct_rows()

    def count_null_rows(self) -> int:
        # the conjunctions of a pair cover what the two columns cover
        return int(self.parts.total_of_source(count_null_rows))

    def fingerprint(self) -> int:
        return int(self.total(fingerprint_word)[0])


class MergedParts:
    """Columns in parts that are merged in place: each merge is one pass over them."""

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
    """A place where rows are in parts, each of which counts by itself."""

    name: ClassVar[str]
    summary: ClassVar[str]
    advice: ClassVar[str]
    """The advice where all rows must be in memory."""
    takes_expressions: ClassVar[bool] = False
    """True if its tables compute expressions of narwhals by themselves."""

    @abstractmethod
    def recognizes(self, data: Any) -> bool:
        """Return True if these rows are the engine's, without importing its library."""

    @abstractmethod
    def head(self, data: Any) -> Any:
        """Return a container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, storage: StorageKind, n_jobs: int | None
    ) -> Partitions:
        """Return the rows as parts that count; ``read`` makes columns of one."""

    def collect_columns(self, data: Any, positions: Sequence[int]) -> Any:
        """Return some columns of a raw table as a data frame in memory."""
        raise InputError(self.advice)

    def from_tasks(
        self, tasks: MakeParts, n_columns: int, storage: StorageKind, part_bytes: int
    ) -> Partitions:
        """Return parts that workers make by calls; the largest takes ``part_bytes``, packed."""
        raise InputError(f"{self.name} has no workers that read files")

    def connect(self, address: str | None, memory: int | None) -> AbstractContextManager[object]:
        """Connect to a cluster, or start one here, which may take ``memory`` bytes."""
        raise InputError(f"{self.name} is no cluster")

    def map_partitions(
        self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any
    ) -> Any:
        """Return a lazy collection of what ``make`` makes of each part.

        It has ``n_columns``; where the engine has to know, their cells are of type ``dtype``.
        """
        raise InputError(self.advice)


ENGINES: Registry[Engine] = Registry("engine", "conjunct.counting")


def engine_of(data: Any) -> Engine | None:
    """Return the engine that holds these rows; ``None`` if they are in memory."""
    return next((engine for engine in ENGINES.values() if engine.recognizes(data)), None)


# Rows on disk: streams of files, whose columns are kept in pages of a scratch file.


class StreamedRows(ABC):
    """Rows that are read in batches, whenever they are needed."""

    @property
    @abstractmethod
    def head(self) -> Any:
        """Return a container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(self, read: ReadPart, n_jobs: int | None, storage: StorageKind) -> Partitions:
        """Return the rows in parts."""


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
    """The place of some arrays in a scratch file, one after the other."""

    start: int
    arrays: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]


class PartPage(NamedTuple):
    """A part of the rows, as a page."""

    page: Page
    layout: type[Columns]
    n_rows: int


@contextmanager
def room_in_scratch() -> Iterator[None]:
    """Name the folder that is full: a file without a name cannot be named in an error."""
    try:
        yield
    except OSError as error:
        why = f"{error.strerror} while storing rows: set TMPDIR to a folder with more space"
        raise OSError(error.errno, why, tempfile.gettempdir()) from None


class ScratchFile:
    """Pages in a file without a name, which is deleted when the process ends."""

    def __init__(self) -> None:
        # In TMPDIR; not even a kill leaves it behind. Without a buffer: what a full disk refused
        # must not be tried again at the end.
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
        """Write a part of the rows."""
        self.parts.append(PartPage(self.write(part.arrays()), type(part), part.n_rows))

    def read_part(self, part: PartPage, n_jobs: int | None = None) -> Columns:
        """Read a part of the rows."""
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
                    raise OSError("a scratch file is shorter than what was written to it")
                left = left[n_read:]
        return arrays

    def close(self) -> None:
        self._close()


class DiskPartitions(Partitions):
    """Columns in a scratch file, for which ``memory`` bytes may be used.

    The counts of pairs of columns are in memory; the rest is for one page at a time.
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
        """Count the distinct rows exactly: equal ones are in one bucket, which memory holds."""
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
        """Yield the parts after the rewrites, which are kept on disk for the next time."""
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
        """Return the bytes that a page may take besides the counts of ``n_columns`` columns."""
        counts = 0
        if n_columns:
            itemsize = np.dtype(counts_dtype(self.n_rows)).itemsize
            counts = self.layout.bytes_of_counts(self.size_of(n_columns), itemsize)
            if counts > self.memory - _COPIES_OF_A_PAGE * 8 * n_columns:
                raise counts_too_large(n_columns, counts, self.memory)
        return max(1, (self.memory - counts) // _COPIES_OF_A_PAGE)


ENGINES.enter(Disk())


# What workers call must be functions of a module.


def describe_part(part: Columns) -> tuple[int, Counter[type[Columns]]]:
    """Return the rows of a part, and its layout; these add up."""
    return part.n_rows, Counter([type(part)])


def _count_supports(part: Any) -> Any:
    return part.supports()


def _count_known(part: Any) -> Any:
    return part.count_known()


def count_null_rows(part: Any) -> Any:
    """Count the rows of a part in which nothing is true."""
    return part.count_null_rows()


def fingerprint_word(part: Any) -> Any:
    """Return what a part adds to the fingerprint of all rows."""
    return part.fingerprint_word()


def _count_merge(left: int, right: int, dtype: Any, part: Any) -> Any:
    one, other = part.raw_columns[left], part.raw_columns[right]
    both = part.conjunction(one, other, not_left=False, not_right=False)
    return part.with_raw_columns([both]).joint_with_first(part).astype(dtype, copy=False)
