"""Exporting features as code, loading model files, and support for MLflow and skl2onnx."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from conjunct import estimators, explain, expressions, files
from conjunct.errors import InputError, ModelFileError
from conjunct.estimators.base import BooleanEstimator
from conjunct.expressions import And, Expression, Primitive, Style
from conjunct.features import FeatureSet
from conjunct.parameters import one_of

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from onnx import ModelProto

    from conjunct.estimators.constructor import FeatureConstructor
    from conjunct.export import Check, ColumnType, Graph, Kind
    from conjunct.expressions import Form

ExportNames = Literal["tags", "formula", "number"]


class ExportingEstimator(BooleanEstimator):
    """Base of FeatureConstructor: exports features as SQL, narwhals, Polars, Python and ONNX.

    The code reads raw tables if the model was fitted on one. Missing cells follow Kleene's logic:
    a conjunction is false if a part is false, otherwise missing if a part is missing.
    ``form="simplified"`` gives shorter code, but may differ on rows with missing cells. With
    ``missing="false"``, missing cells are false.
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
            The table with the columns, or ``("schema", "table")``.
        dialect : str, default="duckdb"
            "duckdb", "postgres", "sqlite", "mysql" or another dialect of docs/export.md.
        column_type : {"boolean", "integer", "text"}, optional
            Type of the columns: Booleans, 0 and 1, or text. The default is Booleans; SQLite and
            MySQL then also read 0 and 1, and text. A model with ``threshold`` compares numbers. A
            model of raw data reads the types of the training data, or text.
        feature_names : {"tags", "formula", "number"}, optional
            Names of the features, by default as in ``transform``; numbers are f0, f1, ….
        keep : sequence of str
            Columns to select unchanged before the features, such as a key.
        form : {"built", "nested", "dnf", "simplified"}, default="built"
        kind : {"select", "view", "table", "dbt"}, default="select"
            A query, a statement that creates a view or table from it, or the file of a dbt model.
            A dbt model refers to the table as a model, or to a name in two parts as a source.
        into : str or sequence of str, default="features"
            Name of the view or table.
        findings : bool, default=False
            Select the findings instead, strongest first: true in rows with all tags of a finding.

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
            keep=keep,
            nan=self.missing == "false" or self._is_nullable,
            kind=kind,
            into=into,
            **self._reading(),
        )

    def to_polars(
        self, *, feature_names: ExportNames | None = None, form: Form = "built"
    ) -> list[pl.Expr]:
        """Return one Polars expression per feature, for ``frame.select`` or ``with_columns``.

        Columns may be Boolean or 0/1; a missing cell is null or NaN.
        """
        from conjunct.export import to_polars

        return to_polars(self._export_formulas(feature_names, form), **self._reading())

    def to_narwhals(
        self,
        *,
        column_type: ColumnType = "boolean",
        feature_names: ExportNames | None = None,
        form: Form = "built",
    ) -> list[nw.Expr]:
        """Return one narwhals expression per feature, for any table that it supports.

        For a lazy table, ``transform(table)`` gives the same, but computes shared parts only once.

        Columns are Booleans, or 0 and 1 with ``column_type="integer"``; a model with ``threshold``
        compares numbers. ``feature_names`` and ``form`` are as in ``to_sql``.

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

        formulas = self._export_formulas(feature_names, form)
        return to_narwhals(formulas, column_type=column_type, **self._reading())

    def to_python(self, *, feature_names: ExportNames | None = None, form: Form = "built") -> str:
        """Return the source of ``features(row)``, a function in pure Python."""
        from conjunct.export import to_python

        return to_python(self._export_formulas(feature_names, form), **self._reading())

    def to_onnx(
        self, *, feature_names: ExportNames | None = None, form: Form = "built"
    ) -> ModelProto:
        """Return an ONNX model that computes the features. Needs ``conjunct[onnx]``.

        Its input ``columns`` and its output ``features`` hold columns and features as 0 and 1. The
        metadata has the names of both as JSON. For pipelines, use ``register_onnx``.
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
        """Add the features to an ONNX graph whose tensor ``source`` holds the columns."""
        from conjunct.export import check_exportable, columns_of_features

        check_exportable(is_raw=self._raw_checks() is not None, has_missing=self._is_nullable)
        features = [*self._export_formulas("number", "built").values()]
        names, fill = self.feature_set_.lineage.primitives, self.missing == "false"
        return columns_of_features(features, names, source, graph, cut=self.threshold, fill=fill)

    @property
    def _is_nullable(self) -> bool:
        """Return True if features may be missing because cells of the training data were."""
        return self.missing == "pairwise" and self.feature_set_.known is not None

    def _raw_checks(self) -> dict[str, Check] | None:
        """Return the test of raw columns behind each primitive, if there are raw columns."""
        from conjunct.export import checks_of

        binarizer = self.preparation_.binarizer
        return None if binarizer is None else checks_of(binarizer.rules_)

    def _reading(self) -> dict[str, Any]:
        """Return the options by which exported code reads columns."""
        fill = self.missing == "false"
        return {"cut": self.threshold, "raw": self._raw_checks(), "fill": fill}

    def _export_formulas(self, names: ExportNames | None, form: Form) -> dict[str, Expression]:
        """Return the formulas of ``transform`` by name."""
        features = self._output_features()
        formulas = [expressions.in_form(expression, form) for expression in features.expressions]
        return dict(zip(self._name_features(features, names), formulas, strict=True))

    def _finding_formulas(self, names: ExportNames | None, form: Form) -> dict[str, Expression]:
        """Return the conjunction of the tags of each finding, by name."""
        found = explain.find(self.feature_set_).findings
        if not found:
            raise InputError("the model has no findings to export: export its features instead")
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
        """Return a distinct name for each feature, from its formula or number."""
        one_of(("formula", "number"), optional=True).check("feature_names", kind)
        if kind == "number":
            return [f"f{position}" for position in range(len(features.features))]
        return distinct_names(features.lineage.texts(features.features, self.formula_style))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Append ``[2]``, ``[3]`` … to repeated names, because columns need distinct names."""
    originals, distinct = set(names), dict[str, None]()
    for name in names:
        candidate, k = name, 1
        while candidate in distinct or (k > 1 and candidate in originals):
            k += 1
            candidate = f"{name} [{k}]"
        distinct[candidate] = None
    return list(distinct)


# by name, because importing trees takes longer than reading a model
_KINDS = ("UFC", "UFCPath", "UFringe", "Fringe", "CAT", "ID2of3", "XofN")


def load(path: str | os.PathLike[str]) -> FeatureConstructor:
    """Read a model file of any estimator.

    Examples
    --------
    >>> from conjunct import UFC, load
    >>> rows = [["fork", "knife"]] * 40 + [["cup"]] * 60
    >>> UFC().fit(rows).save("model.json")
    >>> load("model.json").chunks([["fork", "knife", "cup"]])
    [[('fork', 'knife'), ('cup',)]]
    """
    model = files.read_model(path)
    if model.kind not in _KINDS:
        raise ModelFileError(f"{path}: unknown kind of model {model.kind!r}")
    kind: type[FeatureConstructor] = getattr(estimators, model.kind)
    return kind.from_model_file(model, str(path))


Output = Literal["features", "chunks"]
OUTPUTS: tuple[Output, ...] = ("features", "chunks")


def save_mlflow(
    model: FeatureConstructor, path: str | os.PathLike[str], *, output: Output = "features"
) -> None:
    """Write a fitted model as a folder that MLflow can load, register and serve.

    Parameters
    ----------
    model : UFC, UFCPath or UFringe
        The fitted model.
    path : path
        The folder, which must not exist. ``mlflow.pyfunc.load_model(path).predict(frame)`` takes
        data frames with the columns of the model, or raw columns if it was fitted on raw data.
    output : {"features", "chunks"}, default="features"
        Result of ``predict``: the features of each row, or a column with its chunks as text.

    Examples
    --------
    >>> import mlflow
    >>> from conjunct import UFC, save_mlflow
    >>> import pandas as pd
    >>> table = pd.DataFrame({"fork": [True, False] * 20, "knife": [True, False] * 20})
    >>> save_mlflow(UFC().fit(table), "model")
    >>> mlflow.pyfunc.load_model("model").predict(table).shape
    (40, 1)
    """
    one_of(OUTPUTS).check("output", output)
    if output == "chunks" and not isinstance(model, estimators.InvertibleConstructor):
        raise InputError(f"{type(model).__name__} models have no chunks: use output='features'")
    try:
        from mlflow import pyfunc
    except ImportError:
        raise ImportError('MLflow is not installed: pip install "conjunct[mlflow]"') from None
    from conjunct import __version__

    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save(file)
        pyfunc.save_model(
            path,
            loader_module=__name__,
            data_path=str(file),
            model_config={"output": output},
            pip_requirements=[f"conjunct=={__version__}"],
        )


def _load_pyfunc(path: str, model_config: dict[str, Any] | None = None) -> ServedModel:
    """Load a saved model for MLflow, which calls this function by name."""
    return ServedModel(load(path), (model_config or {}).get("output", "features"))


class ServedModel:
    """A model with the interface of MLflow."""

    def __init__(self, model: FeatureConstructor, output: Output) -> None:
        self.model = model
        self.output = output

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """Return the features or chunks of the rows of a data frame."""
        binarizer = self.model.preparation_.binarizer
        rows = model_input if binarizer is None else binarizer.transform(model_input)
        if self.output == "chunks" and isinstance(self.model, estimators.InvertibleConstructor):
            return self.model.chunks(rows, "text")
        return self.model.transform(rows)


_DOUBLE = 11


def register_onnx() -> None:
    """Register converters of UFC, UFCPath and UFringe with skl2onnx. Needs ``conjunct[onnx]``.

    Then ``skl2onnx.to_onnx`` converts pipelines with these estimators, and orbital translates
    such pipelines to SQL.

    Examples
    --------
    >>> import numpy as np
    >>> from conjunct import UFC, register_onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skl2onnx import to_onnx
    >>> register_onnx()
    >>> X = np.array([[1, 1, 0], [0, 0, 1]] * 30, np.float32)
    >>> pipeline = make_pipeline(UFC(), StandardScaler()).fit(X)
    >>> [output.name for output in to_onnx(pipeline, X).graph.output]
    ['variable']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError('ONNX needs skl2onnx: pip install "conjunct[onnx]"') from None
    for estimator in (estimators.UFC, estimators.UFCPath, estimators.UFringe):
        name = f"Conjunct{estimator.__name__}"
        update_registered_converter(estimator, name, _set_shape, _convert)


def _set_shape(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    model: FeatureConstructor = operator.raw_operator
    n_features = len(model.get_feature_names_out())
    operator.outputs[0].type = FloatTensorType([None, n_features])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    model: FeatureConstructor = operator.raw_operator
    graph = _GraphWriter(scope, container)
    kind = 1 if model.threshold is None else _DOUBLE
    # one tensor, or one per column
    inputs = [graph.node("Cast", [variable.full_name], to=kind) for variable in operator.inputs]
    source = graph.node("Concat", inputs, axis=1) if len(inputs) > 1 else inputs[0]
    features = model.add_to_graph(source, graph)
    container.add_node("Identity", [features], [operator.outputs[0].full_name], name="features")


class _GraphWriter:
    """An ONNX graph under construction by skl2onnx."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope = scope
        self.container = container

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        output: str = self.scope.get_unique_variable_name("made")
        name = self.scope.get_unique_operator_name(operator)
        domain = attributes.pop("domain", "")
        self.container.add_node(
            operator, [*inputs], [output], op_domain=domain, name=name, **attributes
        )
        return output

    def constant(self, kind: int, values: Sequence[float]) -> str:
        name: str = self.scope.get_unique_variable_name("constant")
        self.container.add_initializer(name, kind, [len(values)], [*values])
        return name
