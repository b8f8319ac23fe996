"""uFC as a scikit-learn transformer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import isnan
from typing import Literal, get_args

from conjunct.association import Criterion
from conjunct.construction.run import Run, run_ufc
from conjunct.construction.stopping import Indicators
from conjunct.construction.ufc import Rule, Search
from conjunct.errors import ConjunctWarning
from conjunct.estimators.lossless import LosslessConstructor
from conjunct.estimators.parameters import (
    check,
    check_choice,
    check_reading,
    check_whole,
    is_number,
)
from conjunct.expressions import Style
from conjunct.stores import BitStore


class UFC(LosslessConstructor):
    """Unsupervised feature construction: replace correlated columns by readable conjunctions.

    A pair of correlated features ``f``, ``g`` gives way to ``f ∧ g``, ``¬f ∧ g`` and ``f ∧ ¬g``,
    iteration after iteration. No labels are used and no information is lost.

    Parameters
    ----------
    threshold : "risk" or float, default="risk"
        Pairs whose correlation exceeds this are replaced. ``"risk"``: the smallest correlation
        that is significantly positive at level ``alpha`` (the paper's uFCα). A number in [0, 1):
        the paper's λ.
    alpha : float, default=0.001
        Risk of replacing a pair that is in fact independent. Used by ``threshold="risk"`` only.
    max_iter : int, optional
        Number of iterations (the paper's ``limit_iter``). ``None``: ``stop`` decides.
    stop : {"rms", None}, default="rms"
        When to end where ``max_iter`` is None. ``"rms"``: at the last iteration before the root
        mean square of overlap and complexity rises; with a warning after one iteration where
        there are no more distinct rows than columns, for complexity has no meaning there.
        ``None``: when nothing is left to replace.
    prune : bool, default=True
        Leave out pairs for which the test is not valid: those with an expected frequency below 5.
        The paper's tables use ``False``.
    search : {"batch", "pairwise"}, default="batch"
        ``"batch"``: an iteration replaces all pairs of a greedy matching, as in the paper.
        ``"pairwise"``: it replaces one pair, that with the largest joint count, and looks again.
    max_length : int, optional
        No feature is made with more literals than this.
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How feature names are written: ``sky ∧ ¬building`` or ``sky & ~building``.
    callback : callable, optional
        Called with the indicators of each iteration as it ends.
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line for each iteration.

    Attributes
    ----------
    features_ : tuple of Expression
        The constructed features.
    threshold_ : float
        The correlation that a pair had to exceed.
    n_iter_ : int
        Number of iterations behind ``features_``.
    history_ : tuple of Indicators
        ``iteration, n_features, length, oi, c0, rms`` after each iteration, primitives first.
    feature_set_ : FeatureSet
        The features with all that they were made from.
    n_distinct_rows_ : int
        Number of distinct rows in the training data.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from conjunct import UFC
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> model = UFC(max_iter=1).fit(baskets)
    >>> print(*model.features_, sep="\\n")
    sky
    cascade ∧ water
    ¬cascade ∧ water
    """

    n_distinct_rows_: int

    def __init__(
        self,
        threshold: float | Literal["risk"] = "risk",
        *,
        alpha: float = 0.001,
        max_iter: int | None = None,
        stop: Literal["rms"] | None = "rms",
        prune: bool = True,
        search: Search = "batch",
        max_length: int | None = None,
        null_feature: bool = False,
        binarize: float | None = None,
        style: Style = "unicode",
        callback: Callable[[Indicators], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.threshold = threshold
        self.alpha = alpha
        self.max_iter = max_iter
        self.stop = stop
        self.prune = prune
        self.search = search
        self.max_length = max_length
        self.null_feature = null_feature
        self.binarize = binarize
        self.style = style
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _construct(self, store: BitStore, names: Sequence[str]) -> None:
        self._check_parameters()
        rule = Rule(self._criterion(store.n_rows), self.search, self.max_length)
        run = run_ufc(
            store,
            names,
            rule,
            max_iter=self.max_iter,
            stop=self.stop if self.max_iter is None else None,
            null_feature=self.null_feature,
            watch=self._watch,
        )
        self.feature_set_ = run.feature_set
        self.history_ = run.history
        self.n_distinct_rows_ = run.n_distinct_rows
        self.threshold_ = rule.criterion.threshold
        if run.n_iter == 0 and self.max_iter != 0:
            warnings.warn(_why_nothing(run, rule), ConjunctWarning, stacklevel=3)
        elif self.max_iter is None and self.stop == "rms" and isnan(run.history[-1].rms):
            warnings.warn(_why_one_iteration(run, len(names)), ConjunctWarning, stacklevel=3)

    def _criterion(self, n_rows: int) -> Criterion:
        if self.threshold == "risk":
            return Criterion.from_risk(self.alpha, n_rows, prune=self.prune)
        return Criterion(float(self.threshold), prune=self.prune)

    def _check_parameters(self) -> None:
        threshold = self.threshold
        check(
            threshold == "risk" or (is_number(threshold) and 0 <= threshold < 1),
            "threshold",
            threshold,
            "'risk' or a number from 0 up to, but not including, 1",
        )
        alpha = self.alpha
        check(is_number(alpha) and 0 < alpha < 0.5, "alpha", alpha, "between 0 and 0.5")
        check_whole("max_iter", self.max_iter, 0, optional=True)
        check_whole("max_length", self.max_length, 2, optional=True)
        check(self.stop in ("rms", None), "stop", self.stop, "'rms' or None")
        check_choice("search", self.search, get_args(Search))
        check_reading(self.binarize, self.style, self.n_jobs)


def _why_nothing(run: Run, rule: Rule) -> str:
    if rule.criterion.threshold > 1:
        return (
            f"no feature was constructed: with {run.feature_set.n_rows} rows no correlation is "
            f"significant at this alpha. Try a larger alpha, or a number for threshold"
        )
    if len(run.tried) == 1:
        kind = "exceeds" if rule.criterion.strict else "reaches"
        pruned = " and has expected frequencies of 5" if rule.criterion.prune else ""
        return (
            f"no feature was constructed: no pair of columns {kind} a correlation of "
            f"{rule.criterion.threshold:.3f}{pruned}. Try a larger alpha, a smaller threshold or "
            f"prune=False"
        )
    before, after = run.tried[0], run.tried[1]
    return (
        f"no feature was constructed: the first iteration raises RMS from {before.rms:.3g} to "
        f"{after.rms:.3g} (OI {before.oi:.3g} → {after.oi:.3g}, C0 {before.c0:.3g} → "
        f"{after.c0:.3g}). Try search='pairwise', or set max_iter"
    )


def _why_one_iteration(run: Run, n_columns: int) -> str:
    return (
        f"C0 has no meaning for {run.n_distinct_rows} distinct rows and {n_columns} columns, so "
        f"the RMS stop cannot be used: one iteration was made. Set max_iter to choose"
    )
