"""The criteria, one file each."""

from conjunct.construction.criteria.base import (
    CRITERIA,
    SEARCHES,
    Criterion,
    Judge,
    Search,
    criterion_of,
)
from conjunct.construction.criteria.bits import Bits
from conjunct.construction.criteria.risk import Risk
from conjunct.construction.criteria.threshold import Threshold

__all__ = [
    "CRITERIA",
    "SEARCHES",
    "Bits",
    "Criterion",
    "Judge",
    "Risk",
    "Search",
    "Threshold",
    "criterion_of",
]
