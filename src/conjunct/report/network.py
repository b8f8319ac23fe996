"""The network of tags that are in one chunk, drawn so that one can choose a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conjunct.explain import count
from conjunct.plots import NETWORK_SIZE, network_of, network_places, network_widths
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows

_TOLD = 6  # tags that one is said to be in a chunk with


@dataclass(frozen=True)
class Tag:
    number: int
    name: str
    place: tuple[int, int]
    said: str


@dataclass(frozen=True)
class Link:
    """A line between two tags, from ``start`` to ``end``."""

    tags: tuple[int, int]
    start: tuple[int, int]
    end: tuple[int, int]
    width: float


@dataclass(frozen=True)
class DrawnNetwork:
    tags: tuple[Tag, ...]
    links: tuple[Link, ...]
    left_out: int
    size: tuple[int, int] = NETWORK_SIZE


def network(shown: ModelOnRows) -> DrawnNetwork | None:
    """The tags that share chunks in most rows; ``None`` if none does."""
    graph = network_of(shown.model.feature_set_, limits.NETWORK_TAGS)
    if not graph.tags:
        return None
    height = NETWORK_SIZE[1]
    places = {tag: (x, height - y) for tag, (x, y) in network_places(graph).items()}
    names = {tag: name for tag, name, _ in graph.tags}
    near: dict[int, list[tuple[int, str]]] = {tag: [] for tag in names}
    links = []
    for (one, other, rows), width in zip(graph.links, network_widths(graph), strict=True):
        near[one].append((rows, names[other]))
        near[other].append((rows, names[one]))
        links.append(Link((one, other), places[one], places[other], width))
    tags = (Tag(tag, name, places[tag], _said(name, near[tag])) for tag, name in names.items())
    return DrawnNetwork(tuple(tags), tuple(links), graph.left_out)


def _said(name: str, near: Sequence[tuple[int, str]]) -> str:
    others = sorted(near, key=lambda link: (-link[0], link[1]))
    with_most = ", ".join(f"{other} ({count(rows, 'row')})" for rows, other in others[:_TOLD])
    more = f" and {len(others) - _TOLD} more" if len(others) > _TOLD else ""
    return f"{name} is in one chunk with {with_most}{more}"
