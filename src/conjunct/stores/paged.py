"""Partitions on disk: pages of columns, read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from conjunct.stores.base import AnyRewrite
from conjunct.stores.counting import counts_dtype
from conjunct.stores.partitioned import starts_with
from conjunct.stores.parts import (
    Part,
    PartKind,
    added,
    as_kind,
    chosen_kind,
    count_united,
    part_from,
)
from conjunct.stores.scratch import Page, ScratchFile, row_slices
from conjunct.stores.sizing import Size, StoreKind, counts_too_large
from conjunct.stores.surveying import surveyed

# A page is in memory with what it is rewritten to, its conjunctions, and the kernel's copies.
_COPIES_OF_A_PAGE = 5
# Counts are there with those of the next feature set, and once more while it is made.
_COPIES_OF_COUNTS = 3
_MATRICES: dict[PartKind, int] = {"bits": 1, "partial": 3, "sparse": 0}


class PagedPartitions:
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
        self.source = source
        self.memory = memory
        self.n_jobs = n_jobs
        self.n_rows = source.n_rows
        self.n_columns = source.read_part(source.parts[0]).n_columns
        kinds = {part.kind for part in source.parts}
        self.kind: PartKind = chosen_kind(
            kinds, store, self.n_columns, memory, self._total_of_source
        )
        # the pages as they are after the rewrites that were last asked for
        self._state: tuple[tuple[AnyRewrite, ...], ScratchFile] = ((), source)

    @cached_property
    def size(self) -> Size:
        return surveyed(self._total_of_source, self.n_columns)

    def total(
        self, rewrites: tuple[AnyRewrite, ...], count: Callable[[Any], Any], n_columns: int
    ) -> Any:
        return _summed(map(count, self._parts(rewrites, self._page_limit(n_columns))))

    def count_null_rows(self) -> int:
        return int(self._total_of_source(lambda part: part.count_null_rows()))

    def count_distinct_rows(self) -> int:
        """Exact: equal rows are brought together in buckets, each of which memory holds."""
        n_bytes = sum(part.page.nbytes for part in self.source.parts)
        n_buckets = max(1, -(-n_bytes // self._page_limit(0)))
        apart = ScratchFile()
        buckets: list[list[Page]] = [[] for _ in range(n_buckets)]
        for part in self._parts((), self._page_limit(0)):
            for bucket, rows in zip(buckets, part.row_buckets(n_buckets), strict=True):
                bucket.append(apart.write(rows))
        return sum(count_united(self.kind, list(map(apart.read, bucket))) for bucket in buckets)

    def _total_of_source(self, look: Callable[[Any], Any]) -> Any:
        return _summed(map(look, map(self.source.read_part, self.source.parts)))

    def _parts(self, rewrites: tuple[AnyRewrite, ...], limit: int) -> Iterator[Part]:
        """The parts after the rewrites, which are kept on disk for the next time."""
        done, kept = self._state
        if not starts_with(rewrites, done):
            done, kept = (), self.source
        ahead = rewrites[len(done) :]
        if not ahead:
            for page in kept.parts:
                yield as_kind(kept.read_part(page, self.n_jobs), self.kind)
            return
        written = ScratchFile()
        for page in kept.parts:
            part = as_kind(kept.read_part(page, self.n_jobs), self.kind).after(ahead)
            for piece in pieces(part, limit):
                written.append(piece)
                yield piece
        if kept is not self.source:
            kept.close()
        self._state = rewrites, written

    def _page_limit(self, n_columns: int) -> int:
        """Bytes that a page may take beside the counts of so many columns."""
        size = np.dtype(counts_dtype(self.n_rows)).itemsize
        counts = _COPIES_OF_COUNTS * _MATRICES[self.kind] * n_columns**2 * size
        if n_columns and self.kind == "sparse":
            counts = self.size.of_parts("sparse").n_bytes
        if n_columns and counts > self.memory - _COPIES_OF_A_PAGE * 8 * n_columns:
            raise counts_too_large(n_columns, counts, self.memory)
        return max(1, (self.memory - counts) // _COPIES_OF_A_PAGE)


def pieces(part: Part, limit: int) -> Iterator[Part]:
    """The rows of a part, apart if together they take more than ``limit`` bytes."""
    if part.kind == "sparse":
        # lists become shorter with every rewrite
        yield part
        return
    arrays = part.arrays()
    n_jobs = part.n_jobs
    if sum(bits.nbytes for bits in arrays) <= limit:
        yield part_from(part.kind, arrays, part.n_rows, n_jobs)
        return
    for some in row_slices(part.n_rows, len(arrays) * part.n_columns, limit):
        n_rows = min(part.n_rows - 8 * some.start, 8 * (some.stop - some.start))
        cut = tuple(np.ascontiguousarray(bits[:, some]) for bits in arrays)
        yield part_from(part.kind, cut, n_rows, n_jobs)


def _summed(values: Iterator[Any]) -> Any:
    """The sum of what parts counted, made as they come."""
    total = next(values)
    for value in values:
        total = added([total, value])
    return total
