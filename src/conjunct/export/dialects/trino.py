"""Trino: NaN does not equal itself."""

from __future__ import annotations

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect, null_where


class Trino(Dialect):
    name = "trino"
    summary = "Trino"

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        return null_where(exp.IsNan(this=number), number.copy())

    def infinity(self, number: float) -> exp.Expr:
        infinite = exp.Anonymous(this="INFINITY")
        return infinite if number > 0 else exp.Neg(this=infinite)

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="DAY_OF_WEEK", expressions=[column])


DIALECTS.enter(Trino())
