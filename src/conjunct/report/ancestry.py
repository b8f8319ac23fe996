"""The ancestry of features, drawn so that one can follow it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from conjunct.explain import (
    AncestryGraph,
    ancestry_graph,
    ancestry_roots,
    count,
    decimal,
    takes_one_pair,
)
from conjunct.features import Merge
from conjunct.plots import ancestry_of
from conjunct.report import limits, page
from conjunct.report.model_on_rows import ModelOnRows

_NAME_LENGTH = 300


@dataclass(frozen=True)
class Ancestry:
    """``left_out`` features are too many; ``kept`` columns are features and parents of none."""

    graph: AncestryGraph
    picture: Markup
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
    picture = page.inline_svg(ancestry_of(shown.model, graph, ""), "graph", _marks(shown, graph))
    return Ancestry(graph, picture, kept)


def _marks(shown: ModelOnRows, graph: AncestryGraph) -> dict[str, dict[str, str]]:
    """What the script finds the boxes and lines of the picture by."""
    marks = {
        f"edge {edge.parent} {edge.child}": {
            "class": "edge",
            "data-p": str(edge.parent),
            "data-c": str(edge.child),
        }
        for edge in graph.edges
    }
    origins = shown.model.feature_set_.origins()
    for node in graph.nodes:
        formula = shown.model._label(node.number, _NAME_LENGTH, whole=True)
        remark = _remark(shown, node.number, origins.get(node.number))
        marks[f"node {node.number}"] = {
            "class": f"node {node.role}",
            "data-n": str(node.number),
            "data-formula": formula,
            "data-remark": remark,
            "role": "button",
            "tabindex": "0" if node is graph.nodes[0] else "-1",
            "aria-label": f"{formula}, {remark}",
        }
        marks[f"name {node.number}"] = {"class": "node-name", "data-n": str(node.number)}
    return marks


def _remark(shown: ModelOnRows, number: int, merge: Merge | None) -> str:
    iteration = shown.model.feature_set_.iteration(number)
    made = "joined" if shown.by_pattern else "made"
    step = "merge" if takes_one_pair(shown.model) else "iteration"
    remarks = [f"{made} in {step} {iteration}" if iteration else "a column of the data"]
    if merge is not None:
        remarks.append(f"r = {decimal(merge.r, 2)}")
        if shown.by_pattern:
            remarks.append(f"{decimal(merge.saved, 1)} bits saved")
    if number in shown.lineage_supports:
        remarks.append(count(shown.lineage_supports[number], "row"))
    return ", ".join(remarks)
