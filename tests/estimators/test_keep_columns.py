"""``keep_columns``: the columns first, then the features of two tags or more, everywhere."""

import warnings

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import naive_bits
from conjunct import UFC, Bits, ConjunctWarning, InputError, UFCPath, UFringe, datasets, load
from conjunct.explain import Summary
from tables import named, tables

BASKETS = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
UNSEEN = [["cascade"], [], ["sky", "water"], ["cascade", "sky", "water"]]
NAMES = ["cascade", "sky", "water", "cascade + water"]
ZOO = datasets.load_zoo()


def fitted(model, data):
    """That nothing was constructed is not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(data)


@given(tables(), st.sampled_from([None, 0.4]))
def test_columns_then_features_of_two_tags_or_more(table, alpha):
    stages = naive_bits.run(named(table), alpha)
    chunks = [column for _, pattern, column in stages[-1][0] if len(pattern) > 1]
    expected = np.column_stack([*table.T, *map(np.array, chunks)])
    model = fitted(UFC(Bits(alpha), keep_columns=True), table)
    assert (model.transform(table) == expected).all()
    assert len(set(model.get_feature_names_out())) == expected.shape[1]
    without = fitted(UFC(Bits(alpha)), table)
    assert model.features_ == without.features_
    assert model.score(table) == without.score(table)
    assert model.chunks(table) == without.chunks(table)


@given(tables())
def test_what_is_left_out_follows_from_what_is_given(table):
    given = fitted(UFC(Bits(None), keep_columns=True), table).transform(table)
    model = fitted(UFC(Bits(None)), table)
    made = model.transform(table)
    columns = given[:, : table.shape[1]].astype(int)
    for number, pattern in enumerate(model.patterns_):
        if len(pattern) > 1:
            continue
        holding = [k for k, other in enumerate(model.patterns_) if {*pattern} < {*other}]
        column = columns[:, model.feature_set_.lineage.primitives.index(*pattern)]
        assert (made[:, number] == column - made[:, holding].sum(axis=1)).all()


@given(tables(), st.data())
def test_every_row_there_could_be_comes_back_without_a_warning(table, data):
    model = fitted(UFC(Bits(None), keep_columns=True), table)
    row = st.lists(st.booleans(), min_size=table.shape[1], max_size=table.shape[1])
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=8)))
    assert (model.inverse_transform(model.transform(rows)) == rows).all()


def test_missing_cells_come_back_too():
    votes = datasets.load_house_votes_84()
    cells = np.where(votes.missing, np.nan, votes.values)
    rows = pd.DataFrame(cells, columns=list(votes.feature_names)).head(60)
    assert rows.isna().any(axis=None)
    model = UFC(keep_columns=True, missing="pairwise").fit(rows)
    assert model.feature_set_.merges
    back = model.inverse_transform(model.transform(rows))
    np.testing.assert_array_equal(back.to_numpy(float, na_value=np.nan), rows.to_numpy())


def test_suppressed_features_lose_nothing():
    model = UFC(keep_columns=True, min_support=0.4).fit(BASKETS)
    assert model.get_feature_names_out().tolist() == NAMES[:3]
    assert model.suppressed_
    assert model.inverse_transform(model.transform(UNSEEN)) == UNSEEN


def test_combinations_training_never_saw():
    model = UFC(keep_columns=True).fit(BASKETS)
    assert model.transform(UNSEEN)[0] == ["cascade"]
    complete = UFC(keep_columns=True, handle_unknown="keep").fit(BASKETS)
    assert complete.get_feature_names_out().tolist() == NAMES
    assert complete.inverse_transform(complete.transform(UNSEEN)) == UNSEEN


def test_names():
    model = UFC(keep_columns=True).fit(BASKETS)
    assert model.get_feature_names_out().tolist() == NAMES
    model.set_params(feature_names="formula")
    assert model.get_feature_names_out().tolist() == [*NAMES[:3], "cascade ∧ water"]
    unnamed = UFC(keep_columns=True).fit(np.array([[1, 1], [0, 0]] * 20))
    assert unnamed.get_feature_names_out(["b", "a"]).tolist() == ["b", "a", "a + b"]


def test_hostile_names_stay_apart():
    odd = ["a", "b (rest)", "a + b", '"', "", "a ∧ b", "<script>", "line\nbreak"]
    table = np.repeat(np.vstack([np.eye(8), np.ones((1, 8))]), 20, axis=0).astype(bool)
    for kind in ("tags", "formula"):
        frame = pl.DataFrame(table, schema=odd)
        model = UFC(keep_columns=True, feature_names=kind).fit(frame)
        assert model.feature_set_.merges
        assert model.transform(frame).columns == model.get_feature_names_out().tolist()
        assert model.inverse_transform(model.transform(frame)).equals(frame)


def test_neighbours_have_the_names_of_features():
    kept, without = (UFC(keep_columns=kept).fit(ZOO.values) for kept in (True, False))
    assert kept.similar_features(3, n=4) == without.similar_features(3, n=4)
    assert kept.similar_features(3, ZOO.values, n=4) == without.similar_features(3, ZOO.values, n=4)


def test_containers():
    frame = pd.DataFrame(ZOO.values, columns=list(ZOO.feature_names))
    model = UFC(keep_columns=True).fit(frame)
    made = model.transform(frame)
    assert made.columns[:15].tolist() == list(ZOO.feature_names)
    unnamed = UFC(keep_columns=True).fit(sp.csr_array(ZOO.values))
    assert (unnamed.transform(sp.csr_array(ZOO.values)).toarray() == made).all(axis=None)
    in_parts = model.transform(dd.from_pandas(frame, npartitions=2)).compute()
    pd.testing.assert_frame_equal(in_parts, made)


def test_exports_give_what_transform_gives():
    frame = pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names))
    model = UFC(keep_columns=True).fit(frame)
    expected = model.transform(frame)
    assert frame.select(model.to_polars()).equals(expected)
    assert duckdb.sql(model.to_sql("frame")).pl().equals(expected)
    scope = {}
    exec(model.to_python(), scope)
    assert pl.DataFrame(list(map(scope["features"], frame.to_dicts()))).equals(expected)
    with pytest.raises(InputError, match="keep: a feature has the same name, 'hair'"):
        model.to_sql("frame", keep=["hair"])


def test_a_report_says_so():
    for model in (UFC(keep_columns=True), UFCPath(max_iter=2, keep_columns=True)):
        said = Summary(model.fit(ZOO.values)).method[0].text
        assert said.endswith("returns the columns first, then the features of two or more tags.")
    assert "returns the columns first" not in Summary(UFC().fit(ZOO.values)).method[0].text


def test_it_is_saved(tmp_path):
    for model in (UFC(keep_columns=True), UFCPath(max_iter=2, keep_columns=True)):
        model.fit(ZOO.values).save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.keep_columns is True
        assert (again.transform(ZOO.values) == model.transform(ZOO.values)).all()


def test_path_has_it_and_its_solutions():
    path = UFCPath(max_iter=2, keep_columns=True).fit(ZOO.values)
    assert (path.transform(ZOO.values)[:, :15] == ZOO.values).all()
    assert path.solution(0).keep_columns is True


def test_what_adds_features_has_the_columns_anyway():
    assert (UFringe(30).fit(ZOO.values).transform(ZOO.values)[:, :15] == ZOO.values).all()


def test_anything_but_a_boolean_is_refused():
    for model in (UFC(keep_columns="yes"), UFCPath(keep_columns=1)):
        with pytest.raises(InputError, match="keep_columns must be True or False; got"):
            model.fit(ZOO.values)
