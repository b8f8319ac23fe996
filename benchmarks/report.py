"""What ``conjunct show`` and a report cost: seconds, memory and size, on few features and on many.

Of coco_val2017 (4,952 rows, 80 columns), a report of each kind of model. Of 20,000 features on tags
that come in pairs (Zipf's law), the two commands, each alone in a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks._data import zipf
from benchmarks._measure import best_time, report
from conjunct import UFC, Report, UFCPath, datasets

_COMMAND = """
import sys, time
from benchmarks._apart import peak_resident
from conjunct.cli import main
if main():
    sys.exit("the command failed")
sys.stderr.write(f"{time.process_time()} {peak_resident()}")
"""
_ROWS, _TAGS, _MERGES = 30_000, 19_000, 4_000


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return _few_features(Path(folder)) + _many_features(Path(folder))


def _few_features(folder: Path) -> int:
    coco = datasets.load_coco_val2017()
    table = pl.DataFrame(coco.values, schema=list(coco.feature_names))
    page = folder / "report.html"
    missed = 0
    for model in (UFC(), UFC("risk"), UFCPath(prune=True)):
        model.fit(table)
        # a new report each time: one that exists has its page already
        seconds = best_time(lambda model=model: Report(model, table).save(page), repeat=2)
        name = str(model)
        most_seconds, most_megabytes = (2, 0.9) if model.has_tag_names else (10, 3)
        missed += report(f"{name}: to write", seconds, most_seconds, at_least=False, unit="s")
        size = page.stat().st_size / 1e6
        missed += report(f"{name}: size", size, most_megabytes, at_least=False, unit="MB")
    return missed


def _many_features(folder: Path) -> int:
    baskets = _baskets()
    data, model, page = folder / "tags.dat", folder / "model.json", folder / "tags.html"
    data.write_text("".join(" ".join(tags) + "\n" for tags in baskets))
    fitted = UFC(max_iter=_MERGES).fit(baskets)
    fitted.save(model)
    n = len(fitted.features_)
    missed = report("features of a big model", n, 20_000, at_least=True, unit="")
    commands = {
        "show": ["show", str(model)],
        "report": ["report", str(model), str(data), "--out", str(page)],
    }
    for name, words in commands.items():
        _run(words, folder)  # it leaves its modules compiled, as an installed program has them
        seconds, memory = _run(words, folder)
        what = f"conjunct {name} of {n:,} features"
        missed += report(f"{what}: processor", seconds, 3, at_least=False, unit="s")
        missed += report(f"{what}: memory", memory, 500, at_least=False, unit="MB")
    size = page.stat().st_size / 1e6
    return missed + report("its page: size", size, 3, at_least=False, unit="MB")


def _baskets() -> list[list[str]]:
    """Rows of tags: with tag 2k, in half of the rows, tag 2k + 1, and the other way round."""
    drawn = zipf(_ROWS, _TAGS, 9).tocoo()
    joined = np.random.default_rng(0).random(drawn.nnz) < 0.5
    baskets: list[set[int]] = [set() for _ in range(_ROWS)]
    for row, tag, both in zip(drawn.row.tolist(), drawn.col.tolist(), joined, strict=True):
        baskets[row].update((tag, tag ^ 1) if both else (tag,))
    return [[f"tag{tag}" for tag in sorted(tags)] for tags in baskets]


def _run(words: list[str], compiled: Path) -> tuple[float, float]:
    """Processor seconds of one command, and the most MB that it had in memory."""
    settings = {"PYTHONPYCACHEPREFIX": str(compiled / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, *words],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | settings,
    )
    seconds, n_bytes = done.stderr.split()[-2:]
    return float(seconds), int(n_bytes) / 1e6
