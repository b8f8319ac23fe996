"""Compare clustering trees with tests "at least m of these tags" and with tests of one tag.

The search of ID2-of-3 without classes: at each node, literals are added while this reduces the
squared error within clusters, summed over all columns; the number that must be true stays or rises
by one. Both are compared on 30% of the rows, which were not used for training, by the bits of a row
(its cluster, then each column by its share in the cluster, smoothed by ½), at each number of
clusters and at the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import report
from benchmarks._results import save
from conjunct import datasets

LEAVES = (2, 4, 8, 16, 32)
SPLITS = 5

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Test:
    literals: tuple[int, ...]
    number: int

    def passes(self, table: Table) -> NDArray[np.bool_]:
        true = sum(table[:, x] if x >= 0 else 1 - table[:, ~x] for x in self.literals)
        return np.asarray(true >= self.number)


def best_test(table: Table, most: int, min_rows: int = 4) -> tuple[float, Test | None]:
    """Return the best test of up to ``most`` literals by greedy search, and its error reduction."""
    n = len(table)
    total = table.sum(axis=0)
    before = float((total**2).sum() / n)
    literals: tuple[int, ...] = ()
    number, gain = 0, 0.0
    n_true = np.zeros(n)
    while len(literals) < most:
        best = (gain, -1, False, 0)
        for one_more in (0, 1):
            deciding = table[n_true == number - 1 + one_more]
            passing = table[n_true >= number + one_more]
            joint = deciding.T @ deciding
            for negated in (False, True):
                yes = joint if not negated else deciding.sum(axis=0) - joint
                size = joint.diagonal() if not negated else len(deciding) - joint.diagonal()
                yes = yes + passing.sum(axis=0)
                size = size + len(passing)
                valid = (size >= min_rows) & (n - size >= min_rows)
                valid[[max(x, ~x) for x in literals]] = False
                with np.errstate(divide="ignore", invalid="ignore"):
                    after = (yes**2).sum(axis=1) / size
                    after += ((total - yes) ** 2).sum(axis=1) / (n - size)
                gains = np.where(valid, after - before, -1.0)
                k = int(gains.argmax())
                if gains[k] > best[0] + 1e-9:
                    best = (float(gains[k]), k, negated, one_more)
        if best[1] < 0:
            break
        gain, column, negated, one_more = best
        number += one_more
        literals = (*literals, ~column if negated else column)
        n_true = n_true + (1 - table[:, column] if negated else table[:, column])
    return gain, Test(literals, number) if literals else None


def unseen_bits(train: Table, test: Table, most: int) -> dict[int, float]:
    """Return the bits of an unseen row by number of clusters; larger gains are split first."""
    leaves = [(train, test, *best_test(train, most))]
    found = {}
    while True:
        if len(leaves) in (1, *LEAVES):
            found[len(leaves)] = sum(
                _leaf_bits(seen, unseen, len(train), len(leaves)) for seen, unseen, _, _ in leaves
            ) / len(test)
        k = max(range(len(leaves)), key=lambda k: leaves[k][2])
        seen, unseen, _, chosen = leaves[k]
        if chosen is None or len(leaves) >= LEAVES[-1]:
            return found
        yes, yes_unseen = chosen.passes(seen), chosen.passes(unseen)
        del leaves[k]
        for a, b in ((seen[yes], unseen[yes_unseen]), (seen[~yes], unseen[~yes_unseen])):
            leaves.append((a, b, *best_test(a, most)))


def _leaf_bits(seen: Table, unseen: Table, n_rows: int, n_leaves: int) -> float:
    share = (seen.sum(axis=0) + 0.5) / (len(seen) + 1)
    cluster = -np.log2((len(seen) + 0.5) / (n_rows + 0.5 * n_leaves))
    cells = -(unseen @ np.log2(share) + (1 - unseen) @ np.log2(1 - share))
    return float(len(unseen) * cluster + cells.sum())


def main() -> int:
    sets = []
    for name in ("spect", "zoo", "house_votes_84", "coco_street", "coco_val2017"):
        table = np.asarray(datasets.load(name).values == 1, np.float64)
        runs: dict[str, list[dict[int, float]]] = {"one tag": [], "m of n": []}
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(len(table))
            cut = round(0.7 * len(table))
            train, test = table[order[:cut]], table[order[cut:]]
            for label, most in (("one tag", 1), ("m of n", 6)):
                runs[label].append(unseen_bits(train, test, most))
        line = {label: _means(found) for label, found in runs.items()}
        sets.append({"name": name, **line})
        print(name, flush=True)
        for label, found in line.items():
            told = "  ".join(f"{n}: {bits:.2f}" for n, bits in found.items())
            print(f"  {label:<8} bits a row by clusters  {told}", flush=True)
    save("m_of_n", {"leaves": LEAVES, "splits": SPLITS, "sets": sets})
    # where it would be worth a second kind of clustering tree
    gains = [1 - min(each["m of n"].values()) / min(each["one tag"].values()) for each in sets]
    what = "most bits of unseen rows that counts save on a set"
    return report(what, 100 * max(gains), 5, at_least=False, unit="%")


def _means(runs: list[dict[int, float]]) -> dict[int, float]:
    common = set.intersection(*(set(run) for run in runs))
    return {n: float(np.mean([run[n] for run in runs])) for n in sorted(common)}
