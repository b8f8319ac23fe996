"""Where stopping rules end a run on wide data, and what columns that take no part do to them.

``rms`` is the paper's; ``OI/OI₀`` puts OI, as a share of that of the primitives, in its place;
``relative`` is UFC(stop="relative"). One run serves all of them: it is looked at where each ends.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np

from benchmarks._data import FOLDER, transactions, zero_one
from conjunct.association import PairFilter
from conjunct.construction.lineage import Lineage
from conjunct.construction.stage import Stage
from conjunct.construction.indicators import (
    READABLE_LENGTH,
    Balance,
    Balancing,
    Evaluator,
    Indicators,
)
from conjunct.construction.batch import Candidates, Rule, iterate
from conjunct.stores import SparseStore

MOST = 12
SETS = {"delicious": transactions, "emoji_keywords": zero_one, "retail": transactions}
RULES = ("rms", "OI/OI₀", "relative")


def main() -> int:
    print(
        f"{'data':<28} {'prune':<6} {'rule':<9} iterations  features   length (new)  "
        f"OI/OI₀  left  growth"
    )
    for name, read in SETS.items():
        data = read(name)
        if data is None:
            print(f"{name} is not beside {FOLDER.name}: left out")
            continue
        for prune in (True, False):
            for n_columns in dict.fromkeys((100, 1000, data.shape[1])):
                if n_columns <= data.shape[1]:
                    _compare(f"{name}, {n_columns} columns", most_frequent(data, n_columns), prune)
    return 0


def most_frequent(data: Any, n_columns: int) -> SparseStore:
    supports = np.asarray(data.sum(axis=0)).ravel()
    columns = np.argsort(-supports, kind="stable")[:n_columns]
    return SparseStore.from_matrix(data.tocsc()[:, np.sort(columns)])


def _compare(title: str, store: SparseStore, prune: bool) -> None:
    lineage = Lineage([str(k) for k in range(store.n_columns)])
    rule = Rule(PairFilter(alpha=0.001, prune=prune))
    candidates = Candidates(lineage, rule)
    balance = Balancing(candidates)
    evaluate = Evaluator(lineage, store.n_rows, store.count_distinct_rows())
    lines: list[tuple[Indicators, Balance, float]] = []
    stages = iterate(Stage.first(store), lineage, rule, candidates)
    for stage in islice(stages, MOST + 1):
        indicators = evaluate(stage)
        lengths = np.array(lineage.lengths(stage.features))
        made = lengths[lengths > 1]
        lines.append((indicators, balance(stage), float(made.mean()) if len(made) else 0.0))
        if indicators.length > READABLE_LENGTH:
            break
    first = lines[0][0]
    values = {
        "rms": [line.rms for line, _, _ in lines],
        "OI/OI₀": [math.hypot(line.oi / first.oi, line.c0) for line, _, _ in lines],
        "relative": [balanced.distance for _, balanced, _ in lines],
    }
    for name in RULES:
        kept = _kept(values[name])
        line, balanced, made_length = lines[kept]
        on = "+" if kept == MOST or line.length > READABLE_LENGTH else ""
        print(
            f"{title:<28} {prune!s:<6} {name:<9} {f'{kept}{on}':>10}  {line.n_features:8d}  "
            f"{line.length:6.2f} ({made_length:5.1f})  {line.oi / first.oi:6.0%}  "
            f"{balanced.redundancy:4.0%}  {balanced.growth:6.0%}",
            flush=True,
        )


def _kept(values: list[float]) -> int:
    """The last position before values rise; C0 without a meaning keeps one iteration."""
    if math.isnan(values[0]):
        return min(1, len(values) - 1)
    kept = 0
    while kept + 1 < len(values) and values[kept + 1] <= values[kept]:
        kept += 1
    return kept
