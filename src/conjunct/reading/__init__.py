"""Aids for reading a feature: its forms, a line of English, its ancestry, its neighbours."""

from conjunct.reading.ancestry import GraphFormat, ancestry
from conjunct.reading.correlations import Correlations, correlations
from conjunct.reading.english import english
from conjunct.reading.explanation import Contrast, Explanation, explanation
from conjunct.reading.findings import (
    Finding,
    births,
    findings,
    shown_pattern,
    supports_before,
)
from conjunct.reading.formulas import Formulas, formulas_of
from conjunct.reading.graph import Edge, Graph, Node, ancestry_graph, made_features
from conjunct.reading.labels import label, rule_text, share, shortened
from conjunct.reading.nearest import Neighbour, nearest_by_columns, nearest_by_primitives

__all__ = [
    "Contrast",
    "Correlations",
    "Edge",
    "Explanation",
    "Finding",
    "Formulas",
    "Graph",
    "GraphFormat",
    "Neighbour",
    "Node",
    "ancestry",
    "ancestry_graph",
    "births",
    "correlations",
    "english",
    "explanation",
    "findings",
    "formulas_of",
    "label",
    "made_features",
    "nearest_by_columns",
    "nearest_by_primitives",
    "rule_text",
    "share",
    "shortened",
    "shown_pattern",
    "supports_before",
]
