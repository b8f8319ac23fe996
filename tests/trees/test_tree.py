"""Clustering trees against the oracle, scikit-learn and their own invariants."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

import naive_tree
from conjunct.columns import PackedColumns
from conjunct.expressions import Primitive
from conjunct.trees.clustering import Limits, best_split, grow, reductions, simplest_first
from tables import named, tables

NAMES = "abcdefgh"

limits = st.builds(
    Limits,
    max_depth=st.sampled_from([None, 1, 2, 3]),
    min_samples_split=st.sampled_from([2, 3, 8]),
    min_samples_leaf=st.sampled_from([1, 2, 4]),
    min_impurity_decrease=st.sampled_from([0.0, 0.01, 0.05]),
    max_leaf_nodes=st.sampled_from([None, 2, 3, 5]),
)


def grown(table, limits, names=NAMES):
    ranks = simplest_first(Primitive(name) for name in names[: table.shape[1]])
    return grow(PackedColumns.from_table(table), ranks, limits)


def squared_error(table):
    return float(((table - table.mean(axis=0)) ** 2).sum())


def conditions(path):
    return tuple((c if c >= 0 else ~c, c >= 0) for c in path)


@given(tables(), limits)
def test_every_split_is_the_oracles(table, limits):
    tree = grown(table, limits)
    expected = naive_tree.grow(list(named(table, NAMES).items()), **asdict(limits))
    for node, other in zip(tree.nodes, naive_tree.preorder(expected), strict=True):
        assert node.n_rows == len(other["rows"])
        assert conditions(node.path) == other["path"]
        if other["children"]:
            gain, column = other["found"]
            assert node.column == column
            # to the bit: the exact gain, rounded once
            assert node.gain == float(gain)
        else:
            assert node.column is None
            assert node.gain == 0


@given(tables(max_rows=100, max_columns=12), st.sampled_from([1, 3]))
def test_first_split_is_scikit_learns(table, min_samples_leaf):
    tree = grown(table, Limits(max_depth=1, min_samples_leaf=min_samples_leaf), "abcdefghijkl")
    assume(tree.depth == 1)
    peer = DecisionTreeRegressor(
        criterion="squared_error",
        max_depth=1,
        min_samples_leaf=min_samples_leaf,
        random_state=0,
    )
    fitted = peer.fit(table, table).tree_
    root, left, right = fitted.impurity
    shares = fitted.weighted_n_node_samples[1:] / len(table)
    decrease = root - shares[0] * left - shares[1] * right
    assert tree.nodes[0].gain / table.size == pytest.approx(decrease, abs=1e-9)


@given(tables(), limits, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter(table, limits, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    expected = grown(table, limits)
    actual = grown(table[np.ix_(rows, columns)], limits, [NAMES[k] for k in columns])
    for one, other in zip(actual.nodes, expected.nodes, strict=True):
        path = tuple((columns[k], value) for k, value in conditions(one.path))
        assert path == conditions(other.path)
        assert (one.n_rows, one.gain, one.yes, one.no) == (
            other.n_rows,
            other.gain,
            other.yes,
            other.no,
        )


@given(tables(), limits)
def test_gains_are_what_the_leaves_no_longer_have(table, limits):
    tree = grown(table, limits)
    store = PackedColumns.from_table(table)
    leaves = tree.apply(store.bits, store.n_rows)
    within = sum(squared_error(table[leaves == leaf]) for leaf in tree.leaves)
    gained = sum(node.gain for node in tree.nodes)
    assert within + gained == pytest.approx(squared_error(table), abs=1e-9)


@given(tables(), limits, tables())
def test_rows_come_to_the_leaf_whose_conditions_they_meet(table, limits, others):
    assume(others.shape[1] >= table.shape[1])
    others = others[:, : table.shape[1]]
    tree = grown(table, limits)
    store = PackedColumns.from_table(others)
    leaves = tree.apply(store.bits, store.n_rows)
    for leaf in tree.leaves:
        met = np.ones(len(others), bool)
        for column, value in conditions(tree.nodes[leaf].path):
            met &= others[:, column] == value
        assert np.array_equal(leaves == leaf, met)


@pytest.mark.parametrize("factor", [1, 10**6, 10**8, 10**9, 10**15])
@given(table=tables(min_rows=2))
def test_counts_of_any_size_are_exact(factor, table):
    joint = PackedColumns.from_table(table).joint_counts().astype(np.int64)
    split = best_split(joint, len(table), np.arange(len(joint)))
    assume(split is not None)
    gain, column = naive_tree.best_split(list(named(table, NAMES).items()), range(len(table)), 1)
    scaled = best_split(joint * factor, len(table) * factor, np.arange(len(joint)))
    assert scaled == (column, float(gain * factor))


def test_equal_gains_go_to_the_name_that_comes_first():
    table = np.array([[1, 1], [1, 1], [0, 0]], bool)
    assert grown(table, Limits(), "ab").nodes[0].column == 0
    assert grown(table, Limits(), "ba").nodes[0].column == 1
    # the complement reduces the error by exactly as much
    assert grown(np.column_stack([table[:, 0], ~table[:, 0]]), Limits(), "ba").nodes[0].column == 1


def test_equal_gains_of_two_nodes_go_to_the_one_made_first():
    table = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], bool)
    tree = grown(table, Limits(max_leaf_nodes=3), "ab")
    assert tree.paths() == ((0, 1), (0, ~1), (~0,))


def test_reductions_of_all_candidates_are_close():
    table = np.random.default_rng(0).random((200, 12)) < 0.3
    joint = PackedColumns.from_table(table).joint_counts()
    expected = [
        squared_error(table) - squared_error(table[column]) - squared_error(table[~column])
        for column in table.T
    ]
    assert reductions(joint, 200, np.arange(12)) == pytest.approx(expected)
