"""How strongly two features go together, from exact counts (§3.2, §6.1, §6.2).

Everything here is a function of four integers: the number of rows ``n``, the two supports and the
joint count. They become floating-point numbers in the measures and the tests, and nowhere else.
"""

from conjunct.association.corrections import CORRECTIONS, Correction, adjusted, significant
from conjunct.association.measures import MEASURES, Floats, Measure, MeasureInfo, lift, phi
from conjunct.association.pairs import (
    Compared,
    Line,
    PairFilter,
    Pairs,
    correlated_pairs,
    judged,
)
from conjunct.association.significance import (
    TESTS,
    Test,
    count_complete_pairs,
    count_tested_pairs,
    exact_p_value,
    has_expected_frequencies,
    p_value,
    risk_threshold,
)

__all__ = [
    "CORRECTIONS",
    "MEASURES",
    "TESTS",
    "Compared",
    "Correction",
    "Floats",
    "Line",
    "Measure",
    "MeasureInfo",
    "PairFilter",
    "Pairs",
    "Test",
    "adjusted",
    "correlated_pairs",
    "count_complete_pairs",
    "count_tested_pairs",
    "exact_p_value",
    "has_expected_frequencies",
    "judged",
    "lift",
    "p_value",
    "phi",
    "risk_threshold",
    "significant",
]
