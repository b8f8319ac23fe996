"""Sums of products: disjunctions of conjunctions of literals, as sets of bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from conjunct.expressions.expression import Constant, Expression, Not, Or, Primitive, nodes
from conjunct.expressions.truth import all_cases

Cube: TypeAlias = int
"""A conjunction of literals: bit ``2 i`` is variable ``i``, bit ``2 i + 1`` its negation."""

MAX_TERMS = 4096
"""A sum of more products is not made."""


class TooManyTermsError(Exception):
    """A sum has more than `MAX_TERMS` products."""


def irredundant_cubes(lower: int, upper: int, n_variables: int) -> list[Cube]:
    """Cubes whose union lies between two truth tables, none of which can be left out.

    Minato's construction (after Morreale): the cubes that need the last variable, either way
    round, are split off first; what they leave is covered without it.

    Raises
    ------
    TooManyTermsError
        Where that takes more than `MAX_TERMS` cubes.
    """
    known: dict[tuple[int, int, int], tuple[list[Cube], int]] = {}

    def cover(lower: int, upper: int, n: int) -> tuple[list[Cube], int]:
        everywhere = all_cases(1 << n)
        if not lower:
            return [], 0
        if upper == everywhere:
            return [0], everywhere
        key = (lower, upper, n)
        if key not in known:
            known[key] = split(lower, upper, n - 1)
        return known[key]

    def split(lower: int, upper: int, n: int) -> tuple[list[Cube], int]:
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
        return cubes, covered | covered0 | (covered | covered1) << half

    return cover(lower, upper, n_variables)[0]


def multiplied_out(expression: Expression, names: Sequence[str]) -> list[Cube]:
    """The cubes of a formula whose negations stand on primitives, by multiplying it out.

    Contradictions and cubes inside another are dropped; others may still be redundant.
    """
    position = {name: index for index, name in enumerate(names)}
    known: dict[int, list[Cube]] = {}
    for node in nodes(expression):
        if isinstance(node, Primitive):
            known[node.digest] = [1 << 2 * position[node.name]]
        elif isinstance(node, Constant):
            known[node.digest] = [0] if node.value else []
        elif isinstance(node, Not):
            (literal,) = known[node.operand.digest]
            known[node.digest] = [literal << 1]
        else:
            known[node.digest] = _multiplied([known[x.digest] for x in node._children], node)
    return known[expression.digest]


def _multiplied(operands: Sequence[list[Cube]], node: Expression) -> list[Cube]:
    if isinstance(node, Or):
        return _absorbed(cube for cubes in operands for cube in cubes)
    product: list[Cube] = [0]
    for cubes in operands:
        product = _absorbed(one | other for one in product for other in cubes)
    return product


def _absorbed(cubes: Iterable[Cube]) -> list[Cube]:
    """The cubes that are possible and lie in no other."""
    kept: list[Cube] = []
    for count, cube in enumerate(sorted(set(cubes), key=int.bit_count)):
        if count > 4 * MAX_TERMS or len(kept) > MAX_TERMS:
            raise TooManyTermsError
        if not _contradictory(cube) and not any(cube & other == other for other in kept):
            kept.append(cube)
    return kept


def _contradictory(cube: Cube) -> bool:
    mask = int("01" * (cube.bit_length() // 2 + 1), 2)
    return cube & cube >> 1 & mask != 0
