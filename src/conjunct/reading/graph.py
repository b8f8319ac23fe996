"""The ancestry of features as a drawing: nodes in columns, what they were made from to the left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from conjunct.construction.feature_set import FeatureSet

Kind = Literal["column", "step", "feature"]
_SWEEPS = 8


@dataclass(frozen=True)
class Node:
    """A feature of the lineage, and where it stands: ``level`` to the right, ``place`` down.

    ``kind``: a column of the data, a step on the way that was replaced, or a feature of the model.
    """

    number: int
    kind: Kind
    level: int
    place: float


@dataclass(frozen=True)
class Edge:
    """``parent`` is one of the two operands of ``child``, which may deny it."""

    parent: int
    child: int
    negated: bool


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int

    @property
    def n_levels(self) -> int:
        return 1 + max((node.level for node in self.nodes), default=0)

    @property
    def n_places(self) -> int:
        return 1 + int(max((node.place for node in self.nodes), default=0))


def ancestry_graph(feature_set: FeatureSet, roots: Sequence[int], max_nodes: int) -> Graph:
    """Roots, in the order given, with all that they were made from, while they are few enough.

    ``left_out`` is the number of roots that were too many. The first one is always there.
    """
    found: dict[int, None] = {}
    taken = 0
    for root in roots:
        more = [number for number in _ancestors(feature_set, root) if number not in found]
        if taken and len(found) + len(more) > max_nodes:
            break
        found.update(dict.fromkeys(more))
        taken += 1
    levels = _levels(feature_set, found)
    edges = tuple(edge for number in sorted(found) for edge in _edges(feature_set, number))
    places = _places(levels, edges)
    features = {*feature_set.features, *feature_set.suppressed}
    nodes = tuple(
        Node(number, _kind(feature_set, number, features), levels[number], places[number])
        for number in sorted(found)
    )
    return Graph(nodes, edges, len(roots) - taken)


def _kind(feature_set: FeatureSet, number: int, features: set[int]) -> Kind:
    if number < len(feature_set.lineage.primitives):
        return "column"
    return "feature" if number in features else "step"


def _ancestors(feature_set: FeatureSet, root: int) -> list[int]:
    """The feature and all it was made from, each once."""
    found = {root: None}
    pending = [root]
    while pending:
        for parent in feature_set.parents(pending.pop()):
            if parent not in found:
                found[parent] = None
                pending.append(parent)
    return list(found)


def _edges(feature_set: FeatureSet, number: int) -> list[Edge]:
    operands = feature_set.lineage.operands(number) or ()
    return [Edge(max(literal, ~literal), number, literal < 0) for literal in operands]


def _levels(feature_set: FeatureSet, numbers: Iterable[int]) -> dict[int, int]:
    """How many steps lie between a feature and the columns; parents have smaller numbers."""
    levels: dict[int, int] = {}
    for number in sorted(numbers):
        parents = feature_set.parents(number)
        levels[number] = 1 + max((levels[parent] for parent in parents), default=-1)
    return levels


def _places(levels: dict[int, int], edges: Sequence[Edge]) -> dict[int, float]:
    """Places in each column, near those of neighbours so that few lines cross; centred."""
    columns: dict[int, list[int]] = {}
    neighbours: dict[int, list[int]] = {number: [] for number in levels}
    for edge in edges:
        neighbours[edge.child].append(edge.parent)
        neighbours[edge.parent].append(edge.child)
    for number, level in levels.items():
        columns.setdefault(level, []).append(number)
    places = _centred(columns)
    for _ in range(_SWEEPS):
        for column in columns.values():
            means = {
                k: sum(places[other] for other in neighbours[k]) / len(neighbours[k])
                if neighbours[k]
                else places[k]
                for k in column
            }
            column.sort(key=lambda k: (means[k], k))
        places = _centred(columns)
    return places


def _centred(columns: dict[int, list[int]]) -> dict[int, float]:
    tallest = max(map(len, columns.values()), default=0)
    return {
        number: (tallest - len(column)) / 2 + k
        for column in columns.values()
        for k, number in enumerate(column)
    }
