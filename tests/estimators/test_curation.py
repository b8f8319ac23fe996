"""``suggest``, ``doubtful`` and ``relations`` of a model, for any data that ``fit`` takes."""

import base64
import json
import warnings
import zlib

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conjunct import (
    UFC,
    BooleanData,
    ConjunctWarning,
    InputError,
    ModelFileError,
    datasets,
)
from tables import tables

COCO = datasets.load_coco_street()
FRAME = pd.DataFrame(COCO.values, columns=list(COCO.feature_names))


def fit_quietly(data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return UFC().fit(data, **more)


def learned(model):
    suggester = model.learn_suggestions()
    return suggester.ridge, suggester.curves, np.sort(suggester.counts.joint, axis=None).tolist()


@pytest.mark.parametrize(
    "data",
    [
        COCO.values,
        sp.csr_array(COCO.values),
        dd.from_pandas(FRAME, npartitions=3),
        [[name for name in FRAME.columns if row[name]] for _, row in FRAME.iterrows()],
    ],
    ids=["array", "sparse", "dask", "baskets"],
)
def test_any_container_and_any_parts_give_the_same(data):
    model = fit_quietly(data)
    assert learned(model) == learned(fit_quietly(FRAME))


@given(tables(max_rows=20, min_rows=2), st.randoms(use_true_random=False))
def test_a_row_of_weight_w_is_w_rows(table, random):
    weights = np.array([random.randrange(4) for _ in table])
    if not weights.any() or not table[weights > 0].any():
        return
    model = fit_quietly(table, sample_weight=weights)
    repeated = fit_quietly(np.repeat(table, weights, axis=0))
    assert learned(model) == learned(repeated)
    assert model.suggest(table) == repeated.suggest(table)
    assert model.relations() == repeated.relations()


def test_other_rows_may_be_learned_from():
    half = fit_quietly(FRAME[:200])
    other = half.suggest(FRAME[:20], X_train=FRAME)
    whole = fit_quietly(FRAME)
    names = {one.tag for row in other for one in row}
    assert names <= set(FRAME.columns)
    assert other == whole.suggest(FRAME[:20])
    assert other != half.suggest(FRAME[:20])
    assert half.relations(FRAME) == whole.relations()


def test_more_rows_than_are_sampled(monkeypatch):
    plain = np.array(fit_quietly(FRAME).learn_suggestions().curves[0])
    monkeypatch.setattr("conjunct.counting.tally.MAX_CELLS", 5000)
    model = fit_quietly(FRAME)
    rows = model._sampled_rows.rows
    assert 3000 < rows.n_rows * rows.n_columns < 6000
    curve = np.array(model.learn_suggestions().curves[0])
    assert 0 < np.abs(curve - plain).max() < 0.5


def test_fewer_tags_are_named_in_a_warning(monkeypatch):
    monkeypatch.setattr("conjunct.estimators.ufc.KEPT_TAGS", 10)
    model = fit_quietly(FRAME)
    with pytest.warns(ConjunctWarning, match="using only the 10 most frequent of 37 tags"):
        found = model.suggest(FRAME[:30])
    frequent = set(FRAME.sum().sort_values(ascending=False).index[:10])
    assert {one.tag for row in found for one in row} <= frequent
    assert all(set(one.because) <= frequent for row in found for one in row)


def test_scores_below_the_least_are_left_out():
    model = fit_quietly(FRAME)
    every = model.suggest(FRAME, k=50)
    likely = model.suggest(FRAME, k=50, min_score=0.2)
    assert [[one for one in row if one.score >= 0.2] for row in every] == likely
    assert 0 < sum(map(len, likely)) < sum(map(len, every))


def test_a_missing_cell_may_be_suggested_and_counts_as_usual_elsewhere():
    random = np.random.default_rng(0)
    sea = random.random(500) < 0.5
    frame = pd.DataFrame({"sea": sea, "beach": sea ^ (random.random(500) < 0.05)})
    frame = frame.astype(object)
    frame.loc[random.random(500) < 0.2, "beach"] = None
    model = UFC(missing="pairwise").fit(frame)
    gap = pd.DataFrame({"sea": [True, False], "beach": [None, None]}, dtype=object)
    (found,), (unlikely, *_) = model.suggest(gap)
    assert (found.tag, found.because) == ("beach", ("sea",))
    assert found.score > 0.8 > 0.5 > unlikely.score


def test_values_of_a_variable():
    random = np.random.default_rng(0)
    size = random.integers(0, 3, 600)
    frame = pd.DataFrame({"size": np.array(["s", "m", "l"])[size]})
    frame["heavy"] = np.where((size == 2) ^ (random.random(600) < 0.05), "yes", "no")
    data = BooleanData.from_data(frame)
    model = UFC().fit(data)
    assert all(not one.tag.startswith("size") for row in model.suggest(data) for one in row)
    odd = frame[(frame["size"] != "l") & (frame.heavy == "yes")]
    for row in model.doubtful(data.read_like(odd)):
        assert "heavy" in {one.tag for one in row}
        assert row[0].because[0] in {"heavy", "size = s", "size = m"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"min_score": 1.5}, "min_score must be a number from 0 to 1"),
        ({"min_score": "high"}, "min_score must be a number from 0 to 1"),
    ],
)
def test_bad_parameters(options, said):
    with pytest.raises(InputError, match=said):
        fit_quietly(FRAME).suggest(FRAME, **options)


def test_an_empty_table_has_nothing_to_suggest():
    model = fit_quietly(np.zeros((5, 3), bool))
    assert model.suggest(np.zeros((2, 3), bool)) == [[], []]
    assert model.doubtful(np.zeros((2, 3), bool)) == [[], []]
    assert model.relations() == []


def test_a_saved_model_suggests_the_same(tmp_path):
    model = fit_quietly(FRAME)
    model.save(tmp_path / "model.json")
    again = UFC.load(tmp_path / "model.json")
    assert again.suggest(FRAME) == model.suggest(FRAME)
    assert again.doubtful(FRAME) == model.doubtful(FRAME)
    assert again.relations() == model.relations()
    assert again.to_json() == model.to_json()


def test_missing_cells_are_saved_too(tmp_path):
    cells = FRAME.astype(object).mask(np.random.default_rng(0).random(FRAME.shape) < 0.1, None)
    model = UFC(missing="pairwise").fit(cells)
    model.save(tmp_path / "model.json")
    again = UFC.load(tmp_path / "model.json")
    assert again.suggest(cells) == model.suggest(cells)
    assert again.relations() == model.relations()


def test_a_file_holds_counts_and_no_rows():
    model = fit_quietly(FRAME)
    kept = model.to_dict()["suggestions"]
    assert sorted(kept) == ["alone", "curves", "joint", "known", "ridge", "tags"]
    values = np.frombuffer(zlib.decompress(base64.b64decode(kept["joint"])), "<i8")
    cells = FRAME[sorted(FRAME.columns)].to_numpy(int)
    joint = cells.T @ cells
    assert values.tolist() == joint[np.triu_indices(len(joint))].tolist()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("tags", [1, 0]),
        ("tags", [0, 99]),
        ("curves", [[0.5]]),
        ("curves", [[0.5, 0.4] + [0.6] * 86]),
        ("ridge", -1.0),
        ("joint", base64.b64encode(b"none").decode()),
        ("joint", base64.b64encode(zlib.compress(bytes(1 << 20))).decode()),
        ("joint", base64.b64encode(zlib.compress(bytes(8 * 37 * 19))).decode()),
        ("known", base64.b64encode(zlib.compress(bytes(8 * 37 * 19))).decode()),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, part, value):
    content = fit_quietly(FRAME).to_dict()
    content["suggestions"][part] = value
    file = tmp_path / "model.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match=r"damaged model file.*suggestions"):
        UFC.load(file)


def test_a_model_without_counts_says_what_to_do(tmp_path):
    content = fit_quietly(FRAME).to_dict()
    del content["suggestions"]
    (tmp_path / "model.json").write_text(json.dumps(content))
    model = UFC.load(tmp_path / "model.json")
    with pytest.raises(InputError, match="pass rows as X_train"):
        model.suggest(FRAME)
    with pytest.raises(InputError, match="pass rows as X"):
        model.relations()
    assert model.suggest(FRAME[:5], X_train=FRAME) == fit_quietly(FRAME).suggest(FRAME[:5])
    assert model.to_dict() == content
