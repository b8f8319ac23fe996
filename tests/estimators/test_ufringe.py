"""uFRINGE: the paper's figures, what must not matter, and all that it shares with UFC."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conjunct
from conjunct import ConjunctWarning, InputError, UFringe, datasets
from conjunct.columns import kernel as counting
from conjunct.errors import ModelFileError
from conjunct.estimators.integrations import distinct_names
from conjunct.expressions import canonical_text
from conjunct.features.feature_set import FeatureSet
from conjunct.features.lineage import Lineage

SPECT = datasets.load_spect()
FRAME = pd.DataFrame(SPECT.values, columns=SPECT.feature_names)


@pytest.fixture(scope="module")
def model():
    return UFringe().fit(FRAME)


def texts(model):
    return sorted(map(canonical_text, model.features_))


def test_the_papers_row_for_spect(model):
    # the paper: 307 features, length 2.90, OI 0.25, C0 1.45; its tree's limits are not printed
    line = model.history_[-1]
    assert 300 <= line.n_features <= 330
    assert 2.6 <= line.length <= 3.3
    assert line.oi == pytest.approx(0.25, abs=0.01)
    assert line.c0 == pytest.approx(1.45, abs=0.12)
    assert len(set(model.features_)) < len(model.features_)  # doubles
    assert any(e.length > len(e.literals) for e in model.features_)  # f2 ∧ f1 ∧ f2 ∧ f3


@pytest.mark.parametrize("seed", [0, 1])
def test_same_features_for_any_order_of_rows_and_columns(model, seed):
    rng = np.random.default_rng(seed)
    shuffled = FRAME.iloc[rng.permutation(len(FRAME)), rng.permutation(FRAME.shape[1])]
    other = UFringe().fit(shuffled)
    assert texts(other) == texts(model)
    # up to the order in which floats are added up
    assert other.history_[-1].length == pytest.approx(model.history_[-1].length)
    assert other.history_[-1].oi == model.history_[-1].oi


def test_kernels_and_threads_change_nothing(model, monkeypatch):
    monkeypatch.setattr(counting, "_PAIRS_PER_THREAD", 1)
    assert UFringe(n_jobs=2).fit(FRAME).features_ == model.features_
    monkeypatch.setattr(counting, "native", None)
    assert UFringe().fit(FRAME).features_ == model.features_


def test_all_features_of_the_last_iteration_are_added(model):
    sizes = [line.n_features for line in model.history_]
    assert sizes[-2] < 300 <= sizes[-1]
    assert len(UFringe(sizes[2]).fit(FRAME).features_) == sizes[2]
    assert len(UFringe(sizes[2] + 1).fit(FRAME).features_) == sizes[3]


def test_many_rows_do_not_pass_the_limit_far():
    table = np.random.default_rng(0).random((6000, 12)) < 0.5
    for most in (40, 150, 250):
        model = UFringe(max_features=most).fit(table)
        assert most <= len(model.features_) <= most + 100


def test_dropping_leaves_each_column_once():
    model = UFringe(drop_redundant=True).fit(FRAME)
    transformed = model.transform(FRAME)
    assert not transformed.T.duplicated().any()
    assert transformed.any().all()
    assert all(e.length == len(e.literals) for e in model.features_)
    assert len(model.features_) >= 300


def test_strategies_join_other_conditions():
    chosen = {
        strategy: set(UFringe(strategy=strategy, max_features=23).fit(FRAME).features_[22:])
        for strategy in ("fringe", "root", "root-fringe")
    }
    assert len(chosen["root"]) == 4  # two conditions from the root make four paths
    assert len(set(map(len, chosen.values()))) == 3


def test_rules_say_in_which_iteration_and_from_what(model):
    rules = model.get_features()
    assert list(rules.columns) == [
        "pattern",
        "rule",
        "support",
        "frequency",
        "length",
        "iteration",
        "parents",
    ]
    assert rules["support"].tolist() == model.transform(FRAME).sum().tolist()
    assert rules["iteration"].tolist() == sorted(rules["iteration"])
    first_of = {rule: k for k, rule in reversed(list(enumerate(rules["rule"])))}
    for row in rules.itertuples():
        assert len(row.parents) == (2 if row.iteration else 0)
        for parent in row.parents:
            assert rules["iteration"][first_of[parent]] < row.iteration


def test_doubles_have_column_names_of_their_own():
    table = pl.DataFrame({"a": [1, 1, 0, 1], "b": [1, 1, 1, 0], "c": [1, 0, 1, 1]})
    lineage = Lineage(table.columns)
    a_b, b_c = lineage.conjoin(0, 1), lineage.conjoin(1, 2)
    doubles = (lineage.conjoin(a_b, 2), lineage.conjoin(0, b_c))
    model = UFringe(4, min_samples_leaf=1).fit(table)
    model.feature_set_ = FeatureSet(lineage, doubles, (1, 1), 4, (1, 1, 2, 2))
    assert model.transform(table).to_dict(as_series=False) == {
        "a ∧ b ∧ c": [True, False, False, False],
        "a ∧ b ∧ c [2]": [True, False, False, False],
    }
    assert model.get_feature_names_out(table.columns).tolist() == model.transform(table).columns
    assert model.get_features("dict")["rule"] == ["a ∧ b ∧ c"] * 2


@given(st.lists(st.sampled_from(["a", "b", "a [2]", "a [3]", "a [2] [2]"])))
def test_names_are_told_apart(names):
    distinct = distinct_names(names)
    assert len(set(distinct)) == len(names)
    for k, (name, own) in enumerate(zip(names, distinct, strict=True)):
        assert own.startswith(name)
        assert (own == name) == (name not in names[:k])


def test_saved_models_come_back_whole(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    for loaded in (conjunct.load(path), UFringe.load(path)):
        assert type(loaded) is UFringe
        assert loaded.get_params() == model.get_params()
        assert loaded.features_ == model.features_
        # bits are not counted there, and NaN is not equal to itself
        assert repr(loaded.history_) == repr(model.history_)
        pd.testing.assert_frame_equal(loaded.get_features("pandas"), model.get_features("pandas"))
        pd.testing.assert_frame_equal(loaded.transform(FRAME), model.transform(FRAME))


def added(file):
    return file["added"][0][0]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file["added"].append([]), "an iteration adds nothing"),
        (lambda file: file["added"].append(file["added"][-1]), "a feature occurs twice"),
        (lambda file: added(file).update(literals=[0, 10**6]), "a feature refers to later ones"),
        (lambda file: added(file).update(literals=[0, 1, 2]), "does not have two literals"),
        (lambda file: added(file).update(number=9), "the threshold of a count is out of range"),
        (lambda file: added(file).update(support=10**6), "a support is out of range"),
        (lambda file: added(file).update(support=len(FRAME)), "more rows than one of its parts"),
        (lambda file: added(file).pop("support"), "missing required field"),
        (lambda file: file.update(dropped=[10**6]), "a dropped column does not exist"),
        (lambda file: file.update(null_rows=3), "this kind of model cannot have merges"),
        (lambda file: file["parameters"].update(strategy="last"), "strategy must be"),
        (lambda file: file.update(kind="UFC"), "UFC"),
    ],
)
def test_damaged_files_are_refused(model, tmp_path, damage, message):
    path = tmp_path / "model.json"
    model.save(path)
    file = json.loads(path.read_text())
    damage(file)
    path.write_text(json.dumps(file))
    with pytest.raises(ModelFileError, match=message):
        conjunct.load(path)


def test_progress_is_told(capsys):
    seen = []
    model = UFringe(60, verbose=1).fit(FRAME, callback=seen.append)
    assert tuple(seen) == model.history_
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        f"iteration {k}" for k in range(model.n_iter_ + 1)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_features": 22}, "max_features is 22, but there are already 22 columns"),
        ({"min_samples_leaf": 200}, "Try a smaller min_samples_leaf"),
    ],
)
def test_nothing_constructed_is_explained(options, message):
    with pytest.warns(ConjunctWarning, match=message):
        model = UFringe(**options).fit(FRAME)
    assert len(model.features_) == 22
    assert model.n_iter_ == 0


PARAMETERS = {
    "max_features": [0, -1, 2.5, None, True],
    "strategy": ["citre", None, 2],
    "drop_redundant": ["drop", None, 1],
    "max_depth": [0, 1.5],
    "min_samples_split": [1, 0.0, 1.5, None, True],
    "min_samples_leaf": [0, 1.0, -0.5, "4"],
    "min_impurity_decrease": [-0.1, None],
    "max_leaf_nodes": [1, 2.5],
    "threshold": ["yes"],
    "formula_style": ["html"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARAMETERS.items() for value in values]
)
def test_parameters_are_checked_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} must be .*; got "):
        UFringe(**{name: value}).fit(FRAME)


def test_shares_of_rows_stand_for_rows():
    assert (
        UFringe(80, min_samples_leaf=4 / 267).fit(FRAME).features_
        == UFringe(80, min_samples_leaf=4).fit(FRAME).features_
    )
