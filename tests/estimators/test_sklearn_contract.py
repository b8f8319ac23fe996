"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from conjunct import (
    CAT,
    UFC,
    ChunkClassifier,
    ClusteringTree,
    Fringe,
    ID2of3,
    Risk,
    Threshold,
    UFCPath,
    UFringe,
    XofN,
)

# three distinct rows and three columns: C0, and so the closest point, has no meaning
WITHOUT_COMPLEXITY = ("check_transformer_data_not_an_array", "check_transformer_general")


def expected_failures(estimator):
    if isinstance(estimator, UFCPath):
        return dict.fromkeys(WITHOUT_COMPLEXITY, "no more distinct rows than columns")
    return {}


# on most of these tiny tables nothing can be constructed, or C0 has no meaning; estimators say so
@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@parametrize_with_checks(
    [
        UFC(binarize=0.5),
        UFringe(binarize=0.5),
        Fringe(60, binarize=0.5),
        CAT(60, binarize=0.5),
        ID2of3(binarize=0.5),
        XofN(binarize=0.5),
        ClusteringTree(binarize=0.5),
        UFCPath(binarize=0.0),
        ChunkClassifier(UFC(binarize=0.5)),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@parametrize_with_checks(
    [
        UFC(Threshold(0.2, prune=True), binarize=0.5, search="pairwise", names="formula"),
        UFringe(binarize=0.5, min_samples_leaf=1, redundant="drop"),
        ID2of3(binarize=0.5, prune=False, redundant="drop"),
        UFC(
            Risk(measure="npmi", test="exact", correction="bh", prune=False),
            binarize=0.5,
            names="formula",
        ),
        UFC(
            Threshold(0.1, measure="jaccard", prune=True),
            binarize=0.5,
            min_support=0.01,
            names="formula",
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_other_settings(estimator, check):
    check(estimator)
