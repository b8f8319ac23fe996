"""The cluster of Dask: to connect to it, to wait for it, and to notice that it does not go on.

Dask waits for ever for workers that are paused or gone. What waits here says so, in one line.
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
from contextlib import contextmanager, suppress
from functools import cache
from math import inf
from multiprocessing import resource_tracker
from threading import current_thread, main_thread
from typing import Any, NamedTuple

from conjunct.errors import ClusterError, InputError
from conjunct.memory import available_bytes, byte_text

NOT_INSTALLED = "Dask is not installed: pip install 'dask[array,dataframe]' distributed"

_SECONDS_TO_CONNECT = 10
# How often to look whether the workers go on, and how long they may not.
_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_OF_PATIENCE = 30.0
# What a task needs beside the part it reads.
_LEAST_BYTES = 1 << 25
# What must be alike on driver and workers for the same features, or for being understood at all.
_CHECKED = ("conjunct", "dask", "distributed", "narwhals", "numpy")
# What a worker loads sooner or later, and has in memory then.
_LOADED = ("conjunct.estimators", "polars")
# Fifty times a second, each part of a cluster looks whether it still answers, and each worker
# a hundred times at what it does: that takes a tenth of a core or more.
_UNWATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}


class Worker(NamedTuple):
    """What the scheduler knows of a worker."""

    address: str
    n_threads: int
    memory: int
    """Bytes that it may take, 0 if there is no limit."""
    is_idle: bool
    """Whether it is paused, and does nothing."""


@contextmanager
def connected(scheduler: str, memory: int | None = None) -> Iterator[Any]:
    """A client of the cluster at an address, or (``"local"``) of one made on this machine.

    ``memory`` is for all workers of the latter together. Dask says nothing meanwhile: what it
    would say of a lost worker or an interrupt is a hundred lines, and one of conjunct's.
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
        gc.collect()  # what was given up complains when it goes
        logging.disable(logging.NOTSET)


@contextmanager
def local_cluster(n_workers: int, memory: int) -> Iterator[Any]:
    """A client of some workers on this machine, which may take so many bytes together (0: any).

    Nobody looks at them: they have no dashboard, make no profiles and do not watch themselves.
    """
    import dask
    from distributed import Client, LocalCluster

    with _undisturbed(), dask.config.set(_UNWATCHED):
        cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory // n_workers,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster)
    try:
        yield client
    finally:
        for half in (client, cluster):
            # that it cannot be closed in good order is no news after what was lost
            with _undisturbed(), suppress(Exception):
                half.close()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM until a cluster is there, or gone: half of one cannot be closed.

    Workers that are started here never see Ctrl-C, which a terminal sends to them too.
    """
    if sys.platform == "win32" or current_thread() is not main_thread():
        yield
        return
    kept: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda n, _: kept.append(n)) for number in numbers}
    resource_tracker.ensure_running()  # which unblocks Ctrl-C where it starts
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
    """The client that Dask works with, if it is one of a cluster."""
    import dask

    return getattr(dask.base.get_scheduler(), "__self__", None)


def computed(values: Sequence[Any]) -> list[Any]:
    """What some ``Delayed`` are in the end; an error where the cluster does not get there."""
    return gathered(persisted(values))


def gathered(values: Sequence[Any]) -> list[Any]:
    """What persisted values are, once they are there."""
    import dask

    client = active_client()
    if client is None:
        return [*dask.compute(*values)]
    with _one_line_errors(client):
        futures = _futures(values)
        _wait(client, futures)
        found: list[Any] = client.gather(futures)
        return found


def holders(client: Any, values: Sequence[Any]) -> list[str]:
    """The worker that has each of some persisted values, once they are there."""
    with _one_line_errors(client):
        futures = _futures(values)
        _wait(client, futures)
        held = client.who_has(futures)
    # what failed is nowhere, and fails again where it is used
    return [min(held.get(future.key) or ("",)) for future in futures]


def _futures(values: Sequence[Any]) -> list[Any]:
    from distributed import futures_of

    return [futures_of(value)[0] for value in values]


def _wait(client: Any, futures: Sequence[Any]) -> None:
    """Wait for as long as the workers go on."""
    from distributed import wait

    stuck_since = None
    while True:
        # apart from the result, which may be a TimeoutError of the work itself
        with suppress(TimeoutError):
            wait(futures, timeout=_SECONDS_BETWEEN_LOOKS)
        if all(future.done() for future in futures):
            return
        why = _what_holds_up(client)
        now = time.monotonic()
        stuck_since = None if why is None else stuck_since or now
        if stuck_since is not None and now - stuck_since > _SECONDS_OF_PATIENCE:
            raise ClusterError(why)


def persisted(values: Sequence[Any]) -> Sequence[Any]:
    """The same values, which Dask computes meanwhile and keeps."""
    import dask

    with _one_line_errors(active_client()):
        kept: Sequence[Any] = dask.persist(*values)
        return kept


def checked_workers(client: Any, needed: int = 0) -> list[Worker]:
    """The workers; refuse a cluster without any, or with other versions, or too little memory.

    ``needed`` are the bytes that a task takes, as far as that is known.
    """
    with _one_line_errors(client):
        workers = _workers(client)
        if all(worker.is_idle for worker in workers):
            # those that are paused are not waited for, and what they lack is told below
            with suppress(TimeoutError):
                client.wait_for_workers(1, timeout=_SECONDS_TO_CONNECT)
            workers = _workers(client)
        if not workers:
            raise InputError(
                f"the Dask scheduler at {_address(client)} has no workers: start some first"
            )
        found = client.run(_looking(), _CHECKED, _LOADED)
    check_versions({worker: versions for worker, (versions, _) in found.items()})
    _check_room(workers, {worker: resident for worker, (_, resident) in found.items()}, needed)
    return workers


def check_versions(found: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse workers with other versions of what counts here."""
    for worker, there in found.items():
        for name, wanted in _versions_here().items():
            if there[name] != wanted:
                raise InputError(
                    f"worker {worker} has {name} {there[name]}, and this session {wanted}: "
                    f"install the same versions on all workers"
                )


@cache
def _versions_here() -> dict[str, str]:
    versions, _ = _looking()(_CHECKED, ())
    return versions


def _looking() -> Callable[[Sequence[str], Sequence[str]], tuple[dict[str, str], int]]:
    """What tells the versions of a worker, and the bytes of Python and its libraries there.

    It is sent as it is, for a worker may not even have conjunct.
    """

    def look(names: Sequence[str], loaded: Sequence[str]) -> tuple[dict[str, str], int]:
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

    return look


def memory_of(workers: Sequence[Worker]) -> float:
    """Bytes of all workers, without end where they have no limit."""
    return sum(worker.memory or inf for worker in workers)


def _check_room(workers: Sequence[Worker], taken: Mapping[str, int], needed: int) -> None:
    """Refuse workers whose memory is too little for what they have already and a task."""
    import dask

    # beyond this share of its memory, a worker pauses
    share = dask.config.get("distributed.worker.memory.pause") or 1
    for worker in workers:
        least = int((taken.get(worker.address, 0) + _LEAST_BYTES + needed) / share)
        least += -least % 10**7  # what is said must do
        if worker.memory and worker.memory < least:
            raise InputError(
                f"worker {worker.address} may take {byte_text(worker.memory)} of memory, of which "
                f"Python and its libraries have {byte_text(taken.get(worker.address, 0))}: each "
                f"worker needs {byte_text(least)} or more ({byte_text(least * len(taken))} for all "
                f"{len(taken)} workers)"
            )


def _what_holds_up(client: Any) -> str | None:
    """Why nothing goes on, if nothing does."""
    workers = _workers(client)
    if not workers:
        return f"no worker of the Dask scheduler at {_address(client)} is left: start some"
    if all(worker.is_idle for worker in workers):
        first = workers[0]
        return (
            f"all {len(workers)} workers of Dask are paused, since their memory is full "
            f"({first.address} may take {byte_text(first.memory)}): allow them more, or make "
            "smaller partitions"
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
        raise ClusterError(
            f"workers of Dask died of the same work {error.allowed_failures + 1} times, the last "
            f"at {error.last_worker.address}, most likely for lack of memory: allow them more, or "
            "make smaller partitions"
        ) from None
    except (Exception, CancelledError) as error:
        if isinstance(error, CancelledError | CommClosedError) or client.status != "running":
            raise ClusterError(
                f"the Dask scheduler at {_address(client)} was lost: see that it runs, and start "
                "again; a fit with a checkpoint goes on where it was"
            ) from None
        raise


def _address(client: Any) -> str:
    return str(getattr(client.scheduler, "address", None) or client._start_arg)
