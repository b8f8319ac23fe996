"""Expressions as flat data, without depth and without repetition; pickle goes through it."""

from __future__ import annotations

from typing import TypeAlias

from conjunct.expressions.expression import And, Expression, Not, Primitive, nodes

Packed: TypeAlias = tuple[str | int | tuple[int, ...], ...]
"""An entry a node, operands first and called by position: a str is a primitive, an int the
negation of an earlier entry, a tuple of ints the conjunction of earlier entries."""


def pack(root: Expression) -> Packed:
    """Write an expression as a flat tuple, in which what is shared occurs once.

    >>> pack(Not(Primitive("sky")) & Primitive("tree"))
    ('sky', 0, 'tree', (1, 2))
    """
    packed: list[str | int | tuple[int, ...]] = []
    position: dict[int, int] = {}
    for node in nodes(root):
        position[id(node)] = len(packed)
        if isinstance(node, Primitive):
            packed.append(node.name)
        elif isinstance(node, Not):
            packed.append(position[id(node.operand)])
        else:
            packed.append(tuple(position[id(child)] for child in node._children))
    return tuple(packed)


def unpack(packed: Packed) -> Expression:
    """Build the expression that `pack` wrote.

    >>> print(unpack(("sky", 0, "tree", (1, 2))))
    ¬sky ∧ tree
    """
    built: list[Expression] = []
    for entry in packed:
        if isinstance(entry, str):
            built.append(Primitive(entry))
        elif isinstance(entry, int):
            built.append(Not(built[entry]))
        else:
            built.append(And(*(built[index] for index in entry)))
    return built[-1]
