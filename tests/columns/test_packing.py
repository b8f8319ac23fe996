"""Packed columns hold the table, whatever its shape."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct.columns import kernel

shapes = st.tuples(st.integers(1, 200), st.integers(1, 150))
any_table = arrays(np.bool_, shapes)


@given(any_table)
def test_unpack_undoes_pack(table):
    assert np.array_equal(kernel.unpack(kernel.pack(table), len(table)), table)


@given(any_table)
def test_a_bit_is_where_the_layout_says(table):
    bits = kernel.pack(table)
    for row, column in np.ndindex(*table.shape):
        assert bits[column, row // 8] >> row % 8 & 1 == table[row, column]


@given(any_table)
def test_padding_is_zero_and_fills_words(table):
    bits = kernel.pack(table)
    assert bits.shape == (table.shape[1], -(-len(table) // 64) * 8)
    assert np.bitwise_count(bits).sum() == table.sum()


@given(any_table, st.randoms(use_true_random=False))
def test_rows_can_be_taken_from_packed_rows(table, random):
    taken = np.array([random.randrange(len(table)) for _ in table], np.intp)
    rows = kernel.rows_as_words(kernel.pack(table), len(table)).view(np.uint8)
    columns = kernel.pack_rows(rows[taken], table.shape[1])
    assert np.array_equal(columns, kernel.pack(table[taken]))
    assert np.array_equal(kernel.bits_of_rows(kernel.pack(table)[0], taken), table[taken, 0])


@given(any_table)
def test_columns_packed_one_by_one_are_the_same(table):
    one_by_one = np.array([kernel.pack_column(column) for column in table.T])
    assert np.array_equal(one_by_one, kernel.pack(table))


@pytest.mark.parametrize("shape", [(8191, 3), (8192, 3), (8193, 3), (20_000, 9), (130, 70_000)])
def test_tables_of_more_than_one_block(shape):
    table = np.random.default_rng(0).random(shape) < 0.3
    bits = kernel.pack(table)
    assert np.array_equal(kernel.unpack(bits, len(table)), table)
    rows = kernel.rows_as_words(bits, len(table))
    assert np.array_equal(kernel.unpack(rows.view(np.uint8), shape[1]).T, table)


@given(any_table, st.integers(1, 3))
def test_without_c_and_on_threads_it_is_the_same(table, n_threads):
    n_rows = len(table)

    def everything():
        bits = kernel.pack(table, n_threads)
        rows = kernel.rows_as_words(bits, n_rows, n_threads)
        n_distinct = kernel.count_distinct(rows, n_threads)
        assert n_distinct == len(np.unique(table, axis=0))
        words = kernel.row_words(bits, n_rows)
        cells = kernel.unpack(bits, n_rows, n_threads)
        distinct, starts = kernel.in_buckets(words, 5)
        return bits, rows, cells, np.unique(distinct, axis=0), words, starts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_CELLS_PER_THREAD", 1)
        patch.setattr(kernel, "_BLOCK_ROWS", 64)
        patch.setattr(kernel, "_ROWS_PER_THREAD", 1)
        ours = everything()
        patch.setattr(kernel, "native", None)
        plain = everything()
    for one, other in zip(ours, plain, strict=True):
        assert np.array_equal(one, other)


def test_the_first_error_is_told_on_threads_too(monkeypatch):
    monkeypatch.setattr(kernel, "_CELLS_PER_THREAD", 1)
    monkeypatch.setattr(kernel, "_BLOCK_ROWS", 64)

    def block(start, stop):
        if start >= 128:
            raise ValueError(f"row {start}")
        return np.zeros((stop - start, 3), np.bool_)

    with pytest.raises(ValueError, match="row 128"):
        kernel.pack_blocks(block, 1000, 3, 4)


@given(any_table)
def test_two_words_tell_rows_apart(table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_BLOCK_ROWS", 64)
        words = kernel.row_words(kernel.pack(table), len(table))
    assert words.shape[1] <= 2
    together = np.unique(np.column_stack([table, *words.T]), axis=0)
    assert len(together) == len(np.unique(words, axis=0)) == len(np.unique(table, axis=0))


@given(
    arrays(np.uint64, st.tuples(st.integers(0, 50), st.integers(1, 2)), elements=st.integers(0, 9))
)
@pytest.mark.parametrize("n_buckets", [1, 3, 300])
@pytest.mark.parametrize("in_c", [True, False])
def test_equal_rows_are_in_one_bucket(in_c, n_buckets, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_BUCKET_ROWS", 7)
        if not in_c:
            patch.setattr(kernel, "native", None)
        found, starts = kernel.in_buckets(rows, n_buckets)
    assert len(starts) == n_buckets + 1
    assert (starts[0], starts[-1]) == (0, len(found))
    # so few rows are there only once
    assert sorted(map(tuple, found.tolist())) == sorted({*map(tuple, rows.tolist())})


@pytest.mark.parametrize("copies", [1, 3])
def test_rows_of_many_parts_are_told_apart_in_buckets(copies):
    """Also where a bucket has more rows than are told apart in the cache."""
    rows = np.random.default_rng(0).integers(0, 1 << 63, (20_000, 2), np.uint64)
    table = np.repeat(rows, copies, axis=0)
    for n_buckets in (1, 2, 50):
        parts = [kernel.in_buckets(part, n_buckets) for part in (table, table[::2], rows[:0])]
        assert kernel.count_distinct_parts(parts) == 20_000


def test_buckets_are_the_same_with_c_and_without(monkeypatch):
    """Workers of one cluster may have it or not."""
    rows = np.random.default_rng(0).integers(0, 1 << 63, (9000, 2), np.uint64)
    found, starts = kernel.in_buckets(rows, 7)
    monkeypatch.setattr(kernel, "native", None)
    others, same = kernel.in_buckets(rows, 7)
    assert np.array_equal(starts, same)
    for start, stop in pairwise(starts):
        one, other = (np.unique(some[start:stop], axis=0) for some in (found, others))
        assert np.array_equal(one, other)


@given(any_table, st.integers(1, 5))
def test_distinct_rows_are_counted_exactly(table, copies):
    repeated = np.repeat(table, copies, axis=0)
    rows = kernel.rows_as_words(kernel.pack(repeated), len(repeated))
    assert kernel.count_distinct(rows) == len({tuple(row) for row in table.tolist()})


def test_rows_that_mix_alike_are_still_told_apart(monkeypatch):
    """Without C: there, equal hashes are compared by the way."""
    monkeypatch.setattr(kernel, "native", None)
    monkeypatch.setattr(kernel, "hash_lane", lambda rows: np.zeros(len(rows), np.uint64))
    rows = np.array([[1, 0], [0, 1], [1, 0], [2, 2]], np.uint64)
    assert kernel.count_distinct(rows) == 3
    assert kernel.count_distinct_parts([kernel.in_buckets(rows, 2)]) == 3
