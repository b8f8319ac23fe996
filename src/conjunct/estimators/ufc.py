"""uFC as a scikit-learn transformer."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from math import isnan
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conjunct import files
from conjunct.columns import STORE_KINDS, Need, StoreKind
from conjunct.counting import Store, Tally
from conjunct.data import (
    Backend,
    BooleanData,
    Missing,
    Variables,
    as_table,
    check_variables,
    container_of,
)
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.invertible import (
    NAMES,
    UNSEEN,
    InvertibleConstructor,
    Names,
    Unseen,
    with_weights,
)
from conjunct.expressions import Style
from conjunct.features import CodeCounts, FeatureSet, Lineage, bits_of_rows
from conjunct.parameters import check, check_choice, check_common, check_frequency, check_whole
from conjunct.ufc import (
    CRITERIA,
    SEARCHES,
    STOPS,
    Criterion,
    Indicators,
    Ledger,
    Plan,
    RuleRegistry,
    Search,
    Stage,
    Stop,
    beginning_text,
    last_within,
    run_ufc,
)

_RULES: dict[str, RuleRegistry[Any]] = {"criterion": CRITERIA, "stop": STOPS}


class UFC(InvertibleConstructor):
    """Unsupervised feature construction: tags that belong together become chunks.

    A pair of features ``f``, ``g`` is replaced by ``f ∧ g``, ``¬f ∧ g`` and ``f ∧ ¬g``,
    repeatedly. The tags that a feature asserts are its pattern: in every row, the patterns of the
    true features are a partition of the row's tags. By default the pair with the most evidence is
    joined, while the evidence exceeds the cost (docs/evidence.md); the paper's rules are
    ``criterion="risk"`` and ``criterion=λ``. No labels are used and, without ``min_support``, no
    information is lost. docs/quality.md measures what the features are good for.

    Parameters
    ----------
    criterion : "evidence", "bits", "risk", float, or a criterion, default="evidence"
        Which pairs may be joined, and which comes first. ``"evidence"`` is ``Evidence()``: the
        pair with the most evidence. ``"bits"`` is ``Bits()``: the pair that shortens the
        description of the data most in Krimp's code. ``"risk"`` is ``Risk()``: the paper's uFCα.
        A number is ``Threshold(number)``: the paper's λ. Settings belong to the rule:
        ``Evidence(factor=2)``, ``Bits(alpha=None)``, ``Risk(alpha=0.0001, prune=False)``.
    search : {"pairwise", "batch"}, optional
        ``"pairwise"``: an iteration joins one pair. ``"batch"``: all pairs of a greedy matching,
        as in the paper. ``None``: the default of the criterion, which is pairwise for
        ``"evidence"`` (the only choice) and ``"bits"``, batch for the paper's.
    max_iter : int, optional
        Maximum number of iterations (the paper's ``limit_iter``). With the paper's criteria it
        replaces ``stop``.
    stop : {"gain", "rms", "never"} or a stopping rule, optional
        When to end. ``"gain"``: when the next merge is not worth what it costs. ``"rms"``: before
        the root mean square of overlap and complexity rises, the paper's. ``"never"``: when no
        pair remains. ``None``: the default of the criterion.
    max_length : int, optional
        Maximum length of a feature: its tags with ``"evidence"`` and ``"bits"``, or the literals
        of its formula with the paper's criteria.
    max_features : int, optional
        Keep the last step of the run with at most this many features. The run is the same with
        and without it, so a fitted model can be ``cut`` further. Counted before ``min_support``,
        and without what ``keep_columns`` adds.
    min_support : float, optional
        Suppress features that are true in less than this share of rows, in (0, 1]. They are
        listed in ``suppressed_``.
    names : {"pattern", "formula"}, default="pattern"
        Column names of ``transform``: ``chair + dining table`` and ``person (rest)``, or the
        exact ``chair ∧ dining table`` and ``person ∧ ¬(…)``.
    unseen : {"warn", "keep"}, default="warn"
        What ``transform`` does about combinations that training never saw: warn, with the number
        of rows that hold one, or add a column for each, which makes ``inverse_transform`` exact
        for every possible row.
    keep_columns : bool, default=False
        ``transform`` returns the columns first, and then the features of two tags or more, for
        models that can weigh both. Features of one tag, such as ``person (rest)``, follow from
        these and are left out. ``features_`` and the other attributes do not change.
    variables : dict of str to list of str, or False, optional
        Which columns exclude each other, as values of one variable: ``{"colour": ["red",
        "blue"]}`` names all of them, ``False`` means that there are none. ``None``: those of the
        Binarizer, and among other columns those that are recognised (docs/data-in.md).
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false", "pairwise"}, default="raise"
        Missing cells (NaN, None, null) are refused; are treated as false; or stay missing: pairs
        are judged in the rows in which both are known, and conjunctions follow Kleene's logic
        (docs/missing-values.md).
    store : {"auto", "bits", "sparse"}, default="auto"
        How columns are stored and counted: as one bit per cell, or as lists of rows, for many
        rare columns. ``"auto"``: the faster one that fits in memory (docs/scale.md). The result
        does not depend on it.
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How formulas are written: ``sky ∧ ¬building`` or ``sky & ~building``.
    callback : callable, optional
        Called with the indicators of each iteration as it ends.
    checkpoint : path, optional
        File to write during the run. ``fit`` on the same data with the same options resumes from
        it (docs/cluster.md).
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line for each iteration.

    Attributes
    ----------
    features_ : tuple of Expression
        The constructed features.
    patterns_ : tuple of tuple of str
        The columns that each feature asserts.
    description_length_, baseline_length_ : float
        Bits that describe the training data by the features, and by its columns and variables
        alone, in the code of ``score``.
    krimp_length_, krimp_baseline_ : float
        The same in Krimp's code, by which ``"bits"`` chooses.
    outcome_ : str
        Why the run ended; if nothing was constructed, what would help.
    threshold_ : float or None
        The value that a pair's measure had to exceed, or that its correlation had to reach with
        ``"risk"``. None if it depends on the data (``get_rules`` lists it).
    variables_ : dict of str to tuple of str
        The columns that are values of one variable, by its name.
    suppressed_ : tuple of Expression
        The features below ``min_support``.
    n_iter_ : int
        Number of iterations behind ``features_``.
    history_ : tuple of Indicators
        ``iteration, n_features, length, oi, c0, rms, bits, evidence`` after each iteration,
        primitives first.
    feature_set_ : FeatureSet
        The features and their lineage.
    n_distinct_rows_ : int
        Number of distinct rows in the training data.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from conjunct import UFC
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> model = UFC().fit(baskets)
    >>> model.get_feature_names_out().tolist()
    ['sky', 'cascade + water', 'water (rest)']
    >>> print(*model.features_, sep="\\n")
    sky
    cascade ∧ water
    ¬cascade ∧ water
    """

    _unsaved = (*InvertibleConstructor._unsaved, "checkpoint", "store")
    _takes_partitions = True

    # called with the estimated cost before a fit
    _tell_cost: Callable[[Need], object] | None = None

    n_distinct_rows_: int
    # a loaded model has none if it depends on the data
    threshold_: float | None = None

    def __init__(
        self,
        criterion: str | float | Criterion = "evidence",
        *,
        search: Search | None = None,
        max_iter: int | None = None,
        stop: str | Stop | None = None,
        max_length: int | None = None,
        max_features: int | None = None,
        min_support: float | None = None,
        names: Names = "pattern",
        unseen: Unseen = "warn",
        keep_columns: bool = False,
        variables: Variables = None,
        binarize: float | None = None,
        missing: Missing = "raise",
        store: StoreKind = "auto",
        style: Style = "unicode",
        callback: Callable[[Indicators], object] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.search = search
        self.max_iter = max_iter
        self.stop = stop
        self.max_length = max_length
        self.max_features = max_features
        self.min_support = min_support
        self.names = names
        self.unseen = unseen
        self.keep_columns = keep_columns
        self.variables = variables
        self.binarize = binarize
        self.missing = missing
        self.store = store
        self.style = style
        self.callback = callback
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def expected_cost(self, X: Any) -> Need:
        """Estimate the time and memory of a fit on ``X``, within a factor of about two.

        Where pairs are merged one at a time: the first count, and each merge after it. The number
        of merges depends on the data: from none to about ten per column. Otherwise the first
        iteration; later ones take longer, as features are added.

        Raises
        ------
        InputError
            If there is not enough memory, as ``fit`` does.

        Examples
        --------
        >>> from conjunct import UFC
        >>> print(UFC().expected_cost([["water", "cascade"]] * 40 + [["sky"]] * 60))
        about 1 s and 1 MB of memory to begin with, and about 1 ms for each merge
        """
        return self._estimate_cost(BooleanData.read(X, self._rules(), counts=True).columns)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or collection of Dask
            Boolean or 0/1 values, one individual per row.
        y : ignored
            Accepted for use in pipelines.
        sample_weight : array of shape (n_rows,), optional
            A row of weight w counts exactly as w equal rows; one of weight 0 not at all. Weights
            are whole numbers, because tests and bits need counts. Needs all rows in memory.

        Returns
        -------
        self
        """
        data = self._read_to_fit(X)
        self._construct(with_weights(data.columns, sample_weight), data.names)
        return self

    def update(self, X: Any) -> Update:
        """Count new rows for the present features, and check that the features still compress.

        No feature is added or dropped: if they no longer pay, ``fit`` again on all rows. The
        counts are kept, saved with the model and used by ``score``; what the model reports about
        its training does not change. Counting in parts gives the same as counting at once.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or collection of Dask
            Rows that were not counted before, with the columns of the model.

        Returns
        -------
        Update
            ``n_rows``, ``supports``, ``bits``, ``baseline_bits``, ``score``, ``pays``; its text
            is one sentence.

        Examples
        --------
        >>> from conjunct import UFC
        >>> model = UFC().fit([["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60)
        >>> update = model.update([["water", "cascade"]] * 8 + [["sky"]] * 9)
        >>> update.pays, round(update.bits), round(update.baseline_bits)
        (True, 22, 35)
        """
        check_is_fitted(self)
        fitted, known = self.feature_set_, self._code_counts()
        store = self._read_store(X)
        counts = CodeCounts(*store.total(fitted.code_counter))
        update = Update._from_counts(fitted, known, counts, int(store.n_rows))
        self.new_rows_ = files.NewRows.after(self.new_rows_, update.n_rows, counts)
        return update

    def cut(self, max_features: int, X_train: Any = None) -> UFC:
        """Return the same model with at most ``max_features`` features, without another fit.

        The result equals that of ``UFC(max_features=max_features)`` with otherwise the same
        parameters on the same data, unless this model was cut already: features that were cut off
        do not come back.

        Parameters
        ----------
        max_features : int
            Maximum number of features.
        X_train : array, data frame, sparse matrix, list of baskets or collection, optional
            The data of ``fit`` again. ``score``, ``log_prob``, ``update`` and
            ``description_length_`` need counts of rows: without the data, the result supports
            everything but these.

        Examples
        --------
        >>> from conjunct import UFC, datasets
        >>> model = UFC().fit(datasets.load_zoo().values)
        >>> [len(model.cut(k).features_) for k in (18, 20, 30)]
        [18, 20, 21]
        """
        check_is_fitted(self)
        check_whole("max_features", max_features, 1)
        fitted, history = self.feature_set_, self.history_
        is_old = isnan(history[0].bits) and isnan(history[0].evidence)
        if fitted.known is not None or is_old:
            why = "cells were missing" if fitted.known is not None else "it was made by version 0.1"
            raise InputError(
                f"a model cannot be cut if {why}: fit again with max_features={max_features}"
            )
        last = last_within(history, max_features)
        model = self._after_iterations(last)
        model.max_features = min(max_features, self.max_features or max_features)
        if last < len(history) - 1:
            noun = self._plan().noun
            model.outcome_ = beginning_text(last, len(history) - 1, noun, max_features)
        if X_train is not None:
            store = self._read_store(X_train)
            model.feature_set_ = model.feature_set_.counted(store)
            if not model.feature_set_.is_code_of(store.n_rows):
                raise InputError(
                    "X_train is not the data of fit, whose features have other supports: give "
                    "the same rows, those of weight w as w rows"
                )
        return model

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the rules, as ``criterion__alpha``."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        for family, rules in _RULES.items() if deep else ():
            rule = rules.made(parameters[family])
            if rule is not None:
                settings = rule.get_params().items()
                parameters |= {f"{family}__{name}": value for name, value in settings}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``criterion__alpha`` is a setting of the criterion."""
        for family, rules in _RULES.items():
            if any(name.startswith(f"{family}__") for name in params):
                # only a rule has settings, not the name of one
                value = params.get(family, getattr(self, family))
                params[family] = rules.made(value) or rules.checked(value)
        super().set_params(**params)
        return self

    def _after_iterations(self, n_iter: int) -> UFC:
        """Return the model after its first iterations, provided that no cell was missing."""
        model: UFC = copy(self)
        model.new_rows_ = None  # they were counted for other features
        if n_iter < self.n_iter_:
            fitted = self.feature_set_
            n_merges = sum(merge.iteration <= n_iter for merge in fitted.merges)
            model.feature_set_ = fitted.after_first(n_merges)
            if self.min_support is not None:
                model.feature_set_ = model.feature_set_.without_rare(self.min_support)
            model.history_ = self.history_[: n_iter + 1]
        return model

    @property
    def _by_pattern(self) -> bool:
        return CRITERIA.checked(self.criterion).counts_tags

    def _stop_rule(self, criterion: Criterion) -> Stop:
        if self.stop is not None:
            return STOPS.checked(self.stop)
        # the paper's uFC(λ, limit_iter) runs all of its iterations
        runs_all = self.max_iter is not None and not criterion.draws_once
        return STOPS.checked("never" if runs_all else criterion.stop)

    @classmethod
    def _read_parameters(cls, model: files.ModelFile) -> dict[str, Any]:
        parameters = dict(model.parameters)
        if model.version == 1:
            parameters = _convert_version_1(parameters)
        for family, rules in _RULES.items():
            if isinstance(parameters.get(family), dict):
                value = parameters[family]
                parameters[family] = rules.made(value) or rules.checked(value)
        return parameters

    def _estimate_cost(self, store: Store) -> Need:
        cost = store.need()
        if self._plan().search == "batch":
            return cost
        return cost.in_merges(store.n_rows, store.n_columns, store.count_ones())

    def _construct(self, store: Store, names: Sequence[str]) -> None:
        self.new_rows_ = None
        self._check_parameters()
        cost = self._estimate_cost(store)
        if self.verbose:
            sys.stdout.write(f"expected: {cost}\n")
        if self._tell_cost is not None:
            self._tell_cost(cost)
        plan = self._plan()
        run = run_ufc(
            store,
            names,
            plan,
            self._stop_rule(plan.criterion),
            max_iter=self.max_iter,
            max_features=self.max_features,
            watch=self._make_watcher(cost, store.n_columns),
            find_variables=self._find_variables(names),
            progress_store=None if self.checkpoint is None else files.Checkpoint(self.checkpoint),
        )
        self.feature_set_ = run.feature_set
        if self.min_support is not None:
            self.feature_set_ = run.feature_set.without_rare(self.min_support)
        self.feature_set_ = self.feature_set_.counted(store)
        self.history_ = run.history
        self.n_distinct_rows_ = run.n_distinct_rows
        self.threshold_ = plan.criterion.fixed_threshold(store.n_rows)
        self.outcome_ = run.outcome
        if run.is_worth_a_warning:
            warnings.warn(self.outcome_, ConjunctWarning, stacklevel=3)

    def _plan(self) -> Plan:
        criterion = CRITERIA.checked(self.criterion)
        return Plan(criterion, self.search or criterion.search, self.max_length)

    def _make_watcher(self, cost: Need, n_columns: int) -> Callable[[Indicators], None] | None:
        """Return the function to call after each iteration, if any.

        It reports the cost again when an iteration takes three times the last estimate.
        """
        on_cost_estimate, last = self._tell_cost, cost
        if on_cost_estimate is None or cost.merge_seconds is not None:
            return self._watch if self.verbose or self.callback else None

        def watch(indicators: Indicators) -> None:
            nonlocal last
            self._watch(indicators)
            now = cost.grown(indicators.n_features / n_columns)
            if now.seconds > 3 * last.seconds:
                last = now
                on_cost_estimate(now)

        return watch

    def _check_parameters(self) -> None:
        criterion = CRITERIA.checked(self.criterion)
        if self.stop is not None:
            STOPS.checked(self.stop)
        check_choice("search", self.search, SEARCHES, optional=True)
        fits = self.search is None or self.search in criterion.searches
        wanted = f"{' or '.join(map(repr, criterion.searches))} with criterion {criterion.name!r}"
        check(fits, "search", self.search, wanted)
        check_whole("max_iter", self.max_iter, 0, optional=True)
        check_whole("max_length", self.max_length, 2, optional=True)
        check_whole("max_features", self.max_features, 1, optional=True)
        check_frequency("min_support", self.min_support, optional=True)
        check_choice("names", self.names, NAMES)
        check_choice("unseen", self.unseen, UNSEEN)
        check(isinstance(self.keep_columns, bool), "keep_columns", self.keep_columns, "a Boolean")
        check_variables(self.variables)
        check_choice("store", self.store, STORE_KINDS)
        check_common(self)


@dataclass(frozen=True)
class Update:
    """The compression of new rows by the features of a model.

    ``supports`` are those of ``features_`` in the new rows. ``bits`` describe these rows by the
    features and ``baseline_bits`` by the columns and variables alone, both with the codes of all
    earlier rows, as in ``score``; the cost of the features themselves is not included. ``before``
    is the first as a share of the second in the earlier rows.
    """

    n_rows: int
    supports: tuple[int, ...]
    bits: float
    baseline_bits: float
    before: float

    @property
    def score(self) -> float:
        """Return minus the mean bits per row."""
        return -self.bits / self.n_rows

    @property
    def share(self) -> float:
        """Return the bits by the features as a share of those by the columns."""
        return self.bits / self.baseline_bits if self.baseline_bits else 1.0

    @property
    def pays(self) -> bool:
        """Return True if the features describe the new rows in fewer bits than the columns."""
        return self.bits < self.baseline_bits

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} new {'row takes' if self.n_rows == 1 else 'rows take'}"
        facts = (
            f"{rows} {self.bits:,.0f} bits by the features and {self.baseline_bits:,.0f} by the "
            f"columns as they are ({self.share:.0%}, and {self.before:.0%} before)"
        )
        if self.pays:
            return f"The vocabulary still pays: {facts}."
        return f"The vocabulary does not pay on these rows: {facts}. Fit again to learn from them."

    @classmethod
    def _from_counts(
        cls, fitted: FeatureSet, known: CodeCounts, new: CodeCounts, n_rows: int
    ) -> Update:
        """Compare the code of new rows with that of all rows before them, given their counts."""
        places = fitted.row_code.places[: len(fitted.features)]
        before = bits_of_rows(known.features, known.features)
        # 0 where no cell was known
        before_by_columns = bits_of_rows(known.columns, known.columns)
        return cls(
            n_rows,
            tuple((new.features[1] + new.features[3])[places].tolist()),
            bits_of_rows(new.features, known.features),
            bits_of_rows(new.columns, known.columns),
            before / before_by_columns if before_by_columns else 1.0,
        )


def correlated_pairs(
    X: Any,
    criterion: str | float | Criterion = "evidence",
    *,
    backend: Backend | None = None,
    **options: Any,
) -> Any:
    """Return a table of the pairs of columns that may be joined, the best first (§3.2).

    Parameters
    ----------
    X : array, data frame, sparse matrix or list of baskets
        Boolean or 0/1 values.
    criterion : "evidence", "bits", "risk", float or a criterion, default="evidence"
        As in :class:`UFC`.
    backend : {"pandas", "polars", "pyarrow", "dict"}, optional
        Kind of table. By default the kind of ``X`` if it is one, and pandas otherwise.
    **options
        Other parameters of :class:`UFC` for reading ``X``: ``binarize``, ``missing``,
        ``store`` and ``n_jobs``.

    Returns
    -------
    data frame
        ``left``, ``right``, ``joint`` (rows with both), ``r``, ``p_value``, ``p_adjusted`` and
        ``score``, which orders the pairs: their evidence, the bits that joining one would save, or
        the measure.

    Examples
    --------
    >>> from conjunct import correlated_pairs
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> correlated_pairs(baskets, backend="dict")["joint"]
    [40]
    """
    reader = UFC(criterion, **options)
    reader._check_parameters()
    rule = CRITERIA.checked(criterion)
    container = container_of(X)
    data = BooleanData.read(container, reader._rules(), counts=True)
    store, names = data.columns, data.names
    tally = Tally.of(store)
    stage = Stage(0, tuple(range(store.n_columns)), tally)
    known = tally.counts.observed
    # the number of distinct rows is for indicators, which are not needed here
    ledger = Ledger(Lineage(names), tally.counts.supports, known, store.n_rows, lambda: 0)
    pairs = rule.candidates(stage, ledger, rule.judge(lambda: tally.counts, "batch"))
    pairs = pairs.take(np.lexsort((pairs.right, pairs.left, -pairs.joint, -pairs.score)))
    columns: dict[str, list[Any]] = {
        "left": [names[k] for k in pairs.left.tolist()],
        "right": [names[k] for k in pairs.right.tolist()],
        "joint": pairs.joint.tolist(),
        "r": pairs.r.tolist(),
        "p_value": pairs.p_value.tolist(),
        "p_adjusted": pairs.p_adjusted.tolist(),
        "score": pairs.score.tolist(),
    }
    return as_table(columns, backend or container.backend or "pandas")


def _convert_version_1(old: dict[str, Any]) -> dict[str, Any]:
    """Convert the parameters of a model file of version 1, when rules had no settings."""
    parameters = {**old, "names": "formula"}
    settings = {
        name: parameters.pop(name)
        for name in ("alpha", "prune", "measure", "test", "correction")
        if name in parameters
    }
    threshold, stop = parameters.pop("threshold", "risk"), parameters.pop("stop", "rms")
    null_feature = parameters.pop("null_feature", False)
    parameters["criterion"] = {"rule": "risk", **settings}
    if threshold != "risk":
        kept = {name: settings[name] for name in ("measure", "prune") if name in settings}
        parameters["criterion"] = {"rule": "threshold", "threshold": threshold, **kept}
    # a number of iterations took the place of the stopping rule
    stop = "never" if stop is None or parameters.get("max_iter") is not None else stop
    parameters["stop"] = stop
    if null_feature:
        parameters["stop"] = {"rule": stop, "null_feature": True}
    return parameters
