"""Measure the part of a planted vocabulary that each method finds exactly, by noise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.quality import itemsets, representations
from benchmarks.quality.itemsets import Itemset, Table
from benchmarks.quality.planted import planted, recovered
from benchmarks.quality.representations import Fitted

KINDS = ("disjoint", "overlapping")
NOISE = (0.0, 0.02, 0.05, 0.1)
N_TABLES = 5
N_TABLES_SLIM, SLIM_SECONDS = 2, 40
LEAST = 0.02
"""A set must be in this share of rows to be frequent."""


def _by(name: str) -> Callable[[Table], Fitted | None]:
    """Return the representation, with one set per column if a number is required."""
    return lambda table: representations.fitted(name, table, 1.0)


def _most_cells(table: Table) -> Fitted:
    """Return the frequent sets that cover most cells, one per column."""
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth

    found = fpgrowth(pd.DataFrame(table), min_support=LEAST)["itemsets"]
    several = [frozenset(itemset) for itemset in found if len(itemset) > 1]
    kept = by_cells(several, table)[: table.shape[1]]
    return Fitted(partial(itemsets.occurrences, kept), representations.of_tags(kept))


METHODS: dict[str, Callable[[Table], Fitted | None]] = {
    "evidence": _by("evidence"),
    "bits": _by("bits"),
    "uFCα": _by("uFCα"),
    "uFC*": _by("uFC*"),
    "fpgrowth, most rows": _by("itemsets + columns"),
    "fpgrowth, most cells": _most_cells,
    "factors": _by("factors"),
    "SLIM": partial(representations.slim, seconds=SLIM_SECONDS),
}


def measured(kind: str, method: str, n_tables: int = N_TABLES) -> list[dict[str, float]] | None:
    """Return a line for each noise and table, or ``None`` if the method is unavailable."""
    lines = []
    for noise in NOISE:
        for seed in range(n_tables if method != "SLIM" else min(n_tables, N_TABLES_SLIM)):
            made = planted(kind, noise, seed)
            fit = METHODS[method](made.table)
            if fit is None:
                return None
            found = by_cells([feature.tags for feature in fit.chunks], made.table)
            told = recovered(found, made.patterns)
            lines.append({"noise": noise, "cut off": fit.cut_off, **told})
    return lines


def by_cells(found: list[Itemset], table: Table) -> list[Itemset]:
    """Sort sets by the cells that they cover, most first."""
    sizes = np.array([len(itemset) for itemset in found])
    covered = itemsets.occurrences(found, table).sum(axis=0) * sizes
    return [found[k] for k in np.argsort(-covered, kind="stable")]
