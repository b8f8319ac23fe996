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
from conjunct.counting import PartitionedColumns
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
    from conjunct.ufc import Nugget


class BooleanEstimator(BaseEstimator):
    """Base of the estimators that read Boolean columns."""

    # whether rows may lie apart, on disk or on a cluster
    _takes_parts: ClassVar[bool] = False
    _ways_with_missing: ClassVar[tuple[Missing, ...]] = ("raise", "false")

    binarize: float | None
    missing: Missing
    n_jobs: int | None
    # only uFC works on lists of rows
    store: StoreKind = "bits"

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    preparation_: Preparation = Preparation()
    """How the columns came from raw data, if they did; saved with the model."""
    _backend: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def _read_to_fit(self, X: Any) -> BooleanData:
        """The columns to learn from; keeps their number and their names."""
        container = container_of(X)
        if isinstance(container, InParts) and not self._takes_parts:
            raise self._not_in_memory()
        if not container.names_itself:
            validate_data(self, container.head, reset=True, skip_check_array=True)
        data = BooleanData.read(container, self._rules(), counts=True)
        if isinstance(data.columns, PartitionedColumns) and not self._takes_parts:
            raise self._not_in_memory()
        if container.names_itself:
            self.n_features_in_ = len(data.names)
            if data.has_names:
                self.feature_names_in_ = np.array(data.names, object)
        self._backend = container.backend
        self.preparation_ = container.preparation
        return data

    def _rules(self) -> CellRules:
        check_jobs(self.n_jobs)
        return CellRules(self.binarize, self.missing, self.store, self.n_jobs)

    def _container(self, X: Any) -> Container:
        """Other rows, if they have the columns of the model."""
        container = container_of(X)
        if not container.names_itself:
            validate_data(self, container.head, reset=False, skip_check_array=True)
        elif not hasattr(self, "feature_names_in_"):
            return self._by_position(container)
        return container

    def _by_position(self, container: Container) -> Container:
        """Columns with names, for a model that was fitted without any."""
        if isinstance(container, Baskets):
            raise InputError("baskets need a model fitted on named columns; this one has no names")
        if container.n_columns != self.n_features_in_:
            raise InputError(
                f"the data has {container.n_columns} columns, and the model, which has no names, "
                f"{self.n_features_in_}"
            )
        return container.renamed(self._primitive_names())

    def _like_fitted(self) -> BooleanData:
        """What other rows are read like."""
        return BooleanData.without_rows(self._primitive_names(), self._rules())

    def _read(self, X: Any) -> Columns:
        """The columns of other rows."""
        container = self._container(X)
        if isinstance(container, InParts):
            raise InputError(container.engine.advice)
        columns = self._like_fitted().like(container).columns
        if isinstance(columns, PartitionedColumns):
            raise InputError("these rows do not fit in memory: give some of them at a time")
        read: Columns = columns
        return read

    def _not_in_memory(self) -> InputError:
        return InputError(
            f"{type(self).__name__} needs all rows in memory: call .compute() on a Dask "
            "collection, read a file with conjunct.files.read_boolean, or use UFC"
        )

    def _primitive_names(self) -> tuple[str, ...]:
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return tuple(f"x{k}" for k in range(self.n_features_in_))

    def _names_for(self, input_features: Any) -> tuple[str, ...]:
        """Names of the columns, as ``get_feature_names_out`` is given them."""
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


def class_codes(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes of ``y``, sorted, and the position of each row's among them."""
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
    """The names, with ``[2]``, ``[3]`` … after those that came before: columns need their own."""
    taken = set(names)
    used: set[str] = set()
    distinct = []
    for name in names:
        own, k = name, 1
        while own in used or (k > 1 and own in taken):
            k += 1
            own = f"{name} [{k}]"
        used.add(own)
        distinct.append(own)
    return distinct


def picklable(feature_set: FeatureSet, *, merges: bool = False) -> FeatureSet:
    """The same features, without what is deep for pickle; expressions are made where wanted."""
    lineage = feature_set.lineage.renamed(feature_set.lineage.primitives)
    return replace(feature_set, lineage=lineage, merges=feature_set.merges if merges else ())


@dataclass(frozen=True)
class PartitionTransformer:
    """Makes other columns of those of a part, which is read like other data."""

    like: BooleanData
    make: Callable[[Any], Any]
    names: tuple[str, ...]

    def __call__(self, data: Any) -> Any:
        container = unchecked(data)
        made = self.make(self.like.like(container).columns)
        return BooleanData(self.names, made).to(container, nullable=self._nullable)

    def over(self, container: InParts) -> Any:
        """What is made of all parts, when it is used."""
        dtype = np.float64 if self._nullable else np.bool_
        return container.engine.mapped(container.data, self, len(self.names), dtype)

    @property
    def _nullable(self) -> bool:
        return self.like.rules.missing == "pairwise"


Table = dict[str, list[Any]]


def rule_columns(fitted: FeatureSet, style: Style) -> Table:
    """One row a feature; what a primitive cannot have is NaN, 0 or empty."""
    lineage, origins, written = fitted.lineage, fitted.origins(), explain.formula_text
    merges = [origins.get(number) for number in fitted.features]
    return {
        "pattern": list(fitted.pattern_texts),
        "rule": [written(expression, style) for expression in fitted.expressions],
        "support": list(fitted.supports),
        "frequency": list(fitted.frequencies),
        "length": [expression.length for expression in fitted.expressions],
        "iteration": [fitted.iteration(number) for number in fitted.features],
        "parents": [
            [written(parent, style) for parent in lineage.expressions(fitted.parents(number))]
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
    """The same features in another form, and whether it is one on every row there could be."""
    return {
        formulas.form: formulas.texts(style),
        f"{formulas.form}_length": [formula.length for formula in formulas.expressions],
        "equivalent": [formulas.equivalent] * len(formulas.expressions),
    }


def nugget_columns(nuggets: list[Nugget], n_rows: int, style: Style) -> Table:
    """One row a nugget."""
    return {
        "rule": [nugget.expression.text(style) for nugget in nuggets],
        "status": [nugget.status for nugget in nuggets],
        "support": [nugget.support for nugget in nuggets],
        "frequency": [nugget.support / n_rows for nugget in nuggets],
        "length": [nugget.expression.length for nugget in nuggets],
        "lift": [nugget.lift for nugget in nuggets],
        "r": [nugget.r for nugget in nuggets],
        "p_value": [nugget.p_value for nugget in nuggets],
        "p_adjusted": [nugget.p_adjusted for nugget in nuggets],
        "family_size": [nugget.family_size for nugget in nuggets],
    }


class FeatureConstructor(ExplainMixin, ExportMixin, TransformerMixin, BooleanEstimator):
    """Base of the estimators whose features are conjunctions of the columns they were given.

    A subclass says how features are made, in ``_construct``; all the rest is here.
    """

    # parameters that belong to a session, not to a model
    _unsaved: ClassVar[tuple[str, ...]] = ("callback",)
    # whether features are added to the primitives, rather than put in the place of some
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
        """Refuse parameters that cannot be used, by name."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual a row.
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
        """The constructed features of the rows of ``X``, in a container of the same kind.

        Rows may hold combinations of values that were never seen in ``fit``. A lazy table, of
        Polars, DuckDB, Ibis or Spark, and a collection of Dask give another, which is computed
        when it is used.
        """
        check_is_fitted(self)
        container = self._container(X)
        if container.lazy is not None:
            columns = self._lazy_columns(container, self._primitive_names())
            return self._made_features().evaluate(columns).named(self._column_names())
        if isinstance(container, InParts):
            make = picklable(self._made_features()).evaluate
            names = tuple(self._column_names())
            return PartitionTransformer(self._like_fitted(), make, names).over(container)
        return self._features_of(container, self._read(container))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """What the columns of ``transform`` are called.

        Formulas as text, of which equal ones are told apart by ``[2]``, ``[3]`` … after them; or
        patterns, which are all different (``names="pattern"``).

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of a model that was fitted without any; otherwise they must be
            the names it was fitted with.
        """
        check_is_fitted(self)
        primitives = None if input_features is None else self._names_for(input_features)
        return np.array(self._column_names(primitives), object)

    @property
    def features_(self) -> tuple[Expression, ...]:
        """The constructed features."""
        check_is_fitted(self)
        return Features(self.feature_set_.expressions)

    @property
    def suppressed_(self) -> tuple[Expression, ...]:
        """The features that ``min_support`` suppresses."""
        check_is_fitted(self)
        return Features(self.feature_set_.rare().expressions)

    @property
    def n_iter_(self) -> int:
        """Number of iterations behind the features."""
        check_is_fitted(self)
        return self.history_[-1].iteration

    def rows(self, feature: int | str | Expression, X: Any) -> NDArray[np.intp]:
        """Positions of the rows of ``X`` in which a feature is true.

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
        """A table of the features: what they are, how common, and why they were made.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table. By default the kind the model was fitted on, and pandas otherwise.
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
            features it came from), and what decided for those (missing where no pair made the
            feature): the bits ``saved``, the correlation ``r``, ``p_value``, ``p_adjusted`` for
            the pairs tested (``family_size``), the ``score`` that orders pairs, and the
            ``threshold`` with which one of these was ``compared``: ``"score"`` exceeds it,
            ``"r"`` reaches it, or ``"p_value"`` does not exceed it.
        """
        check_is_fitted(self)
        fitted = self.feature_set_.rare() if suppressed else self.feature_set_
        columns = rule_columns(fitted, self.style)
        if form is not None:
            store = None if given is None else self._complete(given, "given")
            columns |= formula_columns(explain.formulas_of(fitted, form, store), self.style)
        elif given is not None:
            raise InputError("given needs a form: ask for form='simplified'")
        return as_table(columns, backend or self._backend or "pandas")

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
        """A table of the conjunctions that are rare in ``X``, yet too frequent for chance.

        Looks at all pairs of columns, and at all conjunctions of the model, suppressed or not.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The data of ``fit``, or other rows with the same columns.
        max_support : float, optional
            Share of rows up to which a conjunction is rare. By default ``min_support``, or 0.01.
        min_lift : float, default=5.0
            How many times as often as by chance its two parts must come together.
        alpha : float, default=0.001
            Level of the exact test, corrected for all conjunctions looked at.
        correction : {"bonferroni", "holm", "bh", "by"}, optional
            The correction.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            What kind of table, as in ``get_rules``.

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
        store = self._complete(X, "nuggets")
        found = ufc.find_nuggets(
            store,
            self.feature_set_,
            max_support=max_support,
            min_lift=min_lift,
            alpha=alpha,
            correction=correction,
        )
        columns = nugget_columns(found, store.n_rows, self.style)
        return as_table(columns, backend or self._backend or "pandas")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON (docs/model-file.md). The file is whole or absent."""
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

    def _complete(self, X: Any, what: str) -> PackedColumns:
        """The columns of ``X`` for something that missing cells have no meaning for."""
        columns = self._read(X)
        if columns.has_missing:
            raise InputError(f"{what} needs data without missing cells: fill or drop them first")
        return columns.to_bits()

    def _made_features(self) -> FeatureSet:
        """The features that ``transform`` makes."""
        return self.feature_set_

    def _lazy_columns(self, container: Container, names: Sequence[str]) -> LazyColumns:
        """Columns of a lazy table; raw ones, where it has those and the model was made of them."""
        from conjunct.export import lazy_columns

        raw = self._raw() if tuple(names) == self._primitive_names() else None
        fill = self.missing == "false"
        return lazy_columns(container, names, cut=self.binarize, raw=raw, fill=fill)

    def _features_of(self, container: Container, columns: Columns) -> Any:
        """The features of columns that were read from a container, in one of its kind."""
        features = self._made_features().evaluate(columns)
        made = BooleanData(tuple(self._column_names()), features)
        return made.to(container, nullable=self.missing == "pairwise")

    def _column_names(self, primitives: tuple[str, ...] | None = None) -> list[str]:
        """What ``transform`` calls them, over primitives that may have other names."""
        made = self._made_features()
        return self._names_of(made if primitives is None else made.renamed(primitives))

    def _names_of(self, fitted: FeatureSet) -> list[str]:
        """What features are called, all differently."""
        return distinct_names(fitted.lineage.texts(fitted.features, self.style))

    def _watch(self, indicators: Indicators) -> None:
        if self.verbose:
            sys.stdout.write(
                f"iteration {indicators.iteration}: {indicators.n_features} features, "
                f"length {indicators.length:.2f}, OI {indicators.oi:.3f}, "
                f"C0 {indicators.c0:.3f}, RMS {indicators.rms:.3f}\n"
            )
        if self.callback is not None:
            self.callback(indicators)

    def _model_file(self) -> files.ModelFile:
        parameters = self.get_params(deep=False)
        for name in self._unsaved:
            del parameters[name]
        for name, value in parameters.items():
            if isinstance(value, Rule):
                parameters[name] = value.record()
            elif isinstance(value, Mapping):
                parameters[name] = {str(key): list(map(str, some)) for key, some in value.items()}
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
        """The parameters of a model file, as those of this class."""
        return dict(model.parameters)
