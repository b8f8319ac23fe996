"""Provide data for measurements: generated, or public sets that are not part of conjunct."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

FOLDER = Path(
    os.environ.get(
        "CONJUNCT_BENCH_DATA",
        Path(__file__).resolve().parents[2] / "shared" / "data" / "bench",
    )
)
"""Where FIMI's ``retail.dat.gz`` and the like are looked for."""


def zipf(n_rows: int, n_columns: int, n_tags: int, seed: int = 0) -> Any:
    """Return rows of ``n_tags`` draws with replacement; tag k has a weight of 1/k."""
    random = np.random.default_rng(seed)
    shares = np.cumsum(1 / np.arange(1, n_columns + 1))
    drawn = np.searchsorted(shares, random.random(n_rows * n_tags) * shares[-1])
    rows = np.repeat(np.arange(n_rows, dtype=np.int32), n_tags)
    ones = np.ones(len(rows), np.int32)
    matrix = sp.csr_array((ones, (rows, drawn.astype(np.int32))), shape=(n_rows, n_columns))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def transactions(name: str) -> Any | None:
    """Return a file of transactions as a sparse matrix of ones, or ``None`` if it is absent."""
    path = FOLDER / f"{name}.dat.gz"
    if not path.exists():
        return None
    items: dict[str, int] = {}
    columns: list[int] = []
    starts = [0]
    with gzip.open(path, "rt") as lines:
        for line in lines:
            columns += {items.setdefault(item, len(items)) for item in line.split()}
            starts.append(len(columns))
    ones = np.ones(len(columns), np.int32)
    cells = (ones, np.array(columns, np.int32), np.array(starts, np.int32))
    matrix = sp.csr_array(cells, shape=(len(starts) - 1, len(items)))
    matrix.sort_indices()
    return matrix


_SHAPES = {
    "nuswide81": (209_347, 81, 2),
    "accidents_15k": (15_224, 319, 34),
    "delicious": (16_105, 983, 19),
    "t10i4d100k": (100_000, 870, 10),
    "retail": (88_162, 16_470, 11),
    "ticTacToe": (958, 29, 10),
    "pima": (768, 38, 9),
    "led": (3_200, 16, 8),
    "flare": (1_389, 32, 11),
    "dermatology": (366, 45, 13),
    "mushroom_uci": (8_124, 110, 17),
}
"""Rows, columns and ones a row."""


def benchmark_set(name: str) -> tuple[str, Any]:
    """Return a public set of transactions, or generated data of its shape, and its name."""
    found = transactions(name)
    if found is not None:
        return name, found
    print(f"{name}.dat.gz is not in {FOLDER.name}: generated data of its shape instead")
    return f"as {name}, generated", zipf(*_SHAPES[name])


def named_set(name: str) -> tuple[str, Any]:
    """Return a set as a Boolean data frame whose columns have the names of the source.

    One of the LUCS sets, UCI's mushrooms without their class, or a bundled set (spect without its
    empty rows). A missing cell is not a tag.
    """
    import pandas as pd
    import polars as pl

    from conjunct import Binarizer, datasets

    if name in {dataset.name for dataset in datasets.DATASETS}:
        data = datasets.load(name)
        table = data.values[data.values.any(axis=1)] if name == "spect" else data.values
        return name, pd.DataFrame(table, columns=list(data.feature_names))
    file = FOLDER.parent / "mushroom_uci.csv"
    if name == "mushroom_uci" and file.exists():
        made = Binarizer().fit_transform(pl.read_csv(file).drop("class")).fill_null(False)
        return name, pd.DataFrame(made.to_numpy().astype(bool), columns=made.columns)
    file = FOLDER / "lucs" / f"{name}.dat.gz"
    if file.exists():
        with gzip.open(file, "rt") as lines:
            rows = [set(map(int, line.split())) for line in lines]
        items = sorted(set().union(*rows))
        cells = np.array([[item in row for item in items] for row in rows])
        return name, pd.DataFrame(cells, columns=list(map(str, items)))
    print(f"{name} is not in {FOLDER.name}: generated data of its shape instead")
    made = zipf(*_SHAPES[name]).astype(bool).toarray()
    return f"as {name}, generated", pd.DataFrame(made, columns=list(map(str, range(made.shape[1]))))


def correlated(n_rows: int, n_columns: int, density: float, seed: int = 0) -> Any:
    """Return columns of ``density`` as a sparse matrix; every tenth often equals its neighbour."""
    random = np.random.default_rng(seed)
    columns = []
    for k in range(n_columns):
        drawn = random.random(random.binomial(n_rows, density)) * n_rows
        rows = np.unique(drawn.astype(np.int32))
        if k % 10 == 1:
            half = columns[-1][::2]
            rows = np.union1d(half, random.permutation(rows)[len(half) :])
        columns.append(rows)
    starts = np.cumsum([0, *map(len, columns)], dtype=np.int32)
    ones = np.ones(starts[-1], np.int32)
    cells = (ones, np.concatenate(columns), starts)
    return sp.csc_array(cells, shape=(n_rows, n_columns)).tocsr()
