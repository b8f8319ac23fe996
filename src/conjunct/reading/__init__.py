"""Aids for reading a feature: its forms, a line of English, its ancestry, its neighbours."""

from conjunct.reading.ancestry import GraphFormat, ancestry
from conjunct.reading.correlations import Correlations, correlations
from conjunct.reading.english import english
from conjunct.reading.explanation import Contrast, Explanation, explanation
from conjunct.reading.formulas import Formulas, formulas_of
from conjunct.reading.graph import Edge, Graph, Node, ancestry_graph
from conjunct.reading.labels import label, shortened
from conjunct.reading.nearest import Neighbour, nearest_by_columns, nearest_by_primitives

__all__ = [
    "Contrast",
    "Correlations",
    "Edge",
    "Explanation",
    "Formulas",
    "Graph",
    "GraphFormat",
    "Neighbour",
    "Node",
    "ancestry",
    "ancestry_graph",
    "correlations",
    "english",
    "explanation",
    "formulas_of",
    "label",
    "nearest_by_columns",
    "nearest_by_primitives",
    "shortened",
]
