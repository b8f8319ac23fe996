"""Partitions on Dask: the columns stay on the workers, and only counts come back.

What a worker holds is a function of its source and the rewrites, so that Dask makes it again
where a worker is lost. Only this module and ``cluster`` name Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any

from conjunct.columns import (
    AnyRewrite,
    Columns,
    InBuckets,
    StoreKind,
    count_united,
    even_edges,
    in_buckets,
    layout_for_parts,
)
from conjunct.counting.dask_cluster import (
    NOT_INSTALLED,
    Worker,
    active_client,
    checked_workers,
    computed,
    gathered,
    holders,
    memory_of,
    persisted,
)
from conjunct.counting.partitioned import Partitions, Rewrites, added
from conjunct.errors import InputError
from conjunct.memory import available_bytes

try:
    from dask import delayed
except ImportError:
    raise InputError(NOT_INSTALLED) from None

Lazy = Any
"""A ``Delayed`` that makes a part, some parts, or what is counted in them."""
Parts = tuple[Columns, ...]
"""What one task counts: Dask takes milliseconds for a task, whatever it does."""
Seen = tuple[int, set[type[Columns]]]
"""The rows of some parts, and their layouts."""

# Bytes of what the tasks of a graph may be given with each of them, and about how many they are for
# each column: a name, or where it goes.
_WITH_TASKS = 1 << 20
_BYTES_A_COLUMN = 64
# Counts of this many parts are added at a time, on any worker.
_BRANCHES = 8
# Rows are told apart in tasks of about this many bytes, which together take a small share of the
# workers' memory, in buckets of about this many rows, which stay in the cache.
_APART_BYTES = 1 << 25
_APART_SHARE = 20
_BUCKET_ROWS = _MOST_BUCKETS = 1 << 12
_FINGERPRINT_BYTES = 16
# Parts are there as read and as rewritten, and half of a worker's memory is for what it does.
_COPIES = 4
# Lists of rows take at most so many times the bytes of bits where they are the quicker way.
_LISTS = 8
# Parts that a worker holds are counted in one task for each of its threads, or in more if those of
# a task would be larger than this.
_TASK_BYTES = 1 << 28
# The least a part takes while it is read, times its packed size; measured on Parquet files.
_WHILE_READ = 5


class DaskPartitions(Partitions):
    """Columns on the workers of Dask, or of its default scheduler where there is no cluster."""

    def __init__(
        self,
        parts: Sequence[Lazy],
        n_columns: int,
        store: StoreKind = "auto",
        part_bytes: int = 0,
    ) -> None:
        """``part_bytes`` is what the largest part takes, packed, if that is known already."""
        self.n_columns = n_columns
        client = active_client()
        # what is too much to stay there is made again from its source whenever it is counted
        self._keeps, self._memory = True, inf
        if client is not None:
            workers = checked_workers(client, _WHILE_READ * part_bytes)
            self._memory = memory_of(workers)
            room = self._memory / _COPIES / len(parts)
            if not part_bytes or _LISTS * part_bytes > room:
                parts, part_bytes = _looked_at(parts)
                self._keeps = part_bytes <= room
        parts = self._hold(parts)
        groups = [[part] for part in parts]
        if client is not None and self._keeps:
            groups = _groups(parts, holders(client, parts), workers, part_bytes)
        self._source, seen = self._held_and_seen([task(_together)(*some) for some in groups])
        self.n_rows = sum(n_rows for n_rows, _ in seen)
        layouts = set[type[Columns]]().union(*(layouts for _, layouts in seen))
        self.layout = layout_for_parts(
            layouts, store, n_columns, available_bytes(), self.total_of_source
        )
        if layouts != {self.layout}:
            self._source = self._hold(
                [task(_in_layout)(some, self.layout) for some in self._source]
            )
        self._latest = (), self._source

    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        return self._total(count, self._parts(rewrites, n_columns), n_columns)

    def total_of_source(self, count: Callable[[Any], Any]) -> Any:
        return self._total(count, self._source, self.n_columns)

    def count_distinct_rows(self) -> int:
        return self._begun_distinct_rows()()

    def begin_distinct_rows(self) -> Callable[[], int]:
        # parts that cannot stay would have to, until what is counted next had them too
        return self._begun_distinct_rows() if self._keeps else self.count_distinct_rows

    def _begun_distinct_rows(self) -> Callable[[], int]:
        """Equal rows come together on one worker, as 128-bit fingerprints."""
        n_tasks = 1 + _FINGERPRINT_BYTES * self.n_rows // _APART_BYTES
        n_buckets = max(n_tasks, min(_MOST_BUCKETS, 1 + self.n_rows // _BUCKET_ROWS))
        edges = even_edges(n_buckets, n_tasks)
        parts = persisted([task(_fingerprints)(some, n_buckets) for some in self._source])
        at_once = int(max(1, min(n_tasks, self._memory / _APART_SHARE / _APART_BYTES)))

        def begun(start: int) -> Sequence[Lazy]:
            some = pairwise(edges[start : start + at_once + 1])
            shares = ([task(_between)(part, a, b) for part in parts] for a, b in some)
            return persisted([task(_count_united)(share) for share in shares])

        first = begun(0)

        def counted() -> int:
            later = (sum(gathered(begun(start))) for start in range(at_once, n_tasks, at_once))
            return int(sum(gathered(first)) + sum(later))

        return counted

    def _held_and_seen(self, source: Sequence[Lazy]) -> tuple[Sequence[Lazy], list[Seen]]:
        """The same parts, held if they can be, and what is seen of each."""
        looks, n = [*map(task(_seen), source)], len(source)
        if not self._keeps:
            return source, computed(looks)
        # one thing to ask for, not two
        held = persisted([*source, *looks])
        return held[:n], gathered(held[n:])

    def _hold(self, parts: Sequence[Lazy]) -> Sequence[Lazy]:
        return persisted(parts) if self._keeps else parts

    @staticmethod
    def _total(count: Callable[[Any], Any], parts: Sequence[Lazy], n_columns: int) -> Any:
        """What is counted in each part, added up where the parts are."""
        counted = [*map(with_value(_called, count, len(parts), n_columns), parts)]
        return computed([_tree(counted, task(added))])[0]

    def _parts(self, rewrites: Rewrites, n_columns: int) -> Sequence[Lazy]:
        """The parts after the rewrites, which the workers keep for the next time."""
        parts: Sequence[Lazy]
        parts, ahead = self._nearest(rewrites)
        if ahead:
            parts = self._hold([*map(with_value(_after, ahead, len(parts), n_columns), parts)])
            self._latest = rewrites, parts
        return parts


def task(function: Callable[..., Any]) -> Any:
    """A function that is called on a worker, when what it makes is asked for."""
    return delayed(function, pure=False, traverse=False)


def with_value(
    function: Callable[..., Any], value: object, n_tasks: int, n_columns: int
) -> Callable[..., Lazy]:
    """``function(value, …)`` as a task, of which there are many; the value is about all columns.

    A small value goes with each of them, a large one to a worker once, and from there to others.
    Dask does not look into either, which would take longer than the task.
    """
    if n_tasks * n_columns * _BYTES_A_COLUMN <= _WITH_TASKS:
        alone: Callable[..., Lazy] = task(partial(function, value))
        return alone
    return partial(task(function), delayed(value, pure=False, traverse=False))


def _tree(values: Sequence[Lazy], combine: Callable[[list[Lazy]], Lazy]) -> Lazy:
    """What the values combine to, a few of them at a time."""
    level = list(values)
    while len(level) > 1:
        level = [combine(level[k : k + _BRANCHES]) for k in range(0, len(level), _BRANCHES)]
    return level[0]


def _looked_at(parts: Sequence[Lazy]) -> tuple[Sequence[Lazy], int]:
    """The same parts, and how large some of them are, which stay there: they are not made twice."""
    some = slice(None, None, max(1, len(parts) // 3))
    kept = persisted(parts[some])
    parts = [*parts]
    parts[some] = kept
    return parts, max(computed([*map(task(_n_bytes), kept)]))


def _groups(
    parts: Sequence[Lazy], held_by: Sequence[str], workers: Sequence[Worker], part_bytes: int
) -> list[list[Lazy]]:
    """Parts that one worker has and may count in one task."""
    of_worker: dict[str, list[Lazy]] = {}
    for part, address in zip(parts, held_by, strict=True):
        of_worker.setdefault(address, []).append(part)
    threads = {worker.address: worker.n_threads for worker in workers}
    groups = []
    for worker, its in of_worker.items():
        n_tasks = max(threads.get(worker, 1), len(its) * part_bytes // _TASK_BYTES)
        groups += [its[a:b] for a, b in pairwise(even_edges(len(its), n_tasks)) if a < b]
    return groups


def _together(*parts: Columns) -> Parts:
    return parts


def _called(count: Callable[[Any], Any], parts: Parts) -> Any:
    return added([count(part) for part in parts])


def _n_bytes(part: Columns) -> int:
    return part.nbytes


def _seen(parts: Parts) -> Seen:
    return sum(part.n_rows for part in parts), {type(part) for part in parts}


def _in_layout(parts: Parts, layout: type[Columns]) -> Parts:
    return tuple(layout.of(part) for part in parts)


def _after(rewrites: Sequence[AnyRewrite], parts: Parts) -> Parts:
    return tuple(part.after(rewrites) for part in parts)


def _fingerprints(parts: Parts, n_buckets: int) -> list[InBuckets]:
    """Those of the distinct rows of each part."""
    return [in_buckets(part.row_words(), n_buckets) for part in parts]


def _between(parts: list[InBuckets], first: int, last: int) -> list[InBuckets]:
    """Some of the buckets."""
    edges = [starts[first : last + 1] for _, starts in parts]
    return [(rows[k[0] : k[-1]], k - k[0]) for (rows, _), k in zip(parts, edges, strict=True)]


def _count_united(shares: list[list[InBuckets]]) -> int:
    return count_united([part for share in shares for part in share])
