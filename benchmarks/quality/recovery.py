"""How much of a planted vocabulary each method finds, exactly, with how much noise."""

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
    """As a representation; with as many sets as there are columns where it has to be told."""
    return lambda table: representations.fitted(name, table, 1.0)


def _most_cells(table: Table) -> Fitted:
    """The frequent sets that cover most cells, as many as there are columns."""
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
    """A line for each noise and table; ``None`` where the method cannot be had."""
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
    """Those that cover most cells first."""
    sizes = np.array([len(itemset) for itemset in found])
    covered = itemsets.occurrences(found, table).sum(axis=0) * sizes
    return [found[k] for k in np.argsort(-covered, kind="stable")]
