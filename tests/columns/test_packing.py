"""Packed columns hold the table, whatever its shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct.columns import packing

shapes = st.tuples(st.integers(1, 200), st.integers(1, 150))
any_table = arrays(np.bool_, shapes)


@given(any_table)
def test_unpack_undoes_pack(table):
    assert np.array_equal(packing.unpack(packing.pack(table), len(table)), table)


@given(any_table)
def test_a_bit_is_where_the_layout_says(table):
    bits = packing.pack(table)
    for row, column in np.ndindex(*table.shape):
        assert bits[column, row // 8] >> row % 8 & 1 == table[row, column]


@given(any_table)
def test_padding_is_zero_and_fills_words(table):
    bits = packing.pack(table)
    assert bits.shape == (table.shape[1], -(-len(table) // 64) * 8)
    assert np.bitwise_count(bits).sum() == table.sum()


@given(any_table, st.randoms(use_true_random=False))
def test_rows_can_be_taken_from_packed_rows(table, random):
    taken = np.array([random.randrange(len(table)) for _ in table], np.intp)
    rows = packing.packed_rows(packing.pack(table), len(table)).view(np.uint8)
    columns = packing.pack_rows(rows[taken], table.shape[1])
    assert np.array_equal(columns, packing.pack(table[taken]))
    assert np.array_equal(packing.bits_of_rows(packing.pack(table)[0], taken), table[taken, 0])


@given(any_table)
def test_columns_packed_one_by_one_are_the_same(table):
    one_by_one = np.array([packing.pack_column(column) for column in table.T])
    assert np.array_equal(one_by_one, packing.pack(table))


@pytest.mark.parametrize("shape", [(8191, 3), (8192, 3), (8193, 3), (20_000, 9), (130, 70_000)])
def test_tables_of_more_than_one_block(shape):
    table = np.random.default_rng(0).random(shape) < 0.3
    bits = packing.pack(table)
    assert np.array_equal(packing.unpack(bits, len(table)), table)
    rows = packing.packed_rows(bits, len(table))
    assert np.array_equal(packing.unpack(rows.view(np.uint8), shape[1]).T, table)


@given(any_table, st.integers(1, 5))
def test_distinct_rows_are_counted_exactly(table, copies):
    repeated = np.repeat(table, copies, axis=0)
    rows = packing.packed_rows(packing.pack(repeated), len(repeated))
    assert packing.count_distinct(rows) == len({tuple(row) for row in table.tolist()})


def test_rows_that_mix_alike_are_still_told_apart(monkeypatch):
    monkeypatch.setattr(packing, "_MIXER", np.uint64(0))
    rows = np.array([[1, 0], [0, 1], [1, 0], [2, 2]], np.uint64)
    assert packing.count_distinct(rows) == 3
