"""The rule of evidence against its oracle: every merge, its facts in all rows, the final set."""

import math
from contextlib import contextmanager
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import conjunct.ufc.search as search
import naive_evidence
from conjunct import UFC, Evidence
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns, kernel, packed
from conjunct.counting import PartitionedColumns, WeightedColumns, merging, tally
from conjunct.counting.partitioned import DiskPartitions, ScratchFile
from conjunct.features import merge_cost
from conjunct.files import Checkpoint
from conjunct.ufc import STOPS
from conjunct.ufc.association import evidence
from conjunct.ufc.run import Plan, run_ufc
from tables import tables

# names whose order is not that of the columns
NAMES = ["m", "b", "z", "a", "q", "c", "y", "d"]


def in_pages(table, layout, store):
    scratch = ScratchFile()
    for part in np.array_split(table, 3):
        if len(part):
            scratch.append(layout.from_table(part))
    return PartitionedColumns(DiskPartitions(scratch, 10**8, storage=store))


LAYOUTS = {
    "bits": PackedColumns.from_table,
    "lists": SparseColumns.from_table,
    "masked": lambda table: MaskedColumns.of(PackedColumns.from_table(table)),
    "pages of bits": lambda table: in_pages(table, PackedColumns, "dense"),
    "pages of lists": lambda table: in_pages(table, SparseColumns, "sparse"),
}

factors = st.sampled_from([0.1, 0.5, 1.0])
max_lengths = st.sampled_from([None, 2, 3])


def run(store, factor=1.0, *, names=NAMES, max_length=None, stop="gain", **options):
    plan = Plan(Evidence(factor), "pairwise", max_length)
    stop = STOPS.resolve(stop)
    return run_ufc(store, list(names[: store.n_columns]), plan, stop, **options)


def merges_of(run):
    """The patterns of each merge in their order, its evidence and its joint count."""
    lineage, found = run.feature_set.lineage, []
    for merge in run.feature_set.merges:
        patterns = sorted([lineage.pattern(merge.left), lineage.pattern(merge.right)])
        found.append((*patterns, merge.score, merge.joint))
    return found


def assert_same(actual, expected):
    merges, final = expected
    found = merges_of(actual)
    assert [merge[:2] for merge in found] == [(merge.left, merge.right) for merge in merges]
    assert [merge[3] for merge in found] == [merge.joint for merge in merges]
    assert [merge[2] for merge in found] == pytest.approx(
        [merge.evidence for merge in merges], abs=2e-6
    )
    fitted = actual.feature_set
    supports = zip(fitted.patterns, fitted.supports, strict=True)
    assert sorted(pair for pair in supports if pair[1]) == sorted(final)


@contextmanager
def without_c(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(tally, "native_library", None)
        patch.setattr(packed, "native_library", None)
        patch.setattr(kernel, "native", None)
        yield


@pytest.mark.parametrize("layout", LAYOUTS)
@given(table=tables(max_columns=6), factor=factors, max_length=max_lengths)
def test_every_merge_is_the_oracles(layout, table, factor, max_length):
    expected = naive_evidence.run(NAMES[: table.shape[1]], table.tolist(), factor, max_length)
    assert_same(run(LAYOUTS[layout](table), factor, max_length=max_length), expected)


@pytest.mark.parametrize("layout", ["bits", "lists"])
@given(table=tables(max_columns=6), factor=factors)
def test_numpy_finds_what_c_finds(layout, table, factor):
    with pytest.MonkeyPatch.context() as patch, without_c(patch):
        slow = run(LAYOUTS[layout](table), factor)
    quick = run(LAYOUTS[layout](table), factor)
    assert merges_of(quick) == merges_of(slow)
    # as text, for NaN is not equal to itself
    assert str(quick.history) == str(slow.history)


@given(table=tables(max_columns=8), largest=st.sampled_from([0, 2000]))
def test_long_lists_of_pairs_choose_as_a_matrix_does(table, largest):
    expected = run(SparseColumns.from_table(table), 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "LARGEST_MATRIX", largest)
        actual = run(SparseColumns.from_table(table), 0.1)
        with without_c(patch):
            slow = run(SparseColumns.from_table(table), 0.1)
    assert merges_of(actual) == merges_of(slow) == merges_of(expected)


def test_c_chooses_what_numpy_does_on_many_columns():
    """Hundreds of merges, rows that grow, ties, and patterns that decide."""
    random = np.random.default_rng(3)
    topics = random.random((300, 8)) < 0.2
    table = (topics @ (random.random((8, 24)) < 0.25)) & (random.random((300, 24)) < 0.6)
    table |= random.random((300, 24)) < 0.02
    names = [f"c{k}" for k in range(24)]
    runs = [merges_of(run(make(table), 0.2, names=names)) for make in LAYOUTS.values()]
    with pytest.MonkeyPatch.context() as patch, without_c(patch):
        runs.append(merges_of(run(LAYOUTS["bits"](table), 0.2, names=names)))
    assert len(runs[0]) > 50
    assert all(other == runs[0] for other in runs[1:])


def test_rows_beyond_what_c_marks_are_compared_side_by_side():
    """The same rows among 4 million others, and among as few as they are."""
    random = np.random.default_rng(5)
    topics = random.random((400, 4)) < 0.3
    some = (topics @ (random.random((4, 8)) < 0.5)) & (random.random((400, 8)) < 0.8)
    far = np.sort(random.choice(1 << 22, 400, replace=False))
    rows, columns = np.nonzero(some)
    ones = np.ones(len(rows), np.int32)

    def spread(places):
        matrix = sp.csc_array((ones, (places[rows], columns)), shape=(1 << 22, 8))
        return merges_of(run(SparseColumns.from_matrix(matrix), 0.1))

    assert far[-1] >= 1 << 21
    assert spread(far) == spread(np.arange(400)) != []


def test_numpy_takes_over_where_a_table_of_logarithms_is_too_large(monkeypatch):
    table = np.random.default_rng(0).random((200, 6)) < 0.4
    table[:, 1] |= table[:, 0]
    quick = merges_of(run(PackedColumns.from_table(table), 0.1))
    monkeypatch.setattr(search, "_LARGEST_TABLE", 100)
    assert merges_of(run(PackedColumns.from_table(table), 0.1)) == quick != []


@given(table=tables(max_columns=5), factor=factors, data=st.data())
def test_missing_cells_are_counted_where_both_are_known(table, factor, data):
    cells = st.lists(st.booleans(), min_size=table.size, max_size=table.size)
    missing = np.array(data.draw(cells), bool).reshape(table.shape)
    rows = [
        [None if gone else bool(cell) for cell, gone in zip(*row, strict=True)]
        for row in zip(table, missing, strict=True)
    ]
    known = PackedColumns.from_table(~missing)
    store = MaskedColumns(PackedColumns.from_table(table & ~missing), known)
    expected = naive_evidence.run(NAMES[: table.shape[1]], rows, factor, max_merges=6)
    assert_same(run(store, factor, max_iter=6), expected)


@pytest.mark.parametrize("seed", range(3))
def test_c_and_numpy_make_the_same_merges_where_cells_are_missing(seed, monkeypatch):
    """Enough merges for the matrices to grow; what was true may become missing."""
    rng = np.random.default_rng(seed)
    causes = rng.random((300, 8)) < 0.35
    table = causes[:, rng.integers(0, 8, 24)] ^ (rng.random((300, 24)) < 0.08)
    known = rng.random(table.shape) < np.linspace(0.6, 1, 24)
    store = MaskedColumns(PackedColumns.from_table(table & known), PackedColumns.from_table(known))
    names = [f"c{k:02}" for k in range(24)]
    quick = run(store, 0.1, names=names)
    monkeypatch.setattr(search, "_LARGEST_TABLE", 0)
    slow = run(store, 0.1, names=names)
    assert merges_of(quick) == merges_of(slow)
    assert len(quick.feature_set.merges) > 60
    assert quick.feature_set.supports == slow.feature_set.supports


@pytest.mark.parametrize("layout", ["bits", "lists", "masked"])
@given(table=tables(max_columns=5), factor=factors, data=st.data())
def test_weights_are_repeated_rows(layout, table, factor, data):
    n_rows = len(table)
    weights = data.draw(st.lists(st.integers(1, 5), min_size=n_rows, max_size=n_rows))
    names = NAMES[: table.shape[1]]
    expected = naive_evidence.run(names, table.tolist(), factor, weights=weights)
    store = WeightedColumns.of(LAYOUTS[layout](table), np.array(weights))
    assert_same(run(store, factor), expected)


@given(table=tables(), factor=factors, data=st.data())
def test_no_order_of_rows_or_columns_matters(table, factor, data):
    rows = data.draw(st.permutations(range(len(table))))
    columns = data.draw(st.permutations(range(table.shape[1])))
    straight = run(PackedColumns.from_table(table), factor)
    mixed = table[rows][:, columns]
    other = run(PackedColumns.from_table(mixed), factor, names=[NAMES[k] for k in columns])
    assert merges_of(other) == merges_of(straight)
    assert sorted(other.feature_set.patterns) == sorted(straight.feature_set.patterns)


@given(table=tables(max_columns=8), factor=factors)
def test_every_chunk_is_a_true_statement_about_the_rows(table, factor):
    column = dict(zip(NAMES, table.T, strict=False))
    for left, right, bits, _ in merges_of(run(PackedColumns.from_table(table), factor)):
        one = np.all([column[tag] for tag in left], axis=0)
        other = np.all([column[tag] for tag in right], axis=0)
        # the two halves meet more often than chance would have it
        assert (one & other).sum() * len(table) > one.sum() * other.sum()
        assert bits > 0


@given(table=tables(max_columns=8))
def test_a_factor_only_says_where_the_one_sequence_ends(table):
    store = PackedColumns.from_table(table)
    longest = merges_of(run(store, 0.01))
    for factor in (0.3, 1.0, 3.0):
        shorter = merges_of(run(store, factor))
        assert shorter == longest[: len(shorter)]


@given(table=tables(max_columns=8), max_features=st.integers(1, 12))
def test_max_features_only_says_where_the_one_sequence_ends(table, max_features):
    store = PackedColumns.from_table(table)
    whole = run(store, 0.1)
    sizes = [line.n_features for line in whole.history]
    if min(sizes) > max_features:
        return
    limited = run(store, 0.1, max_features=max_features)
    assert merges_of(limited) == merges_of(whole)[: limited.n_iter]
    assert limited.n_iter == max(k for k, size in enumerate(sizes) if size <= max_features)


@given(table=tables(max_columns=7))
def test_the_history_adds_up_evidence_less_cost(table):
    made = run(PackedColumns.from_table(table), 0.2)
    n_occurring = int(table.any(axis=0).sum())
    total = 0.0
    for k, (line, merge) in enumerate(
        zip(made.history[1:], made.feature_set.merges, strict=True), start=1
    ):
        cost = merge_cost(len(table), n_occurring, k)
        assert merge.threshold == pytest.approx(cost)
        assert merge.saved == pytest.approx(merge.score - cost, abs=1e-6)
        total += merge.score - cost
        assert line.evidence == pytest.approx(total, abs=1e-5)
    assert made.history[0].evidence == 0


@pytest.mark.parametrize("layout", ["bits", "lists", "masked", "pages of bits", "pages of lists"])
@given(table=tables(max_columns=6), stops_at=st.integers(1, 4))
def test_a_run_goes_on_from_a_checkpoint_with_another_factor(
    tmp_path_factory, layout, table, stops_at
):
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    whole = run(LAYOUTS[layout](table), 0.1)
    run(LAYOUTS[layout](table), 1.0, max_iter=stops_at, progress_store=Checkpoint(path))
    resumed = run(LAYOUTS[layout](table), 0.1, progress_store=Checkpoint(path))
    assert merges_of(resumed) == merges_of(whole)
    assert str(resumed.history) == str(whole.history)


@given(
    st.integers(1, 60).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n), st.integers(0, n))
    )
)
def test_evidence_of_a_table(counts):
    n, s, t, c = counts
    if c > min(s, t) or n - s - t + c < 0:
        return
    found = evidence(n, *(np.array([count]) for count in (s, t, c)))[0]
    expected = naive_evidence.evidence(n, s, t, c)
    assert found == pytest.approx(expected, abs=1e-6) if expected > 1e-6 else found == -math.inf
    # exactly symmetric in the two columns
    assert found == evidence(n, *(np.array([count]) for count in (t, s, c)))[0]


def test_cost_of_a_merge():
    assert merge_cost(100, 10, 3) == pytest.approx(naive_evidence.cost(100, 10, 3))
    assert merge_cost(100, 3, 50) == pytest.approx(naive_evidence.cost(100, 3, 50))


def test_sex_and_sport():
    """58% of men and 13% of women play football: it goes with men, never with women."""
    rng = np.random.default_rng(0)
    male = np.repeat([True, False], 500)
    football = np.where(male, rng.random(1000) < 0.58, rng.random(1000) < 0.13)
    table = {"male": male, "female": ~male, "football": football, "yoga": ~football}
    import pandas as pd

    model = UFC("evidence").fit(pd.DataFrame(table))
    chunks = {tags for tags in model.patterns_ if len(tags) > 1}
    assert ("football", "male") in chunks
    assert ("female", "yoga") in chunks
    assert ("female", "football") not in chunks


def test_ties_go_by_joint_count_then_by_names():
    # three pairs of equal columns: two of support 3, one of support 5 (the same evidence as 3 of 8)
    one, other, five = np.zeros((3, 8), bool)
    one[:3] = other[2:5] = True
    five[3:] = True
    table = np.column_stack([one, one, other, other, ~five, ~five])
    made = run(PackedColumns.from_table(table), 0.1, names=["x", "b", "c", "a", "e", "d"])
    first = naive_evidence.run(["x", "b", "c", "a", "e", "d"], table.tolist(), 0.1)
    assert_same(made, first)


def test_nothing_found_names_the_strongest_pair_and_what_it_needs():
    table = np.zeros((20, 3), bool)
    table[:8, 0] = table[4:12, 1] = table[::5, 2] = True
    with pytest.warns(match="strongest pair"):
        model = UFC("evidence").fit(table)
    assert "bits of evidence and needs more than" in model.stop_reason_
    assert model.n_iter_ == 0


def test_the_pair_named_as_nearest_has_the_highest_lift_among_rows_that_know_both():
    """4 of 5 expected rows of 20 come nearer than 1 of 1.5, which only 4 rows say."""
    table = np.full((20, 4), np.nan)
    table[:, 0], table[:, 1] = np.arange(20) < 10, (np.arange(20) >= 6) & (np.arange(20) < 16)
    table[16:, 2:] = [[1, 0], [1, 1], [0, 1], [0, 1]]
    with pytest.warns(match="no two columns are true together more often than by chance"):
        model = UFC(missing="pairwise").fit(table)
    assert "together in 4 rows; chance alone gives 5.0" in model.stop_reason_


@pytest.mark.parametrize("factor", [0, -1, math.inf, math.nan, "a", True])
def test_factors_that_cannot_be_used(factor):
    with pytest.raises(ValueError, match="factor must be a number above 0"):
        UFC(Evidence(factor)).fit(np.eye(4, dtype=bool))


@pytest.mark.parametrize("layout", LAYOUTS)
@given(table=tables(max_columns=6), max_length=max_lengths)
def test_a_run_that_nothing_stops_ends_where_no_pair_is_above_chance(layout, table, max_length):
    quick = run(LAYOUTS[layout](table), stop="never", max_length=max_length)
    with pytest.MonkeyPatch.context() as patch, without_c(patch):
        slow = run(LAYOUTS[layout](table), stop="never", max_length=max_length)
    assert merges_of(quick) == merges_of(slow)
    assert quick.stop_reason == slow.stop_reason
    assert all(merge.score > 0 and merge.joint > 0 for merge in slow.feature_set.merges)
    # and no pair that is left could be joined
    dense = slow.feature_set.evaluate(PackedColumns.from_table(table)).to_dense().astype(bool)
    patterns = slow.feature_set.patterns
    for i, j in combinations(range(len(patterns)), 2):
        both = {*patterns[i], *patterns[j]}
        if max_length is not None and len(patterns[i]) + len(patterns[j]) > max_length:
            continue
        wholes = [
            table[:, [NAMES.index(tag) for tag in tags]].all(axis=1)
            for tags in (patterns[i], patterns[j])
        ]
        of_features = naive_table(dense[:, i], dense[:, j])
        of_patterns = naive_table(*wholes)
        values = [naive_evidence.evidence(*each) for each in (of_features, of_patterns)]
        assert min(values) <= 1e-9 or len(both) < len(patterns[i]) + len(patterns[j])


def naive_table(one, other):
    return len(one), int(one.sum()), int(other.sum()), int((one & other).sum())
