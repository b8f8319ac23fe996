"""Charts: what they show, and that they are files of the same bytes."""

import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, UFCPath, UFringe, datasets, stability
from conjunct.errors import InputError
from conjunct.explain import implication_graph
from conjunct.expressions import Primitive
from conjunct.plots import (
    cut_to,
    draw_network,
    plot_ancestry,
    plot_correlation,
    plot_curves,
    plot_front,
    plot_fronts,
    plot_history,
    plot_network,
    plot_relations,
    plot_stability,
    plot_trajectories,
    save_chart,
    svg_of,
    width_of,
)
from conjunct.plots.curves import _clip
from conjunct.plots.drawing import COLOURS, SYMBOLS


@pytest.fixture(scope="module")
def path():
    return UFCPath(max_iter=3).fit(datasets.load_zoo().values)


def words(chart):
    return {text for text in ElementTree.fromstring(svg_of(chart)).itertext() if text.strip()}


def test_the_front_is_labelled(path):
    drawn = words(plot_front(path.solutions_, path.front_, path.closest_point_, title="T & <T>"))
    assert {"T & <T>", "overlapping index OI", "complexity C0"} <= drawn
    assert {"solution", "Pareto front", "closest point"} <= drawn


def test_magnified_shows_the_surroundings_of_the_closest_point(path):
    best = path.closest_point_
    chart = plot_front(path.solutions_, path.front_, best, magnified=True)
    numbers = [float(text) for text in words(chart) if re.fullmatch(r"[\d.]+", text)]
    assert max(best.oi, best.c0) < max(numbers) <= 2.5 * max(best.oi, best.c0)


def test_a_line_is_cut_where_it_leaves_the_plane():
    line = [(0.0, 4.0), (0.0, 1.0), (1.0, 1.0), (3.0, 0.0), (4.0, 0.0), (0.0, 0.0)]
    first, second = _clip(line, (2.0, 2.0))
    assert first == [(0.0, 2.0), (0.0, 1.0), (1.0, 1.0), (2.0, 0.5)]
    assert second == [(2.0, 0.0), (0.0, 0.0)]
    assert list(_clip(line, (5.0, 5.0))) == [line]


def test_further_points_are_named(path):
    history = UFC(0.3, max_iter=2).fit(datasets.load_zoo().values).history_
    drawn = words(
        plot_front(path.solutions_, path.front_, path.closest_point_, marked={"a run": history})
    )
    assert "a run" in drawn
    assert {"one", "two"} <= words(plot_fronts({"one": path.front_, "two": history}))
    ways = plot_trajectories(path.front_, {"way": history}, {"way": history[-1]}, title="t")
    assert {"way", "Pareto front of the path"} <= words(ways)


def test_history_shows_indicators_and_length(path):
    assert {"OI", "C0", "RMS", "iteration", "length"} <= words(plot_history(path.history_))


def test_bits_that_no_rule_counted_are_left_out():
    model = UFringe().fit(datasets.load_zoo().values)
    assert "iteration" in words(plot_history(model.history_, bits=True))


@pytest.mark.parametrize(
    ("criterion", "axis"),
    [("evidence", "evidence minus costs (bits)"), ("bits", "description length (bits)")],
)
def test_history_shows_bits(criterion, axis):
    model = UFC(criterion).fit(datasets.load_zoo().values)
    drawn = words(plot_history(model.history_, bits=True))
    assert {axis, "iteration"} <= drawn
    assert not {"OI", "C0", "RMS"} & drawn


def test_models_by_bits_are_drawn_by_patterns():
    street = datasets.load_coco_street()
    frame = pl.DataFrame(street.values, schema=list(street.feature_names))
    model = UFC().fit(frame)
    drawn = words(plot_ancestry(model))
    chunks = {" + ".join(p) for p in model.patterns_ if len(p) > 1}
    assert {cut_to(text, 200, 12) for text in chunks if len(text) <= 30} <= drawn
    assert not any("¬" in text for text in drawn)
    after = words(plot_correlation(model, frame, limit=5))
    assert not any("∧" in text for text in after)


def test_ancestry_shows_what_went_into_features(path):
    last = path.features_[-1]
    drawn = words(plot_ancestry(path, last))
    assert {str(Primitive(name)) for name in last.primitives} <= drawn
    whole = words(plot_ancestry(path, max_nodes=5))
    assert any("features are not shown" in text for text in whole)


def test_ancestry_of_columns_alone():
    rows = [[0, 1], [1, 0], [0, 0], [1, 1]]
    assert {"x0", "x1"} <= words(plot_ancestry(UFC(max_iter=0).fit(rows)))


def test_correlation_before_and_after(path):
    drawn = words(plot_correlation(path, datasets.load_zoo().values, limit=5))
    assert {"5 of 15 columns", f"5 of {len(path.features_)} features", "r = 0.2"} <= drawn
    assert any(text.startswith("largest r = ") for text in drawn)


@pytest.mark.parametrize("kind", ["noise", "bootstrap"])
def test_stability_in_one_picture(kind):
    found = stability(datasets.load_zoo().values, kind=kind, noise=(0, 0.1), n_runs=2)
    drawn = words(plot_stability(found, limit=3))
    assert "How often features recur" in drawn
    assert ("Indicators by noise" in drawn) is (kind == "noise")


@pytest.mark.parametrize("points", [True, False])
def test_curves_differ_in_more_than_colour(points):
    rows = [{"x": k, "y": k * s, "series": s} for s in (1, 2, 3) for k in range(3)]
    chart = plot_curves(
        rows, "x", "y", title="t", x_title="x", y_title="y", legend="s", points=points
    )
    lines = [
        mark for mark in ElementTree.fromstring(svg_of(chart)).iter() if mark.get("aria-label")
    ]
    assert {line.get("aria-label") for line in lines} == {"1", "2", "3"}
    assert len({line.get("stroke-dasharray") for line in lines}) == 3
    assert len({line.get("stroke") for line in lines}) == 3
    assert {"s", "1", "2", "3"} <= words(chart)


def test_colours_and_shapes_are_distinct():
    assert len(set(COLOURS)) == len(COLOURS)
    assert len(set(SYMBOLS)) == len(SYMBOLS)


def test_files(path, tmp_path):
    chart = plot_history(path.history_)
    save_chart(chart, tmp_path / "a.svg", tmp_path / "a.png")
    save_chart(plot_history(path.history_), tmp_path / "b.svg", tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.png", "a.svg", "b.png", "b.svg"]


def described(chart):
    """What the marks of a chart are called, in the order in which they are drawn."""
    labels = (mark.get("aria-label") for mark in ElementTree.fromstring(svg_of(chart)).iter())
    return [label for label in labels if label]


def test_marks_of_ancestry_say_which_they_are(path):
    fitted = path.feature_set_
    number = fitted.features[-1]
    marks = described(plot_ancestry(path, path.features_[-1]))
    for parent in fitted.parents(number):
        assert {f"node {parent}", f"name {parent}", f"edge {parent} {number}"} <= set(marks)
    assert f"node {number}" in marks


@pytest.mark.parametrize("magnified", [False, True])
def test_marks_of_the_front_say_which_they_are(path, magnified):
    best = path.closest_point_
    chart = plot_front(path.solutions_, path.front_, best, magnified=magnified)
    far = 2.5 * max(best.oi, best.c0) if magnified else float("inf")
    marks = described(chart)

    def is_near(solution):
        return max(round(solution.oi, 6), round(solution.c0, 6)) <= far

    expected = [f"Pareto front {k}" for k, s in enumerate(path.front_) if is_near(s)]
    assert [mark for mark in marks if mark.startswith("Pareto front ")] == expected
    assert "closest point 0" in marks
    shown = {int(mark.split()[1]) for mark in marks if mark.startswith("solution ")}
    places = {(s.oi, s.c0) for s in path.solutions_ if is_near(s)}
    assert {(path.solutions_[k].oi, path.solutions_[k].c0) for k in shown} == places


@pytest.mark.parametrize("model", [UFC(), UFC("risk", max_iter=3)], ids=str)
def test_the_network_counts_rows_in_which_two_tags_are_in_one_chunk(model):
    street = datasets.load_coco_street()
    frame = pl.DataFrame(street.values, schema=list(street.feature_names))
    expected = Counter(
        pair
        for row in model.fit(frame).chunks(frame)
        for chunk in row
        for pair in combinations(sorted(map(frame.columns.index, chunk)), 2)
    )
    network = draw_network(model.feature_set_, 100)
    assert {link.tags: link.rows for link in network.links} == expected
    assert network.left_out == 0
    fewer = draw_network(model.feature_set_, 3)
    assert len(fewer.tags) == 3
    assert fewer.left_out == len(network.tags) - 3
    assert {link.tags for link in fewer.links} <= {link.tags for link in network.links}


def test_the_network_is_drawn_once_and_alike():
    street = datasets.load_coco_street()
    model = UFC().fit(pl.DataFrame(street.values, schema=list(street.feature_names)))
    chart = plot_network(model, max_tags=5)
    marks = described(chart)
    tags = {mark for mark in marks if mark.startswith("tag ")}
    assert len(tags) == 5
    assert any("tags with fewer rows are not shown" in text for text in words(chart))
    assert svg_of(chart) == svg_of(plot_network(model, max_tags=5))
    with pytest.raises(InputError, match="no two tags are in one chunk"):
        plot_network(UFC(max_iter=0).fit(street.values))


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(
    st.lists(st.text("abc mW=", min_size=1, max_size=30), min_size=2, max_size=14, unique=True),
    st.randoms(use_true_random=False),
)
def test_names_of_the_network_do_not_overlap(names, random):
    rows = [[name for name in names if random.random() < 0.5] for _ in range(12)]
    network = draw_network(UFC("bits", max_iter=20).fit([*rows, names] * 8).feature_set_, 40)
    boxes = [
        (tag.x - width_of(tag.name, 12) / 2, tag.x + width_of(tag.name, 12) / 2, tag.y - 20, tag.y)
        for tag in network.tags.values()
    ]
    for k, (left, right, top, bottom) in enumerate(boxes):
        assert top > 0
        assert bottom < network.size[1]
        for other in boxes[:k]:
            assert left >= other[1] or other[0] >= right or top >= other[3] or other[2] >= bottom


def test_implications_go_from_left_to_right():
    data = datasets.load_zoo()
    frame = pl.DataFrame(data.values, schema=list(data.feature_names))
    model = UFC().fit(frame)
    implied = [one for one in model.relations() if one.kind == "implies"]
    names = model.feature_set_.lineage.primitives
    drawn = implication_graph(names, model.relations(), 40)
    at = {node.number: node for node in drawn.nodes}
    lines = {(names[edge.parent], names[edge.child]) for edge in drawn.edges}
    assert lines == {(one.left, one.right) for one in implied}
    assert all(at[edge.parent].level < at[edge.child].level for edge in drawn.edges)
    assert len({(node.level, node.place) for node in drawn.nodes}) == len(drawn.nodes)
    few = implication_graph(names, model.relations(), 4)
    assert len(few.nodes) <= 4
    assert few.left_out == len(drawn.nodes) - len(few.nodes)
    assert svg_of(plot_relations(model)) == svg_of(plot_relations(model))


def test_nothing_to_draw_without_implications():
    model = UFC(max_iter=0).fit([["a"], ["b"], ["a", "b"], []])
    with pytest.raises(InputError, match="no tag implies another"):
        plot_relations(model)
