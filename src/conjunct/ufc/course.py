"""What is looked at after each iteration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from conjunct.columns import Counts
from conjunct.errors import InputError
from conjunct.features import Lineage, complexity, mean_length, overlapping_index, rms


@dataclass(frozen=True)
class Indicators:
    """One line of a run's history. C0 and RMS are NaN where C0 has no meaning.

    ``bits`` is the length of the description of the data by these features in Krimp's code, and
    ``evidence`` what the merges so far brought less what they cost; NaN where it is not looked at.
    """

    iteration: int
    n_features: int
    length: float
    oi: float
    c0: float
    rms: float
    bits: float = math.nan
    evidence: float = math.nan


def last_within(history: Sequence[Indicators], max_features: int) -> int:
    """Return the last step that has at most ``max_features`` features.

    A merge replaces two features by one to three, so steps with few features need not come first.
    Every step that a stopping rule keeps is better than those before it, so this is the best one.
    """
    fits = [line.iteration for line in history if line.n_features <= max_features]
    if not fits:
        fewest = min(line.n_features for line in history)
        raise InputError(
            f"max_features is {max_features}, but no step of the run has fewer than {fewest} "
            f"features, because rows must stay recoverable from {history[0].n_features} columns: "
            f"choose at least {fewest}"
        )
    return fits[-1]


def beginning_text(n_kept: int, n_made: int, noun: str, max_features: int) -> str:
    """Return why not all of a run was kept."""
    kept = f"the first {n_kept} {'is' if n_kept == 1 else 'are'}" if n_kept else "none is"
    return (
        f"Of {n_made} {noun}{'s' * (n_made != 1)} {kept} kept: the next would leave more than "
        f"{max_features} features, which is max_features."
    )


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
