"""The ancestry of features, drawn so that one can follow it."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.construction.stage import Merge
from conjunct.reading import Node, ancestry_graph, made_features
from conjunct.report import limits
from conjunct.report.merges import supports_of_all
from conjunct.report.numbers import count, decimal
from conjunct.report.subject import Subject

NODE_WIDTH, NODE_HEIGHT = 216, 26
_LEVEL_WIDTH, _PLACE_HEIGHT = 292, 34
_MARGIN = 8
_NAME_LENGTH = 26


@dataclass(frozen=True)
class DrawnNode:
    number: int
    kind: str
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
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    width: float
    height: float
    left_out: int
    kept: int


def ancestry(subject: Subject) -> Ancestry:
    """How columns became features; columns that were kept as they are stand apart."""
    fitted = subject.model.feature_set_
    by_pattern = subject.by_pattern
    roots = made_features(fitted, by_pattern=by_pattern)
    graph = None
    if roots:
        graph = ancestry_graph(fitted, roots, limits.GRAPH_NODES, by_pattern=by_pattern)
    kept = sum(not fitted.iteration(number) for number in fitted.features)
    if graph is None:
        return Ancestry((), (), 0, 0, 0, kept)
    supports = supports_of_all(subject)
    origins = fitted.origins()
    nodes = tuple(_drawn(subject, node, supports, origins.get(node.number)) for node in graph.nodes)
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
        kept,
    )


def _drawn(
    subject: Subject, node: Node, supports: dict[int | None, int], merge: Merge | None
) -> DrawnNode:
    iteration = subject.model.feature_set_.iteration(node.number)
    made = "joined in merge" if subject.by_pattern else "made in iteration"
    remarks = [f"{made} {iteration}" if iteration else "a column of the data"]
    if merge is not None:
        remarks.append(f"r = {decimal(merge.r, 2)}")
        if subject.by_pattern:
            remarks.append(f"{decimal(merge.saved, 1)} bits saved")
    if node.number in supports:
        remarks.append(count(supports[node.number], "row"))
    return DrawnNode(
        node.number,
        node.kind,
        _MARGIN + _LEVEL_WIDTH * node.level,
        _MARGIN + _PLACE_HEIGHT * node.place,
        subject.model._label(node.number, _NAME_LENGTH, whole=True),
        subject.model._label(node.number, 300, whole=True),
        ", ".join(remarks),
    )


def _curve(parent: DrawnNode, child: DrawnNode) -> str:
    x, y = parent.x + NODE_WIDTH, parent.y + NODE_HEIGHT / 2
    to_x, to_y = child.x, child.y + NODE_HEIGHT / 2
    bend = 45
    return f"M{x:g} {y:g}C{x + bend:g} {y:g} {to_x - bend:g} {to_y:g} {to_x:g} {to_y:g}"
