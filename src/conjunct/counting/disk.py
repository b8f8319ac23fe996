"""Partitions on disk: pages of columns, read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Any

import numpy as np

from conjunct.columns import (
    Columns,
    StoreKind,
    counts_dtype,
    counts_too_large,
    layout_for_parts,
)
from conjunct.counting.partitioned import Partitions, Rewrites, added
from conjunct.counting.scratch import Page, ScratchFile

# A page is in memory with what it is rewritten to, its conjunctions, and the kernel's copies.
_COPIES_OF_A_PAGE = 5


class DiskPartitions(Partitions):
    """Columns in a scratch file, for which ``memory`` bytes may be used.

    The counts of pairs of columns are in memory; what is left is for one page at a time.
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
        return _summed(map(count, self._parts(rewrites, self._page_limit(n_columns))))

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        return _summed(map(count, map(self._source.read_part, self._source.parts)))

    def count_distinct_rows(self) -> int:
        """Exact: equal rows are brought together in buckets, each of which memory holds."""
        n_bytes = sum(part.page.nbytes for part in self._source.parts)
        n_buckets = max(1, -(-n_bytes // self._page_limit(0)))
        apart = ScratchFile()
        buckets: list[list[Page]] = [[] for _ in range(n_buckets)]
        for part in self._parts((), self._page_limit(0)):
            for bucket, rows in zip(buckets, part.row_buckets(n_buckets), strict=True):
                bucket.append(apart.write(rows))
        return sum(self.layout.count_united(list(map(apart.read, bucket))) for bucket in buckets)

    def _parts(self, rewrites: Rewrites, limit: int) -> Iterator[Columns]:
        """The parts after the rewrites, which are kept on disk for the next time."""
        kept, ahead = self._nearest(rewrites)
        parts = (self.layout.of(kept.read_part(page, self.n_jobs)) for page in kept.parts)
        if not ahead:
            yield from parts
            return
        written = ScratchFile()
        # a part as it was goes as soon as it is rewritten
        for part in map(methodcaller("after", ahead), parts):
            for piece in part.pieces(limit):
                written.append(piece)
                yield piece
        if kept is not self._source:
            kept.close()
        self._latest = rewrites, written

    def _page_limit(self, n_columns: int) -> int:
        """Bytes that a page may take besides the counts of ``n_columns`` columns."""
        counts = 0
        if n_columns:
            size = self.layout.size_in_parts(self.n_rows, n_columns, lambda: self.size)
            itemsize = np.dtype(counts_dtype(self.n_rows)).itemsize
            counts = self.layout.bytes_of_counts(size, itemsize)
            if counts > self.memory - _COPIES_OF_A_PAGE * 8 * n_columns:
                raise counts_too_large(n_columns, counts, self.memory)
        return max(1, (self.memory - counts) // _COPIES_OF_A_PAGE)


def _summed(values: Iterator[Any]) -> Any:
    """The sum of what parts counted, made as they come."""
    total = next(values)
    for value in values:
        total = added([total, value])
    return total
