"""Converters of skl2onnx, so that a pipeline with conjunct's estimators becomes ONNX as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conjunct.estimators.constructor import FeatureConstructor
from conjunct.estimators.ufc import UFC
from conjunct.estimators.ufc_path import UFCPath
from conjunct.estimators.ufringe import UFringe

_DOUBLE = 11


def register_onnx() -> None:
    """Tell skl2onnx how to convert UFC, UFCPath and UFringe. Needs ``conjunct[onnx]``.

    After it, ``skl2onnx.to_onnx`` takes pipelines with them, and so does orbital, which makes SQL
    of a whole pipeline.

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
    for estimator in (UFC, UFCPath, UFringe):
        name = f"Conjunct{estimator.__name__}"
        update_registered_converter(estimator, name, _shape, _convert)


def _shape(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    model: FeatureConstructor = operator.raw_operator
    n_features = len(model.get_feature_names_out())
    operator.outputs[0].type = FloatTensorType([None, n_features])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    model: FeatureConstructor = operator.raw_operator
    graph = _Container(scope, container)
    kind = 1 if model.binarize is None else _DOUBLE
    # one tensor, or one for each column
    inputs = [graph.node("Cast", [variable.full_name], to=kind) for variable in operator.inputs]
    source = graph.node("Concat", inputs, axis=1) if len(inputs) > 1 else inputs[0]
    made = model._to_graph(source, graph)
    container.add_node("Identity", [made], [operator.outputs[0].full_name], name="features")


class _Container:
    """A graph that skl2onnx is writing."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope = scope
        self.container = container

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        made: str = self.scope.get_unique_variable_name("made")
        name = self.scope.get_unique_operator_name(operator)
        domain = attributes.pop("domain", "")
        self.container.add_node(
            operator, [*inputs], [made], op_domain=domain, name=name, **attributes
        )
        return made

    def constant(self, kind: int, values: Sequence[float]) -> str:
        name: str = self.scope.get_unique_variable_name("constant")
        self.container.add_initializer(name, kind, [len(values)], [*values])
        return name
