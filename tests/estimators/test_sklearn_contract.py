"""scikit-learn's own checks."""

import inspect

import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import conjunct
from conjunct import (
    CAT,
    UFC,
    Binarizer,
    ChunkClassifier,
    ClusteringTree,
    Fringe,
    ID2of3,
    Risk,
    RowGroups,
    Threshold,
    UFCPath,
    UFringe,
    XofN,
    datasets,
)

ZOO = datasets.load_zoo()

# three distinct rows and three columns: C0, and so the closest point, has no meaning
WITHOUT_COMPLEXITY = ("check_transformer_data_not_an_array", "check_transformer_general")


def expected_failures(estimator):
    if isinstance(estimator, UFCPath):
        return dict.fromkeys(WITHOUT_COMPLEXITY, "no more distinct rows than columns")
    if isinstance(estimator, RowGroups):
        # as GaussianMixture, which takes no sparse data
        sparse = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
        return dict.fromkeys(sparse, "expects only classifiers to have predict_proba")
    return {}


# on most of these tiny tables nothing can be constructed, or C0 is undefined; estimators say so
@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@parametrize_with_checks(
    [
        UFC(threshold=0.5),
        UFringe(threshold=0.5),
        Fringe(60, threshold=0.5),
        CAT(60, threshold=0.5),
        ID2of3(threshold=0.5),
        XofN(threshold=0.5),
        ClusteringTree(threshold=0.5),
        UFCPath(threshold=0.0),
        ChunkClassifier(UFC(threshold=0.5)),
        RowGroups(threshold=0.5),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@parametrize_with_checks(
    [
        UFC(Threshold(0.2, prune=True), threshold=0.5, search="pairwise", feature_names="formula"),
        UFringe(threshold=0.5, min_samples_leaf=1, drop_redundant=True),
        ID2of3(threshold=0.5, prune=False, drop_redundant=True),
        UFC(
            Risk(measure="npmi", test="exact", correction="bh", prune=False),
            threshold=0.5,
            feature_names="formula",
        ),
        UFC(
            Threshold(0.1, measure="jaccard", prune=True),
            threshold=0.5,
            min_support=0.01,
            feature_names="formula",
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_other_settings(estimator, check):
    check(estimator)


CONSTRUCTORS = [UFC, UFCPath, UFringe, Fringe, CAT, ID2of3, XofN]


@pytest.mark.parametrize("kind", [*CONSTRUCTORS, ClusteringTree, ChunkClassifier, Binarizer])
def test_no_class_attribute_shadows_a_parameter(kind):
    parameters = set(inspect.signature(kind).parameters)
    assert not parameters & {name for base in kind.__mro__ for name in vars(base)}
    assert not parameters & {"callback", "checkpoint", "given", "binarize", "style", "store"}


@pytest.mark.parametrize("kind", CONSTRUCTORS)
def test_a_callback_is_an_argument_of_fit_alone_and_in_pipelines(kind):
    table, y = ZOO.values, ZOO.values[:, 3] ^ ZOO.values[:, 5]
    for routing in (False, True):
        seen, again = [], []
        kind().fit(table, y, callback=seen.append)
        with config_context(enable_metadata_routing=routing):
            step = kind().set_fit_request(callback=True) if routing else kind()
            key = "callback" if routing else f"{kind.__name__.lower()}__callback"
            make_pipeline(step).fit(table, y, **{key: again.append})
        assert seen
        assert len(again) == len(seen)
    assert "callback" not in clone(kind()).get_params()


def test_at_most_45_names_at_the_top_level():
    assert len(conjunct.__all__) <= 45
