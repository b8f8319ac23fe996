"""Compare groups of rows with known classes and other clusterers, and measure time and memory.

1. NMI and ARI with the classes of labelled sets: ``RowGroups`` with chunks and with columns inside
   the groups, k-means and k-modes with the number of classes given, and stepmix (latent classes,
   the number by BIC).
2. Planted groups of sparse rows: time and memory as rows, columns and groups grow, up to
   1,000,000 × 500; each fit alone in a process.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from benchmarks._apart import Measurement, answer, measured_apart, timed
from benchmarks._measure import report
from benchmarks._results import save
from conjunct import RowGroups, datasets

MOST_CLASSES = 15
"""The numbers of latent classes that stepmix tries end here."""
SIZES = [
    (10_000, 500, 10),
    (100_000, 500, 10),
    (1_000_000, 500, 10),
    (100_000, 2000, 10),
    (100_000, 500, 40),
]
LARGEST_SECONDS = 300


def main() -> int:
    warnings.simplefilter("ignore")
    lines, missed = [], 0
    for name, (table, classes) in labelled_sets().items():
        found = {way: agree(fit, table, classes) for way, fit in WAYS.items() if can_run(way)}
        print(f"{name}, {len(table):,} × {table.shape[1]}, {len(set(classes))} classes")
        for way, line in found.items():
            print(
                f"  {way:<18} NMI {line['nmi']:.2f}  ARI {line['ari']:.2f}  {line['groups']:3d} "
                f"groups  {line['seconds']:6.2f} s",
                flush=True,
            )
        lines.append({"name": name, "shape": list(table.shape), "ways": found})
        if name == "digits":
            nmi = found["groups, columns"]["nmi"]
            missed += report("digits: NMI", nmi, 0.68, at_least=True, unit="")
    growth = []
    for size in SIZES:
        line = measured_apart("benchmarks.groups", *size)
        growth.append(line)
        rows, columns, groups = size
        print(
            f"{rows:>9,} × {columns:>5,}, {groups} planted: {line['groups']} found, ARI "
            f"{line['ari']:.3f}, {line['seconds']:6.1f} s, {line['resident'] / 1e6:,.0f} MB",
            flush=True,
        )
        if rows == 1_000_000:
            missed += report(
                "1,000,000 × 500 sparse", line["seconds"], LARGEST_SECONDS, at_least=False, unit="s"
            )
    save("groups", {"sets": lines, "growth": growth})
    return missed


def labelled_sets() -> dict[str, tuple[Any, list[Any]]]:
    """Return Boolean tables with classes that no method sees."""
    zoo, votes, digits = datasets.load_zoo(), datasets.load_house_votes_84(), load_digits()
    return {
        "zoo": (zoo.values, list(zoo.rows["type"])),
        "house_votes_84": (votes.values, list(votes.rows["party"])),
        "digits": (digits.data > 7, digits.target.tolist()),
    }


def agree(fit: Callable[[Any, int], Any], table: Any, classes: list[Any]) -> Measurement:
    """Return the agreement of the groups with the classes, and the CPU seconds of the fit."""
    start = time.process_time()
    labels = fit(table, len(set(classes)))
    return {
        "seconds": time.process_time() - start,
        "groups": len(set(labels.tolist())),
        "nmi": float(normalized_mutual_info_score(classes, labels)),
        "ari": float(adjusted_rand_score(classes, labels)),
    }


def by_k_modes(table: Any, number: int) -> Any:
    from kmodes.kmodes import KModes

    return KModes(number, random_state=0, n_init=3).fit_predict(table.astype(int))


def by_stepmix(table: Any, number: int) -> Any:
    from stepmix import StepMix

    cells = table.astype(int)
    models = [
        StepMix(k, measurement="binary", random_state=0, n_init=3, progress_bar=0).fit(cells)
        for k in range(1, MOST_CLASSES + 1)
    ]
    return min(models, key=lambda model: model.bic(cells)).predict(cells)


WAYS: dict[str, Callable[[Any, int], Any]] = {
    "groups, chunks": lambda table, number: RowGroups().fit(table).labels_,
    "groups, columns": lambda table, number: RowGroups(within="columns").fit(table).labels_,
    "k-means": lambda table, number: KMeans(number, n_init=10, random_state=0).fit_predict(table),
    "k-modes": by_k_modes,
    "stepmix": by_stepmix,
}


def can_run(way: str) -> bool:
    needs = {"k-modes": "kmodes", "stepmix": "stepmix"}
    return way not in needs or importlib.util.find_spec(needs[way]) is not None


def plant(n_rows: int, n_columns: int, n_groups: int) -> tuple[Any, Any]:
    """Return sparse rows of up to 10 tags; each group has its own popular tags."""
    random = np.random.default_rng(0)
    shares = np.cumsum(1 / np.arange(1, n_columns + 1))
    labels = random.integers(0, n_groups, n_rows)
    orders = np.array([random.permutation(n_columns) for _ in range(n_groups)])
    ranks = np.searchsorted(shares, random.random((n_rows, 10)) * shares[-1])
    tags = orders[labels[:, None], ranks]
    rows = np.repeat(np.arange(n_rows), 10)
    cells = sp.csr_array((np.ones(10 * n_rows), (rows, tags.ravel())), shape=(n_rows, n_columns))
    cells.sum_duplicates()
    cells.data[:] = 1
    return cells, labels


def alone(n_rows: int, n_columns: int, n_groups: int) -> Measurement:
    """Measure one fit, in a process that does nothing else."""
    warnings.simplefilter("ignore")
    RowGroups(within="columns").fit(plant(500, 30, 2)[0])  # imports are not what is measured
    cells, labels = plant(n_rows, n_columns, n_groups)
    model = RowGroups(within="columns")
    found = timed(lambda: model.fit(cells))
    return {
        "size": [n_rows, n_columns, n_groups],
        "groups": model.n_groups_,
        "ari": float(adjusted_rand_score(labels, model.labels_)),
        "seconds": found["seconds"],
        "resident": found["resident"],
    }


if __name__ == "__main__":
    answer(lambda: alone(*map(int, sys.argv[1:])))
