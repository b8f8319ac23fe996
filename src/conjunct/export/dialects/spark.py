"""Spark."""

from __future__ import annotations

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect


class Spark(Dialect):
    name = "spark"
    summary = "Spark"

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="DAYOFWEEK", expressions=[column])

    def numbered_weekday(self, number: int) -> int:
        return number % 7 + 1  # 1 is Sunday


DIALECTS.enter(Spark())
