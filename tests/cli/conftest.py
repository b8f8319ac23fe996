"""Running commands: in a process of their own, or in this one."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from conjunct import UFC, Report, datasets
from conjunct.cli.app import run as run_app
from conjunct.files import read_boolean
from conjunct.paper import experiments


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Run ``conjunct ...`` as a person would: another process, in an empty folder, 80 columns."""
    monkeypatch.chdir(tmp_path)

    def run(*words, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "conjunct", *map(str, words)],
            env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"} | environment,
            capture_output=True,
            timeout=120,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run a command in this process, which is quicker; same folder, same width."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    # a busy machine takes long, and must say no more than a quick one
    monkeypatch.setattr("conjunct.cli.terminal.SECONDS_BETWEEN_LINES", 600.0)

    def run(*words):
        capsys.readouterr()
        code = run_app([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """``zoo.csv``, as ``datasets`` writes it, and its model, as ``fit`` writes it."""
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "zoo.csv").write_bytes(datasets.find("zoo").path.read_bytes())
    UFC().fit(read_boolean(folder / "zoo.csv")).save(folder / "model.json")
    return folder


@pytest.fixture
def zoo_files(made_once, tmp_path):
    """The folder of a test, with a table and its model in it."""
    return shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def blank_pages(monkeypatch):
    """Reports without content, for what is said and where; test_report.py reads whole ones."""
    monkeypatch.setattr(Report, "_html", "<!doctype html>")


@pytest.fixture
def few_experiments(monkeypatch):
    """``reproduce`` makes two of its experiments; it says and writes the same about each."""
    monkeypatch.setattr(experiments, "EXPERIMENTS", experiments.EXPERIMENTS[:1])
