"""Evaluation of feature sets: indicators, the Pareto front and the closest point."""

from conjunct.evaluation.bits import description_length
from conjunct.evaluation.indicators import (
    closest_point,
    complexity,
    mean_length,
    mean_length_of,
    overlapping_index,
    pareto_front,
    rms,
)

__all__ = [
    "closest_point",
    "complexity",
    "description_length",
    "mean_length",
    "mean_length_of",
    "overlapping_index",
    "pareto_front",
    "rms",
]
