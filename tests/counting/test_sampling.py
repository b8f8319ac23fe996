"""Samples of rows: the same whatever the order, partitions and weights, and fair."""

import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import BooleanData
from conjunct.columns import MaskedColumns, MergeRewrite, PackedColumns, SparseColumns
from conjunct.counting import WeightedColumns, sample_rows
from tables import tables

RANDOM = np.random.default_rng(0)
FREQUENT, RARE = RANDOM.random((40, 12)) < 0.5, RANDOM.random((4000, 12)) < 0.3
TABLE = np.vstack([FREQUENT.repeat(100, axis=0), RARE])
RANDOM.shuffle(TABLE)
LIMIT = 300


def content(sample):
    return sample.rows.to_dense().tolist(), sample.weights.tolist(), sample.hashes.tolist()


def in_dask(table, n_parts):
    frame = pd.DataFrame(table, columns=[f"t{k}" for k in range(table.shape[1])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return BooleanData.from_data(dd.from_pandas(frame, npartitions=n_parts)).columns


@given(tables(max_rows=30, min_rows=2), st.randoms(use_true_random=False), st.integers(1, 40))
def test_order_layout_and_weights_do_not_matter(table, random, limit):
    weights = np.array([random.randrange(1, 4) for _ in table])
    repeated = np.repeat(table, weights, axis=0)
    expected = content(sample_rows(PackedColumns.from_table(repeated), limit))
    columns = PackedColumns.from_table(table)
    for other in (
        SparseColumns.from_table(repeated[::-1]),
        WeightedColumns.of(columns, weights),
        WeightedColumns.of(SparseColumns.of(columns), weights),
    ):
        assert content(sample_rows(other, limit)) == expected
    n = table.shape[1]
    if n > 1:
        # of some columns after a merge, too
        merge, places = MergeRewrite(0, n - 1, n), [n, 0]
        merged = PackedColumns.from_table(repeated).after([merge])
        expected = content(sample_rows(merged, limit, places))
        weighted = WeightedColumns.of(columns, weights).after([merge])
        assert content(sample_rows(weighted, limit, places)) == expected


def test_partitions_do_not_matter():
    expected = content(sample_rows(PackedColumns.from_table(TABLE), LIMIT))
    for n_parts in (2, 17):
        assert content(sample_rows(in_dask(TABLE, n_parts), LIMIT)) == expected


def test_a_sample_stands_for_all_rows():
    rows, numbers = np.unique(TABLE, axis=0, return_counts=True)
    number = {row.tobytes(): n for row, n in zip(rows, numbers.tolist(), strict=True)}
    sample = sample_rows(PackedColumns.from_table(TABLE), LIMIT)
    found = zip(sample.rows.to_dense(), sample.weights, strict=True)
    chosen = {row.tobytes(): weight for row, weight in found}
    step = len(TABLE) / LIMIT
    for row, n in number.items():
        # frequent rows are all there, by their number; others count once
        assert n < step or chosen[row] == pytest.approx(n / step)
        assert chosen.get(row, 1) == pytest.approx(max(n / step, 1))
    assert sum(chosen.values()) == pytest.approx(LIMIT, rel=0.1)
    assert len(chosen) < LIMIT
    every = sample_rows(PackedColumns.from_table(TABLE), len(TABLE))
    found = zip(every.rows.to_dense(), every.weights.tolist(), strict=True)
    assert {row.tobytes(): weight for row, weight in found} == number


def test_a_missing_cell_is_a_value():
    true, known = np.array([[1, 0], [0, 0], [1, 0]], bool), np.array([[1, 1], [1, 0], [1, 1]], bool)
    columns = MaskedColumns(PackedColumns.from_table(true), PackedColumns.from_table(known))
    sample = sample_rows(columns, 10, [1, 0])
    found = zip(sample.rows.to_dense().tolist(), sample.weights.tolist(), strict=True)
    assert sorted((weight, str(row)) for row, weight in found) == [
        (1, "[nan, 0.0]"),
        (2, "[0.0, 1.0]"),
    ]
