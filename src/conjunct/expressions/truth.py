"""Boolean functions as truth tables and as sums of products, stored in Python integers.

A *column* has one bit per case. The cases are either the rows of a table, or all assignments of up
to `MAX_VARIABLES` primitives. In such a truth table, bit ``m`` is the value if variable ``i`` is
bit ``i`` of ``m``.

A *cube* is a conjunction of literals. A list of cubes is their disjunction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import and_, or_
from typing import TypeAlias

from conjunct.expressions.expression import (
    And,
    Constant,
    Counted,
    Expression,
    Not,
    Or,
    Primitive,
    all_of,
    any_of,
    nodes,
)

MAX_VARIABLES = 22
"""Maximum number of primitives of a truth table: 4 million cases, half a megabyte."""

Cube: TypeAlias = int
"""A conjunction of literals: bit ``2 i`` is variable ``i``, bit ``2 i + 1`` its negation."""

MAX_TERMS = 4096
"""Maximum number of products of a sum."""

_SLICE = 16  # variables: columns of 65,536 cases stay in the CPU's cache


def all_cases(n_cases: int) -> int:
    """Return the column that is true in every case."""
    return (1 << n_cases) - 1


def variable_table(index: int, n_variables: int) -> int:
    """Return the truth table of a variable.

    >>> bin(variable_table(0, 2)), bin(variable_table(1, 2))
    ('0b1010', '0b1100')
    """
    half = 1 << index
    table, width = all_cases(half) << half, 2 * half
    while width < 1 << n_variables:
        table |= table << width
        width *= 2
    return table


def combine_columns(node: Expression, operands: Sequence[int], everywhere: int) -> int:
    """Compute the column of a formula from the columns of its operands."""
    if isinstance(node, Not):
        return everywhere ^ operands[0]
    if isinstance(node, Constant):
        return everywhere if node.value else 0
    if isinstance(node, Counted):
        # at_least[k]: cases in which k or more of the columns so far are true
        at_least = [everywhere] + [0] * (node.number + 1)
        for column in operands:
            for k in range(node.number + 1, 0, -1):
                at_least[k] |= at_least[k - 1] & column
        enough = at_least[node.number]
        return enough if node.most == len(operands) else enough & ~at_least[node.number + 1]
    return reduce(or_ if isinstance(node, Or) else and_, operands)


def truth_table(expression: Expression, names: Sequence[str]) -> int:
    """Return the truth table of a formula over named variables, computed in slices.

    A slice fixes all variables after the sixteenth, which keeps the columns of parts short. Each
    column is dropped after its last use.

    >>> from conjunct import parse
    >>> bin(truth_table(parse("a & ~b"), ["a", "b"]))
    '0b10'
    """
    parts = {node.digest: node for node in nodes(expression)}
    last_use = {child.digest: part for part, node in parts.items() for child in node.children}
    done: dict[int, list[int]] = {}
    for operand, part in last_use.items():
        done.setdefault(part, []).append(operand)
    free, fixed = names[:_SLICE], names[_SLICE:]
    n_cases = 1 << len(free)
    everywhere = all_cases(n_cases)
    primitives = {name: variable_table(k, len(free)) for k, name in enumerate(free)}
    slices = []
    for case in range(1 << len(fixed)):
        primitives |= {name: everywhere if case >> k & 1 else 0 for k, name in enumerate(fixed)}
        known: dict[int, int] = {}
        for part, node in parts.items():
            if isinstance(node, Primitive):
                known[part] = primitives[node.name]
            else:
                operands = [known[child.digest] for child in node.children]
                known[part] = combine_columns(node, operands, everywhere)
            for operand in done.get(part, ()):
                del known[operand]
        slices.append(known[expression.digest])
    if not fixed:
        return slices[0]
    table = b"".join(column.to_bytes(n_cases // 8, "little") for column in slices)
    return int.from_bytes(table, "little")


def occurrence_table(columns: Sequence[int], everywhere: int) -> int:
    """Return the truth table of "this combination occurs" from the columns of the variables."""

    def table(cases: int, n_variables: int) -> int:
        if not cases or not n_variables:
            return int(cases != 0)
        index = n_variables - 1
        without = table(cases & ~columns[index], index)
        return without | table(cases & columns[index], index) << (1 << index)

    return table(everywhere, len(columns))


class TooManyTermsError(Exception):
    """A sum has more than `MAX_TERMS` products."""


def irredundant_cubes(lower: int, upper: int, n_variables: int) -> list[Cube]:
    """Find cubes, none of them redundant, whose union lies between two truth tables.

    This is Minato's construction (after Morreale). It first splits off cubes that need the last
    variable or its negation, then covers the remaining cases without this variable. More than
    `MAX_TERMS` cubes raise a `TooManyTermsError`.
    """
    known: dict[tuple[int, int, int], tuple[list[Cube], int]] = {}

    def cover(lower: int, upper: int, n: int) -> tuple[list[Cube], int]:
        everywhere = all_cases(1 << n)
        if not lower:
            return [], 0
        if upper == everywhere:
            return [0], everywhere
        key = (lower, upper, n)
        if key in known:
            return known[key]
        n -= 1
        half = 1 << n
        low = all_cases(half)
        lower0, lower1, upper0, upper1 = lower & low, lower >> half, upper & low, upper >> half
        cubes0, covered0 = cover(lower0 & ~upper1, upper0, n)
        cubes1, covered1 = cover(lower1 & ~upper0, upper1, n)
        rest = lower0 & ~covered0 | lower1 & ~covered1
        cubes, covered = cover(rest, upper0 & upper1, n)
        positive, negative = 1 << 2 * n, 1 << 2 * n + 1
        cubes = [*cubes, *(c | negative for c in cubes0), *(c | positive for c in cubes1)]
        if len(cubes) > MAX_TERMS:
            raise TooManyTermsError
        known[key] = cubes, covered | covered0 | (covered | covered1) << half
        return known[key]

    return cover(lower, upper, n_variables)[0]


def multiply_out(expression: Expression, names: Sequence[str]) -> list[Cube]:
    """Multiply out a formula in which only primitives are negated.

    Contradictions and cubes inside another are dropped; other redundant cubes may remain.
    """
    position = {name: index for index, name in enumerate(names)}
    known: dict[int, list[Cube]] = {}
    for node in nodes(expression):
        operands = [known[child.digest] for child in node.children]
        if isinstance(node, Primitive):
            cubes = [1 << 2 * position[node.name]]
        elif isinstance(node, Constant):
            cubes = [0] if node.value else []
        elif isinstance(node, Not):
            ((literal,),) = operands
            cubes = [literal << 1]
        elif isinstance(node, Or):
            cubes = _drop_absorbed(cube for operand in operands for cube in operand)
        else:
            cubes = [0]
            for operand in operands:
                cubes = _drop_absorbed(one | other for one in cubes for other in operand)
        known[node.digest] = cubes
    return known[expression.digest]


def _drop_absorbed(cubes: Iterable[Cube]) -> list[Cube]:
    """Keep the cubes that are possible and not inside another."""
    kept: list[Cube] = []
    for count, cube in enumerate(sorted(set(cubes), key=int.bit_count)):
        if count > 4 * MAX_TERMS or len(kept) > MAX_TERMS:
            raise TooManyTermsError
        positive = int("01" * (cube.bit_length() // 2 + 1), 2)
        is_possible = not cube & cube >> 1 & positive
        if is_possible and not any(cube & other == other for other in kept):
            kept.append(cube)
    return kept


def sum_of_products(cubes: Sequence[Cube], names: Sequence[str]) -> Expression:
    """Convert cubes to a disjunction of conjunctions."""
    return any_of([_product(cube, names) for cube in cubes])


def factor(cubes: Sequence[Cube], names: Sequence[str]) -> Expression:
    """Factor out common parts of cubes: ``ab ∨ ac`` becomes ``a ∧ (b ∨ c)``.

    This is Brayton's quick factoring. While two cubes share a literal, F becomes Q·D ∨ R, and Q
    and D are factored in turn. The cubes of D share no literal, nor do those of Q. If the quotient
    is a single cube, Q is its most common literal, with the literals that always occur with it.
    """
    terms: list[Expression] = []
    rest = list(cubes)
    while divisor := _find_divisor(rest):
        quotient = _quotient(rest, divisor)
        cube = quotient[0]
        if len(quotient) > 1:
            quotient = _without(quotient, _common(quotient))
            divisor = _quotient(rest, quotient)
            cube = _common(divisor)
        if cube:
            counts = {bit: sum(other >> bit & 1 for other in rest) for bit in _bits(cube)}
            literal = 1 << min(counts, key=lambda bit: (-counts[bit], bit))
            divisor = _quotient(rest, [literal])
            quotient = [literal | _common(divisor)]
            divisor = _without(divisor, _common(divisor))
        terms.append(
            all_of([*_factor_operands(quotient, names), *_factor_operands(divisor, names)])
        )
        products = {q | d for q in quotient for d in divisor}
        rest = [cube for cube in rest if cube not in products]
    return any_of([*terms, *(_product(cube, names) for cube in rest)])


def _factor_operands(cubes: Sequence[Cube], names: Sequence[str]) -> list[Expression]:
    if len(cubes) == 1:
        return [_literal(bit, names) for bit in _bits(cubes[0])]
    expression = factor(cubes, names)
    return list(expression.operands) if isinstance(expression, And) else [expression]


def _find_divisor(cubes: Sequence[Cube]) -> list[Cube]:
    """Divide by shared literals until no two cubes share one; return [] if none is shared."""
    shared = _most_common_literal(cubes)
    if shared is None:
        return []
    part = list(cubes)
    while shared is not None:
        part = _quotient(part, [1 << shared])
        part = _without(part, _common(part))
        shared = _most_common_literal(part)
    return part


def _most_common_literal(cubes: Sequence[Cube]) -> int | None:
    """Return the most common literal, or None if no two cubes share one."""
    counts = Counter(bit for cube in cubes for bit in _bits(cube))
    if not counts:
        return None
    best = min(counts, key=lambda bit: (-counts[bit], bit))
    return best if counts[best] > 1 else None


def _quotient(cubes: Sequence[Cube], divisor: Sequence[Cube]) -> list[Cube]:
    """Return the largest quotient Q for which the cubes contain Q·D."""
    common: dict[Cube, None] | None = None
    for part in divisor:
        found = dict.fromkeys(cube ^ part for cube in cubes if cube & part == part)
        common = found if common is None else {q: None for q in common if q in found}
    return list(common or ())


def _common(cubes: Sequence[Cube]) -> Cube:
    return reduce(and_, cubes)


def _without(cubes: Sequence[Cube], literals: Cube) -> list[Cube]:
    return [cube & ~literals for cube in cubes]


def _product(cube: Cube, names: Sequence[str]) -> Expression:
    return all_of([_literal(bit, names) for bit in _bits(cube)])


def _literal(bit: int, names: Sequence[str]) -> Expression:
    primitive = Primitive(names[bit >> 1])
    return Not(primitive) if bit & 1 else primitive


def _bits(cube: Cube) -> Iterator[int]:
    while cube:
        lowest = cube & -cube
        yield lowest.bit_length() - 1
        cube ^= lowest
