"""Merges in rounds against their oracle: every round, the counts, the final set, the passes."""

from itertools import groupby, islice

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conjunct
import naive_evidence
from conjunct import UFC, Evidence
from conjunct.columns import MaskedColumns, PackedColumns
from conjunct.counting import PartitionedColumns, WeightedColumns
from conjunct.counting.partitioned import DiskPartitions, ScratchFile
from conjunct.errors import InputError
from conjunct.features import merge_cost
from conjunct.files import Checkpoint, stream
from conjunct.files.model import model_json
from conjunct.ufc.run import Plan
from runs import ran
from tables import tables
from ufc.test_evidence import LAYOUTS, NAMES, merges_of, without_c

factors = st.sampled_from([0.01, 0.1, 0.5, 1.0])
STOPPING = ["gain", "never", "rms"]


def run(store, factor=1.0, *, names=NAMES, max_length=None, stop="gain", **options):
    plan = Plan(Evidence(factor), "batch", max_length)
    return ran(store, list(names[: store.n_columns]), plan, stop=stop, **options)


def sizes_of(fitted):
    """The number of merges in each round."""
    numbers = [merge.iteration for merge in fitted.merges]
    assert {*numbers} == {*range(1, len({*numbers}) + 1)}
    return [len(list(some)) for _, some in groupby(numbers)]


def rounds_of(run):
    """The merges of each round: their patterns, evidence and joint count."""
    each = iter(merges_of(run))
    return [list(islice(each, size)) for size in sizes_of(run.feature_set)]


def assert_same(actual, expected):
    rounds, final = expected
    found = rounds_of(actual)
    assert [[(*merge[:2], merge[3]) for merge in some] for some in found] == [
        [(merge.left, merge.right, merge.joint) for merge in some] for some in rounds
    ]
    assert [merge[2] for some in found for merge in some] == pytest.approx(
        [merge.evidence for some in rounds for merge in some], abs=2e-6
    )
    fitted = actual.feature_set
    supports = zip(fitted.patterns, fitted.supports, strict=True)
    assert sorted(pair for pair in supports if pair[1]) == sorted(final)


def in_topics(n_rows, n_columns, seed=3):
    """Rows of topics, in which rounds have many merges."""
    random = np.random.default_rng(seed)
    topics = random.random((n_rows, n_columns // 2)) < 0.25
    table = np.repeat(topics, 2, axis=1) & (random.random((n_rows, n_columns)) < 0.8)
    table[:, ::3] |= topics[:, :1]
    return table | (random.random(table.shape) < 0.03)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(
    table=tables(),
    factor=factors,
    max_length=st.sampled_from([None, 2, 3]),
    limit=st.none() | st.integers(0, 3),
)
def test_every_round_is_the_oracles(layout, table, factor, max_length, limit):
    options = factor, max_length, limit
    expected = naive_evidence.run_in_rounds(NAMES[: table.shape[1]], table.tolist(), *options)
    actual = run(LAYOUTS[layout](table), factor, max_length=max_length, max_iter=limit)
    assert_same(actual, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rounds_have_many_merges(layout):
    table, names = in_topics(120, 16), [f"c{k:02}" for k in range(16)]
    expected = naive_evidence.run_in_rounds(names, table.tolist(), 0.1)
    assert_same(run(LAYOUTS[layout](table), 0.1, names=names), expected)
    assert max(map(len, expected[0])) > 4


@given(table=tables(), factor=factors)
def test_no_c_is_needed(table, factor):
    with pytest.MonkeyPatch.context() as patch, without_c(patch):
        slow = run(PackedColumns.from_table(table), factor)
    assert rounds_of(slow) == rounds_of(run(PackedColumns.from_table(table), factor))


@pytest.mark.parametrize("in_pages", [False, True])
@given(table=tables(max_columns=6), factor=factors, data=st.data())
def test_missing_cells_are_counted_where_both_are_known(in_pages, table, factor, data):
    cells = st.lists(st.booleans(), min_size=table.size, max_size=table.size)
    known = ~np.array(data.draw(cells), bool).reshape(table.shape)
    lists = (table.tolist(), known.tolist())
    rows = [
        [cell if is_known else None for cell, is_known in zip(*row, strict=True)]
        for row in zip(*lists, strict=True)
    ]
    parts = [
        MaskedColumns(PackedColumns.from_table(one & two), PackedColumns.from_table(two))
        for one, two in zip(*(np.array_split(part, 3) for part in (table, known)), strict=True)
        if len(one)
    ]
    store = MaskedColumns.concat_rows(parts)
    if in_pages:
        scratch = ScratchFile()
        for part in parts:
            scratch.append(part)
        store = PartitionedColumns(DiskPartitions(scratch, 10**8))
    options = {"max_length": 6} if factor == 0.01 else {}
    names = NAMES[: table.shape[1]]
    expected = naive_evidence.run_in_rounds(names, rows, factor, max_rounds=4, **options)
    assert_same(run(store, factor, max_iter=4, **options), expected)


@pytest.mark.parametrize("layout", ["bits", "lists", "masked"])
@given(table=tables(max_columns=6), factor=factors, data=st.data())
def test_weights_are_repeated_rows(layout, table, factor, data):
    n_rows = len(table)
    weights = data.draw(st.lists(st.integers(1, 5), min_size=n_rows, max_size=n_rows))
    names = NAMES[: table.shape[1]]
    expected = naive_evidence.run_in_rounds(names, table.tolist(), factor, weights=weights)
    store = WeightedColumns.of(LAYOUTS[layout](table), np.array(weights))
    assert_same(run(store, factor), expected)


@given(table=tables(), seed=st.integers(0, 99))
def test_no_order_of_rows_or_columns_matters(table, seed):
    random = np.random.default_rng(seed)
    rows, columns = map(random.permutation, table.shape)
    mixed = run(
        PackedColumns.from_table(table[rows][:, columns]), 0.05, names=[NAMES[k] for k in columns]
    )
    assert rounds_of(mixed) == rounds_of(run(PackedColumns.from_table(table), 0.05))


@given(table=tables(), factor=factors)
def test_the_history_adds_up_evidence_less_cost(table, factor):
    made = run(PackedColumns.from_table(table), factor)
    n_occurring = int(table.any(axis=0).sum())
    total, merges = [0.0], iter(enumerate(made.feature_set.merges, start=1))
    for size in sizes_of(made.feature_set):
        total.append(total[-1])
        for k, merge in islice(merges, size):
            cost = merge_cost(len(table), n_occurring, k)
            assert merge.threshold == cost
            assert merge.score > factor * cost
            total[-1] += merge.score - cost
    assert [line.evidence for line in made.history] == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@given(table=tables(), factor=factors, n_rounds=st.integers(1, 3), stop=st.sampled_from(STOPPING))
def test_a_run_goes_on_from_a_checkpoint(tmp_path_factory, layout, table, factor, n_rounds, stop):
    path, store = tmp_path_factory.mktemp("run") / "run.jsonl", LAYOUTS[layout](table)
    options = {"stop": stop, "max_length": 4}
    whole = run(store, factor, **options)
    run(store, factor, max_iter=n_rounds, progress_store=Checkpoint(path), **options)
    resumed = run(store, factor, progress_store=Checkpoint(path), **options)
    assert resumed.feature_set.merges == whole.feature_set.merges
    assert resumed.feature_set.supports == whole.feature_set.supports
    assert resumed.stop_reason == whole.stop_reason
    # as text, for NaN is not equal to itself
    assert str(resumed.history) == str(whole.history)


def test_a_checkpoint_belongs_to_one_factor_and_one_search(tmp_path):
    """A factor cuts rounds, so that another one leads to other features."""
    store, checkpoint = PackedColumns.from_table(in_topics(200, 8)), Checkpoint(tmp_path / "run")
    run(store, 0.5, progress_store=checkpoint, max_iter=1)
    for plan in (Plan(Evidence(0.1), "batch"), Plan(Evidence(0.5), "pairwise")):
        with pytest.raises(InputError, match="its options differ"):
            ran(store, NAMES, plan, progress_store=checkpoint)


@pytest.mark.parametrize("layout", ["pages of bits", "pages of lists"])
def test_a_round_is_one_pass(layout, monkeypatch):
    """With parts on disk: as many passes as rounds, and one for the pair that ends the run."""
    random, names = np.random.default_rng(0), [f"c{k:02}" for k in range(24)]
    table = np.repeat(random.random((300, 8)) < 0.3, 3, axis=1) & (random.random((300, 24)) < 0.9)
    passes, count = [], DiskPartitions.total
    store = LAYOUTS[layout](table)
    monkeypatch.setattr(
        DiskPartitions, "total", lambda self, *what: passes.append(what) or count(self, *what)
    )
    run(store, names=names, max_iter=0)
    n_first = len(passes)
    made = run(store, names=names)
    n_merges = len(made.feature_set.merges)
    assert len(passes) - 2 * n_first == made.n_iter + 1
    assert n_merges > 3 * made.n_iter


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(table=tables(), factor=factors)
def test_each_truncated_model_is_a_fit_that_ends_there(table, factor):
    options = {"criterion": Evidence(factor), "search": "batch"}
    model = UFC(**options).fit(table)
    path = model.get_path(table, backend="dict")
    sizes = [0, *np.cumsum(sizes_of(model.feature_set_)).tolist()]
    assert path["chunks"] == sizes
    for k, size in enumerate(sizes):
        alone = UFC(**options, max_iter=k).fit(table)
        shorter = model.truncate(max_chunks=size, X_train=table)
        assert shorter.features_ == alone.features_
        assert shorter.n_iter_ == k
        assert shorter.description_length_ == pytest.approx(alone.description_length_)
        assert path["description_length"][k] == pytest.approx(alone.description_length_)


def test_a_model_is_saved_and_says_what_it_did(tmp_path):
    table = in_topics(300, 24)
    model = UFC(search="batch").fit(table)
    n_rounds, n_merges = model.n_iter_, len(model.feature_set_.merges)
    assert model.stop_reason_.startswith(f"It stopped after {n_rounds} rounds: no other pair")
    model.save(tmp_path / "model.json")
    loaded = conjunct.load(tmp_path / "model.json")
    assert loaded.feature_set_.merges == model.feature_set_.merges
    assert str(loaded.history_) == str(model.history_)
    assert loaded.stop_reason_ == model.stop_reason_
    shorter = model.truncate(max_chunks=sizes_of(model.feature_set_)[0])
    assert shorter.stop_reason_ == f"Of {n_rounds} rounds the first 1 is kept."
    # a limit within a round keeps the rounds before it
    assert model.truncate(max_chunks=n_merges - 1).n_iter_ == n_rounds - 1
    limit = len(shorter.features_)
    limited = UFC(search="batch", max_features=limit).fit(table)
    assert limited.features_ == model.truncate(max_features=limit).features_
    assert len(limited.features_) <= limit


def test_files_on_disk_give_the_same_model(tmp_path):
    """From the start, and from a checkpoint after two rounds."""
    table = pl.DataFrame(in_topics(400, 24), schema=[f"c{k:02}" for k in range(24)])
    halves = tmp_path / "a.parquet", tmp_path / "b.parquet"
    for half, file in zip((table.head(250), table.tail(150)), halves, strict=True):
        half.write_parquet(file)
    expected = UFC(search="batch").fit(table)
    model = UFC(search="batch").fit(stream(*halves))
    UFC(search="batch", max_iter=2).fit(stream(*halves), checkpoint=tmp_path / "run.json")
    resumed = UFC(search="batch").fit(stream(*halves), checkpoint=tmp_path / "run.json")
    for one in (model, resumed):
        assert model_json(one._model_file()) == model_json(expected._model_file())
    assert expected.n_iter_ > 2
