"""How strongly two features go together, from exact counts (§3.2, §6.1, §6.2).

Everything here is a function of four integers: the number of rows ``n``, the two supports and the
joint count. They become floating-point numbers in the measures and the tests, and nowhere else.
"""

from conjunct.association.corrections import CORRECTIONS, Correction
from conjunct.association.measures import MEASURES, Measure, phi
from conjunct.association.pairs import Compared, Criterion, Line, Pairs, correlated_pairs
from conjunct.association.significance import (
    Floats,
    Test,
    exact_p_value,
    has_expected_frequencies,
    p_value,
    risk_threshold,
)

__all__ = [
    "CORRECTIONS",
    "MEASURES",
    "Compared",
    "Correction",
    "Criterion",
    "Floats",
    "Line",
    "Measure",
    "Pairs",
    "Test",
    "correlated_pairs",
    "exact_p_value",
    "has_expected_frequencies",
    "p_value",
    "phi",
    "risk_threshold",
]
