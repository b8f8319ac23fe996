"""Partitions on Dask: the columns stay on the workers, and only counts come back.

The one module that names Dask. What a worker holds is a function of its source and the rewrites,
so that Dask makes it again where a worker is lost.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.errors import InputError
from conjunct.stores.base import AnyRewrite
from conjunct.stores.memory import available_bytes
from conjunct.stores.packing import bucket_of_rows, count_distinct
from conjunct.stores.partitioned import starts_with
from conjunct.stores.parts import Part, PartKind, added, as_kind, chosen_kind
from conjunct.stores.sizing import Size, StoreKind
from conjunct.stores.surveying import surveyed

try:
    import dask
    from dask import delayed
except ImportError:
    raise InputError('Dask is not installed: pip install "conjunct[dask]"') from None

Lazy = Any
"""A ``Delayed`` that makes a part, or what is counted in it."""

_SECONDS_TO_CONNECT = 10
# Counts of so many parts are added at a time, wherever they are.
_BRANCHES = 8
# Rows are told apart in buckets of about this many bytes, each on one worker.
_BUCKET_BYTES = 1 << 24
_BUCKETS_SHARE = 20
_FINGERPRINT_BYTES = 16
# Parts are there as read and as rewritten, and half of a worker's memory is for what it does.
_COPIES = 4
# What must be alike on driver and workers for the same features, or for being understood at all.
_CHECKED = ("conjunct", "dask", "distributed", "narwhals", "numpy")


class DaskPartitions:
    """Columns on the workers of Dask, or of its default scheduler where there is no cluster."""

    def __init__(self, parts: Sequence[Lazy], n_columns: int, store: StoreKind = "auto") -> None:
        self.n_columns = n_columns
        client = active_client()
        if client is not None:
            check_versions(client)
        # what is too much to stay there is made again from its source whenever it is counted
        self._keeps = client is None or _COPIES * _guessed_bytes(parts) <= _memory_of(client)
        self._source = self._hold(parts)
        seen = dask.compute(*map(task(_seen), self._source))
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
        parts = dask.persist(*(task(_fingerprints)(part, n_buckets) for part in self._source))
        client = active_client()
        memory = inf if client is None else _memory_of(client)
        at_once = int(max(1, min(n_buckets, memory / _BUCKETS_SHARE / _BUCKET_BYTES)))
        total = 0
        for start in range(0, n_buckets, at_once):
            some = range(start, min(start + at_once, n_buckets))
            each = [task(_count_united)([task(_bucket)(part, k) for part in parts]) for k in some]
            total += sum(dask.compute(*each))
        return total

    def _total_of_source(self, look: Callable[[Any], Any]) -> Any:
        return _total(look, self._source)

    def _hold(self, parts: Sequence[Lazy]) -> Sequence[Lazy]:
        return dask.persist(*parts) if self._keeps else parts

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


@contextmanager
def connected(scheduler: str, memory: int | None = None) -> Iterator[Any]:
    """A client of the cluster at an address, or (``"local"``) of one made on this machine.

    ``memory`` is for all workers of the latter together.
    """
    from distributed import Client, LocalCluster

    if scheduler == "local":
        n_workers = os.cpu_count() or 1
        limit = "auto" if memory is None else memory // n_workers
        with (
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                memory_limit=limit,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"no Dask scheduler answers at {scheduler}: {reason}") from None
    with client:
        yield client


def active_client() -> Any | None:
    """The client that Dask works with, if it is one of a cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def check_versions(client: Any) -> None:
    """Refuse workers with other versions of what counts here."""

    def versions(names: Sequence[str]) -> dict[str, str]:
        # sent as it is, for a worker may not even have conjunct
        import sys
        from importlib.metadata import PackageNotFoundError, version

        found = {"python": "{}.{}".format(*sys.version_info)}
        for name in names:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "none"
        return found

    here = versions(_CHECKED)
    for worker, there in client.run(versions, _CHECKED).items():
        for name, wanted in here.items():
            if there[name] != wanted:
                raise InputError(
                    f"worker {worker} has {name} {there[name]}, and this session {wanted}: "
                    f"install the same versions on all workers"
                )


def task(function: Callable[..., Any]) -> Any:
    """A function that is called on a worker, when what it makes is asked for."""
    return delayed(function, name=f"conjunct-{function.__name__.strip('_')}", traverse=False)


def _total(count: Callable[[Any], Any], parts: Sequence[Lazy]) -> Any:
    """What is counted in each part, added up where the parts are."""
    # the object is sent once, and not with every task
    sent = delayed(count, traverse=False, pure=False)
    counted = [task(_called)(sent, part) for part in parts]
    return _tree(counted, task(added)).compute()


def _tree(values: Sequence[Lazy], combine: Callable[[list[Lazy]], Lazy]) -> Lazy:
    """What the values combine to, a few of them at a time."""
    level = list(values)
    while len(level) > 1:
        level = [combine(level[k : k + _BRANCHES]) for k in range(0, len(level), _BRANCHES)]
    return level[0]


def _memory_of(client: Any) -> float:
    """Bytes of all workers, without end where they have no limit."""

    def limits(dask_scheduler: Any) -> list[int]:
        return [worker.memory_limit for worker in dask_scheduler.workers.values()]

    return sum(limit or inf for limit in client.run_on_scheduler(limits))


def _guessed_bytes(parts: Sequence[Lazy]) -> float:
    """What all parts take, if they are like a few of them."""
    few = parts[:: max(1, len(parts) // 3)]
    sizes = dask.compute(*map(task(_n_bytes), few))
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
