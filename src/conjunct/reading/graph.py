"""The ancestry of features as a drawing: nodes in columns, what they were made from to the left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from conjunct.construction.feature_set import FeatureSet
from conjunct.reading.findings import births

Kind = Literal["column", "step", "feature"]
_SWEEPS = 8

# what a feature was made from: numbers, those that it denies as their complement
Operands = Callable[[int], tuple[int, ...]]


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


def made_features(feature_set: FeatureSet, *, by_pattern: bool) -> list[int]:
    """The constructed features: the most common first, or by what their patterns saved."""
    counted = zip(feature_set.features, feature_set.supports, strict=True)
    made = [(-support, number) for number, support in counted if feature_set.iteration(number)]
    if not by_pattern:
        return [number for _, number in sorted(made)]
    joined, pattern = births(feature_set), feature_set.lineage.pattern
    chunks = [number for _, number in made if pattern(number) in joined]
    return sorted(chunks, key=lambda number: -joined[pattern(number)].saved)


def ancestry_graph(
    feature_set: FeatureSet, roots: Sequence[int], max_nodes: int, *, by_pattern: bool = False
) -> Graph:
    """Roots, in the order given, with all that they were made from, while they are few enough.

    ``left_out`` is the number of roots that were too many. The first one is always there.
    ``by_pattern``: what is left of a pattern is no node of its own, so that the graph shows which
    tags were joined, and no negations.
    """

    def plain(number: int) -> tuple[int, ...]:
        return feature_set.lineage.operands(number) or ()

    operands = plain
    features = {*feature_set.features, *feature_set.suppressed}
    if by_pattern:
        chunks = _Chunks(feature_set)
        operands = chunks.parts
        roots = list(dict.fromkeys(map(chunks.whole, roots)))
        features = set(map(chunks.whole, features))
    found: dict[int, None] = {}
    taken = 0
    for root in roots:
        more = [number for number in _ancestors(operands, root) if number not in found]
        if taken and len(found) + len(more) > max_nodes:
            break
        found.update(dict.fromkeys(more))
        taken += 1
    levels = _levels(operands, found)
    edges = tuple(
        Edge(max(literal, ~literal), number, literal < 0)
        for number in sorted(found)
        for literal in operands(number)
    )
    places = _places(levels, edges)
    nodes = tuple(
        Node(number, _kind(feature_set, number, features), levels[number], places[number])
        for number in sorted(found)
    )
    return Graph(nodes, edges, len(roots) - taken)


class _Chunks:
    """Patterns in the place of features: each is known by the number it was first joined as."""

    def __init__(self, feature_set: FeatureSet) -> None:
        self._pattern = feature_set.lineage.pattern
        names = feature_set.lineage.primitives
        self._numbers: dict[tuple[str, ...], int] = {
            (name,): number for number, name in enumerate(names)
        }
        self._joined: dict[int, tuple[int, int]] = {}
        for pattern, merge in births(feature_set).items():
            if merge.both is not None:
                self._numbers[pattern] = merge.both
                self._joined[merge.both] = merge.left, merge.right

    def whole(self, number: int) -> int:
        return self._numbers[self._pattern(number)]

    def parts(self, number: int) -> tuple[int, ...]:
        return tuple(map(self.whole, self._joined.get(number, ())))


def _kind(feature_set: FeatureSet, number: int, features: set[int]) -> Kind:
    if number < len(feature_set.lineage.primitives):
        return "column"
    return "feature" if number in features else "step"


def _ancestors(operands: Operands, root: int) -> list[int]:
    """The feature and all it was made from, each once."""
    found = {root: None}
    pending = [root]
    while pending:
        for literal in operands(pending.pop()):
            parent = max(literal, ~literal)
            if parent not in found:
                found[parent] = None
                pending.append(parent)
    return list(found)


def _levels(operands: Operands, numbers: Iterable[int]) -> dict[int, int]:
    """How many steps lie between a feature and the columns; parents have smaller numbers."""
    levels: dict[int, int] = {}
    for number in sorted(numbers):
        parents = (max(literal, ~literal) for literal in operands(number))
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
