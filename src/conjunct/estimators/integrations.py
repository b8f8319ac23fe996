"""Models from files, and in other tools: MLflow and skl2onnx."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from conjunct import estimators
from conjunct.errors import InputError, ModelFileError
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.estimators.invertible import InvertibleConstructor
from conjunct.files import read_model
from conjunct.parameters import one_of

# by name, because importing those of trees takes longer than reading a model
_KINDS = ("UFC", "UFCPath", "UFringe", "Fringe", "CAT", "ID2of3", "XofN")


def load(path: str | os.PathLike[str]) -> FeatureConstructor:
    """Read a model file, whatever estimator wrote it.

    Examples
    --------
    >>> from conjunct import UFC, load
    >>> rows = [["fork", "knife"]] * 40 + [["cup"]] * 60
    >>> UFC().fit(rows).save("model.json")
    >>> load("model.json").chunks([["fork", "knife", "cup"]])
    [[('fork', 'knife'), ('cup',)]]
    """
    model = read_model(path)
    if model.kind not in _KINDS:
        raise ModelFileError(f"{path}: a model of unknown kind {model.kind!r}")
    kind: type[FeatureConstructor] = getattr(estimators, model.kind)
    return kind._from_model_file(model, str(path))


Output = Literal["features", "chunks"]
OUTPUTS: tuple[Output, ...] = ("features", "chunks")


def save_mlflow(
    model: FeatureConstructor, path: str | os.PathLike[str], *, output: Output = "features"
) -> None:
    """Write a fitted model as a folder that MLflow loads, registers and serves.

    Parameters
    ----------
    model : UFC, UFCPath or UFringe
        The fitted model.
    path : path
        The folder, which must not exist. ``mlflow.pyfunc.load_model(path).predict(frame)`` takes
        data frames with the columns of the model, raw ones if it was fitted on raw data.
    output : {"features", "chunks"}, default="features"
        What ``predict`` returns: the features of each row, or a column with its chunks as text.

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
    if output == "chunks" and not isinstance(model, InvertibleConstructor):
        raise InputError(f"a model of kind {type(model).__name__} has no chunks")
    try:
        from mlflow import pyfunc
    except ImportError:
        raise ImportError('MLflow is not there: pip install "conjunct[mlflow]"') from None
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
    """Load a saved model for MLflow, which calls this function by its name."""
    return ServedModel(load(path), (model_config or {}).get("output", "features"))


class ServedModel:
    """A model with the interface that MLflow expects."""

    def __init__(self, model: FeatureConstructor, output: Output) -> None:
        self.model = model
        self.output = output

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """Return the features, or the chunks, of the rows of a data frame."""
        binarizer = self.model.preparation_.binarizer
        rows = model_input if binarizer is None else binarizer.transform(model_input)
        if self.output == "chunks" and isinstance(self.model, InvertibleConstructor):
            return self.model.chunks(rows, "text")
        return self.model.transform(rows)


_DOUBLE = 11


def register_onnx() -> None:
    """Register converters of UFC, UFCPath and UFringe with skl2onnx. Needs ``conjunct[onnx]``.

    Then ``skl2onnx.to_onnx`` converts pipelines that contain them, and so does orbital, which
    translates a whole pipeline to SQL.

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
    # one tensor, or one for each column
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
