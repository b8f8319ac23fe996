"""The ancestry of features: as text, as a graph for other programs, and as a drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from conjunct.errors import InputError
from conjunct.explain.findings import merges_by_pattern, new_features
from conjunct.explain.sentences import label
from conjunct.expressions import Style
from conjunct.features import FeatureSet

GraphFormat: TypeAlias = Literal["text", "mermaid", "dot"]
NodeRole = Literal["column", "step", "feature"]
# gives the numbers of a feature's operands; a denied one as its complement
Operands = Callable[[int], tuple[int, ...]]

_PLAIN = frozenset(" ∧∨¬.,_=+:…")
_SWEEPS = 8


def ancestry(
    feature_set: FeatureSet, number: int, format: GraphFormat = "text", style: Style = "unicode"
) -> str:
    """Write all ancestors of one feature of the lineage, each step once.

    Parameters
    ----------
    feature_set : FeatureSet
    number : int
        The feature's number in the lineage.
    format : {"text", "mermaid", "dot"}
        Indented text, a Mermaid flow chart or a Graphviz graph. Names are escaped: none of them
        can be read as a part of the graph. Dashed edges are negations.
    style : {"unicode", "ascii", "latex"}
        Of the formulas.
    """
    if format not in get_args(GraphFormat):
        formats = ", ".join(map(repr, get_args(GraphFormat)))
        raise InputError(f"unknown format {format!r}: choose one of {formats}")
    if format == "text":
        return _write_text(feature_set, number, style)
    operands = _operands(feature_set)
    numbers = _list_ancestors(operands, number)
    labels = {k: label(feature_set.lineage.expression(k), style) for k in numbers}
    return (_write_mermaid if format == "mermaid" else _write_dot)(
        labels, _list_edges(operands, numbers)
    )


def _write_text(feature_set: FeatureSet, root: int, style: Style) -> str:
    # marks before an operand and before its own operands: not last, last
    branches = (("├─ ", "│  "), ("└─ ", "   "))
    if style != "unicode":
        branches = (("|- ", "|  "), ("`- ", "   "))
    origins, operands = feature_set.origins(), _operands(feature_set)
    lines: list[str] = []
    written: set[int] = set()
    pending = [(root, "", "")]
    while pending:
        literal, branch, indent = pending.pop()
        number = max(literal, ~literal)
        parents = operands(number)
        iteration = feature_set.iteration(number)
        remark = f"iteration {iteration}" if iteration else ""
        if number in origins:
            remark += f", r = {origins[number].r:.2f}"
        if parents and number in written:
            remark, parents = "see above", ()
        written.add(number)
        sign = "not: " if literal < 0 else ""
        text = label(feature_set.lineage.expression(number), style)
        lines.append(f"{branch}{sign}{text}" + (f"  ({remark})" if remark else ""))
        for position, parent in reversed(list(enumerate(parents))):
            fork, further = branches[position == len(parents) - 1]
            pending.append((parent, indent + fork, indent + further))
    return "\n".join(lines) + "\n"


def _write_mermaid(labels: dict[int, str], edges: Iterable[Edge]) -> str:
    # all but letters, digits and plain signs by their numbers: Mermaid reads #34;
    def escape(text: str) -> str:
        return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in text)

    lines = ["flowchart TD"]
    lines += [f'  f{number}["{escape(text)}"]' for number, text in labels.items()]
    for edge in edges:
        arrow = "-. not .->" if edge.negated else "-->"
        lines.append(f"  f{edge.parent} {arrow} f{edge.child}")
    return "\n".join(lines) + "\n"


def _write_dot(labels: dict[int, str], edges: Iterable[Edge]) -> str:
    # Graphviz also reads character entities in labels
    def escape(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")

    lines = ["digraph ancestry {", "  node [shape=box];"]
    lines += [f'  f{number} [label="{escape(text)}"];' for number, text in labels.items()]
    for edge in edges:
        dashed = ' [style=dashed, label="not"]' if edge.negated else ""
        lines.append(f"  f{edge.parent} -> f{edge.child}{dashed};")
    return "\n".join([*lines, "}"]) + "\n"


@dataclass(frozen=True)
class AncestryNode:
    """A feature of the lineage, and its position: ``level`` to the right, ``place`` down.

    ``role``: a column of the data, a step on the way that was replaced, or a feature of the model.
    """

    number: int
    role: NodeRole
    level: int
    place: float


@dataclass(frozen=True)
class Edge:
    """``parent`` is one of the two operands of ``child``, which may deny it."""

    parent: int
    child: int
    negated: bool


@dataclass(frozen=True)
class AncestryGraph:
    """The nodes and edges of a drawing; ``left_out`` is the number of roots that did not fit."""

    nodes: tuple[AncestryNode, ...]
    edges: tuple[Edge, ...]
    left_out: int


def ancestry_roots(feature_set: FeatureSet, *, by_pattern: bool) -> list[int]:
    """List the constructed features: the most common first, or those with most evidence."""
    ranked = new_features(feature_set, by_evidence=by_pattern)
    return [one.number for one in ranked if not by_pattern or one.evidence is not None]


def ancestry_graph(
    feature_set: FeatureSet, roots: Sequence[int], max_nodes: int, *, by_pattern: bool = False
) -> AncestryGraph:
    """Build the graph of roots, in the order given, and their ancestors, up to ``max_nodes``.

    The first root is always there. ``by_pattern``: the rest of a pattern is no separate node, so
    that the graph shows which tags were joined, and no negations.
    """
    operands = _operands(feature_set)
    features = {*feature_set.features, *feature_set.suppressed}
    if by_pattern:
        chunks = _Chunks(feature_set)
        operands = chunks.parts
        roots = list(dict.fromkeys(map(chunks.whole, roots)))
        features = set(map(chunks.whole, features))
    found: dict[int, None] = {}
    n_roots = 0
    for root in roots:
        more = [number for number in _list_ancestors(operands, root) if number not in found]
        if n_roots and len(found) + len(more) > max_nodes:
            break
        found.update(dict.fromkeys(more))
        n_roots += 1
    numbers = sorted(found)

    def role(number: int) -> NodeRole:
        if number < len(feature_set.lineage.primitives):
            return "column"
        return "feature" if number in features else "step"

    roles = {number: role(number) for number in numbers}
    return layer_graph(roles, _list_edges(operands, numbers), len(roots) - n_roots)


def layer_graph(
    roles: Mapping[int, NodeRole], edges: Sequence[Edge], left_out: int
) -> AncestryGraph:
    """Place nodes to the right of their parents, near their neighbours, so that few lines cross."""
    levels = dict.fromkeys(roles, 0)
    is_moved = True
    while is_moved:
        is_moved = False
        for edge in edges:
            if levels[edge.child] <= levels[edge.parent]:
                levels[edge.child] = levels[edge.parent] + 1
                is_moved = True
    columns: dict[int, list[int]] = {}
    neighbours: dict[int, list[int]] = {number: [] for number in roles}
    for edge in edges:
        neighbours[edge.child].append(edge.parent)
        neighbours[edge.parent].append(edge.child)
    for number, level in levels.items():
        columns.setdefault(level, []).append(number)
    tallest = max(map(len, columns.values()), default=0)

    def centre() -> dict[int, float]:
        return {
            number: (tallest - len(column)) / 2 + k
            for column in columns.values()
            for k, number in enumerate(column)
        }

    places = centre()
    for _ in range(_SWEEPS):
        for column in columns.values():
            means = {
                k: sum(places[other] for other in neighbours[k]) / len(neighbours[k])
                if neighbours[k]
                else places[k]
                for k in column
            }
            column.sort(key=lambda k: (means[k], k))
        places = centre()
    nodes = tuple(AncestryNode(k, role, levels[k], places[k]) for k, role in roles.items())
    return AncestryGraph(nodes, tuple(edges), left_out)


class _Chunks:
    """Patterns instead of features: each has the number of the feature that joined it first."""

    def __init__(self, feature_set: FeatureSet) -> None:
        self._pattern = feature_set.lineage.pattern
        names = feature_set.lineage.primitives
        self._numbers: dict[tuple[str, ...], int] = {
            (name,): number for number, name in enumerate(names)
        }
        self._joined: dict[int, tuple[int, int]] = {}
        for pattern, merge in merges_by_pattern(feature_set).items():
            if merge.both is not None:
                self._numbers[pattern] = merge.both
                self._joined[merge.both] = merge.left, merge.right

    def whole(self, number: int) -> int:
        return self._numbers[self._pattern(number)]

    def parts(self, number: int) -> tuple[int, ...]:
        return tuple(map(self.whole, self._joined.get(number, ())))


def _operands(feature_set: FeatureSet) -> Operands:
    return lambda number: feature_set.lineage.operands(number) or ()


def _list_ancestors(operands: Operands, root: int) -> list[int]:
    """List the feature and its ancestors, each once."""
    found = {root: None}
    pending = [root]
    while pending:
        for literal in operands(pending.pop()):
            parent = max(literal, ~literal)
            if parent not in found:
                found[parent] = None
                pending.append(parent)
    return list(found)


def _list_edges(operands: Operands, numbers: Iterable[int]) -> tuple[Edge, ...]:
    return tuple(
        Edge(max(literal, ~literal), number, literal < 0)
        for number in numbers
        for literal in operands(number)
    )
