"""``search="batch"``: what rounds of merges cost in bits of unseen rows, and which time they save.

Where a pass is expensive, as on a cluster, one pass joins all pairs that are the best pair of both
their columns and have at least half of the evidence of the best one. Here, this share is also 0 and
90%. Training and test rows are those of ``python -m benchmarks evidence``.

Then one set is fitted from a file on disk and on the workers of a local Dask cluster, one merge at
a time and in rounds. ``--passes`` runs only this part.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any
from unittest.mock import patch

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import Measurement
from benchmarks._data import FOLDER
from benchmarks._results import save
from benchmarks.evidence import DENSITY, load, read_density, split
from conjunct import UFC, files
from conjunct.counting import DaskPartitions, DiskPartitions, connect
from conjunct.ufc import search

SETS = (
    *("spect", "zoo", "ticTacToe", "pima", "led", "flare", "dermatology", "nursery"),
    *("coco_street", "coco_val2017"),
)
SHARES = (0.0, 0.5, 0.9)
"""Pairs with less than this share of the best pair's evidence wait for a later round."""
BOUND = 0.005
"""What unseen rows may take more, as a share, for an option to be worth its code."""

PASSES_SET, N_PARTS = "accidents_15k", 4
"""The set that is fitted from parts, and their number."""

Table = NDArray[np.bool_]


def fit_in_rounds(table: Table, share: float) -> tuple[UFC, int]:
    """Return a model whose merges were made in rounds, and the number of passes."""
    passes = []

    class Counted(search.Rounds):
        def _next(self) -> Any:
            found = super()._next()
            passes.extend(found[:1])
            return found

    with patch.object(search, "LEAST_SHARE", share), patch.object(search, "Rounds", Counted):
        return UFC(search="batch").fit(table), len(passes)


def main(passes: bool = False) -> int:
    warnings.simplefilter("ignore")
    return save_passes() if passes else save_bits() + save_passes()


def save_bits() -> int:
    sets = {name: partial(_splits, name) for name in SETS}
    sets |= {name: partial(_density_split, name) for name in DENSITY}
    lines = []
    for name, splits in sets.items():
        found = [_compare(train, test) for train, test in splits()]
        if not found:
            print(f"{name} is not here")
            continue
        line = {what: float(np.mean([each[what] for each in found])) for what in found[0]}
        lines.append({"name": name, **line})
        said = ", ".join(
            f"rounds of {share:.0%}: {line[f'more {share}']:+.2%} in {line[f'passes {share}']:.0f} "
            f"passes ({line[f'merges {share}']:.0f} merges)"
            for share in SHARES
        )
        print(f"{name}, one at a time {line['merges']:.0f} merges; {said}", flush=True)
    for share in SHARES:
        more = [line[f"more {share}"] for line in lines]
        n_over = sum(one > BOUND for one in more)
        print(
            f"rounds of {share:.0%}: unseen rows take {np.mean(more):+.2%} on average, "
            f"{max(more):+.2%} at most; more than {BOUND:.1%} on {n_over} of {len(more)} sets"
        )
    save("rounds", {"shares": list(SHARES), "sets": lines})
    return 0


def save_passes() -> int:
    """Fit one set from parts, one merge at a time and in rounds."""
    path = FOLDER / f"{PASSES_SET}.dat.gz"
    if not path.exists():
        print(f"{PASSES_SET} is not here")
        return 0
    table = files.read_boolean(path)
    rows = table.columns.to_dense()
    runs = []
    for engine in ("disk", "dask"):
        for way in ("pairwise", "batch"):
            with connect("local") if engine == "dask" else nullcontext():
                chunks = -(-len(rows) // N_PARTS), rows.shape[1]
                data = files.stream(path) if engine == "disk" else da.from_array(rows, chunks)
                runs.append({"engine": engine, "search": way, **_count_passes(data, way)})
            print(runs[-1], flush=True)
    save("round_passes", {"set": PASSES_SET, "shape": [*table.shape], "runs": runs})
    return 0


def _count_passes(data: Any, way: Any) -> Measurement:
    """Return the merges, passes and seconds of a fit, and the bits that a row then takes."""
    n_passes = 0

    def counted(total: Callable[..., Any]) -> Callable[..., Any]:
        def count(self: Any, *what: Any) -> Any:
            nonlocal n_passes
            n_passes += 1
            return total(self, *what)

        return count

    with (
        patch.object(DiskPartitions, "total", counted(DiskPartitions.total)),
        patch.object(DaskPartitions, "total", counted(DaskPartitions.total)),
    ):
        start = time.perf_counter()
        model = UFC(search=way).fit(data)
        seconds = time.perf_counter() - start
    return {
        "merges": len(model.feature_set_.merges),
        "passes": n_passes,
        "seconds": seconds,
        "bits": model.description_length_ / model.feature_set_.n_rows,
    }


def _splits(name: str) -> list[tuple[Table, Table]]:
    table = load(name)
    return [] if table is None else list(split(table))


def _density_split(name: str) -> list[tuple[Table, Table]]:
    if not (FOLDER / "density" / f"{name}.train.data.gz").exists():
        return []
    return [(read_density(name, "train"), read_density(name, "test"))]


def _compare(train: Table, test: Table) -> Measurement:
    """Return what unseen rows take more in rounds than one at a time, as a share."""
    one = UFC().fit(train)
    bits = -float(one.log_prob(test).sum())
    line: Measurement = {"merges": len(one.feature_set_.merges)}
    for share in SHARES:
        model, n_passes = fit_in_rounds(train, share)
        line |= {
            f"more {share}": -float(model.log_prob(test).sum()) / bits - 1,
            f"passes {share}": n_passes,
            f"merges {share}": len(model.feature_set_.merges),
        }
    return line
