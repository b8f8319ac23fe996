"""What is behind the pictures: the graph of ancestry, correlations, labels."""

import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_pictures as naive
from conjunct import UFC, Risk, UFringe, datasets
from conjunct.columns import PackedColumns
from conjunct.explain import ancestry_graph, ancestry_roots, label
from conjunct.expressions import And, Primitive
from conjunct.plots.curves import correlations

tables = hnp.arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 8)))


@given(tables, st.integers(1, 8))
def test_correlations(table, limit):
    found = correlations(PackedColumns.from_table(table), limit)
    columns = table.astype(int).T.tolist()
    assert found.n_columns == len(columns)
    assert len(found.positions) == min(limit, len(columns))
    assert list(found.positions) == sorted(found.positions)
    for i, one in enumerate(found.positions):
        for j, other in enumerate(found.positions):
            expected = naive.correlation(columns[one], columns[other])
            if i != j:
                assert found.r[i, j] == pytest.approx(expected, nan_ok=True)
    pairs = [
        naive.correlation(columns[i], columns[j]) for i in range(len(columns)) for j in range(i)
    ]
    known = [r for r in pairs if not math.isnan(r)]
    assert found.strongest == pytest.approx(max(known, default=-1.0))
    # no column that is left out has a stronger link than one that is shown
    linked = [
        max((abs(r) for j in others if not math.isnan(r := link(columns, i, j))), default=-1.0)
        for i in range(len(columns))
        for others in [[j for j in range(len(columns)) if j != i]]
    ]
    hidden = [linked[k] for k in range(len(columns)) if k not in found.positions]
    weakest = min(linked[k] for k in found.positions)
    assert all(strength <= weakest + 1e-9 for strength in hidden)


def link(columns, i, j):
    return naive.correlation(columns[i], columns[j])


@pytest.fixture(params=[UFC(Risk(prune=False), max_iter=3), UFringe(40)], ids=["ufc", "ufringe"])
def fitted(request):
    return request.param.fit(datasets.load_zoo().values).feature_set_


def test_the_graph_holds_all_ancestors_once(fitted):
    made = [number for number in fitted.features if fitted.iteration(number)]
    graph = ancestry_graph(fitted, made, 10_000)
    numbers = [node.number for node in graph.nodes]
    assert len(set(numbers)) == len(numbers)
    assert graph.left_out == 0
    assert set(made) <= set(numbers)
    edges = {(edge.parent, edge.child) for edge in graph.edges}
    expected = {(parent, child) for child in numbers for parent in fitted.parents(child)}
    assert edges == expected
    at = {node.number: node for node in graph.nodes}
    for edge in graph.edges:
        assert at[edge.parent].level < at[edge.child].level
        literals = fitted.lineage.operands(edge.child)
        assert (~edge.parent if edge.negated else edge.parent) in literals


def test_the_graph_of_patterns_shows_what_was_joined():
    model = UFC().fit(datasets.load_coco_street().values)
    fitted = model.feature_set_
    pattern = fitted.lineage.pattern
    roots = ancestry_roots(fitted, by_pattern=True)
    assert {pattern(number) for number in roots} == {p for p in model.patterns_ if len(p) > 1}
    graph = ancestry_graph(fitted, roots, 10_000, by_pattern=True)
    patterns = [pattern(node.number) for node in graph.nodes]
    assert len(set(patterns)) == len(patterns)
    assert {p for p in model.patterns_ if len(p) > 1} <= set(patterns)
    made_from = {}
    for edge in graph.edges:
        assert not edge.negated
        made_from.setdefault(pattern(edge.child), []).append(pattern(edge.parent))
    for whole, parts in made_from.items():
        assert len(parts) == 2
        assert sorted(name for part in parts for name in part) == list(whole)


def test_no_two_nodes_stand_in_one_place(fitted):
    graph = ancestry_graph(fitted, fitted.features, 10_000)
    places = [(node.level, node.place) for node in graph.nodes]
    assert len(set(places)) == len(places)
    assert all(node.place >= 0 for node in graph.nodes)


def test_a_graph_has_an_end(fitted):
    made = [number for number in fitted.features if fitted.iteration(number)]
    graph = ancestry_graph(fitted, made, 12)
    assert len(graph.nodes) <= 12
    assert graph.left_out > 0
    alone = ancestry_graph(fitted, made[-1:], 1)
    assert made[-1] in {node.number for node in alone.nodes}


def test_labels():
    sky = Primitive("sky")
    assert label(And(sky, Primitive("sea"))) == "sky ∧ sea"
    assert label(sky, longest=2) == "s…"
    long = sky
    for k in range(100):
        long = And(long, Primitive(str(k)))
    assert label(long) == "a formula of 101 literals"
