"""The ancestry of features, drawn so that one can follow it."""

from __future__ import annotations

from dataclasses import dataclass

from conjunct.explain import (
    AncestryGraph,
    ancestry_graph,
    ancestry_roots,
    count,
    decimal,
    takes_one_pair,
)
from conjunct.features import Merge
from conjunct.report import limits
from conjunct.report.drawing import cut_to
from conjunct.report.model_on_rows import ModelOnRows

_NAME_LENGTH = 300
_BOX_WIDTH, _BOX_HEIGHT = 216, 26
_LEVEL_WIDTH, _PLACE_HEIGHT = 292, 34
_BEND = 24  # of a line, before it leaves the height of its box
_TEXT_WIDTH, _TEXT_SIZE = 200, 12


@dataclass(frozen=True)
class Box:
    """A feature; ``name`` is what fits into its box, ``x`` and ``y`` are its upper left corner."""

    number: int
    role: str
    x: int
    y: int
    name: str
    formula: str
    remark: str


@dataclass(frozen=True)
class Line:
    """From one box to another, as the path of an SVG."""

    parent: int
    child: int
    path: str
    is_negated: bool


@dataclass(frozen=True)
class Ancestry:
    """``left_out`` features are too many; ``kept`` columns are features and parents of none."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: int
    height: int
    left_out: int
    kept: int


def ancestry(shown: ModelOnRows) -> Ancestry | None:
    """How columns became features; columns that were kept as they are stand apart."""
    fitted = shown.model.feature_set_
    by_pattern = shown.by_pattern
    roots = ancestry_roots(fitted, by_pattern=by_pattern)
    if not roots:
        return None
    graph = ancestry_graph(fitted, roots, limits.GRAPH_NODES, by_pattern=by_pattern)
    drawn = {node.number for node in graph.nodes}
    kept = sum(not fitted.iteration(number) and number not in drawn for number in fitted.features)
    boxes = _boxes(shown, graph)
    return Ancestry(
        boxes,
        _lines(graph, {box.number: box for box in boxes}),
        max(box.x for box in boxes) + _BOX_WIDTH,
        max(box.y for box in boxes) + _BOX_HEIGHT,
        graph.left_out,
        kept,
    )


def _boxes(shown: ModelOnRows, graph: AncestryGraph) -> tuple[Box, ...]:
    origins = shown.model.feature_set_.origins()
    step = "merge" if takes_one_pair(shown.model) else "iteration"
    boxes = []
    for node in graph.nodes:
        formula = shown.model._label(node.number, _NAME_LENGTH, whole=True)
        name = cut_to(formula, _TEXT_WIDTH, _TEXT_SIZE)
        x, y = _LEVEL_WIDTH * node.level, round(_PLACE_HEIGHT * node.place)
        remark = _remark(shown, node.number, step, origins.get(node.number))
        boxes.append(Box(node.number, node.role, x, y, name, formula, remark))
    return tuple(boxes)


def _lines(graph: AncestryGraph, boxes: dict[int, Box]) -> tuple[Line, ...]:
    """From the right end of one box to the left end of the other; level at both ends."""
    lines = []
    for edge in graph.edges:
        parent, child = boxes[edge.parent], boxes[edge.child]
        start = parent.x + _BOX_WIDTH
        across, down = child.x - start - 2 * _BEND, child.y - parent.y
        curve = f"c{across // 3} 0 {across - across // 3} {down} {across} {down}"
        path = f"M{start} {parent.y + _BOX_HEIGHT // 2}h{_BEND}{curve}h{_BEND}"
        lines.append(Line(edge.parent, edge.child, path, edge.negated))
    return tuple(lines)


def _remark(shown: ModelOnRows, number: int, step: str, merge: Merge | None) -> str:
    iteration = shown.model.feature_set_.iteration(number)
    made = "joined" if shown.by_pattern else "made"
    remarks = [f"{made} in {step} {iteration}" if iteration else "a column of the data"]
    if merge is not None:
        remarks.append(f"r = {decimal(merge.r, 2)}")
        if shown.by_pattern:
            remarks.append(f"gain {decimal(merge.saved, 1)} bits")
    if number in shown.lineage_supports:
        remarks.append(count(shown.lineage_supports[number], "row"))
    return ", ".join(remarks)
