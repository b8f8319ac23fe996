"""Fits of several files, with little memory, on a cluster, and after a kill."""

import os
import random
import subprocess
import sys
import time

import pytest
from distributed import LocalCluster

from conjunct import datasets
from conjunct.io.checkpoint import Checkpoint


@pytest.fixture
def halves(tmp_path):
    """A bundled table as it is, and in two files."""
    header, *rows = datasets.find("zoo").path.read_text().splitlines(keepends=True)
    files = {"zoo.csv": rows, "a.csv": rows[:40], "b.csv": rows[40:]}
    for name, some in files.items():
        (tmp_path / name).write_text(header + "".join(some))
    return ["a.csv", "b.csv"]


FIT = ["--threshold", "0.2", "--max-iter", "3", "--out"]


@pytest.fixture
def expected(call, halves, tmp_path):
    assert call("fit", "zoo.csv", *FIT, "model.json").code == 0
    return (tmp_path / "model.json").read_bytes()


def test_several_files_are_one_table(call, halves, expected, tmp_path):
    done = call("fit", *halves, *FIT, "apart.json", "--memory", "4GB")
    assert done.code == 0, done.err
    assert done.out.splitlines()[2:6] == [
        "files      2",
        "rows       101",
        "features   15",
        "counted    from disk",
    ]
    assert (tmp_path / "apart.json").read_bytes() == expected


def test_a_cluster_at_an_address(call, halves, expected, tmp_path):
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        done = call("fit", *halves, *FIT, "apart.json", "--scheduler", address)
    assert done.code == 0, done.err
    assert "counted    on Dask" in done.out
    assert (tmp_path / "apart.json").read_bytes() == expected


def test_a_cluster_on_this_machine(call, halves, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    done = call("fit", *halves, *FIT, "apart.json", "--scheduler", "local", "--memory", "1GB")
    assert done.code == 0, done.err
    assert (tmp_path / "apart.json").read_bytes() == expected


def test_the_checkpoint_goes_when_the_model_is_there(call, halves, expected, tmp_path, monkeypatch):
    written = []
    save = Checkpoint.save
    monkeypatch.setattr(
        Checkpoint, "save", lambda *of: save(*of) or written.append(of[0].path.exists())
    )
    done = call("fit", "zoo.csv", *FIT, "other.json", "--checkpoint", "run.json")
    assert done.code == 0, done.err
    assert written == [True] * 3
    assert not (tmp_path / "run.json").exists()
    assert (tmp_path / "other.json").read_bytes() == expected


def test_killed_at_random_points_it_resumes_to_the_same_model(call, tmp_path):
    data = datasets.find("coco_val2017").path
    fit = ["fit", data, "--search", "pairwise", "--max-iter", "60", "--max-length", "5", "--out"]
    assert call(*fit, "whole.json").code == 0
    run = [sys.executable, "-m", "conjunct", *map(str, fit)]
    checkpoint = tmp_path / "run.json"
    at = random.Random(0)
    for _ in range(2):
        started = subprocess.Popen(
            [*run, "killed.json", "--checkpoint", checkpoint.name],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and started.poll() is None:
            if checkpoint.exists() and checkpoint.stat().st_mtime_ns != before:
                time.sleep(at.uniform(0, 0.05))
                break
            time.sleep(0.001)
        started.kill()
        started.wait()
        # a quick machine may have been done
        (tmp_path / "killed.json").unlink(missing_ok=True)
    assert call(*fit, "killed.json", "--checkpoint", checkpoint.name).code == 0
    assert (tmp_path / "killed.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.csv", "--memory", "1MB"], "memory of 1 MB is too little"),
        (["a.csv", "--memory", "lots"], "--memory must be like 500MB or 2GiB; got 'lots'"),
        (["a.csv", "b.csv", "--out", "b.csv"], "b.csv is the data: name another file for the mod"),
        (["a.csv", "--checkpoint", "a.csv"], "a.csv is the data: name another file for the check"),
        (["a.csv", "--checkpoint", "m.json"], "m.json is the model: name another file for the ch"),
        (["a.csv", "none.csv"], "none.csv does not exist"),
        (["a.csv", "--scheduler", "nowhere:1"], "no Dask scheduler answers at nowhere:1"),
    ],
)
def test_bad_input_is_one_line(call, halves, words, message, monkeypatch):
    monkeypatch.setattr("conjunct.stores.dask._SECONDS_TO_CONNECT", 0.5)
    done = call("fit", "--out", "m.json", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"conjunct: error: {message}")
    assert done.err.count("\n") == 1
