"""How many of some expressions are true (X-of-N), as a number to be compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from conjunct.expressions.expression import AtLeast, Exactly, Expression, Not


@final
class Count:
    """The number of true expressions among some; a comparison with a number is an expression.

    Parameters
    ----------
    operands : iterable of Expression
        Two or more, literals as a rule. One that is given twice counts twice.

    Examples
    --------
    >>> from conjunct import Count, Primitive
    >>> wheels = Count([Primitive("bicycle"), Primitive("car"), Primitive("bus")])
    >>> print(wheels == 2)
    exactly 2 of {bicycle, car, bus}
    >>> print(wheels >= 2)
    at least 2 of {bicycle, car, bus}
    >>> print(wheels < 2)
    ¬(at least 2 of {bicycle, car, bus})
    """

    __slots__ = ("operands",)
    __hash__ = None  # type: ignore[assignment]  # == makes an expression, so it cannot find equals

    def __init__(self, operands: Iterable[Expression]) -> None:
        self.operands = Exactly(0, operands).operands  # which checks them

    def __eq__(self, number: object) -> Exactly:  # type: ignore[override]
        return Exactly(number, self.operands) if isinstance(number, int) else NotImplemented

    def __ne__(self, number: object) -> Not:  # type: ignore[override]
        return Not(Exactly(number, self.operands)) if isinstance(number, int) else NotImplemented

    def __ge__(self, number: int) -> AtLeast:
        return AtLeast(number, self.operands)

    def __lt__(self, number: int) -> Not:
        return Not(AtLeast(number, self.operands))

    def __gt__(self, number: int) -> AtLeast:
        return AtLeast(number + 1, self.operands)

    def __le__(self, number: int) -> Not:
        return Not(AtLeast(number + 1, self.operands))

    def __repr__(self) -> str:
        return f"Count([{', '.join(map(repr, self.operands))}])"
