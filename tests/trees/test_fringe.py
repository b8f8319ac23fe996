"""Algorithm 1 with a tree as the learner, against the oracle and its invariants."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_tree
from conjunct.columns import PackedColumns
from conjunct.columns.kernel import unpack
from conjunct.errors import InputError
from conjunct.expressions import canonical_text
from conjunct.features import Lineage
from conjunct.trees.clustering import Limits
from conjunct.trees.schema import (
    PackedStage,
    clustering_paths,
    iterate,
    join_conditions,
    run_schema,
)
from tables import named, tables

NAMES = "abcdef"

small = tables(max_rows=24, max_columns=6)
schemas = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["fringe", "root", "root-fringe"]),
        "drop_redundant": st.booleans(),
        "max_features": st.integers(1, 14),
    }
)
leaves = st.sampled_from([1, 2, 4])


def run(table, schema, min_samples_leaf, names=NAMES):
    learner = clustering_paths(Limits(min_samples_leaf=min_samples_leaf), schema["max_features"])
    rest = {name: value for name, value in schema.items() if name != "strategy"}
    propose = join_conditions(learner, schema["strategy"])
    return run_schema(PackedColumns.from_table(table), names[: table.shape[1]], propose, **rest)


def somewhere_true(table):
    return table.any()


@given(small.filter(somewhere_true), schemas, leaves)
def test_features_are_the_oracles(table, schema, min_samples_leaf):
    expected = naive_tree.fringe(named(table, NAMES), min_samples_leaf=min_samples_leaf, **schema)
    actual = run(table, schema, min_samples_leaf)
    assert [line.n_features for line in actual.history] == [len(found) for found in expected]
    texts = [canonical_text(e) for e in actual.feature_set.expressions]
    assert texts == [naive.canonical(tree) for tree, _ in expected[-1]]
    assert list(actual.feature_set.supports) == [sum(column) for _, column in expected[-1]]


@given(small.filter(somewhere_true), schemas, st.integers(0, 5))
def test_of_too_many_those_of_the_largest_gain_are_added(table, schema, room):
    schema = {**schema, "max_features": 1000}
    store = PackedColumns.from_table(table)
    learner = clustering_paths(Limits(), 1000)
    propose = join_conditions(learner, schema["strategy"])
    first = PackedStage(0, tuple(range(store.n_columns)), store, store.pair_counts())

    def stage_after_one(at_most=None):
        names = NAMES[: store.n_columns]
        stages = iterate(first, Lineage(names), propose, schema["drop_redundant"], at_most)
        return next(stages, first).store.to_dense()[:, store.n_columns :]

    every, kept = stage_after_one(), stage_after_one(store.n_columns + room)
    gains = [naive_tree.gain_of(table.T.tolist(), column.tolist()) for column in every.T]
    best = sorted(sorted(range(len(gains)), key=lambda k: -gains[k])[:room])
    assert np.array_equal(kept, every[:, best])


@given(small.filter(somewhere_true), schemas, leaves)
def test_history_and_origins(table, schema, min_samples_leaf):
    expected = naive_tree.fringe(named(table, NAMES), min_samples_leaf=min_samples_leaf, **schema)
    actual = run(table, schema, min_samples_leaf)
    for line, features in zip(actual.history, expected, strict=True):
        assert line.length == pytest.approx(naive.mean_length(features))
        assert line.oi == pytest.approx(naive.overlapping_index(features), abs=1e-12)
        assert math.isnan(line.c0) == (actual.n_distinct_rows <= table.shape[1])
    fitted = actual.feature_set
    assert fitted.merges == ()
    made_in = [fitted.iteration(number) for number in fitted.features]
    sizes = [len(features) for features in expected]
    assert made_in == [
        next(k for k, size in enumerate(sizes) if position < size) for position in range(sizes[-1])
    ]
    for number in fitted.features:
        assert all(fitted.iteration(p) < fitted.iteration(number) for p in fitted.parents(number))


@given(small.filter(somewhere_true), schemas, leaves)
def test_columns_are_those_of_the_formulas(table, schema, min_samples_leaf):
    fitted = run(table, schema, min_samples_leaf).feature_set
    columns = unpack(fitted.evaluate(PackedColumns.from_table(table)).bits, len(table))
    assert columns.sum(axis=0).tolist() == list(fitted.supports)
    for row, values in zip(columns, table, strict=True):
        known = dict(zip(NAMES, values, strict=False))
        assert row.tolist() == [expression.evaluate(known) for expression in fitted.expressions]


@given(small.filter(somewhere_true), schemas, leaves, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter(table, schema, min_samples_leaf, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    expected = run(table, schema, min_samples_leaf)
    shuffled = table[np.ix_(rows, columns)]
    actual = run(shuffled, schema, min_samples_leaf, [NAMES[k] for k in columns])
    assert sorted(map(canonical_text, actual.feature_set.expressions)) == sorted(
        map(canonical_text, expected.feature_set.expressions)
    )


@given(small.filter(somewhere_true), leaves)
def test_dropped_is_all_that_is_redundant(table, min_samples_leaf):
    schema = {"strategy": "fringe", "drop_redundant": True, "max_features": 30}
    fitted = run(table, schema, min_samples_leaf).feature_set
    columns = unpack(fitted.evaluate(PackedColumns.from_table(table)).bits, len(table)).T
    assert len({tuple(column) for column in columns}) == len(columns)
    assert all(fitted.supports)
    assert all(e.length == len(e.literals) for e in fitted.expressions)
    # nothing was dropped but for a reason: every column of the table is still there
    kept = {tuple(column) for column in columns}
    assert all(tuple(column) in kept for column in table.T if column.any())


def test_nothing_but_empty_columns_cannot_be_dropped():
    schema = {"strategy": "fringe", "drop_redundant": True, "max_features": 30}
    with pytest.raises(InputError, match="all columns are false in all rows"):
        run(np.zeros((3, 2), bool), schema, 1)


def test_doubles_come_by_other_routes_but_no_pair_twice():
    table = np.random.default_rng(1).random((60, 6)) < 0.5
    schema = {"strategy": "fringe", "drop_redundant": False, "max_features": 400}
    fitted = run(table, schema, 2).feature_set
    pairs = [frozenset(pair) for pair in fitted.lineage.conjunctions]
    assert len(set(pairs)) == len(pairs)
    assert len(set(fitted.expressions)) < len(fitted.expressions)
    assert any(e.length > len(e.literals) for e in fitted.expressions)
