"""FRINGE: the replication problem it was made for, and which paths it uses."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import conjunct
from conjunct import ConjunctWarning, Fringe, InputError, datasets
from conjunct.expressions import And, Not, Primitive

NAMES = [f"x{k}" for k in range(1, 8)]
# every combination of five variables that matter and two that do not
ALL = pd.DataFrame(list(itertools.product([False, True], repeat=7)), columns=NAMES)


def dnf(table):
    """x1 x2 ∨ x3 x4 x5"""
    return table["x1"] & table["x2"] | table["x3"] & table["x4"] & table["x5"]


def tree_for(table, y):
    return DecisionTreeClassifier(random_state=0).fit(table, y)


@pytest.mark.parametrize("drop_redundant", [False, True])
def test_the_replication_problem_is_solved(drop_redundant):
    model = Fringe(drop_redundant=drop_redundant).fit(ALL, dnf(ALL))
    before, after = tree_for(ALL, dnf(ALL)), tree_for(model.transform(ALL), dnf(ALL))
    assert before.score(ALL, dnf(ALL)) == after.score(model.transform(ALL), dnf(ALL)) == 1
    # on primitives x3 x4 x5 stands below x1 and again below x2
    assert after.get_n_leaves() < before.get_n_leaves()
    assert after.get_n_leaves() == 3
    x = dict(zip(NAMES, map(Primitive, NAMES), strict=True))
    assert And(x["x1"], x["x2"]) in model.features_
    assert And(x["x3"], x["x4"], x["x5"]) in model.features_


def test_unseen_rows_are_told_as_well_with_a_smaller_tree():
    rng = np.random.default_rng(0)
    train, test = (pd.DataFrame(rng.random((size, 7)) < 0.5, columns=NAMES) for size in (400, 2000))
    model = Fringe().fit(train, dnf(train))
    before, after = tree_for(train, dnf(train)), tree_for(model.transform(train), dnf(train))
    assert after.tree_.node_count < before.tree_.node_count
    accuracy = after.score(model.transform(test), dnf(test))
    assert accuracy >= before.score(test, dnf(test))


def test_a_boolean_y_is_explained_by_its_true_leaves_only():
    table = pd.DataFrame({"a": [1, 1, 0, 0] * 5, "b": [1, 0, 1, 0] * 5})
    a, b = Primitive("a"), Primitive("b")
    positive = Fringe(max_features=3).fit(table, table["a"] & table["b"])
    assert set(positive.features_) == {a, b, And(a, b)}
    for true, false in ((1, 0), (1.0, 0.0), (True, False)):
        y = np.where(table["a"] & table["b"], true, false)
        assert Fringe(max_features=3).fit(table, y).features_ == positive.features_
    # names of classes say nothing of which is the positive one
    y = np.where(table["a"] & table["b"], "yes", "no")
    both = Fringe(max_features=3).fit(table, y)
    assert set(both.features_) in (
        {a, b, And(a, b), And(a, Not(b))},
        {a, b, And(a, b), And(b, Not(a))},
    )


def test_each_class_has_its_own_paths():
    zoo = datasets.load_zoo()
    types = zoo.rows["type"]
    model = Fringe(max_features=16, min_samples_leaf=2).fit(zoo.values, types)
    assert model.classes_.tolist() == sorted(set(types))
    tree = DecisionTreeClassifier(random_state=0, min_samples_leaf=2).fit(zoo.values, types)
    assert len(model.features_) - 15 <= tree.get_n_leaves()
    assert len(model.features_) - 15 >= len(model.classes_)


@pytest.mark.parametrize("strategy", ["fringe", "root", "root-fringe"])
def test_the_order_of_rows_and_columns_does_not_matter(strategy):
    spect = datasets.load_spect()
    table = pd.DataFrame(spect.values, columns=spect.feature_names)
    y = np.array([label == "1" for label in next(iter(spect.rows.values()))])
    assert y.any()
    expected = Fringe(60, strategy=strategy).fit(table, y)
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(len(table)), rng.permutation(table.shape[1])
    actual = Fringe(60, strategy=strategy).fit(table.iloc[rows, columns], y[rows])
    assert set(actual.features_) == set(expected.features_)
    assert Fringe(60, strategy=strategy).fit(table, y).features_ == expected.features_


def test_saved_models_come_back_whole(tmp_path):
    model = Fringe(formula_style="ascii").fit(ALL, dnf(ALL))
    model.save(tmp_path / "model.json")
    loaded = conjunct.load(tmp_path / "model.json")
    assert type(loaded) is Fringe
    assert loaded.get_params() == model.get_params()
    pd.testing.assert_frame_equal(loaded.transform(ALL), model.transform(ALL))
    pd.testing.assert_frame_equal(
        pd.DataFrame(loaded.get_features("dict")), pd.DataFrame(model.get_features("dict"))
    )


def test_in_a_pipeline():
    pipeline = make_pipeline(Fringe(), LogisticRegression(C=100))
    assert pipeline.fit(ALL, dnf(ALL)).score(ALL, dnf(ALL)) == 1


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([True, False], "X has 128 rows but y has 2"),
        (np.linspace(0, 1, 128), "Unknown label type"),
        (np.zeros((128, 2)), "y should be a 1d array"),
    ],
)
def test_classes_are_checked(y, message):
    with pytest.raises(ValueError, match=message):
        Fringe().fit(ALL, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("criterion", "mse"), ("random_state", None), ("random_state", -1), ("strategy", "last")],
)
def test_parameters_are_checked_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} must be .*; got "):
        Fringe(**{name: value}).fit(ALL, dnf(ALL))


def test_one_class_gives_nothing_to_construct_from():
    with pytest.warns(ConjunctWarning, match="no feature was constructed"):
        model = Fringe().fit(ALL, np.ones(len(ALL), bool))
    assert len(model.features_) == 7
