"""Where stopping rules end a run on wide data, and what columns that take no part do to them.

``rms`` is the paper's; ``OI/OI₀`` puts OI, as a share of that of the primitives, in its place;
``relative`` is UFC(stop="relative"). One run serves all of them: it is looked at where each ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from benchmarks._data import FOLDER, transactions, zero_one
from conjunct import Risk
from conjunct.columns import SparseColumns
from conjunct.ufc import READABLE_LENGTH, Never
from conjunct.ufc.course import Balance, Indicators
from conjunct.ufc.run import Plan, run_ufc
from conjunct.ufc.search.ledger import Step

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


class Looking(Never):
    """Never stops before formulas are too long, and keeps what each step is judged by."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[Indicators, Balance, float]] = []

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        replaced: set[int] = set()
        for step in steps:
            yield step
            line = step.indicators
            if not self.lines:
                n_primitives = line.n_features
            replaced.update(k for merge in step.merges for k in (merge.left, merge.right))
            n_kept = n_primitives - sum(k < n_primitives for k in replaced)
            n_made = line.n_features - n_kept
            made_length = (line.length * line.n_features - n_kept) / n_made if n_made else 0.0
            self.lines.append((line, step.balance(), made_length))
            if line.length > READABLE_LENGTH:
                return


def most_frequent(data: Any, n_columns: int) -> SparseColumns:
    supports = np.asarray(data.sum(axis=0)).ravel()
    columns = np.argsort(-supports, kind="stable")[:n_columns]
    return SparseColumns.from_matrix(data.tocsc()[:, np.sort(columns)])


def _compare(title: str, store: SparseColumns, prune: bool) -> None:
    looked_at = Looking()
    plan = Plan(Risk(prune=prune), "batch")
    run_ufc(store, [str(k) for k in range(store.n_columns)], plan, looked_at, max_iter=MOST)
    lines = looked_at.lines
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
