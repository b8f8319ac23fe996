"""How much of a planted vocabulary each method finds, exactly, with how much noise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.quality import itemsets, representations
from benchmarks.quality.itemsets import Itemset, Table
from benchmarks.quality.planted import planted, recovered

KINDS = ("disjoint", "overlapping")
NOISE = (0.0, 0.02, 0.05, 0.1)
N_TABLES = 5
LEAST = 0.02
"""A set must be in this share of rows to be frequent."""


def _constructed(name: str) -> Callable[[Table], Any]:
    def found(table: Table) -> list[Itemset] | None:
        fit = representations.fitted(name, table, 1.0)
        return None if fit is None else [feature.tags for feature in fit.features]

    return found


def _frequent(table: Table) -> list[Itemset]:
    """As many as there are columns, those that cover most cells."""
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth

    found = fpgrowth(pd.DataFrame(table), min_support=LEAST)["itemsets"]
    several = [frozenset(itemset) for itemset in found if len(itemset) > 1]
    return by_cells(several, table)[: table.shape[1]]


METHODS: dict[str, Callable[[Table], Any]] = {
    "bits": _constructed("bits"),
    "uFCα": _constructed("uFCα"),
    "uFC*": _constructed("uFC*"),
    "fpgrowth, most rows": _constructed("itemsets + columns"),
    "fpgrowth, most cells": _frequent,
    "factors": _constructed("factors"),
    "SLIM": _constructed("SLIM"),
}


def measured(kind: str, method: str, n_tables: int = N_TABLES) -> list[dict[str, float]] | None:
    """A line for each noise and table; ``None`` where the method cannot be had."""
    lines = []
    for noise in NOISE:
        for seed in range(n_tables):
            made = planted(kind, noise, seed)
            start = time.process_time()
            found = METHODS[method](made.table)
            if found is None:
                return None
            seconds = time.process_time() - start
            told = recovered(by_cells(found, made.table), made.patterns)
            lines.append({"noise": noise, "seconds": seconds, **told})
    return lines


def by_cells(found: list[Itemset], table: Table) -> list[Itemset]:
    """Those that cover most cells first."""
    sizes = np.array([len(itemset) for itemset in found])
    covered = itemsets.occurrences(found, table).sum(axis=0) * sizes
    return [found[k] for k in np.argsort(-covered, kind="stable")]
