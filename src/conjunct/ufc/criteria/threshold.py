"""Threshold: the paper's uFC(λ, limit_iter). Join what is correlated above λ (§3.2)."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

from conjunct.parameters import check, check_choice, is_number
from conjunct.ufc.association import MEASURES, PairFilter
from conjunct.ufc.criteria.base import CRITERIA, Criterion, Judge, Search
from conjunct.ufc.search.best import ByJointCount

if TYPE_CHECKING:
    from conjunct.counting import Merging
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Ledger


@CRITERIA.enter
class Threshold(Criterion):
    """Pairs whose association exceeds a threshold: the paper's uFC(λ, limit_iter).

    ``UFC(0.432, max_iter=3)`` is short for ``UFC(Threshold(0.432), max_iter=3)``.

    Parameters
    ----------
    threshold : float
        What ``measure`` must exceed: in [0, 1) for the correlation, the paper's λ.
    measure : str, default="phi"
        ``"phi"`` (the correlation), ``"jaccard"``, ``"cosine"``, ``"yule_q"``, ``"npmi"`` or
        ``"mutual_information"``, with thresholds in [0, 1); ``"pmi"``, at least 0; ``"lift"``, at
        least 1. Pairs must go together more often than independent ones whatever it is.
    prune : bool, default=False
        Leave out pairs with an expected frequency below 5.
    """

    name = "threshold"
    summary = "a number: the paper's λ, which the correlation must exceed"
    search: Search = "batch"  # type: ignore[misc]
    stop = "rms"

    def __init__(self, threshold: float = 0.0, measure: str = "phi", prune: bool = False) -> None:
        self.threshold = threshold
        self.measure = measure
        self.prune = prune

    def check(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        measure = MEASURES[self.measure]
        value = self.threshold
        in_range = is_number(value) and measure.least <= value < measure.below
        below = "" if isinf(measure.below) else f" up to, but not including, {measure.below:g}"
        check(in_range, "threshold", value, f"a number from {measure.least:g}{below}")
        check(isinstance(self.prune, bool), "prune", self.prune, "True or False")

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(float(self.threshold), prune=self.prune, measure=self.measure)

    def order(
        self, merging: Merging, ledger: Ledger, judge: Judge, features: list[int]
    ) -> ByJointCount:
        return ByJointCount(judge.pair_filter)

    def why_nothing(self, run: Run) -> str:
        pruned = " and has expected frequencies of 5" if self.prune else ""
        return (
            f"No feature was constructed: no pair of columns exceeds a {self._noun} of "
            f"{self.threshold:.3f}{pruned}. Try a smaller threshold, or criterion='evidence'"
        )

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left with a {self._noun} above "
            f"{self.threshold:.3f}{run.bound_text}"
        )

    @property
    def _noun(self) -> str:
        return "correlation" if self.measure == "phi" else self.measure.replace("_", " ")
