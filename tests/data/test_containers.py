"""One noun for data: whatever it came in, it is the same, and it goes back out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, Binarizer, BooleanData, InputError
from conjunct.data import CellRules, container_of
from conjunct.files import stream
from tables import tables

KINDS = ["numpy", "scipy", "baskets", "polars", "pandas", "pyarrow"]


def named(table):
    return [f"c{k}" for k in range(table.shape[1])]


@given(tables(min_rows=1))
def test_there_and_back(table):
    names = named(table)
    data = BooleanData.from_data(pl.DataFrame(table, schema=names))
    assert np.array_equal(data.convert("numpy"), table)
    for kind in KINDS:
        out = data.convert(kind)
        if kind == "baskets" and not any(out):
            continue
        again = data.read_like(out)
        assert again.names == data.names
        assert np.array_equal(again.convert("numpy"), table), kind
        assert type(again.convert(out)) is type(out)
        if kind not in ("numpy", "scipy"):
            assert repr(again.convert(out)) == repr(out)


@given(tables(min_rows=1), st.integers(0, 99))
def test_missing_cells_there_and_back(table, seed):
    missing = np.random.default_rng(seed).random(table.shape) < 0.3
    cells = np.where(missing, np.nan, table)
    read = BooleanData.from_data(cells)
    assert read.n_missing == missing.sum()
    assert not read.has_names
    assert np.array_equal(read.convert("numpy").astype(float), cells, equal_nan=True)
    assert np.array_equal(
        BooleanData.from_data(cells, missing="false").convert("numpy"), table & ~missing
    )
    frame = read.convert("pandas")
    assert np.array_equal(frame.to_numpy(float, na_value=np.nan), cells, equal_nan=True)


def test_raw_frames_and_files_are_made_boolean(tmp_path):
    frame = pl.DataFrame({"colour": ["red", "green", "blue"], "wet": ["yes", "no", "yes"]})
    frame.write_csv(tmp_path / "things.csv")
    data = BooleanData.from_data(frame)
    assert data.names == ("colour = blue", "colour = green", "colour = red", "wet")
    read = BooleanData.from_data(tmp_path / "things.csv")
    assert read.convert("polars").equals(data.convert("polars"))
    rows = pl.DataFrame({"colour": ["green"], "wet": ["no"]})
    assert data.read_like(rows).convert("baskets") == [["colour = green"]]
    assert BooleanData.from_data(tmp_path / "things.csv", columns=["wet"]).names == ("wet",)


def test_rows_of_boolean_columns_are_read_as_they_are():
    data = BooleanData.from_data(pl.DataFrame({"a": ["x", "y", "z"], "b": [True, False, True]}))
    rows = pd.DataFrame([[True] * len(data.names)], columns=data.names)
    assert data.read_like(rows).convert("baskets") == [list(data.names)]


def test_only_files_have_options():
    with pytest.raises(TypeError, match="only files have options such as 'separator'"):
        BooleanData.from_data(np.eye(2), separator=";")


def test_a_container_is_looked_at_once():
    frame = pd.DataFrame({"a": [True, False]}, index=["x", "y"])
    container = container_of(frame)
    assert container_of(container) is container
    written = BooleanData.read(container, CellRules()).convert(container)
    assert list(written.index) == ["x", "y"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.empty((0, 2)), "0 sample"),
        (pl.DataFrame(), "no columns"),
        (pl.DataFrame({"a": []}, schema={"a": pl.Boolean}), "no rows"),
        ([set()], "the baskets have no items"),
        ([[1, 0], [1]], "rows differ in length"),
        (pl.DataFrame({"a": ["x"]}).lazy(), "every cell is 'x'"),
        (sp.csr_array(np.array([[2]])), "2 is not Boolean"),
    ],
)
def test_what_is_no_table(data, message):
    with pytest.raises(InputError, match=message):
        BooleanData.from_data(data)


def test_named_columns_go_by_position_where_the_model_has_no_names():
    table = np.random.default_rng(0).random((80, 3)) < 0.5
    table[:, 1] |= table[:, 0]
    model = UFC(0.0, max_iter=1).fit(table)
    data = BooleanData.from_data(pl.DataFrame(table, schema=["b", "a", "c"]))
    assert np.array_equal(model.transform(data).convert("numpy"), model.transform(table))
    with pytest.raises(InputError, match="the data has 2 columns, but the model needs 3"):
        model.transform(data.align(["a", "b"]))


def test_data_in_parts_is_told_and_not_taken_out(tmp_path):
    table = np.random.default_rng(0).random((70, 3)) < 0.5
    pl.DataFrame(table, schema=["a", "b", "c"]).write_parquet(tmp_path / "t.parquet")
    data = BooleanData.from_data(stream(tmp_path / "t.parquet"))
    assert repr(data) == "BooleanData(70 rows, 3 features)"
    assert data.supports().tolist() == table.sum(axis=0).tolist()
    with pytest.raises(InputError, match="rows in parts cannot be converted: pass them to fit"):
        data.convert("numpy")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (np.eye(2), {"binarizer": Binarizer()}, "a binarizer is for data frames and files"),
        ("t.csv", {"threshold": 1}, "threshold= is for data in memory"),
        (np.eye(2), {"binarizer": Binarizer(), "threshold": 1}, "pass either a binarizer or"),
    ],
)
def test_what_goes_with_what(data, options, message):
    with pytest.raises(InputError, match=message):
        BooleanData.from_data(data, **options)


def test_an_unknown_container_is_named():
    with pytest.raises(InputError, match=r"container must be 'pandas', .* got 'excel'"):
        BooleanData.from_data(np.eye(2)).convert("excel")
