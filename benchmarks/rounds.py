"""What it would cost to join several pairs in one pass over the rows, in bits of unseen rows.

Where a pass is dear, as on a cluster, one could join in each pass all pairs that are the best pair
of both their columns. conjunct joins one pair at a time and has no such option: here the search of
``EvidencePairs`` is made to work in rounds, slowly, to see what unseen rows would take. A round may
also be limited to the pairs with at least a share of the evidence of its best pair.

Training and test rows are those of ``python -m benchmarks evidence``.
"""

from __future__ import annotations

import warnings
from functools import partial
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import Measurement
from benchmarks._data import FOLDER
from benchmarks._results import save
from benchmarks.evidence import DENSITY, load, read_density, split
from conjunct import UFC
from conjunct.features import DECIMALS, merge_cost
from conjunct.ufc import search
from conjunct.ufc.search import EvidencePairs, Found, Pair

SETS = (
    *("spect", "zoo", "ticTacToe", "pima", "led", "flare", "dermatology", "nursery"),
    *("coco_street", "coco_val2017"),
)
SHARES = (0.0, 0.5, 0.9)
"""Pairs with less than this share of the best pair's evidence wait for a later round."""
BOUND = 0.005
"""What unseen rows may take more, as a share, for an option to be worth its code."""

Table = NDArray[np.bool_]


class Rounds(EvidencePairs):
    """All pairs that are best for both their columns, then all counts again."""

    share = 0.0
    n_rows = n_columns = n_passes = 0

    _queue: list[Found]
    _n_merges = 0

    def _best(self) -> Found | None:
        if not getattr(self, "_queue", None):
            self._queue = self._round()
            type(self).n_passes += bool(self._queue)
        self._n_merges += bool(self._queue)
        return self._queue.pop(0) if self._queue else None

    def _round(self) -> list[Found]:
        """Return the pairs of a round, in the order in which one at a time would take them."""
        best = {c: self._best_pair(c) for c in range(len(self._tags))}
        found = {
            frozenset(pair[:2]): (pair, value)
            for pair, value in filter(None, best.values())
            if all(
                one is not None and {*one[0][:2]} == {*pair[:2]} for one in map(best.get, pair[:2])
            )
        }
        ordered = sorted(found.values(), key=lambda one: (-one[1], *self._tie(one[0])))
        taken: list[Found] = []
        for pair, value in ordered:
            price = merge_cost(self.n_rows, self.n_columns, self._n_merges + len(taken) + 1)
            if round(value - price, DECIMALS) > 0 and value >= self.share * ordered[0][1]:
                taken.append((pair, value))
        # one that is not worth its price ends the run
        return taken or ordered[:1]

    def _tie(self, pair: Pair) -> tuple[int, list[tuple[int, ...]]]:
        return -pair.joint, sorted(self._tags[k] for k in pair[:2])

    def _best_pair(self, column: int) -> tuple[Pair, float] | None:
        """Return the best pair of a column, as ``EvidencePairs._best`` finds that of all."""
        while True:
            if self._is_stale.values[column] or column not in self._rows:
                self._renew(column)
            value = float(self._values.values[column])
            if value == -np.inf:
                return None
            pairs, values = self._rows[column]
            ties = Pair.each_of(pairs.take(np.flatnonzero(values == value)))
            pair = min(ties, key=self._tie)
            ends = pair.left, pair.right
            if all(self._is_whole[c] for c in ends) or frozenset(ends) in self._caps:
                return pair, value
            table = (np.array([count]) for count in self._patterns.table(*ends))
            self._caps[frozenset(ends)] = float(search.evidence(*table)[0])
            self._is_stale.values[[*ends]] = True


def fit_in_rounds(table: Table, share: float) -> tuple[UFC, int]:
    """Return a model whose merges were made in rounds, and the number of passes."""
    Rounds.share, Rounds.n_passes = share, 0
    Rounds.n_rows, Rounds.n_columns = len(table), int(table.any(axis=0).sum())
    with (
        patch.object(search, "_LARGEST_TABLE", 0),  # no search in C
        patch.object(search, "EvidencePairs", Rounds),
    ):
        return UFC().fit(table), Rounds.n_passes


def main() -> int:
    warnings.simplefilter("ignore")
    sets = {name: partial(_splits, name) for name in SETS}
    sets |= {name: partial(_density_split, name) for name in DENSITY}
    lines = []
    for name, splits in sets.items():
        found = [_compare(train, test) for train, test in splits()]
        if not found:
            print(f"{name} is not here")
            continue
        line = {what: float(np.mean([each[what] for each in found])) for what in found[0]}
        lines.append({"name": name, **line})
        said = ", ".join(
            f"rounds of {share:.0%}: {line[f'more {share}']:+.2%} in {line[f'passes {share}']:.0f} "
            f"passes ({line[f'merges {share}']:.0f} merges)"
            for share in SHARES
        )
        print(f"{name}, one at a time {line['merges']:.0f} merges; {said}", flush=True)
    for share in SHARES:
        more = [line[f"more {share}"] for line in lines]
        n_over = sum(one > BOUND for one in more)
        print(
            f"rounds of {share:.0%}: unseen rows take {np.mean(more):+.2%} on average, "
            f"{max(more):+.2%} at most; more than {BOUND:.1%} on {n_over} of {len(more)} sets"
        )
    save("rounds", {"shares": list(SHARES), "sets": lines})
    return 0


def _splits(name: str) -> list[tuple[Table, Table]]:
    table = load(name)
    return [] if table is None else list(split(table))


def _density_split(name: str) -> list[tuple[Table, Table]]:
    if not (FOLDER / "density" / f"{name}.train.data.gz").exists():
        return []
    return [(read_density(name, "train"), read_density(name, "test"))]


def _compare(train: Table, test: Table) -> Measurement:
    """Return what unseen rows take more in rounds than one at a time, as a share."""
    one = UFC().fit(train)
    bits = -float(one.log_prob(test).sum())
    line: Measurement = {"merges": len(one.feature_set_.merges)}
    for share in SHARES:
        model, n_passes = fit_in_rounds(train, share)
        line |= {
            f"more {share}": -float(model.log_prob(test).sum()) / bits - 1,
            f"passes {share}": n_passes,
            f"merges {share}": len(model.feature_set_.merges),
        }
    return line
