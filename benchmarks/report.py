"""A report of coco_val2017 (4,952 rows, 80 columns): seconds to write it, and its size."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

from benchmarks._measure import best_time, report
from conjunct import UFC, Report, UFCPath, datasets


def main() -> int:
    coco = datasets.load_coco_val2017()
    table = pl.DataFrame(coco.values, schema=list(coco.feature_names))
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        for model in (UFC(), UFC("risk"), UFCPath(prune=True)):
            model.fit(table)
            # a new report each time: one that exists has its page already
            seconds = best_time(lambda model=model: Report(model, table).save(page), repeat=2)
            name = str(model)
            missed += report(f"{name}: to write", seconds, 10, at_least=False, unit="s")
            size = page.stat().st_size / 1e6
            missed += report(f"{name}: size", size, 3, at_least=False, unit="MB")
    return missed
