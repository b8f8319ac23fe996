"""The ancestry of features, drawn so that one can follow it."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.explain import (
    AncestryNode,
    ancestry_graph,
    ancestry_roots,
    count,
    decimal,
    takes_one_pair,
)
from conjunct.features import Merge
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows

NODE_WIDTH, NODE_HEIGHT = 216, 26
_LEVEL_WIDTH, _PLACE_HEIGHT = 292, 34
_MARGIN = 8
_NAME_LENGTH = 26


@dataclass(frozen=True)
class DrawnNode:
    number: int
    role: str
    x: float
    y: float
    name: str
    formula: str
    remark: str


@dataclass(frozen=True)
class DrawnEdge:
    parent: int
    child: int
    negated: bool
    path: str


@dataclass(frozen=True)
class Ancestry:
    """``left_out`` features are too many; ``kept`` columns are features and parents of none."""

    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    width: float
    height: float
    left_out: int
    kept: int


def ancestry(shown: ModelOnRows) -> Ancestry:
    """How columns became features; columns that were kept as they are stand apart."""
    fitted = shown.model.feature_set_
    by_pattern = shown.by_pattern
    roots = ancestry_roots(fitted, by_pattern=by_pattern)
    if not roots:
        return Ancestry((), (), 0, 0, 0, 0)
    graph = ancestry_graph(fitted, roots, limits.GRAPH_NODES, by_pattern=by_pattern)
    origins = fitted.origins()
    nodes = tuple(_drawn(shown, node, origins.get(node.number)) for node in graph.nodes)
    at = {node.number: node for node in nodes}
    edges = tuple(
        DrawnEdge(edge.parent, edge.child, edge.negated, _curve(at[edge.parent], at[edge.child]))
        for edge in graph.edges
    )
    return Ancestry(
        nodes,
        edges,
        2 * _MARGIN + _LEVEL_WIDTH * (graph.n_levels - 1) + NODE_WIDTH,
        2 * _MARGIN + _PLACE_HEIGHT * (graph.n_places - 1) + NODE_HEIGHT,
        graph.left_out,
        sum(not fitted.iteration(number) and number not in at for number in fitted.features),
    )


def _drawn(shown: ModelOnRows, node: AncestryNode, merge: Merge | None) -> DrawnNode:
    iteration = shown.model.feature_set_.iteration(node.number)
    made = "joined" if shown.by_pattern else "made"
    step = "merge" if takes_one_pair(shown.model) else "iteration"
    remarks = [f"{made} in {step} {iteration}" if iteration else "a column of the data"]
    if merge is not None:
        remarks.append(f"r = {decimal(merge.r, 2)}")
        if shown.by_pattern:
            remarks.append(f"{decimal(merge.saved, 1)} bits saved")
    if node.number in shown.lineage_supports:
        remarks.append(count(shown.lineage_supports[node.number], "row"))
    return DrawnNode(
        node.number,
        node.role,
        _MARGIN + _LEVEL_WIDTH * node.level,
        _MARGIN + _PLACE_HEIGHT * node.place,
        shown.model._label(node.number, _NAME_LENGTH, whole=True),
        shown.model._label(node.number, 300, whole=True),
        ", ".join(remarks),
    )


def _curve(parent: DrawnNode, child: DrawnNode) -> str:
    x, y = parent.x + NODE_WIDTH, parent.y + NODE_HEIGHT / 2
    to_x, to_y = child.x, child.y + NODE_HEIGHT / 2
    bend = 45
    return f"M{x:g} {y:g}C{x + bend:g} {y:g} {to_x - bend:g} {to_y:g} {to_x:g} {to_y:g}"
