"""Lists of rows give the integers of packed bits, whatever the blocks they are counted in."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct.columns import (
    PackedColumns,
    Rewrite,
    SparseColumns,
    counts,
    sizing,
    sparse,
)
from conjunct.columns.kernel import native_library
from conjunct.columns.packed import CompiledLists, MergedLists
from conjunct.counting import Tally
from tables import tables


def pairs_of(counts):
    """All pairs that met: {(left, right): (rows, their supports, their joint count)}."""
    pairs = {}
    for block in counts.pair_blocks():
        n_rows = np.broadcast_to(block.n_rows, len(block)).tolist()
        counts = zip(
            n_rows,
            block.left_support.tolist(),
            block.right_support.tolist(),
            block.joint.tolist(),
            strict=True,
        )
        ends = zip(block.left.tolist(), block.right.tolist(), strict=True)
        for pair, values in zip(ends, counts, strict=True):
            assert pair[0] < pair[1]
            assert pair not in pairs
            pairs[pair] = values
    return pairs


def assert_same(one, other):
    assert one.n_rows == other.n_rows
    assert one.observed == other.observed
    assert one.supports.tolist() == other.supports.tolist()
    assert pairs_of(one) == pairs_of(other)
    above = np.triu_indices(len(one.supports), 1)
    assert one.for_pairs(*above).joint.tolist() == other.for_pairs(*above).joint.tolist()


@st.composite
def rewrites(draw, n_columns):
    """What replacing some pairs, each column in one at most, makes of the columns, in any order."""
    ends = draw(st.permutations(range(n_columns)))
    n_pairs = draw(st.integers(0, n_columns // 2))
    pairs = [sorted(ends[2 * k : 2 * k + 2]) for k in range(n_pairs)]
    columns = [(k, -1) for k in range(n_columns) if all(k not in pair for pair in pairs)]
    for k, (i, j) in enumerate(pairs):
        columns += [(n_columns + k, -1), (j, n_columns + k), (i, n_columns + k)]
    columns = draw(st.permutations(columns))[: draw(st.integers(0, len(columns)))]
    left, right, plus, minus = (
        np.array(values, np.intp)
        for values in (
            [i for i, _ in pairs],
            [j for _, j in pairs],
            [plus for plus, _ in columns],
            [minus for _, minus in columns],
        )
    )
    return Rewrite(left, right, plus, minus)


@given(
    tables(max_rows=100),
    st.data(),
    st.sampled_from([1, 7, 1 << 22]),
    st.sampled_from([1, 2]),
    st.booleans(),
)
def test_same_integers_before_and_after_rewrites(table, data, at_once, n_jobs, in_c):
    """Whatever is counted at once, on however many threads, in C or by SciPy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_PAIRS_AT_ONCE", at_once)
        patch.setattr(sparse, "_AT_ONCE", at_once)
        patch.setattr(sparse, "_PER_THREAD", 1)
        if not in_c:
            patch.setattr(sparse, "native_library", None)
        stores = PackedColumns.from_table(table), SparseColumns.from_table(table, n_jobs)
        tallies = list(map(Tally.of, stores))
        assert_same(*(tally.counts for tally in tallies))
        for _ in range(3):
            rewrite = data.draw(rewrites(tallies[0].store.n_columns))
            tallies = [t.with_conjunctions(rewrite.left, rewrite.right) for t in tallies]
            tallies = [tally.rewritten(rewrite) for tally in tallies]
            assert_same(*(tally.counts for tally in tallies))


@given(tables(max_rows=60), st.lists(st.integers(0, 59), max_size=60))
def test_rows_are_counted(table, repeated):
    table = table[[k % len(table) for k in repeated] or [0]]
    store = SparseColumns.from_table(table)
    assert store.count_distinct_rows() == len(np.unique(table, axis=0))
    assert store.count_null_rows() == int((~table.any(axis=1)).sum())
    assert store.supports().tolist() == table.sum(axis=0).tolist()


@given(tables(max_rows=60))
def test_rows_of_equal_mix_are_told_apart(table):
    class NoMix:
        def integers(self, low, high, size, dtype):
            return np.zeros(size, dtype)

    made = sparse.np.random.default_rng
    sparse.np.random.default_rng = lambda seed: NoMix()
    try:
        counted = SparseColumns.from_table(table).count_distinct_rows()
    finally:
        sparse.np.random.default_rng = made
    assert counted == len(np.unique(table, axis=0))


@given(tables(max_rows=60), st.sampled_from([sp.csr_array, sp.csc_matrix, sp.coo_array]))
def test_from_a_matrix(table, kind):
    store = SparseColumns.from_matrix(kind(table))
    expected = SparseColumns.from_table(table)
    assert store.n_rows == expected.n_rows
    assert [line.tolist() for line in store.raw_columns] == [
        line.tolist() for line in expected.raw_columns
    ]


def test_zeros_that_are_stored_and_cells_that_are_stored_twice():
    cells = np.array([0, 1, 1, 1]), (np.array([0, 1, 1, 2]), np.array([0, 1, 1, 0]))
    store = SparseColumns.from_matrix(sp.coo_array(cells, shape=(3, 2)))
    assert [line.tolist() for line in store.raw_columns] == [[2], [1]]


@given(tables(max_rows=60), st.data())
def test_lines_are_conjoined(table, data):
    store = SparseColumns.from_table(table)
    column = st.integers(0, table.shape[1] - 1)
    i, j = data.draw(column), data.draw(column)
    for not_left in (False, True):
        for not_right in (False, True):
            both = (table[:, i] ^ not_left) & (table[:, j] ^ not_right)
            made = store.conjunction(
                store.raw_columns[i], store.raw_columns[j], not_left=not_left, not_right=not_right
            )
            assert made.tolist() == np.flatnonzero(both).tolist()
    either = store.disjunction(store.raw_columns[i], store.raw_columns[j])
    assert either.tolist() == np.flatnonzero(table[:, i] | table[:, j]).tolist()
    assert store.empty_column.tolist() == []
    counts = store.with_raw_columns([store.raw_columns[i]]).against(store)
    assert counts.joint.tolist() == (table & table[:, [i]]).sum(axis=0).tolist()
    assert counts.left_support.tolist() == [table[:, i].sum()] * table.shape[1]
    assert counts.right_support.tolist() == table.sum(axis=0).tolist()


@pytest.mark.parametrize("shape", [(0, 3), (5, 0)])
def test_nothing_to_count(shape):
    store = SparseColumns.from_matrix(sp.csr_array(shape, dtype=np.int8))
    assert (store.n_rows, store.n_columns) == shape
    assert store.count_distinct_rows() == min(1, shape[0])
    assert pairs_of(store.pair_counts()) == {}


@given(tables(max_rows=60))
def test_size(table):
    size = SparseColumns.from_table(table).size()
    assert (size.n_rows, size.n_columns) == table.shape
    assert size.n_ones == table.sum()
    assert size.n_meetings == (table.sum(axis=1) ** 2).sum()
    assert size.n_common_pairs == len(pairs_of(PackedColumns.from_table(table).pair_counts()))


def test_met_pairs_are_guessed_from_a_sample(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.random((300, 400)) < rng.random(400) ** 4 / 5
    monkeypatch.setattr(sizing, "_SAMPLE", 40)
    store = SparseColumns.from_table(table)
    met = len(pairs_of(store.pair_counts()))
    assert abs(store.size().n_common_pairs / met - 1) < 0.2


@pytest.mark.skipif(native_library is None, reason="installed without a C compiler")
@given(
    table=arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(2, 8))),
    picks=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=12),
)
def test_lists_are_merged_in_c_as_in_numpy(table, picks):
    """Whatever is merged, columns that never meet among them."""
    ones = SparseColumns.from_table(table).ones
    actual, expected = CompiledLists(ones), MergedLists(ones)
    for n, (one, other) in enumerate(picks, start=table.shape[1]):
        left, right = one % n, (one % n + 1 + other % (n - 1)) % n
        assert np.array_equal(actual.merge(left, right), expected.merge(left, right))


@given(st.integers(0, 999), st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59))))
def test_some_pairs_of_many_columns_are_looked_up_in_a_list(seed, pairs):
    table = np.random.default_rng(seed).random((40, 60)) < 0.1
    pairs = [*[pair for pair in pairs if pair[0] != pair[1]][:20], (3, 59)]
    left, right = np.sort(np.array(pairs), axis=1).T
    found = SparseColumns.from_table(table).pair_counts()
    # a matrix would be larger than the counts of these pairs
    assert found.to_matrix(4 * found.pairs.joint.itemsize * len(left)) is None
    joint = table.T.astype(int) @ table
    assert found.for_pairs(left, right).joint.tolist() == joint[left, right].tolist()
