"""MySQL and MariaDB: words are taken for 0, texts compare without case, and there is no NaN."""

from __future__ import annotations

import re

from sqlglot import exp

from conjunct.data import BLANKS, DatePart
from conjunct.export.dialects.base import DIALECTS, Dialect

_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


class MySQL(Dialect):
    name = "mysql"
    summary = "MySQL and MariaDB"
    is_run = True
    takes_any_text = True
    keeps_steps = "limit"
    most_columns = 4096
    most_in_table = 1017  # of InnoDB
    longest_name = 64
    name_unit = "characters"
    # no character beyond the first 65,536, and no blank at the end
    allowed_name = re.compile("[\x01-\uffff]*[^\x00\\s\U00010000-\U0010ffff]")

    def text(self, column: exp.Expr) -> exp.Expr:
        kind = exp.DataType(this=exp.DType.CHARACTER_SET, kind=exp.Var(this="utf8mb4"))
        cell = exp.Cast(this=column, to=kind)
        # its TRIM takes words from the ends, not characters
        ends = self.string(f"^[{BLANKS}]+|[{BLANKS}]+$")
        trimmed = exp.Anonymous(this="REGEXP_REPLACE", expressions=[cell, ends, self.string("")])
        return exp.Collate(this=trimmed, expression=exp.Var(this="utf8mb4_bin"))

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        text = self.text(column)
        # not REGEXP_LIKE, which MariaDB has not
        found = exp.Anonymous(this="REGEXP_INSTR", expressions=[text, self.string(_NUMBER)])
        is_number = exp.GT(this=found, expression=exp.Literal.number(0))
        # not of every column: numbers of 32 bits are not what their text says
        cell = text if is_text else column
        return exp.Case(ifs=[exp.If(this=is_number, true=exp.cast(cell.copy(), "double"))])

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        # MySQL would round to seconds
        kind = exp.DataType.build("datetime(6)", dialect="mysql")
        moment = exp.cast(self.written(column), kind) if is_text else column
        return super().part(moment, part)

    def infinity(self, number: float) -> None:
        return None

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="WEEKDAY", expressions=[column])

    def numbered_weekday(self, number: int) -> int:
        return number - 1  # 0 is Monday


DIALECTS.enter(MySQL())
