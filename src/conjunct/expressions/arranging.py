"""Which of several equal ways to write a formula: order, signs, negation of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from conjunct.expressions.expression import (
    And,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    nodes,
)
from conjunct.expressions.factoring import all_of, any_of

_LONGEST_ARRANGED = 5_000  # literals


def cost(expression: Expression) -> tuple[int, int]:
    """Between formulas of as many literals: how many counts, then how many signs it takes."""
    if expression.length > _LONGEST_ARRANGED:
        return 0, 0
    return sum(isinstance(x, Counted) for x in nodes(expression)), len(expression.text())


def complement(expression: Expression) -> Expression:
    """The negation of a formula, pushed down to its primitives and counts."""
    if isinstance(expression, Constant):
        return Constant(not expression.value)
    if isinstance(expression, Not):
        return expression.operand
    if isinstance(expression, Primitive | Counted):
        return Not(expression)
    join = any_of if isinstance(expression, And) else all_of
    return join([complement(operand) for operand in expression._children])


def arranged(
    expression: Expression, names: Sequence[str], *, keep_terms: bool = False
) -> Expression:
    """The formula with its operands in the order of ``names``, literals before groups.

    A disjunction of literals that are mostly negations reads better as the negation of a
    conjunction, and is written so unless ``keep_terms``.
    """
    if expression.length > _LONGEST_ARRANGED:
        return expression
    position = {name: index for index, name in enumerate(names)}
    built: dict[int, Expression] = {}
    for node in nodes(expression):
        if isinstance(node, And | Or):
            operands = [built[operand.digest] for operand in node.operands]
            built[node.digest] = _joined(type(node), operands, position, keep_terms)
        elif isinstance(node, Not):
            built[node.digest] = Not(built[node.operand.digest])
        elif isinstance(node, Counted):
            operands = sorted((built[x.digest] for x in node.operands), key=_by(position))
            built[node.digest] = type(node)(node.number, operands)
        else:
            built[node.digest] = node
    return built[expression.digest]


def _joined(
    kind: type[And] | type[Or],
    operands: Sequence[Expression],
    position: Mapping[str, int],
    keep_terms: bool,
) -> Expression:
    flat: list[Expression] = []
    for operand in operands:
        flat.extend(operand.operands if isinstance(operand, kind) else (operand,))
    flat.sort(key=_by(position))
    if kind is Or and not keep_terms and _is_denial(flat):
        return Not(And(*(complement(operand) for operand in flat)))
    return kind(*flat)


def _by(position: Mapping[str, int]) -> Callable[[Expression], tuple[bool, list[int]]]:
    """The sort key of operands: literals before groups, each by its primitives."""

    def key(operand: Expression) -> tuple[bool, list[int]]:
        return operand.length > 1, sorted(position[name] for name in operand.primitives)

    return key


def _is_denial(operands: Sequence[Expression]) -> bool:
    if any(operand.length > 1 for operand in operands):
        return False
    negations = sum(isinstance(operand, Not) for operand in operands)
    return negations == 2 if len(operands) == 2 else 2 * negations >= len(operands)
