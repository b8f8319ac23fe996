"""Graphs: where features come from, and which tags are in one chunk."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from conjunct.errors import InputError
from conjunct.estimators import FeatureConstructor
from conjunct.explain import AncestryGraph, ancestry_graph, ancestry_roots, shortened
from conjunct.expressions import Expression, pattern_text
from conjunct.features import FeatureSet
from conjunct.plots.style import COLOURS, GREY, chart_of, finish

ANCESTRY_BOX = _BOX_WIDTH, _BOX_HEIGHT = 216, 26  # pixels
_LEVEL_WIDTH, _PLACE_HEIGHT = 292, 34
ANCESTRY_BEND = 24  # of a line, before it leaves the height of its box
_MARGIN = 8
_BOX_NAME_LENGTH = 40
ROLES = {"column": "column of the data", "step": "step on the way", "feature": "feature"}


def plot_ancestry(
    model: FeatureConstructor,
    feature: int | str | Expression | None = None,
    *,
    max_nodes: int = 80,
    title: str = "How columns became features (dashed: negated)",
) -> Any:
    """Draw how the columns of the data became features, from left to right.

    A dashed line is a negation. Of many features, the most common ones are shown. A model by bits
    is shown by patterns: which tags were joined, what saved most bits first.

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    feature : int, str or Expression, optional
        Only this feature: its position in ``features_``, its formula or the text of it.
    max_nodes : int, default=80
        Leave out features that would need more.
    """
    fitted = model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=model._by_pattern) or list(fitted.features)
    if feature is not None:
        roots = [model._number(feature)]
    graph = ancestry_graph(fitted, roots, max_nodes, by_pattern=model._by_pattern)
    first = "the strongest ones" if model._by_pattern else "the most common ones"
    left_out = f"{first}; {graph.left_out} features are not shown"
    return ancestry_of(model, graph, [title, left_out] if graph.left_out else title)


def ancestry_of(model: FeatureConstructor, graph: AncestryGraph, title: str | list[str]) -> Any:
    """Draw a graph of ancestry.

    The descriptions of marks say which they are: ``node 5`` for a box, ``name 5`` for the name in
    it, ``edge 3 5`` for the line from the box of feature 3 to that of feature 5.
    """
    import altair as alt

    corner = ancestry_corners(graph)
    width = _LEVEL_WIDTH * (graph.n_levels - 1) + _BOX_WIDTH
    height = _PLACE_HEIGHT * (graph.n_places - 1) + _BOX_HEIGHT
    nodes = [
        {
            "mark": f"node {node.number}",
            "text": f"name {node.number}",
            "x": corner[node.number][0],
            "y": corner[node.number][1],
            "right": corner[node.number][0] + _BOX_WIDTH,
            "bottom": corner[node.number][1] + _BOX_HEIGHT,
            "middle": corner[node.number][1] + _BOX_HEIGHT / 2,
            "role": ROLES[node.role],
            "name": model._label(node.number, _BOX_NAME_LENGTH, whole=True),
        }
        for node in graph.nodes
    ]
    lines = [
        {
            "mark": f"edge {edge.parent} {edge.child}",
            "x": x,
            "y": y + _BOX_HEIGHT / 2,
            "step": step,
            "sign": "negated" if edge.negated else "as it is",
        }
        for edge in graph.edges
        for step, (x, y) in enumerate(_line_points(corner[edge.parent], corner[edge.child]))
    ]
    roles = list(ROLES.values())
    across, down = [-_MARGIN, width + _MARGIN], [height + _MARGIN, -_MARGIN]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=across, nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=down, nice=False))
    key = alt.Legend(title=None, orient="top")
    drawn = chart_of(nodes)
    layers = [
        drawn.mark_bar(cornerRadius=6, fill="white", strokeWidth=1.6).encode(
            x=x,
            y=y,
            x2="right:Q",
            y2="bottom:Q",
            description="mark:N",
            stroke=alt.Stroke(
                "role:N",
                legend=key,
                scale=alt.Scale(domain=roles, range=[GREY, COLOURS[4], COLOURS[0]]),
            ),
            strokeDash=alt.StrokeDash(
                "role:N", legend=key, scale=alt.Scale(domain=roles, range=[[1, 0], [6, 3], [1, 0]])
            ),
        ),
        drawn.mark_text(align="left", dx=9, fontSize=12, limit=_BOX_WIDTH - 16).encode(
            x=x, y="middle:Q", text="name:N", description="text:N"
        ),
    ]
    if lines:
        curves = chart_of(lines).mark_line(
            interpolate="monotone", color=GREY, strokeWidth=1.3, opacity=0.7
        )
        dashes = alt.Scale(domain=["as it is", "negated"], range=[[1, 0], [5, 4]])
        layers.insert(
            0,
            curves.encode(
                x=x,
                y=y,
                order="step:Q",
                detail="mark:N",
                description="mark:N",
                strokeDash=alt.StrokeDash("sign:N", scale=dashes, legend=None),
            ),
        )
    chart = alt.layer(*layers).resolve_scale(strokeDash="independent")
    return finish(
        chart, title, width=width + 2 * _MARGIN, height=height + 2 * _MARGIN, lines_only=True
    )


def ancestry_corners(graph: AncestryGraph) -> dict[int, tuple[int, float]]:
    """Return the upper left corner of each box of a graph of ancestry, by its number."""
    return {
        node.number: (_LEVEL_WIDTH * node.level, _PLACE_HEIGHT * node.place) for node in graph.nodes
    }


def _line_points(
    parent: tuple[float, float], child: tuple[float, float]
) -> list[tuple[float, float]]:
    """Return points from the right end of a box to the left end of another, level at both."""
    start, end = parent[0] + _BOX_WIDTH, child[0]
    return [
        (start, parent[1]),
        (start + ANCESTRY_BEND, parent[1]),
        (end - ANCESTRY_BEND, child[1]),
        (end, child[1]),
    ]


NETWORK_SIZE = 720, 440  # pixels
_NAME_LENGTH = 22
_ROUNDS = 300
_LONGEST_PATTERN = 30  # tags; a longer one would link everything with everything


def plot_network(
    model: FeatureConstructor, *, max_tags: int = 40, title: str = "Tags that are in one chunk"
) -> Any:
    """Draw tags as points, and a line between two in one chunk: the wider, the more rows.

    Parameters
    ----------
    model : UFC or UFCPath
        Fitted; it replaced some pairs.
    max_tags : int, default=40
        Of more tags, those that share chunks in most rows are shown, and the title says so.
    """
    network = network_of(model.feature_set_, max_tags)
    if not network.tags:
        raise InputError("no two tags are in one chunk: there is no network to draw")
    more = f"{network.left_out} tags with fewer rows are not shown"
    return network_chart(network, [title, more] if network.left_out else title)


@dataclass(frozen=True)
class Network:
    """``tags`` are positions of columns with their names and rows; ``links`` (tag, tag, rows)."""

    tags: tuple[tuple[int, str, int], ...]
    links: tuple[tuple[int, int, int], ...]
    left_out: int


def network_of(feature_set: FeatureSet, max_tags: int) -> Network:
    """Return the tags that share chunks in most rows, and the rows of each pair of them."""
    position = {name: k for k, name in enumerate(feature_set.lineage.primitives)}
    together: Counter[tuple[int, int]] = Counter()
    for number, rows in zip(feature_set.features, feature_set.supports, strict=True):
        pattern = feature_set.lineage.pattern(number) if feature_set.merges else ()
        if 1 < len(pattern) <= _LONGEST_PATTERN and rows:
            for pair in combinations(sorted(position[name] for name in pattern), 2):
                together[pair] += rows
    linked: Counter[int] = Counter()
    for pair, rows in together.items():
        for tag in pair:
            linked[tag] += rows
    chosen = set(sorted(linked, key=lambda tag: (-linked[tag], tag))[:max_tags])
    names = feature_set.lineage.primitives
    tags = tuple(
        (tag, shortened(pattern_text([names[tag]]), _NAME_LENGTH), linked[tag])
        for tag in sorted(chosen)
    )
    between = [(*pair, rows) for pair, rows in together.items() if chosen.issuperset(pair)]
    return Network(tags, tuple(sorted(between)), len(linked) - len(chosen))


def network_chart(network: Network, title: str | list[str]) -> Any:
    """Draw a network. Marks are described: ``tag 3``, ``name 3``, ``link 3 5``."""
    import altair as alt

    places = network_places(network)
    width, height = NETWORK_SIZE
    lines = [
        {
            "mark": f"link {one} {other}",
            "x": places[one][0],
            "y": places[one][1],
            "x2": places[other][0],
            "y2": places[other][1],
            "width": line,
        }
        for (one, other, _), line in zip(network.links, network_widths(network), strict=True)
    ]
    points = [
        {"mark": f"tag {tag}", "text": f"name {tag}", "x": x, "y": y, "name": name}
        for (tag, name, _), (x, y) in zip(network.tags, places.values(), strict=True)
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], nice=False))
    links = (
        chart_of(lines)
        .mark_rule(color=GREY, opacity=0.45, strokeCap="round")
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            description="mark:N",
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
        )
    )
    drawn = chart_of(points)
    tags = drawn.mark_circle(size=110, color=COLOURS[0], opacity=1).encode(
        x=x, y=y, description="mark:N"
    )
    names = drawn.mark_text(fontSize=12, dy=-12).encode(
        x=x, y=y, text="name:N", description="text:N"
    )
    return finish(alt.layer(links, tags, names), title, width=width, height=height)


def network_widths(network: Network) -> list[float]:
    """Return the width of each line: the more rows, the wider."""
    most = max((rows for _, _, rows in network.links), default=1)
    return [round(1 + 9 * math.sqrt(rows / most), 2) for _, _, rows in network.links]


def network_places(network: Network) -> dict[int, tuple[int, int]]:
    """Return a place for each tag: linked tags near each other, no two in one place.

    Fruchterman and Reingold's springs, started on a spiral. Nothing is random: a network has one
    picture.
    """
    n = len(network.tags)
    row = {tag: k for k, (tag, _, _) in enumerate(network.tags)}
    pull = np.zeros((n, n))
    most = max((rows for _, _, rows in network.links), default=1)
    for one, other, rows in network.links:
        pull[row[one], row[other]] = pull[row[other], row[one]] = 0.3 + 0.7 * rows / most
    turn = np.arange(n) * 2.399963  # the golden angle
    radius = np.sqrt((np.arange(n) + 0.5) / n)
    at = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    ideal = 1.6 / math.sqrt(n)
    for k in range(_ROUNDS):
        offset = at[:, None, :] - at[None, :, :]
        distance = np.sqrt((offset**2).sum(axis=2)) + np.eye(n)
        force = ideal**2 / distance**2 - pull * distance / ideal
        np.fill_diagonal(force, 0.0)
        # a little towards the middle: parts without lines between them do not drift away
        move = (offset * force[:, :, None]).sum(axis=1) - 0.6 * at
        length = np.sqrt((move**2).sum(axis=1, keepdims=True)) + 1e-9
        at = at + move / length * np.minimum(length, 0.12 * (1 - k / _ROUNDS))
    low, high = at.min(axis=0), at.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    margin = np.array([70.0, 30.0])
    room = np.array(NETWORK_SIZE) - 2 * margin
    scaled = margin + np.where(high > low, (at - low) / span, 0.5) * room
    return {tag: (int(x), int(y)) for tag, (x, y) in zip(row, scaled.round(), strict=True)}
