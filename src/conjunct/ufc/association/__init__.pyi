"""The strength of the association of two features, from exact counts (paper, 3.2, 6.1 and 6.2).

Everything here is a function of four integers: the number of rows ``n``, the two supports and the
joint count. They become floating-point numbers in the measures and the tests, and nowhere else.
"""

from .candidates import Cutoff as Cutoff
from .candidates import PairFilter as PairFilter
from .candidates import Pairs as Pairs
from .candidates import correlated_pairs as correlated_pairs
from .candidates import make_cutoff as make_cutoff
from .candidates import with_evidence as with_evidence
from .measures import MEASURES as MEASURES
from .measures import Floats as Floats
from .measures import covariance as covariance
from .measures import evidence as evidence
from .measures import lift as lift
from .measures import phi as phi
from .measures import x_log2_x as x_log2_x
from .significance import CORRECTIONS as CORRECTIONS
from .significance import TESTS as TESTS
from .significance import adjust_p_values as adjust_p_values
from .significance import count_complete_pairs as count_complete_pairs
from .significance import count_tested_pairs as count_tested_pairs
from .significance import exact_p_value as exact_p_value
from .significance import has_expected_frequencies as has_expected_frequencies
from .significance import p_value as p_value
from .significance import risk_threshold as risk_threshold
from .significance import significant as significant
