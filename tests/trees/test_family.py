"""CAT, ID2-of-3 and XofN against slow oracles, and invariants of their trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_family
from conjunct.trees.clustering import Limits
from conjunct.trees.count_trees import (
    CountNode,
    CountTest,
    CountTree,
    Labelled,
    best_conjunction,
    best_m_of_n,
    best_x_of_n,
    class_bits,
    class_paths,
    entropy_bits,
    grow_counts,
)
from tables import tables


@st.composite
def problems(draw, max_rows=24, max_columns=5):
    """Rows, the class of each, and how many classes there are; some classes follow from counts."""
    table = draw(tables(max_rows=max_rows, max_columns=max_columns, min_rows=2))
    k = draw(st.integers(2, 3))
    if draw(st.booleans()):
        weights = draw(st.lists(st.sampled_from([0, 1]), min_size=5, max_size=5))
        codes = (table * weights[: table.shape[1]]).sum(axis=1) % k
    else:
        codes = np.array(draw(st.lists(st.integers(0, k - 1), min_size=len(table))))[: len(table)]
    return table, codes.astype(np.intp), k


def as_rows(table):
    return [tuple(row) for row in table.tolist()]


def as_test(test):
    """A test of the oracle's."""
    if test is None:
        return None
    return tuple((max(x, ~x), x >= 0) for x in test.literals), test.number


leaves = st.sampled_from([1, 2, 4])


@given(st.lists(st.integers(0, 40), min_size=2, max_size=4))
def test_bits_of_classes(counts):
    labels = [code for code, count in enumerate(counts) for _ in range(count)]
    found = class_bits(np.array(counts))
    assert found == pytest.approx(naive_family.class_bits(labels, len(counts)), abs=1e-8)
    assert entropy_bits(np.array(counts)) == pytest.approx(
        naive_family.entropy_bits(labels), abs=1e-8
    )


@given(problems(), leaves, st.sampled_from([None, 1, 2]))
def test_the_m_of_n_test_is_the_oracles(problem, least, most):
    table, codes, k = problem
    actual = best_m_of_n(most)(Labelled(table, codes, k), least)
    expected = naive_family.best_m_of_n(as_rows(table), codes.tolist(), k, least, most)
    assert as_test(actual) == expected


@given(problems(max_rows=16, max_columns=4), leaves, st.sampled_from([1, 2, 5]))
def test_the_x_of_n_test_is_the_oracles(problem, least, patience):
    table, codes, k = problem
    actual = best_x_of_n(patience)(Labelled(table, codes, k), least)
    expected = naive_family.best_x_of_n(as_rows(table), codes.tolist(), k, least, patience)
    assert as_test(actual) == expected


@pytest.mark.parametrize("kind", ["m", "x"])
@given(problems(max_rows=20, max_columns=4), st.booleans(), st.sampled_from([None, 1, 2]))
def test_trees_are_the_oracles(kind, problem, prune, max_depth):
    table, codes, k = problem
    limits = Limits(max_depth=max_depth, min_samples_split=3)
    search = best_m_of_n() if kind == "m" else best_x_of_n(2)
    tree = grow_counts(Labelled(table, codes, k), limits, search, prune=prune)

    def slow(rows, labels, k):
        if kind == "m":
            return naive_family.best_m_of_n(rows, labels, k, 1)
        return naive_family.best_x_of_n(rows, labels, k, 1, 2)

    rows, labels = as_rows(table), codes.tolist()
    expected = naive_family.grow(rows, labels, k, slow, max_depth, 3)
    if prune:
        expected = naive_family.pruned(expected, k, table.shape[1])
    nodes = list(naive_family.preorder(expected))
    assert [as_test(node.test) for node in tree.nodes] == [test for _, test, _ in nodes]
    assert [node.counts for node in tree.nodes] == [
        tuple(labels.count(code) for code in range(k)) for labels, _, _ in nodes
    ]
    bits = naive_family.tree_bits(expected, k, table.shape[1])
    assert tree.bits(table.shape[1]) == pytest.approx(bits, abs=1e-6)


@given(problems(), st.booleans())
def test_every_training_row_is_in_a_leaf_of_its_kind(problem, prune):
    table, codes, k = problem
    data = Labelled(table, codes, k)
    tree = grow_counts(data, Limits(), best_x_of_n(3), prune=prune)
    found = tree.class_counts(table)
    assert all(found[row][code] > 0 for row, code in enumerate(codes))
    if not prune:
        # rows of different classes in one leaf are rows that no column tells apart
        for row, counts in enumerate(found):
            alike = (table == table[row]).all(axis=1)
            if len(set(codes[alike])) == 1 and (counts > 0).sum() > 1:
                raise AssertionError("a leaf of two classes could have been split")


@given(problems(max_rows=20), st.permutations(range(5)))
def test_the_best_conjunction_of_a_path_is_the_best_of_all_subsets(problem, order):
    table, codes, k = problem
    path = tuple(c if codes[c % len(codes)] else ~c for c in order if c < table.shape[1])
    rows, labels = as_rows(table), codes.tolist()
    conditions = tuple((max(x, ~x), x >= 0) for x in path)
    for code in range(k):
        actual = best_conjunction(path, table, codes == code)
        expected = naive_family.best_conjunction(conditions, rows, labels, code)
        assert (actual and tuple((max(x, ~x), x >= 0) for x in actual)) == expected


@given(problems())
def test_paths_of_a_tree_are_the_oracles(problem):
    table, codes, k = problem
    tree = grow_counts(Labelled(table, codes, k), Limits(), best_m_of_n(1), prune=False)

    def slow(rows, labels, k):
        return naive_family.best_m_of_n(rows, labels, k, 1, 1)

    grown = naive_family.grow(as_rows(table), codes.tolist(), k, slow)
    expected = {path: max(range(k), key=labels.count) for path, labels in naive_family.paths(grown)}
    found = {tuple((max(x, ~x), x >= 0) for x in path): code for path, code in class_paths(tree)}
    assert found == expected


def test_a_row_with_a_number_never_seen_stays_at_its_node():
    test = CountTest((0, 1, ~2), None)
    leaf = CountNode((4, 0)), CountNode((0, 3))
    tree = CountTree((CountNode((4, 3), test, {0: 1, 2: 2}), *leaf))
    table = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0]], bool)
    assert tree.class_counts(table).tolist() == [[4, 0], [0, 3], [4, 3], [4, 3]]
    moved = tree.on([5, 3, 4])
    assert moved.tests == (CountTest((5, 3, ~4), None),)


def test_search_on_a_long_path_ends(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.random((200, 40)) < 0.9
    is_class = rng.random(200) < 0.5
    monkeypatch.setattr("conjunct.trees.count_trees.MOST_LOOKED_AT", 50)
    found = best_conjunction(tuple(range(40)), table, is_class)
    assert found is not None
    assert len(found) >= 2
