"""``ChunkClassifier``: against its oracle; weights, missing cells, files and explanations."""

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB

import naive_classifier
from conjunct import (
    UFC,
    Bits,
    ChunkClassifier,
    ConjunctWarning,
    InputError,
    ModelFileError,
    UFCPath,
    datasets,
    load,
)
from conjunct.columns import MaskedColumns, PackedColumns
from conjunct.estimators.classifier import ClassCode
from conjunct.features import RowCode
from tables import tables

ZOO = datasets.load_zoo()
TYPES = np.array(ZOO.rows["type"])
VOTES = datasets.load_house_votes_84()
PARTY = np.array(VOTES.rows["party"])
CELLS = np.where(VOTES.missing, np.nan, VOTES.values)
TAGS = [f"x{k}" for k in range(8)]


@st.composite
def labelled(draw):
    table = draw(tables(max_rows=20, max_columns=5, min_rows=2))
    n = len(table)
    return table, np.array(draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))


def baskets(table):
    return [[tag for tag, cell in zip(TAGS, row, strict=False) if cell] for row in table]


def merged(model):
    pattern = model.feature_set_.lineage.pattern
    merges = model.feature_set_.merges
    return [(frozenset(pattern(m.left)), frozenset(pattern(m.right))) for m in merges]


@given(labelled(), st.sampled_from([0.5, 1.0]), st.data())
def test_probabilities_are_the_oracles(data, smoothing, draw):
    table, classes = data
    model = ChunkClassifier(UFC(Bits(None)), smoothing=smoothing).fit(table, classes)
    merges, tags = merged(model.vocabulary_), TAGS[: table.shape[1]]
    cell = st.lists(st.booleans(), min_size=len(tags), max_size=len(tags))
    new = np.array(draw.draw(st.lists(cell, min_size=1, max_size=5)))
    found = model.predict_proba(new)
    for row, actual, name in zip(baskets(new), found, model.predict(new), strict=True):
        expected = naive_classifier.probabilities(
            row, baskets(table), classes.tolist(), tags, merges, smoothing, model.calibration_
        )
        assert actual == pytest.approx([expected[c] for c in model.classes_], rel=1e-9)
        assert expected[name] == pytest.approx(max(expected.values()))
    assert np.exp(model.predict_log_proba(new)) == pytest.approx(found)


@given(labelled(), st.sampled_from([0.5, 1.0]))
def test_as_many_merges_as_tell_the_classes_best(data, smoothing):
    table, classes = data
    model = ChunkClassifier(UFC(Bits(None)), smoothing=smoothing).fit(table, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        every = merged(UFC(Bits(None)).fit(table))
    tried = sorted({round(k * len(every) / 10) for k in range(11)})
    losses = {
        (n, calibration): loss
        for n in tried
        for calibration, loss in naive_classifier.losses_left_out(
            baskets(table), classes.tolist(), TAGS[: table.shape[1]], every[:n], smoothing
        ).items()
    }
    room = 1e-6 * max(min(losses.values()), 1)
    n_iter = model.vocabulary_.n_iter_
    assert (n_iter, model.calibration_) in losses
    assert merged(model.vocabulary_) == every[:n_iter]
    # room twice: for the calibration, and for the number of merges
    assert losses[n_iter, model.calibration_] <= min(losses.values()) + 3 * room


def test_without_a_merge_it_is_naive_bayes():
    model = ChunkClassifier(UFC(max_iter=0)).fit(ZOO.values, TYPES)
    expected = BernoulliNB().fit(ZOO.values, TYPES)
    assert (model.predict(ZOO.values) == expected.predict(ZOO.values)).all()
    given = expected.predict_proba(ZOO.values) ** model.calibration_
    given /= given.sum(axis=1, keepdims=True)
    assert model.predict_proba(ZOO.values) == pytest.approx(given)


def test_columns_that_are_repeated_make_it_no_surer():
    """Naive Bayes takes the copies for evidence of their own."""
    random = np.random.default_rng(0)
    classes = random.random(400) < 0.5
    rows = (random.random((400, 2)) < 0.3) ^ classes[:, None]
    once, thrice = (ChunkClassifier(UFC(max_iter=0)).fit(np.tile(rows, n), classes) for n in (1, 3))
    assert once.calibration_ >= 0.9
    assert 0.25 <= thrice.calibration_ <= 0.45
    assert thrice.predict_proba(np.tile(rows, 3)) == pytest.approx(
        once.predict_proba(rows), abs=0.05
    )


@given(labelled(), st.data())
def test_weights_are_repeated_rows(data, draw):
    table, classes = data
    n = len(table)
    weights = np.array(draw.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any)))
    one = ChunkClassifier(UFC(Bits(None))).fit(table, classes, sample_weight=weights)
    repeated = np.repeat(table, weights, axis=0), np.repeat(classes, weights)
    other = ChunkClassifier(UFC(Bits(None))).fit(*repeated)
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.vocabulary_.to_json() == other.vocabulary_.to_json()
    assert one.predict_proba(table) == pytest.approx(other.predict_proba(table), rel=1e-12)


@given(tables(max_columns=6, min_rows=2), st.data())
def test_answers_of_classes_are_counted(table, data):
    """With missing cells and variables: each class has the counts of its own rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        fitted = UFC(Bits(None)).fit(table).feature_set_
    n, m = table.shape
    variables = data.draw(st.lists(st.sampled_from([None, "u", "v"]), min_size=m, max_size=m))
    gone = data.draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))
    known, bits = ~np.array(gone).reshape(n, m), PackedColumns.from_table
    columns = MaskedColumns(bits(table & known), bits(known))
    code = RowCode.of(replace(fitted, variables=tuple(variables)))
    members = np.zeros((n, 2))
    members[::2, 0], members[1::2, 1] = 1, 3
    counted = ClassCode.count(code, columns, members, 1.0)
    assert counted.n_rows.tolist() == [len(table[::2]), 3 * len(table[1::2])]
    for which, rows in enumerate((range(0, n, 2), 3 * [*range(1, n, 2)])):
        part, _ = code.count_with_patterns(columns.take_rows(np.array(sorted(rows))))
        asked, true = np.concatenate(part[::2]), np.concatenate(part[1::2])
        end = code.n_questions
        assert counted.true[:, which].tolist() == true[:end].tolist()
        assert counted.false[:, which].tolist() == (asked - true)[:end].tolist()


def test_missing_cells():
    model = ChunkClassifier(UFC(missing="pairwise")).fit(CELLS, PARTY)
    assert model.vocabulary_.feature_set_.merges
    assert (model.predict(CELLS) == PARTY).mean() > 0.93
    with pytest.raises(InputError, match="missing"):
        ChunkClassifier(UFC(missing="raise")).fit(CELLS, PARTY)


def test_unseen_rows_are_told_better_than_by_columns():
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    rows = VOTES.values & ~VOTES.missing
    for scoring, gain in (("accuracy", 0.03), ("neg_log_loss", 0.3)):
        chunks = cross_val_score(ChunkClassifier(), rows, PARTY, cv=folds, scoring=scoring)
        columns = cross_val_score(BernoulliNB(), rows, PARTY, cv=folds, scoring=scoring)
        assert chunks.mean() > columns.mean() + gain


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, sp.csr_array, list])
def test_containers(make):
    expected = ChunkClassifier().fit(ZOO.values, TYPES).predict_proba(ZOO.values)
    data = {
        pl.DataFrame: lambda: pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names)),
        pd.DataFrame: lambda: pd.DataFrame(ZOO.values, columns=list(ZOO.feature_names)),
        sp.csr_array: lambda: sp.csr_array(ZOO.values),
        list: lambda: [
            [tag for tag, cell in zip(ZOO.feature_names, row, strict=True) if cell]
            for row in ZOO.values
        ],
    }[make]()
    model = ChunkClassifier().fit(data, TYPES.tolist())
    assert model.predict_proba(data) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("rows", "classes", "constructor"),
    [
        (VOTES.values & ~VOTES.missing, PARTY, None),
        (CELLS, PARTY == "democrat", UFC(missing="pairwise", min_support=0.05)),
        (ZOO.values, TYPES.astype(object), UFC(max_length=3, feature_names="formula")),
        (VOTES.values.astype(float), (PARTY == "democrat") * 2 - 1, UFC(threshold=0.5)),
    ],
)
def test_it_is_saved(rows, classes, constructor, tmp_path):
    model = ChunkClassifier(constructor, smoothing=0.5).fit(rows, classes)
    model.save(tmp_path / "c.json")
    again = ChunkClassifier.load(tmp_path / "c.json")
    assert (again.predict(rows) == model.predict(rows)).all()
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert again.explain(rows[:3], backend="dict") == model.explain(rows[:3], backend="dict")
    again.save(tmp_path / "d.json")
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "d.json").read_bytes()


def test_files_that_are_none(tmp_path):
    file = tmp_path / "c.json"
    ChunkClassifier().fit(VOTES.values, PARTY).save(file)
    with pytest.raises(ModelFileError, match="a conjunct-classifier file, not a conjunct-model"):
        load(file)
    UFC().fit(ZOO.values).save(tmp_path / "m.json")
    with pytest.raises(ModelFileError, match="a conjunct-model file, not a conjunct-classifier"):
        ChunkClassifier.load(tmp_path / "m.json")
    content = json.loads(file.read_text())
    for change in (
        {"version": 9},
        {"classes": []},
        {"classes": ["democrat", 3]},
        {"classes": ["democrat"]},
        {"class_rows": [1, 2]},
        {"true": content["true"][1:]},
        {"false": [[-1, 0], *content["false"][1:]]},
        {"true": [[10**6, 0], *content["true"][1:]]},
        {"smoothing": 0},
        {"calibration": 0},
        {"calibration": 1.05},
        {"more": 1},
    ):
        file.write_text(json.dumps(content | change))
        with pytest.raises(ModelFileError, match=str(file)):
            ChunkClassifier.load(file)


def test_explanations_add_up():
    model = ChunkClassifier(UFC(missing="pairwise")).fit(CELLS, PARTY)
    table = model.explain(CELLS[:20], top=None, backend="polars")
    columns = [f"bits if {name}" for name in model.classes_]
    total = table.group_by("row").agg(pl.col(columns).sum()).sort("row").select(columns).to_numpy()
    prior = -np.log2([np.mean(name == PARTY) for name in model.classes_])
    shares = 2.0 ** -(model.calibration_ * (total + prior))
    expected = shares / shares.sum(axis=1, keepdims=True)
    assert model.predict_proba(CELLS[:20]) == pytest.approx(expected)
    for line in table.to_dicts():
        bits = [line[name] for name in columns]
        assert line["speaks_for"] == model.classes_[int(np.argmin(bits))]
        assert math.isclose(line["by"], abs(bits[0] - bits[1]))
    few = model.explain(CELLS[:20], backend="polars")
    assert few.group_by("row").len()["len"].max() == 5
    assert few.filter(row=3).equals(table.filter(row=3).head(5))


def test_chunks_are_named_as_features_are():
    rows = [["<b>", "a + b"]] * 40 + [["<b>"]] * 20 + [["sky"]] * 60
    model = ChunkClassifier().fit(rows, ["x"] * 40 + ["y"] * 80)
    lines = model.explain([["<b>", "a + b"]], top=None, backend="dict")
    assert '"a + b" + <b>' in lines["chunk"] or '<b> + "a + b"' in lines["chunk"]


def test_one_class():
    model = ChunkClassifier().fit(ZOO.values, ["it"] * len(ZOO.values))
    assert set(model.predict(ZOO.values)) == {"it"}
    assert (model.predict_proba(ZOO.values) == 1).all()
    assert set(model.explain(ZOO.values[:1], backend="dict")["by"]) == {0.0}


def test_settings_are_searched():
    search = GridSearchCV(
        ChunkClassifier(UFC()), {"constructor__max_length": [2, None], "smoothing": [0.5, 1]}, cv=2
    ).fit(VOTES.values, PARTY)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ChunkClassifier(UFCPath()), "constructor must be None or a UFC; got"),
        (ChunkClassifier("bits"), "constructor must be None or a UFC; got 'bits'"),
        (ChunkClassifier(UFC(max_iter=-1)), "max_iter must be"),
        (ChunkClassifier(smoothing=0), "smoothing must be a number above 0, .*; got 0"),
        (ChunkClassifier(smoothing=math.inf), "smoothing must be a number above 0, .*; got inf"),
    ],
)
def test_parameters_that_cannot_be_used(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(ZOO.values, TYPES)


def test_classes_that_cannot_be_used():
    with pytest.raises(InputError, match="requires y to be passed, but the target y is None"):
        ChunkClassifier().fit(ZOO.values, None)
    with pytest.raises(InputError, match="X has 101 rows but y has 3: the numbers must be equal"):
        ChunkClassifier().fit(ZOO.values, [1, 2, 3])
    with pytest.raises(InputError, match="top must be"):
        ChunkClassifier().fit(ZOO.values, TYPES).explain(ZOO.values, top=0)
