"""Parts that count by themselves against one store of all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct.association import Criterion
from conjunct.construction.run import run_ufc
from conjunct.construction.ufc import Rule
from conjunct.errors import InputError
from conjunct.stores import BitStore, PartitionedStore
from conjunct.stores.packing import distinct_rows, pack
from conjunct.stores.paged import PagedPartitions, pieces
from conjunct.stores.scratch import ScratchFile
from tables import tables

NAMES = "abcdefgh"
ENOUGH = 10**7

rules = st.builds(
    Rule,
    st.builds(Criterion, st.sampled_from([0.0, 0.1, 0.3]), st.booleans()),
    st.sampled_from(["batch", "pairwise"]),
)


@st.composite
def split_tables(draw):
    table = draw(tables(max_rows=200))
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(table) - 1)), max_size=4)))
    return table, [part for part in np.split(table, cuts) if len(part)]


def paged(parts, memory=ENOUGH):
    scratch = ScratchFile()
    for part in parts:
        scratch.append(pack(part), len(part))
    return PagedPartitions(scratch, memory)


def outcome(store, n_columns, rule, **options):
    run = run_ufc(store, NAMES[:n_columns], rule, **options)
    found = run.feature_set
    # as text, for NaN is not equal to itself
    return repr((found.features, found.supports, found.merges, run.tried, run.n_distinct_rows))


@given(split_tables(), rules, st.sampled_from([None, 0, 3]), st.booleans())
def test_any_split_gives_the_same_features(split, rule, max_iter, null_feature):
    table, parts = split
    options = {"max_iter": max_iter, "stop": "rms", "null_feature": null_feature}
    expected = outcome(BitStore.from_table(table), table.shape[1], rule, **options)
    actual = outcome(PartitionedStore(paged(parts)), table.shape[1], rule, **options)
    assert actual == expected


@given(split_tables(), st.integers(1, 400))
def test_little_memory_changes_nothing(split, page_bytes):
    table, parts = split
    store = BitStore.from_table(table)
    pages = [piece for part in parts for piece in pieces(BitStore.from_table(part), page_bytes)]
    assert sum(piece.n_rows for piece in pages) == len(table)
    assert all(
        piece.n_rows <= 64 or piece.n_columns * piece.n_rows // 8 <= page_bytes for piece in pages
    )
    assert np.array_equal(sum(piece.joint_counts() for piece in pages), store.joint_counts())
    # too little for all rows at once: they are told apart in buckets
    apart = paged(parts, memory=5 * page_bytes)
    assert apart.count_distinct_rows() == store.count_distinct_rows()
    assert apart.count_null_rows() == store.count_null_rows()


@given(tables(max_rows=120), st.integers(1, 3))
def test_distinct_rows(table, copies):
    rows = BitStore.from_table(np.repeat(table, copies, axis=0)).packed_rows()
    found = distinct_rows(rows)
    assert {row.tobytes() for row in found} == {row.tobytes() for row in rows}
    assert len(found) == len({row.tobytes() for row in rows})


def test_pages_grow_apart_as_features_are_added():
    table = np.random.default_rng(0).random((6000, 12)) < 0.5
    table[:, 6:] |= table[:, :6]
    parts = paged(np.split(table, 3), memory=22_000)
    rule = Rule(Criterion(0.0))
    names = "abcdefghijkl"
    actual = run_ufc(PartitionedStore(parts), names, rule, max_iter=3)
    expected = run_ufc(BitStore.from_table(table), names, rule, max_iter=3)
    assert actual.feature_set.merges == expected.feature_set.merges
    assert len(parts._state[1].pages) > 3


def test_counts_that_memory_does_not_hold_are_refused():
    parts = paged([np.ones((4, 100), bool)], memory=50_000)
    with pytest.raises(InputError, match=r"the counts of 100 columns take 120 kB, and 50 kB are"):
        PartitionedStore(parts).tally()
