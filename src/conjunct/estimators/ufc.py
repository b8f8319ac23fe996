"""uFC as a scikit-learn transformer."""

from __future__ import annotations

import math
import os
import sys
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from copy import copy
from dataclasses import KW_ONLY, replace
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from conjunct import files, ufc
from conjunct.columns import STORAGE_KINDS, Columns, CostEstimate, StorageKind
from conjunct.counting import Store, TagCounts, Tally, WeightedColumns
from conjunct.data import (
    Backend,
    BooleanData,
    Missing,
    Variables,
    as_table,
    check_variables,
    container_of,
    recognise_variables,
    variables_by_column,
)
from conjunct.errors import ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.base import check_weights, with_weights
from conjunct.estimators.constructor import has_same_features
from conjunct.estimators.curation import CuratingConstructor
from conjunct.estimators.invertible import FeatureNames, HandleUnknown, InvertibleConstructor
from conjunct.expressions import Style, pattern_text
from conjunct.features import KEPT_TAGS, FeatureSet
from conjunct.parameters import Constraint, frequency, one_of, whole, with_parameters

_RULES: dict[str, ufc.RuleRegistry[Any]] = {"criterion": ufc.CRITERIA, "stop": ufc.STOPS}


@with_parameters
class UFC(CuratingConstructor):
    """Unsupervised feature construction: tags that belong together become chunks.

    Each merge replaces a pair of features ``f``, ``g`` by ``f ∧ g``, ``¬f ∧ g`` and ``f ∧ ¬g``.
    The tags that a feature asserts are its pattern. In every row, the patterns of the true
    features partition the row's tags. By default, the pair with the most evidence is merged while
    its evidence exceeds its cost (docs/evidence.md). The paper's rules are ``criterion="risk"``
    and ``criterion=λ``. UFC uses no labels and, without ``min_support``, loses no information.
    docs/learning.md measures the benefit of the features.

    Parameters
    ----------
    criterion : "evidence", "bits", "risk", float, or a criterion, default="evidence"
        The rule that selects and orders pairs. ``"evidence"`` is ``Evidence()``: the pair with
        the most evidence. ``"bits"`` is ``Bits()``: the pair that most shortens the description
        of the data in Krimp's code. ``"risk"`` is ``Risk()``: the paper's uFCα. A number is
        ``Threshold(number)``: the paper's λ. Rules have settings: ``Evidence(factor=2)``,
        ``Bits(alpha=None)``, ``Risk(alpha=0.0001, prune=False)``.
    search : {"pairwise", "batch"}, optional
        Merge one pair per iteration, or many. By default pairwise for ``"evidence"`` and
        ``"bits"``, otherwise batch. With ``"evidence"``, batch makes rounds: all pairs that are
        the best pair of both their features, with at least half of the evidence of the best one.
        Rows on disk or on a cluster then need far fewer passes, for slightly different chunks
        (docs/scale.md). With other criteria, batch merges a greedy matching, as in the paper.
    max_iter : int, optional
        Maximum number of iterations (the paper's ``limit_iter``). With the paper's criteria it
        replaces ``stop``.
    stop : {"gain", "rms", "never"} or a stopping rule, optional
        When to stop. ``"gain"``: when the next merge costs more than it saves. ``"rms"``: before
        the root mean square of overlap and complexity rises, as in the paper. ``"never"``: when
        no pair remains. ``None``: the default of the criterion.
    max_length : int, optional
        Maximum length of a feature: its tags with ``"evidence"`` and ``"bits"``, or the literals
        of its formula with the paper's criteria.
    max_features : int, optional
        Keep the last step of the run with at most this many features. The run is not affected, so
        ``truncate`` can shorten a fitted model further. ``min_support`` and ``keep_columns``
        apply later.
    min_support : float, optional
        Suppress features that are true in less than this share of rows, in (0, 1]. They are
        listed in ``suppressed_``.
    feature_names : {"tags", "formula"}, default="tags"
        Column names of ``transform``: ``chair + dining table`` and ``person (rest)``, or the
        exact ``chair ∧ dining table`` and ``person ∧ ¬(…)``.
    handle_unknown : {"warn", "keep"}, default="warn"
        Treatment of combinations that were not in the training data: ``transform`` warns with the
        number of rows, or adds a column for each combination, so that ``inverse_transform`` is
        exact for all possible rows.
    keep_columns : bool, default=False
        Make ``transform`` return the columns first, then the features of two tags or more, for
        models that can weigh both. Features of one tag, such as ``person (rest)``, are redundant
        and left out. Attributes such as ``features_`` do not change.
    variables : dict of str to list of str, or False, optional
        All columns that exclude each other as values of a variable: ``{"colour": ["red",
        "blue"]}``; ``False``: there are none. ``None``: the variables of the Binarizer, and those
        recognised among other columns (docs/data-in.md).
    threshold : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false", "pairwise"}, default="pairwise"
        Refuse missing cells (NaN, None, null), treat them as false, or keep them. If kept, a pair
        is judged in the rows where both features are known, and conjunctions follow Kleene's
        logic (docs/data-in.md).
    storage : {"auto", "dense", "sparse"}, default="auto"
        Store columns as one bit per cell, or as lists of rows, for many rare columns. ``"auto"``:
        the faster one that fits in memory (docs/scale.md). The result does not depend on it.
    formula_style : {"unicode", "ascii", "latex"}, default="unicode"
        Style of formulas: ``sky ∧ ¬building`` or ``sky & ~building``.
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: print one line per iteration.

    Attributes
    ----------
    features_ : tuple of Expression
        The constructed features.
    patterns_ : tuple of tuple of str
        The columns that each feature asserts.
    description_length_, baseline_length_ : float
        Bits to describe the training data by the features, and by its columns and variables
        alone, in the code of ``score``.
    krimp_length_, krimp_baseline_ : float
        The same in Krimp's code, which ``"bits"`` minimises.
    stop_reason_ : str
        The reason why the run ended and, if nothing was constructed, a remedy.
    threshold_ : float or None
        Cutoff that the measure of a pair must exceed, or that its correlation must reach with
        ``"risk"``. None if it depends on the data (see ``get_rules``).
    variables_ : dict of str to tuple of str
        The columns of each variable, by its name.
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
        As in scikit-learn.

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

    constraints: ClassVar[dict[str, Constraint]] = {
        "search": one_of(ufc.SEARCHES, optional=True),
        "max_iter": whole(0, optional=True),
        "max_length": whole(2, optional=True),
        "max_features": whole(1, optional=True),
        "min_support": frequency(optional=True),
        "storage": one_of(STORAGE_KINDS),
    }
    unsaved_parameters = ("storage",)
    _takes_partitions = True

    # a loaded model has none if it depends on the data
    threshold_ = None

    criterion: str | float | ufc.Criterion = "evidence"
    _: KW_ONLY
    search: ufc.Search | None = None
    max_iter: int | None = None
    stop: str | ufc.Stop | None = None
    max_length: int | None = None
    max_features: int | None = None
    min_support: float | None = None
    feature_names: FeatureNames = "tags"
    handle_unknown: HandleUnknown = "warn"
    keep_columns: bool = False
    variables: Variables = None
    threshold: float | None = None
    missing: Missing = "pairwise"
    storage: StorageKind = "auto"
    formula_style: Style = "unicode"
    n_jobs: int | None = None
    verbose: int = 0

    def estimate_cost(self, X: Any) -> CostEstimate:
        """Estimate the time and memory of a fit on ``X``.

        The estimate includes the first count and five merges per column, but at most 4,000; the
        true number is between 0 and about 15 per column. A batch search by another
        criterion than evidence is estimated from its first iteration; later ones take longer.

        Raises
        ------
        InputError
            If there is not enough memory, as ``fit`` does.

        Examples
        --------
        >>> from conjunct import UFC
        >>> print(UFC().estimate_cost([["water", "cascade"]] * 40 + [["sky"]] * 60))
        about 1 s and 1 MB of memory, more if many features are made
        """
        data = BooleanData.read(X, self.reading_rules(), counts=True)
        store = WeightedColumns.deduplicate(data.columns)
        return store.estimate_cost(in_merges=self._plan().merges_in_place)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[ufc.Indicators], object] | None = None,
    ) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix, list of baskets, stream or Dask collection
            Boolean or 0/1 values, one individual per row.
        y : ignored
            Accepted for use in pipelines.
        sample_weight : array of shape (n_rows,), optional
            A row of weight w counts exactly as w equal rows. Weights must be whole numbers,
            because tests and bits need counts, and all rows must be in memory.
        checkpoint : path, optional
            File to write during the run. Another ``fit`` on the same data with the same
            parameters resumes from it (docs/scale.md).
        callback : callable, optional
            Called with the indicators of each iteration as it ends.

        Returns
        -------
        self
        """
        rules = self.reading_rules()
        if sample_weight is not None and rules.missing == "raise":
            # a missing cell counts only in a row that counts
            data = self._read_to_fit(X, replace(rules, missing="pairwise"))
            with self._advise_on_cells():
                data.refuse_missing(check_weights(sample_weight, data.n_rows) > 0)
        else:
            data = self._read_to_fit(X, rules)
        store = data.columns
        if sample_weight is not None:
            store = with_weights(store, sample_weight)
        self._construct(store, data.names, callback, checkpoint)
        return self

    def fit_data(self, data: BooleanData, sample_weight: Any = None) -> Self:
        """Construct features from data that is already read, which may be outside memory."""
        self.preparation_ = data.preparation
        self._set_names(data)
        self._construct(with_weights(data.columns, sample_weight), data.names, None)
        return self

    def truncate(
        self,
        max_features: int | None = None,
        X_train: Any = None,
        *,
        max_chunks: int | None = None,
    ) -> UFC:
        """Return the same model with fewer features or chunks, without another fit.

        The result equals a fit with ``max_features=max_features``, or, if each iteration makes
        one chunk, with ``max_iter=max_chunks``. It cannot be undone.

        Parameters
        ----------
        max_features : int, optional
            Maximum number of features.
        X_train : array, data frame, sparse matrix, list of baskets or Dask collection, optional
            The data of ``fit`` again. The result needs it only for ``score``, ``log_prob``,
            ``check_drift`` and ``description_length_``.
        max_chunks : int, optional
            Maximum number of chunks, instead of ``max_features``; ``get_path`` lists the choices.

        Examples
        --------
        >>> from conjunct import UFC, datasets
        >>> model = UFC().fit(datasets.load_zoo().values)
        >>> [len(model.truncate(k).features_) for k in (18, 20, 30)]
        [18, 20, 21]
        >>> model.truncate(max_chunks=1).patterns_[-2:]
        (('x3',), ('x0',))
        """
        check_is_fitted(self)
        if (max_features is None) == (max_chunks is None):
            raise InputError("truncate needs either max_features or max_chunks")
        whole(1, optional=True).check("max_features", max_features)
        whole(0, optional=True).check("max_chunks", max_chunks)
        fitted, n_iter = self.feature_set_, self.n_iter_
        if fitted.known is not None:
            name = "max_iter" if max_features is None else "max_features"
            raise InputError(
                f"cannot truncate because cells were missing: fit again with "
                f"{name}={max_chunks if max_features is None else max_features}"
            )
        if max_features is None:
            last = self._iterations_within(max_chunks or 0)
        else:
            last = ufc.last_within(self.history_, max_features)
        shorter = self.after_iterations(last)
        if max_features is not None:
            shorter.max_features = min(max_features, self.max_features or max_features)
            if last < n_iter:
                plan = self._plan()
                shorter.stop_reason_ = ufc.beginning_text(last, n_iter, plan, max_features)
                shorter._ending = ufc.Ending(n_iter)
        if X_train is not None:
            shorter.feature_set_ = _count_training_rows(
                shorter.feature_set_, self._read_store(X_train)
            )
        return shorter

    def get_path(
        self,
        X_train: Any = None,
        *,
        sizes: Iterable[int] | None = None,
        backend: Backend | None = None,
    ) -> Any:
        """Return a table of all vocabularies of the run, with one row per number of chunks.

        Each smaller vocabulary is a prefix of the larger ones; ``truncate(max_chunks=k)`` gives
        the model with k chunks.

        Parameters
        ----------
        X_train : array, data frame, sparse matrix, list of baskets or Dask collection, optional
            The data of ``fit`` again, for ``description_length``, which needs one pass over the
            rows per size.
        sizes : iterable of int, optional
            The numbers of chunks to list, up to that of the run; by default all.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table; by default the kind the model was fitted on, otherwise pandas.

        Returns
        -------
        data frame
            Numbers of ``chunks`` and ``features``, the ``newest`` chunk, its ``evidence``, the
            ``total_evidence`` of all chunks minus their costs (bits; NaN with other criteria), and
            ``description_length`` (NaN without ``X_train`` or with missing cells, except in the
            last row).

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> path = UFC().fit(baskets).get_path(baskets, backend="dict")
        >>> path["chunks"], path["newest"]
        ([0, 1], [None, 'cascade + water'])
        >>> [round(length) for length in path["description_length"]]
        [242, 193]
        """
        fitted, history, n_iter = self.feature_set_, self.history_, self.n_iter_
        store = None if X_train is None or fitted.known is not None else self._read_store(X_train)
        if sizes is not None:
            sizes = {*sizes}
            for size in sizes:
                whole(0).check("sizes", size)
        # the last step for each number of chunks
        steps = {self._n_chunks(k): k for k in range(n_iter + 1)}
        listed = [(n, k) for n, k in steps.items() if sizes is None or n in sizes]
        lengths = []
        for _, k in listed:
            features = None
            if k == n_iter and fitted.has_code:
                features = fitted
            elif store is not None:
                features = _count_training_rows(self.after_iterations(k).feature_set_, store)
            lengths.append(features.description_length() if features else math.nan)
        by_evidence = ufc.CRITERIA.resolve(self.criterion).needs_patterns
        newest = [fitted.merges[n - 1] if n else None for n, _ in listed]
        columns: dict[str, list[Any]] = {
            "chunks": [n for n, _ in listed],
            "features": [history[k].n_features for _, k in listed],
            "newest": [
                merge and pattern_text([*{*pattern(merge.left), *pattern(merge.right)}])
                for pattern in [fitted.lineage.pattern]
                for merge in newest
            ],
            "evidence": [merge.score if merge and by_evidence else math.nan for merge in newest],
            "total_evidence": [history[k].evidence for _, k in listed],
            "description_length": lengths,
        }
        return self.make_table(columns, backend)

    def _n_chunks(self, n_iter: int) -> int:
        """Return the number of chunks, one per merge, after some iterations."""
        return bisect_right(self.feature_set_.merges, n_iter, key=attrgetter("iteration"))

    def _iterations_within(self, max_chunks: int) -> int:
        """Return the largest number of iterations that make at most this many chunks."""
        merges = self.feature_set_.merges
        return self.n_iter_ if max_chunks >= len(merges) else merges[max_chunks].iteration - 1

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and with ``deep`` also settings such as ``criterion__alpha``."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        for family, rules in _RULES.items() if deep else ():
            rule = rules.make(parameters[family])
            if rule is not None:
                settings = rule.get_params().items()
                parameters |= {f"{family}__{name}": value for name, value in settings}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including settings such as ``criterion__alpha``."""
        for family, rules in _RULES.items():
            if any(name.startswith(f"{family}__") for name in params):
                # rules have settings, but their names do not
                value = params.get(family, getattr(self, family))
                params[family] = rules.make(value) or rules.resolve(value)
        super().set_params(**params)
        return self

    def after_iterations(self, n_iter: int) -> UFC:
        """Return the model after its first iterations; no cell of training may be missing."""
        shorter: UFC = copy(self)
        shorter.new_rows_ = None  # counts of other features
        if n_iter < self.n_iter_:
            features = self.feature_set_.after_first(self._n_chunks(n_iter))
            if self.min_support is not None:
                features = features.without_rare(self.min_support)
            shorter.feature_set_ = features
            shorter.history_ = self.history_[: n_iter + 1]
            shorter.stop_reason_ = ufc.beginning_text(n_iter, self.n_iter_, self._plan(), None)
            shorter._ending = ufc.Ending(self.n_iter_, chosen=True)
        return shorter

    @property
    def has_tag_names(self) -> bool:
        return ufc.CRITERIA.resolve(self.criterion).counts_tags

    def _stop_rule(self, criterion: ufc.Criterion) -> ufc.Stop:
        if self.stop is not None:
            return ufc.STOPS.resolve(self.stop)
        # the paper's uFC(λ, limit_iter) runs all iterations
        runs_all = self.max_iter is not None and not criterion.draws_once
        return ufc.STOPS.resolve("never" if runs_all else criterion.stop)

    @classmethod
    def _read_parameters(cls, model: files.ModelFile) -> dict[str, Any]:
        parameters = super()._read_parameters(model)
        for family, rules in _RULES.items():
            if isinstance(parameters.get(family), dict):
                value = parameters[family]
                parameters[family] = rules.make(value) or rules.resolve(value)
        return parameters

    def _construct(
        self,
        store: Store,
        names: Sequence[str],
        callback: Callable[[ufc.Indicators], object] | None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.new_rows_ = None
        self._check_parameters()
        plan = self._plan()
        variables = variables_by_column(self.variables, names) if self.variables else ()
        store = WeightedColumns.deduplicate(store)
        if self.verbose or self.on_cost_estimate is not None:
            cost = store.estimate_cost(in_merges=plan.merges_in_place)
            if self.verbose:
                sys.stdout.write(f"expected: {cost}\n")
            if self.on_cost_estimate is not None:
                self.on_cost_estimate(cost)
        # workers and files may leave cycles
        in_memory = isinstance(store, Columns | WeightedColumns)
        with ufc.without_garbage_collection() if in_memory else nullcontext():
            run = ufc.run_ufc(
                store,
                names,
                plan,
                self._stop_rule(plan.criterion),
                max_iter=self.max_iter,
                max_features=self.max_features,
                watch=partial(self._watch, callback) if self.verbose or callback else None,
                progress_store=None if checkpoint is None else files.Checkpoint(checkpoint),
            )
            self._take_over(run)
            first: Any = run.first
            if self.variables is None:
                # variables of the Binarizer, and recognised ones
                variables = self.preparation_.variables_of(names)
                if not variables or None in variables:
                    variables = recognise_variables(names, first, variables)
            fitted = replace(run.feature_set, variables=variables)
            if self.min_support is not None:
                fitted = fitted.without_rare(self.min_support)
            self.feature_set_ = fitted.with_code_counts(store)
            # for suggestions and relations
            self._tag_counts = TagCounts.of(names, first, variables, KEPT_TAGS)
            self._sampled_rows = self._tag_counts.sample(store)
            self._suggester = None
        if checkpoint is not None:
            self._check_resumed(checkpoint)
        made_nothing = run.n_iter == 0 and self.max_iter != 0
        if made_nothing or (0 < run.n_iter == run.n_made and run.stop.ends_early(run)):
            warnings.warn(self.stop_reason_, ConjunctWarning, stacklevel=3)

    def _check_resumed(self, checkpoint: str | os.PathLike[str]) -> None:
        """Refuse a resumed run whose merges do not match the rows."""
        with suppress(ModelFileError):
            again = self.from_model_file(InvertibleConstructor._model_file(self), "the model")
            is_code = self.feature_set_.is_code_of(self.feature_set_.n_rows)
            if is_code and has_same_features(again, self):
                return
        raise files.Checkpoint(checkpoint).wrong_run("its merges do not match the data")

    def _take_over(self, run: ufc.Run) -> None:
        """Set the attributes of a run."""
        self.feature_set_ = run.feature_set
        self.history_ = run.history
        self.n_distinct_rows_, self._null_rows = run.n_distinct_rows, run.state.null_rows
        self.threshold_ = run.plan.criterion.constant_threshold(run.feature_set.n_rows)
        self.stop_reason_, self._ending = run.stop_reason, run.ending

    def _restore(self, model: files.ModelFile) -> None:
        plan = self._plan()
        run = model.restore(
            plan,
            self._stop_rule(plan.criterion),
            model.ending,
            max_iter=self.max_iter,
            max_features=self.max_features,
            min_support=self.min_support,
        )
        self._take_over(run)
        self.new_rows_ = model.new_rows

    def _plan(self) -> ufc.Plan:
        criterion = ufc.CRITERIA.resolve(self.criterion)
        return ufc.Plan(criterion, self.search or criterion.search, self.max_length)

    def _check_parameters(self) -> None:
        ufc.CRITERIA.resolve(self.criterion)
        if self.stop is not None:
            ufc.STOPS.resolve(self.stop)
        super()._check_parameters()
        check_variables(self.variables)


def _count_training_rows(features: FeatureSet, store: Store) -> FeatureSet:
    """Count the training rows for the code of features; refuse other rows."""
    counted = features.with_code_counts(store)
    if not counted.is_code_of(store.n_rows):
        raise InputError(
            "X_train differs from the data of fit: pass the same rows, each repeated by its weight"
        )
    return counted


def correlated_pairs(
    X: Any,
    criterion: str | float | ufc.Criterion = "evidence",
    *,
    backend: Backend | None = None,
    **options: Any,
) -> Any:
    """Return a table of the pairs of columns that may be merged, best first (§3.2).

    Parameters
    ----------
    X : array, data frame, sparse matrix or list of baskets
        Boolean or 0/1 values.
    criterion : "evidence", "bits", "risk", float or a criterion, default="evidence"
        As in :class:`UFC`.
    backend : {"pandas", "polars", "pyarrow", "dict"}, optional
        Kind of table; by default the kind of ``X`` if it is a table, otherwise pandas.
    **options
        Other parameters of :class:`UFC` for reading ``X``: ``threshold``, ``missing``,
        ``storage`` and ``n_jobs``.

    Returns
    -------
    data frame
        ``left``, ``right``, ``joint`` (rows with both), ``r``, ``p_value``, ``p_adjusted`` and
        ``score``, which orders the pairs: their evidence, the bits that a merge would save, or
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
    rule = ufc.CRITERIA.resolve(criterion)
    container = container_of(X)
    data = BooleanData.read(container, reader.reading_rules(), counts=True)
    store, names = data.columns, data.names
    tally = Tally.of(store)
    stage = ufc.Stage(0, tuple(range(store.n_columns)), tally)
    known = tally.counts.observed
    # indicators need the number of distinct rows, but pairs do not
    state = ufc.RunState(names, tally.counts.supports, known, store.n_rows, lambda: 0)
    pairs = rule.candidates(stage, state, rule.make_pair_test(tally.counts, "batch"))
    pairs = pairs.take(np.lexsort((pairs.right, pairs.left, -pairs.joint, -pairs.score)))
    columns: dict[str, list[Any]] = {
        "left": [names[k] for k in pairs.left.tolist()],
        "right": [names[k] for k in pairs.right.tolist()],
    }
    for name in ("joint", "r", "p_value", "p_adjusted", "score"):
        columns[name] = getattr(pairs, name).tolist()
    return as_table(columns, backend or container.backend or "pandas")
