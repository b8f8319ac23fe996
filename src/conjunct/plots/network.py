"""Which tags are in one chunk, and in how many rows: a network."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from conjunct.errors import InputError
from conjunct.estimators import FeatureConstructor
from conjunct.explain import shortened
from conjunct.expressions import pattern_text
from conjunct.features import FeatureSet
from conjunct.plots.style import COLOURS, GREY, chart_of, finished
from conjunct.ufc import Floats

NETWORK_SIZE = 720, 440  # pixels
_NAME_LENGTH = 22
_ROUNDS = 300
_LONGEST_PATTERN = 30  # tags; a longer one would link everything with everything


def plot_network(
    model: FeatureConstructor, *, max_tags: int = 40, title: str = "Tags that are in one chunk"
) -> Any:
    """Tags as points, and a line between two that are in one chunk: the wider, the more rows.

    Parameters
    ----------
    model : UFC or UFCPath
        Fitted; it replaced some pairs.
    max_tags : int, default=40
        Of more tags, those that share chunks in most rows are shown, and it is said so.
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
    """The tags that are in one chunk in most rows, and in how many rows each two of them are."""
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
    """The picture of a network. Marks are described: ``tag 3``, ``name 3``, ``link 3 5``."""
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
    return finished(alt.layer(links, tags, names), title, width=width, height=height)


def network_widths(network: Network) -> list[float]:
    """How wide each line is: the more rows, the wider."""
    most = max((rows for _, _, rows in network.links), default=1)
    return [round(1 + 9 * math.sqrt(rows / most), 2) for _, _, rows in network.links]


def network_places(network: Network) -> dict[int, tuple[int, int]]:
    """Where each tag stands.

    Linked tags near each other and no two in one place: springs, started on a spiral.

    Fruchterman and Reingold's way. Nothing is random: a network has one picture.
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
        apart = at[:, None, :] - at[None, :, :]
        distance = np.sqrt((apart**2).sum(axis=2)) + np.eye(n)
        force = ideal**2 / distance**2 - pull * distance / ideal
        np.fill_diagonal(force, 0.0)
        # a little towards the middle: parts that no line holds together do not drift away
        move = (apart * force[:, :, None]).sum(axis=1) - 0.6 * at
        length = np.sqrt((move**2).sum(axis=1, keepdims=True)) + 1e-9
        at = at + move / length * np.minimum(length, 0.12 * (1 - k / _ROUNDS))
    return dict(zip(row, _fitted(at), strict=True))


def _fitted(at: Floats) -> list[tuple[int, int]]:
    low, high = at.min(axis=0), at.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    margin = np.array([70.0, 30.0])
    room = np.array(NETWORK_SIZE) - 2 * margin
    scaled = margin + np.where(high > low, (at - low) / span, 0.5) * room
    return [(int(x), int(y)) for x, y in scaled.round()]
