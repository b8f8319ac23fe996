"""Features as a graph of ONNX, for runtimes without Python.

Truth is 1 and falsehood 0, and a conjunction is ``max(a − (1 − b), 0)``: with Gather, Sub, Relu and
Concat alone, programs that support little of ONNX, such as orbital, can read the graph too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

from conjunct.errors import InputError
from conjunct.export.steps import write_formulas
from conjunct.expressions import Expression

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
    target = _Nodes(graph, source, columns)
    if cut is not None:
        above = graph.node("Greater", [source, graph.constant(_DOUBLE, [cut])])
        target.source = graph.node("Cast", [above], to=_FLOAT)
    elif fill:
        filled = {"imputed_value_floats": [0.0], "replaced_value_float": float("nan")}
        target.source = graph.node("Imputer", [source], domain=_ML, **filled)
    return graph.node("Concat", write_formulas(features, target), axis=1)


class _Nodes:
    """The nodes of formulas on the tensor ``source``; each value is a tensor of one column."""

    def __init__(self, graph: Graph, source: str, columns: Sequence[str]) -> None:
        self.graph, self.source = graph, source
        self.position = {name: k for k, name in enumerate(columns)}
        self.one = graph.constant(_FLOAT, [1.0])
        self.opposite: dict[str, str] = {}

    def _subtract(self, value: str, other: str) -> str:
        return self.graph.node("Sub", [value, other])

    def _excess(self, value: str, other: str) -> str:
        """Write ``max(value − other, 0)``."""
        return self.graph.node("Relu", [self._subtract(value, other)])

    def _gather(self, position: int) -> str:
        index = self.graph.constant(_INT64, [position])
        return self.graph.node("Gather", [self.source, index], axis=1)

    def primitive(self, name: str) -> str:
        return self._gather(self.position[name])

    def constant(self, value: bool) -> str:
        column = self._gather(0)  # for the number of rows
        false = self._subtract(column, column)
        return self.negate(false) if value else false

    def negate(self, value: str) -> str:
        if value not in self.opposite:
            self.opposite[value] = negated = self._subtract(self.one, value)
            self.opposite[negated] = value
        return self.opposite[value]

    def join(self, values: Sequence[str], *, is_or: bool) -> str:
        if is_or:
            return self.negate(self.join([*map(self.negate, values)], is_or=False))
        return reduce(lambda both, value: self._excess(both, self.negate(value)), values)

    def count(self, values: Sequence[str], least: int, most: int) -> str:
        # a − (1 − b) is one less than a + b
        total = reduce(lambda sum_, value: self._subtract(sum_, self.negate(value)), values)

        def at_least(number: int) -> str:
            # of whole numbers: max(x − m + 1, 0) − max(x − m, 0)
            limits = (number - len(values), number - len(values) + 1)
            over = [self.graph.constant(_FLOAT, [float(limit)]) for limit in limits]
            return self._subtract(*(self._excess(total, limit) for limit in over))

        if most >= len(values):
            return at_least(least)
        return self._subtract(at_least(least), at_least(most + 1))


def check_exportable(*, is_raw: bool, has_missing: bool) -> None:
    """Refuse models whose rows a tensor of 0 and 1 cannot hold."""
    if is_raw:
        raise InputError(
            "ONNX needs Boolean columns, and this model reads raw ones: make them Boolean with a "
            "Binarizer, and fit on its output"
        )
    if has_missing:
        raise InputError(
            "ONNX has no missing cells, but this model was fitted on some (missing='pairwise'): "
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
