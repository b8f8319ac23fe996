"""The base of the estimators that construct features: transform, explain, save and load."""

from __future__ import annotations

import json
import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conjunct import explain, files, ufc
from conjunct.columns import Columns, PackedColumns
from conjunct.data import Backend, BooleanData, Container, PartitionedContainer, wrap_rows
from conjunct.errors import InputError, ModelFileError
from conjunct.estimators.base import BooleanTransformerMixin, Features, Table
from conjunct.estimators.integrations import ExportingEstimator
from conjunct.expressions import Expression, Style, pattern_text
from conjunct.features import FeatureSet
from conjunct.parameters import VERBOSE, Constraint, check, frequency, is_number, one_of, risk_level
from conjunct.ufc import CORRECTIONS, Ending, Indicators, Plan, Rule, SourceError

if TYPE_CHECKING:
    from conjunct.explain import Explanation, Finding, Formulas, GraphFormat, Neighbour, Order
    from conjunct.export import LazyColumns
    from conjunct.expressions import Form


class FeatureConstructor(BooleanTransformerMixin, ExportingEstimator):
    """Base of the estimators that construct features; subclasses implement ``_construct``."""

    constraints: ClassVar[dict[str, Constraint]] = {
        "formula_style": one_of(get_args(Style)),
        "verbose": VERBOSE,
    }
    # parameters that belong to the machine rather than the model
    unsaved_parameters: ClassVar[tuple[str, ...]] = ()
    # why the run ended, and the number of rows without a true cell where it is counted
    _ending: Ending = Ending()
    _null_rows: int | None = None

    verbose: int

    history_: tuple[Indicators, ...]
    threshold_: float | None
    stop_reason_: str
    n_distinct_rows_: int

    @abstractmethod
    def _construct(
        self, store: Any, names: Sequence[str], callback: Callable[[Any], object] | None
    ) -> None:
        """Set ``feature_set_``, ``history_`` and, if there is one, ``threshold_``."""

    @abstractmethod
    def _restore(self, model: files.ModelFile) -> None:
        """Set the attributes of ``_construct`` from a model file."""

    def _plan(self) -> Plan | None:
        """Return the plan behind the merges, if the features come from merges."""
        return None

    def fit(
        self, X: Any, y: Any = None, *, callback: Callable[[Any], object] | None = None
    ) -> Self:
        """Construct features from the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual per row. A Binarizer converts data frames of
            words, numbers, dates and lists; the model keeps it in ``preparation_``.
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

        Rows may contain combinations of values that were not in the training data. For a lazy table
        (Polars, DuckDB, Ibis or Spark) or a Dask collection, the result is lazy, too.
        """
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
        """Return the names of the columns of ``transform``: tags, or formulas.

        Equal formulas are numbered: ``[2]``, ``[3]``.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of a model that was fitted without names; otherwise they must
            equal the names of the training data.
        """
        primitives = None if input_features is None else self._check_names(input_features)
        return np.array(self._output_names(primitives), object)

    @property
    def features_(self) -> tuple[Expression, ...]:
        """Return the constructed features."""
        return Features(self.feature_set_.expressions)

    @property
    def suppressed_(self) -> tuple[Expression, ...]:
        """Return the features that ``min_support`` suppresses."""
        return Features(self.feature_set_.rare().expressions)

    @property
    def n_iter_(self) -> int:
        """Return the number of iterations behind the features."""
        return self.history_[-1].iteration

    def find_rows(self, feature: int | str | Expression, X: Any) -> NDArray[np.intp]:
        """Return the positions of the rows of ``X`` that have a feature, or some tags.

        ``feature`` is a position in ``features_``, a formula, a column name of ``transform``, or
        tags in any order, such as ``"fork + knife"``.
        """
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
            Kind of table; by default the kind the model was fitted on, otherwise pandas.
        suppressed : bool, default=False
            List the features below ``min_support`` instead.
        form : {"built", "nested", "dnf", "simplified"}, optional
            Add columns with the rules in this form and their lengths, and ``equivalent``:
            ``"always"`` or ``"on the training data"``.
        X_train : optional
            The training data, for ``form="simplified"``; see ``formulas``.

        Returns
        -------
        data frame
            ``pattern`` (the columns that the feature asserts), ``rule`` (the formula, if it has
            at most 10,000 literals), ``support`` (rows), ``frequency`` (share of rows), ``length``
            (literals), ``iteration`` (0 for a column) and ``parents`` (two features).
            ``get_rules`` lists the reasons for joining the parents.
        """
        fitted = self.feature_set_.rare() if suppressed else self.feature_set_
        columns = feature_columns(fitted, self.formula_style)
        if form is not None:
            store = None if X_train is None else self._read_complete(X_train, "X_train")
            columns |= formula_columns(explain.formulas_of(fitted, form, store), self.formula_style)
        elif X_train is not None:
            raise InputError("X_train needs form='simplified'")
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
        """Return a table of conjunctions that are rare in ``X``, but more common than by chance.

        Tests all pairs of columns and all conjunctions of the model, including suppressed ones.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            The data of ``fit``, or other rows with the same columns.
        max_support : float, optional
            Maximum share of rows of a rare conjunction; by default ``min_support``, or 0.01.
        min_lift : float, default=5.0
            Minimum lift: rows with both parts, as a multiple of the number expected by chance.
        alpha : float, default=0.001
            Significance level of the exact test, corrected for all conjunctions tested.
        correction : {"bonferroni", "holm", "bh", "by"} or None, default="holm"
            Correction for multiple tests.
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table, as in ``get_rules``.

        Returns
        -------
        data frame
            ``rule``, ``status`` (``"feature"``, ``"suppressed"`` or ``"not a feature"``),
            ``support``, ``frequency``, ``length``, ``lift``, ``r``, ``p_value``, ``p_adjusted``
            and ``family_size``; largest lift first.
        """
        check_is_fitted(self)
        if max_support is None:
            max_support = getattr(self, "min_support", None) or 0.01  # only uFC suppresses
        frequency().check("max_support", max_support)
        check(is_number(min_lift) and min_lift >= 1, "min_lift", min_lift, "a number, at least 1")
        risk_level().check("alpha", alpha)
        one_of(CORRECTIONS, optional=True).check("correction", correction)
        store = self._read_complete(X, "rare_conjunctions")
        columns = ufc.find_rare_conjunctions(
            store,
            self.feature_set_,
            max_support=max_support,
            min_lift=min_lift,
            alpha=alpha,
            correction=correction,
            style=self.formula_style,
        )
        return self.make_table(columns, backend)

    @property
    def has_tag_names(self) -> bool:
        """Return True if features are shown as patterns rather than long formulas."""
        return False

    def label_feature(self, number: int, longest: int, *, whole: bool = False) -> str:
        """Return the text of a feature for plots and tables; ``whole`` omits "(rest)"."""
        fitted = self.feature_set_
        if not self.has_tag_names:
            return explain.label(fitted.lineage.expression(number), self.formula_style, longest)
        if whole:
            return explain.shorten(pattern_text(fitted.lineage.pattern(number)), longest)
        return explain.shorten(explain.describe_pattern(fitted, number), longest)

    def formulas(self, form: Form = "simplified", *, X_train: Any = None) -> Formulas:
        """Return the features in another form, with their mean length (C1) before and after.

        Parameters
        ----------
        form : {"built", "nested", "dnf", "simplified"}, default="simplified"
            As constructed; with common parts factored out; as a disjunction of conjunctions; or
            the shortest formula found.
        X_train : optional
            The training data, to ignore combinations of primitives that never occur in it. The
            formulas are then equivalent on the training data only. They are marked as such, and
            ``transform`` never uses them.

        Returns
        -------
        Formulas
            ``expressions``, ``texts()``, ``equivalent``, ``length_before``, ``length_after``.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> model = UFC(max_iter=1).fit(baskets)
        >>> model.formulas(X_train=baskets).texts()
        ['sky', 'cascade', '¬cascade ∧ water']
        """
        store = None if X_train is None else self._read_complete(X_train, "X_train")
        return explain.formulas_of(self.feature_set_, form, store)

    def explain(self, feature: int | str | Expression, X: Any = None) -> Explanation:
        """Explain a feature: pattern, formula, English text, support, origin and primitives.

        ``feature`` is a position in ``features_``, a formula, a column name of ``transform``, or
        tags in any order, such as ``"fork + knife"``, which stand for the rows with all of them.
        Given rows ``X``, it also contrasts rows with and without the feature, and a shorter
        formula for these rows (``on_rows``) precedes the exact one.
        """
        store = None if X is None else self.read_columns(X)
        fitted = self.feature_set_
        if tags := fitted.tags_in(feature):
            return explain.explain_tags(fitted, tags, self.formula_style, store)
        return explain.explanation(fitted, self.feature_number(feature), self.formula_style, store)

    @property
    def findings_(self) -> tuple[Finding, ...]:
        """Tags that go together, with their facts in all rows, strongest first."""
        return explain.find(self.feature_set_).findings

    def get_findings(self, backend: Backend | None = None, *, order: Order = "evidence") -> Any:
        """Return a table of the findings: tags that go together, with their facts in all rows.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table; by default the kind the model was fitted on, otherwise pandas.
        order : {"evidence", "lift", "rows"}, default="evidence"
            Sort by this column, largest first.

        Returns
        -------
        data frame
            ``finding`` (name), ``rows`` (with all its tags), ``share`` of all rows, ``lift``,
            ``evidence`` (bits), ``tags``, the contrast (the share ``inside`` the rows with
            ``given`` and ``outside``), ``sentence``, ``part_of`` (the larger chunk of which it is
            the strongest part, if any), and the findings that are ``folded`` into it.

        Examples
        --------
        >>> from conjunct import UFC
        >>> rows = [["fork", "knife"]] * 30 + [["fork"]] * 10 + [["knife"]] * 5 + [["cup"]] * 60
        >>> for sentence in UFC().fit(rows).get_findings()["sentence"]:
        ...     print(sentence)
        86% of the rows with knife also have fork; without knife, 14%.
        """
        found = explain.find(self.feature_set_, order).findings
        return self.make_table(explain.finding_columns(found), backend)

    def ancestry(self, feature: int | str | Expression, format: GraphFormat = "text") -> str:
        """Draw how a feature was built, as indented text, a Mermaid chart or a Graphviz graph."""
        return explain.ancestry(
            self.feature_set_, self.feature_number(feature), format, self.formula_style
        )

    def similar_features(
        self, feature: int | str | Expression, X: Any = None, *, n: int = 5
    ) -> list[Neighbour]:
        """Return the ``n`` most similar features.

        Similarity is the correlation on the rows of ``X``, or without data the shared primitives.
        """
        fitted, number = self.feature_set_, self.feature_number(feature)
        texts = self._name_features(fitted)
        store = None if X is None else self.read_columns(X)
        return explain.find_nearest(fitted, number, texts, n, store)

    def feature_number(self, feature: int | str | Expression) -> int:
        """Return the lineage number of a feature given by position, formula or text."""
        fitted = self.feature_set_
        if tags := fitted.tags_in(feature):
            merge = explain.merges_by_pattern(fitted).get(tuple(sorted(tags)))
            if len(tags) == 1:
                return fitted.lineage.primitives.index(tags[0])
            if merge is not None and merge.both is not None:
                return merge.both
        return (fitted.features + fitted.suppressed)[fitted.position(feature)]

    def to_json(self) -> str:
        """Return the model as JSON, as ``save`` writes it (docs/model-schema.json)."""
        return files.model_json(self.to_model_file()).decode()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``to_json`` as plain dictionaries and lists."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON (docs/export.md), atomically."""
        files.write_model(path, self.to_model_file())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that ``save`` wrote."""
        return cls.from_model_file(files.read_model(path), str(path))

    def _read_complete(self, X: Any, what: str) -> PackedColumns:
        """Read ``X`` and refuse missing cells; ``what`` names the use in the error."""
        columns = self.read_columns(X)
        if columns.has_missing:
            raise InputError(f"{what} needs data without missing cells: fill or drop them first")
        return columns.to_bits()

    def _lazy_columns(self, container: Container, names: Sequence[str]) -> LazyColumns:
        """Return the columns of a lazy table, which may be raw if the training data was."""
        from conjunct.export import lazy_columns

        raw = self._raw_checks() if tuple(names) == self._primitive_names() else None
        fill = self.missing == "false"
        return lazy_columns(container, names, cut=self.threshold, raw=raw, fill=fill)

    def _transform_columns(self, container: Container, columns: Columns) -> Any:
        """Return the features of columns, in a container like the original one."""
        features = self._output_features().evaluate(columns)
        data = BooleanData(tuple(self._output_names()), features)
        return data.convert(container, nullable=self._is_nullable)

    def _output_names(self, primitives: tuple[str, ...] | None = None) -> list[str]:
        """Return the column names of ``transform``, with the given names of primitives if any."""
        features = self._output_features()
        if primitives is not None:
            features = features.rename(primitives)
        return self._name_features(features)

    def _watch(self, callback: Callable[[Any], object] | None, indicators: Indicators) -> None:
        """Report an iteration to standard output and to the callback, if requested."""
        if self.verbose:
            sys.stdout.write(
                f"iteration {indicators.iteration}: {indicators.n_features} features, "
                f"length {indicators.length:.2f}, OI {indicators.oi:.3f}, "
                f"C0 {indicators.c0:.3f}, RMS {indicators.rms:.3f}\n"
            )
        if callback is not None:
            callback(indicators)

    def _model_file(self) -> files.ModelFile:
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
            self._plan(),
            n_distinct_rows=self.n_distinct_rows_,
            null_rows=self._null_rows,
            named=hasattr(self, "feature_names_in_"),
            ending=self._ending,
            preparation=self.preparation_,
            new_rows=getattr(self, "new_rows_", None),
        )

    def to_model_file(self) -> files.ModelFile:
        """Return the model file, unless reading it would give a different model."""
        model = self._model_file()
        files.model_json(model)
        try:
            again = self.from_model_file(model, "the model")
        except ModelFileError:
            again = None
        if again is None or not has_same_features(again, self):
            raise InputError(
                "cannot save the model because its parameters changed after fit: fit it again"
            )
        return model

    @classmethod
    def from_model_file(cls, model: files.ModelFile, path: str) -> Self:
        """Rebuild the estimator from a model file; ``path`` is for messages."""
        if model.kind != cls.__name__:
            raise ModelFileError(f"{path}: expected a {cls.__name__} model, found {model.kind!r}")
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
            raise InputError(f"missing or unknown parameter {differ[0]!r} of {cls.__name__}")
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


def picklable(feature_set: FeatureSet, *, merges: bool = False) -> FeatureSet:
    """Return the same features without expressions, which nest too deeply for pickle."""
    lineage = feature_set.lineage.rename(feature_set.lineage.primitives)
    return replace(feature_set, lineage=lineage, merges=feature_set.merges if merges else ())


@dataclass(frozen=True)
class PartitionTransformer:
    """Compute new columns from the columns of a partition, locally or on a worker."""

    reader: BooleanData
    compute: Callable[[Any], Any]
    names: tuple[str, ...]
    is_nullable: bool = False

    def __call__(self, data: Any) -> Any:
        container = wrap_rows(data)
        columns = self.compute(self.reader.read_like(container).columns)
        return BooleanData(self.names, columns).convert(container, nullable=self.is_nullable)

    def map(self, container: PartitionedContainer) -> Any:
        """Return a lazy collection of the new columns of all partitions, with one data type."""
        nullable = self.reader.rules.missing == "pairwise" and container.may_lack_cells
        task = replace(self, is_nullable=nullable)
        dtype = np.float64 if nullable else np.bool_
        return container.engine.map_partitions(container.data, task, len(self.names), dtype)


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


def formula_columns(formulas: explain.Formulas, style: Style) -> Table:
    """Return table columns for formulas in another form: text, length and equivalence."""
    return {
        formulas.form: formulas.texts(style),
        f"{formulas.form}_length": [formula.length for formula in formulas.expressions],
        "equivalent": [formulas.equivalent] * len(formulas.expressions),
    }
