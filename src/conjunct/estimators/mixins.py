"""Mixins of the feature constructors: explain, export, and show in a notebook."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

from conjunct import explain, expressions, files
from conjunct.columns import Columns, PackedColumns
from conjunct.data import Missing, Preparation
from conjunct.errors import InputError
from conjunct.expressions import And, Expression, Primitive, Style, pattern_text
from conjunct.features import FeatureSet

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from onnx import ModelProto

    from conjunct.data import Backend
    from conjunct.explain import (
        Explanation,
        Finding,
        Formulas,
        GraphFormat,
        Neighbour,
        Order,
        Summary,
    )
    from conjunct.export import Check, ColumnType, Graph, Kind
    from conjunct.expressions import Form

ExportNames = Literal["tags", "formula", "number"]

# of what a notebook shows
_CHUNKS = 5
_FEATURES = 50
_LONGEST_IN_WORDS = 60  # literals; a longer formula is not put into words
_NAME_LENGTH = 120
_CONTRAST_LENGTH = 160
_CELL = "text-align:left;padding:2px 14px 2px 0"


class ExplainMixin:
    """Mixin of FeatureConstructor: formulas in other forms, and explanations of features."""

    formula_style: Style
    feature_set_: FeatureSet
    # reads rows with the columns of the model
    read_columns: Callable[[Any], Columns]
    make_table: Callable[[dict[str, list[Any]], Backend | None], Any]

    @abstractmethod
    def _read_complete(self, X: Any, what: str) -> PackedColumns:
        """Read rows without missing cells."""

    @abstractmethod
    def _name_features(self, features: FeatureSet, kind: str | None = None) -> list[str]:
        """Return a distinct name for each feature."""

    @property
    def has_tag_names(self) -> bool:
        """Return True if features are shown as patterns, because formulas may be very long."""
        return False

    def label_feature(self, number: int, longest: int, *, whole: bool = False) -> str:
        """Return the text of a feature of the lineage for pictures and tables.

        ``whole``: the pattern stands for all rows that have it, so "(rest)" is not added.
        """
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
            the shortest known.
        X_train : optional
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
        >>> model.formulas(X_train=baskets).texts()
        ['sky', 'cascade', '¬cascade ∧ water']
        """
        check_is_fitted(self)
        store = None if X_train is None else self._read_complete(X_train, "X_train")
        return explain.formulas_of(self.feature_set_, form, store)

    def explain(self, feature: int | str | Expression, X: Any = None) -> Explanation:
        """Explain a feature in plain words: pattern, formula, English, support, origin, primitives.

        ``feature`` is tags such as ``"fork + knife"`` in any order, which means the rows that have
        all of them; or a position in ``features_``, a formula, or a column name of ``transform``.
        With data ``X``, training rows or others, rows with the feature are contrasted
        with rows without it, and a shorter formula that holds on these rows comes first
        (``on_rows``), followed by the exact one.
        """
        check_is_fitted(self)
        store = None if X is None else self.read_columns(X)
        fitted = self.feature_set_
        if tags := fitted.tags_in(feature):
            return explain.explain_tags(fitted, tags, self.formula_style, store)
        return explain.explanation(fitted, self.feature_number(feature), self.formula_style, store)

    @property
    def findings_(self) -> tuple[Finding, ...]:
        """Tags that go together, with their facts in all rows, strongest first."""
        check_is_fitted(self)
        return explain.find(self.feature_set_).findings

    def get_findings(self, backend: Backend | None = None, *, order: Order = "evidence") -> Any:
        """Return a table of the findings: tags that go together, with their facts in all rows.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table. By default the kind the model was fitted on, and pandas otherwise.
        order : {"evidence", "lift", "rows"}, default="evidence"
            What comes first: the strongest evidence, the largest multiple of chance, or the most
            rows.

        Returns
        -------
        data frame
            ``finding`` (its name), ``rows`` (that have all its tags), ``share`` of all rows,
            ``lift``, ``evidence`` (bits), ``tags``, the contrast (the share ``inside`` the rows
            with ``given`` and ``outside``), ``sentence``, ``part_of`` (the name of the larger
            chunk that it is the strongest part of, if any), and the names of the findings that are
            ``folded`` into it.

        Examples
        --------
        >>> from conjunct import UFC
        >>> rows = [["fork", "knife"]] * 30 + [["fork"]] * 10 + [["knife"]] * 5 + [["cup"]] * 60
        >>> for sentence in UFC().fit(rows).get_findings()["sentence"]:
        ...     print(sentence)
        86% of the rows with knife also have fork; without knife, 14%.
        """
        check_is_fitted(self)
        found = explain.find(self.feature_set_, order).findings
        return self.make_table(explain.finding_columns(found), backend)

    def ancestry(self, feature: int | str | Expression, format: GraphFormat = "text") -> str:
        """Draw how a feature was built, as indented text, a Mermaid chart or a Graphviz graph."""
        check_is_fitted(self)
        return explain.ancestry(
            self.feature_set_, self.feature_number(feature), format, self.formula_style
        )

    def similar_features(
        self, feature: int | str | Expression, X: Any = None, *, n: int = 5
    ) -> list[Neighbour]:
        """Return the features most similar to one.

        By the correlation of their columns on ``X``, or without data by the primitives they share.
        """
        check_is_fitted(self)
        fitted, number = self.feature_set_, self.feature_number(feature)
        texts = self._name_features(fitted)
        store = None if X is None else self.read_columns(X)
        return explain.find_nearest(fitted, number, texts, n, store)

    def feature_number(self, feature: int | str | Expression) -> int:
        """Return the number in the lineage of a feature given by position, formula or text."""
        fitted = self.feature_set_
        if tags := fitted.tags_in(feature):
            merge = explain.merges_by_pattern(fitted).get(tuple(sorted(tags)))
            if len(tags) == 1:
                return fitted.lineage.primitives.index(tags[0])
            if merge is not None and merge.both is not None:
                return merge.both
        return (fitted.features + fitted.suppressed)[fitted.position(feature)]


class ExportMixin:
    """Mixin of FeatureConstructor: features as SQL, narwhals, Polars, Python, ONNX and JSON.

    The code reads the raw table if the model was fitted on one (``BooleanData``, or a command).
    Missing cells follow Kleene's logic: a conjunction is false if a part is false, otherwise
    missing if a part is. ``form="simplified"`` gives shorter code and the same values on complete
    rows, but may differ on rows with missing cells. With ``missing="false"``, missing cells are
    false.
    """

    threshold: float | None
    formula_style: Style
    feature_set_: FeatureSet
    preparation_: Preparation
    missing: Missing

    @abstractmethod
    def _checked_file(self) -> files.ModelFile:
        """Return everything that a model file holds."""

    @abstractmethod
    def _output_features(self) -> FeatureSet:
        """Return the features that ``transform`` computes."""

    @abstractmethod
    def _name_features(self, features: FeatureSet, kind: str | None = None) -> list[str]:
        """Return a distinct name for each feature; by default as in ``transform``."""

    def to_sql(
        self,
        table: str | Sequence[str] = "data",
        *,
        dialect: str = "duckdb",
        column_type: ColumnType | None = None,
        feature_names: ExportNames | None = None,
        keep: Sequence[str] = (),
        form: Form = "built",
        kind: Kind = "select",
        into: str | Sequence[str] = "features",
        findings: bool = False,
    ) -> str:
        """Return a SELECT that computes the features in a database. Needs sqlglot.

        Parameters
        ----------
        table : str or sequence of str, default="data"
            The table that holds the columns; ``("schema", "table")`` for one in a schema.
        dialect : str, default="duckdb"
            "duckdb", "postgres", "sqlite", "mysql" or another of docs/export.md.
        column_type : {"boolean", "integer", "text"}, optional
            Type of the columns: Booleans, 0 and 1, or text. By default Booleans; in SQLite and
            MySQL, where any text is false, any of them. A model with ``threshold`` compares
            numbers, and one of raw data reads what it was fitted on, or text.
        feature_names : {"tags", "formula", "number"}, optional
            Names of the features; numbers are f0, f1, …. By default as in ``transform``.
        keep : sequence of str
            Columns to select unchanged, before the features: a key, for instance.
        form : {"built", "nested", "dnf", "simplified"}, default="built"
        kind : {"select", "view", "table", "dbt"}, default="select"
            A query; a statement that creates a view or a table from it; or the file of a dbt
            model, which refers to the table as a model, or in two parts as a source.
        into : str or sequence of str, default="features"
            Name of the view or table.
        findings : bool, default=False
            Select the findings instead, strongest first: each is true in the rows that have all
            its tags.

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
        formulas = self._finding_formulas if findings else self._export_formulas
        return to_sql(
            formulas(feature_names, form),
            table,
            dialect=dialect,
            column_type=column_type,
            cut=self.threshold,
            keep=keep,
            raw=self._raw_checks(),
            fill=self.missing == "false",
            nan=self.missing == "false" or self._is_nullable,
            kind=kind,
            into=into,
        )

    def to_polars(
        self, *, feature_names: ExportNames | None = None, form: Form = "built"
    ) -> list[pl.Expr]:
        """Return one Polars expression per feature, for ``frame.select`` or ``with_columns``.

        Columns may be Boolean or 0/1; a missing cell is null or NaN.
        """
        from conjunct.export import to_polars

        return to_polars(
            self._export_formulas(feature_names, form),
            cut=self.threshold,
            raw=self._raw_checks(),
            fill=self.missing == "false",
        )

    def to_narwhals(
        self,
        *,
        column_type: ColumnType = "boolean",
        feature_names: ExportNames | None = None,
        form: Form = "built",
    ) -> list[nw.Expr]:
        """Return one narwhals expression per feature, for any table it supports, also lazy ones.

        ``transform(table)`` of a lazy table computes the same, and shared parts only once.

        Parameters
        ----------
        column_type : {"boolean", "integer"}, default="boolean"
            Type of the columns: Booleans, or 0 and 1. A model with ``threshold`` compares numbers.
        feature_names : {"tags", "formula", "number"}, optional
            Names of the features; numbers are f0, f1, …. By default as in ``transform``.
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
            self._export_formulas(feature_names, form),
            column_type=column_type,
            cut=self.threshold,
            raw=self._raw_checks(),
            fill=self.missing == "false",
        )

    def to_python(self, *, feature_names: ExportNames | None = None, form: Form = "built") -> str:
        """Return the source of ``features(row)``, a function that needs only Python."""
        from conjunct.export import to_python

        return to_python(
            self._export_formulas(feature_names, form),
            cut=self.threshold,
            raw=self._raw_checks(),
            fill=self.missing == "false",
        )

    def to_onnx(
        self, *, feature_names: ExportNames | None = None, form: Form = "built"
    ) -> ModelProto:
        """Return an ONNX model from rows of 0 and 1 to the features. Needs ``conjunct[onnx]``.

        Its input ``columns`` has the columns of the model in their order, its output ``features``
        0 and 1; the names of both are in the metadata, as JSON. For whole pipelines use
        ``register_onnx``.
        """
        from conjunct.export import check_exportable, to_onnx

        features = self._export_formulas(feature_names, form)
        check_exportable(is_raw=self._raw_checks() is not None, has_missing=self._is_nullable)
        try:
            import onnx  # noqa: F401
        except ImportError:
            raise ImportError('ONNX needs onnx: pip install "conjunct[onnx]"') from None
        primitives = self.feature_set_.lineage.primitives
        return to_onnx(features, primitives, cut=self.threshold, fill=self.missing == "false")

    def add_to_graph(self, source: str, graph: Graph) -> str:
        """Add the features to an ONNX graph in which the tensor ``source`` holds the columns."""
        from conjunct.export import check_exportable, columns_of_features

        check_exportable(is_raw=self._raw_checks() is not None, has_missing=self._is_nullable)
        features = list(self._export_formulas("number", "built").values())
        primitives = self.feature_set_.lineage.primitives
        fill = self.missing == "false"
        return columns_of_features(
            features, primitives, source, graph, cut=self.threshold, fill=fill
        )

    def to_json(self) -> str:
        """Return what ``save`` writes; docs/model-schema.json describes it."""
        check_is_fitted(self)
        return files.model_json(self._checked_file()).decode()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``to_json`` as plain dictionaries and lists."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    @property
    def _is_nullable(self) -> bool:
        """Return True if features may be missing, as some cells of training were."""
        return self.missing == "pairwise" and self.feature_set_.known is not None

    def _raw_checks(self) -> dict[str, Check] | None:
        """Return the test of raw columns behind each primitive, if the model has raw columns."""
        from conjunct.export import checks_of

        binarizer = self.preparation_.binarizer
        return None if binarizer is None else checks_of(binarizer.rules_)

    def _export_formulas(self, names: ExportNames | None, form: Form) -> dict[str, Expression]:
        """Return the formulas of ``transform`` in a form, by the names asked for."""
        check_is_fitted(self)
        features = self._output_features()
        formulas = [expressions.in_form(expression, form) for expression in features.expressions]
        return dict(zip(self._name_features(features, names), formulas, strict=True))

    def _finding_formulas(self, names: ExportNames | None, form: Form) -> dict[str, Expression]:
        """Return the conjunction of the tags of each finding, by the names asked for."""
        check_is_fitted(self)
        found = explain.find(self.feature_set_).findings
        if not found:
            raise InputError("the model has no findings to export: leave findings out")
        formulas: dict[str, Expression] = {}
        for k, one in enumerate(found):
            literals: list[Expression] = [Primitive(tag) for tag in one.tags]
            conjunction = reduce(And, literals)
            texts = {"number": f"f{k}", "formula": conjunction.text(self.formula_style)}
            formulas[texts.get(names or "tags", one.name)] = expressions.in_form(conjunction, form)
        return formulas


class NotebookMixin:
    """Mixin of scikit-learn's estimators: a summary of the findings, above the diagram."""

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return self._render_findings() + diagram

    def _render_findings(self) -> str:
        """Render what was found, with names from the data escaped; empty before ``fit``."""
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
    """The features of a model: a tuple, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Render the first features as a table, with names from the data escaped."""
        cells = []
        for position, feature in enumerate(self[:_FEATURES]):
            is_short = feature.length <= _LONGEST_IN_WORDS
            words = explain.english(feature.simplify()) if is_short else "–"
            formula = explain.label(feature, longest=_NAME_LENGTH)
            cells.append((str(position), explain.shorten(words, _NAME_LENGTH), formula))
        table = render_table(("", "in words", "formula"), cells)
        more = len(self) - _FEATURES
        return f"{table}<p>The first {_FEATURES}; {more:,} more.</p>" if more > 0 else table


def render_summary(summary: Summary) -> str:
    """Render what was found, the strongest chunks, and why the run ended.

    Names from the data are escaped, and there is no script.
    """
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
    """Render a table, with its cells escaped."""

    def render_row(tag: str, row: tuple[str, ...]) -> str:
        open_tag = f'<{tag} style="{_CELL}" dir="auto">'
        return "".join(f"{open_tag}{_escape(cell)}</{tag}>" for cell in row)

    lines = "".join(f"<tr>{render_row('td', row)}</tr>" for row in cells)
    return f"<table><tr>{render_row('th', heads)}</tr>{lines}</table>"


def _escape(text: str) -> str:
    # a name may hold a lone surrogate, which a page cannot
    return escape(text).encode("utf-8", "replace").decode()
