"""Criteria: which pairs may be joined, and which comes first."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from conjunct.parameters import is_number
from conjunct.ufc.association import (
    CutOff,
    Floats,
    PairFilter,
    Pairs,
    correlated_pairs,
    with_evidence,
)
from conjunct.ufc.rules import Rule, RuleRegistry

if TYPE_CHECKING:
    from conjunct.columns import Contingency, PairCounts
    from conjunct.counting import Merging
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.best import Order
    from conjunct.ufc.search.ledger import Ledger
    from conjunct.ufc.search.stage import Stage

Search = Literal["batch", "pairwise"]
SEARCHES: tuple[Search, ...] = ("batch", "pairwise")


class Criterion(Rule):
    """Base of the criteria."""

    search: ClassVar[Search]
    """The search that goes with the criterion, if none is asked for."""
    stop: ClassVar[str]
    """The stopping rule that goes with it."""
    searches: ClassVar[tuple[Search, ...]] = SEARCHES
    """All searches that can be asked for."""
    counts_tags: ClassVar[bool] = False
    """Whether ``max_length`` bounds the tags of a pattern, and not the literals of a formula."""
    draws_once: ClassVar[bool] = False
    """Whether the line is drawn once even where an iteration replaces many pairs."""
    needs_patterns: ClassVar[bool] = False
    """Whether pairs are judged by the rows that have all their tags, too."""
    ending: ClassVar[tuple[str, ...]] = ()
    """Settings that only say where a run ends, so that a run can go on with others."""

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
        pair_filter, cut_off = self.pair_filter.drawn_once(first())
        return Judge(pair_filter, self.pair_filter.alpha, cut_off)

    @abstractmethod
    def order(self, merging: Merging, ledger: Ledger, judge: Judge, features: list[int]) -> Order:
        """Which pair comes first, where one pair is taken at a time.

        ``features`` are those of the columns, by their numbers in the lineage.
        """

    def candidates(self, stage: Stage, ledger: Ledger, judge: Judge) -> Pairs:
        """The pairs that may be joined, with what orders them, where many are taken at once."""
        return correlated_pairs(stage.counts, judge.pair_filter)

    def gain(self, saved: float, cost: float) -> float:
        """Return what a merge is worth; a run goes on while that is above 0.

        ``saved`` is what the merge brought less its cost.
        """
        return saved

    def why_no_gain(self, run: Run) -> str:
        """Return why the next best pair is not worth joining, as the end of a sentence."""
        last = run.tried[-1]
        longer = f"{-last.gain:.1f} bits longer" if -last.gain >= 0.05 else "no shorter"
        pair = run.pair_text(last.merges[0])
        return f"the next best pair, {pair}, would make the description {longer}"

    def why_nothing_gained(self, run: Run) -> str:
        """Return why not even the first pair is worth joining, and what would help."""
        return (
            f"No feature was constructed: {run.count_open_pairs()} pairs of columns go together "
            f"more than chance may explain, but {self.why_no_gain(run)}. "
            f"More rows would help; criterion='risk' joins such pairs all the same"
        )

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
    cut_off: CutOff | None = None

    def evidence(self, counts: Contingency, score: Floats) -> Pairs:
        """What speaks for pairs that are taken, and their scores."""
        if self.cut_off is None:
            raise ValueError("each iteration draws a line of its own")
        pairs = with_evidence(counts, self.cut_off.family_size, self.pair_filter)
        if self.alpha is not None and self.pair_filter.alpha is not None:
            # the line is where the adjusted p-value would be alpha
            adjusted = np.minimum(pairs.p_value * (self.alpha / self.pair_filter.alpha), 1.0)
            pairs = replace(pairs, p_adjusted=adjusted)
        return replace(pairs, score=score, cut_off=self.cut_off)


class _Criteria(RuleRegistry[Criterion]):
    """A number stands for the paper's λ."""

    def made(self, value: object) -> Criterion | None:
        by_number = {"rule": "threshold", "threshold": value}
        return super().made(by_number if is_number(value) else value)


CRITERIA: RuleRegistry[Criterion] = _Criteria("criterion", "conjunct.ufc.criteria")


def share(value: float) -> str:
    """
    Examples
    --------
    >>> share(0.05), share(0.0004), share(0.0)
    ('0.05', '0.0004', '0')
    """
    return f"{value:.2g}" if math.isfinite(value) else str(value)
