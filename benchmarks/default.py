"""Whole runs of ``UFC().fit``, compared with one count of all pairs of the same data.

1. CPU time of a fit, the complete code included, divided by that of one product X'X: SciPy's of the
   sparse matrix or, where columns are kept packed, NumPy's of the float32 table. Memory is the peak
   minus the memory at the start, compared with the size of the data.
2. How the time grows with rows, columns, density and merges.
3. Other waiting times, each with a lower bound: reading, ``transform`` and similar calls, start-up.

Each point runs alone in a process, on one thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks._apart import Measurement, answer, measured_apart, peak_resident, resident, timed
from benchmarks._data import benchmark_set, zipf
from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.growth import exponent
from conjunct import UFC, BooleanData, Report
from conjunct.columns import SparseColumns
from conjunct.data import CellRules
from conjunct.files import read_boolean

SETS = ("retail", "delicious", "t10i4d100k", "accidents_15k", "nuswide81", "clicks", "flights")
BOUND, EXPONENT = 25, 1.1
SWEEPS: dict[str, list[tuple[int, int, float, int]]] = {
    "rows": [(n * 1000, 400, 0.02, 40) for n in (2, 20, 200, 2000)],
    "columns": [(200_000, m, 8 / m, 40) for m in (100, 1000, 10_000, 100_000)],
    "density": [(20_000, 2000, d / 10_000, 40) for d in (3, 10, 30, 100, 300)],
    "merges": [(50_000, 1000, 0.01, k) for k in (64, 128, 256, 512)],
}
"""Rows, columns, density, merges of each point."""
VARIED = {"rows": 0, "columns": 1, "density": 2, "merges": 3}


def main() -> int:
    missed, lines = 0, []
    for name in SETS:
        line = measured_apart("benchmarks.default", "fit", name)
        lines.append({"name": name, **line})
        n_rows, n_columns = line["shape"]
        print(
            f"{name}, {n_rows:,} × {n_columns:,}, {line['layout']}: {line['seconds']:.2f} s, of "
            f"which the merges {line['merging']:.2f} s; one count of all pairs "
            f"{line['floor']:.3f} s; {line['merges']:,} merges; {line['held'] / 1e6:,.0f} MB, the "
            f"data {line['data'] / 1e6:,.1f} MB; reading {line['reading']:.2f} s"
        )
        ratio = line["seconds"] / line["floor"]
        missed += report(f"{name}: a whole fit / one count", ratio, BOUND, at_least=False)
    sweeps = {}
    for name, points in SWEEPS.items():
        sweeps[name] = [
            {
                "size": float(point[VARIED[name]]),
                **measured_apart("benchmarks.default", "point", *point),
            }
            for point in points
        ]
        times = [line["seconds"] for line in sweeps[name]]
        print(f"{name}: " + ", ".join(f"{seconds:.3f} s" for seconds in times))
        slope = exponent([line["size"] for line in sweeps[name]], times)
        missed += report(f"exponent in {name}", slope, EXPONENT, at_least=False, unit="")
    waits = measured_apart("benchmarks.default", "waits")["waits"]
    for line in waits:
        print(f"{line['what']:<40} {line['seconds']:6.2f} s, {_floor(line)}")
    save("default", {"sets": lines, "sweeps": sweeps, "waits": waits})
    return missed


def _floor(line: Measurement) -> str:
    return f"{line['floor']} {line['floor seconds']:.2f} s" if "floor" in line else ""


def measure_fit(name: str) -> Measurement:
    """Measure one count of all pairs and one fit, in a process that does nothing else."""
    UFC().fit(zipf(500, 50, 8))  # imports are not what is measured
    reading = 0.0
    if name == "flights":
        words = flights()
        start = time.process_time()
        data: Any = BooleanData.from_data(words)
        reading = time.process_time() - start
        del words
    else:
        data = clicks() if name == "clicks" else benchmark_set(name)[1]
    columns = BooleanData.read(data, CellRules(), counts=True).columns
    is_sparse = isinstance(columns, SparseColumns)
    table = data if is_sparse else columns.to_dense().astype(np.float32)

    def count() -> Any:
        return table.T @ table

    floor = timed(count, repeat=3)["seconds"]
    table = None
    ends: list[float] = []
    model = UFC()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget what was held at most before
    before, start = resident(), time.process_time()
    found = timed(lambda: model.fit(data, callback=lambda _: ends.append(time.process_time())))
    return {
        "shape": [columns.n_rows, columns.n_columns],
        "layout": "sparse" if is_sparse else "packed",
        "reading": reading,
        "floor": floor,
        "merges": len(model.feature_set_.merges),
        "merging": ends[-1] - start,
        "held": max(0, peak_resident() - before),
        "data": columns.nbytes,
        **found,
    }


def clicks(n_rows: int = 36_000, n_columns: int = 17_000, seed: int = 0) -> Any:
    """Return visits: some pages, drawn by Zipf's law, and in one of 50 a session that recurs.

    Sessions have 2 to 300 pages of their own, and each is in 2 to 20 visits.
    """
    random = np.random.default_rng(seed)
    rows, columns = zipf(n_rows, n_columns, 6, seed).nonzero()
    of_rows, of_columns = [rows], [columns]
    lengths = np.minimum(300, 2 + random.pareto(1.0, 700) * 3).astype(int)
    for length in lengths:
        session = random.integers(n_columns // 4, n_columns, length)
        for row in random.integers(0, n_rows, random.integers(2, 21)):
            of_rows.append(np.full(length, row))
            of_columns.append(session)
    cells = np.concatenate(of_rows), np.concatenate(of_columns)
    ones = np.ones(len(cells[0]), np.int32)
    matrix = sp.coo_array((ones, cells), shape=(n_rows, n_columns)).tocsr()
    matrix.data[:] = 1
    return matrix


def flights(n_rows: int = 3_000_000, seed: int = 0) -> Any:
    """Return five columns of 12 words each, where each column depends on that before it."""
    import polars as pl

    random = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 13)
    drawn = random.choice(12, (n_rows, 5), p=shares / shares.sum())
    for k in range(1, 5):
        follows = random.random(n_rows) < 0.3
        drawn[follows, k] = (drawn[follows, k - 1] * 5 + k) % 12
    words = np.array([f"word {k}" for k in range(12)])
    return pl.DataFrame({f"column {k}": words[drawn[:, k]] for k in range(5)})


def measure_point(n_rows: int, n_columns: int, density: float, n_merges: int) -> Measurement:
    """Measure a fit with a number of merges; every second column depends on the one before it."""
    random = np.random.default_rng(0)
    drawn = random.poisson(n_rows * density, n_columns)
    rows = [random.integers(0, n_rows, n) for n in drawn]
    for k in range(1, n_columns, 2):
        half = len(rows[k]) // 2
        rows[k] = np.concatenate([rows[k][:half], rows[k - 1][: len(rows[k]) - half]])
    columns = np.repeat(np.arange(n_columns), [len(some) for some in rows])
    ones = np.ones(len(columns), np.int32)
    cells = np.concatenate(rows), columns
    table = sp.coo_array((ones, cells), shape=(n_rows, n_columns)).tocsr()
    table.data[:] = 1
    UFC().fit(zipf(500, 50, 8))
    model = UFC(max_iter=n_merges)
    found = timed(lambda: model.fit(table), repeat=3)
    return {"merges": len(model.feature_set_.merges), **found}


def measure_waits() -> list[Measurement]:
    """Return CPU seconds of waiting times of users, each with a lower bound of the same run."""
    _, data = benchmark_set("nuswide81")
    model = UFC().fit(data)
    many = data[np.arange(1_000_000) % data.shape[0]]
    some = many[:100_000]
    found: list[Measurement] = []

    def wait(what: str, run: Callable[[], object], floor: str, least: Callable[[], object]) -> None:
        seconds, beside = (timed(one, repeat=3)["seconds"] for one in (run, least))
        found.append({"what": what, "seconds": seconds, "floor": floor, "floor seconds": beside})

    made, texts = model.transform(many), model.chunks(many)
    copying = "copying the result"
    wait("read a million rows", lambda: BooleanData.read(many, CellRules()), "a copy", many.copy)
    wait("`transform` of a million rows", lambda: model.transform(many), copying, made.copy)
    wait(
        "`chunks` of a million rows",
        lambda: model.chunks(many),
        copying,
        lambda: [[*names] for names in texts],
    )
    one_count = "one count of all pairs", lambda: many.T @ many
    wait("`log_prob` of a million rows", lambda: model.log_prob(many), *one_count)
    of_some = "the scores alone, `X @ W`", lambda: some @ np.ones((data.shape[1],) * 2, np.float32)
    wait("`suggest` for 100,000 rows", lambda: model.suggest(some), *of_some)
    pages = "one count of all pairs", lambda: data.T @ data
    wait("`Report` of the rows of the fit", lambda: Report(model, data).html(), *pages)
    with TemporaryDirectory() as folder:
        found += _measure_files(Path(folder), model, many)
    return found


def _measure_files(folder: Path, model: UFC, many: Any) -> list[Measurement]:
    """Compare reading files with Polars, and start-up with the imports."""
    import polars as pl

    table, path = folder / "table", folder / "model.json"
    model.save(path)
    frame = pl.DataFrame(
        many.astype(bool).toarray(), schema=[f"tag {k}" for k in range(many.shape[1])]
    )
    frame.write_parquet(table.with_suffix(".parquet"))
    frame.cast(pl.UInt8).write_csv(table.with_suffix(".csv"))
    found = []
    for suffix, read in ((".parquet", pl.read_parquet), (".csv", pl.read_csv)):
        file = str(table.with_suffix(suffix))
        ours = timed(lambda file=file: read_boolean(file), repeat=3)["seconds"]
        theirs = timed(lambda file=file, read=read: read(file), repeat=3)["seconds"]
        what = f"read a million rows of `{suffix}`"
        beside = {"floor": f"`polars.{read.__name__}`", "floor seconds": theirs}
        found.append({"what": what, "seconds": ours, **beside})
    # each is part of the next
    stages = {
        "Python": ["-c", ""],
        "NumPy": ["-c", "import numpy"],
        "Polars": ["-c", "import numpy, polars"],
        "scikit-learn's base": ["-c", "import numpy, polars, sklearn.base"],
        "`import conjunct`": ["-c", "import numpy, polars, sklearn.base, conjunct"],
        "`from conjunct import UFC`": [
            "-c",
            "import numpy, polars, sklearn.base; from conjunct import UFC",
        ],
    }
    before = 0.0
    for what, code in stages.items():
        seconds = _time_python(code)
        beside = {"floor": "the line before", "floor seconds": before} if before else {}
        found.append({"what": f"start: {what}", "seconds": seconds, **beside})
        before = seconds
    shown = _time_python(["-m", "conjunct", "show", str(path)])
    bare = {"floor": "Python alone", "floor seconds": _time_python(stages["Python"])}
    return [*found, {"what": "`conjunct show` of the model", "seconds": shown, **bare}]


def _time_python(words: list[str]) -> float:
    """Return the CPU seconds of another process, the minimum of three runs."""
    found = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        user, system = (
            getattr(after, name) - getattr(before, name)
            for name in ("children_user", "children_system")
        )
        found.append(user + system)
    return min(found)


def _measure(what: str, *words: str) -> Measurement:
    warnings.simplefilter("ignore")
    if what == "fit":
        return measure_fit(*words)
    if what == "waits":
        return {"waits": measure_waits()}
    n_rows, n_columns, density, n_merges = words
    return measure_point(int(n_rows), int(n_columns), float(density), int(n_merges))


if __name__ == "__main__":
    answer(lambda: _measure(*sys.argv[1:]))
