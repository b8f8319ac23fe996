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
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.errors import InputError
from conjunct.stores.base import Positions, Rewrite
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts, counts_dtype
from conjunct.stores.packing import bucket_of_rows, count_distinct, distinct_rows, line_bytes
from conjunct.stores.partitioned import NewCounts, count_new, starts_with

try:
    import dask
    from dask import delayed
except ImportError:
    raise InputError('Dask is not installed: pip install "conjunct[dask]"') from None

Part = Any
"""A ``Delayed`` that makes the columns of some rows."""

_SECONDS_TO_CONNECT = 10
# Counts of so many parts are added at a time, wherever they are.
_BRANCHES = 8
# Rows are told apart in buckets of about this many bytes, each on one worker.
_BUCKET_BYTES = 1 << 23
_MOST_BUCKETS = 64
# What must be alike on driver and workers for the same features, or for being understood at all.
_CHECKED = ("conjunct", "dask", "distributed", "narwhals", "numpy")


class DaskPartitions:
    """Columns on the workers of Dask, or of its default scheduler where there is no cluster."""

    def __init__(self, parts: Sequence[Part], n_columns: int) -> None:
        self.n_columns = n_columns
        client = active_client()
        if client is not None:
            check_versions(client)
        self._source = dask.persist(*parts)
        self.n_rows = int(sum(dask.compute(*map(delayed(_n_rows), self._source))))
        self._state: tuple[tuple[Rewrite, ...], Sequence[Part]] = ((), self._source)

    def pair_counts(self, rewrites: tuple[Rewrite, ...]) -> Counts:
        parts = self._parts(rewrites)
        widen = task(_pair_counts)
        dtype = counts_dtype(self.n_rows)
        counts: Counts = _summed([widen(part, dtype) for part in parts])
        return counts

    def new_counts(
        self, rewrites: tuple[Rewrite, ...], left: Positions, right: Positions
    ) -> NewCounts:
        pairs = delayed((left, right), traverse=False)
        dtype = counts_dtype(self.n_rows)
        new: NewCounts = _summed(
            [task(_new_counts)(p, pairs, dtype) for p in self._parts(rewrites)]
        )
        return new

    def count_null_rows(self) -> int:
        return int(_summed([task(_count_null_rows)(part) for part in self._source]))

    def count_distinct_rows(self) -> int:
        """Exact: equal rows come together on one worker, bucket by bucket."""
        n_bytes = self.n_rows * line_bytes(self.n_columns)
        n_buckets = min(_MOST_BUCKETS, 1 + n_bytes // _BUCKET_BYTES)
        parts = [task(_distinct_by_bucket)(part, n_buckets) for part in self._source]
        each = [
            task(_count_united)([task(getitem)(part, k) for part in parts])
            for k in range(n_buckets)
        ]
        return int(sum(dask.compute(*each)))

    def _parts(self, rewrites: tuple[Rewrite, ...]) -> Sequence[Part]:
        """The parts after the rewrites, which the workers keep for the next time."""
        done, parts = self._state
        if not starts_with(rewrites, done):
            done, parts = (), self._source
        ahead = delayed(rewrites[len(done) :], traverse=False)
        if len(done) < len(rewrites):
            parts = dask.persist(*(task(BitStore.after)(part, ahead) for part in parts))
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


def _summed(counts: Sequence[Part]) -> Any:
    return _tree(counts, task(_added)).compute()


def _tree(values: Sequence[Part], combine: Callable[[list[Part]], Part]) -> Part:
    """What the values combine to, a few of them at a time."""
    level = list(values)
    while len(level) > 1:
        level = [combine(level[k : k + _BRANCHES]) for k in range(0, len(level), _BRANCHES)]
    return level[0]


def _n_rows(part: BitStore) -> int:
    return part.n_rows


def _pair_counts(part: BitStore, dtype: type[np.signedinteger[Any]]) -> Counts:
    return part.joint_counts().astype(dtype, copy=False)


def _new_counts(
    part: BitStore, pairs: tuple[Positions, Positions], dtype: type[np.signedinteger[Any]]
) -> NewCounts:
    across, new = count_new(part, *pairs)
    return across.astype(dtype, copy=False), new.astype(dtype, copy=False)


def _count_null_rows(part: BitStore) -> int:
    return part.count_null_rows()


def _added(values: list[Any]) -> Any:
    if isinstance(values[0], tuple):
        return tuple(map(_added, map(list, zip(*values, strict=True))))
    return reduce(np.add, values)


def _distinct_by_bucket(part: BitStore, n_buckets: int) -> list[NDArray[np.uint64]]:
    rows = distinct_rows(part.packed_rows())
    bucket = bucket_of_rows(rows, n_buckets)
    return [rows[bucket == k] for k in range(n_buckets)]


def _count_united(rows: list[NDArray[np.uint64]]) -> int:
    return count_distinct(np.concatenate(rows))
