"""Parts that count by themselves against one store of all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns, concat_parts, concat_rows
from conjunct.counting import PartitionedColumns, Tally
from conjunct.counting.partitioned import DiskPartitions, ScratchFile
from conjunct.errors import InputError
from conjunct.ufc import Bits, Threshold
from runs import planned, ran, with_null
from tables import tables

NAMES = "abcdefgh"
ENOUGH = 10**7

rules = st.builds(
    planned,
    st.builds(Threshold, st.sampled_from([0.0, 0.1, 0.3]), prune=st.booleans())
    | st.builds(Bits, st.sampled_from([None, 0.2])),
    st.sampled_from(["batch", "pairwise"]),
)


@st.composite
def split_tables(draw):
    table = draw(tables(max_rows=200))
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(table) - 1)), max_size=4)))
    return table, [part for part in np.split(table, cuts) if len(part)]


def paged(parts, memory=ENOUGH, store="auto"):
    """Tables or stores as pages."""
    scratch = ScratchFile()
    for part in parts:
        is_table = isinstance(part, np.ndarray)
        scratch.append(PackedColumns.from_table(part) if is_table else part)
    return DiskPartitions(scratch, memory, storage=store)


def with_gaps(table, gaps):
    known = PackedColumns.from_table(~gaps)
    true = PackedColumns.from_table(table & ~gaps)
    return MaskedColumns(true, known) if gaps.any() else true


def outcome(store, n_columns, rule, **options):
    run = ran(store, NAMES[:n_columns], rule, **options)
    found = run.feature_set
    # as text, for NaN is not equal to itself
    return repr((found.features, found.supports, found.merges, run.history, run.n_distinct_rows))


@given(split_tables(), rules, st.sampled_from([None, 0, 3]), st.booleans())
def test_any_split_gives_the_same_features(split, rule, max_iter, null_feature):
    table, parts = split
    options = {"max_iter": max_iter, "stop": with_null("rms") if null_feature else "rms"}
    expected = outcome(PackedColumns.from_table(table), table.shape[1], rule, **options)
    actual = outcome(PartitionedColumns(paged(parts)), table.shape[1], rule, **options)
    assert actual == expected


LAYOUTS = {"dense": PackedColumns, "sparse": SparseColumns}
FORMS = [layout.from_table for layout in LAYOUTS.values()]


@given(
    split_tables(), st.data(), rules, st.sampled_from([0, 3]), st.sampled_from(["dense", "sparse"])
)
def test_any_form_of_parts_gives_the_same_features(split, data, rule, max_iter, store):
    table, tables = split
    parts = [data.draw(st.sampled_from(FORMS))(part) for part in tables]
    expected = outcome(PackedColumns.from_table(table), table.shape[1], rule, max_iter=max_iter)
    apart = paged(parts, store=store)
    assert apart.layout is LAYOUTS[store]
    assert outcome(PartitionedColumns(apart), table.shape[1], rule, max_iter=max_iter) == expected


@given(split_tables(), st.data(), rules, st.booleans())
def test_missing_cells_in_some_parts(split, data, rule, null_feature):
    table, tables = split
    gaps = data.draw(arrays(np.bool_, table.shape))
    cuts = np.cumsum([len(part) for part in tables])[:-1]
    parts = list(map(with_gaps, tables, np.split(gaps, cuts)))
    options = {"max_iter": 3, "stop": with_null("never") if null_feature else "never"}
    expected = outcome(with_gaps(table, gaps), table.shape[1], rule, **options)
    apart = PartitionedColumns(paged(parts))
    assert apart.count_missing() == gaps.sum()
    assert apart.count_known().tolist() == (~gaps).sum(axis=0).tolist()
    assert outcome(apart, table.shape[1], rule, **options) == expected


@given(split_tables(), st.integers(1, 200), st.sampled_from(FORMS))
def test_parts_are_brought_together(split, limit, form):
    table, tables = split
    together = list(concat_parts(map(form, tables), limit))
    assert sum(part.n_rows for part in together) == len(table)
    apart = PartitionedColumns(paged(together, store="dense"))
    assert np.array_equal(
        Tally.of(apart).counts.joint, PackedColumns.from_table(table).joint_counts()
    )


@given(split_tables(), st.data())
def test_parts_of_any_length_and_form_are_united(split, data):
    table, tables = split
    whole = concat_rows([data.draw(st.sampled_from(FORMS))(part) for part in tables])
    assert whole.n_rows == len(table)
    assert np.array_equal(whole.to_dense(), table)


@given(split_tables(), st.integers(1, 400))
def test_little_memory_changes_nothing(split, page_bytes):
    table, parts = split
    store = PackedColumns.from_table(table)
    pages = [piece for part in parts for piece in PackedColumns.from_table(part).pieces(page_bytes)]
    assert sum(piece.n_rows for piece in pages) == len(table)
    assert all(
        piece.n_rows <= 64 or piece.n_columns * piece.n_rows // 8 <= page_bytes for piece in pages
    )
    assert np.array_equal(sum(piece.joint_counts() for piece in pages), store.joint_counts())
    # too little for all rows at once: they are told apart in buckets
    apart = paged(parts, memory=5 * page_bytes, store="dense")
    assert apart.count_distinct_rows() == store.count_distinct_rows()
    assert PartitionedColumns(apart).count_null_rows() == store.count_null_rows()
    lists = paged(list(map(SparseColumns.from_table, parts)), memory=5 * page_bytes, store="sparse")
    assert lists.count_distinct_rows() == store.count_distinct_rows()
    assert PartitionedColumns(lists).count_null_rows() == store.count_null_rows()


def test_pages_grow_apart_as_features_are_added():
    table = np.random.default_rng(0).random((6000, 12)) < 0.5
    table[:, 6:] |= table[:, :6]
    parts = paged(np.split(table, 3), memory=22_000, store="dense")
    rule = planned(Threshold(0.0))
    names = "abcdefghijkl"
    actual = ran(PartitionedColumns(parts), names, rule, max_iter=3)
    expected = ran(PackedColumns.from_table(table), names, rule, max_iter=3)
    assert actual.feature_set.merges == expected.feature_set.merges
    assert len(parts._latest[1].parts) > 3


def test_counts_that_memory_does_not_hold_are_refused():
    table = np.ones((4, 100), bool)
    with pytest.raises(
        InputError, match=r"the counts of 100 columns need 220 kB of memory, but only 50 kB is"
    ):
        paged([table], memory=50_000)
    parts = paged([table], memory=50_000, store="dense")
    with pytest.raises(
        InputError, match=r"the counts of 100 columns need 120 kB of memory, but only 50 kB is"
    ):
        Tally.of(PartitionedColumns(parts))


def test_wide_rare_columns_are_kept_as_lists():
    rng = np.random.default_rng(0)
    table = np.zeros((3000, 2000), bool)
    table[np.repeat(np.arange(3000), 4), rng.integers(0, 2000, 12_000)] = True
    table[:, 1] |= table[:, 0]
    assert paged(np.split(table, 3)).layout is SparseColumns
    # lists that few pairs share need no matrix of counts
    apart = paged(np.split(table, 3), memory=ENOUGH)
    rule = planned(Threshold(0.3))
    names = [f"c{k}" for k in range(2000)]
    actual = ran(PartitionedColumns(apart), names, rule, max_iter=2)
    expected = ran(PackedColumns.from_table(table), names, rule, max_iter=2)
    assert actual.feature_set.merges == expected.feature_set.merges
    assert paged([table[:, :20]]).layout is PackedColumns


def test_a_sparse_store_keeps_no_missing_cells():
    part = with_gaps(np.ones((4, 2), bool), np.eye(4, 2, dtype=bool))
    with pytest.raises(InputError, match="sparse storage keeps no missing cells"):
        paged([part], store="sparse")
