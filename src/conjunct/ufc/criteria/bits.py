"""Bits: of the pairs whose association is real, join what shortens the description most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from conjunct.columns import Contingency
from conjunct.features import bits_saved, rounded
from conjunct.parameters import check_choice, check_risk
from conjunct.ufc.association import CORRECTIONS, TESTS, PairFilter, Pairs
from conjunct.ufc.criteria.base import CRITERIA, Criterion, Judge, Search, share
from conjunct.ufc.search.best import BySavedBits

if TYPE_CHECKING:
    from conjunct.counting import Merging
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Ledger
    from conjunct.ufc.search.stage import Stage


@CRITERIA.enter
class Bits(Criterion):
    """Chunks of tags that belong together, chosen by the bits they save (docs/bits.md).

    A pair may be joined if its association is real: r is above 0, and the p-value is not above a
    line that is drawn once, over all pairs of columns. Of these pairs the one comes first that
    shortens the description of the data most.

    Parameters
    ----------
    alpha : float or None, default=0.05
        Where the line is drawn: with Benjamini and Hochberg's correction, the share of pairs that
        go together by chance alone among those below it. ``None``: no test, r > 0. That
        compresses most, but on few rows or rare tags it learns chance by heart.
    test : {"exact", "normal"}, default="exact"
        Fisher's exact test, or the paper's normal one.
    correction : {"bh", "by", "holm", "bonferroni"} or None, default="bh"
        How the number of pairs is allowed for.
    """

    name = "bits"
    summary = "join what makes the description of the data shortest"
    search: Search = "pairwise"  # type: ignore[misc]
    stop = "gain"
    counts_tags = True
    draws_once = True

    def __init__(
        self,
        alpha: float | None = 0.05,
        test: str = "exact",
        correction: str | None = "bh",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.correction = correction

    def check(self) -> None:
        check_risk("alpha", self.alpha, optional=True)
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS, optional=True)

    @property
    def pair_filter(self) -> PairFilter:
        if self.alpha is None:
            return PairFilter(0.0, test=self.test)
        return PairFilter(alpha=self.alpha, test=self.test, correction=self.correction)

    def fixed_threshold(self, n_rows: int) -> None:
        return None

    def order(
        self, merging: Merging, ledger: Ledger, judge: Judge, features: list[int]
    ) -> BySavedBits:
        return BySavedBits(merging, ledger, features)

    def candidates(self, stage: Stage, ledger: Ledger, judge: Judge) -> Pairs:
        counts = Contingency.joined(
            [block.take(judge.pair_filter.accepts(block)) for block in stage.counts.pair_blocks()],
            stage.counts.n_rows,
        )
        costs = np.array([ledger.costs[number] for number in stage.features])
        saved = rounded(
            bits_saved(
                counts.left_support,
                counts.right_support,
                counts.joint,
                ledger.total,
                ledger.n_used,
                costs[counts.left],
                costs[counts.right],
            )
        )
        shorter = np.flatnonzero(saved > 0)
        return judge.evidence(counts.take(shorter), saved[shorter])

    def why_nothing(self, run: Run) -> str:
        nothing = "No feature was constructed"
        n_pairs = run.count_tested_pairs()
        if n_pairs == 0:
            return f"{nothing}: fewer than two columns are true in some rows and false in others"
        nearest = run.nearest_pair()
        if nearest is None:
            return f"{nothing}: no two columns are true together more often than by chance"
        if self.alpha is None:
            return f"{nothing}: no pair of columns goes together more often than by chance"
        text, p_value = nearest
        return (
            f"{nothing}: no pair of columns goes together more than chance may explain. Of "
            f"{n_pairs} pairs, {text} comes nearest: p = {share(p_value)}, and only "
            f"{share(run.judge.pair_filter.alpha or 0.0)} or less would do. More rows would help; "
            f"criterion=Bits(alpha=None) leaves the test out"
        )

    def why_no_more(self, run: Run) -> str:
        # many at once are taken only where they pay
        shorter = " and makes the description shorter" if run.plan.search == "batch" else ""
        return (
            f"It stopped after {run.iterations_text}: no pair is left that goes together more "
            f"than chance may explain{shorter}{run.bound_text}"
        )
