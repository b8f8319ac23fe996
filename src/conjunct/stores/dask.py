"""Partitions on Dask: the columns stay on the workers, and only counts come back.

What a worker holds is a function of its source and the rewrites, so that Dask makes it again
where a worker is lost. Only this module and ``cluster`` name Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.errors import InputError
from conjunct.stores.base import AnyRewrite
from conjunct.stores.cluster import (
    NOT_INSTALLED,
    active_client,
    check_workers,
    computed,
    memory_of,
    persisted,
)
from conjunct.stores.memory import available_bytes
from conjunct.stores.packing import bucket_of_rows, count_distinct
from conjunct.stores.partitioned import starts_with
from conjunct.stores.parts import Part, PartKind, added, as_kind, chosen_kind
from conjunct.stores.sizing import Size, StoreKind
from conjunct.stores.surveying import surveyed

try:
    from dask import delayed
except ImportError:
    raise InputError(NOT_INSTALLED) from None

Lazy = Any
"""A ``Delayed`` that makes a part, or what is counted in it."""

# Counts of so many parts are added at a time, wherever they are.
_BRANCHES = 8
# Rows are told apart in buckets of about this many bytes, each on one worker.
_BUCKET_BYTES = 1 << 24
_BUCKETS_SHARE = 20
_FINGERPRINT_BYTES = 16
# Parts are there as read and as rewritten, and half of a worker's memory is for what it does.
_COPIES = 4
# The least a part takes while it is read, times its packed size; measured on Parquet files.
_WHILE_READ = 5


class DaskPartitions:
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
        if client is not None:
            check_workers(client, _WHILE_READ * part_bytes)
        # what is too much to stay there is made again from its source whenever it is counted
        self._keeps = client is None or _COPIES * _guessed_bytes(parts) <= memory_of(client)
        self._source = self._hold(parts)
        seen = _all(map(task(_seen), self._source))
        self.n_rows = sum(n_rows for n_rows, _ in seen)
        kinds = {kind for _, kind in seen}
        self.kind: PartKind = chosen_kind(
            kinds, store, n_columns, available_bytes(), self._total_of_source
        )
        if kinds != {self.kind}:
            self._source = self._hold([task(as_kind)(part, self.kind) for part in self._source])
        self._state: tuple[tuple[AnyRewrite, ...], Sequence[Lazy]] = ((), self._source)

    @cached_property
    def size(self) -> Size:
        return surveyed(self._total_of_source, self.n_columns)

    def total(
        self, rewrites: tuple[AnyRewrite, ...], count: Callable[[Any], Any], n_columns: int
    ) -> Any:
        return _total(count, self._parts(rewrites))

    def count_null_rows(self) -> int:
        return int(self._total_of_source(_count_null_rows))

    def count_distinct_rows(self) -> int:
        """Equal rows come together on one worker, bucket by bucket, as 128-bit fingerprints.

        Only so many buckets at a time as are little beside the workers' memory.
        """
        n_buckets = 1 + _FINGERPRINT_BYTES * self.n_rows // _BUCKET_BYTES
        parts = persisted([task(_fingerprints)(part, n_buckets) for part in self._source])
        client = active_client()
        memory = inf if client is None else memory_of(client)
        at_once = int(max(1, min(n_buckets, memory / _BUCKETS_SHARE / _BUCKET_BYTES)))
        total = 0
        for start in range(0, n_buckets, at_once):
            some = range(start, min(start + at_once, n_buckets))
            each = [task(_count_united)([task(_bucket)(part, k) for part in parts]) for k in some]
            total += sum(_all(each))
        return total

    def _total_of_source(self, look: Callable[[Any], Any]) -> Any:
        return _total(look, self._source)

    def _hold(self, parts: Sequence[Lazy]) -> Sequence[Lazy]:
        return persisted(parts) if self._keeps else parts

    def _parts(self, rewrites: tuple[AnyRewrite, ...]) -> Sequence[Lazy]:
        """The parts after the rewrites, which the workers keep for the next time."""
        done, parts = self._state
        if not starts_with(rewrites, done):
            done, parts = (), self._source
        if len(done) < len(rewrites):
            ahead = delayed(rewrites[len(done) :], traverse=False)
            parts = self._hold([task(_after)(part, ahead) for part in parts])
            self._state = rewrites, parts
        return parts


def task(function: Callable[..., Any]) -> Any:
    """A function that is called on a worker, when what it makes is asked for."""
    return delayed(function, name=f"conjunct-{function.__name__.strip('_')}", traverse=False)


def _total(count: Callable[[Any], Any], parts: Sequence[Lazy]) -> Any:
    """What is counted in each part, added up where the parts are."""
    # the object is sent once, and not with every task
    sent = delayed(count, traverse=False, pure=False)
    counted = [task(_called)(sent, part) for part in parts]
    return computed(_tree(counted, task(added)))


def _all(values: Iterable[Lazy]) -> list[Any]:
    """Some small values, which come together: there is one thing to wait for."""
    found: list[Any] = computed(task(list)([*values]))
    return found


def _tree(values: Sequence[Lazy], combine: Callable[[list[Lazy]], Lazy]) -> Lazy:
    """What the values combine to, a few of them at a time."""
    level = list(values)
    while len(level) > 1:
        level = [combine(level[k : k + _BRANCHES]) for k in range(0, len(level), _BRANCHES)]
    return level[0]


def _guessed_bytes(parts: Sequence[Lazy]) -> float:
    """What all parts take, if they are like a few of them."""
    few = parts[:: max(1, len(parts) // 3)]
    sizes = _all(map(task(_n_bytes), few))
    return float(max(sizes) * len(parts))


def _called(count: Callable[[Any], Any], part: Part) -> Any:
    return count(part)


def _n_bytes(part: Part) -> int:
    return part.__sizeof__()


def _seen(part: Part) -> tuple[int, PartKind]:
    return part.n_rows, part.kind


def _after(part: Part, rewrites: Sequence[AnyRewrite]) -> Part:
    return part.after(rewrites)


def _count_null_rows(part: Part) -> int:
    return part.count_null_rows()


def _fingerprints(part: Part, n_buckets: int) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """Those of distinct rows, bucket after bucket, and where each bucket starts."""
    rows = part.fingerprints()
    bucket = bucket_of_rows(rows, n_buckets)
    order = np.argsort(bucket, kind="stable")
    return rows[order], np.searchsorted(bucket[order], np.arange(n_buckets + 1))


def _bucket(
    fingerprints: tuple[NDArray[np.uint64], NDArray[np.intp]], number: int
) -> NDArray[np.uint64]:
    rows, starts = fingerprints
    # not a view, which would keep all of them
    return rows[starts[number] : starts[number + 1]].copy()


def _count_united(rows: list[NDArray[np.uint64]]) -> int:
    return count_distinct(np.concatenate(rows))
