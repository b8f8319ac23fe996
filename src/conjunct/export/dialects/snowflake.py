"""Snowflake."""

from __future__ import annotations

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect


class Snowflake(Dialect):
    name = "snowflake"
    summary = "Snowflake"
    folds_case = False
    longest_name = 255
    name_unit = "characters"

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="DAYOFWEEKISO", expressions=[column])


DIALECTS.enter(Snowflake())
