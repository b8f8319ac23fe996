"""How a fitted estimator's features leave conjunct."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils.validation import check_is_fitted

from conjunct import expressions, files
from conjunct.data import Missing, Preparation
from conjunct.errors import InputError
from conjunct.expressions import Expression, Style
from conjunct.features import FeatureSet

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from onnx import ModelProto

    from conjunct.export import Check, Graph, Kind, Source
    from conjunct.expressions import Form

FeatureNames = Literal["formula", "number"]


class Exportable:
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
