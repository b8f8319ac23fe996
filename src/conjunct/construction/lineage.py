"""Where features come from: primitives, and conjunctions of two literals over earlier features.

Everything that Algorithm 1 constructs, whatever the learner, has this form. A feature is known by
its number: primitives first, then conjunctions in the order made. A literal is the number of a
feature, or its bitwise complement (``~number``) for the negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conjunct.expressions import And, Expression, Not, Primitive

Literal = int


class Lineage:
    """All features made so far. Equal conjunctions of the same literals get the same number."""

    def __init__(self, primitives: Sequence[str]) -> None:
        self.primitives = tuple(primitives)
        self.conjunctions: list[tuple[Literal, Literal]] = []
        self._expressions: list[Expression] = [Primitive(name) for name in self.primitives]
        self._numbers: dict[tuple[Literal, Literal], int] = {}

    def __len__(self) -> int:
        return len(self._expressions)

    def conjoin(self, left: Literal, right: Literal) -> int:
        """The number of ``left ∧ right``, which is made if it is new."""
        pair = (left, right)
        number = self._numbers.get(pair)
        if number is None:
            number = self._numbers[pair] = len(self._expressions)
            self.conjunctions.append(pair)
            self._expressions.append(self.conjunction(left, right))
        return number

    def conjunction(self, left: Literal, right: Literal) -> Expression:
        """``left ∧ right`` as an expression, which is not made for it."""
        return And(self._literal(left), self._literal(right))

    def knows(self, left: Literal, right: Literal) -> bool:
        """Whether the conjunction of these two literals was made, in either order."""
        return (left, right) in self._numbers or (right, left) in self._numbers

    def expression(self, number: int) -> Expression:
        return self._expressions[number]

    def expressions(self, numbers: Iterable[int]) -> tuple[Expression, ...]:
        return tuple(self._expressions[number] for number in numbers)

    def length(self, number: int) -> int:
        """Literal occurrences."""
        return self._expressions[number].length

    def operands(self, number: int) -> tuple[Literal, Literal] | None:
        """The two literals of a conjunction; ``None`` for a primitive."""
        k = number - len(self.primitives)
        return self.conjunctions[k] if k >= 0 else None

    def renamed(self, primitives: Sequence[str]) -> Lineage:
        """The same conjunctions over primitives with other names."""
        other = Lineage(primitives)
        for left, right in self.conjunctions:
            other.conjoin(left, right)
        return other

    def _literal(self, literal: Literal) -> Expression:
        return self._expressions[literal] if literal >= 0 else Not(self._expressions[~literal])
