"""Rules that shorten a formula of any size without looking at its truth values.

A conjunction is a set: repetitions go, a contradiction makes it false, and what holds for the
whole need not be said again inside: ``building ∧ ¬(sky ∧ building)`` is ``building ∧ ¬sky``.
At least one of some is a disjunction, and all of them, or none, a conjunction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from conjunct.expressions.expression import (
    And,
    AtLeast,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    nodes,
)
from conjunct.expressions.factoring import all_of, any_of

MAX_WORK = 1_000_000
"""Operands looked at before a formula is left as it is; about a second."""

Part: TypeAlias = int
"""The number of a primitive, conjunction or count; its complement (``~number``) is the negation."""

_TRUE: Part = 0
_FALSE: Part = ~_TRUE


class TooMuchWorkError(Exception):
    """The formula is too large for the rules."""


def reduced(expression: Expression) -> Expression:
    """An equivalent formula, with negations on primitives and counts only and often shorter.

    What the formula shares stays shared. One that would take more than `MAX_WORK` is returned
    as it is.
    """
    parts = _Parts()
    of: dict[int, Part] = {}
    order = nodes(expression)
    inner = _inner_conjunctions(order)
    gathered: dict[int, list[Part]] = {}
    try:
        for node in order:
            operands = _operands(node, of, gathered)
            if id(node) in inner:
                gathered[id(node)] = operands
                continue
            if isinstance(node, Primitive):
                of[id(node)] = parts.primitive(node)
            elif isinstance(node, Constant):
                of[id(node)] = _TRUE if node.value else _FALSE
            elif isinstance(node, Not):
                of[id(node)] = ~operands[0]
            elif isinstance(node, Or):
                of[id(node)] = ~parts.conjoin(~operand for operand in operands)
            elif isinstance(node, Counted):
                of[id(node)] = parts.counted(type(node), node.number, operands)
            else:
                of[id(node)] = parts.conjoin(operands)
    except TooMuchWorkError:
        return expression
    return parts.expression(of[id(expression)])


def _inner_conjunctions(order: Sequence[Expression]) -> set[int]:
    """Conjunctions that stand in one other only; it takes their operands, however long a chain."""
    uses = Counter(id(child) for node in order for child in node._children)
    return {
        id(child)
        for node in order
        if isinstance(node, And)
        for child in node.operands
        if isinstance(child, And) and uses[id(child)] == 1
    }


def _operands(
    node: Expression, of: Mapping[int, Part], gathered: dict[int, list[Part]]
) -> list[Part]:
    chains = [gathered.pop(id(child)) for child in node._children if id(child) in gathered]
    operands = max(chains, key=len, default=[])
    for chain in chains:
        if chain is not operands:
            operands.extend(chain)
    operands.extend(of[id(child)] for child in node._children if id(child) in of)
    return operands


class _Parts:
    """Numbered primitives, conjunctions and counts; equal ones have one number."""

    def __init__(self) -> None:
        # an ordered set each; none for a primitive or count
        self._members: list[dict[Part, None]] = [{}]
        self._primitives: dict[Part, Primitive] = {}
        self._counts: dict[Part, tuple[type[Counted], int, list[Part]]] = {}
        self._numbers: dict[object, Part] = {}
        self._work = 0

    def primitive(self, node: Primitive) -> Part:
        number = self._number(node.name, {})
        self._primitives[number] = node
        return number

    def conjoin(self, operands: Iterable[Part]) -> Part:
        """The conjunction of the operands, after applying the rules until none applies."""
        members = self._flattened(operands)
        while True:
            if any(~member in members for member in members):
                return _FALSE
            shorter = self._flattened(
                part for member in members for part in self._within(member, members)
            )
            if shorter.keys() == members.keys():
                return self._conjunction(members)
            members = shorter

    def counted(self, kind: type[Counted], number: int, operands: Sequence[Part]) -> Part:
        """``number`` of the operands, which says less of those that are certain."""
        times = Counter(operands)
        number -= times.pop(_TRUE, 0)
        times.pop(_FALSE, None)
        for operand in [x for x in times if x >= 0 and ~x in times]:
            # of a and ¬a one is true
            pairs = min(times[operand], times[~operand])
            times -= Counter({operand: pairs, ~operand: pairs})
            number -= pairs
        left = list(times.elements())
        self._work += len(left)
        if number > len(left) or (number < 0 and kind is not AtLeast):
            return _FALSE
        if number == len(left):
            return self.conjoin(left)
        if number <= 0:
            return _TRUE if kind is AtLeast else self.conjoin(~x for x in left)
        if number == 1 and kind is AtLeast:
            return ~self.conjoin(~x for x in left)
        part = self._number((kind, number, frozenset(times.items())), {})
        self._counts.setdefault(part, (kind, number, left))
        return part

    def _flattened(self, operands: Iterable[Part]) -> dict[Part, None]:
        members: dict[Part, None] = {}
        for operand in operands:
            inner = self._members[operand] if operand >= 0 else None
            members.update(inner or {operand: None})
            self._work += 1 + len(inner or ())
            if self._work > MAX_WORK:
                raise TooMuchWorkError
        members.pop(_TRUE, None)
        return members

    def _within(self, member: Part, members: dict[Part, None]) -> Iterable[Part]:
        """A member as it reads where all the others hold: nothing if it then holds as well."""
        inner = self._members[~member] if member < 0 else {}
        self._work += len(inner)
        if not inner:
            return [member]
        if any(~part in members for part in inner):
            return []
        kept = {part: None for part in inner if part not in members}
        return [member] if len(kept) == len(inner) else [~self._conjunction(kept)]

    def _conjunction(self, members: dict[Part, None]) -> Part:
        if _FALSE in members:
            return _FALSE
        if len(members) < 2:
            return next(iter(members), _TRUE)
        return self._number(frozenset(members), members)

    def _number(self, key: object, members: dict[Part, None]) -> Part:
        if key not in self._numbers:
            self._numbers[key] = len(self._members)
            self._members.append(members)
        return self._numbers[key]

    def expression(self, part: Part) -> Expression:
        """A part written out, negations pushed down to the primitives."""
        built: dict[Part, Expression] = {_TRUE: Constant(True), _FALSE: Constant(False)}
        pending = [part]
        while pending:
            current = pending[-1]
            number = max(current, ~current)
            members = self._members[number]
            wanted = [member if current >= 0 else ~member for member in members]
            if number in self._counts:
                wanted = self._counts[number][2]
            missing = [member for member in wanted if member not in built]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            if current in built:
                continue
            if members:
                join = all_of if current >= 0 else any_of
                built[current] = join([built[member] for member in wanted])
                continue
            if number in self._counts:
                kind, least, _ = self._counts[number]
                positive: Expression = kind(least, [built[operand] for operand in wanted])
            else:
                positive = self._primitives[number]
            built[current] = positive if current >= 0 else Not(positive)
        return built[part]
