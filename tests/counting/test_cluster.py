"""A cluster that cannot, or can no longer, do the work: one line, and never a wait without end."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from threading import Timer

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError

from conjunct import UFC, ClusterError, InputError
from conjunct.counting import dask as cluster

TABLE = pd.DataFrame(np.random.default_rng(0).random((200, 4)) < 0.4, columns=list("abcd"))
TABLE["e"] = TABLE["a"]


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS_TO_CONNECT", 0.5)
    monkeypatch.setattr(cluster, "_SECONDS_BETWEEN_LOOKS", 0.1)
    monkeypatch.setattr(cluster, "_SECONDS_OF_PATIENCE", 0.5)


def made(**options):
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"} | options
    return LocalCluster(**options)


def fit():
    UFC(max_iter=1).fit(dd.from_pandas(TABLE, npartitions=2))


@pytest.mark.usefixtures("impatient")
def test_without_workers():
    with made(n_workers=0) as alone, Client(alone) as client:
        line = f"the Dask scheduler at {client.scheduler.address} has no workers: start some first"
        with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
            fit()


def test_a_limit_below_what_a_worker_has_already():
    line = r"may use 150 MB of memory, but .*: each worker needs at least ([\d.]+) (MB|GB)"
    small = made(n_workers=1, memory_limit="150MB")
    with small, Client(small), pytest.raises(InputError, match=line) as found:
        fit()
    number, unit = re.search(line, str(found.value)).groups()
    needed = float(number) * {"MB": 1, "GB": 1000}[unit]
    with made(n_workers=1, memory_limit=f"{needed + 50:.0f}MB") as enough, Client(enough):
        fit()


def test_a_limit_below_what_a_part_takes():
    with made(n_workers=1, memory_limit="4GB") as small, Client(small) as client:
        cluster.check_workers(client, 10**8)
        with pytest.raises(InputError, match=r"each worker needs at least 1\d(\.\d)? GB"):
            cluster.check_workers(client, 10**10)


@pytest.mark.usefixtures("impatient")
def test_a_limit_that_pauses_a_worker_at_once():
    with made(n_workers=1, memory_limit="150MB") as small, Client(small) as client:
        while not all(worker.is_idle for worker in cluster._workers(client)):
            time.sleep(0.05)
        with pytest.raises(InputError, match="may use 150 MB of memory, but Python"):
            fit()


@pytest.mark.usefixtures("impatient")
def test_workers_that_are_all_paused():
    with (
        dask.config.set({"distributed.worker.memory.pause": 0.001}),
        made(n_workers=2, memory_limit="2GB") as full,
        Client(full) as client,
    ):
        while not all(worker.is_idle for worker in cluster._workers(client)):
            time.sleep(0.05)
        with pytest.raises(ClusterError, match="all 2 Dask workers are paused because"):
            cluster.compute([dask.delayed(sum)([1, 2])])


@pytest.mark.usefixtures("impatient")
def test_workers_that_are_all_gone():
    with made(n_workers=1) as left, Client(left) as client:
        left.scale(0)
        while cluster._workers(client):
            time.sleep(0.05)
        with pytest.raises(
            ClusterError, match=r"the Dask scheduler at .* has no workers left: start some"
        ):
            cluster.compute([dask.delayed(sum)([1, 2])])


@pytest.mark.usefixtures("impatient")
def test_slow_work_is_waited_for():
    with made(n_workers=1) as slow, Client(slow):
        assert cluster.compute([dask.delayed(lambda: time.sleep(1.5) or 7)()]) == [7]


def test_work_that_ends_just_after_a_look(monkeypatch):
    """It was waited for in vain, and is done when it is asked."""

    def late(futures, timeout):
        while not all(future.done() for future in futures):
            time.sleep(0.01)
        raise TimeoutError

    monkeypatch.setattr(distributed, "wait", late)
    with made(n_workers=1) as slow, Client(slow):
        assert cluster.compute([dask.delayed(sum)([3, 4])]) == [7]


@pytest.mark.parametrize("error", [TimeoutError("own"), OSError("own"), InputError("own")])
def test_errors_of_the_work_stay_what_they_are(error):
    def fail():
        raise error

    any_cluster = made(n_workers=1)
    with any_cluster, Client(any_cluster), pytest.raises(type(error), match="own"):
        cluster.compute([dask.delayed(fail)()])


def test_workers_made_here_do_not_watch_themselves():
    """Which would take a tenth of a core of what they share with the driver."""
    with cluster.connect("local", 4 * 10**9) as client:
        told = client.run(dask.config.get, "distributed.worker.profile.enabled")
        assert set(told.values()) == {False}
        told = client.run(dask.config.get, "distributed.admin.tick.interval")
        assert set(told.values()) == {"1s"}
    assert dask.config.get("distributed.worker.profile.enabled")


def test_work_that_kills_its_workers():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        made(n_workers=1, processes=True, silence_logs=50) as deadly,
        Client(deadly),
        pytest.raises(ClusterError, match="the same task killed 1 Dask worker, the last at"),
    ):
        cluster.compute([dask.delayed(os.kill)(dask.delayed(os.getpid)(), signal.SIGKILL)])


SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker
async def run():
    async with Scheduler(port=0, dashboard_address=":0") as s, Worker(s.address, nthreads=1):
        print(s.address, flush=True)
        await s.finished()
asyncio.run(run())
"""


def test_a_scheduler_that_is_lost():
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        address = process.stdout.readline().decode().strip()
        with Client(address, timeout=1):
            Timer(0.5, process.kill).start()
            with pytest.raises(
                ClusterError, match=f"^lost the connection to the Dask scheduler at {address}"
            ):
                cluster.compute([dask.delayed(time.sleep)(30)])


def test_a_worker_that_has_just_died_is_left_out(monkeypatch):
    with made(n_workers=2) as two, Client(two) as client:
        dead = min(client.scheduler_info()["workers"])
        run = Client.run

        def run_without(self, function, *args, on_error="raise", **more):
            """Answer as the scheduler does that still lists a dead worker."""
            if on_error != "ignore":
                raise CommClosedError(f"{dead} does not answer")
            return {k: v for k, v in run(self, function, *args, **more).items() if k != dead}

        monkeypatch.setattr(Client, "run", run_without)
        assert dead not in [worker.address for worker in cluster.check_workers(client)]
        fit()


def test_a_scheduler_that_answers_is_not_called_lost():
    with (
        made(n_workers=1) as one,
        Client(one) as client,
        pytest.raises(ClusterError, match="a Dask worker was lost during a request"),
        cluster._one_line_errors(client),
    ):
        raise CommClosedError("the other end is gone")


def test_a_second_cluster_on_this_machine_warns_of_no_port():
    with contextlib.ExitStack() as stack:
        holder = stack.enter_context(socket.socket())
        with contextlib.suppress(OSError):  # then another cluster holds it already
            holder.bind(("", 8787))
            holder.listen()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
        client = stack.enter_context(cluster.local_cluster(1, 0))
        assert client.submit(int, "7").result() == 7
