"""The UFC estimator: transform, rules, names, files, and what must not matter."""

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import conjunct
from conjunct import UFC, ConjunctWarning, InputError, Risk, datasets
from conjunct.columns import kernel as counting
from conjunct.expressions import And, Not, Primitive
from runs import settings_of
from tables import tables

COCO = datasets.load_coco_street()
FRAME = pd.DataFrame(COCO.values, columns=COCO.feature_names)


@pytest.fixture(scope="module")
def model():
    return UFC(Risk(prune=False), max_iter=3, feature_names="formula").fit(FRAME)


def test_transform_is_the_formulas_truth_on_combinations_never_seen(model):
    rng = np.random.default_rng(0)
    unseen = rng.random((50, FRAME.shape[1])) < 0.5
    with pytest.warns(ConjunctWarning, match="rows? holds? new combinations of tags, so some"):
        transformed = model.transform(pd.DataFrame(unseen, columns=FRAME.columns)).to_numpy()
    for row, values in enumerate(unseen.tolist()):
        named = dict(zip(FRAME.columns, values, strict=True))
        expected = [feature.evaluate(named) for feature in model.features_]
        assert transformed[row].tolist() == expected


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables(), st.sampled_from(["batch", "pairwise"]))
def test_inverse_transform_is_exact_on_training_rows(table, search):
    model = UFC(0.1, max_iter=4, search=search, feature_names="formula").fit(table)
    assert np.array_equal(model.inverse_transform(model.transform(table)), table)


def test_inverse_transform_wants_the_features_in_order(model):
    shuffled = model.transform(FRAME).iloc[:, ::-1]
    with pytest.raises(InputError, match="must be the features of this model"):
        model.inverse_transform(shuffled)


def test_kernels_and_threads_change_nothing(model, monkeypatch):
    monkeypatch.setattr(counting, "_PAIRS_PER_THREAD", 1)
    threaded = UFC(Risk(prune=False), max_iter=3, n_jobs=2, feature_names="formula").fit(FRAME)
    monkeypatch.setattr(counting, "native", None)
    plain = UFC(Risk(prune=False), max_iter=3, feature_names="formula").fit(FRAME)
    for other in (threaded, plain):
        assert other.features_ == model.features_
        # NaN differs from itself: Python 3.13 compares field by field
        assert list(map(repr, other.history_)) == list(map(repr, model.history_))
        assert other.feature_set_.merges == model.feature_set_.merges


def test_rules_say_why(model):
    rules = model.get_features()
    assert list(rules.columns) == [
        "pattern", "rule", "support", "frequency", "length", "iteration", "parents",
    ]  # fmt: skip
    assert rules["rule"].tolist() == model.get_feature_names_out().tolist()
    assert rules["pattern"].tolist() == list(model.feature_set_.pattern_texts)
    transformed = model.transform(FRAME)
    assert rules["support"].tolist() == transformed.sum().tolist()
    assert np.allclose(rules["frequency"], transformed.mean())
    assert rules["length"].tolist() == [feature.length for feature in model.features_]
    primitives = rules["iteration"] == 0
    assert rules.loc[primitives, "rule"].isin(FRAME.columns).all()
    merges = model.get_rules()
    assert len(merges) == len(model.feature_set_.merges)
    assert (merges["r"] >= model.threshold_).all()
    assert (merges["p_value"] <= 0.001).all()
    first = merges.iloc[0]
    left, right = FRAME[first["left"]], FRAME[first["right"]]
    assert first["r"] == pytest.approx(np.corrcoef(left, right)[0, 1])
    for merge in merges.itertuples():
        tags = merge.chunk.split(" + ")
        if not np.isnan(merge.lift):
            assert merge.rows == FRAME[tags].all(axis=1).sum()


def test_rules_as_other_tables(model):
    columns = model.get_features("dict")
    assert model.get_features("polars").to_dict(as_series=False)["rule"] == columns["rule"]
    assert model.get_features("pyarrow").column_names == list(columns)


def test_rules_without_the_table_library(model):
    with pytest.raises(ImportError, match="a table needs cudf: pip install cudf, or ask for"):
        model.get_features("cudf")


def test_rows_behind_a_feature(model):
    transformed = model.transform(FRAME).to_numpy()
    for feature in (0, len(model.features_) - 1):
        expected = np.flatnonzero(transformed[:, feature]).tolist()
        assert model.find_rows(feature, FRAME).tolist() == expected
        assert model.find_rows(model.features_[feature], FRAME).tolist() == expected
        assert model.find_rows(model.features_[feature].text("ascii"), FRAME).tolist() == expected
    with pytest.raises(InputError, match="there is no feature zebra"):
        model.find_rows("zebra", FRAME)
    with pytest.raises(InputError, match="there is no feature 999"):
        model.find_rows(999, FRAME)
    with pytest.raises(InputError, match="a position, a formula or its text, not ndarray"):
        model.explain(np.zeros((2, 2)))
    assert model.find_rows(np.int64(1), FRAME).tolist() == model.find_rows(1, FRAME).tolist()


def test_names_out_follow_the_columns():
    table = np.array([[1, 1], [1, 1], [0, 0], [1, 0]], bool)
    model = UFC(0.1, max_iter=1, feature_names="formula").fit(table)
    assert model.get_feature_names_out().tolist() == ["x0 ∧ x1", "x0 ∧ ¬x1"]
    assert model.get_feature_names_out(["sky", "sea"]).tolist() == ["sky ∧ sea", "sky ∧ ¬sea"]
    with pytest.raises(ValueError, match="length equal to number of features"):
        model.get_feature_names_out(["sky"])
    with pytest.raises(InputError, match="two columns are called 'sky'"):
        model.get_feature_names_out(["sky", "sky"])
    named = UFC(0.1, max_iter=1, formula_style="ascii", feature_names="formula").fit(
        pd.DataFrame(table, columns=["a", "b"])
    )
    assert named.get_feature_names_out(["a", "b"]).tolist() == ["a & b", "a & ~b"]
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(["b", "a"])


def test_features_are_expressions():
    table = pd.DataFrame({"water": [1, 1, 1, 0], "cascade": [1, 1, 0, 0]})
    model = UFC(0.1, max_iter=1, feature_names="formula").fit(table)
    water, cascade = Primitive("water"), Primitive("cascade")
    # there is no cascade without water: ¬water ∧ cascade is empty and dropped
    assert set(model.features_) == {And(water, cascade), And(water, Not(cascade))}


def test_saved_models_come_back_whole(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    for loaded in (UFC.load(path), conjunct.load(path)):
        assert settings_of(loaded) == settings_of(model)
        assert loaded.features_ == model.features_
        assert str(loaded.history_) == str(model.history_)
        assert loaded.threshold_ == model.threshold_
        assert loaded.n_iter_ == model.n_iter_
        assert loaded.get_features().equals(model.get_features())
        assert loaded.transform(FRAME).equals(model.transform(FRAME))
        assert loaded.inverse_transform(model.transform(FRAME)).equals(FRAME)
    before = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == before
    assert json.loads(before)["version"] == 3


def test_models_without_names_or_complexity_come_back_too(tmp_path):
    table = np.repeat(np.eye(3, dtype=bool), 20, axis=0)[:, [0, 0, 1, 1]]
    model = UFC(max_iter=1).fit(table)
    model.save(tmp_path / "model.json")
    loaded = UFC.load(tmp_path / "model.json")
    assert not hasattr(loaded, "feature_names_in_")
    assert np.isnan(loaded.history_[-1].c0)
    assert np.array_equal(loaded.transform(table), model.transform(table))


def test_a_callback_gets_the_indicators_of_each_iteration():
    seen = []
    model = UFC(max_iter=1).fit(FRAME, callback=seen.append)
    assert [line.iteration for line in seen] == [0, 1]
    assert seen == list(model.history_)


def test_verbose_says_a_line_an_iteration(capsys):
    UFC(max_iter=2, verbose=1).fit(FRAME)
    lines = capsys.readouterr().out.splitlines()
    expected, *lines = lines
    wanted = r"expected: about 1 s and [\d.]+ MB of memory, more if many features are made"
    assert re.fullmatch(wanted, expected)
    assert [line.split(":")[0] for line in lines] == ["iteration 0", "iteration 1", "iteration 2"]
    assert lines[0].startswith("iteration 0: 37 features, length 1.00, OI 0.0")


def test_pickle_and_clone(model):
    copy = pickle.loads(pickle.dumps(model))
    assert copy.features_ == model.features_
    assert copy.transform(FRAME).equals(model.transform(FRAME))
    assert not hasattr(clone(model), "feature_set_")


def test_in_a_pipeline_and_a_grid_search():
    spect = datasets.load_spect()
    y = np.array(spect.rows["class"]) if "class" in spect.rows else spect.values[:, 0]
    pipeline = make_pipeline(UFC(handle_unknown="keep"), LogisticRegression(max_iter=500))
    factors = {"ufc__criterion__factor": [0.5, 1.0]}
    search = GridSearchCV(pipeline, factors, cv=2).fit(spect.values, y)
    assert search.best_score_ > 0.5
    names = search.best_estimator_[:-1].get_feature_names_out()
    assert len(names) == search.best_estimator_[-1].n_features_in_


@pytest.mark.parametrize("name", ["spect", "zoo", "coco_street", "coco_val2017"])
def test_pairwise_comes_closer_to_the_ideal_than_the_batch(name):
    table = datasets.load(name).values
    batch, pairwise = UFC("risk").fit(table), UFC("risk", search="pairwise").fit(table)
    assert pairwise.history_[-1].rms < batch.history_[-1].rms
    # each step lowers the sum of supports by the joint count of the pair it replaces
    supports = sum(pairwise.feature_set_.supports)
    assert supports + sum(m.joint for m in pairwise.feature_set_.merges) == table.sum()


def test_max_length_bounds_every_formula():
    model = UFC(0.05, max_iter=6, max_length=3, feature_names="formula").fit(FRAME)
    assert max(feature.length for feature in model.features_) == 3
    assert (
        max(f.length for f in UFC(0.05, max_iter=6, feature_names="formula").fit(FRAME).features_)
        > 3
    )
