"""Hashes that stand for rows: a count by fingerprints is right only if different rows differ."""

from itertools import combinations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct import UFC
from conjunct.columns import PackedColumns, SparseColumns, kernel
from conjunct.counting.partitioned import DiskPartitions, ScratchFile
from naive_hashes import hash_row, murmur_finaliser, splitmix_finaliser

N_COLUMNS = 256
N_WORDS = N_COLUMNS // 64
# around the borders of words and of their halves; rows that differ in 63, 98 and 127 collided once
BORDERS = sorted({c + d for c in range(0, 257, 32) for d in range(-2, 3)} & {*range(256)})


@pytest.fixture(params=[True, False], ids=["C", "NumPy"])
def in_c(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(kernel, "native", None)
    elif kernel.native is None:
        pytest.skip("the C library is not built")
    return request.param


def hash_rows(rows):
    hashes = np.empty((len(rows), 2), np.uint64)
    kernel.hash_rows(np.ascontiguousarray(rows), hashes)
    return hashes


def single_bits():
    """One row per column, in which only that column is true."""
    columns = np.arange(N_COLUMNS, dtype=np.uint64)
    bits = np.zeros((N_COLUMNS, N_WORDS), np.uint64)
    bits[columns, columns // 64] = np.uint64(1) << columns % np.uint64(64)
    return bits


def random_row(rng, density):
    row = np.packbits(rng.random(N_COLUMNS) < density, bitorder="little")
    return row.view(np.uint64)


def test_the_finalisers_are_the_published_ones():
    # the first number of SplitMix64 with seed 0
    assert splitmix_finaliser(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF
    assert murmur_finaliser(1) == 0xB456BCFC34C2CB2C


@given(arrays(np.uint64, st.tuples(st.integers(0, 9), st.integers(1, 5))))
def test_c_and_numpy_give_the_hashes_of_the_definition(rows):
    expected = [hash_row(row) for row in rows.tolist()]
    with pytest.MonkeyPatch.context() as patch:
        assert [*map(tuple, hash_rows(rows).tolist())] == expected
        patch.setattr(kernel, "native", None)
        assert [*map(tuple, hash_rows(rows).tolist())] == expected


@pytest.mark.parametrize("density", [0.02, 0.5])
def test_each_bit_of_a_row_changes_each_bit_of_its_hashes_half_the_time(in_c, density):
    rng, n = np.random.default_rng(0), 4096
    rows = np.vstack([random_row(rng, density) for _ in range(n)])
    hashes = hash_rows(rows)
    for bit in single_bits():
        changed = (hash_rows(rows ^ bit) ^ hashes).view(np.uint8)
        share = np.unpackbits(changed, axis=1).mean(axis=0)
        # six standard deviations: by chance alone, one of the 32,768 shares exceeds them in
        # one of 15,000 tests
        assert np.abs(share - 0.5).max() < 6 * 0.5 / np.sqrt(n)


def rows_near(row):
    """100,000 rows: that one, and those that differ from it in 1, 2, 3 or 4 columns."""
    bits = single_bits()
    sets = [[()], combinations(range(N_COLUMNS), 1), combinations(range(N_COLUMNS), 2)]
    sets += [combinations(BORDERS, size) for size in (3, 4)]
    columns = [np.array([*some], np.intp) for some in sets]
    rows = np.vstack([row ^ np.bitwise_xor.reduce(bits[some], axis=1) for some in columns])
    assert len(np.unique(rows, axis=0)) == len(rows) > 100_000
    return rows


def check_all_differ(words):
    """All pairs differ in each lane; in 64 bits, chance makes 100,000 numbers meet in 3 of 10¹⁰."""
    for lane in words.T:
        assert len(np.unique(lane)) == len(lane)


@pytest.mark.parametrize("density", [0, 0.05, 0.5])
def test_rows_that_differ_in_a_few_columns_have_different_hashes(in_c, density):
    check_all_differ(hash_rows(rows_near(random_row(np.random.default_rng(0), density))))


def test_lists_that_differ_in_a_few_columns_have_different_sums():
    rows = rows_near(random_row(np.random.default_rng(0), 0.05)).view(np.uint8)
    table = sp.csr_array(np.unpackbits(rows, axis=1, bitorder="little"))
    check_all_differ(SparseColumns.from_matrix(table).row_words())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_pairs_that_differ_in_a_few_columns_have_different_hashes(seed):
    """Ten million pairs in all, of random rows."""
    rng, n = np.random.default_rng(seed), 125_000
    rows = rng.integers(0, 1 << 64, (n, N_WORDS), np.uint64)
    if seed % 2:
        rows &= rng.integers(0, 1 << 64, rows.shape, np.uint64)
        rows &= rng.integers(0, 1 << 64, rows.shape, np.uint64)
    hashes, bits = hash_rows(rows), single_bits()
    for size in (1, 2, 3, 4):
        first = rng.integers(0, N_COLUMNS, n)
        # others lie in the next word or two, where a difference might be taken back
        steps = rng.integers(1, 50, (size - 1, n)).cumsum(axis=0)
        columns = [first, *(first + steps) % N_COLUMNS]
        others = rows ^ np.bitwise_xor.reduce([bits[k] for k in columns])
        assert (others != rows).any(axis=1).all()
        assert (hash_rows(others) != hashes).all()


def two_hundred_rows():
    """Columns 63, 98 and 127 together took back what they had changed in an earlier hash."""
    rows = np.random.default_rng(0).random((100, 130)) < 0.3
    table = np.repeat(rows, 2, axis=0)
    table[::2, [63, 98, 127]] ^= True
    assert len(np.unique(table, axis=0)) == 200
    return table


def test_two_hundred_rows_are_counted_in_memory_and_on_disk(in_c):
    table = two_hundred_rows()
    assert PackedColumns.from_table(table).count_distinct_rows() == 200
    scratch = ScratchFile()
    for part in np.split(table, 4):
        scratch.append(PackedColumns.from_table(part))
    # so little memory that there are several buckets
    assert DiskPartitions(scratch, 2000, storage="dense").count_distinct_rows() == 200


@pytest.mark.filterwarnings("ignore:No feature was constructed")
def test_two_hundred_rows_give_the_same_merges_in_memory_and_on_dask(in_c):
    table = two_hundred_rows()
    expected = UFC("risk").fit(table)
    model = UFC("risk").fit(da.from_array(table, chunks=(64, -1)))
    assert model.n_distinct_rows_ == expected.n_distinct_rows_ == 200
    assert model.feature_set_.merges == expected.feature_set_.merges


@given(arrays(np.bool_, st.tuples(st.integers(1, 20), st.integers(1, 70))))
def test_words_of_rows_are_mixed_by_the_published_finaliser(table):
    for columns in (PackedColumns.from_table(table), SparseColumns.from_table(table)):
        mixed = [splitmix_finaliser(word) for word in columns.sum_words(0).tolist()]
        assert columns.row_hashes().tolist() == mixed
        assert columns.fingerprint() == sum(mixed) % 2**64
