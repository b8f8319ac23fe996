"""Features of a model as code: SQL, narwhals, Polars, Python and ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Literal

from sklearn.utils.validation import check_is_fitted

from conjunct import explain, expressions
from conjunct.errors import InputError
from conjunct.estimators.base import BooleanEstimator
from conjunct.expressions import And, Expression, Primitive, Style
from conjunct.features import FeatureSet
from conjunct.parameters import one_of

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from onnx import ModelProto

    from conjunct.export import Check, ColumnType, Graph, Kind
    from conjunct.expressions import Form

ExportNames = Literal["tags", "formula", "number"]


class ExportingEstimator(BooleanEstimator):
    """Base of FeatureConstructor: features as SQL, narwhals, Polars, Python, ONNX and JSON.

    The code reads the raw table if the model was fitted on one (``BooleanData``, or a command).
    Missing cells follow Kleene's logic: a conjunction is false if a part is false, otherwise
    missing if a part is. ``form="simplified"`` gives shorter code and the same values on complete
    rows, but may differ on rows with missing cells. With ``missing="false"``, missing cells are
    false.
    """

    formula_style: Style
    feature_set_: FeatureSet

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

    def _output_features(self) -> FeatureSet:
        """Return the features that ``transform`` computes."""
        return self.feature_set_

    def _name_features(self, features: FeatureSet, kind: str | None = None) -> list[str]:
        """Return a distinct name for each feature: its formula, or its number."""
        one_of(("formula", "number"), optional=True).check("feature_names", kind)
        if kind == "number":
            return [f"f{position}" for position in range(len(features.features))]
        return distinct_names(features.lineage.texts(features.features, self.formula_style))


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
