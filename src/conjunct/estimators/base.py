"""Bases of the estimators: Boolean columns from any container, and the features made of them."""

from __future__ import annotations

import math
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d, validate_data

from conjunct import explain, files, ufc
from conjunct.columns import Columns, PackedColumns, StoreKind
from conjunct.counting import PartitionedColumns, Store
from conjunct.data import (
    Backend,
    Baskets,
    BooleanData,
    CellRules,
    Container,
    InParts,
    Missing,
    Preparation,
    as_table,
    check_distinct,
    container_of,
    unchecked,
)
from conjunct.errors import InputError, ModelFileError
from conjunct.estimators.mixins import ExplainMixin, ExportMixin, Features
from conjunct.expressions import Expression, Style
from conjunct.features import FeatureSet
from conjunct.parameters import (
    check,
    check_choice,
    check_frequency,
    check_jobs,
    check_risk,
    is_number,
)
from conjunct.ufc import CORRECTIONS, Indicators, Rule

if TYPE_CHECKING:
    from conjunct.export import LazyColumns
    from conjunct.expressions import Form

Table = dict[str, list[Any]]


class BooleanEstimator(BaseEstimator):
    """Base of the estimators that read Boolean columns."""

    # rows may be on disk or on a cluster
    _takes_partitions: ClassVar[bool] = False
    _ways_with_missing: ClassVar[tuple[Missing, ...]] = ("raise", "false")

    binarize: float | None
    missing: Missing
    n_jobs: int | None
    # only uFC works on lists of rows
    store: StoreKind = "bits"

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    # how the columns were made from raw data, if they were; saved with the model
    preparation_: Preparation = Preparation()
    # the kind of table that the model was fitted on
    _backend: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def _read_to_fit(self, X: Any) -> BooleanData:
        """Read the columns to learn from, and keep their number, names and preparation."""
        refusal = InputError(
            f"{type(self).__name__} needs all rows in memory: call .compute() on a Dask "
            "collection, read a file with conjunct.files.read_boolean, or use UFC"
        )
        container = container_of(X)
        if isinstance(container, InParts) and not self._takes_partitions:
            raise refusal
        if not container.names_itself:
            validate_data(self, container.head, reset=True, skip_check_array=True)
        data = BooleanData.read(container, self._rules(), counts=True)
        if isinstance(data.columns, PartitionedColumns) and not self._takes_partitions:
            raise refusal
        if container.names_itself:
            self.n_features_in_ = len(data.names)
            if data.has_names:
                self.feature_names_in_ = np.array(data.names, object)
        self._backend = container.backend
        self.preparation_ = container.preparation
        return data

    def _rules(self) -> CellRules:
        """Return how cells are read."""
        # checked here because data are read on threads before other parameters are checked
        check_jobs(self.n_jobs)
        return CellRules(self.binarize, self.missing, self.store, self.n_jobs)

    def _check_container(self, X: Any) -> Container:
        """Return other rows in their container, after checking that they have the model's columns.

        Columns with names are matched by position if the model was fitted without names.
        """
        container = container_of(X)
        if not container.names_itself:
            validate_data(self, container.head, reset=False, skip_check_array=True)
            return container
        if hasattr(self, "feature_names_in_"):
            return container
        if isinstance(container, Baskets):
            raise InputError("baskets need a model fitted on named columns; this one has no names")
        if container.n_columns != self.n_features_in_:
            raise InputError(
                f"the data has {container.n_columns} columns, and the model, which has no names, "
                f"{self.n_features_in_}"
            )
        return container.renamed(self._primitive_names())

    def _row_reader(self) -> BooleanData:
        """Return the empty data that other rows are read like."""
        return BooleanData.without_rows(self._primitive_names(), self._rules())

    def _read_store(self, X: Any) -> Store:
        """Read other rows, which may be partitioned."""
        store: Store = self._row_reader().like(self._check_container(X)).columns
        return store

    def _read(self, X: Any) -> Columns:
        """Read other rows, all of which must fit in memory."""
        container = self._check_container(X)
        if isinstance(container, InParts):
            raise InputError(container.engine.advice)
        columns = self._row_reader().like(container).columns
        if isinstance(columns, PartitionedColumns):
            raise InputError("these rows do not fit in memory: give some of them at a time")
        read: Columns = columns
        return read

    def _make_table(self, columns: Table, backend: Backend | None) -> Any:
        """Return columns as a table of a kind, by default the one the model was fitted on."""
        return as_table(columns, backend or self._backend or "pandas")

    def _primitive_names(self) -> tuple[str, ...]:
        """Return the names of the columns: those of the training data, or x0, x1, …."""
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return tuple(f"x{k}" for k in range(self.n_features_in_))

    def _check_names(self, input_features: Any) -> tuple[str, ...]:
        """Return the column names given to ``get_feature_names_out``, after checking them."""
        names = tuple(str(name) for name in input_features)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        if hasattr(self, "feature_names_in_") and names != tuple(self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_")
        check_distinct(names)
        return names


class FeatureConstructor(ExplainMixin, ExportMixin, TransformerMixin, BooleanEstimator):
    """Base of the estimators that construct features from Boolean columns.

    A subclass constructs the features in ``_construct``; everything else is here.
    """

    # parameters that belong to a session, not to a model
    _unsaved: ClassVar[tuple[str, ...]] = ("callback",)
    # features are added to the primitives instead of replacing some of them
    _only_adds: ClassVar[bool] = False

    style: Style
    callback: Callable[[Indicators], object] | None
    verbose: int
    # only uFC suppresses
    min_support: float | None = None

    feature_set_: FeatureSet
    history_: tuple[Indicators, ...]
    threshold_: float | None
    outcome_: str

    @abstractmethod
    def _construct(self, store: Any, names: Sequence[str]) -> None:
        """Set ``feature_set_``, ``history_`` and, where there is one, ``threshold_``."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise an InputError that names the first parameter with an invalid value."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual per row.
        y : ignored
            Accepted for use in pipelines.

        Returns
        -------
        self
        """
        data = self._read_to_fit(X)
        self._construct(data.columns, data.names)
        return self

    def transform(self, X: Any) -> Any:
        """Return the constructed features of the rows of ``X``, in a container of the same kind.

        Rows may hold combinations of values that ``fit`` never saw. A lazy table (Polars, DuckDB,
        Ibis or Spark) or a Dask collection gives another, which is computed when it is used.
        """
        check_is_fitted(self)
        container = self._check_container(X)
        if container.lazy is not None:
            columns = self._lazy_columns(container, self._primitive_names())
            return self._output_features().evaluate(columns).named(self._output_names())
        if isinstance(container, InParts):
            evaluate = picklable(self._output_features()).evaluate
            names = tuple(self._output_names())
            return PartitionTransformer(self._row_reader(), evaluate, names).map(container)
        return self._transform_columns(container, self._read(container))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of ``transform``.

        Formulas as text, where equal ones are numbered: ``[2]``, ``[3]`` …; or patterns, which
        are all different (``names="pattern"``).

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of a model that was fitted without any; otherwise they must be
            the names it was fitted with.
        """
        check_is_fitted(self)
        primitives = None if input_features is None else self._check_names(input_features)
        return np.array(self._output_names(primitives), object)

    @property
    def features_(self) -> tuple[Expression, ...]:
        """Return the constructed features."""
        check_is_fitted(self)
        return Features(self.feature_set_.expressions)

    @property
    def suppressed_(self) -> tuple[Expression, ...]:
        """Return the features that ``min_support`` suppresses."""
        check_is_fitted(self)
        return Features(self.feature_set_.rare().expressions)

    @property
    def n_iter_(self) -> int:
        """Return the number of iterations behind the features."""
        check_is_fitted(self)
        return self.history_[-1].iteration

    def rows(self, feature: int | str | Expression, X: Any) -> NDArray[np.intp]:
        """Return the positions of the rows of ``X`` in which a feature is true.

        ``feature`` is a position in ``features_``, a formula, or its text.
        """
        check_is_fitted(self)
        column: Columns = self.feature_set_.evaluate(self._read(X), [self._number(feature)])
        return column.true_rows(0).astype(np.intp)

    def get_rules(
        self,
        backend: Backend | None = None,
        *,
        suppressed: bool = False,
        form: Form | None = None,
        given: Any = None,
    ) -> Any:
        """Return a table of the features: what they are, how common, and why they were made.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table. By default the kind the model was fitted on, and pandas otherwise.
        suppressed : bool, default=False
            List the features below ``min_support`` instead.
        form : {"built", "nested", "dnf", "simplified"}, optional
            Adds the rules in that form and their lengths, in columns called after it, and
            ``equivalent``: ``"always"`` or ``"on the training data"``.
        given : optional
            The training data, for ``form="simplified"``: see ``formulas``.

        Returns
        -------
        data frame
            ``pattern`` (the columns it asserts), ``rule`` (the formula; one of more than 10,000
            literals is not written out), ``support`` (rows), ``frequency`` (share of rows),
            ``length`` (literals), ``iteration`` (0 for a primitive), ``parents`` (the two
            features it came from), and why these were joined (missing where no pair made the
            feature): the bits ``saved``, the correlation ``r``, ``p_value``, ``p_adjusted`` for
            the pairs tested (``family_size``), the ``score`` that orders pairs, and the
            ``threshold`` with which one of these was ``compared``: ``"score"`` exceeds it,
            ``"r"`` reaches it, or ``"p_value"`` does not exceed it.
        """
        check_is_fitted(self)
        fitted = self.feature_set_.rare() if suppressed else self.feature_set_
        columns = rule_columns(fitted, self.style)
        if form is not None:
            store = None if given is None else self._read_complete(given, "given")
            columns |= formula_columns(explain.formulas_of(fitted, form, store), self.style)
        elif given is not None:
            raise InputError("given needs a form: ask for form='simplified'")
        return self._make_table(columns, backend)

    def nuggets(
        self,
        X: Any,
        *,
        max_support: float | None = None,
        min_lift: float = 5.0,
        alpha: float = 0.001,
        correction: str | None = "holm",
        backend: Backend | None = None,
    ) -> Any:
        """Return a table of the conjunctions that are rare in ``X``, yet too frequent for chance.

        All pairs of columns are tested, and all conjunctions of the model, suppressed or not.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The data of ``fit``, or other rows with the same columns.
        max_support : float, optional
            Share of rows up to which a conjunction is rare. By default ``min_support``, or 0.01.
        min_lift : float, default=5.0
            Minimum lift: rows with both parts, as a multiple of what chance would give.
        alpha : float, default=0.001
            Level of the exact test, corrected for all conjunctions tested.
        correction : {"bonferroni", "holm", "bh", "by"}, optional
            The correction.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table, as in ``get_rules``.

        Returns
        -------
        data frame
            ``rule``, ``status`` (``"feature"``, ``"suppressed"`` or ``"not a feature"``),
            ``support``, ``frequency``, ``length``, ``lift``, ``r``, ``p_value``, ``p_adjusted``
            and ``family_size``; the largest lift first.
        """
        check_is_fitted(self)
        if max_support is None:
            max_support = 0.01 if self.min_support is None else self.min_support
        check_frequency("max_support", max_support)
        check(is_number(min_lift) and min_lift >= 1, "min_lift", min_lift, "a number, at least 1")
        check_risk("alpha", alpha)
        check_choice("correction", correction, CORRECTIONS, optional=True)
        store = self._read_complete(X, "nuggets")
        nuggets = ufc.find_nuggets(
            store,
            self.feature_set_,
            max_support=max_support,
            min_lift=min_lift,
            alpha=alpha,
            correction=correction,
        )
        columns: Table = {
            "rule": [nugget.expression.text(self.style) for nugget in nuggets],
            "status": [nugget.status for nugget in nuggets],
            "support": [nugget.support for nugget in nuggets],
            "frequency": [nugget.support / store.n_rows for nugget in nuggets],
            "length": [nugget.expression.length for nugget in nuggets],
            "lift": [nugget.lift for nugget in nuggets],
            "r": [nugget.r for nugget in nuggets],
            "p_value": [nugget.p_value for nugget in nuggets],
            "p_adjusted": [nugget.p_adjusted for nugget in nuggets],
            "family_size": [nugget.family_size for nugget in nuggets],
        }
        return self._make_table(columns, backend)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON (docs/model-file.md), atomically."""
        check_is_fitted(self)
        files.write_model(path, self._model_file())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` wrote."""
        return cls._from_model_file(files.read_model(path), str(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _read_complete(self, X: Any, what: str) -> PackedColumns:
        """Read ``X`` for a use that needs every cell; ``what`` names it in the error."""
        columns = self._read(X)
        if columns.has_missing:
            raise InputError(f"{what} needs data without missing cells: fill or drop them first")
        return columns.to_bits()

    def _output_features(self) -> FeatureSet:
        """Return the features that ``transform`` computes."""
        return self.feature_set_

    def _lazy_columns(self, container: Container, names: Sequence[str]) -> LazyColumns:
        """Return columns of a lazy table, which may be raw if the model was fitted on raw data."""
        from conjunct.export import lazy_columns

        raw = self._raw_checks() if tuple(names) == self._primitive_names() else None
        fill = self.missing == "false"
        return lazy_columns(container, names, cut=self.binarize, raw=raw, fill=fill)

    def _transform_columns(self, container: Container, columns: Columns) -> Any:
        """Return the features of columns, in a container of the kind they were read from."""
        features = self._output_features().evaluate(columns)
        data = BooleanData(tuple(self._output_names()), features)
        return data.to(container, nullable=self.missing == "pairwise")

    def _output_names(self, primitives: tuple[str, ...] | None = None) -> list[str]:
        """Return the column names of ``transform``, given other names of the primitives if any."""
        features = self._output_features()
        if primitives is not None:
            features = features.renamed(primitives)
        return self._name_features(features)

    def _name_features(self, features: FeatureSet) -> list[str]:
        """Return a distinct name for each feature."""
        return distinct_names(features.lineage.texts(features.features, self.style))

    def _watch(self, indicators: Indicators) -> None:
        """Report an iteration to standard output and to the callback, as asked for."""
        if self.verbose:
            sys.stdout.write(
                f"iteration {indicators.iteration}: {indicators.n_features} features, "
                f"length {indicators.length:.2f}, OI {indicators.oi:.3f}, "
                f"C0 {indicators.c0:.3f}, RMS {indicators.rms:.3f}\n"
            )
        if self.callback is not None:
            self.callback(indicators)

    def _model_file(self) -> files.ModelFile:
        """Return everything that a model file holds."""
        parameters = self.get_params(deep=False)
        for name in self._unsaved:
            del parameters[name]
        for name, value in parameters.items():
            if isinstance(value, Rule):
                parameters[name] = value.record()
            elif isinstance(value, Mapping):
                parameters[name] = {str(key): list(map(str, each)) for key, each in value.items()}
        return files.model_file(
            type(self).__name__,
            parameters,
            self.feature_set_,
            self.history_,
            threshold=getattr(self, "threshold_", None),
            named=hasattr(self, "feature_names_in_"),
            outcome=getattr(self, "outcome_", ""),
            preparation=self.preparation_,
            new_rows=getattr(self, "new_rows_", None),
        )

    @classmethod
    def _from_model_file(cls, model: files.ModelFile, path: str) -> Self:
        """Rebuild the estimator that a model file holds; ``path`` is for messages."""
        if model.kind != cls.__name__:
            raise ModelFileError(f"{path}: a model of kind {model.kind!r}, not {cls.__name__!r}")
        try:
            fitted = cls(**cls._read_parameters(model))
            fitted._check_parameters()
            fitted.feature_set_ = model.feature_set(only_adds=cls._only_adds)
            fitted.preparation_ = model.preparation()
            new_rows = model.counted_since(fitted.feature_set_)
        except (TypeError, InputError) as error:
            raise ModelFileError(f"{path}: {error}") from None
        fitted.history_ = model.indicators()
        if new_rows is not None:
            fitted.new_rows_ = new_rows
        if model.outcome:
            fitted.outcome_ = model.outcome
        if model.threshold is not None:
            fitted.threshold_ = model.threshold
        fitted.n_features_in_ = len(model.primitives)
        if model.named:
            fitted.feature_names_in_ = np.array(model.primitives, object)
        return fitted

    @classmethod
    def _read_parameters(cls, model: files.ModelFile) -> dict[str, Any]:
        """Return the parameters of a model file as arguments of this class."""
        return dict(model.parameters)


def read_rows(model: BooleanEstimator, X: Any) -> Columns:
    """Read rows with the columns of a fitted model, all of which must fit in memory."""
    return model._read(X)


def class_codes(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes of ``y``, and the position of each row's class among them."""
    from sklearn.utils.multiclass import check_classification_targets

    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise InputError(f"X has {n_rows} rows and y {len(labels)}: they must be as many")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, np.asarray(codes, np.intp)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Append ``[2]``, ``[3]`` … to names that came before, because columns need distinct names."""
    originals = set(names)
    distinct: dict[str, None] = {}
    for name in names:
        candidate, k = name, 1
        while candidate in distinct or (k > 1 and candidate in originals):
            k += 1
            candidate = f"{name} [{k}]"
        distinct[candidate] = None
    return list(distinct)


def picklable(feature_set: FeatureSet, *, merges: bool = False) -> FeatureSet:
    """Return the same features without their expressions, which nest too deeply for pickle.

    A worker builds the expressions it needs.
    """
    lineage = feature_set.lineage.renamed(feature_set.lineage.primitives)
    return replace(feature_set, lineage=lineage, merges=feature_set.merges if merges else ())


@dataclass(frozen=True)
class PartitionTransformer:
    """Compute columns from those of a partition, here or on a worker."""

    reader: BooleanData
    compute: Callable[[Any], Any]
    names: tuple[str, ...]

    def __call__(self, data: Any) -> Any:
        container = unchecked(data)
        columns = self.compute(self.reader.like(container).columns)
        return BooleanData(self.names, columns).to(container, nullable=self._is_nullable)

    def map(self, container: InParts) -> Any:
        """Return the lazy collection of the columns of all partitions."""
        dtype = np.float64 if self._is_nullable else np.bool_
        return container.engine.mapped(container.data, self, len(self.names), dtype)

    @property
    def _is_nullable(self) -> bool:
        return self.reader.rules.missing == "pairwise"


def rule_columns(fitted: FeatureSet, style: Style) -> Table:
    """Return a table with one row per feature; values that primitives lack are NaN, 0 or empty."""
    lineage, origins, write = fitted.lineage, fitted.origins(), explain.formula_text
    merges = [origins.get(number) for number in fitted.features]
    return {
        "pattern": list(fitted.pattern_texts),
        "rule": [write(expression, style) for expression in fitted.expressions],
        "support": list(fitted.supports),
        "frequency": list(fitted.frequencies),
        "length": [expression.length for expression in fitted.expressions],
        "iteration": [fitted.iteration(number) for number in fitted.features],
        "parents": [
            [write(parent, style) for parent in lineage.expressions(fitted.parents(number))]
            for number in fitted.features
        ],
        "saved": [merge.saved if merge else math.nan for merge in merges],
        "r": [merge.r if merge else math.nan for merge in merges],
        "p_value": [merge.p_value if merge else math.nan for merge in merges],
        "p_adjusted": [merge.p_adjusted if merge else math.nan for merge in merges],
        "family_size": [merge.family_size if merge else 0 for merge in merges],
        "score": [merge.score if merge else math.nan for merge in merges],
        "threshold": [merge.threshold if merge else math.nan for merge in merges],
        "compared": [merge.compared if merge else "" for merge in merges],
    }


def formula_columns(formulas: explain.Formulas, style: Style) -> Table:
    """Return the columns for features in another form: formulas, lengths, where they hold."""
    return {
        formulas.form: formulas.texts(style),
        f"{formulas.form}_length": [formula.length for formula in formulas.expressions],
        "equivalent": [formulas.equivalent] * len(formulas.expressions),
    }
