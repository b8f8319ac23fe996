"""uFC as a scikit-learn transformer."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from math import isinf, isnan
from typing import Any, Literal

from conjunct.association import (
    CORRECTIONS,
    MEASURES,
    TESTS,
    Correction,
    PairFilter,
    Measure,
    MeasureInfo,
    Test,
)
from conjunct.construction.run import STOPS, Run, Stop, run_ufc
from conjunct.construction.indicators import READABLE_LENGTH, Indicators
from conjunct.construction.batch import Rule, Search
from conjunct.errors import ConjunctWarning
from conjunct.estimators.lossless import LosslessConstructor
from conjunct.construction.settings import (
    check,
    check_choice,
    check_common,
    check_frequency,
    check_risk,
    check_whole,
    is_number,
)
from conjunct.estimators.values import Missing
from conjunct.expressions import Style
from conjunct.io.checkpoint import Checkpoint
from conjunct.stores import Store
from conjunct.stores.sizing import STORE_KINDS, Need, StoreKind

# an overlapping index below which there is little for RMS to weigh complexity against
_LOW_OVERLAP = 0.1


class UFC(LosslessConstructor):
    """Unsupervised feature construction: replace correlated columns by readable conjunctions.

    A pair of correlated features ``f``, ``g`` gives way to ``f ∧ g``, ``¬f ∧ g`` and ``f ∧ ¬g``,
    iteration after iteration. No labels are used and, without ``min_support``, no information is
    lost. What the statistical options mean is in docs/risk.md.

    Parameters
    ----------
    threshold : "risk" or float, default="risk"
        Which pairs are replaced. ``"risk"``: those whose correlation is significantly positive at
        level ``alpha`` (the paper's uFCα). A number: those whose ``measure`` exceeds it; in [0, 1)
        for the correlation (the paper's λ).
    alpha : float, default=0.001
        Risk of replacing a pair that is in fact independent: of each pair, or of an iteration
        with a ``correction``. Used by ``threshold="risk"`` only.
    max_iter : int, optional
        Number of iterations (the paper's ``limit_iter``). ``None``: ``stop`` decides.
    stop : {"rms", "relative", None}, default="rms"
        When to end where ``max_iter`` is None. ``"rms"``: at the last iteration before the root
        mean square of overlap and complexity rises, or (with a warning) before features have
        more than 100 literals on average; with a warning after one iteration where
        there are no more distinct rows than columns, for complexity has no meaning there.
        ``"relative"``: the same by the measure of the correlated columns alone, for data with
        very many (docs/scale.md): before what is left to replace, as a share of what there was,
        and the features added, as a share of the correlated columns, together rise.
        ``None``: when nothing is left to replace.
    prune : bool, default=True
        Leave out pairs for which the test is not valid: those with an expected frequency below 5.
        The paper's tables use ``False``.
    search : {"batch", "pairwise"}, default="batch"
        ``"batch"``: an iteration replaces all pairs of a greedy matching, as in the paper.
        ``"pairwise"``: it replaces one pair, that with the largest joint count, and looks again.
    max_length : int, optional
        No feature is made with more literals than this.
    measure : str, default="phi"
        What a number for ``threshold`` is compared with, and which pairs come first:
        ``"phi"`` (the correlation), ``"jaccard"``, ``"cosine"``, ``"yule_q"``, ``"npmi"`` or
        ``"mutual_information"``, with thresholds in [0, 1); ``"pmi"``, at least 0; ``"lift"``, at
        least 1. Pairs must go together more often than independent ones whatever it is.
    test : {"normal", "exact"}, default="normal"
        How p-values are computed: as in the paper, or by Fisher's exact test, which is valid for
        rare columns too (``prune=False`` keeps those).
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Correct for the number of pairs tested in an iteration. ``"bonferroni"`` and ``"holm"``
        bound the risk of replacing any independent pair, ``"bh"`` and ``"by"`` the expected share
        of independent pairs among the significant ones.
    min_support : float, optional
        Suppress features that are true in less than this share of rows, in (0, 1]. They are
        listed in ``suppressed_``.
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false", "pairwise"}, default="raise"
        Missing cells (NaN, None, null) are refused; are taken as false; or stay missing: pairs
        are judged in the rows in which both are known, and conjunctions follow Kleene's logic
        (docs/missing-values.md).
    store : {"auto", "bits", "sparse"}, default="auto"
        How columns are held and counted: at one bit a cell, or as lists of rows, for many columns
        that are rare. ``"auto"``: as is quicker and fits in memory (docs/scale.md). The result
        does not depend on it.
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How feature names are written: ``sky ∧ ¬building`` or ``sky & ~building``.
    callback : callable, optional
        Called with the indicators of each iteration as it ends.
    checkpoint : path, optional
        File to write after each iteration. ``fit`` on the same data with the same options goes
        on from it (docs/cluster.md).
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line for each iteration.

    Attributes
    ----------
    features_ : tuple of Expression
        The constructed features.
    threshold_ : float or None
        What a pair's measure had to exceed, or its correlation to reach with ``"risk"``. None with
        a correction or the exact test: each iteration draws a line of its own (``get_rules``).
    suppressed_ : tuple of Expression
        The features below ``min_support``.
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

    _unsaved = (*LosslessConstructor._unsaved, "checkpoint", "store")
    _takes_parts = True

    # told before a fit what an iteration will take
    _tell_cost: Callable[[Need], object] | None = None

    n_distinct_rows_: int
    # also of a loaded model whose iterations each drew a line of their own
    threshold_: float | None = None

    def __init__(
        self,
        threshold: float | Literal["risk"] = "risk",
        *,
        alpha: float = 0.001,
        max_iter: int | None = None,
        stop: Stop | None = "rms",
        prune: bool = True,
        search: Search = "batch",
        max_length: int | None = None,
        measure: Measure = "phi",
        test: Test = "normal",
        correction: Correction | None = None,
        min_support: float | None = None,
        null_feature: bool = False,
        binarize: float | None = None,
        missing: Missing = "raise",
        store: StoreKind = "auto",
        style: Style = "unicode",
        callback: Callable[[Indicators], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
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
        self.measure = measure
        self.test = test
        self.correction = correction
        self.min_support = min_support
        self.null_feature = null_feature
        self.binarize = binarize
        self.missing = missing
        self.store = store
        self.style = style
        self.callback = callback
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def expected_cost(self, X: Any) -> Need:
        """What an iteration on ``X`` will take, within a factor of two or so.

        Raises
        ------
        InputError
            Where there is not so much memory, as ``fit`` does.

        Examples
        --------
        >>> from conjunct import UFC
        >>> print(UFC().expected_cost([["water", "cascade"]] * 40 + [["sky"]] * 60))
        about 1 s and 1 MB of memory an iteration
        """
        reader = UFC(**{**self.get_params(deep=False), "callback": None})
        need: Need = reader._read_to_fit(X).need()
        return need

    def _construct(self, store: Store, names: Sequence[str]) -> None:
        self._check_parameters()
        if self.verbose:
            sys.stdout.write(f"expected: {store.need()}\n")
        if self._tell_cost is not None:
            self._tell_cost(store.need())
        rule = Rule(self._criterion(), self.search, self.max_length)
        stop = self.stop if self.max_iter is None else None
        run = run_ufc(
            store,
            names,
            rule,
            max_iter=self.max_iter,
            stop=stop,
            null_feature=self.null_feature,
            watch=self._watch,
            keeper=None if self.checkpoint is None else Checkpoint(self.checkpoint),
        )
        self.feature_set_ = run.feature_set
        if self.min_support is not None:
            self.feature_set_ = run.feature_set.without_rare(self.min_support)
        self.history_ = run.history
        self.n_distinct_rows_ = run.n_distinct_rows
        self.threshold_ = rule.criterion.fixed_threshold(store.n_rows)
        if run.n_iter == 0 and self.max_iter != 0:
            warnings.warn(_why_nothing(run, rule), ConjunctWarning, stacklevel=3)
        elif stop == "rms" and isnan(run.history[-1].rms):
            warnings.warn(_why_one_iteration(run, len(names)), ConjunctWarning, stacklevel=3)
        elif stop is not None and run.tried[-1].length > READABLE_LENGTH:
            warnings.warn(_why_no_further(run), ConjunctWarning, stacklevel=3)

    def _criterion(self) -> PairFilter:
        risk = self.threshold == "risk"
        return PairFilter(
            threshold=0.0 if risk else float(self.threshold),
            alpha=self.alpha if risk else None,
            prune=self.prune,
            measure=self.measure,
            test=self.test,
            correction=self.correction,
        )

    def _check_parameters(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        measure = MEASURES[self.measure]
        threshold: Any = self.threshold
        in_range = is_number(threshold) and measure.least <= threshold < measure.below
        check(in_range or threshold == "risk", "threshold", threshold, _thresholds(measure))
        check_risk("alpha", self.alpha)
        check_whole("max_iter", self.max_iter, 0, optional=True)
        check_whole("max_length", self.max_length, 2, optional=True)
        check_choice("stop", self.stop, STOPS, optional=True)
        check_choice("store", self.store, STORE_KINDS)
        check_choice("search", self.search, ("batch", "pairwise"))
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS, optional=True)
        check_frequency("min_support", self.min_support, optional=True)
        check_common(self)


def _why_nothing(run: Run, rule: Rule) -> str:
    if len(run.tried) == 1:
        return f"no feature was constructed: {_no_pair(rule.criterion, run.feature_set.n_rows)}"
    if run.balances:
        after = run.balances[1]
        return (
            f"no feature was constructed: the first iteration would leave {after.redundancy:.0%} "
            f"of what there is to replace, for {after.growth:.0%} more features than there are "
            f"correlated columns. Try search='pairwise', or set max_iter"
        )
    first, tried = run.tried[0], run.tried[1]
    advice = "search='pairwise', or set max_iter"
    if first.oi < _LOW_OVERLAP:
        advice = f"stop='relative', for OI is low wherever columns are many and rare; {advice}"
    return (
        f"no feature was constructed: the first iteration raises RMS from {first.rms:.3g} to "
        f"{tried.rms:.3g} (OI {first.oi:.3g} → {tried.oi:.3g}, C0 {first.c0:.3g} → "
        f"{tried.c0:.3g}). Try {advice}"
    )


def _why_no_further(run: Run) -> str:
    why = "" if run.balances else f": with {run.n_distinct_rows} distinct rows C0 hardly grows"
    still = "the balance still improves" if run.balances else "RMS still falls"
    return (
        f"iteration {run.n_iter} is the last whose formulas have {READABLE_LENGTH} literals or "
        f"fewer on average, and {still}{why}. "
        f"Set max_length (for instance max_length=4), or max_iter to choose"
    )


def _why_one_iteration(run: Run, n_columns: int) -> str:
    return (
        f"C0 has no meaning for {run.n_distinct_rows} distinct rows and {n_columns} columns, so "
        f"the RMS stop cannot be used: one iteration was made. Set max_iter or stop='relative'"
    )


def _thresholds(measure: MeasureInfo) -> str:
    below = "" if isinf(measure.below) else f" up to, but not including, {measure.below:g}"
    return f"'risk' or a number from {measure.least:g}{below}"


def _no_pair(criterion: PairFilter, n_rows: int) -> str:
    threshold = criterion.fixed_threshold(n_rows)
    if criterion.alpha is None:
        passes = f"exceeds a {_noun(criterion.measure)} of {criterion.threshold:.3f}"
    elif threshold is None:
        correction = f" after the {criterion.correction} correction" if criterion.correction else ""
        passes = f"is significant at alpha={criterion.alpha:g}{correction}"
    elif threshold > 1:
        return (
            f"with {n_rows} rows no correlation is significant at this alpha. "
            f"Try a larger alpha, or a number for threshold"
        )
    else:
        passes = f"reaches a correlation of {threshold:.3f}"
    pruned = " and has expected frequencies of 5" if criterion.prune else ""
    return (
        f"no pair of columns {passes}{pruned}. "
        f"Try a larger alpha, a smaller threshold or prune=False"
    )


def _noun(measure: Measure) -> str:
    return "correlation" if measure == "phi" else measure
