"""Ancestors as text and as graphs, exactly; contrasts and neighbours by their definitions."""

from itertools import product

import numpy as np
import pytest

from conjunct.columns import PackedColumns
from conjunct.errors import InputError
from conjunct.explain import (
    ancestry,
    ancestry_graph,
    ancestry_roots,
    explain_tags,
    explanation,
    find_nearest,
    new_features,
)
from conjunct.explain.explanation import Edge, layer_graph
from conjunct.ufc import Threshold
from runs import planned, ran

NAMES = ("a", 'b"c', "d\\e")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    one = rng.random(60) < 0.5
    other = one ^ (rng.random(60) < 0.08)
    return np.column_stack([one, other, rng.random(60) < np.where(one & other, 0.75, 0.25)])


@pytest.fixture(scope="module")
def fitted(table):
    """Of a and b: numbers 3 to 5; of both and d: 6 to 8."""
    columns = PackedColumns.from_table(table)
    made = ran(columns, NAMES, planned(Threshold(0.0)), max_iter=2).feature_set
    assert [{*each} for each in made.lineage.made[:3]] == [{0, 1}, {~0, 1}, {0, ~1}]
    assert [{*each} for each in made.lineage.made[3:]] == [{2, 3}, {~2, 3}, {2, ~3}]
    return made


def test_ancestors_in_dot_and_mermaid(fitted):
    [number] = [k for k in range(6, 9) if {*fitted.lineage.operands(k)} == {2, ~3}]
    dot = ancestry(fitted, number, "dot", "ascii").splitlines()
    assert dot[:2] == ["digraph ancestry {", "  node [shape=box];"]
    assert dot[-1] == "}"
    assert '  f0 [label="a"];' in dot
    assert r'  f1 [label="\"b\\\"c\""];' in dot
    assert f'  f3 -> f{number} [style=dashed, label="not"];' in dot
    assert {f"  f2 -> f{number};", "  f0 -> f3;", "  f1 -> f3;"} <= {*dot}
    assert len(dot) == 3 + 5 + 4
    assert all("&amp;" in line for line in dot if "label" in line and "f3 [" in line)
    mermaid = ancestry(fitted, number, "mermaid").splitlines()
    assert mermaid[0] == "flowchart TD"
    assert '  f0["a"]' in mermaid
    assert '  f1["#34;b#92;#34;c#34;"]' in mermaid
    assert f"  f3 -. not .-> f{number}" in mermaid
    assert {f"  f2 --> f{number}", "  f0 --> f3", "  f1 --> f3"} <= {*mermaid}
    assert len(mermaid) == 1 + 5 + 4


def test_ancestors_as_text(fitted):
    [number] = [k for k in range(6, 9) if min(fitted.lineage.operands(k)) >= 0]
    r_first, r_second = (fitted.origins()[k].r for k in (3, number))
    texts = {k: fitted.lineage.expression(k).text("ascii") for k in range(len(fitted.lineage))}
    first, second = fitted.lineage.operands(number)
    nested = [
        f"{texts[3]}  (iteration 1, r = {r_first:.2f})",
        f"{texts[0]}",
        f"{texts[1]}",
    ]
    head = f"{texts[number]}  (iteration 2, r = {r_second:.2f})"
    if first == 3:
        lines = [head, "|- " + nested[0], "|  |- " + nested[1], "|  `- " + nested[2]]
        lines += ["`- " + texts[2]]
    else:
        assert (first, second) == (2, 3)
        lines = [head, "|- " + texts[2], "`- " + nested[0]]
        lines += ["   |- " + nested[1], "   `- " + nested[2]]
    assert ancestry(fitted, number, "text", "ascii") == "\n".join(lines) + "\n"
    assert ancestry(fitted, 0) == "a\n"
    with pytest.raises(InputError, match="unknown format 'svg'"):
        ancestry(fitted, 0, "svg")


def test_the_graph_takes_what_fits(fitted):
    made = [k for k in fitted.features if k >= 3]
    whole = ancestry_graph(fitted, made, 99)
    numbers = {node.number for node in whole.nodes}
    for most in range(1, len(numbers) + 2):
        graph = ancestry_graph(fitted, made, most)
        n_shown = len(made) - graph.left_out
        shown = set()
        for k, root in enumerate(made):
            more = shown | {root, *fitted.lineage.ancestors([root])}
            more |= {p for number in more for p in fitted.parents(number)}
            if k and len(more) > most:
                assert n_shown == k
                break
            shown = more
        else:
            assert n_shown == len(made)
        assert {node.number for node in graph.nodes} == shown
    roles = {node.number: node.role for node in whole.nodes}
    assert {k: role for k, role in roles.items() if k < 3} == dict.fromkeys(range(3), "column")
    assert roles[3] == "step"
    assert all(roles[k] == "feature" for k in made)
    levels = {node.number: node.level for node in whole.nodes}
    for number, level in levels.items():
        assert level == 1 + max((levels[p] for p in fitted.parents(number)), default=-1)


def test_nodes_of_a_level_are_centred():
    edges = [Edge(0, 4, False), Edge(1, 4, False), Edge(2, 5, False), Edge(3, 5, False)]
    graph = layer_graph(dict.fromkeys(range(6), "column"), edges, 7)
    places = {node.number: (node.level, node.place) for node in graph.nodes}
    assert places == {0: (0, 0), 1: (0, 1), 2: (0, 2), 3: (0, 3), 4: (1, 1), 5: (1, 2)}
    # one level is longer than its parents' own levels ask for
    far = layer_graph(
        dict.fromkeys(range(4), "column"),
        [Edge(2, 3, True), Edge(0, 2, False), Edge(0, 3, False), Edge(1, 3, False)],
        0,
    )
    assert [(node.level, node.place) for node in far.nodes] == [(0, 0), (0, 1), (1, 0.5), (2, 0.5)]
    assert graph.left_out == 7
    assert graph.edges == tuple(edges)
    alone = layer_graph({3: "column"}, [], 0).nodes[0]
    assert (alone.level, alone.place) == (0, 0)
    assert layer_graph({}, [], 0).nodes == ()


def test_roots_are_the_most_common_features_or_the_strongest_chunks(fitted, table):
    rows = fitted.evaluate(PackedColumns.from_table(table)).supports().tolist()
    supports = dict(zip(fitted.features, rows, strict=True))
    made = [k for k in fitted.features if k >= 3]
    assert ancestry_roots(fitted, by_pattern=False) == sorted(made, key=lambda k: -supports[k])
    counted = fitted.with_code_counts(PackedColumns.from_table(table))
    strongest = ancestry_roots(counted, by_pattern=True)
    bits = {one.number: one.evidence for one in new_features(counted, by_evidence=True)}
    assert strongest == sorted(
        (k for k in made if bits[k] is not None), key=lambda k: (-bits[k], -supports[k])
    )


def test_contrasts_are_the_columns_whose_share_differs_most(fitted, table):
    columns = PackedColumns.from_table(table)
    every = fitted.evaluate(columns, range(len(fitted.lineage))).to_dense().astype(bool)
    for number in fitted.features:
        own = every[:, number]
        said = explanation(fitted, number, "ascii", columns)
        expected = {}
        for k in range(3):
            name = fitted.lineage.expression(k).text("ascii")
            expected[name] = table[own, k].mean(), table[~own, k].mean()
        order = sorted(expected, key=lambda name: -abs(np.subtract(*expected[name])))
        gaps = [abs(one.inside - one.outside) for one in said.contrasts]
        assert gaps == pytest.approx([abs(np.subtract(*expected[name])) for name in order])
        for one in said.contrasts:
            assert (one.inside, one.outside) == pytest.approx(expected[one.tags])
        assert said.support == own.sum()
        assert said.frequency == pytest.approx(own.mean())
    tags = NAMES[:2]
    both = table[:, :2].all(axis=1)
    said = explain_tags(fitted, tags, "ascii", columns)
    assert (said.support, said.frequency) == (both.sum(), pytest.approx(both.mean()))
    [one] = said.contrasts
    assert one.inside == pytest.approx(table[both, 2].mean())
    assert one.outside == pytest.approx(table[~both, 2].mean())


def test_neighbours_by_columns_and_by_what_they_share(fitted, table):
    columns = PackedColumns.from_table(table)
    dense = fitted.evaluate(columns).to_dense()
    texts = [str(x) for x in fitted.expressions]
    for (position, number), n in product(enumerate(fitted.features), (0, 1, 99)):
        found = find_nearest(fitted, number, texts, n, columns)
        r = np.corrcoef(dense.T)[position].round(9)
        others = [k for k in range(len(texts)) if k != position]
        order = sorted(others, key=lambda k: -r[k])[:n]
        assert [one.position for one in found] == order
        assert [one.similarity for one in found] == pytest.approx([r[k] for k in order])
        assert [one.feature for one in found] == [texts[k] for k in order]
        shared = find_nearest(fitted, number, texts, n, None)
        names = [expression.primitives for expression in fitted.expressions]
        share = [len(names[position] & x) / len(names[position] | x) for x in names]
        order = sorted(others, key=lambda k: -share[k])[:n]
        assert [(one.position, one.similarity) for one in shared] == [
            (k, pytest.approx(share[k])) for k in order
        ]
