"""Compare representations on data sets by many measures (docs/learning.md).

``python -m benchmarks quality`` takes less than half an hour on two cores. Each cell (a
representation on a set) is stored when it is measured, so an interrupted run continues; all cells
together become ``benchmarks/results/quality/found.json``. SLIM runs in a separate environment,
which is installed once (``_slim``).
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import sha256
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import conjunct
from benchmarks import _results, _slim
from benchmarks._apart import ONE_THREAD
from benchmarks.quality import measures, recovery, sets
from benchmarks.quality.representations import REPRESENTATIONS
from benchmarks.quality.summary import summarised
from benchmarks.quality.targets import N_ROWS, check

RESULTS = _results.FOLDER / "quality"
N_PROCESSES = 2
FIRST_PARTS = {
    "mushroom": ("Naive Bayes", "tree", "k-means"),
    "house_votes_84": ("Naive Bayes", "k-means"),
    "digits": ("Naive Bayes", "logistic"),
}
FIRST = ("columns", "uFCα", "uFCα + columns", "uFCα, max_length=4")
FIRST += ("bits", "evidence", "evidence + columns", "evidence, max_length=4")
"""Beside the first measurements, on all rows."""


GROWING = ("digits", "mushroom", "led", "coco_val2017")
GROWING_BY = ("columns", "evidence", "evidence + columns")
GROWING_PARTS = ("bits", "Naive Bayes", "logistic", "ChunkClassifier")
"""How many rows it takes."""


class Cell(NamedTuple):
    """A cell, which is measured at once: ``part`` is "sets", "rows", "first" or "planted"."""

    part: str
    on: str
    by: str

    def measured(self) -> Any:
        if self.part == "planted":
            return recovery.measured(self.on, self.by)
        if self.part == "sets":
            data = sets.sampled(self.on)
            return data and measures.measured(data, self.by)
        name, _, n_rows = self.on.partition(", ")
        data = sets.whole(name)
        if data is None:
            return None
        if self.part == "rows":
            data, parts = data.sampled(int(n_rows)), GROWING_PARTS
        else:
            parts = FIRST_PARTS[name]
        return measures.measured(data, self.by, parts=parts, n_samples=0)


def cells() -> Iterator[Cell]:
    """Return all cells, including those of absent sets."""
    for by in REPRESENTATIONS:
        yield from (Cell("sets", name, by) for name in sets.SETS)
    for name, n_rows in product(GROWING, N_ROWS):
        yield from (Cell("rows", f"{name}, {n_rows}", by) for by in GROWING_BY)
    for name in FIRST_PARTS:
        yield from (Cell("first", name, by) for by in FIRST)
    for kind in recovery.KINDS:
        yield from (Cell("planted", kind, method) for method in recovery.METHODS)


def main() -> int:
    in_one_go = not _folder().exists()
    start, found = time.perf_counter(), measured(list(cells()), _folder())
    clock = time.perf_counter() - start
    parts: dict[str, dict[str, Any]] = {}
    for cell, what in found.items():
        parts.setdefault(cell.part, {}).setdefault(cell.on, {})[cell.by] = what["found"]
    run: dict[str, Any] = {part: summarised(part, what) for part, what in parts.items()}
    run |= {"shapes": _shapes(), "seconds": sum(what["seconds"] for what in found.values())}
    run |= {"clock": clock} if in_one_go else {}
    RESULTS.mkdir(parents=True, exist_ok=True)
    _results.save(f"{RESULTS.name}/found", run)
    shutil.rmtree(_folder())
    print(f"{len(found)} cells, {clock:,.0f} s for those measured now")
    return check(run)


def measured(wanted: list[Cell], folder: Path) -> dict[Cell, Any]:
    """Return each cell, from the folder or measured now and stored there."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {cell: folder / f"{'--'.join(cell)}.json" for cell in wanted}
    missing = [cell for cell in wanted if not files[cell].exists()]
    print(f"{len(missing)} of {len(wanted)} cells to be measured", flush=True)
    os.environ.update(ONE_THREAD)  # before the libraries start in the processes
    if missing:
        _slim.environment()  # once, not in each process
    with ProcessPoolExecutor(N_PROCESSES, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(_timed, cell): cell for cell in missing}
        for done in as_completed(running):
            if (error := done.exception()) is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                raise error
            cell, what = running[done], done.result()
            part = files[cell].with_suffix(".part")
            part.write_text(json.dumps(what), encoding="utf-8")
            part.replace(files[cell])
            absent = "" if what["found"] is not None else ", not here"
            print(f"{' · '.join(cell)}: {what['seconds']:.1f} s{absent}", flush=True)
    return {cell: json.loads(files[cell].read_text(encoding="utf-8")) for cell in wanted}


def _timed(cell: Cell) -> dict[str, Any]:
    start = time.process_time()
    found = cell.measured()
    return {"found": found, "seconds": time.process_time() - start}


def _shapes() -> dict[str, list[int]]:
    """Return rows, columns and classes of the available sets."""
    here = {name: data for name in sets.SETS if (data := sets.sampled(name)) is not None}
    return {name: [*data.table().shape, int(data.classes.max()) + 1] for name, data in here.items()}


def _folder() -> Path:
    """Return a name that changes with the measures and with the library."""
    here = Path(__file__).parent
    names = ("sets", "planted", "itemsets", "representations", "measures", "recovery")
    read = [here / f"{name}.py" for name in names]
    read += sorted(Path(conjunct.__file__).parent.rglob("*.py"))
    text = b"".join(file.read_bytes() for file in read)
    return RESULTS / f"cells-{conjunct.__version__}-{sha256(text).hexdigest()[:8]}"
