"""ClickHouse: NaN does not equal itself, and every day has a function."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from conjunct.export.dialects.base import DIALECTS, Dialect, null_where


class ClickHouse(Dialect):
    name = "clickhouse"
    summary = "ClickHouse"
    folds_case = False

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        return null_where(exp.IsNan(this=number), number.copy())

    def weekday(self, column: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="toDayOfWeek", expressions=[column])

    def created(
        self, kind: Literal["view", "table"], name: exp.Table, query: exp.Select
    ) -> exp.Create:
        create = super().created(kind, name, query)
        if kind == "table":
            engine = exp.EngineProperty(this=exp.Anonymous(this="MergeTree"))
            order = exp.Order(expressions=[exp.Ordered(this=exp.Tuple())])
            create.set("properties", exp.Properties(expressions=[engine, order]))
        return create


DIALECTS.enter(ClickHouse())
