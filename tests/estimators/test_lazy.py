"""Lazy tables: nothing is computed, columns are found by name, and rows are read in batches."""

import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from conjunct import UFC, BooleanData, InputError, UFringe, datasets
from conjunct.counting import PartitionedColumns
from conjunct.data import CellRules, containers

ZOO = datasets.load_zoo()
TABLE = pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names))
# what some library takes for something else
HOSTILE = ["a.b", "^a.*$", "*", 'say "hi"', "it's", "a`b", "line\nbreak", "<script>", "∧", "true"]


def in_duckdb(table):
    return duckdb.from_arrow(table.to_arrow())


def in_ibis(table):
    return ibis.memtable(table.to_arrow())


LAZY = {
    "polars": (pl.DataFrame.lazy, lambda table: table.collect()),
    "duckdb": (in_duckdb, lambda table: pl.from_arrow(table.to_arrow_table())),
    "ibis": (in_ibis, lambda table: pl.from_arrow(table.to_pyarrow())),
}
each_kind = pytest.mark.parametrize("kind", LAZY)


@each_kind
def test_columns_are_found_by_name(kind):
    make, collected = LAZY[kind]
    model = UFC().fit(TABLE)
    backwards = TABLE.select(reversed(TABLE.columns)).with_columns(number=pl.lit("x"))
    assert collected(model.transform(make(backwards))).rows() == model.transform(TABLE).rows()
    with pytest.raises(InputError, match="the table lacks 2 features of the model: 'hair', 'milk'"):
        model.transform(make(TABLE.drop("hair", "milk")))
    with pytest.raises(InputError, match=r"column 'milk' holds String, but this model needs"):
        model.transform(make(TABLE.with_columns(milk=pl.lit("x"))))
    with pytest.raises(InputError, match="chunks of a lazy table need output='text'"):
        model.chunks(make(TABLE))


@each_kind
def test_a_model_without_names_goes_by_position(kind):
    make, collected = LAZY[kind]
    model = UFC().fit(ZOO.values)
    made = collected(model.transform(make(TABLE)))
    assert np.array_equal(made.to_numpy(), model.transform(ZOO.values))
    with pytest.raises(InputError, match="the data has 14 columns, but the model needs 15"):
        model.transform(make(TABLE.drop("hair")))


@each_kind
def test_names_that_mean_something_else(kind):
    make, collected = LAZY[kind]
    rng = np.random.default_rng(0)
    cells = rng.random((300, len(HOSTILE))) < 0.4
    cells[:, 1::2] = np.where(rng.random((300, 5)) < 0.7, cells[:, ::2], cells[:, 1::2])
    table = pl.DataFrame(
        [pl.Series("", column).rename(name) for name, column in zip(HOSTILE, cells.T, strict=True)]
    )
    model = UFC().fit(make(table))
    assert model.n_iter_ >= 5
    expected = model.transform(table)
    made = collected(model.transform(make(table)))
    assert made.columns == expected.columns
    assert made.rows() == expected.rows()
    texts = collected(model.chunks(make(table), "text"))
    assert texts.rows() == model.chunks(table, "text").rows()
    assert collected(model.inverse_transform(make(made))).rows() == table.rows()


@each_kind
@pytest.mark.parametrize(
    ("options", "cells"),
    [
        ({"missing": "pairwise"}, [1.0, 0.0, None, float("nan"), 1.0]),
        ({"missing": "false"}, [1.0, 0.0, None, float("nan"), 1.0]),
        ({"missing": "pairwise", "threshold": 0.5}, [0.7, 0.5, None, float("nan"), -3.0]),
        ({"missing": "pairwise"}, [1, 0, None, 1, 0]),
        ({"threshold": 2}, [1, 5, 2, 3, 0]),
    ],
)
def test_numbers_and_gaps(kind, options, cells):
    make, collected = LAZY[kind]
    table = pl.DataFrame(
        {"a": cells * 20, "b": [1, 0, 0, 1, 1] * 20, "c": cells * 20}, strict=False
    )
    options = {"criterion": 0.1, "max_iter": 2, "keep_columns": True, **options}
    model = UFC(**options).fit(table)
    assert model.n_iter_
    lazy = UFC(**options).fit(make(table))
    assert lazy.feature_set_.merges == model.feature_set_.merges
    assert collected(model.transform(make(table))).rows() == model.transform(table).rows()


def test_nothing_is_computed():
    def boom(table):
        raise AssertionError("computed")

    model = UFC().fit(TABLE)
    watched = TABLE.lazy().map_batches(boom, schema=TABLE.schema)
    features = model.transform(watched)
    assert features.collect_schema().names() == list(model.get_feature_names_out())
    model.chunks(watched, "text")
    model.inverse_transform(features)
    with pytest.raises(AssertionError, match="computed"):
        features.collect()


def test_rows_are_never_there_as_a_whole(monkeypatch):
    seen = []

    class Reading(containers.LazyTable):
        def batches(self, positions):
            for batch in super().batches(positions):
                seen.append(len(batch))
                yield batch

    monkeypatch.setattr(containers, "LazyTable", Reading)
    monkeypatch.setattr(containers, "_BATCH_ROWS", 32)
    model = UFC().fit(TABLE.lazy())
    assert sum(seen) == len(TABLE)
    assert max(seen) <= 32
    assert model.feature_set_.merges == UFC().fit(TABLE).feature_set_.merges


@pytest.mark.parametrize("way", ["pairwise", "false"])
def test_what_memory_does_not_hold_is_on_disk(monkeypatch, way):
    monkeypatch.setattr(containers, "_BATCH_ROWS", 32)
    monkeypatch.setattr(containers, "_PAGE_BYTES", 100)
    monkeypatch.setattr(containers, "_SHARE_IN_MEMORY", 1 << 60)
    table = TABLE.with_columns(milk=pl.when(pl.col("tail")).then("milk"))
    data = BooleanData.read(table.lazy(), CellRules(missing=way))
    assert isinstance(data.columns, PartitionedColumns)
    model = UFC(missing=way).fit(table.lazy())
    assert model.feature_set_.merges == UFC(missing=way).fit(table).feature_set_.merges
    with pytest.raises(InputError, match="UFringe needs all rows in memory"):
        UFringe(missing="false").fit(table.lazy())


def test_a_bad_cell_is_named_by_its_row_in_the_table(monkeypatch):
    monkeypatch.setattr(containers, "_BATCH_ROWS", 32)
    cells = [True] * 70 + [None] + [False] * 10
    with pytest.raises(InputError, match="column 'a', row 70: the value is missing"):
        UFC(missing="raise").fit(pl.LazyFrame({"a": cells}))


def test_the_others_take_lazy_tables_too():
    expected = UFringe(max_features=20).fit(TABLE)
    model = UFringe(max_features=20).fit(TABLE.lazy())
    assert model.features_ == expected.features_
    assert model.transform(TABLE.lazy()).collect().rows() == expected.transform(TABLE).rows()
    assert type(model.get_features()) is pl.DataFrame


def test_a_stream_is_read_once():
    reader = TABLE.to_arrow().to_reader()
    model = UFC().fit(reader)
    with pytest.raises(InputError, match=r"no rows .* a stream can be read only once"):
        model.transform(reader)


@each_kind
def test_long_formulas_grow_with_the_merges(kind):
    make, collected = LAZY[kind]
    rng = np.random.default_rng(0)
    cells = rng.random((400, 12)) < 0.4
    for k in range(1, 12):
        cells[:, k] = np.where(rng.random(400) < 0.4, cells[:, k - 1], cells[:, k])
    table = pl.DataFrame(cells, schema=[f"t{k}" for k in range(12)])
    model = UFC(0.01, max_iter=8).fit(table)
    # written out, what features share would be repeated for each
    assert sum(feature.length for feature in model.features_) > 5000
    made = collected(model.transform(make(table)))
    assert np.array_equal(made.to_numpy(), model.transform(table).to_numpy())


def test_a_table_of_arrow_needs_names():
    with pytest.raises(InputError, match="a ChunkedArray is not a table"):
        UFC().fit(pa.chunked_array([[True, False]]))


@each_kind
def test_raw_tables(kind):
    make, collected = LAZY[kind]
    people = pl.DataFrame(
        {
            "member": ["yes", "no", "yes", None] * 30,
            "colour": ["red", "green", "red", "blue"] * 30,
            "age": [34, 61, 25, 70, None] * 24,
            "*": [1.5, 2.5, 7.0] * 40,
            "single": pl.Series([0.1, 0.2, 0.7, 0.1] * 30, dtype=pl.Float32),
        }
    )
    table = BooleanData.from_data(people)
    model = UFC(missing="pairwise").fit(table)
    assert model.n_iter_
    made = collected(model.transform(make(people)))
    assert made.rows() == model.transform(table).convert("polars").rows()
    assert collected(model.transform(make(table.convert("polars")))).rows() == made.rows()
