"""All kernels give the integers of a plain matrix product, for any threads and blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct.columns import PackedColumns, SparseColumns
from conjunct.columns import kernel as counting

any_table = arrays(np.bool_, st.tuples(st.integers(1, 200), st.integers(1, 40)))


KERNELS = ["native", "numpy"]


def use(name, monkeypatch):
    """Count by one kernel, as if those before it were not installed."""
    if name == "native" and counting.native is None:
        pytest.skip("conjunct was installed without a C compiler")
    if name != "native":
        monkeypatch.setattr(counting, "native", None)
    assert counting.kernel_name() == name


@pytest.fixture(params=KERNELS)
def kernel(request, monkeypatch):
    use(request.param, monkeypatch)
    return request.param


def expected(left, right):
    return left.T.astype(int) @ right.astype(int)


@pytest.mark.parametrize("name", KERNELS)
@given(table=any_table, split=st.integers(0, 40))
def test_counts_are_a_matrix_product(name, table, split):
    bits = counting.pack(table)
    with pytest.MonkeyPatch.context() as monkeypatch:
        use(name, monkeypatch)
        assert np.array_equal(counting.count_pairs(bits), expected(table, table))
        product = expected(table[:, :split], table[:, split:])
        assert np.array_equal(counting.count_pairs(bits[:split], bits[split:]), product)
        # lines from different places in memory
        apart = [line.copy() for line in bits[:split]]
        assert np.array_equal(counting.count_pairs(apart, bits[split:]), product)
        assert np.array_equal(counting.count_each(bits), table.sum(axis=0))


@pytest.mark.skipif(counting.native is None, reason="installed without a C compiler")
@pytest.mark.parametrize("n_rows", [1, 64, 65, 640, 4096 * 8 - 1, 4096 * 8 + 1, 70_000])
def test_every_processor_counts_the_same(n_rows, monkeypatch):
    """Words, adders, wide words: whichever this processor has, on whole pieces and on rests."""
    table = np.random.default_rng(n_rows).random((n_rows, 11)) < 0.6
    bits = counting.pack(table)
    for way in range(counting.native.native_best_way() + 1):
        monkeypatch.setattr(counting, "_way", way)
        assert np.array_equal(counting.count_pairs(bits), expected(table, table))
        assert np.array_equal(
            counting.count_pairs(bits[:9], bits[9:]), expected(table[:, :9], table[:, 9:])
        )


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("block_bytes", [8, 64, 1 << 28])
def test_threads_and_blocks_change_nothing(kernel, n_jobs, block_bytes, monkeypatch):
    monkeypatch.setattr(counting, "_BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(counting, "_PAIRS_PER_THREAD", 1)
    table = np.random.default_rng(1).random((1000, 37)) < 0.4
    bits = counting.pack(table)
    assert np.array_equal(counting.count_pairs(bits, n_jobs=n_jobs), expected(table, table))
    across = counting.count_pairs(bits[:5], bits[5:], n_jobs)
    assert np.array_equal(across, expected(table[:, :5], table[:, 5:]))


def test_counts_of_blocks_are_added_in_64_bits(kernel, monkeypatch):
    monkeypatch.setattr(counting, "_BLOCK_BYTES", 8)
    bits = counting.pack(np.ones((640, 2), bool))
    counts = counting.count_pairs(bits)
    assert counts.dtype == np.int64
    assert counts.tolist() == [[640, 640], [640, 640]]


def n_threads(n_jobs):
    return PackedColumns.from_table(np.eye(2, dtype=bool), n_jobs).n_threads


@pytest.mark.parametrize(("asked", "given_"), [(None, 1), (1, 1), (3, 3)])
def test_threads(asked, given_):
    assert n_threads(asked) == given_


def test_all_processors():
    assert n_threads(-1) >= n_threads(-2) >= 1


@given(any_table)
def test_null_rows(table):
    store = PackedColumns.from_table(table)
    assert store.count_null_rows() == int((~table.any(axis=1)).sum())


@given(any_table)
def test_distinct_rows_are_counted_with_c_and_without(table):
    expected_ = len(np.unique(table, axis=0))
    for layout in (PackedColumns, SparseColumns):
        store = layout.from_table(table)
        assert store.count_distinct_rows() == expected_
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counting, "native", None)
            assert layout.from_table(table).count_distinct_rows() == expected_
