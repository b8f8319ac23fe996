"""Draw graphs: the ancestry of features, implications, and tags that share chunks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from conjunct.errors import InputError
from conjunct.estimators import UFC, FeatureConstructor
from conjunct.explain import AncestryGraph, ancestry_graph, ancestry_roots, implication_graph
from conjunct.expressions import Expression, pattern_text
from conjunct.features import FeatureSet
from conjunct.plots.drawing import (
    COLOURS,
    GREY,
    Drawing,
    Shape,
    Text,
    cut_to,
    list_legend,
    width_of,
)
from conjunct.ufc import Floats

_BOX_WIDTH, _BOX_HEIGHT = 216, 26  # pixels
_LEVEL_WIDTH, _PLACE_HEIGHT = 292, 34
_BEND = 24  # horizontal start and end of a line
_BOX_PATH = "h204a6 6 0 0 1 6 6v14a6 6 0 0 1-6 6h-204a6 6 0 0 1-6-6v-14a6 6 0 0 1 6-6z"
_MARGIN = 13
_BOX_NAME_LENGTH = 40
ROLES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "column": ("column of the data", {"stroke": GREY}),
    "step": ("intermediate step", {"stroke": COLOURS[4], "dash": (6, 3)}),
    "feature": ("feature", {"stroke": COLOURS[0]}),
}


def plot_ancestry(
    model: FeatureConstructor,
    feature: int | str | Expression | None = None,
    *,
    max_nodes: int = 80,
    title: str = "How columns became features (dashed: negated)",
) -> Any:
    """Draw how the columns of the data became features, from left to right.

    A dashed line is a negation. A model with chunks shows which tags were joined.

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    feature : int, str or Expression, optional
        The only feature to draw: its position in ``features_``, its formula, or its text.
    max_nodes : int, default=80
        Maximum number of nodes; the strongest or most common features are shown.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> model = UFC().fit(datasets.load_zoo().values)
    >>> chart = plots.plot_ancestry(model)
    """
    fitted = model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=model.has_tag_names) or list(fitted.features)
    if feature is not None:
        roots = [model.feature_number(feature)]
    found = ancestry_graph(fitted, roots, max_nodes, by_pattern=model.has_tag_names)
    drawing = _name_boxes(model, found)
    x, y, width, height = drawing.box
    shapes, texts = list_legend(dict(ROLES.values()), 0, y - 12, across=150)
    drawing = Drawing(
        (x, y - 30, width, height + 30), [*drawing.shapes, *shapes], [*drawing.texts, *texts]
    )
    first = "the strongest ones" if model.has_tag_names else "the most common ones"
    left_out = f"{first}; {found.left_out} features are not shown"
    return drawing.to_chart([title, left_out] if found.left_out else title)


def _name_boxes(model: FeatureConstructor, found: AncestryGraph) -> Drawing:
    label = partial(model.label_feature, longest=_BOX_NAME_LENGTH, whole=True)
    return draw_boxes(found, {node.number: label(node.number) for node in found.nodes})


def plot_relations(
    model: UFC, *, max_tags: int = 40, title: str = "Which tags imply which, from left to right"
) -> Any:
    """Draw which tags imply others, from specific to general.

    Parameters
    ----------
    model : UFC
        Fitted. ``model.relations()`` lists the implications.
    max_tags : int, default=40
        Maximum number of tags, those with the strongest implications.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> import pandas as pd
    >>> coco = datasets.load_coco_street()
    >>> table = pd.DataFrame(coco.values, columns=coco.feature_names)
    >>> chart = plots.plot_relations(UFC().fit(table))
    """
    names = model.feature_set_.lineage.primitives
    found = implication_graph(names, model.relations(), max_tags)
    if not found.nodes:
        raise InputError("no tag implies another: there is nothing to draw")
    left_out = f"the strongest ones; {found.left_out} tags are not shown"
    drawing = _name_boxes(model, found)
    return drawing.to_chart([title, left_out] if found.left_out else title)


def draw_boxes(
    graph: AncestryGraph,
    names: Mapping[int, str],
    attributes: Mapping[int, Mapping[str, object]] | None = None,
) -> Drawing:
    """Draw nodes as boxes with names that are cut to fit, and the lines between them."""
    shapes, texts = [], []
    corners = {
        node.number: (_LEVEL_WIDTH * node.level, round(_PLACE_HEIGHT * node.place))
        for node in graph.nodes
    }
    for edge in graph.edges:
        (x, y), (right, below) = corners[edge.parent], corners[edge.child]
        # from the right end of a box to the left end of the other, horizontal at both ends
        start, down = x + _BOX_WIDTH, below - y
        across = right - start - 2 * _BEND
        curve = f"c{across // 3} 0 {across - across // 3} {down} {across} {down}"
        path = f"M{start} {y + _BOX_HEIGHT // 2}h{_BEND}{curve}h{_BEND}"
        name, dash = f"edge {edge.parent} {edge.child}", (5, 4) if edge.negated else ()
        own = {"class": "edge", "data-p": edge.parent, "data-c": edge.child}
        shapes.append(
            Shape(path, stroke=GREY, width=1.3, dash=dash, opacity=0.7, name=name, attributes=own)
        )
    for node in graph.nodes:
        k, (_, look), (x, y) = node.number, ROLES[node.role], corners[node.number]
        own = {"class": f"node {node.role}", "data-n": k, **(attributes or {}).get(k, {})}
        path = f"M{x + 6} {y}{_BOX_PATH}"
        shapes.append(
            Shape(path, fill="white", width=1.6, name=f"node {k}", attributes=own, **look)
        )
        text = cut_to(names[k], _BOX_WIDTH - 16, 12)
        own = {"class": "node-name", "data-n": k}
        texts.append(Text(x + 9, y + 17, text, name=f"name {k}", attributes=own))
    width = max((x for x, _ in corners.values()), default=0) + _BOX_WIDTH + 2 * _MARGIN
    height = max((y for _, y in corners.values()), default=0) + _BOX_HEIGHT + 2 * _MARGIN
    return Drawing((-_MARGIN, -_MARGIN, width, height), shapes, texts)


_NAME_LENGTH = 30
_ROUNDS = 300
_LINKS_THAT_PULL = 3  # per tag
_PLANE_WIDTH, _LEAST_HEIGHT = 860, 240  # pixels
_FEW_TAGS, _SMALL_WIDTH, _SMALL_HEIGHT = 15, 340, 120  # for a phone
_FONT_SIZE = 12
_TAG_HEIGHT, _TAG_SPACE = 30, 40  # of a point with its name above it
_LONGEST_PATTERN = 30  # tags; a longer pattern would link too many pairs


def plot_network(
    model: FeatureConstructor, *, max_tags: int = 40, title: str = "Tags that are in one chunk"
) -> Any:
    """Draw tags as points, and lines between tags that share chunks, wider for more rows.

    Parameters
    ----------
    model : UFC or UFCPath
        Fitted, with at least one chunk.
    max_tags : int, default=40
        Maximum number of tags, those that share chunks in the most rows.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> animals = datasets.load_zoo().values
    >>> chart = plots.plot_network(UFC().fit(animals))
    """
    network = draw_network(model.feature_set_, max_tags)
    if not network.tags:
        raise InputError("no two tags are in one chunk: there is no network to draw")
    more = f"{network.left_out} tags with fewer rows are not shown"
    return draw_tags(network).to_chart([title, more] if network.left_out else title)


@dataclass(frozen=True)
class Tag:
    """A column by its name."""

    name: str
    x: int
    y: int


@dataclass(frozen=True)
class Link:
    """A line between two tags, wider if more rows have both in one chunk.

    ``rank`` is its place, from 1, among the links of the tag for which it is stronger.
    """

    tags: tuple[int, int]
    rows: int
    width: float
    rank: int


@dataclass(frozen=True)
class Network:
    """Tags by the positions of their columns, on a plane of ``size`` pixels."""

    tags: dict[int, Tag]
    links: tuple[Link, ...]
    left_out: int
    size: tuple[int, int]

    @property
    def is_small(self) -> bool:
        """True if the network fits on a phone."""
        return self.size[0] < _PLANE_WIDTH

    @property
    def most_links(self) -> int:
        """The number of links per tag that shows all links."""
        return max((link.rank for link in self.links), default=0)


def draw_network(feature_set: FeatureSet, max_tags: int) -> Network:
    """Lay out the tags that share chunks in the most rows."""
    names = feature_set.lineage.primitives
    position = {name: k for k, name in enumerate(names)}
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
    chosen = sorted(sorted(linked, key=lambda tag: (-linked[tag], tag))[:max_tags])
    between = {pair: together[pair] for pair in sorted(together) if {*chosen}.issuperset(pair)}
    most = max(between.values(), default=1)
    rank: dict[tuple[int, int], int] = {}
    n_links: Counter[int] = Counter()
    for pair in sorted(between, key=lambda pair: (-between[pair], pair)):
        rank[pair] = 1 + min(n_links[tag] for tag in pair)
        n_links.update(pair)
    pull = np.zeros((len(chosen), len(chosen)))
    for (one, other), rows in between.items():
        # only the strongest links attract: otherwise all tags would form one cluster
        if rank[one, other] <= _LINKS_THAT_PULL:
            i, j = chosen.index(one), chosen.index(other)
            pull[i, j] = pull[j, i] = 0.3 + 0.7 * rows / most
    texts = [_cut_middle(pattern_text([names[tag]])) for tag in chosen]
    widths = np.array([max(_TAG_SPACE, width_of(text, _FONT_SIZE)) for text in texts])
    width, least = _PLANE_WIDTH, _LEAST_HEIGHT
    if len(chosen) <= _FEW_TAGS:
        # wide enough for two names side by side
        width, least = max(_SMALL_WIDTH, round(2.2 * max(widths, default=0))), _SMALL_HEIGHT
    # names fill a third of the plane
    height = max(least, round(3 * float(widths.sum()) * _TAG_HEIGHT / width))
    places = _separate(_place(pull, (width, height)), widths, (width, height))
    size = width, max((y for _, y in places), default=0) + _TAG_HEIGHT
    tags = {tag: Tag(text, x, y) for tag, text, (x, y) in zip(chosen, texts, places, strict=True)}
    links = tuple(
        Link(pair, rows, round(1 + 9 * math.sqrt(rows / most), 2), rank[pair])
        for pair, rows in between.items()
    )
    return Network(tags, links, len(linked) - len(chosen), size)


def _cut_middle(name: str) -> str:
    """Cut the middle of a long name, because values of one question differ at the end."""
    half = _NAME_LENGTH // 2
    return name if len(name) <= _NAME_LENGTH else f"{name[: half - 1]}…{name[-half:]}"


def _place(pull: Floats, size: tuple[int, int]) -> Floats:
    """Place linked tags close together by Fruchterman and Reingold's springs, from a spiral."""
    n = len(pull)
    if not n:
        return np.zeros((0, 2))
    turn = np.arange(n) * 2.399963  # the golden angle
    radius = np.sqrt((np.arange(n) + 0.5) / n)
    at = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
    ideal = 1.6 / math.sqrt(n)
    for k in range(_ROUNDS):
        offset = at[:, None, :] - at[None, :, :]
        distance = np.sqrt((offset**2).sum(axis=2)) + np.eye(n)
        force = ideal**2 / distance**2 - pull * distance / ideal
        np.fill_diagonal(force, 0.0)
        # a weak force towards the centre keeps unlinked parts from drifting away
        move = (offset * force[:, :, None]).sum(axis=1) - 0.6 * at
        length = np.sqrt((move**2).sum(axis=1, keepdims=True)) + 1e-9
        at = at + move / length * np.minimum(length, 0.12 * (1 - k / _ROUNDS))
    low, high = at.min(axis=0), at.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    placed: Floats = np.where(high > low, (at - low) / span, 0.5) * np.array(size)
    return placed


def _separate(at: Floats, widths: Floats, size: tuple[int, int]) -> list[tuple[int, int]]:
    """Move tags until no two names overlap."""
    at = at.copy()
    half = widths / 2
    low = np.column_stack((half, np.full(len(at), 22.0)))
    high = np.column_stack((size[0] - half, np.full(len(at), size[1] - 8.0)))
    for _ in range(_ROUNDS):
        at = np.clip(at, low, high)
        moved = False
        for i in range(len(at)):
            for j in range(i):
                offset = at[i] - at[j]
                lacks = np.array([half[i] + half[j] + 6, _TAG_HEIGHT]) - np.abs(offset)
                if lacks.min() <= 0.01:
                    continue
                # along the axis with the smaller overlap
                axis = int(lacks[1] < lacks[0])
                step = (lacks[axis] / 2 + 0.5) * (1 if offset[axis] >= 0 else -1)
                at[i, axis] += step
                at[j, axis] -= step
                moved = True
        if not moved:
            break
    at = np.clip(at, low, high)
    # tags that still overlap, at the edges, move down
    placed: dict[int, tuple[int, int]] = {}
    for i in sorted(range(len(at)), key=lambda i: (at[i, 1], i)):
        x, y = int(at[i, 0].round()), int(at[i, 1].round())
        while below := [
            down
            for j, (across, down) in placed.items()
            if abs(x - across) < half[i] + half[j] + 2 and abs(y - down) < _TAG_HEIGHT - 4
        ]:
            y = max(below) + _TAG_HEIGHT
        placed[i] = x, y
    return [placed[i] for i in range(len(at))]


def draw_tags(network: Network, labels: Mapping[int, str] | None = None) -> Drawing:
    """Draw the points, names and links of a network; ``labels`` describe the tags on a page."""
    width, height = network.size
    shapes, texts = [], []
    for link in network.links:
        a, b = link.tags
        one, other = network.tags[a], network.tags[b]
        path, name = f"M{one.x} {one.y}L{other.x} {other.y}", f"link {a} {b}"
        own = {"class": "link", "data-a": a, "data-b": b, "data-rank": link.rank}
        look = Shape(path, stroke=GREY, width=link.width, opacity=0.45, name=name, attributes=own)
        shapes.append(look)
    for k, (number, tag) in enumerate(network.tags.items()):
        own = {"class": "tagged", "data-t": number, "role": "button", "tabindex": -1 if k else 0}
        own |= {"aria-label": labels[number]} if labels else {}
        named = {"class": "tag-name", "data-t": number}
        path = f"M{tag.x - 5} {tag.y}a5 5 0 1 1 10 0a5 5 0 1 1-10 0z"
        shapes.append(Shape(path, fill=COLOURS[0], name=f"tag {number}", attributes=own))
        name = f"name {number}"
        texts.append(Text(tag.x, tag.y - 8, tag.name, "middle", name=name, attributes=named))
    return Drawing((-5, -5, width + 10, height + 10), shapes, texts)
