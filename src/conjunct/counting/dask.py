"""Dask: count the parts of a data frame or an array on the workers of a cluster, or in threads.

The columns stay on the workers; only counts come back. The data of a worker depend only on its
source and the rewrites, so Dask can rebuild them if a worker is lost. Dask waits forever for paused
or lost workers; this module raises a one-line error instead.
Only this module uses Dask, and imports it when needed.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from itertools import pairwise
from math import inf
from multiprocessing import resource_tracker
from operator import attrgetter
from threading import current_thread, main_thread
from typing import Any, NamedTuple

import numpy as np

from conjunct.columns import (
    AnyRewrite,
    Columns,
    InBuckets,
    StorageKind,
    count_distinct_parts,
    even_edges,
    in_buckets,
)
from conjunct.counting.partitioned import (
    ENGINES,
    Engine,
    MakeParts,
    Partitions,
    ReadPart,
    Rewrites,
    describe_part,
    sum_counts,
)
from conjunct.errors import CellError, ClusterError, InputError
from conjunct.memory import available_bytes, byte_text

NOT_INSTALLED = "Dask is not installed: pip install 'dask[array,dataframe]' distributed"

_SECONDS_TO_CONNECT = 10
# interval of checks for progress of the workers, and how long they may stall
_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_OF_PATIENCE = 30.0
# bytes that a task needs in addition to the part that it reads
_LEAST_BYTES = 1 << 25
# packages whose versions must match on driver and workers, because features depend on them
_CHECKED = ("conjunct", "dask", "distributed", "narwhals", "numpy")
# modules that every worker loads eventually
_LOADED = ("conjunct.estimators", "polars")
# settings that turn off the monitoring of a cluster, which takes a tenth of a core or more
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}

Lazy = Any
"""A ``Delayed`` of a part, of some parts, or of their counts."""
Parts = tuple[Columns, ...]
"""The parts that one task counts together, because Dask needs milliseconds per task."""

# limit of the bytes sent with the tasks of a graph, and their approximate number per column
_WITH_TASKS = 1 << 20
_BYTES_A_COLUMN = 64
# number of parts whose counts a worker adds at once
_BRANCHES = 8
# Distinct rows are counted in tasks of about this many bytes, a small share of the workers' memory,
# and in buckets of about this many rows, which fit in the cache.
_DISTINCT_BYTES = 1 << 25
_DISTINCT_SHARE = 20
_BUCKET_ROWS = _MOST_BUCKETS = 1 << 12
_FINGERPRINT_BYTES = 16
# parts exist as read and as rewritten, and half of a worker's memory is for its tasks
_COPIES = 4
# lists of rows are faster, but may take at most this many times the bytes of bits
_LISTS = 8
# A worker counts its parts in one task per thread, or in more tasks if a task would exceed this
# size.
_TASK_BYTES = 1 << 28
# minimum memory for reading a part, as a multiple of its packed size, measured on Parquet files
_WHILE_READ = 5


class Dask(Engine):
    name = "dask"
    summary = "Dask data frames and arrays, counted by the workers"
    advice = "only fit and transform take a Dask collection: call .compute() first"

    def recognizes(self, data: Any) -> bool:
        return type(data).__module__.partition(".")[0] == "dask" and hasattr(data, "to_delayed")

    def head(self, data: Any) -> Any:
        if getattr(data, "ndim", 0) != 2:
            raise InputError(
                f"a Dask {type(data).__name__} has no columns: pass a Dask DataFrame or a "
                "two-dimensional Dask array"
            )
        if hasattr(data, "columns"):
            if not len(data.columns):
                raise InputError("the table has no columns (0 feature(s)): at least 1 is needed")
            return data._meta
        return np.empty((0, data.shape[1]), data.dtype)

    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, storage: StorageKind, n_jobs: int | None
    ) -> Partitions:
        rows, most_rows = data, 0
        if not hasattr(data, "columns"):
            # rechunk to all columns; usually the numbers of rows are known
            rows = data.rechunk({1: -1})
            most_rows = int(np.nan_to_num(max(rows.chunks[0])))
        parts = np.ravel(np.array(rows.to_delayed(), object)).tolist()
        make = with_value(_read_part, read, len(parts), n_columns)
        numbered = [make(k, part) for k, part in enumerate(parts)]
        return DaskPartitions(numbered, n_columns, storage, most_rows * n_columns // 8)

    def collect_columns(self, data: Any, positions: Sequence[int]) -> Any:
        import narwhals as nw

        parts = compute(data.iloc[:, list(positions)].to_delayed())
        return nw.concat([nw.from_native(part) for part in parts]).to_native()

    def from_tasks(
        self, tasks: MakeParts, n_columns: int, storage: StorageKind, part_bytes: int
    ) -> Partitions:
        return DaskPartitions([task(make)() for make in tasks], n_columns, storage, part_bytes)

    def connect(self, address: str | None, memory: int | None) -> AbstractContextManager[object]:
        return connect(address or "local", memory)

    def map_partitions(
        self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any
    ) -> Any:
        if hasattr(data, "columns"):
            return data.map_partitions(make, meta=make(data._meta))
        rows = data.rechunk({1: -1})
        chunks = rows.chunks[0], (n_columns,)
        # all blocks of an array have one type, with or without missing cells
        return rows.map_blocks(_make_as_type, make, dtype, chunks=chunks, dtype=dtype)


class DaskPartitions(Partitions):
    """Columns on the workers of Dask, or on its default scheduler without a cluster."""

    def __init__(
        self,
        parts: Sequence[Lazy],
        n_columns: int,
        storage: StorageKind = "auto",
        part_bytes: int = 0,
    ) -> None:
        """Hold parts on the workers.

        ``part_bytes`` is the packed size of the largest part, if known.
        """
        self.n_columns = n_columns
        client = active_client()
        # parts that do not fit in memory are read again from their source at each count
        self._keeps, self._memory = True, inf
        if client is not None:
            workers = check_workers(client, _WHILE_READ * part_bytes)
            self._memory = total_memory(workers)
            room = self._memory / _COPIES / len(parts)
            if not part_bytes or _LISTS * part_bytes > room:
                parts, part_bytes = _probe_sizes(parts)
                self._keeps = part_bytes <= room
        parts = self._hold(parts)
        groups = [[part] for part in parts]
        if client is not None and self._keeps:
            groups = _groups(client, parts, workers, part_bytes)
        source: Sequence[Lazy] = [task(_group)(*some) for some in groups]
        descriptions: Sequence[Lazy] = [*map(task(partial(_count_parts, describe_part)), source)]
        if self._keeps:
            # one request, not two
            both = persist([*source, *descriptions])
            source, descriptions = both[: len(groups)], both[len(groups) :]
        self._begin_with(source)
        seen = gather(descriptions) if self._keeps else compute(descriptions)
        self.n_rows, layouts = sum_counts(seen)
        if not self._choose_layout(layouts, storage, available_bytes()):
            change = task(partial(_map_parts, self.layout.of))
            self._begin_with(self._hold([*map(change, source)]))

    def total(self, rewrites: Rewrites, count: Callable[[Any], Any], n_columns: int) -> Any:
        """Count in each part after the rewrites, and add the counts on the workers."""
        parts, ahead = self._nearest(rewrites)
        if ahead:
            make = with_value(_after, ahead, len(parts), n_columns)
            # the workers keep them for the next count
            parts = self._hold([*map(make, parts)])
            self._latest = rewrites, parts
        level = [*map(with_value(_count_parts, count, len(parts), n_columns), parts)]
        add = task(sum_counts)
        while len(level) > 1:
            level = [add(level[k : k + _BRANCHES]) for k in range(0, len(level), _BRANCHES)]
        return compute(level)[0]

    def count_distinct_rows(self) -> int:
        return self._start_distinct_rows()()

    def begin_distinct_rows(self) -> Callable[[], int]:
        # parts that cannot stay in memory would have to stay until the next count
        return self._start_distinct_rows() if self._keeps else self.count_distinct_rows

    def _start_distinct_rows(self) -> Callable[[], int]:
        """Collect equal rows on one worker as 128-bit fingerprints, and count them."""
        n_tasks = 1 + _FINGERPRINT_BYTES * self.n_rows // _DISTINCT_BYTES
        n_buckets = max(n_tasks, min(_MOST_BUCKETS, 1 + self.n_rows // _BUCKET_ROWS))
        edges = even_edges(n_buckets, n_tasks)
        parts = persist([task(_fingerprints)(some, n_buckets) for some in self._source])
        at_once = int(max(1, min(n_tasks, self._memory / _DISTINCT_SHARE / _DISTINCT_BYTES)))

        def start_tasks(start: int) -> Sequence[Lazy]:
            some = pairwise(edges[start : start + at_once + 1])
            shares = ([task(_between)(part, a, b) for part in parts] for a, b in some)
            return persist([task(_count_distinct_parts)(share) for share in shares])

        first = start_tasks(0)

        def wait_for_count() -> int:
            later = (sum(gather(start_tasks(start))) for start in range(at_once, n_tasks, at_once))
            return int(sum(gather(first)) + sum(later))

        return wait_for_count

    def _hold(self, parts: Sequence[Lazy]) -> Sequence[Lazy]:
        return persist(parts) if self._keeps else parts


def task(value: object) -> Any:
    """Return a lazy value, or a lazy function, which is called on a worker."""
    try:
        from dask import delayed
    except ImportError:
        raise InputError(NOT_INSTALLED) from None
    return delayed(value, pure=False, traverse=False)


def with_value(
    function: Callable[..., Any], value: object, n_tasks: int, n_columns: int
) -> Callable[..., Lazy]:
    """Bind a value to a function for many tasks; the size of the value grows with the columns.

    A small value is sent with each task; a large one goes to one worker, and from there to the
    others. Dask does not inspect either, which would take longer than the task.
    """
    if n_tasks * n_columns * _BYTES_A_COLUMN <= _WITH_TASKS:
        return task(partial(function, value))  # type: ignore[no-any-return]
    return partial(task(function), task(value))


def _probe_sizes(parts: Sequence[Lazy]) -> tuple[Sequence[Lazy], int]:
    """Build some parts, which stay on their workers; return all parts and the largest size."""
    parts, some = [*parts], slice(None, None, max(1, len(parts) // 3))
    parts[some] = persist(parts[some])
    return parts, max(compute([*map(task(attrgetter("nbytes")), parts[some])]))


def _groups(
    client: Any, parts: Sequence[Lazy], workers: Sequence[Worker], part_bytes: int
) -> list[list[Lazy]]:
    """Wait for parts, and group parts of one worker that one task may count."""
    with _one_line_errors(client):
        futures = _wait(client, parts)
        held = client.who_has(futures)
    of_worker: dict[str, list[Lazy]] = {}
    for part, future in zip(parts, futures, strict=True):
        # a failed part is on no worker, and fails again when it is used
        of_worker.setdefault(min(held.get(future.key) or ("",)), []).append(part)
    threads = {worker.address: worker.n_threads for worker in workers}
    groups = []
    for address, its in of_worker.items():
        n_tasks = max(threads.get(address, 1), len(its) * part_bytes // _TASK_BYTES)
        groups += [its[a:b] for a, b in pairwise(even_edges(len(its), n_tasks)) if a < b]
    return groups


# These functions run on workers.


def _read_part(read: ReadPart, number: int, part: Any) -> Columns:
    try:
        return read(part)
    except CellError as error:
        raise InputError(f"partition {number}, {error}") from None


def _make_as_type(block: Any, make: Callable[[Any], Any], dtype: Any) -> Any:
    return make(block).astype(dtype)


def _group(*parts: Columns) -> Parts:
    return parts


def _map_parts(make: Callable[[Columns], Columns], parts: Parts) -> Parts:
    return tuple(map(make, parts))


def _after(rewrites: Sequence[AnyRewrite], parts: Parts) -> Parts:
    return tuple(part.after(rewrites) for part in parts)


def _count_parts(count: Callable[[Any], Any], parts: Parts) -> Any:
    return sum_counts(map(count, parts))


def _fingerprints(parts: Parts, n_buckets: int) -> list[InBuckets]:
    """Return the fingerprints of the distinct rows of each part."""
    return [in_buckets(part.row_words(), n_buckets) for part in parts]


def _between(parts: list[InBuckets], first: int, last: int) -> list[InBuckets]:
    """Return some of the buckets."""
    edges = [starts[first : last + 1] for _, starts in parts]
    return [(rows[k[0] : k[-1]], k - k[0]) for (rows, _), k in zip(parts, edges, strict=True)]


def _count_distinct_parts(shares: list[list[InBuckets]]) -> int:
    return count_distinct_parts([part for share in shares for part in share])


class Worker(NamedTuple):
    """The scheduler's data about a worker."""

    address: str
    n_threads: int
    memory: int
    """Memory limit in bytes, or 0 without a limit."""
    is_idle: bool
    """True if it is paused and does no work."""


@contextmanager
def connect(scheduler: str, memory: int | None = None) -> Iterator[Any]:
    """Connect to the cluster at an address, or with ``"local"`` start one on this machine.

    ``memory`` limits all workers of a local cluster together. Dask's log is off while connected,
    because it writes a hundred lines about a lost worker or an interrupt; conjunct writes one.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(NOT_INSTALLED) from None
    logging.disable(logging.CRITICAL)
    try:
        if scheduler == "local":
            room = available_bytes() if memory is None else memory
            with local_cluster(os.cpu_count() or 1, room) as client:
                yield client
            return
        try:
            client = Client(scheduler, timeout=_SECONDS_TO_CONNECT)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"no Dask scheduler answers at {scheduler}: {reason}") from None
        with client:
            yield client
    finally:
        gc.collect()  # deleting abandoned futures writes to the log
        logging.disable(logging.NOTSET)


@contextmanager
def local_cluster(n_workers: int, memory: int) -> Iterator[Any]:
    """Start workers on this machine with a total of ``memory`` bytes (0: no limit).

    They have no dashboard, no profiles and no monitoring.
    """
    import dask
    from distributed import Client, LocalCluster

    with _delay_signals(), dask.config.set(_UNWATCHED):
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory // n_workers,
            dashboard_address=None,
            # any free port, because Dask warns if another cluster uses the default port
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster)
    try:
        yield client
    finally:
        for half in (client, cluster):
            # after a lost worker, closing may fail
            with _delay_signals(), suppress(Exception):
                half.close()


@contextmanager
def _delay_signals() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM while a cluster starts or stops: half a cluster cannot close.

    Workers that start here never see Ctrl-C, which a terminal would also send to them.
    """
    if sys.platform == "win32" or current_thread() is not main_thread():
        yield
        return
    kept: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda n, _: kept.append(n)) for number in numbers}
    resource_tracker.ensure_running()  # it unblocks Ctrl-C when it starts
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number, handler in before.items():
            signal.signal(number, handler)
        if kept:
            signal.raise_signal(kept[0])


def active_client() -> Any | None:
    """Return the client that Dask uses, if it belongs to a cluster."""
    import dask

    return getattr(dask.base.get_scheduler(), "__self__", None)


def compute(values: Sequence[Any]) -> list[Any]:
    """Compute some ``Delayed``; raise if the cluster stalls."""
    return gather(persist(values))


def gather(values: Sequence[Any]) -> list[Any]:
    """Wait for persisted values and return them."""
    import dask

    client = active_client()
    if client is None:
        return [*dask.compute(*values)]
    with _one_line_errors(client):
        return list(client.gather(_wait(client, values)))


def _wait(client: Any, values: Sequence[Any]) -> list[Any]:
    """Wait while the workers make progress, and return the futures; raise if they stall."""
    from distributed import futures_of, wait

    futures, stuck_since = [futures_of(value)[0] for value in values], None
    while True:
        # read the result later, because it may be a TimeoutError of the task itself
        with suppress(TimeoutError):
            wait(futures, timeout=_SECONDS_BETWEEN_LOOKS)
        if all(future.done() for future in futures):
            return futures
        why = _explain_stall(client)
        now = time.monotonic()
        stuck_since = None if why is None else stuck_since or now
        if stuck_since is not None and now - stuck_since > _SECONDS_OF_PATIENCE:
            raise ClusterError(why)


def persist(values: Sequence[Any]) -> list[Any]:
    """Compute the values in the background, and keep them on the workers."""
    import dask

    with _one_line_errors(active_client()):
        return list(dask.persist(*values))


def check_workers(client: Any, needed: int = 0) -> list[Worker]:
    """Return the workers; refuse a cluster without workers, with other versions or small memory.

    ``needed`` is the memory of a task in bytes, if known.
    """
    import dask

    with _one_line_errors(client):
        workers = _workers(client)
        if all(worker.is_idle for worker in workers):
            # this ignores paused workers; the error below says how much memory they lack
            with suppress(TimeoutError):
                client.wait_for_workers(1, timeout=_SECONDS_TO_CONNECT)
            workers = _workers(client)
        if not workers:
            raise InputError(
                f"the Dask scheduler at {_address(client)} has no workers: start some first"
            )
        # a worker that has just died is still on the scheduler's list but does not answer
        found = client.run(_make_probe(), _CHECKED, _LOADED, on_error="ignore")
        workers = [worker for worker in workers if worker.address in found]
    check_versions({worker: versions for worker, (versions, _) in found.items()})
    # a worker pauses above this share of its memory
    share = dask.config.get("distributed.worker.memory.pause") or 1
    for worker in workers:
        taken = found[worker.address][1]
        least = int((taken + _LEAST_BYTES + needed) / share)
        least += -least % 10**7  # round up, because the amount in the message must be enough
        if worker.memory and worker.memory < least:
            raise InputError(
                f"worker {worker.address} may use {byte_text(worker.memory)} of memory, but Python "
                f"and its libraries already use {byte_text(taken)}: each worker needs at least "
                f"{byte_text(least)} ({byte_text(least * len(found))} for all "
                f"{len(found)} workers)"
            )
    return workers


def check_versions(found: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse workers with other versions of relevant packages."""
    here, _ = _make_probe()(_CHECKED, ())
    for worker, there in found.items():
        for name, wanted in here.items():
            if there[name] != wanted:
                raise InputError(
                    f"worker {worker} has {name} {there[name]}, but this session has {wanted}: "
                    f"install the same versions on all workers"
                )


def _make_probe() -> Callable[[Sequence[str], Sequence[str]], tuple[dict[str, str], int]]:
    """Return a function that reads a worker's versions and the memory of its Python.

    The function is sent with its code, because a worker may not have conjunct installed.
    """

    def probe(names: Sequence[str], loaded: Sequence[str]) -> tuple[dict[str, str], int]:
        import sys
        from contextlib import suppress
        from importlib import import_module
        from importlib.metadata import PackageNotFoundError, version

        versions = {"python": "{}.{}".format(*sys.version_info)}
        for name in names:
            try:
                versions[name] = version(name)
            except PackageNotFoundError:
                versions[name] = "none"
        for name in loaded:
            with suppress(ImportError):
                import_module(name)
        try:
            from conjunct.memory import resident_bytes
        except ImportError:
            return versions, 0
        return versions, resident_bytes()

    return probe


def total_memory(workers: Sequence[Worker]) -> float:
    """Return the memory of all workers, infinite if one has no limit."""
    return sum(worker.memory or inf for worker in workers)


def _explain_stall(client: Any) -> str | None:
    """Explain why the workers stall, if they do."""
    workers = _workers(client)
    if not workers:
        return f"the Dask scheduler at {_address(client)} has no workers left: start some"
    if all(worker.is_idle for worker in workers):
        first = workers[0]
        return (
            f"all {len(workers)} Dask workers are paused because their memory is full "
            f"({first.address} may use {byte_text(first.memory)}): allow them more memory, "
            "or use smaller partitions"
        )
    return None


def _workers(client: Any) -> list[Worker]:
    def look(dask_scheduler: Any) -> list[tuple[str, int, int, bool]]:
        return [
            (
                worker.address,
                worker.nthreads,
                worker.memory_limit,
                worker.status.name == "paused"
                and not worker.metrics.get("task_counts", {}).get("executing"),
            )
            for worker in dask_scheduler.workers.values()
        ]

    return [Worker(*found) for found in client.run_on_scheduler(look)]


@contextmanager
def _one_line_errors(client: Any | None) -> Iterator[None]:
    if client is None:
        yield
        return
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        n_lost = error.allowed_failures + 1
        raise ClusterError(
            f"the same task killed {n_lost} Dask {'worker' if n_lost == 1 else 'workers'}, the "
            f"last at {error.last_worker.address}, probably for lack of memory: allow workers "
            "more memory, or use smaller partitions"
        ) from None
    except (Exception, CancelledError) as error:
        if isinstance(error, CancelledError | CommClosedError) or client.status != "running":
            try:
                client.run_on_scheduler(int)
                lost = "a Dask worker was lost during a request"
            except (Exception, CancelledError):  # noqa: BLE001  any error means that there was no answer
                where = f"the Dask scheduler at {_address(client)}"
                lost = f"lost the connection to {where}: check that it runs"
            raise ClusterError(f"{lost}; start again: a fit with a checkpoint resumes") from None
        raise


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", None) or client._start_arg)


ENGINES.enter(Dask())
