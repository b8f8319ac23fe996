"""Oracle: a condition is no value, an empty text is NULL, and TRIM takes one character."""

from __future__ import annotations

import re

from sqlglot import exp

from conjunct.data import BLANKS, DatePart
from conjunct.export.dialects.base import DIALECTS, Dialect


class Oracle(Dialect):
    name = "oracle"
    summary = "Oracle"
    has_booleans = False
    folds_case = False
    most_columns = 1000
    longest_name = 128
    allowed_name = re.compile(r'[^"]+')

    def text(self, column: exp.Expr) -> exp.Expr:
        cell = exp.cast(column, "varchar(4000)")
        ends = self.string(f"^[{BLANKS}]+|[{BLANKS}]+$")
        return exp.Anonymous(this="REGEXP_REPLACE", expressions=[cell, ends])

    def written(self, column: exp.Expr) -> exp.Expr:
        return self.text(column)

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        cell = self.text(column) if is_text else column
        number = exp.Anonymous(this="TO_BINARY_DOUBLE", expressions=[cell])
        return exp.Anonymous(this="NANVL", expressions=[number, exp.Null()])

    def infinity(self, number: float) -> exp.Expr:
        infinite = exp.Column(this=exp.Identifier(this="BINARY_DOUBLE_INFINITY", quoted=False))
        return infinite if number > 0 else exp.Neg(this=infinite)

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        if part != "weekday" and not is_text:
            # a DATE has hours only as a timestamp
            column = exp.cast(column, "timestamp")
        return super().part(column, part, is_text=is_text)

    def weekday(self, column: exp.Expr) -> exp.Expr:
        # days since Monday: what TO_CHAR calls a day depends on the session
        day = exp.Anonymous(this="TRUNC", expressions=[column, self.string("DD")])
        monday = exp.Anonymous(this="TRUNC", expressions=[column.copy(), self.string("IW")])
        return exp.Sub(this=day, expression=monday)

    def numbered_weekday(self, number: int) -> int:
        return number - 1  # 0 is Monday


DIALECTS.enter(Oracle())
