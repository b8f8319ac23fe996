"""Packed tables with names: in and out, aligned, cleaned, summed up, and into estimators."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, BooleanData, CellError, InputError, TagCleaner
from conjunct.columns import PackedColumns
from conjunct.data import DataSummary
from conjunct.data.boolean_data import Ids
from tables import tables

cells = st.sampled_from([True, False, None])
frames = st.integers(1, 40).flatmap(
    lambda n: st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=3),
        st.lists(cells, min_size=n, max_size=n).filter(lambda c: any(v is not None for v in c)),
        min_size=1,
        max_size=5,
    )
)


@given(frames)
def test_frame_there_and_back(columns):
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Boolean))
    table = BooleanData.from_data(frame)
    assert table.convert("polars").to_dict(as_series=False) == columns
    assert table.n_missing == sum(column.count(None) for column in columns.values())
    assert table.preparation.binarizer is None
    seen = [value for column in columns.values() for value in column if value is not None]
    summary = DataSummary.of(table)
    assert summary.density == pytest.approx(seen.count(True) / len(seen))
    assert summary.n_distinct_rows == len(set(zip(*columns.values(), strict=True)))
    assert summary.constant == tuple(
        name for name, column in columns.items() if len(set(column) - {None}) == 1
    )


# on many of these tiny tables nothing can be constructed; UFC says so
@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables(min_rows=2))
def test_estimators_take_it_as_they_take_an_array(array):
    names = tuple("abcdefgh"[: array.shape[1]])
    ids = Ids("row", tuple(str(k) for k in range(len(array))))
    table = BooleanData(names, PackedColumns.from_table(array), ids=ids)
    expected = UFC(0.1, max_iter=2, feature_names="formula").fit(array)
    model = UFC(0.1, max_iter=2, feature_names="formula").fit(table)
    assert model.feature_set_.merges == expected.feature_set_.merges
    assert model.feature_names_in_.tolist() == list(names)
    made = model.transform(table)
    assert made.ids == table.ids
    bits = np.column_stack([made.columns.cells(k)[0] for k in range(len(made.names))])
    assert np.array_equal(bits, expected.transform(array))
    back = model.inverse_transform(made)
    assert np.array_equal(back.convert("numpy"), array)
    # no bit beyond the last row, however the features are negated
    assert DataSummary.of(made).n_distinct_rows == len(np.unique(expected.transform(array), axis=0))


def test_missing_cells_are_refused_by_name_of_the_raw_column():
    frame = pl.DataFrame({"a": [True, False, True], "colour": ["red", "green", None]})
    table = BooleanData.from_data(frame)
    assert table.convert("polars")["colour = red"].to_list() == [True, False, None]
    with pytest.raises(CellError) as raised:
        UFC(missing="raise").fit(table)
    assert (raised.value.column, raised.value.row) == ("colour", 2)


def test_aligned():
    table = BooleanData.from_data(pl.DataFrame({"a": [True, False], "b": [None, True]}))
    assert table.align(["b"]).convert("polars").to_dict(as_series=False) == {"b": [None, True]}
    with pytest.raises(InputError, match="the table lacks 1 features of the model: 'c'"):
        table.align(["a", "c"])
    tags = replace(table, tags=True)
    assert tags.align(["c", "a"]).convert("polars").rows() == [(False, True), (False, False)]


def test_binarizer_is_kept_saved_and_applied(tmp_path):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    raw = pl.DataFrame({"colour": colour, "hot": colour == "red", "age": rng.integers(0, 80, 300)})
    model = UFC(max_iter=1).fit(BooleanData.from_data(raw))
    model.save(tmp_path / "m.json")
    loaded = UFC.load(tmp_path / "m.json")
    again = BooleanData.from_data(raw, binarizer=loaded.preparation_.binarizer)
    assert (
        loaded.transform(again)
        .convert("polars")
        .equals(model.transform(BooleanData.from_data(raw)).convert("polars"))
    )
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_cleaning_keeps_missing_cells_missing():
    table = BooleanData.from_data(
        pl.DataFrame({"Cat": [True, None, None, False], "cat": [None, True, None, False]})
    )
    clean = table.clean(table.fit_cleaner(TagCleaner()))
    assert clean.convert("polars").to_dict(as_series=False) == {"cat": [True, True, None, False]}


def test_only_tags_are_cleaned():
    table = BooleanData.from_data(pl.DataFrame({"a": ["x", "y", "z"], "b": [1, 0, 1]}))
    with pytest.raises(InputError, match="only tags can be cleaned"):
        table.fit_cleaner(TagCleaner())


def test_summary_of_a_raw_table():
    frame = pl.DataFrame(
        {
            "wet": ["yes", "no", "no", "no"],
            "sex": ["m", "f", "f", "m"],
            "colour": ["red", "green", None, "red"],
            "age": [10.5, 20.5, 30.5, 40.5],
            "same": ["x"] * 4,
            "on": [True] * 4,
        }
    )
    summary = DataSummary.of(BooleanData.from_data(frame))
    assert summary.columns == {"Boolean": 2, "categories": 3}
    assert [d.column for d in summary.dropped] == ["same"]
    assert summary.constant == ("on",)
    # cells of the table, not of the features made of it
    assert summary.n_missing == 1


def test_columns_that_differ_only_by_type_are_refused():
    frame = pd.DataFrame([[True, False], [False, True]], columns=[1, "1"])
    with pytest.raises(InputError, match="rename one of them"):
        BooleanData.from_data(frame)
