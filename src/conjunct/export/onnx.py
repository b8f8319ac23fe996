"""Features as a graph of ONNX, for runtimes without Python.

Truth is 1 and falsehood 0, and a conjunction is ``max(a − (1 − b), 0)``: with Gather, Sub, Relu and
Concat alone, programs that support little of ONNX, such as orbital, can read the graph too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from conjunct.errors import InputError
from conjunct.expressions import Constant, Counted, Expression, Not, Or, Primitive, nodes

if TYPE_CHECKING:
    import onnx

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Versions that a runtime of 2022 or later reads."""

_FLOAT, _DOUBLE, _INT64 = 1, 11, 7
_ML = "ai.onnx.ml"


class Graph(Protocol):
    """A graph to which nodes are added."""

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node; return the name of its output."""

    def constant(self, kind: int, values: Sequence[float]) -> str:
        """Add a constant of one dimension; return its name."""


def to_onnx(
    features: Mapping[str, Expression],
    columns: Sequence[str],
    *,
    cut: float | None = None,
    fill: bool = False,
) -> onnx.ModelProto:
    """Build a model with an input ``columns`` and an output ``features``.

    Both are of 32-bit numbers, 0 and 1; with ``cut`` the input is of 64-bit numbers, and those
    above it are true. With ``fill`` a NaN is false; otherwise the input must not have any. The
    names of both are in the metadata, as JSON.
    """
    import onnx
    from onnx import TensorProto, helper

    graph = _NewGraph()
    columns_of_features(list(features.values()), columns, "columns", graph, cut=cut, fill=fill)
    # the last node puts all of them together
    graph.nodes[-1].output[0] = "features"
    kind = TensorProto.FLOAT if cut is None else TensorProto.DOUBLE
    body = helper.make_graph(
        graph.nodes,
        "conjunct",
        [helper.make_tensor_value_info("columns", kind, [None, len(columns)])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, len(features)])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_ML, ML_OPSET)]
    model = helper.make_model(body, opset_imports=opsets, producer_name="conjunct")
    model.ir_version = IR_VERSION
    names = {"columns": [*columns], "features": [*features]}
    # as ASCII: protobuf has no lone surrogates
    helper.set_model_props(model, {key: json.dumps(value) for key, value in names.items()})
    onnx.checker.check_model(model)
    return model


def columns_of_features(
    features: Sequence[Expression],
    columns: Sequence[str],
    source: str,
    graph: Graph,
    *,
    cut: float | None = None,
    fill: bool = False,
) -> str:
    """Add the nodes that make features of a tensor; return the name of the tensor of features."""
    one = graph.constant(_FLOAT, [1.0])
    if cut is not None:
        above = graph.node("Greater", [source, graph.constant(_DOUBLE, [cut])])
        source = graph.node("Cast", [above], to=_FLOAT)
    elif fill:
        filled = {"imputed_value_floats": [0.0], "replaced_value_float": float("nan")}
        source = graph.node("Imputer", [source], domain=_ML, **filled)
    position = {name: k for k, name in enumerate(columns)}
    value: dict[Expression, str] = {}
    opposite: dict[Expression, str] = {}

    def deny(node: Expression) -> str:
        if isinstance(node, Not):
            return value[node.operand]
        if node not in opposite:
            opposite[node] = graph.node("Sub", [one, value[node]])
        return opposite[node]

    def both(truth: str, other_is_false: str) -> str:
        return graph.node("Relu", [graph.node("Sub", [truth, other_is_false])])

    def count(node: Counted) -> str:
        total = value[node.operands[0]]
        for operand in node.operands[1:]:
            # a − (1 − b) is one less than a + b
            total = graph.node("Sub", [total, deny(operand)])
        less = len(node.operands) - 1

        def at_least(number: int) -> str:
            # of whole numbers: max(x − m + 1, 0) − max(x − m, 0)
            over = [graph.constant(_FLOAT, [float(m - less)]) for m in (number - 1, number)]
            steps = [graph.node("Relu", [graph.node("Sub", [total, m])]) for m in over]
            return graph.node("Sub", steps)

        if node.most >= len(node.operands):
            return at_least(node.number)
        return graph.node("Sub", [at_least(node.number), at_least(node.most + 1)])

    def build(node: Expression) -> str:
        if isinstance(node, Primitive):
            index = graph.constant(_INT64, [position[node.name]])
            return graph.node("Gather", [source, index], axis=1)
        if isinstance(node, Constant):
            # of as many rows as there are
            column = graph.node("Gather", [source, graph.constant(_INT64, [0])], axis=1)
            false = graph.node("Sub", [column, column])
            return graph.node("Sub", [one, false]) if node.value else false
        if isinstance(node, Not):
            return deny(node.operand)
        if isinstance(node, Counted):
            return count(node)
        first, *others = node.children
        if isinstance(node, Or):
            neither = deny(first)
            for operand in others:
                neither = both(neither, value[operand])
            return graph.node("Sub", [one, neither])
        all_of = value[first]
        for operand in others:
            all_of = both(all_of, deny(operand))
        return all_of

    for feature in features:
        for node in nodes(feature):
            if node not in value:
                value[node] = build(node)
    return graph.node("Concat", [value[feature] for feature in features], axis=1)


def check_exportable(*, is_raw: bool, has_missing: bool) -> None:
    """Refuse models whose rows a tensor of 0 and 1 cannot hold."""
    if is_raw:
        raise InputError(
            "ONNX takes Boolean columns, and this model reads those of raw data: make them "
            "Boolean with a Binarizer, and fit on what it gives"
        )
    if has_missing:
        raise InputError(
            "ONNX has no missing cells, and this model was fitted on some (missing='pairwise'): "
            "fit with missing='false' or 'raise', or export as SQL, Polars or Python"
        )


class _NewGraph:
    """The nodes and constants of a new model."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        from onnx import helper

        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, kind: int, values: Sequence[float]) -> str:
        from onnx import helper

        name = f"k{len(self.constants)}"
        self.constants.append(helper.make_tensor(name, kind, [len(values)], values))
        return name
