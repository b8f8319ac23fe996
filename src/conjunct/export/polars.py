"""Features as Polars expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from conjunct.errors import InputError
from conjunct.expressions import Constant, Expression, Not, Or, Primitive
from conjunct.expressions.expression import nodes

if TYPE_CHECKING:
    import polars as pl

MAX_LITERALS = 10_000
"""Polars expands what an expression shares, so a longer formula is refused."""


def to_polars(features: Mapping[str, Expression], *, cut: float | None = None) -> list[pl.Expr]:
    """One expression a feature, named as the mapping says.

    Columns may be Boolean or 0/1; with ``cut``, numbers of which those above it are true. Missing
    cells are null, and follow Kleene's logic as in Polars itself.
    """
    import polars as pl
    from polars import selectors

    built: dict[Expression, pl.Expr] = {}

    def expression_of(node: Expression) -> pl.Expr:
        operands = [built[child] for child in node._children]
        if isinstance(node, Primitive):
            # pl.col would take "^a.*$" for a pattern and "*" for all columns
            column = selectors.by_name(node.name).as_expr()
            return column.cast(pl.Boolean) if cut is None else column > cut
        if isinstance(node, Constant):
            return pl.lit(node.value)
        if isinstance(node, Not):
            return ~operands[0]
        return pl.any_horizontal(operands) if isinstance(node, Or) else pl.all_horizontal(operands)

    for name, feature in features.items():
        if feature.length > MAX_LITERALS:
            raise InputError(
                f"{name[:40]!r}… has {feature.length:,} literals, too many for Polars (the limit "
                f"is {MAX_LITERALS:,}): ask for form='simplified', or export as Python"
            )
        for node in nodes(feature):
            if node not in built:
                built[node] = expression_of(node)
    return [built[feature].alias(name) for name, feature in features.items()]
