"""SQL Server: a condition is no value, texts compare without case, and there is no NaN."""

from __future__ import annotations

from sqlglot import exp

from conjunct.data import BLANKS
from conjunct.export.dialects.base import DIALECTS, Dialect


class TSQL(Dialect):
    name = "tsql"
    summary = "SQL Server"
    has_booleans = False
    most_columns = 4096
    most_in_table = 1024
    longest_name = 128
    name_unit = "characters"

    def text(self, column: exp.Expr) -> exp.Expr:
        cell = exp.cast(column, "nvarchar(max)")
        trimmed = exp.Trim(this=cell, expression=self.string(BLANKS))
        return exp.Collate(this=trimmed, expression=exp.Var(this="Latin1_General_BIN2"))

    def string(self, text: str) -> exp.Expr:
        return exp.National(this=text)

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        return number

    def infinity(self, number: float) -> None:
        return None

    def weekday(self, column: exp.Expr) -> exp.Expr:
        # days since a Monday: what DATEPART calls a weekday depends on the session
        monday = exp.cast(exp.Literal.string("17530101"), "timestamp")
        moment = exp.cast(column, "timestamp")
        days = exp.DateDiff(this=moment, expression=monday, unit=exp.Var(this="DAY"))
        return exp.Mod(this=days, expression=exp.Literal.number(7))

    def numbered_weekday(self, number: int) -> int:
        return number - 1  # 0 is Monday


DIALECTS.enter(TSQL())
