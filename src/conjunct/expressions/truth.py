"""Boolean functions as whole columns of truth values, held in Python integers.

A *column* has one bit a case. The cases are either all assignments of up to `MAX_VARIABLES`
primitives (a truth table: bit ``m`` is the value where variable ``i`` is bit ``i`` of ``m``), or
the rows of some data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from conjunct.expressions.expression import Constant, Expression, Not, Or, Primitive, nodes

MAX_VARIABLES = 16
"""Truth tables are made for no more primitives than this: they double with each."""


def all_cases(n_cases: int) -> int:
    """The column that is true in every case."""
    return (1 << n_cases) - 1


def variable(index: int, n_variables: int) -> int:
    """The truth table of one variable among several.

    >>> bin(variable(0, 2)), bin(variable(1, 2))
    ('0b1010', '0b1100')
    """
    half = 1 << index
    table, width = all_cases(half) << half, 2 * half
    while width < 1 << n_variables:
        table |= table << width
        width *= 2
    return table


def column(expression: Expression, primitives: Mapping[str, int], everywhere: int) -> int:
    """The column of a formula, given those of its primitives and that of "always".

    Each distinct part is computed once and forgotten after its last use, so that formulas of
    very many nodes fit.
    """
    order = nodes(expression)
    waiting = Counter(child.digest for node in order for child in node._children)
    known: dict[int, int] = {}
    for node in order:
        if node.digest not in known:
            known[node.digest] = _column(node, known, primitives, everywhere)
        for child in node._children:
            waiting[child.digest] -= 1
            if not waiting[child.digest]:
                del known[child.digest]
    return known[expression.digest]


def _column(
    node: Expression, known: Mapping[int, int], primitives: Mapping[str, int], everywhere: int
) -> int:
    if isinstance(node, Primitive):
        return primitives[node.name]
    if isinstance(node, Constant):
        return everywhere if node.value else 0
    if isinstance(node, Not):
        return everywhere ^ known[node.operand.digest]
    union = isinstance(node, Or)
    result = 0 if union else everywhere
    for child in node._children:
        result = result | known[child.digest] if union else result & known[child.digest]
    return result


def occurring(columns: Sequence[int], everywhere: int) -> int:
    """The truth table of "this combination occurs in the data", given one column a variable."""

    def table(cases: int, n_variables: int) -> int:
        if not cases or not n_variables:
            return int(cases != 0)
        index = n_variables - 1
        without = table(cases & ~columns[index], index)
        return without | table(cases & columns[index], index) << (1 << index)

    return table(everywhere, len(columns))
