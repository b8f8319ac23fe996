"""A sum of cubes as a nested formula of fewer literals: ``ab ∨ ac`` is ``a ∧ (b ∨ c)``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conjunct.expressions.cubes import Cube
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


def all_of(operands: Sequence[Expression]) -> Expression:
    """The conjunction of any number of operands."""
    if len(operands) < 2:
        return operands[0] if operands else Constant(True)
    return And(*operands)


def any_of(operands: Sequence[Expression]) -> Expression:
    """The disjunction of any number of operands."""
    if len(operands) < 2:
        return operands[0] if operands else Constant(False)
    return Or(*operands)


def spelled_out(expression: Expression) -> Expression:
    """The formula without counts: conjunctions and disjunctions of the operands, which share parts.

    At least k of the operands after the i-th are true where at least k of those after the next
    are, or the next and at least k − 1 of those.
    """
    built: dict[int, Expression] = {}
    for node in nodes(expression):
        operands = [built[child.digest] for child in node._children]
        if isinstance(node, Counted):
            enough = _at_least(operands, node.number)
            if node.most < len(operands):
                enough = And(enough, Not(_at_least(operands, node.most + 1)))
            built[node.digest] = enough
        elif isinstance(node, Not):
            built[node.digest] = Not(operands[0])
        else:
            built[node.digest] = type(node)(*operands) if isinstance(node, And | Or) else node
    return built[expression.digest]


def _at_least(operands: Sequence[Expression], number: int) -> Expression:
    found: list[Expression] = [Constant(True), *[Constant(False)] * number]
    for operand in reversed(operands):
        for k in range(number, 0, -1):
            found[k] = Or(found[k], And(operand, found[k - 1]))
    return found[number]


def sum_of_products(cubes: Sequence[Cube], names: Sequence[str]) -> Expression:
    """The cubes as they are: a disjunction of conjunctions."""
    return any_of([_product(cube, names) for cube in cubes])


def factored(cubes: Sequence[Cube], names: Sequence[str]) -> Expression:
    """The cubes with common parts taken out (Brayton's quick factoring).

    As long as two cubes share a literal, F is written Q·D ∨ R, and Q and D are factored in turn.
    D is a part of F without a literal common to all its cubes, and so is Q; where only a single
    cube divides, Q is its most common literal with all that goes with it.
    """
    terms: list[Expression] = []
    rest = list(cubes)
    while divisor := _divisor(rest):
        quotient = _quotient(rest, divisor)
        cube = quotient[0]
        if len(quotient) > 1:
            quotient = _without(quotient, _common(quotient))
            divisor = _quotient(rest, quotient)
            cube = _common(divisor)
        if cube:
            literal = _most_common_literal(rest, cube)
            divisor = _quotient(rest, [literal])
            quotient = [literal | _common(divisor)]
            divisor = _without(divisor, _common(divisor))
        terms.append(all_of([*_operands(quotient, names), *_operands(divisor, names)]))
        products = {q | d for q in quotient for d in divisor}
        rest = [cube for cube in rest if cube not in products]
    return any_of([*terms, *(_product(cube, names) for cube in rest)])


def _operands(cubes: Sequence[Cube], names: Sequence[str]) -> list[Expression]:
    if len(cubes) == 1:
        return [_literal(bit, names) for bit in _bits(cubes[0])]
    expression = factored(cubes, names)
    return list(expression.operands) if isinstance(expression, And) else [expression]


def _divisor(cubes: Sequence[Cube]) -> list[Cube]:
    """A part without a common literal, found by dividing by shared ones; none if none is."""
    shared = _shared_literal(cubes)
    if shared is None:
        return []
    part = list(cubes)
    while shared is not None:
        part = _quotient(part, [1 << shared])
        part = _without(part, _common(part))
        shared = _shared_literal(part)
    return part


def _shared_literal(cubes: Sequence[Cube]) -> int | None:
    """The literal of most cubes, the first of equals; ``None`` if no two cubes share one."""
    counts = Counter(bit for cube in cubes for bit in _bits(cube))
    if not counts:
        return None
    best = min(counts, key=lambda bit: (-counts[bit], bit))
    return best if counts[best] > 1 else None


def _most_common_literal(cubes: Sequence[Cube], among: Cube) -> Cube:
    bits = list(_bits(among))
    return 1 << min(bits, key=lambda bit: (-sum(cube >> bit & 1 for cube in cubes), bit))


def _quotient(cubes: Sequence[Cube], divisor: Sequence[Cube]) -> list[Cube]:
    """The largest Q with Q·D inside the cubes."""
    common: dict[Cube, None] | None = None
    for part in divisor:
        found = dict.fromkeys(cube ^ part for cube in cubes if cube & part == part)
        common = found if common is None else {q: None for q in common if q in found}
    return list(common or ())


def _common(cubes: Sequence[Cube]) -> Cube:
    shared = cubes[0]
    for cube in cubes:
        shared &= cube
    return shared


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
