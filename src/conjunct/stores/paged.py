"""Partitions on disk: pages of packed columns, read one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conjunct.errors import InputError
from conjunct.stores.base import Positions, Rewrite
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts, counts_dtype
from conjunct.stores.memory import byte_text
from conjunct.stores.packing import bucket_of_rows, count_distinct, distinct_rows, line_bytes
from conjunct.stores.partitioned import NewCounts, count_new, starts_with
from conjunct.stores.scratch import Page, ScratchFile, row_slices

# A page is in memory with what it is rewritten to, its conjunctions, and the kernel's copies.
_COPIES_OF_A_PAGE = 5
# Counts are there with those of the next feature set, and once more while it is made.
_COPIES_OF_COUNTS = 3


class PagedPartitions:
    """Packed columns in a scratch file, for which ``memory`` bytes may be used.

    The counts of all pairs of columns are in memory; what is left is for one page at a time.
    """

    def __init__(self, source: ScratchFile, memory: int, n_jobs: int | None = None) -> None:
        self.source = source
        self.memory = memory
        self.n_jobs = n_jobs
        self.n_rows = source.n_rows
        self.n_columns = source.pages[0].n_lines
        # the pages as they are after the rewrites that were last asked for
        self._state: tuple[tuple[Rewrite, ...], ScratchFile] = ((), source)

    def pair_counts(self, rewrites: tuple[Rewrite, ...]) -> Counts:
        m = len(rewrites[-1].plus) if rewrites else self.n_columns
        total = np.zeros((m, m), counts_dtype(self.n_rows))
        for part in self._parts(rewrites, m):
            total += part.joint_counts()
        return total

    def new_counts(
        self, rewrites: tuple[Rewrite, ...], left: Positions, right: Positions
    ) -> NewCounts:
        m, p = len(rewrites[-1].plus) if rewrites else self.n_columns, len(left)
        across = np.zeros((m, p), counts_dtype(self.n_rows))
        new = np.zeros((p, p), across.dtype)
        for part in self._parts(rewrites, m + p):
            more = count_new(part, left, right)
            across += more[0]
            new += more[1]
        return across, new

    def count_null_rows(self) -> int:
        return sum(part.count_null_rows() for part in self._parts((), 0))

    def count_distinct_rows(self) -> int:
        """Exact: equal rows are brought together in buckets, each of which memory holds."""
        row_bytes = line_bytes(self.n_columns)
        limit = self._page_limit(0)
        n_buckets = max(1, -(-self.n_rows * row_bytes // limit))
        if n_buckets == 1:
            return count_distinct(np.concatenate([p.packed_rows() for p in self._parts((), 0)]))
        apart = ScratchFile()
        buckets: list[list[Page]] = [[] for _ in range(n_buckets)]
        for part in self._parts((), 0):
            rows = distinct_rows(part.packed_rows())
            bucket = bucket_of_rows(rows, n_buckets)
            for k in np.unique(bucket):
                page = apart.append(rows[bucket == k].view(np.uint8), 8 * row_bytes)
                buckets[k].append(page)
        return sum(
            count_distinct(np.concatenate([apart.read(page) for page in pages]).view(np.uint64))
            for pages in buckets
            if pages
        )

    def _parts(self, rewrites: tuple[Rewrite, ...], n_lines: int) -> Iterator[BitStore]:
        """The parts after the rewrites, which are kept on disk for the next time."""
        limit = self._page_limit(n_lines)
        done, kept = self._state
        if not starts_with(rewrites, done):
            done, kept = (), self.source
        ahead = rewrites[len(done) :]
        if not ahead:
            for page in kept.pages:
                yield BitStore(kept.read(page), page.n_rows, self.n_jobs)
            return
        written = ScratchFile()
        for page in kept.pages:
            part = BitStore(kept.read(page), page.n_rows, self.n_jobs).after(ahead)
            for piece in pieces(part, limit):
                written.append(piece.lines, piece.n_rows)
                yield piece
        if kept is not self.source:
            kept.close()
        self._state = rewrites, written

    def _page_limit(self, n_columns: int) -> int:
        """Bytes that a page may take beside the counts of so many columns."""
        size = np.dtype(counts_dtype(self.n_rows)).itemsize
        counts = _COPIES_OF_COUNTS * n_columns**2 * size
        if n_columns and counts > self.memory - _COPIES_OF_A_PAGE * 8 * n_columns:
            raise InputError(
                f"the counts of {n_columns} columns take {byte_text(counts)}, and "
                f"{byte_text(self.memory)} are left for them: allow more memory, leave rare "
                f"columns out, or make fewer features with max_iter or max_length"
            )
        return max(1, (self.memory - counts) // _COPIES_OF_A_PAGE)


def pieces(part: BitStore, limit: int) -> Iterator[BitStore]:
    """The rows of a part, apart if together they take more than ``limit`` bytes."""
    if part.n_columns * line_bytes(part.n_rows) <= limit:
        yield part
        return
    for some in row_slices(part.n_rows, part.n_columns, limit):
        n_rows = min(part.n_rows - 8 * some.start, 8 * (some.stop - some.start))
        yield BitStore([line[some] for line in part.lines], n_rows, part.n_jobs)
