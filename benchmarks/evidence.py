"""Measure the default rule: unseen rows, planted patterns, chance, and time.

1. Bits of unseen rows as a share of the bits by columns alone: by variables alone, by a Chow–Liu
   tree, by ``UFC("bits")`` and by ``UFC()``. Variables are those that ``fit`` recognises, and again
   those of the source, with which the first trial was made.
2. Log-likelihood of the test rows of density benchmarks.
3. Planted patterns that are found exactly, with noise; how exact the list of findings is, and
   those of GreConD and SLIM, on a size that they finish.
4. The share of tables of independent columns, and of independent variables, with a chunk.
5. Whole fits of large sets, each alone in a process: CPU time and memory, of ``UFC("bits")`` too.
"""

from __future__ import annotations

import gzip
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import _slim, chance
from benchmarks._apart import Measurement, answer, measured_apart, timed
from benchmarks._chow_liu import ChowLiuTree
from benchmarks._data import FOLDER, benchmark_set, named_set, zipf
from benchmarks._grecond import find_factors
from benchmarks._measure import report
from benchmarks._results import save
from benchmarks.false_construction import Rate
from benchmarks.merges import SETS as LARGE
from benchmarks.quality.planted import Pattern, Planted, planted, recovered
from conjunct import UFC, datasets
from conjunct.explain import find

Table = NDArray[np.bool_]


class Trial(NamedTuple):
    """Shares of bits and numbers of merges that a first trial in plain NumPy gave."""

    known: float
    tree: float
    bits: float
    bits_merges: int
    evidence: float
    merges: int


TRIAL = {
    "spect": Trial(1.0, 0.796, 0.795, 24, 0.785, 35),
    "zoo": Trial(1.0, 0.726, 0.745, 16, 0.811, 9),
    "ticTacToe": Trial(0.568, 0.746, 0.572, 109, 0.574, 20),
    "pima": Trial(0.558, 0.629, 0.559, 46, 0.568, 7),
    "led": Trial(0.500, 0.448, 0.430, 117, 0.504, 153),
    "flare": Trial(0.560, 0.617, 0.485, 124, 0.507, 103),
    "dermatology": Trial(0.579, 0.648, 0.525, 71, 0.526, 22),
    "nursery": Trial(0.584, 0.767, 0.548, 3, 0.548, 3),
    "coco_street": Trial(1.0, 1.011, 0.989, 5, 0.987, 7),
    "coco_val2017": Trial(1.0, 0.901, 0.912, 112, 0.906, 169),
}
SHARE_MARGIN, MERGES_MARGIN = 0.01, 0.1
SEEDS, TRAINING, MOST_ROWS = (0, 1, 2), 0.7, 5000

DENSITY = {"nltcs": -6.29, "plants": -15.42, "baudio": -43.7, "dna": -81.9}
"""Nats per row that the first trial gave."""

N_ROWS, N_ITEMS, SIZES = 10_000, 384, {2: 24, 3: 20, 4: 20, 5: 20, 6: 16}
"""100 patterns: how many there are of each size. If they are disjoint, they use all items."""
SHARES, NOISE = (0.01, 0.05), (0.0, 0.01, 0.05)
"""A pattern is in a share of the rows drawn from this interval."""

SLIM_SECONDS = 120
"""CPU time that SLIM may take for 1,000 rows."""
LEAST_F1 = {0.0: 0.93, 0.01: 0.93, 0.05: 0.88}

N_TABLES, N_ONE_HOT = 300, 100


def main() -> int:
    warnings.simplefilter("ignore")
    if not FOLDER.exists():
        print(f"{FOLDER.name} is not here: bundled sets and generated data only")
    run: dict[str, Any] = {}
    missed = 0
    for part, measure in PARTS.items():
        run[part], more = measure()
        missed += more
    save("evidence", run)
    return missed


# --- bits of unseen rows ---


def measure_unseen() -> tuple[list[Measurement], int]:
    lines, missed = [], 0
    for name in TRIAL:
        table = load(name)
        if table is None:
            continue
        line = {"name": name, **compare(table)}
        lines.append(line)
        missed += _check_unseen(line)
    return lines, missed


def load(name: str) -> Table | None:
    """Return the columns that occur, or ``None`` if the set is absent."""
    if name in {dataset.name for dataset in datasets.DATASETS}:
        table = np.asarray(datasets.load(name).values, bool)
    elif (FOLDER / "lucs" / f"{name}.dat.gz").exists():
        table = named_set(name)[1].to_numpy()
    else:
        return None
    if len(table) > MOST_ROWS:
        table = table[np.random.default_rng(0).permutation(len(table))[:MOST_ROWS]]
    return np.asarray(table[:, table.any(axis=0)])


def compare(table: Table) -> Measurement:
    """Return means over the splits: shares of the bare columns' bits, merges, longest chunk."""
    source = variables_of(table)
    found: list[dict[str, float]] = []
    for train, test in split(table):
        bare = UFC(max_iter=0, variables=False).fit(train).score(test)
        tree = float(ChowLiuTree.of(train).log_probs(test).mean() / np.log(2))
        line = {"tree": tree / bare}
        for suffix, variables in (("", None), (", source", source or False)):
            known = UFC(max_iter=0, variables=variables).fit(train)
            line[f"known{suffix}"] = known.score(test) / bare
            line[f"values{suffix}"] = sum(map(len, known.variables_.values()))
            for rule in ("bits", "evidence"):
                model = UFC(rule, variables=variables).fit(train)
                line[f"{rule}{suffix}"] = model.score(test) / bare
                # which pairs are joined does not depend on variables
                line[f"{rule} merges"] = len(model.feature_set_.merges)
                line[f"{rule} longest"] = max(map(len, model.patterns_))
        found.append(line)
    means = {what: float(np.mean([line[what] for line in found])) for what in found[0]}
    return {"shape": list(table.shape), "variables": len(source), **means}


def split(table: Table) -> Iterator[tuple[Table, Table]]:
    """Yield training and test rows, as the first trial split them."""
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(table))
        n_train = int(TRAINING * len(table))
        yield table[order[:n_train]], table[order[n_train:]]


def variables_of(table: Table) -> dict[str, list[str]]:
    """Return the variables of a set whose values are next to each other, as in the LUCS sets.

    Neighbours that exclude each other are one variable if most rows have one of them.
    """
    found: dict[str, list[str]] = {}
    start, n_columns = 0, table.shape[1]
    while start < n_columns:
        taken, end = table[:, start], start + 1
        while end < n_columns and taken.mean() < 0.999 and not (taken & table[:, end]).any():
            taken, end = taken | table[:, end], end + 1
        if end > start + 1 and taken.mean() > 0.8:
            found[f"v{len(found)}"] = [f"x{k}" for k in range(start, end)]
            start = end
        else:
            start += 1
    return found


def _check_unseen(line: Measurement) -> int:
    n_rows, n_columns = line["shape"]
    trial = TRIAL[line["name"]]
    print(
        f"{line['name']}, {n_rows:,} × {n_columns}, {line['variables']} variables; with the "
        f"{line['values']:.1f} values that are recognised: variables alone {line['known']:.3f}, "
        f"bits {line['bits']:.3f}, evidence {line['evidence']:.3f}; "
        f"longest chunk {line['evidence longest']:.1f}"
    )
    beside = (
        ("variables alone", line["known, source"], trial.known),
        ("bits", line["bits, source"], trial.bits),
        ("evidence", line["evidence, source"], trial.evidence),
    )
    # printed and not counted: the tree is a yardstick, and how the trial smoothed it is not known
    is_near = abs(line["tree"] - trial.tree) <= SHARE_MARGIN
    _print_beside("Chow–Liu tree", line["tree"], trial.tree, is_near)
    missed = sum(
        _print_beside(what, ours, theirs, abs(ours - theirs) <= SHARE_MARGIN)
        for what, ours, theirs in beside
    )
    for rule, theirs in (("bits", trial.bits_merges), ("evidence", trial.merges)):
        ours = line[f"{rule} merges"]
        is_near = abs(ours - theirs) <= max(MERGES_MARGIN * theirs, 0.5)
        missed += _print_beside(f"merges of {rule}", ours, theirs, is_near)
    return missed


def _print_beside(what: str, ours: float, theirs: float, is_near: bool) -> int:
    verdict = "ok" if is_near else "MISSED"
    print(f"  {what:<18} {ours:8.3f}, first trial {theirs:8.3f}  {verdict}", flush=True)
    return int(not is_near)


# --- density ---


def measure_density() -> tuple[list[Measurement], int]:
    lines, missed = [], 0
    for name, trial in DENSITY.items():
        if not (FOLDER / "density" / f"{name}.train.data.gz").exists():
            continue
        train, test = (read_density(name, part) for part in ("train", "test"))
        model = UFC()
        seconds = timed(lambda model=model, train=train: model.fit(train))["seconds"]
        line = {
            "name": name,
            "shape": list(train.shape),
            "columns": float(UFC(max_iter=0, variables=False).fit(train).log_prob(test).mean()),
            "tree": float(ChowLiuTree.of(train).log_probs(test).mean()),
            "evidence": float(model.log_prob(test).mean()),
            "merges": len(model.feature_set_.merges),
            "variables": len(model.variables_),
            "seconds": seconds,
        }
        lines.append(line)
        print(
            f"{name}, {len(train):,} + {len(test):,} rows: columns {line['columns']:.2f}, tree "
            f"{line['tree']:.2f}, evidence {line['evidence']:.3f} (first trial {trial}); "
            f"{line['merges']:,} merges, {line['variables']} variables, {seconds:.2f} s"
        )
        ahead = line["evidence"] - line["tree"]
        missed += report(f"{name}: ahead of the tree", ahead, 0, at_least=True, unit="nats")
    return lines, missed


def read_density(name: str, part: str) -> Table:
    with gzip.open(FOLDER / "density" / f"{name}.{part}.data.gz", "rt") as lines:
        return np.array([line.strip().split(",") for line in lines]) == "1"


# --- planted patterns ---


def measure_planted() -> tuple[list[Measurement], int]:
    lines, missed = [], 0
    slim = _slim.environment()
    for kind, noise in product(("disjoint", "overlapping"), NOISE):
        made = plant(kind, noise)
        model = UFC()
        seconds = timed(lambda model=model, made=made: model.fit(made.table))["seconds"]
        fitted = model.feature_set_
        number = {name: k for k, name in enumerate(fitted.lineage.primitives)}
        chunks = [
            frozenset(number[tag] for tag in fitted.lineage.pattern(merge.both))
            for merge in fitted.merges
            if merge.both is not None
        ]
        hits = round(recovered(chunks, made.patterns)["recall"] * len(made.patterns))
        listed = list_findings(model)
        small = planted(kind, noise, seed=0)
        line = {
            "kind": kind,
            "noise": noise,
            "hits": hits,
            "merges": len(chunks),
            "seconds": seconds,
            "listed": len(listed),
            "f1": exact_f1(listed, made.patterns),
            "small_f1": exact_f1(list_findings(UFC().fit(small.table)), small.patterns),
            "grecond_f1": exact_f1(find_factors(small.table), small.patterns),
            "slim_f1": None,
        }
        if slim is not None:
            mined = _slim.mined(slim, small.table, SLIM_SECONDS)
            line["slim_f1"] = exact_f1(list(map(frozenset, mined["itemsets"])), small.patterns)
        lines.append(line)
        print(f"{kind}, {noise:.0%} of cells inverted: {len(chunks):,} merges, {seconds:.1f} s")
        what = f"{kind}, {noise:.0%} noise: planted patterns found"
        missed += report(what, hits, len(made.patterns), at_least=True, unit="")
        what = f"{kind}, {noise:.0%} noise: F1 of {len(listed)} findings"
        missed += report(what, line["f1"], LEAST_F1[noise], at_least=True, unit="")
        others = f"GreConD {line['grecond_f1']:.2f}"
        others += "" if slim is None else f", SLIM {line['slim_f1']:.2f}"
        print(f"  1,000 rows: F1 {line['small_f1']:.2f}, {others}")
    return lines, missed


def list_findings(model: UFC) -> list[Pattern]:
    """Return the sets of columns that are listed.

    They are the chunks that contain a finding, and equal columns, unless these are named under a
    finding.
    """
    fitted = model.feature_set_
    number = {name: k for k, name in enumerate(fitted.lineage.primitives)}
    found = find(fitted)
    # a finding names one of the columns that are equal in all rows: its chunk has all of them
    listed = [fitted.lineage.pattern((one.part_of or one).number) for one in found.findings]
    named = {copies for finding in found.findings for copies in finding.copies}
    listed += [tags for copies in found.copies if copies not in named for tags in copies.tags]
    return [frozenset(number[tag] for tag in tags) for tags in listed]


def exact_f1(found: list[Pattern], sought: tuple[Pattern, ...]) -> float:
    """Return the harmonic mean of precision and recall, by exactly equal patterns."""
    rates = recovered(found, sought)
    both = rates["precision"] + rates["recall"]
    return 2 * rates["precision"] * rates["recall"] / both if both else 0.0


def plant(kind: str, noise: float, n_rows: int = N_ROWS, seed: int = 0) -> Planted:
    """Return rows that are unions of independently drawn patterns, with some cells inverted."""
    random = np.random.default_rng(seed)
    sizes = [size for size, n in SIZES.items() for _ in range(n)]
    if kind == "disjoint":
        ends = np.cumsum([0, *sizes])
        items = random.permutation(N_ITEMS)
        patterns = [frozenset(items[a:b].tolist()) for a, b in pairwise(ends)]
    else:
        patterns = []
        for size in sizes:  # smaller ones first: none is part of a later one
            while True:
                drawn = frozenset(random.choice(N_ITEMS, size, replace=False).tolist())
                if not any(other <= drawn for other in patterns):
                    break
            patterns.append(drawn)
    table = np.zeros((n_rows, N_ITEMS), bool)
    for pattern, share in zip(patterns, random.uniform(*SHARES, len(patterns)), strict=True):
        table[np.ix_(random.random(n_rows) < share, sorted(pattern))] = True
    return Planted(table ^ (random.random(table.shape) < noise), tuple(patterns))


# --- chance ---


def measure_chance() -> tuple[list[Measurement], int]:
    lines, missed = [], 0
    shapes = list(product(chance.ROWS, chance.COLUMNS, chance.DENSITIES))
    kinds = {
        "columns": [
            chance.independent(*shapes[k % len(shapes)], seed=[1, k]) for k in range(N_TABLES)
        ],
        "variables": [
            chance.one_hot(*chance.SHAPES[k % len(chance.SHAPES)], seed=[2, k])
            for k in range(N_ONE_HOT)
        ],
    }
    for kind, tables in kinds.items():
        rate = Rate(sum(map(chance.makes_something, tables)), len(tables))
        lines.append({"kind": kind, "tables": rate.runs, "hits": rate.hits})
        what = f"independent {kind}: {rate.hits} of {rate.runs} tables, share"
        bound = 100 * chance.BOUND
        missed += report(what, 100 * rate.value, bound, at_least=False, unit="%")
    return lines, missed


# --- whole fits ---


def measure_fits() -> tuple[list[Measurement], int]:
    lines = []
    for name in LARGE:
        if not (FOLDER / f"{name}.dat.gz").exists():
            continue
        found = {
            rule: measured_apart("benchmarks.evidence", name, rule) for rule in ("evidence", "bits")
        }
        ours, beside = found["evidence"], found["bits"]
        lines.append({"name": name, "shape": ours["shape"], "rules": found})
        n_rows, n_columns = ours["shape"]
        print(f"{name}, {n_rows:,} × {n_columns:,}")
        for rule, line in found.items():
            print(
                f"  {rule:<9} {line['seconds']:6.2f} s, of which merges {line['merging']:6.2f} s; "
                f"{line['merges']:,} merges, {line['resident'] / 1e6:,.0f} MB"
            )
        ratio, merging = (ours[what] / beside[what] for what in ("seconds", "merging"))
        print(f"  evidence / bits: {ratio:.2f} × in all, {merging:.2f} × for merges", flush=True)
    return lines, 0


def alone(name: str, rule: str) -> Measurement:
    """Measure one fit, in a process that does nothing else."""
    warnings.simplefilter("ignore")
    UFC(rule).fit(zipf(500, 50, 8))  # imports are not what is measured
    _, data = benchmark_set(name)
    ends: list[float] = []
    model = UFC(rule)
    start = time.process_time()
    found = timed(lambda: model.fit(data, callback=lambda _: ends.append(time.process_time())))
    return {
        "shape": data.shape,
        "merges": len(model.feature_set_.merges),
        "merging": ends[-1] - start,
        **found,
    }


PARTS = {
    "unseen": measure_unseen,
    "density": measure_density,
    "planted": measure_planted,
    "chance": measure_chance,
    "fits": measure_fits,
}


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
