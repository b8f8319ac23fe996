"""Processor time of a whole ``conjunct fit`` on 447 × 37, beside a bare ``import sklearn.base``.

Each runs once before, and Python keeps the compiled modules, as ``pip install`` leaves them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from benchmarks._measure import report

_RUNS = 7


def _processor_time(words: list[str], compiled: str) -> float:
    """User and system seconds of one process."""
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
    before = os.times()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, env=settings)
    after = os.times()
    return (
        after.children_user
        - before.children_user
        + (after.children_system - before.children_system)
    )


def main() -> int:
    data = str(files("conjunct.datasets") / "data" / "coco_street.csv")
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "model.json")
        runs = {
            "conjunct fit": ["-m", "conjunct", "fit", data, "--out", out],
            "conjunct --help": ["-m", "conjunct", "--help"],
            "import sklearn.base, polars": ["-c", "import sklearn.base, polars"],
        }
        # in turn, so that a busy moment of the machine falls on all of them
        _, *taken = [
            {name: _processor_time(words, folder) for name, words in runs.items()}
            for _ in range(1 + _RUNS)
        ]
    best = {name: min(times[name] for times in taken) for name in runs}
    for name, seconds in best.items():
        print(f"{name:<30} {seconds:5.2f} s of processor time, the least of {_RUNS} runs")
    fit, bare = best["conjunct fit"], best["import sklearn.base, polars"]
    missed = report("conjunct fit of 447 × 37", fit, 1.0, at_least=False, unit="s")
    return missed + report("the same, of importing its libraries", fit / bare, 0.8, at_least=False)
