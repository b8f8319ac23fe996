"""Count how often the default finds chunks in independent columns: at most 5% of the tables.

Tables of independent variables, a column for each value, are drawn too.
"""

from __future__ import annotations

import time
import warnings
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.false_construction import Rate
from conjunct import UFC

ROWS, COLUMNS, DENSITIES = (50, 200, 1000), (10, 30, 100), (0.05, 0.2, 0.5)
SHAPES = ((50, 10), (200, 4), (200, 10), (1000, 4), (1000, 10), (1000, 30))
"""Rows and variables of one-hot tables."""
MOST_VALUES = 6
RUNS = 200
BOUND = 0.05

Table = NDArray[np.bool_]


def main() -> int:
    warnings.simplefilter("ignore")
    cells, start = [], time.perf_counter()
    for n_rows, n_columns, density in product(ROWS, COLUMNS, DENSITIES):
        hits = sum(
            makes_something(
                independent(n_rows, n_columns, density, [n_rows, n_columns, int(1000 * density), k])
            )
            for k in range(RUNS)
        )
        cells.append({"shape": [n_rows, n_columns], "density": density, "hits": hits})
        print(f"{n_rows:5} × {n_columns:3}, density {density:4}: {hits} of {RUNS}", flush=True)
    total = Rate(sum(cell["hits"] for cell in cells), RUNS * len(cells))
    print(f"{len(cells)} × {RUNS} tables in {time.perf_counter() - start:.0f} s")
    save("chance", {"runs": RUNS, "cells": cells, "hits": total.hits, "interval": total.interval})
    missed = report("share of all tables", 100 * total.value, 100 * BOUND, at_least=False, unit="%")
    # 200 tables of a share of 5% may well give 15: a cell is judged by what it surely exceeds
    worst = Rate(max(cell["hits"] for cell in cells), RUNS)
    return missed + report(
        "the worst cell, lower end of its 95% interval",
        100 * worst.interval[0],
        100 * BOUND,
        at_least=False,
        unit="%",
    )


def makes_something(table: Table) -> bool:
    """Return True if the default joins anything."""
    return UFC(max_iter=1).fit(table).n_iter_ > 0


def independent(n_rows: int, n_columns: int, density: float, seed: list[int]) -> Table:
    """Draw independent columns of one density."""
    return np.random.default_rng(seed).random((n_rows, n_columns)) < density


def one_hot(n_rows: int, n_variables: int, seed: list[int]) -> Table:
    """Draw independent variables of two values or more, with a column for each value."""
    random = np.random.default_rng(seed)
    parts = []
    for n_values in random.integers(2, MOST_VALUES + 1, n_variables):
        values = random.choice(n_values, n_rows, p=random.dirichlet(np.ones(n_values)))
        parts.append(values[:, None] == np.arange(n_values))
    return np.hstack(parts)
