"""BigQuery: NaN does not equal itself, and names have few characters."""

from __future__ import annotations

import re

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect


class BigQuery(Dialect):
    name = "bigquery"
    summary = "BigQuery"
    longest_name = 300
    allowed_name = re.compile(r"[\w %&=+:'<>#|-]+")

    def number(self, column: exp.Expr) -> exp.Expr:
        number = exp.cast(column, "double")
        is_nan = exp.If(this=exp.IsNan(this=number), true=exp.Null())
        return exp.Case(ifs=[is_nan], default=number.copy())

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Extract(this=exp.Var(this="DAYOFWEEK"), expression=column)

    def numbered_weekday(self, number: int) -> int:
        return number % 7 + 1  # 1 is Sunday


DIALECTS.enter(BigQuery())
