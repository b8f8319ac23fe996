"""What a feature was made from, as indented text and as a graph for Mermaid or Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from conjunct.construction.feature_set import FeatureSet
from conjunct.errors import InputError
from conjunct.expressions import Style
from conjunct.reading.labels import label

GraphFormat: TypeAlias = Literal["text", "mermaid", "dot"]

_PLAIN = frozenset(" ∧∨¬.,_=+:…")


def ancestry(
    feature_set: FeatureSet, number: int, format: GraphFormat = "text", style: Style = "unicode"
) -> str:
    """Everything that went into one feature of the lineage, each step once.

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
    writers = {"text": _as_text, "mermaid": _as_mermaid, "dot": _as_dot}
    if format not in writers:
        formats = ", ".join(map(repr, get_args(GraphFormat)))
        raise InputError(f"unknown format {format!r}: choose one of {formats}")
    return writers[format](_Ancestry(feature_set, style), number)


class _Ancestry:
    def __init__(self, feature_set: FeatureSet, style: Style) -> None:
        self._feature_set = feature_set
        self._lineage = feature_set.lineage
        self._origins = feature_set.origins()
        self._style = style

    def label(self, number: int) -> str:
        return label(self._lineage.expression(number), self._style)

    @property
    def branches(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """What stands before an operand and before what it was made from: not last, last."""
        if self._style == "unicode":
            return ("├─ ", "│  "), ("└─ ", "   ")
        return ("|- ", "|  "), ("`- ", "   ")

    def remark(self, number: int) -> str:
        iteration = self._feature_set.iteration(number)
        merge = self._origins.get(number)
        return f"iteration {iteration}" * bool(iteration) + (
            f", r = {merge.r:.2f}" if merge else ""
        )

    def parents(self, number: int) -> list[tuple[int, bool]]:
        """The operands of a conjunction, and whether each is negated; none for a primitive."""
        operands = self._lineage.operands(number) or ()
        return [(max(literal, ~literal), literal < 0) for literal in operands]

    def nodes(self, root: int) -> list[int]:
        """The feature and all it was made from, each once."""
        found = {root: None}
        pending = [root]
        while pending:
            for parent, _ in self.parents(pending.pop()):
                if parent not in found:
                    found[parent] = None
                    pending.append(parent)
        return list(found)

    def edges(self, root: int) -> Iterator[tuple[int, int, bool]]:
        for number in self.nodes(root):
            for parent, negated in self.parents(number):
                yield parent, number, negated


def _as_text(graph: _Ancestry, root: int) -> str:
    lines: list[str] = []
    written: set[int] = set()
    pending = [(root, False, "", "")]
    while pending:
        number, negated, branch, indent = pending.pop()
        remark = graph.remark(number)
        parents = graph.parents(number)
        if parents and number in written:
            remark, parents = "see above", []
        written.add(number)
        sign = "not: " if negated else ""
        lines.append(f"{branch}{sign}{graph.label(number)}" + (f"  ({remark})" if remark else ""))
        for position, (parent, is_negated) in reversed(list(enumerate(parents))):
            fork, further = graph.branches[position == len(parents) - 1]
            pending.append((parent, is_negated, indent + fork, indent + further))
    return "\n".join(lines) + "\n"


def _as_mermaid(graph: _Ancestry, root: int) -> str:
    lines = ["flowchart TD"]
    lines += [f'  f{number}["{_mermaid(graph.label(number))}"]' for number in graph.nodes(root)]
    for parent, number, negated in graph.edges(root):
        arrow = "-. not .->" if negated else "-->"
        lines.append(f"  f{parent} {arrow} f{number}")
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    """Whatever is no letter, digit or plain sign, by its number: Mermaid reads ``#34;``."""
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in text)


def _as_dot(graph: _Ancestry, root: int) -> str:
    lines = ["digraph ancestry {", "  node [shape=box];"]
    lines += [f'  f{number} [label="{_dot(graph.label(number))}"];' for number in graph.nodes(root)]
    for parent, number, negated in graph.edges(root):
        dashed = ' [style=dashed, label="not"]' if negated else ""
        lines.append(f"  f{parent} -> f{number}{dashed};")
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    # Graphviz also reads character entities in labels
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
