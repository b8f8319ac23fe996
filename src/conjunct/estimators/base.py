"""Bases of the estimators: Boolean columns from any container, and the features made of them."""

from __future__ import annotations

import math
import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from conjunct import explain, files, ufc
from conjunct.columns import Columns, PackedColumns
from conjunct.counting import PartitionedColumns, Store
from conjunct.data import (
    Backend,
    Baskets,
    BooleanData,
    BooleanDataContainer,
    CellRules,
    Container,
    Frame,
    Missing,
    PartitionedContainer,
    Preparation,
    as_table,
    check_distinct,
    check_features,
    container_of,
    prepare,
    wrap_rows,
)
from conjunct.errors import CellError, ConjunctWarning, InputError, ModelFileError
from conjunct.estimators.mixins import ExplainMixin, ExportMixin, Features
from conjunct.expressions import Expression, Style, pattern_text
from conjunct.features import FeatureSet
from conjunct.parameters import (
    CUTOFF,
    JOBS,
    VERBOSE,
    Constraint,
    check,
    check_parameters,
    frequency,
    is_number,
    one_of,
    risk_level,
)
from conjunct.ufc import CORRECTIONS, Ending, Indicators, Plan, Rule, SourceError

if TYPE_CHECKING:
    from conjunct.export import LazyColumns
    from conjunct.expressions import Form

Table = dict[str, list[Any]]

# columns named in a note
_MOST_SHOWN = 5


class BooleanEstimator(BaseEstimator):
    """Base of the estimators that read Boolean columns."""

    # rows may be on disk or on a cluster
    _takes_partitions: ClassVar[bool] = False
    _ways_with_missing: ClassVar[tuple[Missing, ...]] = ("raise", "false")

    # allowed values of parameters; those of a class are added to those of its bases
    constraints: ClassVar[dict[str, Constraint]] = {"threshold": CUTOFF, "n_jobs": JOBS}

    threshold: float | None
    missing: Missing
    n_jobs: int | None

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    # how the columns were made from raw data, if they were; saved with the model
    preparation_: Preparation = Preparation()
    # the kind of table that the model was fitted on
    backend_: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def _check_parameters(self) -> None:
        """Raise an InputError that names the first parameter with an invalid value."""
        check_parameters(self)
        one_of(self._ways_with_missing).check("missing", self.missing)

    def _read_to_fit(self, X: Any, rules: CellRules | None = None) -> BooleanData:
        """Read the columns to learn from, and keep their number, names and preparation."""
        refusal = InputError(
            f"{type(self).__name__} needs all rows in memory: call .compute() on a Dask "
            "collection, read a file with conjunct.files.read_boolean, or use UFC"
        )
        container = container_of(X)
        if isinstance(container, PartitionedContainer) and not self._takes_partitions:
            raise refusal
        if not container.names_itself:
            check_features(self, container.head, reset=True)
        rules = rules or self.reading_rules()
        fills = rules.missing == "false" and isinstance(container, Frame | BooleanDataContainer)
        if fills:
            # they are counted first
            rules = replace(rules, missing="pairwise")
        with self._advise_on_cells():
            container, data = BooleanData.read_any(container, rules, counts=True)
        if isinstance(data.columns, PartitionedColumns) and not self._takes_partitions:
            raise refusal
        if container.names_itself:
            self.n_features_in_ = len(data.names)
            if data.has_names:
                self.feature_names_in_ = np.array(data.names, object)
        self.backend_ = container.backend
        self.preparation_ = container.preparation
        notes = []
        if data.columns.has_missing:
            notes.append(_describe_missing(data, "false" if fills else "unknown"))
        if self.preparation_.binarizer is not None:
            notes.append(self.preparation_.binarizer.describe_dropped())
        for note in filter(None, notes):
            warnings.warn(note, ConjunctWarning, stacklevel=3)
        return replace(data, columns=data.columns.fill_missing()) if fills else data

    def reading_rules(self) -> CellRules:
        """Return how cells are read."""
        # checked here because data are read on threads before other parameters are checked
        JOBS.check("n_jobs", self.n_jobs)
        CUTOFF.check("threshold", self.threshold)
        # only uFC works on lists of rows
        storage: Any = getattr(self, "storage", "dense")
        return CellRules(self.threshold, self.missing, storage, self.n_jobs)

    @contextmanager
    def _advise_on_cells(self) -> Iterator[None]:
        """Advise only what this estimator takes, in errors about cells."""
        try:
            yield
        except CellError as error:
            error.advice = self._adapt_advice(error.advice)
            raise

    def _adapt_advice(self, advice: str) -> str:
        if "pairwise" in self._ways_with_missing:
            return advice
        return advice.replace("'pairwise' or 'false'", "'false'")

    def _check_container(self, X: Any) -> Container:
        """Return other rows in their container, after checking that they have the model's columns.

        Columns with names are matched by position if the model was fitted without names. Raw rows
        are prepared as those of training were.
        """
        container = container_of(prepare(self.preparation_, self._primitive_names(), X))
        if not container.names_itself:
            check_features(self, container.head, reset=False)
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
        return container.rename(self._primitive_names())

    def _row_reader(self) -> BooleanData:
        """Return the empty data that other rows are read like."""
        names, rules = self._primitive_names(), self.reading_rules()
        return BooleanData.without_rows(names, rules, self.preparation_)

    def _read_store(self, X: Any) -> Store:
        """Read other rows, which may be partitioned."""
        with self._advise_on_cells():
            store: Store = self._row_reader().read_like(self._check_container(X)).columns
        return store

    def read_columns(self, X: Any) -> Columns:
        """Read other rows, all of which must fit in memory."""
        container = self._check_container(X)
        if isinstance(container, PartitionedContainer):
            raise InputError(container.engine.advice)
        with self._advise_on_cells():
            columns = self._row_reader().read_like(container).columns
        if isinstance(columns, PartitionedColumns):
            raise InputError("these rows do not fit in memory: give some of them at a time")
        read: Columns = columns
        return read

    def make_table(self, columns: Table, backend: Backend | None) -> Any:
        """Return columns as a table of a kind, by default the one the model was fitted on."""
        return as_table(columns, backend or self.backend_ or "pandas")

    def _primitive_names(self) -> tuple[str, ...]:
        """Return the names of the columns: those of the training data, or x0, x1, …."""
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return tuple(f"x{k}" for k in range(self.n_features_in_))

    def _check_names(self, input_features: Any) -> tuple[str, ...]:
        """Return the column names given to ``get_feature_names_out``, after checking them."""
        names = tuple(str(name) for name in input_features)
        binarizer = self.preparation_.binarizer
        if binarizer is not None and names == tuple(binarizer.feature_names_in_):
            # raw columns, as a ColumnTransformer names them
            return self._primitive_names()
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

    constraints: ClassVar[dict[str, Constraint]] = {
        "formula_style": one_of(get_args(Style)),
        "verbose": VERBOSE,
    }
    # parameters that belong to a machine, not to a model
    unsaved_parameters: ClassVar[tuple[str, ...]] = ()
    # why the run ended, and rows in which no column is true where these are counted
    _ending: Ending = Ending()
    _null_rows: int | None = None

    formula_style: Style
    verbose: int

    feature_set_: FeatureSet
    history_: tuple[Indicators, ...]
    threshold_: float | None
    stop_reason_: str
    n_distinct_rows_: int

    @abstractmethod
    def _construct(
        self, store: Any, names: Sequence[str], callback: Callable[[Any], object] | None
    ) -> None:
        """Set ``feature_set_``, ``history_`` and, where there is one, ``threshold_``."""

    @abstractmethod
    def _restore(self, model: files.ModelFile) -> None:
        """Set what ``_construct`` sets, from a model file."""

    def _plan_of_run(self) -> Plan | None:
        """Return the plan behind the merges, if the features come from merges."""
        return None

    def fit(
        self, X: Any, y: Any = None, *, callback: Callable[[Any], object] | None = None
    ) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual per row. A data frame of words, numbers, dates
            and lists is made Boolean by a Binarizer, which the model keeps in ``preparation_``.
        y : ignored
            Accepted for use in pipelines.
        callback : callable, optional
            Called with the indicators of each iteration as it ends.

        Returns
        -------
        self
        """
        data = self._read_to_fit(X)
        self._construct(data.columns, data.names, callback)
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
            return self._output_features().evaluate(columns).rename_columns(self._output_names())
        if isinstance(container, PartitionedContainer):
            evaluate = picklable(self._output_features()).evaluate
            names = tuple(self._output_names())
            return PartitionTransformer(self._row_reader(), evaluate, names).map(container)
        return self._transform_columns(container, self.read_columns(container))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of ``transform``.

        Tags, which are all different, or formulas, where equal ones are numbered: ``[2]``, ``[3]``.

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

    def find_rows(self, feature: int | str | Expression, X: Any) -> NDArray[np.intp]:
        """Return the positions of the rows of ``X`` that have some tags, or a feature.

        ``feature`` is tags such as ``"fork + knife"`` in any order; or a position in
        ``features_``, a formula, or a column name of ``transform``.
        """
        check_is_fitted(self)
        columns, fitted = self.read_columns(X), self.feature_set_
        if tags := fitted.tags_in(feature):
            column: Columns = fitted.evaluate_tags(columns, tags)
        else:
            column = fitted.evaluate(columns, [self.feature_number(feature)])
        return column.true_rows(0).astype(np.intp)

    def get_features(
        self,
        backend: Backend | None = None,
        *,
        suppressed: bool = False,
        form: Form | None = None,
        X_train: Any = None,
    ) -> Any:
        """Return a table of the features of ``transform``, in its order.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table. By default the kind the model was fitted on, and pandas otherwise.
        suppressed : bool, default=False
            List the features below ``min_support`` instead.
        form : {"built", "nested", "dnf", "simplified"}, optional
            Adds the rules in that form and their lengths, in columns called after it, and
            ``equivalent``: ``"always"`` or ``"on the training data"``.
        X_train : optional
            The training data, for ``form="simplified"``: see ``formulas``.

        Returns
        -------
        data frame
            ``pattern`` (the columns it asserts), ``rule`` (the formula; one of more than 10,000
            literals is not written out), ``support`` (rows), ``frequency`` (share of rows),
            ``length`` (literals), ``iteration`` (0 for a column) and ``parents`` (the two features
            it came from). ``get_rules`` lists why these were joined.
        """
        check_is_fitted(self)
        fitted = self.feature_set_.rare() if suppressed else self.feature_set_
        columns = feature_columns(fitted, self.formula_style)
        if form is not None:
            store = None if X_train is None else self._read_complete(X_train, "X_train")
            columns |= formula_columns(explain.formulas_of(fitted, form, store), self.formula_style)
        elif X_train is not None:
            raise InputError("X_train needs a form: ask for form='simplified'")
        return self.make_table(columns, backend)

    def rare_conjunctions(
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
            max_support = getattr(self, "min_support", None) or 0.01  # only uFC suppresses
        frequency().check("max_support", max_support)
        check(is_number(min_lift) and min_lift >= 1, "min_lift", min_lift, "a number, at least 1")
        risk_level().check("alpha", alpha)
        one_of(CORRECTIONS, optional=True).check("correction", correction)
        store = self._read_complete(X, "rare_conjunctions")
        found = ufc.find_rare_conjunctions(
            store,
            self.feature_set_,
            max_support=max_support,
            min_lift=min_lift,
            alpha=alpha,
            correction=correction,
        )
        columns: Table = {
            "rule": [one.expression.text(self.formula_style) for one in found],
            "status": [one.status for one in found],
            "support": [one.support for one in found],
            "frequency": [one.support / store.n_rows for one in found],
            "length": [one.expression.length for one in found],
            "lift": [one.lift for one in found],
            "r": [one.r for one in found],
            "p_value": [one.p_value for one in found],
            "p_adjusted": [one.p_adjusted for one in found],
            "family_size": [one.family_size for one in found],
        }
        return self.make_table(columns, backend)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON (docs/export.md), atomically."""
        check_is_fitted(self)
        files.write_model(path, self._checked_file())

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
        columns = self.read_columns(X)
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
        return lazy_columns(container, names, cut=self.threshold, raw=raw, fill=fill)

    def _transform_columns(self, container: Container, columns: Columns) -> Any:
        """Return the features of columns, in a container of the kind they were read from."""
        features = self._output_features().evaluate(columns)
        data = BooleanData(tuple(self._output_names()), features)
        return data.convert(container, nullable=self._is_nullable)

    def _output_names(self, primitives: tuple[str, ...] | None = None) -> list[str]:
        """Return the column names of ``transform``, given other names of the primitives if any."""
        features = self._output_features()
        if primitives is not None:
            features = features.rename(primitives)
        return self._name_features(features)

    def _name_features(self, features: FeatureSet, kind: str | None = None) -> list[str]:
        """Return a distinct name for each feature: its formula, or its number."""
        one_of(("formula", "number"), optional=True).check("feature_names", kind)
        if kind == "number":
            return [f"f{position}" for position in range(len(features.features))]
        return distinct_names(features.lineage.texts(features.features, self.formula_style))

    def _watch(self, callback: Callable[[Any], object] | None, indicators: Indicators) -> None:
        """Report an iteration to standard output and to the callback, as asked for."""
        if self.verbose:
            sys.stdout.write(
                f"iteration {indicators.iteration}: {indicators.n_features} features, "
                f"length {indicators.length:.2f}, OI {indicators.oi:.3f}, "
                f"C0 {indicators.c0:.3f}, RMS {indicators.rms:.3f}\n"
            )
        if callback is not None:
            callback(indicators)

    def _model_file(self) -> files.ModelFile:
        """Return everything that a model file holds."""
        parameters = self.get_params(deep=False)
        for name in self.unsaved_parameters:
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
            self._plan_of_run(),
            n_distinct_rows=self.n_distinct_rows_,
            null_rows=self._null_rows,
            named=hasattr(self, "feature_names_in_"),
            ending=self._ending,
            preparation=self.preparation_,
            new_rows=getattr(self, "new_rows_", None),
        )

    def _checked_file(self) -> files.ModelFile:
        """Return the model file, unless it would be read as another model."""
        model = self._model_file()
        files.model_json(model)
        try:
            again = self._from_model_file(model, "the model")
        except ModelFileError:
            again = None
        if again is None or not has_same_features(again, self):
            raise InputError(
                "the model cannot be saved, because its parameters are no longer those of its fit: "
                "fit it again"
            )
        return model

    @classmethod
    def _from_model_file(cls, model: files.ModelFile, path: str) -> Self:
        """Rebuild the estimator that a model file holds; ``path`` is for messages."""
        if model.kind != cls.__name__:
            raise ModelFileError(f"{path}: a model of kind {model.kind!r}, not {cls.__name__!r}")
        try:
            fitted = cls(**cls._read_parameters(model))
            fitted._check_parameters()
            fitted._restore(model)
            fitted.preparation_ = model.preparation()
        except SourceError as error:
            raise ModelFileError(f"{path}: damaged model file: {error}") from None
        except InputError as error:
            raise ModelFileError(f"{path}: {error}") from None
        fitted._null_rows = model.null_rows
        fitted.n_features_in_ = len(model.supports)
        if isinstance(model.columns, list):
            fitted.feature_names_in_ = np.array(model.columns, object)
        return fitted

    @classmethod
    def _read_parameters(cls, model: files.ModelFile) -> dict[str, Any]:
        """Return the parameters of a model file as arguments of this class."""
        written = {*cls._get_param_names()} - {*cls.unsaved_parameters}
        differ = sorted(written ^ {*model.parameters})
        if differ:
            raise InputError(f"a {cls.__name__} is saved with other parameters than {differ[0]!r}")
        for name, value in model.parameters.items():
            is_whole = not isinstance(value, dict) or name in ("criterion", "stop", "variables")
            if not is_whole:
                raise InputError(f"{name} must be one value; got {value!r}")
        return dict(model.parameters)


def has_same_features(one: FeatureConstructor, other: FeatureConstructor) -> bool:
    """Return True if two models have the same features, merges and history."""
    exact, numbers = [], []
    for model in (one, other):
        fitted, merges = model.feature_set_, model.feature_set_.merges
        counts = fitted.features, fitted.supports, fitted.suppressed, fitted.known, fitted.variables
        exact.append((counts, [(m.parts, m.compared, m.family_size) for m in merges]))
        tests = [(m.r, m.score, m.p_value, m.p_adjusted, m.threshold, m.saved) for m in merges]
        steps = [(k.n_features, k.oi, k.c0, k.bits, k.evidence) for k in model.history_]
        numbers.append(np.array([*chain(*tests), *chain(*steps)], np.float64))
    same_size = exact[0] == exact[1] and len(numbers[0]) == len(numbers[1])
    return same_size and np.allclose(numbers[0], numbers[1], 1e-6, 1e-6, equal_nan=True)


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
    lineage = feature_set.lineage.rename(feature_set.lineage.primitives)
    return replace(feature_set, lineage=lineage, merges=feature_set.merges if merges else ())


@dataclass(frozen=True)
class PartitionTransformer:
    """Compute columns from those of a partition, here or on a worker."""

    reader: BooleanData
    compute: Callable[[Any], Any]
    names: tuple[str, ...]
    is_nullable: bool = False

    def __call__(self, data: Any) -> Any:
        container = wrap_rows(data)
        columns = self.compute(self.reader.read_like(container).columns)
        return BooleanData(self.names, columns).convert(container, nullable=self.is_nullable)

    def map(self, container: PartitionedContainer) -> Any:
        """Return the lazy collection of the columns of all partitions, which are of one type."""
        nullable = self.reader.rules.missing == "pairwise" and container.may_lack_cells
        task = replace(self, is_nullable=nullable)
        dtype = np.float64 if nullable else np.bool_
        return container.engine.map_partitions(container.data, task, len(self.names), dtype)


def _describe_missing(data: BooleanData, how: str) -> str:
    """Return a note about the missing cells of each column, or nothing."""
    counts = data.count_missing_cells()
    if not counts:
        return ""
    most = sorted(counts, key=lambda name: -counts[name])
    shown = ", ".join(
        f"{name if name.strip() and name.isprintable() else repr(name)} {counts[name]:,}"
        for name in most[:_MOST_SHOWN]
    )
    more = f" and {len(most) - _MOST_SHOWN} more columns" if len(most) > _MOST_SHOWN else ""
    total = sum(counts.values())
    cells = "1 missing cell" if total == 1 else f"{total:,} missing cells"
    return f"Treating {cells} as {how}: {shown}{more}."


def feature_columns(fitted: FeatureSet, style: Style) -> Table:
    """Return a table with one row per feature."""
    write = explain.formula_text
    return {
        "pattern": list(fitted.pattern_texts),
        "rule": [write(expression, style) for expression in fitted.expressions],
        "support": list(fitted.supports),
        "frequency": list(fitted.frequencies),
        "length": [expression.length for expression in fitted.expressions],
        "iteration": [fitted.iteration(number) for number in fitted.features],
        "parents": [
            [write(parent, style) for parent in fitted.lineage.expressions(fitted.parents(number))]
            for number in fitted.features
        ],
    }


def rule_columns(fitted: FeatureSet) -> Table:
    """Return a table with one row per merge: its chunk in all rows, and why it was made."""
    pattern, merges = fitted.lineage.pattern, fitted.merges
    chunks = [tuple(sorted({*pattern(m.left), *pattern(m.right)})) for m in merges]
    found = {frozenset(one.tags): one for one in explain.every_finding(fitted)}
    facts = [found.get(frozenset(tags)) for tags in chunks]
    return {
        "chunk": list(map(pattern_text, chunks)),
        "rows": [one.rows if one else None for one in facts],
        "lift": [one.lift if one else math.nan for one in facts],
        "evidence": [one.evidence if one else math.nan for one in facts],
        "iteration": [fitted.iteration(m.made[0]) for m in merges],
        "left": [explain.describe_pattern(fitted, m.left) for m in merges],
        "right": [explain.describe_pattern(fitted, m.right) for m in merges],
        "joint": [m.joint for m in merges],
        "saved": [m.saved for m in merges],
        "r": [m.r for m in merges],
        "p_value": [m.p_value for m in merges],
        "p_adjusted": [m.p_adjusted for m in merges],
        "family_size": [m.family_size for m in merges],
        "score": [m.score for m in merges],
        "threshold": [m.threshold for m in merges],
        "compared": [m.compared for m in merges],
    }


def formula_columns(formulas: explain.Formulas, style: Style) -> Table:
    """Return the columns for features in another form: formulas, lengths, where they hold."""
    return {
        formulas.form: formulas.texts(style),
        f"{formulas.form}_length": [formula.length for formula in formulas.expressions],
        "equivalent": [formulas.equivalent] * len(formulas.expressions),
    }
