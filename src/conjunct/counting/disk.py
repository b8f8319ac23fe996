"""Rows on disk: streams of files, whose columns are kept in pages of a scratch file.

For tables that memory does not hold: pages are read one after the other.
"""

from __future__ import annotations

import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjunct.columns import (
    Arrays,
    Columns,
    StoreKind,
    counts_dtype,
    counts_too_large,
    layout_for_parts,
)
from conjunct.counting.partitioned import (
    ENGINES,
    Engine,
    Partitions,
    ReadPart,
    Rewrites,
    sum_counts,
)
from conjunct.errors import InputError

# A page is in memory with what it is rewritten to, its conjunctions, and the kernel's copies.
_COPIES_OF_A_PAGE = 5


class StreamedRows(ABC):
    """Rows that are read in batches, whenever they are needed."""

    @property
    @abstractmethod
    def head(self) -> Any:
        """Return a container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(self, read: ReadPart, n_jobs: int | None, store: StoreKind) -> Partitions:
        """Return the rows in parts."""


class Disk(Engine):
    name = "disk"
    summary = "streams of files, whose rows stay on disk"
    advice = "a stream gives tables to use one by one: for table in stream: …"

    def holds(self, data: Any) -> bool:
        return isinstance(data, StreamedRows)

    def head(self, data: StreamedRows) -> Any:
        return data.head

    def partitions(
        self,
        data: StreamedRows,
        read: ReadPart,
        n_columns: int,
        store: StoreKind,
        n_jobs: int | None,
    ) -> Partitions:
        return data.partitions(read, n_jobs, store)

    def mapped(self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any) -> Any:
        raise InputError(self.advice)


@dataclass(frozen=True)
class Page:
    """The place of some arrays in a scratch file, one after the other."""

    start: int
    arrays: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]

    @property
    def nbytes(self) -> int:
        return sum(dtype.itemsize * int(np.prod(shape)) for dtype, shape in self.arrays)


@dataclass(frozen=True)
class PartPage:
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
        why = f"{error.strerror}, and rows are kept there: set TMPDIR to a folder with more room"
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

    def append(self, part: Columns) -> None:
        """Write a part of the rows."""
        self.parts.append(PartPage(self.write(part.arrays()), type(part), part.n_rows))

    def read_part(self, part: PartPage, n_jobs: int | None = None) -> Columns:
        """Read a part of the rows."""
        return part.layout.from_arrays(self.read(part.page), part.n_rows, n_jobs)

    def write(self, arrays: Arrays) -> Page:
        """Write a page."""
        start = self._file.seek(0, 2)
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
        store: StoreKind = "auto",
    ) -> None:
        self._source = source
        self.memory = memory
        self.n_jobs = n_jobs
        self.n_rows = source.n_rows
        self.n_columns = source.read_part(source.parts[0]).n_columns
        self.layout = layout_for_parts(
            {part.layout for part in source.parts},
            store,
            self.n_columns,
            memory,
            self.total_of_source,
        )
        self._latest = (), source

    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        return _add_up(map(count, self._parts(rewrites, self._page_limit(n_columns))))

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        return _add_up(map(count, map(self._source.read_part, self._source.parts)))

    def count_distinct_rows(self) -> int:
        """Count the distinct rows exactly: equal ones are in one bucket, which memory holds."""
        n_bytes = sum(part.page.nbytes for part in self._source.parts)
        n_buckets = max(1, -(-n_bytes // self._page_limit(0)))
        scratch = ScratchFile()
        buckets: list[list[Page]] = [[] for _ in range(n_buckets)]
        for part in self._parts((), self._page_limit(0)):
            for bucket, rows in zip(buckets, part.row_buckets(n_buckets), strict=True):
                bucket.append(scratch.write(rows))
        return sum(self.layout.count_united(list(map(scratch.read, bucket))) for bucket in buckets)

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
            size = self.layout.size_in_parts(self.n_rows, n_columns, lambda: self.size)
            itemsize = np.dtype(counts_dtype(self.n_rows)).itemsize
            counts = self.layout.bytes_of_counts(size, itemsize)
            if counts > self.memory - _COPIES_OF_A_PAGE * 8 * n_columns:
                raise counts_too_large(n_columns, counts, self.memory)
        return max(1, (self.memory - counts) // _COPIES_OF_A_PAGE)


def _add_up(values: Iterator[Any]) -> Any:
    """Add up what parts count, one after the other."""
    total = next(values)
    for value in values:
        total = sum_counts([total, value])
    return total


ENGINES.enter(Disk())
