"""Risk: the paper's uFCα. Join what is significantly correlated (§6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conjunct.parameters import check, check_choice, check_risk
from conjunct.ufc.association import (
    CORRECTIONS,
    MEASURES,
    TESTS,
    PairFilter,
)
from conjunct.ufc.criteria.base import CRITERIA, Criterion, Judge, Search
from conjunct.ufc.search.best import ByJointCount

if TYPE_CHECKING:
    from conjunct.counting import Merging
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Ledger


@CRITERIA.enter
class Risk(Criterion):
    """Pairs whose correlation is significantly positive: the paper's uFCα (docs/risk.md).

    The paper's own runs are ``search="batch"`` with ``stop="rms"``, which go with this criterion;
    its tables use ``prune=False``.

    Parameters
    ----------
    alpha : float, default=0.001
        Risk of joining a pair that is in fact independent: of each pair, or of an iteration with
        a ``correction``. Where one pair is taken at a time, the correction is made once, for the
        pairs of columns.
    test : {"normal", "exact"}, default="normal"
        How p-values are computed: as in the paper, or by Fisher's exact test, which is valid for
        rare columns too (``prune=False`` keeps those).
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Correct for the number of pairs tested. ``"bonferroni"`` and ``"holm"`` bound the risk of
        joining any independent pair, ``"bh"`` and ``"by"`` the expected share of independent
        pairs among the significant ones.
    prune : bool, default=True
        Leave out pairs for which the normal test is not valid: those with an expected frequency
        below 5.
    measure : str, default="phi"
        Which pairs come first; see ``Threshold``.
    """

    name = "risk"
    summary = "the paper's uFCα: join what is significantly correlated"
    search: Search = "batch"  # type: ignore[misc]
    stop = "rms"

    def __init__(
        self,
        alpha: float = 0.001,
        test: str = "normal",
        correction: str | None = None,
        prune: bool = True,
        measure: str = "phi",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.correction = correction
        self.prune = prune
        self.measure = measure

    def check(self) -> None:
        check_risk("alpha", self.alpha)
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS, optional=True)
        check(isinstance(self.prune, bool), "prune", self.prune, "True or False")
        check_choice("measure", self.measure, MEASURES)

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(
            alpha=self.alpha,
            prune=self.prune,
            measure=self.measure,
            test=self.test,
            correction=self.correction,
        )

    def order(
        self, merging: Merging, ledger: Ledger, judge: Judge, features: list[int]
    ) -> ByJointCount:
        return ByJointCount(judge.pair_filter)

    def why_nothing(self, run: Run) -> str:
        threshold = self.fixed_threshold(run.n_rows)
        if threshold is not None and threshold > 1:
            return (
                f"No feature was constructed: with {run.n_rows} rows no correlation is "
                f"significant at this alpha. Try a larger alpha, or criterion='evidence'"
            )
        if threshold is None:
            after = f" after the {self.correction} correction" if self.correction else ""
            passes = f"is significant at alpha={self.alpha:g}{after}"
        else:
            passes = f"reaches a correlation of {threshold:.3f}"
        pruned = " and has expected frequencies of 5" if self.prune else ""
        return (
            f"No feature was constructed: no pair of columns {passes}{pruned}. Try "
            f"criterion='evidence', which judges rare columns too, or a larger alpha"
        )

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left whose correlation is "
            f"significant at alpha={self.alpha:g}{run.bound_text}"
        )
