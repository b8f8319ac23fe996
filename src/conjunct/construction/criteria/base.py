"""Criteria: which pairs may be joined, and which comes first."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from conjunct.association import Floats, Line, PairFilter, Pairs, correlated_pairs, judged
from conjunct.construction.rules import Registry, Rule
from conjunct.construction.settings import is_number

if TYPE_CHECKING:
    from conjunct.construction.ledger import Ledger
    from conjunct.construction.pairwise import Order
    from conjunct.construction.run import Run
    from conjunct.construction.stage import Stage
    from conjunct.stores import Contingency, Merging, PairCounts

Search = Literal["batch", "pairwise", "thorough"]
SEARCHES: tuple[Search, ...] = ("batch", "pairwise", "thorough")


class Criterion(Rule):
    """Base of the criteria."""

    search: ClassVar[Search]
    """The search that goes with the criterion, if none is asked for."""
    stop: ClassVar[str]
    """The stopping rule that goes with it."""
    searches: ClassVar[tuple[Search, ...]] = ("batch", "pairwise")
    """All searches that can be asked for."""
    counts_tags: ClassVar[bool] = False
    """Whether ``max_length`` bounds the tags of a pattern, and not the literals of a formula."""
    draws_once: ClassVar[bool] = False
    """Whether the line is drawn once even where an iteration replaces many pairs."""

    @property
    @abstractmethod
    def pair_filter(self) -> PairFilter:
        """Which pairs may be joined."""

    def fixed_threshold(self, n_rows: int) -> float | None:
        """The threshold of every iteration; ``None`` where the data draw a line."""
        return self.pair_filter.fixed_threshold(n_rows)

    def judge(self, first: Callable[[], PairCounts], search: Search) -> Judge:
        """The criterion at work, given the counts of the pairs of columns.

        Where one pair is taken at a time, these draw a line that holds for all that follows.
        """
        if search == "batch" and not self.draws_once:
            return Judge(self.pair_filter, self.pair_filter.alpha)
        pair_filter, line = self.pair_filter.drawn_once(first())
        return Judge(pair_filter, self.pair_filter.alpha, line)

    @abstractmethod
    def order(self, merging: Merging, ledger: Ledger, judge: Judge, features: list[int]) -> Order:
        """Which pair comes first, where one pair is taken at a time.

        ``features`` are those of the columns, by their numbers in the lineage.
        """

    def candidates(self, stage: Stage, ledger: Ledger, judge: Judge) -> Pairs:
        """The pairs that may be joined, with what orders them, where many are taken at once."""
        return correlated_pairs(stage.tally, judge.pair_filter)

    @abstractmethod
    def why_nothing(self, run: Run) -> str:
        """Why no pair could be joined, and what would help with these data."""

    @abstractmethod
    def why_no_more(self, run: Run) -> str:
        """Why no further pair could be joined."""


@dataclass(frozen=True, eq=False)
class Judge:
    """A filter, and the line that it draws; ``None`` where each iteration draws one of its own.

    ``alpha`` is the level that was asked for, which the line corrects for the number of pairs.
    """

    pair_filter: PairFilter
    alpha: float | None
    line: Line | None = None

    def evidence(self, counts: Contingency, score: Floats) -> Pairs:
        """What speaks for pairs that are taken, and their scores."""
        if self.line is None:
            raise ValueError("each iteration draws a line of its own")
        pairs = judged(counts, self.line.family_size, self.pair_filter)
        if self.alpha is not None and self.pair_filter.alpha is not None:
            # the line is where the adjusted p-value would be alpha
            adjusted = np.minimum(pairs.p_value * (self.alpha / self.pair_filter.alpha), 1.0)
            pairs = replace(pairs, p_adjusted=adjusted)
        return replace(pairs, score=score, line=self.line)


class _Criteria(Registry[Criterion]):
    """A number stands for the paper's λ."""

    def made(self, value: object) -> Criterion | None:
        by_number = {"rule": "threshold", "threshold": value}
        return super().made(by_number if is_number(value) else value)


CRITERIA: Registry[Criterion] = _Criteria("criterion")


def criterion_of(value: object) -> Criterion:
    """The criterion that a name, a number or a criterion stands for, checked."""
    made = CRITERIA.made(value)
    if made is None:
        raise CRITERIA.refusal(value)
    made.check()
    return made


def share(value: float) -> str:
    """
    Examples
    --------
    >>> share(0.05), share(0.0004), share(0.0)
    ('0.05', '0.0004', '0')
    """
    return f"{value:.2g}" if math.isfinite(value) else str(value)
