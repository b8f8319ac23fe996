"""The real command in a process of its own, and what must hold however it ends."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Place:
    """A folder with data and a model in it, in which commands are run."""

    def __init__(self, folder):
        self.folder = folder

    def start(self, *words, env=(), **options):
        environment = {k: v for k, v in (os.environ | dict(env)).items() if v is not None}
        streams = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "conjunct", *map(str, words)],
            cwd=self.folder,
            env=environment,
            **(streams | options),
        )

    def end(self, process):
        out, err = (stream or b"" for stream in process.communicate(timeout=200))
        return Done(process.returncode, out.decode("utf-8", "replace"), err.decode())

    def run(self, *words, **options):
        return self.end(self.start(*words, **options))

    def files(self):
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Data of some size and a model of it, made once."""
    folder = tmp_path_factory.mktemp("fitted")
    rng = np.random.default_rng(0)
    table = rng.random((20_000, 40)) < 0.2
    table[:, 1::2] |= table[:, ::2] & (rng.random((20_000, 1)) < 0.7)
    frame = pl.DataFrame(table.astype(np.uint8), schema=[f"c{k:02}" for k in range(40)])
    frame.write_csv(folder / "data.csv")
    place = Place(folder)
    assert place.run("fit", "data.csv", "--max-iter", 2, "--out", "model.json").code == 0
    return place.files()


@pytest.fixture
def place(fitted, tmp_path):
    for name, content in fitted.items():
        (tmp_path / name).write_bytes(content)
    return Place(tmp_path)


def one_error(done, code=1):
    """One line of error, the exit code, and no traceback."""
    assert done.code == code, done
    others = ("conjunct: note:", "conjunct: still working:")
    lines = [x for x in done.err.splitlines() if not x.startswith(others)]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("conjunct: error: ")
    return lines[0]


def wait_for_main(process):
    """Wait until the command has taken charge of its signals."""
    terminate = 1 << 14  # SIGTERM, the 15th bit of the mask of caught signals
    for _ in range(6000):
        with Path(f"/proc/{process.pid}/status").open() as status:
            caught = next(int(x.split()[1], 16) for x in status if x.startswith("SigCgt"))
        if caught & terminate:
            return
        time.sleep(0.005)
    raise AssertionError("the command never began")
