"""One test for every container and engine: all that a model does is as with NumPy's arrays."""

from functools import cache

import dask
import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import datasets as hugging_face
from conjunct import UFC, datasets

COCO = datasets.load_coco_street()
NAMES = list(COCO.feature_names)
MISSING = np.random.default_rng(0).random(COCO.values.shape) < 0.02


class Streamed:
    """What is known of it is that it gives a stream of Arrow."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Interchanged:
    """What is known of it is the interchange protocol of data frames."""

    def __init__(self, table):
        self.table = table

    def __dataframe__(self, **options):
        return self.table.__dataframe__(**options)


def in_pandas(table):
    return table.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)


# how each is made of a table of Arrow
MAKE = {
    "pandas": in_pandas,
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": duckdb.from_arrow,
    "ibis": ibis.memtable,
    "hugging face": lambda table: hugging_face.Dataset(hugging_face.table.InMemoryTable(table)),
    "arrow stream": Streamed,
    "record batches": lambda table: table.to_reader(max_chunksize=100),
    "interchange": Interchanged,
    "dask": lambda table: dd.from_pandas(in_pandas(table), npartitions=3),
}
# what comes back where it is not of the same kind
RETURNED = {"arrow stream": pa.Table, "record batches": pa.Table, "interchange": pa.Table}


def in_arrow(table):
    """Any of these as a table of Arrow."""
    if isinstance(table, hugging_face.Dataset):
        return table.data.table
    if isinstance(table, dd.DataFrame):
        table = table.compute(scheduler="synchronous")
    if isinstance(table, pd.DataFrame):
        return pa.Table.from_pandas(table, preserve_index=False)
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    for way in ("to_arrow", "to_pyarrow", "to_arrow_table", "toArrow"):
        if hasattr(table, way):
            return getattr(table, way)()
    return table


def columns_of(cells, missing=None):
    masks = np.zeros(cells.shape, bool) if missing is None else missing
    return [pa.array(cells[:, k], mask=masks[:, k]) for k in range(cells.shape[1])]


def rows_of(table):
    return list(zip(*(column.to_pylist() for column in in_arrow(table).columns), strict=True))


def rows_of_array(cells):
    return [tuple(None if x != x else bool(x) for x in row) for row in cells.tolist()]


@pytest.mark.parametrize(
    "way", ["raise", "pairwise", pytest.param("false", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", MAKE)
def test_as_with_an_array(kind, way):
    with dask.config.set(scheduler="synchronous"):
        check_as_with_an_array(MAKE[kind], way, RETURNED.get(kind))


@cache
def with_an_array(way):
    """A model of the array; its score, features and restored rows; and the rows as texts."""
    array = COCO.values if way == "raise" else np.where(MISSING, np.nan, COCO.values)
    model, frame = UFC(missing=way, max_iter=5), pl.from_arrow(in_table(way))
    texts = model.fit(frame).chunks(frame, "text")["chunks"].to_list()
    features = model.fit(array).transform(array)
    restored = model.inverse_transform(features)
    return model, model.score(array), rows_of_array(features), rows_of_array(restored), texts


@cache
def in_table(way):
    return pa.table(columns_of(COCO.values, None if way == "raise" else MISSING), names=NAMES)


def check_as_with_an_array(make, way, returned=None):
    """``returned`` is the type of what comes back, if it is not that of what ``make`` makes."""
    expected, score, rows, restored_rows, texts = with_an_array(way)
    table = in_table(way)
    model = UFC(missing=way, max_iter=5).fit(make(table))
    assert model.feature_set_.merges == expected.feature_set_.merges
    assert model.feature_set_.supports == expected.feature_set_.supports
    assert list(model.feature_names_in_) == NAMES
    assert model.score(make(table)) == score

    features = model.transform(make(table))
    assert isinstance(features, returned or type(make(table)))
    assert in_arrow(features).column_names == list(model.get_feature_names_out())
    assert rows_of(features) == rows

    chunks = model.chunks(make(table), "text")
    assert isinstance(chunks, returned or type(make(table)))
    assert in_arrow(chunks)["chunks"].to_pylist() == texts

    restored = model.inverse_transform(features)
    assert isinstance(restored, returned or type(make(table)))
    assert in_arrow(restored).column_names == NAMES
    assert rows_of(restored) == restored_rows
