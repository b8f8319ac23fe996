"""Leave out what its surroundings make redundant, judged on columns of truth values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conjunct.expressions.expression import And, Constant, Expression, Not, Or
from conjunct.expressions.factoring import all_of, any_of
from conjunct.expressions.truth import column


@dataclass(frozen=True)
class Cases:
    """Columns of the primitives, that of "always", and the cases in which formulas must agree."""

    columns: Mapping[str, int]
    everywhere: int
    care: int

    def column(self, expression: Expression) -> int:
        return column(expression, self.columns, self.everywhere)


def pruned(expression: Expression, cases: Cases) -> Expression:
    """A formula that agrees with this one in all cases of interest, without redundant parts.

    An operand of a conjunction matters only where all the others are true, one of a disjunction
    only where all the others are false. Where it is constant in the cases in which it matters, it
    goes; otherwise the same is asked of its own operands.
    """
    return _pruned(expression, cases, cases.care)


def _pruned(expression: Expression, cases: Cases, care: int) -> Expression:
    true = cases.column(expression) & care
    if not true:
        return Constant(False)
    if true == care:
        return Constant(True)
    if isinstance(expression, Not):
        inner = _pruned(expression.operand, cases, care)
        return Not(inner)
    if not isinstance(expression, And | Or):
        return expression
    return _joined(expression, cases, care)


def _joined(expression: And | Or, cases: Cases, care: int) -> Expression:
    conjunction = isinstance(expression, And)
    operands = list(expression.operands)
    columns = [cases.column(operand) for operand in operands]
    # the longest first: what can be said by the others should be
    for k in sorted(range(len(operands)), key=lambda k: -operands[k].length):
        matters = care
        for other, its_column in enumerate(columns):
            if other != k:
                matters &= its_column if conjunction else ~its_column
        operands[k] = _pruned(operands[k], cases, matters)
        columns[k] = cases.column(operands[k])
    neutral = Constant(conjunction)
    kept = [operand for operand in operands if operand != neutral]
    return all_of(kept) if conjunction else any_of(kept)
