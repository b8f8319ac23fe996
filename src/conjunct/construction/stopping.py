"""When a run ends: policies that consume a generator of stages."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np

from conjunct.association import Pairs
from conjunct.construction.lineage import Lineage
from conjunct.construction.stage import Stage
from conjunct.evaluation import complexity, mean_length, overlapping_index, rms
from conjunct.stores import Counts

READABLE_LENGTH = 100
"""Mean literals of a feature beyond which a run that may stop by itself does so."""


@dataclass(frozen=True)
class Indicators:
    """One line of a run's history. C0 and RMS are NaN where C0 has no meaning."""

    iteration: int
    n_features: int
    length: float
    oi: float
    c0: float
    rms: float


class Evaluated(Protocol):
    """What of a stage is evaluated."""

    @property
    def iteration(self) -> int: ...

    @property
    def features(self) -> tuple[int, ...]: ...

    @property
    def supports(self) -> Counts: ...

    @property
    def observed(self) -> int | Counts: ...


@dataclass(frozen=True)
class Evaluator:
    """Computes the indicators of stages over the same primitives and rows."""

    lineage: Lineage
    n_rows: int
    n_distinct_rows: int
    null_support: int | None = None

    def __call__(self, stage: Evaluated) -> Indicators:
        oi = self._overlap(stage.supports, stage.observed)
        c0 = math.nan
        if self.has_complexity:
            n_primitives = len(self.lineage.primitives)
            c0 = complexity(len(stage.features), n_primitives, self.n_distinct_rows)
        length = mean_length(self.lineage.lengths(stage.features))
        return Indicators(stage.iteration, len(stage.features), length, oi, c0, rms(oi, c0))

    def _overlap(self, supports: Counts, observed: int | Counts) -> float:
        if isinstance(observed, int) or self.null_support is None:
            return overlapping_index(supports, observed, null_support=self.null_support)
        # "null" is another feature, known in every row
        return overlapping_index([*supports, self.null_support], [*observed, self.n_rows])

    @property
    def has_complexity(self) -> bool:
        """Whether C0 has a meaning: there must be more distinct rows than primitives."""
        return self.n_distinct_rows > len(self.lineage.primitives)


def until_rises(stages: Iterable[Stage], value: Callable[[Stage], float]) -> Iterator[Stage]:
    """The stages up to the last one before a value rises (RMS: §6.2). The first always comes."""
    lowest = math.inf
    for stage in stages:
        present = value(stage)
        if present > lowest:
            return
        lowest = present
        yield stage


@dataclass(frozen=True)
class Balance:
    """What was gained and what it cost, by the measure of the correlated primitives alone.

    ``redundancy`` is in how many rows candidates for replacement still meet, summed over these
    pairs, as a share of what it was at first; ``growth`` the number of features added, as a share
    of the primitives that were in a candidate pair. Columns that go with no other count in
    neither, however many there are.
    """

    redundancy: float
    growth: float

    @property
    def distance(self) -> float:
        """From the ideal: nothing is redundant, and nothing was added."""
        return math.hypot(self.redundancy, self.growth)


class Balancing:
    """Computes the balance of stages, of which the first are the primitives."""

    def __init__(self, candidates: Callable[[Stage], Pairs]) -> None:
        self._candidates = candidates
        self._first: tuple[int, int, int] | None = None
        self.balances: list[Balance] = []

    def __call__(self, stage: Stage) -> Balance:
        pairs = self._candidates(stage)
        meetings, n_features = int(pairs.joint.sum(dtype=np.int64)), len(stage.features)
        if self._first is None:
            correlated = np.union1d(pairs.left, pairs.right)
            self._first = meetings, n_features, len(correlated)
        most, n_primitives, n_correlated = self._first
        growth = (n_features - n_primitives) / max(n_correlated, 1)
        self.balances.append(Balance(meetings / max(most, 1), growth))
        return self.balances[-1]


def while_readable(
    stages: Iterable[Stage], evaluate: Callable[[Stage], Indicators]
) -> Iterator[Stage]:
    """The stages up to the last one whose features have at most ``READABLE_LENGTH`` literals each.

    With many distinct rows C0 stays near 0 whatever is constructed, and RMS alone would go on
    until formulas have millions of literals.
    """
    for stage in stages:
        if evaluate(stage).length > READABLE_LENGTH:
            return
        yield stage


def at_most(stages: Iterable[Stage], max_iter: int | None) -> Iterator[Stage]:
    """The first ``max_iter`` stages after the primitives (the paper's ``limit_iter``)."""
    return islice(stages, None if max_iter is None else min(max_iter + 1, sys.maxsize))
