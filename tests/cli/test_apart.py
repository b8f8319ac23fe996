"""Fits of several files, with little memory, on a cluster, and after a kill."""

import json
import os
import subprocess
import sys

import pytest
from distributed import LocalCluster

from conjunct import datasets
from conjunct.files.checkpoint import Checkpoint


@pytest.fixture
def halves(tmp_path):
    """A bundled table as it is, and in two files."""
    header, *rows = datasets.find("zoo").path.read_text().splitlines(keepends=True)
    files = {"zoo.csv": rows, "a.csv": rows[:40], "b.csv": rows[40:]}
    for name, some in files.items():
        (tmp_path / name).write_text(header + "".join(some))
    return ["a.csv", "b.csv"]


FIT = ["--criterion", "0.2", "--max-iter", "3", "--out"]


@pytest.fixture
def expected(call, halves, tmp_path):
    assert call("fit", "zoo.csv", *FIT, "model.json").code == 0
    return (tmp_path / "model.json").read_bytes()


def test_several_files_are_one_table(call, halves, expected, tmp_path):
    done = call("fit", *halves, *FIT, "apart.json", "--memory", "4GB")
    assert done.code == 0, done.err
    data = ["files     2", "rows      101", "columns   15", "counted   from disk"]
    assert "\n".join(data) in done.out
    assert (tmp_path / "apart.json").read_bytes() == expected


def test_a_cluster_at_an_address(call, halves, expected, tmp_path):
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        done = call("fit", *halves, *FIT, "apart.json", "--scheduler", address)
    assert done.code == 0, done.err
    assert "counted   on Dask" in done.out
    assert (tmp_path / "apart.json").read_bytes() == expected


def test_a_cluster_on_this_machine(call, halves, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    done = call("fit", *halves, *FIT, "apart.json", "--scheduler", "local", "--memory", "1GB")
    assert done.code == 0, done.err
    assert (tmp_path / "apart.json").read_bytes() == expected


def test_the_checkpoint_goes_when_the_model_is_there(call, halves, expected, tmp_path, monkeypatch):
    written = []
    save = Checkpoint.save

    def save_and_look(checkpoint, *of, **how):
        save(checkpoint, *of, **how)
        written.append(checkpoint.path.exists())

    monkeypatch.setattr(Checkpoint, "save", save_and_look)
    done = call("fit", "zoo.csv", *FIT, "other.json", "--checkpoint", "run.json")
    assert done.code == 0, done.err
    # after the last step, if not after each
    assert written
    assert all(written)
    assert not (tmp_path / "run.json").exists()
    assert (tmp_path / "other.json").read_bytes() == expected


STANDING_STILL = """
import sys, time
from conjunct.cli import main
from conjunct.files import checkpoint

at, written = int(sys.argv.pop(1)), []

def stand_still():
    sys.stdout.write("here\\n")
    sys.stdout.flush()
    time.sleep(100)

def half_a_file(path, fill):
    def half(part):
        fill(part)
        part.write_bytes(part.read_bytes()[:100])
        stand_still()
    whole_file(path, half)

def half_a_line(path, line, length):
    whole_line(path, line[:20], length)

def slowly(whole, half):
    def write(*of):
        written.append(of)
        if len(written) == at:
            # an even number: in the middle of writing; an odd one: just after it
            (whole if at % 2 else half)(*of)
            stand_still()
        whole(*of)
    return write

whole_file, whole_line = checkpoint.write_atomically, checkpoint._append
checkpoint.write_atomically = slowly(whole_file, half_a_file)
checkpoint._append = slowly(whole_line, half_a_line)
# after every step, however quick
checkpoint._SHARE = 0
sys.exit(main())
"""


@pytest.mark.parametrize("moments", [(2,), pytest.param((2, 1, 4), marks=pytest.mark.slow)])
def test_killed_at_any_point_it_resumes_to_the_same_model(moments, call, tmp_path):
    """While it writes a checkpoint, and after it has; its first one and later ones."""
    data = datasets.find("zoo").path
    fit = ["fit", data, "--search", "pairwise", "--max-iter", "12", "--max-length", "5", "--out"]
    assert call(*fit, "whole.json").code == 0
    words = [*map(str, fit), "killed.json", "--checkpoint", "run.json"]
    checkpoint, kept = tmp_path / "run.json", []
    for at in moments:
        run = [sys.executable, "-c", STANDING_STILL, str(at), *words]
        with subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE) as started:
            assert started.stdout.readline() == b"here\n"
            started.kill()
        assert not (tmp_path / "killed.json").exists()
        _, *lines, _ = checkpoint.read_bytes().split(b"\n")
        kept.append(sum(len(json.loads(line)["iterations"]) for line in lines))
    # each went on from where the one before it was killed
    assert kept == [1, 2, 5][: len(moments)]
    assert call(*fit, "killed.json", "--checkpoint", "run.json").code == 0
    assert (tmp_path / "killed.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.json", "whole.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.csv", "--memory", "1MB"], "memory of 1 MB is too little"),
        (["a.csv", "--memory", "lots"], "--memory must be a size such as 500MB or 2GiB; got"),
        (
            ["a.csv", "b.csv", "--out", "b.csv"],
            "b.csv is the data: choose another file for the mod",
        ),
        (
            ["a.csv", "--checkpoint", "a.csv"],
            "a.csv is the data: choose another file for the check",
        ),
        (
            ["a.csv", "--checkpoint", "m.json"],
            "m.json is the model: choose another file for the ch",
        ),
        (["a.csv", "none.csv"], "none.csv does not exist"),
        (["a.csv", "--scheduler", "nowhere:1"], "no Dask scheduler answers at nowhere:1"),
    ],
)
def test_bad_input_is_one_line(call, halves, words, message, monkeypatch):
    monkeypatch.setattr("conjunct.counting.dask._SECONDS_TO_CONNECT", 0.5)
    done = call("fit", "--out", "m.json", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"conjunct: error: {message}")
    assert done.err.count("\n") == 1
