"""A run that goes on from its checkpoint: it makes and counts the last stage only."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks._apart import timed
from benchmarks._measure import report
from conjunct import UFC

N_ROWS, N_COLUMNS, N_TAGS, MERGES = 200_000, 2_000, 12, 169


def main() -> int:
    data = _tags()
    with tempfile.TemporaryDirectory() as folder:
        model, file = UFC(max_iter=MERGES), Path(folder) / "run.json"
        first = timed(lambda: model.fit(data, checkpoint=file))["seconds"]
        features = model.features_
        again = timed(lambda: model.fit(data, checkpoint=file))["seconds"]
    same = model.features_ == features
    print(
        f"{N_ROWS:,} × {N_COLUMNS:,}, {model.n_iter_} merges: {first:.1f} s, resumed {again:.1f} s"
    )
    return (not same) + report("resumed / first", again / first, 1, at_least=False)


def _tags() -> sp.csr_array:
    """Tags as common as words are, of which some go together."""
    random = np.random.default_rng(0)
    rows = [np.repeat(np.arange(N_ROWS), N_TAGS)]
    tags = [random.zipf(1.3, len(rows[0])) % N_COLUMNS]
    for pair in range(300, 640, 2):
        together = random.choice(N_ROWS, 400, replace=False)
        rows += [together, together]
        tags += [np.full(400, pair), np.full(400, pair + 1)]
    cells = np.concatenate(rows), np.concatenate(tags)
    ones = np.ones(len(cells[0]), np.int32)
    return sp.csr_array((ones, cells), shape=(N_ROWS, N_COLUMNS)).astype(bool)
