"""Evaluation of feature sets: indicators, the Pareto front and the closest point."""

from conjunct.evaluation.indicators import (
    closest_point,
    complexity,
    mean_length,
    overlapping_index,
    pareto_front,
    rms,
)

__all__ = [
    "closest_point",
    "complexity",
    "mean_length",
    "overlapping_index",
    "pareto_front",
    "rms",
]
