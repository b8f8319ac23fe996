"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conjunct import UFC


# on most of these tiny tables nothing can be constructed, or C0 has no meaning; UFC says so
@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@parametrize_with_checks([UFC(binarize=0.5), UFC(0.2, binarize=0.5, search="pairwise")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
