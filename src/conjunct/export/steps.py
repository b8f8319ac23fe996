"""Which parts of formulas are computed in which step, so that a statement is short.

A part that is used in a later step is a column from the step that makes it to the last before its
last use. More steps share more parts, and each repeats the columns that are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from conjunct.expressions import And, Counted, Expression, Not, Or, Primitive, nodes

# Conjunctions within conjunctions that a step may hold; the last puts all of them into one.
WHOLE = 1 << 62
STRIDES = (1, 2, 3, 4, 6, 8, WHOLE)
# How long texts are, about: a column has the name it had and the name it gets, a literal one, and
# each pair of brackets around it takes a place in its line.
_COLUMN, _LITERAL, _BRACKETS = 4, 2, 1


@dataclass(frozen=True)
class Plan:
    """Steps 0 to ``n_steps`` - 1, and the features on top of the last."""

    features: Sequence[Expression]
    n_steps: int
    step: Mapping[Expression, int]
    """In which step a part is made; primitives in the first."""
    last: Mapping[Expression, int]
    """In which step a part that is a column is last used; ``n_steps`` for the features."""
    longest: int
    """Most literals of an expression."""
    widest: int
    """Most columns of a step."""
    written: int
    """About how long all expressions are."""
    size: int
    """About how long the statement is, without the names of the features."""

    @property
    def columns(self) -> list[Expression]:
        """All parts that are columns, primitives by name, then what is made of others."""
        return list(self.last)

    def columns_of(self, step: int) -> list[Expression]:
        """The columns of a step: made there or before, and used later."""
        return [part for part, last in self.last.items() if self.step[part] <= step < last]


def parts_of(features: Sequence[Expression]) -> list[Expression]:
    """All but negations and constants, each after what it is made of."""
    found = (node for node in nodes(*features) if isinstance(node, Primitive | And | Or | Counted))
    return list(dict.fromkeys(found))


def plan_of(features: Sequence[Expression], parts: Sequence[Expression], stride: int) -> Plan:
    """A plan in which conjunctions within each other in one step are ``stride`` at most."""
    step = _steps(parts, stride)
    tops = [top for top in map(_without_not, features) if top in step]
    n_steps = max(1, max((step[top] for top in tops), default=0))
    last: dict[Expression, int] = {}
    literals: dict[Expression, int] = {}
    length: dict[Expression, int] = {}
    for part in parts:
        literals[part] = length[part] = 0
        for child in filter(step.__contains__, map(_without_not, part.children)):
            if step[child] < step[part]:
                last[child] = max(last.get(child, 0), step[part])
                literals[part] += 1
                length[part] += _LITERAL
            else:
                literals[part] += literals[child]
                length[part] += length[child] + _BRACKETS * literals[child]
    last |= {top: n_steps for top in tops if step[top] < n_steps}
    ordered = {part: last[part] for part in sorted(last, key=_primitives_by_name)}
    made = [part for part in (*ordered, *tops) if step[part]]
    longest = max((literals[part] for part in made), default=0)
    written = sum(length[part] for part in made)
    changes = [0] * (n_steps + 1)
    for part, end in ordered.items():
        changes[step[part]] += 1
        changes[end] -= 1
    widths = list(accumulate(changes))
    size = written + _COLUMN * sum(widths)
    return Plan(features, n_steps, step, ordered, longest, max(widths), written, size)


def _steps(parts: Sequence[Expression], stride: int) -> dict[Expression, int]:
    depth: dict[Expression, int] = {}
    for part in parts:
        below = (depth.get(_without_not(child), 0) for child in part.children)
        depth[part] = 0 if isinstance(part, Primitive) else 1 + max(below, default=0)
    return {part: -(-depth[part] // stride) for part in parts}


def _without_not(expression: Expression) -> Expression:
    while isinstance(expression, Not):
        expression = expression.operand
    return expression


def _primitives_by_name(part: Expression) -> tuple[bool, str]:
    return (False, part.name) if isinstance(part, Primitive) else (True, "")
