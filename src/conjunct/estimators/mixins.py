"""Mixins of the feature constructors: explain, export, and show in a notebook."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

from conjunct import explain, expressions, files
from conjunct.columns import Columns, PackedColumns
from conjunct.data import Missing, Preparation
from conjunct.errors import InputError
from conjunct.expressions import Expression, Style, pattern_text
from conjunct.features import FeatureSet

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from onnx import ModelProto

    from conjunct.explain import Explanation, Formulas, GraphFormat, Neighbour, Summary
    from conjunct.export import Check, Graph, Kind, Source
    from conjunct.expressions import Form

FeatureNames = Literal["formula", "number"]

# of what a notebook shows
_CHUNKS = 5
_FEATURES = 50
_LONGEST_IN_WORDS = 60  # literals; a longer formula is not put into words
_NAME_LENGTH = 120
_CONTRAST_LENGTH = 160
_CELL = "text-align:left;padding:2px 14px 2px 0"


class ExplainMixin:
    """Mixin of FeatureConstructor: formulas in other forms, and explanations of features."""

    style: Style
    feature_set_: FeatureSet
    # reads rows with the columns of the model
    _read: Callable[[Any], Columns]

    @abstractmethod
    def _read_complete(self, X: Any, what: str) -> PackedColumns:
        """Read rows without missing cells."""

    @abstractmethod
    def _name_features(self, features: FeatureSet) -> list[str]:
        """Return a distinct name for each feature."""

    @property
    def _by_pattern(self) -> bool:
        """Return True if features are shown as patterns, because formulas may be very long."""
        return False

    def _label(self, number: int, longest: int, *, whole: bool = False) -> str:
        """Return the text of a feature of the lineage for pictures and tables.

        ``whole``: the pattern stands for all rows that have it, so "(rest)" is not added.
        """
        fitted = self.feature_set_
        if not self._by_pattern:
            return explain.label(fitted.lineage.expression(number), self.style, longest)
        if whole:
            return explain.shortened(pattern_text(fitted.lineage.pattern(number)), longest)
        return explain.shortened(explain.shown_pattern(fitted, number), longest)

    def formulas(self, form: Form = "simplified", *, given: Any = None) -> Formulas:
        """Return the features in another form, with their mean length (C1) before and after.

        Parameters
        ----------
        form : {"built", "nested", "dnf", "simplified"}, default="simplified"
            As constructed; with common parts factored out; as a disjunction of conjunctions; or
            the shortest known.
        given : optional
            The training data. Combinations of primitives that never occur in it are then ignored,
            and the formulas are equivalent on the training data only: they are marked so, and
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
        >>> model.formulas(given=baskets).texts()
        ['sky', 'cascade', '¬cascade ∧ water']
        """
        check_is_fitted(self)
        store = None if given is None else self._read_complete(given, "given")
        return explain.formulas_of(self.feature_set_, form, store)

    def explain(self, feature: int | str | Expression, X: Any = None) -> Explanation:
        """Explain a feature in plain words: pattern, formula, English, support, origin, primitives.

        ``feature`` is a position in ``features_``, a formula, or the text of it or of its
        pattern. With data ``X``, training rows or others, rows with the feature are contrasted
        with rows without it, and a shorter formula that holds on these rows comes first
        (``on_rows``), followed by the exact one.
        """
        check_is_fitted(self)
        store = None if X is None else self._read(X)
        return explain.explanation(self.feature_set_, self._number(feature), self.style, store)

    def ancestry(self, feature: int | str | Expression, format: GraphFormat = "text") -> str:
        """Draw how a feature was built, as indented text, a Mermaid chart or a Graphviz graph."""
        check_is_fitted(self)
        return explain.ancestry(self.feature_set_, self._number(feature), format, self.style)

    def nearest(
        self, feature: int | str | Expression, X: Any = None, *, n: int = 5
    ) -> list[Neighbour]:
        """Return the features most similar to one.

        By the correlation of their columns on ``X``, or without data by the primitives they share.
        """
        check_is_fitted(self)
        fitted, number = self.feature_set_, self._number(feature)
        texts = self._name_features(fitted)
        if X is None:
            return explain.nearest_by_primitives(fitted, number, texts, n)
        return explain.nearest_by_columns(fitted, number, self._read(X), texts, n)

    def _number(self, feature: int | str | Expression) -> int:
        """Return the number in the lineage of a feature given by position, formula or text."""
        fitted = self.feature_set_
        return (fitted.features + fitted.suppressed)[fitted.position(feature)]


class ExportMixin:
    """Mixin of FeatureConstructor: features as SQL, narwhals, Polars, Python, ONNX and JSON.

    The code reads the raw table if the model was fitted on one (``BooleanData``, or a command).
    Missing cells follow Kleene's logic: a conjunction is false if a part is false, otherwise
    missing if a part is. ``form="simplified"`` gives shorter code and the same values on complete
    rows, but may differ on rows with missing cells. With ``missing="false"``, missing cells are
    false.
    """

    binarize: float | None
    feature_set_: FeatureSet
    preparation_: Preparation
    missing: Missing

    @abstractmethod
    def _model_file(self) -> files.ModelFile:
        """Return everything that a model file holds."""

    @abstractmethod
    def _output_features(self) -> FeatureSet:
        """Return the features that ``transform`` computes."""

    @abstractmethod
    def _output_names(self) -> list[str]:
        """Return the column names of ``transform``."""

    def to_sql(
        self,
        table: str | Sequence[str] = "data",
        *,
        dialect: str = "duckdb",
        source: Source | None = None,
        columns: FeatureNames = "formula",
        keep: Sequence[str] = (),
        form: Form = "built",
        kind: Kind = "select",
        into: str | Sequence[str] = "features",
    ) -> str:
        """Return a SELECT that computes the features in a database. Needs sqlglot.

        Parameters
        ----------
        table : str or sequence of str, default="data"
            The table that holds the columns; ``("schema", "table")`` for one in a schema.
        dialect : str, default="duckdb"
            "duckdb", "postgres", "sqlite", "mysql" or another of docs/export.md.
        source : {"boolean", "integer", "text"}, optional
            Type of the columns: Booleans, 0 and 1, or text. By default Booleans; in SQLite and
            MySQL, where any text is false, any of them. A model with ``binarize`` compares
            numbers, and one of raw data reads what it was fitted on, or text.
        columns : {"formula", "number"}, default="formula"
            Names of the features: as in ``transform``, or f0, f1, ….
        keep : sequence of str
            Columns to select unchanged, before the features: a key, for instance.
        form : {"built", "nested", "dnf", "simplified"}, default="built"
        kind : {"select", "view", "table", "dbt"}, default="select"
            A query; a statement that creates a view or a table from it; or the file of a dbt
            model, which refers to the table as a model, or in two parts as a source.
        into : str or sequence of str, default="features"
            Name of the view or table.

        Examples
        --------
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> print(UFC(max_iter=1).fit(baskets).to_sql("photos"), end="")
        SELECT
          "r"."sky" AS "sky",
          "r"."cascade" AND "r"."water" AS "cascade + water",
          NOT "r"."cascade" AND "r"."water" AS "water (rest)"
        FROM "photos" AS "r"
        """
        try:
            from conjunct.export import to_sql
        except ImportError:
            raise ImportError("SQL needs sqlglot: pip install sqlglot") from None
        return to_sql(
            self._export_formulas(columns, form),
            table,
            dialect=dialect,
            source=source,
            cut=self.binarize,
            keep=keep,
            raw=self._raw_checks(),
            fill=self.missing == "false",
            nan=self.missing != "raise",
            kind=kind,
            into=into,
        )

    def to_polars(
        self, *, columns: FeatureNames = "formula", form: Form = "built"
    ) -> list[pl.Expr]:
        """Return one Polars expression per feature, for ``frame.select`` or ``with_columns``.

        Columns may be Boolean or 0/1; a missing cell is null or NaN.
        """
        from conjunct.export import to_polars

        return to_polars(
            self._export_formulas(columns, form),
            cut=self.binarize,
            raw=self._raw_checks(),
            fill=self.missing == "false",
        )

    def to_narwhals(
        self,
        *,
        source: Source = "boolean",
        columns: FeatureNames = "formula",
        form: Form = "built",
    ) -> list[nw.Expr]:
        """Return one narwhals expression per feature, for any table it supports, also lazy ones.

        ``transform(table)`` of a lazy table computes the same, and shared parts only once.

        Parameters
        ----------
        source : {"boolean", "integer"}, default="boolean"
            Type of the columns: Booleans, or 0 and 1. A model with ``binarize`` compares numbers.
        columns : {"formula", "number"}, default="formula"
            Names of the features: as in ``transform``, or f0, f1, ….
        form : {"built", "nested", "dnf", "simplified"}, default="built"

        Examples
        --------
        >>> import narwhals as nw, polars as pl
        >>> from conjunct import UFC
        >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
        >>> model = UFC().fit(baskets)
        >>> table = pl.LazyFrame({"sky": [True, False], "cascade": [False] * 2, "water": [None, 1]})
        >>> table = table.cast(pl.Boolean)
        >>> found = nw.from_native(table).select(*model.to_narwhals()).to_native()
        >>> found.collect().rows()
        [(True, False, None), (False, False, True)]
        """
        from conjunct.export import to_narwhals

        return to_narwhals(
            self._export_formulas(columns, form),
            source=source,
            cut=self.binarize,
            raw=self._raw_checks(),
            fill=self.missing == "false",
        )

    def to_python(self, *, columns: FeatureNames = "formula", form: Form = "built") -> str:
        """Return the source of ``features(row)``, a function that needs only Python."""
        from conjunct.export import to_python

        return to_python(
            self._export_formulas(columns, form),
            cut=self.binarize,
            raw=self._raw_checks(),
            fill=self.missing == "false",
        )

    def to_onnx(self, *, columns: FeatureNames = "formula", form: Form = "built") -> ModelProto:
        """Return an ONNX model from rows of 0 and 1 to the features. Needs ``conjunct[onnx]``.

        Its input ``columns`` has the columns of the model in their order, its output ``features``
        0 and 1; the names of both are in the metadata, as JSON. For whole pipelines use
        ``register_onnx``.
        """
        from conjunct.export import check_exportable, to_onnx

        features = self._export_formulas(columns, form)
        check_exportable(is_raw=self._raw_checks() is not None, missing=self.missing)
        try:
            import onnx  # noqa: F401
        except ImportError:
            raise ImportError('ONNX needs onnx: pip install "conjunct[onnx]"') from None
        primitives = self.feature_set_.lineage.primitives
        return to_onnx(features, primitives, cut=self.binarize, fill=self.missing == "false")

    def _to_graph(self, source: str, graph: Graph) -> str:
        """Add the features to an ONNX graph in which the tensor ``source`` holds the columns."""
        from conjunct.export import check_exportable, columns_of_features

        check_exportable(is_raw=self._raw_checks() is not None, missing=self.missing)
        features = list(self._export_formulas("number", "built").values())
        primitives = self.feature_set_.lineage.primitives
        fill = self.missing == "false"
        return columns_of_features(
            features, primitives, source, graph, cut=self.binarize, fill=fill
        )

    def to_json(self) -> str:
        """Return what ``save`` writes; docs/model-schema.json describes it."""
        check_is_fitted(self)
        return files.model_json(self._model_file()).decode()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``to_json`` as plain dictionaries and lists."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    def _raw_checks(self) -> dict[str, Check] | None:
        """Return the test of raw columns behind each primitive, if the model has raw columns."""
        from conjunct.export import checks_of

        binarizer = self.preparation_.binarizer
        return None if binarizer is None else checks_of(binarizer.rules_)

    def _export_formulas(self, columns: FeatureNames, form: Form) -> dict[str, Expression]:
        """Return the formulas of ``transform`` in a form, by the names asked for."""
        check_is_fitted(self)
        if columns not in ("formula", "number"):
            raise InputError(f"columns must be 'formula' or 'number'; got {columns!r}")
        formulas = [
            expressions.in_form(expression, form)
            for expression in self._output_features().expressions
        ]
        if columns == "number":
            return {f"f{position}": formula for position, formula in enumerate(formulas)}
        return dict(zip(self._output_names(), formulas, strict=True))


class NotebookMixin:
    """Mixin of scikit-learn's estimators: a summary of the findings, above the diagram."""

    def _repr_html_inner(self) -> str:
        from conjunct.explain import Summary

        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        if not hasattr(self, "feature_set_"):
            return diagram
        return render_summary(Summary(self)) + diagram  # type: ignore[arg-type]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class Features(tuple[Expression, ...]):
    """The features of a model: a tuple, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Render the first features as a table, with names from the data escaped."""
        cells = []
        for position, feature in enumerate(self[:_FEATURES]):
            is_short = feature.length <= _LONGEST_IN_WORDS
            words = explain.english(feature.simplify()) if is_short else "–"
            formula = explain.label(feature, longest=_NAME_LENGTH)
            cells.append((str(position), explain.shortened(words, _NAME_LENGTH), formula))
        table = _render_table(("", "in words", "formula"), cells)
        more = len(self) - _FEATURES
        return f"{table}<p>The first {_FEATURES}; {more:,} more.</p>" if more > 0 else table


def render_summary(summary: Summary) -> str:
    """Render what was found, the strongest chunks, and why the run ended.

    Names from the data are escaped, and there is no script.
    """
    parts = [f"<p>{_escape(f'{summary.found} {summary.length}')}</p>"]
    if summary.chunks:
        heads = ("chunk", "contrast", "rows", "evidence")
        cells = [
            (
                explain.shortened(chunk.text, _NAME_LENGTH),
                explain.shortened(chunk.contrast, _CONTRAST_LENGTH),
                f"{chunk.rows:,}",
                f"{chunk.evidence or 0:,.1f}",
            )
            for chunk in summary.chunks[:_CHUNKS]
        ]
        parts.append(_render_table(heads, cells))
        if len(summary.chunks) > _CHUNKS:
            parts.append(f"<p>Top {_CHUNKS} of {len(summary.chunks):,} chunks.</p>")
    parts.append(f"<p>{_escape(f'{summary.ended} {summary.variables}'.rstrip())}</p>")
    return f"<div>{''.join(parts)}</div>"


def _render_table(heads: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> str:
    def render_row(tag: str, row: tuple[str, ...]) -> str:
        open_tag = f'<{tag} style="{_CELL}" dir="auto">'
        return "".join(f"{open_tag}{_escape(cell)}</{tag}>" for cell in row)

    lines = "".join(f"<tr>{render_row('td', row)}</tr>" for row in cells)
    return f"<table><tr>{render_row('th', heads)}</tr>{lines}</table>"


def _escape(text: str) -> str:
    # a name may hold a lone surrogate, which a page cannot
    return escape(text).encode("utf-8", "replace").decode()
