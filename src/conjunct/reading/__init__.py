"""Aids for reading a feature: its forms, a line of English, its ancestry, its neighbours."""

from conjunct.reading.ancestry import GraphFormat, ancestry
from conjunct.reading.english import english
from conjunct.reading.explanation import Contrast, Explanation, explanation
from conjunct.reading.formulas import Formulas, formulas_of
from conjunct.reading.nearest import Neighbour, nearest_by_columns, nearest_by_primitives

__all__ = [
    "Contrast",
    "Explanation",
    "Formulas",
    "GraphFormat",
    "Neighbour",
    "ancestry",
    "english",
    "explanation",
    "formulas_of",
    "nearest_by_columns",
    "nearest_by_primitives",
]
