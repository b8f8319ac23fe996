"""Features as Polars expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from conjunct.data import BLANKS, DatePart
from conjunct.errors import InputError
from conjunct.export.raw import NO, YES, Check, Flag, OneOf, PartOneOf
from conjunct.expressions import Constant, Counted, Expression, Not, Or, Primitive, nodes

if TYPE_CHECKING:
    import polars as pl

MAX_LITERALS = 10_000
"""Polars expands what an expression shares, so a longer formula is refused."""


def to_polars(
    features: Mapping[str, Expression],
    *,
    cut: float | None = None,
    raw: Mapping[str, Check] | None = None,
    fill: bool = False,
) -> list[pl.Expr]:
    """One expression a feature, named as the mapping says.

    Columns may be Boolean or 0/1; with ``cut``, numbers of which those above it are true; with
    ``raw``, those of a raw table, and what the primitives ask of them. Missing cells are null, and
    follow Kleene's logic as in Polars itself; with ``fill`` they are false.
    """
    import polars as pl
    from polars import selectors

    built: dict[Expression, pl.Expr] = {}

    def expression_of(node: Expression) -> pl.Expr:
        operands = [built[child] for child in node.children]
        if isinstance(node, Primitive):
            check = None if raw is None else raw[node.name]
            # pl.col would take "^a.*$" for a pattern and "*" for all columns
            column = selectors.by_name(node.name if check is None else check.column).as_expr()
            if check is not None:
                value = _passes(check, column)
            else:
                # NaN is other than 0 and above every number: here it is missing
                value = _number(column) != 0 if cut is None else _number(column) > cut
            return value.fill_null(False) if fill else value
        if isinstance(node, Constant):
            return pl.lit(node.value)
        if isinstance(node, Not):
            return ~operands[0]
        if isinstance(node, Counted):
            return _counted(node, operands)
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


def _counted(node: Counted, operands: list[pl.Expr]) -> pl.Expr:
    """Whether so many operands are true; null where that depends on missing cells."""
    import polars as pl

    true = pl.sum_horizontal(x.fill_null(False).cast(pl.Int32) for x in operands)
    possible = pl.sum_horizontal(x.fill_null(True).cast(pl.Int32) for x in operands)
    certain = (true >= node.number) & (possible <= node.most)
    excluded = (possible < node.number) | (true > node.most)
    return pl.when(certain).then(True).when(excluded).then(False)


def _passes(check: Check, column: pl.Expr) -> pl.Expr:
    """Whether a raw cell passes; null where it is missing."""
    import polars as pl

    if isinstance(check, Flag):
        # as text, whether it is Boolean, a number or a word; other words are neither
        word = _text(column).str.to_lowercase()
        number = word.cast(pl.Float64, strict=False)
        yes, no = word.is_in([*YES]) | (number == 1), word.is_in([*NO]) | (number == 0)
        return pl.when(yes).then(True).when(no).then(False)
    if isinstance(check, OneOf):
        word = _text(column)
        if check.are_numbers:
            # other words are none of them
            among = column.cast(pl.Float64, strict=False).is_in([*map(float, check.words)])
            is_missing = word.str.to_lowercase().is_in(["", "nan"])
            return pl.when(~is_missing).then(among.fill_null(False))
        return pl.when(word != "").then(word.is_in([*check.words]))
    if isinstance(check, PartOneOf):
        return _part(column, check.part).is_in([*check.numbers])
    value = _number(column) if check.part is None else _part(column, check.part)
    low = pl.lit(True) if check.low is None else value >= check.low
    return low if check.high is None else low & (value < check.high)


def _text(column: pl.Expr) -> pl.Expr:
    import polars as pl

    return column.cast(pl.String).str.strip_chars(BLANKS)


def _number(column: pl.Expr) -> pl.Expr:
    import polars as pl

    return column.cast(pl.Float64).fill_nan(None)


def _part(column: pl.Expr, part: DatePart) -> pl.Expr:
    parts = {
        "year": column.dt.year,
        "month": column.dt.month,
        "weekday": column.dt.weekday,
        "hour": column.dt.hour,
    }
    return parts[part]()
