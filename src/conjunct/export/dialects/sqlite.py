"""SQLite: NaN is stored as NULL, infinity has no word, and dates are texts."""

from __future__ import annotations

from sqlglot import exp

from conjunct.data import DatePart
from conjunct.export.dialects.base import DIALECTS, Dialect

_FORMATS = {"year": "%Y", "month": "%m", "weekday": "%w", "hour": "%H"}


class SQLite(Dialect):
    name = "sqlite"
    summary = "SQLite"
    keeps_steps = True
    allows_empty_name = True

    def number(self, column: exp.Expr) -> exp.Expr:
        return exp.cast(column, "double")

    def infinity(self, number: float) -> exp.Expr:
        return exp.Literal.number("9e999" if number > 0 else "-9e999")

    def part(self, column: exp.Expr, part: DatePart) -> exp.Expr:
        form = exp.Literal.string(_FORMATS[part])
        return exp.cast(exp.Anonymous(this="STRFTIME", expressions=[form, column]), "int")

    def numbered_weekday(self, number: int) -> int:
        return number % 7  # 0 is Sunday


DIALECTS.enter(SQLite())
