"""Boolean functions as whole columns of truth values, held in Python integers.

A *column* has one bit a case. The cases are either all assignments of up to `MAX_VARIABLES`
primitives (a truth table: bit ``m`` is the value where variable ``i`` is bit ``i`` of ``m``), or
the rows of some data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conjunct.expressions.expression import (
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    nodes,
)

MAX_VARIABLES = 22
"""Truth tables are made for no more primitives than this: 4 million cases, half a megabyte."""

_SLICE = 16  # variables: columns of 65,536 cases stay in the processor's cache


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
    """The column of a formula, given those of its primitives and that of "always"."""
    return _computed(_steps(expression), primitives, everywhere)


class _Step(NamedTuple):
    """One distinct part of a formula, and which parts are not needed after it."""

    node: Expression
    part: int
    operands: list[int]
    last_used: list[int]


def _steps(expression: Expression) -> list[_Step]:
    """The parts of a formula in the order in which to compute them, equal ones once."""
    number: dict[int, int] = {}
    distinct: list[Expression] = []
    for node in nodes(expression):
        if node.digest not in number:
            number[node.digest] = len(distinct)
            distinct.append(node)
    operands = [[number[child.digest] for child in node._children] for node in distinct]
    last_use = {operand: part for part, its in enumerate(operands) for operand in its}
    forgotten: list[list[int]] = [[] for _ in distinct]
    for operand, part in last_use.items():
        forgotten[part].append(operand)
    return [_Step(node, k, operands[k], forgotten[k]) for k, node in enumerate(distinct)]


def _computed(steps: list[_Step], primitives: Mapping[str, int], everywhere: int) -> int:
    # what is not needed any more is forgotten, so that formulas of very many parts fit
    known: dict[int, int] = {}
    for node, part, operands, last_used in steps:
        if isinstance(node, Primitive):
            value = primitives[node.name]
        elif isinstance(node, Not):
            value = everywhere ^ known[operands[0]]
        elif isinstance(node, Constant):
            value = everywhere if node.value else 0
        elif isinstance(node, Or):
            value = 0
            for operand in operands:
                value |= known[operand]
        elif isinstance(node, Counted):
            value = _counted(node, [known[operand] for operand in operands], everywhere)
        else:
            value = everywhere
            for operand in operands:
                value &= known[operand]
        known[part] = value
        for operand in last_used:
            del known[operand]
    return known[len(steps) - 1]


def _counted(node: Counted, columns: Sequence[int], everywhere: int) -> int:
    # at_least[k]: where k or more of the columns seen so far are true
    at_least = [everywhere] + [0] * (node.number + 1)
    for column in columns:
        for k in range(node.number + 1, 0, -1):
            at_least[k] |= at_least[k - 1] & column
    enough = at_least[node.number]
    return enough if node.most == len(columns) else enough & ~at_least[node.number + 1]


def truth_table(expression: Expression, names: Sequence[str]) -> int:
    """The truth table of a formula over named variables, made in slices.

    In a slice the variables after the sixteenth are fixed, so that the columns of a formula's
    many parts are short.

    >>> from conjunct import parse
    >>> bin(truth_table(parse("a & ~b"), ["a", "b"]))
    '0b10'
    """
    free, fixed = names[:_SLICE], names[_SLICE:]
    n_cases = 1 << len(free)
    everywhere = all_cases(n_cases)
    columns = {name: variable(k, len(free)) for k, name in enumerate(free)}
    if not fixed:
        return column(expression, columns, everywhere)
    steps = _steps(expression)
    slices = []
    for case in range(1 << len(fixed)):
        columns |= {name: everywhere if case >> k & 1 else 0 for k, name in enumerate(fixed)}
        part = _computed(steps, columns, everywhere)
        slices.append(part.to_bytes(n_cases // 8, "little"))
    return int.from_bytes(b"".join(slices), "little")


def occurring(columns: Sequence[int], everywhere: int) -> int:
    """The truth table of "this combination occurs in the data", given one column a variable."""

    def table(cases: int, n_variables: int) -> int:
        if not cases or not n_variables:
            return int(cases != 0)
        index = n_variables - 1
        without = table(cases & ~columns[index], index)
        return without | table(cases & columns[index], index) << (1 << index)

    return table(everywhere, len(columns))
