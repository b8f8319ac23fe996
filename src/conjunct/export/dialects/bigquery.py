"""BigQuery: NaN does not equal itself, and names have few characters."""

from __future__ import annotations

import re

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect, null_where


class BigQuery(Dialect):
    name = "bigquery"
    summary = "BigQuery"
    most_columns = 10_000
    longest_name = 300
    name_unit = "characters"
    allowed_name = re.compile(r"[\w %&=+:'<>#|-]+")

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        return null_where(exp.IsNan(this=number), number.copy())

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Extract(this=exp.Var(this="DAYOFWEEK"), expression=column)

    def numbered_weekday(self, number: int) -> int:
        return number % 7 + 1  # 1 is Sunday


DIALECTS.enter(BigQuery())
