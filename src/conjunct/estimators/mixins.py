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


class ExplainMixin:
    """Mixin of FeatureConstructor: formulas in other forms, and aids for reading them."""

    style: Style
    feature_set_: FeatureSet
    # the columns of data like that of ``fit``, which BooleanEstimator reads
    _read: Callable[[Any], Columns]

    @abstractmethod
    def _complete(self, X: Any, what: str) -> PackedColumns:
        """The same, where no cell is missing."""

    @abstractmethod
    def _names_of(self, fitted: FeatureSet) -> list[str]:
        """What features are called, all differently."""

    @property
    def _by_pattern(self) -> bool:
        """Whether features are read by their patterns, for formulas may be too long to read."""
        return False

    def _label(self, number: int, longest: int, *, whole: bool = False) -> str:
        """What a feature of the lineage is called in pictures and tables.

        ``whole``: its pattern stands for all that has it, and nothing marks what is left.
        """
        if self._by_pattern and whole:
            pattern = pattern_text(self.feature_set_.lineage.pattern(number))
            return explain.shortened(pattern, longest)
        if self._by_pattern:
            return explain.shortened(explain.shown_pattern(self.feature_set_, number), longest)
        return explain.label(self.feature_set_.lineage.expression(number), self.style, longest)

    def formulas(self, form: Form = "simplified", *, given: Any = None) -> Formulas:
        """The features in another form, with their mean length (C1) before and after.

        Parameters
        ----------
        form : {"built", "nested", "dnf", "simplified"}, default="simplified"
            As constructed; with common parts taken out; as a disjunction of conjunctions; or the
            shortest that is known.
        given : optional
            The training data. Combinations of primitives that never occur in it then do not
            matter, and the formulas are equivalent on the training data only: they are marked so,
            and ``transform`` never uses them.

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
        store = None if given is None else self._complete(given, "given")
        return explain.formulas_of(self.feature_set_, form, store)

    def explain(self, feature: int | str | Expression, X: Any = None) -> Explanation:
        """A feature in plain words: pattern, formula, English, support, origin, primitives.

        ``feature`` is a position in ``features_``, a formula, or the text of it or of its
        pattern. With data ``X``, training rows or others, its rows are contrasted with the
        others, and a shorter formula that holds on these rows comes first (``on_rows``), the
        exact one behind it.
        """
        check_is_fitted(self)
        store = None if X is None else self._read(X)
        return explain.explanation(self.feature_set_, self._number(feature), self.style, store)

    def ancestry(self, feature: int | str | Expression, format: GraphFormat = "text") -> str:
        """What a feature was made from, as indented text, a Mermaid chart or a Graphviz graph."""
        check_is_fitted(self)
        return explain.ancestry(self.feature_set_, self._number(feature), format, self.style)

    def nearest(
        self, feature: int | str | Expression, X: Any = None, *, n: int = 5
    ) -> list[Neighbour]:
        """The features most like one: by the correlation of their columns on ``X``, or without
        data by the primitives they share."""
        check_is_fitted(self)
        fitted, number = self.feature_set_, self._number(feature)
        texts = self._names_of(fitted)
        if X is None:
            return explain.nearest_by_primitives(fitted, number, texts, n)
        return explain.nearest_by_columns(fitted, number, self._read(X), texts, n)

    def _number(self, feature: int | str | Expression) -> int:
        fitted = self.feature_set_
        return (fitted.features + fitted.suppressed)[fitted.position(feature)]


FeatureNames = Literal["formula", "number"]


class ExportMixin:
    """Mixin of FeatureConstructor: features as SQL, narwhals, Polars, Python, ONNX and JSON.

    They take the raw table if the model was fitted on one (``BooleanData``, or a command). All of
    them treat missing cells by Kleene's logic: a conjunction is false if a part is false,
    otherwise missing if a part is. ``form="simplified"`` gives shorter code and the same values
    on whole rows, but may decide rows with missing cells otherwise. With ``missing="false"``,
    missing cells are false.
    """

    binarize: float | None
    style: Style
    feature_set_: FeatureSet
    preparation_: Preparation
    missing: Missing

    @abstractmethod
    def _model_file(self) -> files.ModelFile:
        """Everything a model file holds."""

    @abstractmethod
    def _made_features(self) -> FeatureSet:
        """The features that ``transform`` makes."""

    @abstractmethod
    def _column_names(self) -> list[str]:
        """What ``transform`` calls the features."""

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
        """A SELECT that computes the features in a database. Needs sqlglot.

        Parameters
        ----------
        table : str or sequence of str, default="data"
            The table that holds the columns; ``("schema", "table")`` for one in a schema.
        dialect : str, default="duckdb"
            "duckdb", "postgres", "sqlite", "mysql" or another of docs/export.md.
        source : {"boolean", "integer", "text"}, optional
            What the columns hold: Booleans, 0 and 1, or text. If not given, Booleans; in SQLite
            and MySQL, which take any text for false, any of them. A model with ``binarize``
            compares numbers, and one of raw data reads what it was fitted on, or text.
        columns : {"formula", "number"}, default="formula"
            What the features are called: as in ``transform``, or f0, f1, ….
        keep : sequence of str
            Columns to select as they are, before the features: a key, for instance.
        form : {"built", "nested", "dnf", "simplified"}, default="built"
        kind : {"select", "view", "table", "dbt"}, default="select"
            A query; a statement that makes a view or a table of it; or the file of a dbt model,
            which refers to the table as a model, or in two parts as a source.
        into : str or sequence of str, default="features"
            What the view or the table is called.

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
        features = self._exported(columns, form)
        return to_sql(
            features,
            table,
            dialect=dialect,
            source=source,
            cut=self.binarize,
            keep=keep,
            raw=self._raw(),
            fill=self.missing == "false",
            nan=self.missing != "raise",
            kind=kind,
            into=into,
        )

    def to_polars(
        self, *, columns: FeatureNames = "formula", form: Form = "built"
    ) -> list[pl.Expr]:
        """One Polars expression a feature, for ``frame.select`` or ``with_columns``.

        Columns may be Boolean or 0/1; a missing cell is null or NaN.
        """
        from conjunct.export import to_polars

        return to_polars(
            self._exported(columns, form),
            cut=self.binarize,
            raw=self._raw(),
            fill=self.missing == "false",
        )

    def to_narwhals(
        self,
        *,
        source: Source = "boolean",
        columns: FeatureNames = "formula",
        form: Form = "built",
    ) -> list[nw.Expr]:
        """One expression of narwhals a feature, for any table that it knows, lazy ones included.

        ``transform(table)`` of a lazy table computes the same, and what features share once.

        Parameters
        ----------
        source : {"boolean", "integer"}, default="boolean"
            What the columns hold: Booleans, or 0 and 1. A model with ``binarize`` compares numbers.
        columns : {"formula", "number"}, default="formula"
            What the features are called: as in ``transform``, or f0, f1, ….
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
            self._exported(columns, form),
            source=source,
            cut=self.binarize,
            raw=self._raw(),
            fill=self.missing == "false",
        )

    def to_python(self, *, columns: FeatureNames = "formula", form: Form = "built") -> str:
        """The source of ``features(row)``, a function that needs nothing but Python."""
        from conjunct.export import to_python

        return to_python(
            self._exported(columns, form),
            cut=self.binarize,
            raw=self._raw(),
            fill=self.missing == "false",
        )

    def to_onnx(self, *, columns: FeatureNames = "formula", form: Form = "built") -> ModelProto:
        """A model of ONNX, from rows of 0 and 1 to the features. Needs ``conjunct[onnx]``.

        Its input ``columns`` has the columns of the model in their order, its output ``features``
        0 and 1; the names of both are in the metadata, as JSON. ``register_onnx`` is for whole
        pipelines.
        """
        from conjunct.export import check_exportable, to_onnx

        features = self._exported(columns, form)
        check_exportable(is_raw=self._raw() is not None, missing=self.missing)
        try:
            import onnx  # noqa: F401
        except ImportError:
            raise ImportError('ONNX needs onnx: pip install "conjunct[onnx]"') from None
        primitives = self.feature_set_.lineage.primitives
        return to_onnx(features, primitives, cut=self.binarize, fill=self.missing == "false")

    def _to_graph(self, source: str, graph: Graph) -> str:
        """Add the features to a graph of ONNX in which the tensor ``source`` holds the columns."""
        from conjunct.export import check_exportable, columns_of_features

        check_exportable(is_raw=self._raw() is not None, missing=self.missing)
        features = list(self._exported("number", "built").values())
        primitives = self.feature_set_.lineage.primitives
        fill = self.missing == "false"
        return columns_of_features(
            features, primitives, source, graph, cut=self.binarize, fill=fill
        )

    def to_json(self) -> str:
        """What ``save`` writes; docs/model-schema.json describes it."""
        check_is_fitted(self)
        return files.model_json(self._model_file()).decode()

    def to_dict(self) -> dict[str, Any]:
        """The content of ``to_json`` as plain dictionaries and lists."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    def _raw(self) -> dict[str, Check] | None:
        """What the primitives ask of a raw table, if the model was fitted on one."""
        from conjunct.export import checks_of

        binarizer = self.preparation_.binarizer
        return None if binarizer is None else checks_of(binarizer.rules_)

    def _exported(self, columns: FeatureNames, form: Form) -> dict[str, Expression]:
        check_is_fitted(self)
        if columns not in ("formula", "number"):
            raise InputError(f"columns must be 'formula' or 'number'; got {columns!r}")
        made = self._made_features().expressions
        if columns == "formula":
            names = self._column_names()
        else:
            names = [f"f{position}" for position in range(len(made))]
        formulas = (expressions.in_form(expression, form) for expression in made)
        return dict(zip(names, formulas, strict=True))


_CHUNKS = 5
_FEATURES = 50
_SIMPLIFIED = 60  # literals; a longer formula is not said in words
_NAME_LENGTH = 120
_CONTRAST_LENGTH = 160
_CELL = "text-align:left;padding:2px 14px 2px 0"


class NotebookMixin:
    """Mixin of scikit-learn's estimators: a summary of what was found comes first."""

    def _repr_html_inner(self) -> str:
        from conjunct.explain import Summary

        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        if not hasattr(self, "feature_set_"):
            return diagram
        return summary_html(Summary(self)) + diagram  # type: ignore[arg-type]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class Features(tuple[Expression, ...]):
    """The features of a model: a tuple, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The first of them, by their places. Names from data are escaped."""
        cells = [
            (
                str(place),
                explain.shortened(_words(feature), _NAME_LENGTH),
                explain.label(feature, longest=_NAME_LENGTH),
            )
            for place, feature in enumerate(self[:_FEATURES])
        ]
        table = _table(("", "in words", "formula"), cells)
        more = len(self) - _FEATURES
        return f"{table}<p>The first {_FEATURES}; {more:,} more.</p>" if more > 0 else table


def _words(feature: Expression) -> str:
    return explain.english(feature.simplify()) if feature.length <= _SIMPLIFIED else "–"


def summary_html(summary: Summary) -> str:
    """Show what was found, the strongest chunks, and why the run ended.

    Names from data are escaped, and it holds no script.
    """
    parts = [f"<p>{_text(f'{summary.found} {summary.length}')}</p>"]
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
        parts.append(_table(heads, cells))
        if len(summary.chunks) > _CHUNKS:
            parts.append(f"<p>Top {_CHUNKS} of {len(summary.chunks):,} chunks.</p>")
    parts.append(f"<p>{_text(f'{summary.ended} {summary.variables}'.rstrip())}</p>")
    return f"<div>{''.join(parts)}</div>"


def _table(heads: tuple[str, ...], cells: Sequence[tuple[str, ...]]) -> str:
    lines = "".join(f"<tr>{_row('td', line)}</tr>" for line in cells)
    return f"<table><tr>{_row('th', heads)}</tr>{lines}</table>"


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return "".join(f'<{tag} style="{_CELL}" dir="auto">{_text(cell)}</{tag}>' for cell in cells)


def _text(said: str) -> str:
    # a name may hold a lone surrogate, which a page cannot
    return escape(said).encode("utf-8", "replace").decode()
