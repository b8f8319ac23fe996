"""Clustering trees against scikit-learn's regression tree on all columns; uFRINGE as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from benchmarks._measure import best_time, report
from conjunct import ClusteringTree, UFringe, datasets

N_ROWS, N_COLUMNS, MAX_DEPTH = 20_000, 200, 8


@dataclass(frozen=True)
class Case:
    name: str
    table: NDArray[np.bool_]


def cases() -> list[Case]:
    rng = np.random.default_rng(0)
    free = rng.random((N_ROWS, N_COLUMNS)) < rng.random(N_COLUMNS) / 2
    topics = rng.random((8, N_COLUMNS)) ** 4
    tags = rng.random((N_ROWS, N_COLUMNS)) < topics[rng.integers(0, 8, N_ROWS)]
    return [Case("independent columns", free), Case("eight topics", tags)]


def main() -> int:
    missed = 0
    print(f"{N_ROWS:,} × {N_COLUMNS} Boolean, depth {MAX_DEPTH}, one thread")
    for case in cases():
        ours = ClusteringTree(max_depth=MAX_DEPTH)
        peer = DecisionTreeRegressor(criterion="squared_error", max_depth=MAX_DEPTH, random_state=0)
        floats = case.table.astype(np.float32)  # what scikit-learn would convert to
        ours.fit(case.table[:100])  # imports and first calls are not what is measured
        quick = best_time(partial(ours.fit, case.table), repeat=5)
        slow = best_time(partial(peer.fit, floats, floats), repeat=2)
        print(
            f"{case.name}: ClusteringTree.fit {quick:.3f} s with {ours.n_leaves_} leaves, "
            f"DecisionTreeRegressor.fit(X, X) {slow:.3f} s with {peer.get_n_leaves()}"
        )
        what = f"DecisionTreeRegressor / ClusteringTree, {case.name}"
        missed += report(what, slow / quick, 10, at_least=True)
    _whole_run()
    return missed


def _whole_run() -> None:
    coco = datasets.load_coco_val2017()
    for drop_redundant in (False, True):
        model = UFringe(drop_redundant=drop_redundant)
        seconds = best_time(partial(model.fit, coco.values))
        line = model.history_[-1]
        rows, columns = coco.values.shape
        print(
            f"UFringe(drop_redundant={drop_redundant}) on coco_val2017, {rows:,} × {columns}: "
            f"{seconds:.2f} s, {model.n_iter_} iterations, {line.n_features} features, "
            f"length {line.length:.2f}, OI {line.oi:.3f}, C0 {line.c0:.3f}"
        )
