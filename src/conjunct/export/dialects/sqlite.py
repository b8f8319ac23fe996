"""SQLite: any column may hold text, NaN is stored as NULL, and dates are texts."""

from __future__ import annotations

from sqlglot import exp

from conjunct.data import DatePart
from conjunct.export.dialects.base import DIALECTS, Dialect

_FORMATS = {"year": "%Y", "month": "%m", "weekday": "%w", "hour": "%H"}


class SQLite(Dialect):
    name = "sqlite"
    summary = "SQLite"
    is_run = True
    takes_any_text = True
    keeps_steps = "hint"
    most_columns = 2000
    allows_empty_name = True

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        # a text is compared as a number if it is one, and is above all numbers if it is not
        is_number = exp.LTE(this=column, expression=exp.cast(self.infinity(1), "double"))
        ifs = [exp.If(this=is_number, true=exp.cast(column.copy(), "double"))]
        return exp.Case(ifs=ifs)

    def infinity(self, number: float) -> exp.Expr:
        return exp.Literal.number("9e999" if number > 0 else "-9e999")

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        form = exp.Literal.string(_FORMATS[part])
        return exp.cast(exp.Anonymous(this="STRFTIME", expressions=[form, column]), "int")

    def numbered_weekday(self, number: int) -> int:
        return number % 7  # 0 is Sunday


DIALECTS.enter(SQLite())
