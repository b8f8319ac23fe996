"""Redshift: PostgreSQL of old, without its hints."""

from __future__ import annotations

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect


class Redshift(Dialect):
    name = "redshift"
    summary = "Redshift"
    most_columns = 1600
    longest_name = 127

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Extract(this=exp.Var(this="DOW"), expression=column)

    def numbered_weekday(self, number: int) -> int:
        return number % 7  # 0 is Sunday


DIALECTS.enter(Redshift())
