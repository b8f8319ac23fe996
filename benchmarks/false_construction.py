"""How often each option constructs features that mean nothing (docs/risk.md).

Data are drawn in blocks of columns that depend on each other, while blocks are independent; a
replaced pair is false when it mixes columns of two blocks.
``python -m benchmarks false_construction`` prints the tables of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from conjunct.columns import PackedColumns
from conjunct.features import FeatureSet
from conjunct.ufc import CORRECTIONS, NoStop, Plan, Risk, run_ufc

Draw = Callable[[np.random.Generator], tuple[NDArray[np.bool_], list[int]]]


@dataclass(frozen=True)
class Option:
    """An option: a test, with or without pruning, and a correction."""

    test: str
    prune: bool
    correction: str | None

    def criterion(self, alpha: float) -> Risk:
        return Risk(alpha, self.test, self.correction, self.prune)


@dataclass(frozen=True)
class Rate:
    """Return a share of runs with its exact 95% confidence interval (Clopper and Pearson)."""

    hits: int
    runs: int

    @property
    def value(self) -> float:
        return self.hits / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        low = betaincinv(self.hits, self.runs - self.hits + 1, 0.025) if self.hits else 0.0
        high = (
            betaincinv(self.hits + 1, self.runs - self.hits, 0.975)
            if self.hits < self.runs
            else 1.0
        )
        return float(low), float(high)


@dataclass(frozen=True)
class Outcome:
    """The results of an option over many runs."""

    option: Option
    # runs in which a false pair was replaced
    any_false: Rate
    # mean over runs of the share of false pairs among those replaced, 0 where there are none
    false_share: float
    # mean number of pairs replaced that are not false
    n_true: float


def options() -> tuple[Option, ...]:
    kinds: tuple[tuple[str, bool], ...] = (("normal", True), ("exact", False))
    return tuple(
        Option(test, prune, correction)
        for (test, prune), correction in product(kinds, (None, *CORRECTIONS))
    )


def balanced(rng: np.random.Generator) -> tuple[NDArray[np.bool_], list[int]]:
    """Return 20 independent columns, true in 30 to 70% of 500 rows, and the block of each."""
    return rng.random((500, 20)) < rng.uniform(0.3, 0.7, 20), list(range(20))


def rare(rng: np.random.Generator) -> tuple[NDArray[np.bool_], list[int]]:
    """Return 20 independent columns, true in 2 to 10% of 1,000 rows."""
    return rng.random((1000, 20)) < rng.uniform(0.02, 0.1, 20), list(range(20))


def half_dependent(rng: np.random.Generator) -> tuple[NDArray[np.bool_], list[int]]:
    """Return five dependent pairs of columns and ten independent columns, in 500 rows."""
    table = rng.random((500, 20)) < rng.uniform(0.3, 0.7, 20)
    for k in range(0, 10, 2):
        copied = rng.random(500) < 0.4
        table[copied, k + 1] = table[copied, k]
    return table, [*np.repeat(range(5), 2).tolist(), *range(5, 15)]


DATA: dict[str, Draw] = {"balanced": balanced, "rare": rare, "half dependent": half_dependent}


def simulate(
    draw: Draw,
    option: Option,
    *,
    alpha: float,
    runs: int,
    max_iter: int = 3,
    seed: int = 0,
) -> Outcome:
    """Run uFC on ``runs`` tables, which are the same for every option."""
    plan, stop = Plan(option.criterion(alpha), "batch"), NoStop()
    n_false, n_made = np.zeros(runs), np.zeros(runs)
    for k in range(runs):
        table, blocks = draw(np.random.default_rng([seed, k]))
        names = [f"x{column}" for column in range(table.shape[1])]
        store = PackedColumns.from_table(table)
        fitted = run_ufc(store, names, plan, stop, max_iter=max_iter).feature_set
        n_false[k], n_made[k] = _count_false(fitted, blocks), len(fitted.merges)
    return Outcome(
        option,
        Rate(int(np.count_nonzero(n_false)), runs),
        float(np.mean(n_false / np.maximum(n_made, 1))),
        float(np.mean(n_made - n_false)),
    )


def _count_false(fitted: FeatureSet, blocks: list[int]) -> int:
    """Return the replaced pairs that mix columns of several blocks."""
    touched = [{block} for block in blocks]
    for left, right in fitted.lineage.conjunctions:
        touched.append(touched[max(left, ~left)] | touched[max(right, ~right)])
    return sum(len(touched[merge.left] | touched[merge.right]) > 1 for merge in fitted.merges)


def report(alpha: float = 0.05, runs: int = 1000, max_iter: int = 3) -> Iterator[str]:
    """Yield the tables of docs/risk.md, line by line."""
    yield f"alpha = {alpha:g}, {runs} runs each of {max_iter} iterations"
    for name, draw in DATA.items():
        yield ""
        yield f"{name:16}{'correction':12}any false (95% interval)  false share  true pairs"
        for option in options():
            outcome = simulate(draw, option, alpha=alpha, runs=runs, max_iter=max_iter)
            low, high = outcome.any_false.interval
            kind = f"{option.test}{', pruned' if option.prune else ''}"
            yield (
                f"{kind:16}{option.correction or 'none':12}"
                f"{outcome.any_false.value:.4f} ({low:.4f} to {high:.4f})"
                f"{outcome.false_share:12.4f}{outcome.n_true:12.2f}"
            )


def main() -> int:
    for line in report():
        print(line, flush=True)
    return 0
