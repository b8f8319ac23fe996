"""Expressions as flat data, without depth and without repetition; pickle goes through it."""

from __future__ import annotations

from typing import TypeAlias

from conjunct.expressions.expression import (
    And,
    AtLeast,
    Constant,
    Counted,
    Exactly,
    Expression,
    Not,
    Or,
    Primitive,
    nodes,
)

Positions: TypeAlias = tuple[int, ...]
Entry: TypeAlias = str | bool | int | tuple[bool, Positions] | tuple[bool, Positions, int]
Packed: TypeAlias = tuple[Entry, ...]
"""An entry a node, operands first and called by position: a str is a primitive, a bool a
constant, an int the negation of an earlier entry, a tuple a conjunction (True) or a disjunction
(False) of earlier entries; with a number, at least (True) or exactly (False) so many of them."""


def pack(root: Expression) -> Packed:
    """Write an expression as a flat tuple, in which what is shared occurs once.

    >>> pack(Not(Primitive("sky")) & Primitive("tree"))
    ('sky', 0, 'tree', (True, (1, 2)))
    """
    packed: list[Entry] = []
    position: dict[int, int] = {}
    for node in nodes(root):
        position[id(node)] = len(packed)
        if isinstance(node, Primitive):
            packed.append(node.name)
        elif isinstance(node, Not):
            packed.append(position[id(node.operand)])
        elif isinstance(node, Constant):
            packed.append(node.value)
        else:
            operands = tuple(position[id(child)] for child in node._children)
            if isinstance(node, Counted):
                packed.append((isinstance(node, AtLeast), operands, node.number))
            else:
                packed.append((isinstance(node, And), operands))
    return tuple(packed)


def unpack(packed: Packed) -> Expression:
    """Build the expression that `pack` wrote.

    >>> print(unpack(("sky", 0, "tree", (True, (1, 2)))))
    ¬sky ∧ tree
    """
    built: list[Expression] = []
    for entry in packed:
        if isinstance(entry, str):
            built.append(Primitive(entry))
        elif isinstance(entry, bool):
            built.append(Constant(entry))
        elif isinstance(entry, int):
            built.append(Not(built[entry]))
        elif len(entry) == 3:
            at_least, operands, number = entry
            counted = AtLeast if at_least else Exactly
            built.append(counted(number, [built[index] for index in operands]))
        else:
            conjunction, operands = entry
            kind = And if conjunction else Or
            built.append(kind(*(built[index] for index in operands)))
    return built[-1]
