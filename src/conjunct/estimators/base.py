"""The base of all estimators: Boolean columns, weights, classes and notebook summaries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from conjunct import explain
from conjunct.columns import Columns
from conjunct.counting import PartitionedColumns, Store, WeightedColumns
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
)
from conjunct.errors import CellError, ConjunctWarning, InputError
from conjunct.expressions import Expression
from conjunct.parameters import CUTOFF, JOBS, Constraint, check_parameters

if TYPE_CHECKING:
    from conjunct.explain import Summary

Table = dict[str, list[Any]]

# largest count of which a product of two fits into 64 bits
_LARGEST = 1 << 31

# maximum number of columns to name in a note
_MOST_SHOWN = 5


class BooleanEstimator(BaseEstimator):
    """Base of the estimators that read Boolean columns."""

    # rows may be on disk or on a cluster
    _takes_partitions: ClassVar[bool] = False
    _ways_with_missing: ClassVar[tuple[Missing, ...]] = ("raise", "false")

    # allowed values of parameters; a class adds its own to those of its bases
    constraints: ClassVar[dict[str, Constraint]] = {"threshold": CUTOFF, "n_jobs": JOBS}

    threshold: float | None
    missing: Missing
    n_jobs: int | None

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    # how raw data became columns, if it did; saved with the model
    preparation_: Preparation = Preparation()
    # the kind of table that the model was fitted on
    backend_: str | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise scikit-learn's NotFittedError for fitted attributes before ``fit``."""
            if name.endswith("_") and not name.startswith("_"):
                check_is_fitted(self)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def _check_parameters(self) -> None:
        """Raise an InputError for the first parameter with an invalid value."""
        check_parameters(self)
        Constraint(choices=self._ways_with_missing).check("missing", self.missing)

    def _read_to_fit(self, X: Any, rules: CellRules | None = None) -> BooleanData:
        """Read training data, and keep the number, names and preparation of its columns."""
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
            # count missing cells before they are filled
            rules = replace(rules, missing="pairwise")
        with self._advise_on_cells():
            container, data = BooleanData.read_any(container, rules, counts=True)
        if isinstance(data.columns, PartitionedColumns) and not self._takes_partitions:
            raise refusal
        if container.names_itself:
            self._set_names(data)
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

    def _set_names(self, data: BooleanData) -> None:
        self.n_features_in_ = len(data.names)
        if data.has_names:
            self.feature_names_in_ = np.array(data.names, object)

    def _copy_columns(self, other: BooleanEstimator) -> None:
        """Take over the columns and the preparation of a fitted estimator."""
        self.n_features_in_, self.preparation_ = other.n_features_in_, other.preparation_
        if hasattr(other, "feature_names_in_"):
            self.feature_names_in_ = other.feature_names_in_

    def reading_rules(self) -> CellRules:
        """Return the rules for reading cells."""
        # data is read on threads before other parameters are checked
        JOBS.check("n_jobs", self.n_jobs)
        CUTOFF.check("threshold", self.threshold)
        # only uFC can count lists of rows
        storage: Any = getattr(self, "storage", "dense")
        return CellRules(self.threshold, self.missing, storage, self.n_jobs)

    @contextmanager
    def _advise_on_cells(self) -> Iterator[None]:
        """Adapt the advice in cell errors to the values that this estimator accepts."""
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
        """Return the container of new rows, after checking that it has the model's columns.

        If the model was fitted without names, columns are matched by position. Raw rows are
        prepared like the training rows.
        """
        container = container_of(prepare(self.preparation_, self._primitive_names(), X))
        if not container.names_itself:
            check_features(self, container.head, reset=False)
            return container
        if hasattr(self, "feature_names_in_"):
            return container
        if isinstance(container, Baskets):
            raise InputError("baskets need a model with column names; this model has none")
        if container.n_columns != self.n_features_in_:
            raise InputError(
                f"the data has {container.n_columns} columns, but the model needs "
                f"{self.n_features_in_}"
            )
        return container.rename(self._primitive_names())

    def _row_reader(self) -> BooleanData:
        """Return empty data that serves as the pattern for reading new rows."""
        names, rules = self._primitive_names(), self.reading_rules()
        return BooleanData.without_rows(names, rules, self.preparation_)

    def _read_store(self, X: Any) -> Store:
        """Read new rows, which may be partitioned."""
        with self._advise_on_cells():
            store: Store = self._row_reader().read_like(self._check_container(X)).columns
        return store

    def read_columns(self, X: Any) -> Columns:
        """Read new rows, which must fit in memory."""
        container = self._check_container(X)
        if isinstance(container, PartitionedContainer):
            raise InputError(container.engine.advice)
        with self._advise_on_cells():
            columns: Store = self._row_reader().read_like(container).columns
        if not isinstance(columns, Columns):
            raise InputError("the rows do not fit in memory: pass fewer at a time")
        return columns

    def make_table(self, columns: Table, backend: Backend | None) -> Any:
        """Return columns as a table, by default of the kind that the model was fitted on."""
        return as_table(columns, backend or self.backend_ or "pandas")

    def _primitive_names(self) -> tuple[str, ...]:
        """Return the column names of the training data, or x0, x1, … if it had none."""
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return tuple(f"x{k}" for k in range(self.n_features_in_))

    def _check_names(self, input_features: Any) -> tuple[str, ...]:
        """Check the column names passed to ``get_feature_names_out``, and return them."""
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


class BooleanTransformerMixin(TransformerMixin):
    """Mixin of estimators that return Boolean columns for data of any type."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def class_codes(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes of ``y``, and the position of each row's class in them."""
    from sklearn.utils.multiclass import check_classification_targets

    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise InputError(f"X has {n_rows} rows but y has {len(labels)}: the numbers must be equal")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, np.asarray(codes, np.intp)


def _describe_missing(data: BooleanData, how: str) -> str:
    """Describe the missing cells of each column, if there are any."""
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


def with_weights(store: Store, sample_weight: Any) -> Store:
    """Attach row weights to the columns, if there are any."""
    if sample_weight is None:
        return store
    if not isinstance(store, Columns):
        raise InputError("sample_weight needs all rows in memory: read them all, or repeat rows")
    weights = check_weights(sample_weight, store.n_rows)
    if not weights.all():
        counted = np.flatnonzero(weights)
        store, weights = store.take_rows(counted), weights[counted]
        if not store.count_missing():
            store = store.fill_missing()
    return store if (weights == 1).all() else WeightedColumns.of(store, weights)


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the weights as integers; refuse fractions, because counts are whole numbers."""
    try:
        given = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must contain one number per row") from None
    if given.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {given.shape}, but must have one weight for each of the "
            f"{n_rows} rows"
        )
    wrong = np.flatnonzero(~((given >= 0) & (given <= _LARGEST) & (np.floor(given) == given)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"sample_weight of row {row} is {given[row]:g}, but weights must be whole numbers "
            f"from 0: multiply by a common factor and round"
        )
    if not given.any():
        # scikit-learn's checks expect these words
        raise InputError("Sample weights must contain at least one non-zero number: all are 0")
    if given.sum() > _LARGEST:
        raise InputError(
            f"the sum of sample_weight exceeds {_LARGEST:,}: divide the weights by a common factor"
        )
    return given.astype(np.int64)


# limits of notebook output
_CHUNKS = 5
_FEATURES = 50
_LONGEST_IN_WORDS = 60  # literals; longer formulas get no English text
_NAME_LENGTH = 120
_CONTRAST_LENGTH = 160
_CELL = "text-align:left;padding:2px 14px 2px 0"


class NotebookMixin:
    """Mixin that shows a summary of the findings above scikit-learn's diagram."""

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return self._render_findings() + diagram

    def _render_findings(self) -> str:
        """Render the findings with escaped names; return nothing before ``fit``."""
        from conjunct.explain import Summary

        if not hasattr(self, "feature_set_"):
            return ""
        return render_summary(Summary(self))  # type: ignore[arg-type]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class Features(tuple[Expression, ...]):
    """The features of a model: a tuple that notebooks show as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Render the first features as a table with escaped names."""
        cells = []
        for position, feature in enumerate(self[:_FEATURES]):
            is_short = feature.length <= _LONGEST_IN_WORDS
            words = explain.english(feature.simplify()) if is_short else "–"
            formula = explain.label(feature, longest=_NAME_LENGTH)
            cells.append((str(position), explain.shorten(words, _NAME_LENGTH), formula))
        table = render_table(("", "in words", "formula"), cells)
        is_cut = len(self) > _FEATURES
        return f"{table}<p>First {_FEATURES} of {len(self):,}.</p>" if is_cut else table


def render_summary(summary: Summary) -> str:
    """Render the strongest chunks and the stop reason, with escaped names and no script."""
    parts = [f"<p>{_escape(f'{summary.overview} {summary.length}')}</p>"]
    if summary.findings:
        heads = ("finding", "in words", "rows", "lift")
        cells = [
            (
                explain.shorten(one.name, _NAME_LENGTH),
                explain.shorten(one.sentence, _CONTRAST_LENGTH),
                f"{one.rows:,}",
                f"{one.lift:,.1f}",
            )
            for one in summary.findings[:_CHUNKS]
        ]
        parts.append(render_table(heads, cells))
        if len(summary.findings) > _CHUNKS:
            parts.append(f"<p>Top {_CHUNKS} of {len(summary.findings):,} findings.</p>")
    if summary.same_columns:
        parts.append(f"<p>{_escape(summary.same_columns)}</p>")
    parts.append(f"<p>{_escape(f'{summary.ending} {summary.variables}'.rstrip())}</p>")
    return f"<div>{''.join(parts)}</div>"


def render_table(heads: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> str:
    """Render a table with escaped cells."""

    def render_row(tag: str, row: tuple[str, ...]) -> str:
        open_tag = f'<{tag} style="{_CELL}" dir="auto">'
        return "".join(f"{open_tag}{_escape(cell)}</{tag}>" for cell in row)

    lines = "".join(f"<tr>{render_row('td', row)}</tr>" for row in cells)
    return f"<table><tr>{render_row('th', heads)}</tr>{lines}</table>"


def _escape(text: str) -> str:
    # a name may contain a lone surrogate, but a page must not
    return escape(text).encode("utf-8", "replace").decode()
