"""``score``, ``log_prob`` and the two lengths: the complete code, wherever the rows are."""

import json
import math
import warnings

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import naive_code
from conjunct import (
    UFC,
    Bits,
    ConjunctWarning,
    InputError,
    ModelFileError,
    Risk,
    Threshold,
    UFCPath,
    datasets,
    files,
    load,
)
from tables import tables

ZOO = datasets.load_zoo()
VOTES = datasets.load_house_votes_84()
CELLS = np.where(VOTES.missing, np.nan, VOTES.values)

models = st.sampled_from(
    [
        UFC(Bits(None)),
        UFC(Bits(0.4), max_iter=3),
        UFC(Threshold(0.1), max_iter=3),
        UFC(Risk(0.2, prune=False), search="pairwise"),
        UFC(Bits(None), min_support=0.1),
        UFCPath(max_iter=3),
    ]
)


@st.composite
def old_and_new(draw):
    table = draw(tables(max_columns=6, min_rows=2))
    m = table.shape[1]
    row = st.lists(st.booleans(), min_size=m, max_size=m)
    return table, np.array(draw(st.lists(row, min_size=1, max_size=10)), bool)


def fitted(model, data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(data, **more)


def merges_of(model):
    return [(m.left, m.right, m.both, m.right_only, m.left_only) for m in model.feature_set_.merges]


@given(old_and_new(), models, st.randoms(use_true_random=False))
def test_rows_have_the_probabilities_of_the_definition(data, model, random):
    table, new = data
    try:
        fitted(model, table)
    except InputError:  # no feature reaches min_support
        return
    # columns that exclude each other may be recognised as a variable
    merges, variables = merges_of(model), model.feature_set_.variables
    for rows in (table, new):
        bits = naive_code.bits_after(table, merges, rows, variables)
        expected = [-each * math.log(2) for each in bits]
        assert model.log_prob(rows) == pytest.approx(expected, abs=1e-9)
        assert model.log_prob(sp.csr_array(rows)) == pytest.approx(expected, abs=1e-9)
        assert model.score(rows) == pytest.approx(-sum(bits) / len(rows))
    n_rows, m = table.shape
    bits = naive_code.bits_after(table, merges, table, variables)
    cost = naive_code.model_bits(len(merges), n_rows, m, table.any(axis=0).sum())
    assert model.description_length_ == pytest.approx(sum(bits) + cost)
    bare = naive_code.bits_after(table, [], table, variables)
    cost = naive_code.model_bits(0, n_rows, m, m)
    assert model.baseline_length_ == pytest.approx(sum(bare) + cost)


@given(old_and_new(), st.data())
def test_missing_cells_are_not_asked_for(data, cells):
    table, rows = (some.astype(float) for some in data)
    for some in (table, rows):
        gaps = st.lists(st.integers(0, some.size - 1), max_size=some.size // 2, unique=True)
        some.flat[cells.draw(gaps)] = np.nan
    model = fitted(UFC(Bits(None), missing="pairwise"), table)
    variables = model.feature_set_.variables
    for some in (table, rows):
        bits = naive_code.bits_after(table, merges_of(model), some, variables)
        found = model.log_prob(some)
        assert found == pytest.approx([-each * math.log(2) for each in bits], abs=1e-9)
        assert model.score(some) == pytest.approx(-sum(bits) / len(some), abs=1e-9)


@given(old_and_new(), st.randoms(use_true_random=False))
def test_the_order_of_columns_and_rows_is_of_no_account(data, random):
    table, new = data
    names = [f"c{k}" for k in range(table.shape[1])]
    model = fitted(UFC(Bits(None)), pd.DataFrame(table, columns=names))
    columns, rows = random.sample(names, len(names)), random.sample(range(len(table)), len(table))
    other = fitted(UFC(Bits(None)), pd.DataFrame(table, columns=names).iloc[rows][columns])
    frame = pd.DataFrame(new, columns=names)
    assert other.description_length_ == model.description_length_
    assert other.baseline_length_ == model.baseline_length_
    assert other.score(frame[columns]) == model.score(frame)
    assert other.log_prob(frame[columns]) == pytest.approx(model.log_prob(frame), abs=1e-12)


@given(tables(max_columns=5, min_rows=2), st.data())
def test_weights_are_repeated_rows(table, data):
    n = len(table)
    weights = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)))
    repeated = np.repeat(table, weights, axis=0)
    one = fitted(UFC(Bits(None)), table, sample_weight=weights)
    other = fitted(UFC(Bits(None)), repeated)
    assert one.to_json() == other.to_json()
    assert one.score(table, sample_weight=weights) == other.score(repeated)


def test_counts_are_the_same_wherever_the_rows_are(tmp_path):
    frame = pd.DataFrame(CELLS, columns=VOTES.feature_names).astype("boolean")
    whole = UFC(missing="pairwise").fit(frame)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    stream = files.stream(tmp_path / "votes.csv")
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame, npartitions=3)
        for rows in (stream, parts):
            other = UFC(missing="pairwise").fit(rows)
            counts = zip(
                whole.feature_set_.code_counts, other.feature_set_.code_counts, strict=True
            )
            assert all(np.array_equal(a, b) for a, b in counts)
            assert other.score(rows) == whole.score(frame)
            assert whole.score(rows) == whole.score(frame)
        with pytest.raises(InputError, match="compute"):
            whole.log_prob(parts)
    sparse = UFC(storage="sparse").fit(ZOO.values)
    bits = UFC(storage="dense").fit(ZOO.values)
    assert sparse.to_json() == bits.to_json()
    assert (sparse.log_prob(ZOO.values) == bits.log_prob(ZOO.values)).all()


@pytest.mark.parametrize(
    "model", [UFC(), UFC(min_support=0.1), UFC("risk"), UFCPath(), UFC(max_iter=0)]
)
def test_a_file_keeps_every_digit(model, tmp_path):
    model.fit(ZOO.values[:70])
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert (again.log_prob(ZOO.values) == model.log_prob(ZOO.values)).all()
    assert again.score(ZOO.values) == model.score(ZOO.values)
    assert again.description_length_ == model.description_length_
    assert again.baseline_length_ == model.baseline_length_
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda code: code["asked"].pop(), "code does not match its features"),
        (lambda code: code["asked"].__setitem__(0, 10**6), "code is out of range"),
        (lambda code: code["asked"].__setitem__(0, 1 << 62), "damaged model file"),
        (lambda code: code["asked"].__setitem__(0, -1), "damaged model file"),
        (lambda code: code["asked"].__setitem__(-1, 0), "code is out of range"),
        (lambda code: code.update(beside=[[0, 0]]), "code does not match its features"),
    ],
)
def test_a_code_that_cannot_be_is_refused(change, message, tmp_path):
    content = UFC().fit(ZOO.values).to_dict()
    change(content["code"])
    path = tmp_path / "m.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_truncated_model_needs_its_rows_again(tmp_path):
    model = UFC().fit(ZOO.values)
    short = model.truncate(18)
    for ask in (
        lambda: short.score(ZOO.values),
        lambda: short.log_prob(ZOO.values),
        lambda: short.description_length_,
        lambda: short.baseline_length_,
        lambda: short.check_drift(ZOO.values),
    ):
        with pytest.raises(InputError, match=r"use truncate\("):
            ask()
    counted = model.truncate(18, X_train=ZOO.values)
    expected = UFC(max_features=18).fit(ZOO.values)
    assert counted.score(ZOO.values) == expected.score(ZOO.values)
    assert counted.description_length_ == expected.description_length_
    assert model.truncate(100).score(ZOO.values) == model.score(ZOO.values)
    for other in (ZOO.values[:-1], ~ZOO.values):
        with pytest.raises(InputError, match="X_train differs from the data of fit"):
            model.truncate(18, X_train=other)
    short.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").features_ == short.features_


def test_rows_like_those_of_training_are_likelier():
    random = np.random.default_rng(0)
    table = random.random((400, 6)) < 0.3
    table[:, 3:] = table[:, :3] ^ (random.random((400, 3)) < 0.05)
    model, bare = UFC().fit(table[:200]), UFC(max_iter=0).fit(table[:200])
    assert model.score(table[200:]) > bare.score(table[200:])
    assert model.description_length_ < model.baseline_length_ == bare.baseline_length_
    assert bare.baseline_length_ == bare.description_length_
    assert (model.log_prob(table[200:]) < 0).all()


def test_variables_are_kept_in_a_file(tmp_path):
    table = pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names))
    model = UFC(variables={"v": ["hair", "feathers"]}).fit(table)
    path = tmp_path / "m.json"
    model.save(path)
    assert load(path).feature_set_.variables[:3] == ("v", "v", None)
    np.testing.assert_equal(load(path).feature_set_.code_counts, model.feature_set_.code_counts)
    for change, message in (
        ({"variables": ["v"]}, "the numbers of variables and columns differ"),
        ({"variables": []}, "code does not match its features"),
    ):
        path.write_text(json.dumps(model.to_dict() | change))
        with pytest.raises(ModelFileError, match=message):
            load(path)
