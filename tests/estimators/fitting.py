"""Fits that any process can run: ``python tests/estimators/fitting.py`` measures its memory.

Apart from the tests, for a process that pytest did not start cannot import these.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
from sklearn.base import clone

from conjunct import UFC, ClusteringTree, Fringe, Risk, UFCPath, UFringe
from conjunct.datasets import load_zoo

TABLE = load_zoo().values
CLASSES = TABLE.sum(axis=1) % 2
MODELS = {
    "UFC": UFC(0.2),
    "risk": UFC(Risk(alpha=0.001, test="exact", correction="holm"), max_iter=2),
    "pairwise": UFC("risk", search="pairwise", max_length=3),
    "evidence": UFC(),
    "bits": UFC("bits"),
    "UFCPath": UFCPath(max_iter=2),
    "UFringe": UFringe(max_features=30),
    "Fringe": Fringe(max_features=30),
    "ClusteringTree": ClusteringTree(max_depth=4),
}


def fitted(name):
    return clone(MODELS[name]).fit(TABLE, CLASSES)


def found(name):
    """What a fit finds and makes of the table, in a form that goes from process to process."""
    model = fitted(name)
    made = model.predict(TABLE) if name == "ClusteringTree" else model.transform(TABLE)
    texts = model.descriptions_ if name == "ClusteringTree" else model.features_
    return list(map(str, texts)), np.asarray(made).tobytes()


def resident():
    """Kilobytes in memory now (Linux)."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def main(after, n_fits):
    """Print the memory after some fits of each model, and after more."""
    for k in range(n_fits):
        for name in MODELS:
            found(name)
        if k + 1 in (after, n_fits):
            sys.stdout.write(f"{resident()}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
