"""The SQL of databases: one object of `DIALECTS` for each, with its limits and its functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from conjunct.data import BLANKS, DatePart
from conjunct.errors import InputError
from conjunct.parameters import Registry

# days of the week from Monday to Sunday, as databases number them
_FROM_MONDAY = (0, 1, 2, 3, 4, 5, 6)
_FROM_SUNDAY = (1, 2, 3, 4, 5, 6, 0)
_FROM_SUNDAY_AS_1 = (2, 3, 4, 5, 6, 7, 1)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A dialect of SQL, by the name that sqlglot has for it. The defaults are standard SQL."""

    name: str
    summary: str
    is_run: bool = False
    """The tests run its statements in a real database; those of other dialects are parsed back."""
    takes_any_text: bool = False
    """It takes text for a number or a Boolean, and words for 0, without an error."""
    has_booleans: bool = True
    """A condition is a value."""
    folds_case: bool = True
    """Two columns cannot have names that differ in capitals only."""
    keeps_steps: Literal["hint", "limit", "sample"] | None = None
    """The means that keeps it from merging the steps of a query again, if there is one."""
    most_columns: int | None = None
    """The most columns of a query."""
    most_in_table: int | None = None
    """The most columns of a table or a view, if those are fewer."""
    longest_name: int | None = None
    """The longest name of a column, in ``name_unit``."""
    name_unit: Literal["bytes", "characters"] = "bytes"
    allowed_name: re.Pattern[str] | None = None
    allows_empty_name: bool = False
    takes_nan_for_true: bool = False
    """A column of numbers may stand for a Boolean one, NaN included."""
    nan: Literal["equals itself", "equals nothing", "does not exist"] = "equals itself"
    weekday_function: str | None = None
    """The function that gives the day of the week; if there is none, EXTRACT is used."""
    weekday_field: str = "ISODOW"
    """The field of EXTRACT that is the day of the week."""
    weekdays: Sequence[int] = (1, 2, 3, 4, 5, 6, 7)
    """The numbers of the days from Monday to Sunday."""

    def string(self, text: str) -> exp.Expr:
        """Write a text as a literal."""
        return exp.Literal.string(text)

    def text(self, column: exp.Expr) -> exp.Expr:
        """Write a cell of any type as text, without blanks around it."""
        return exp.Trim(this=exp.cast(column, "text"), expression=self.string(BLANKS))

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        """Write a column as a floating-point number; NULL for NaN, which is missing."""
        return self.without_nan(exp.cast(self.cell_text(column) if is_text else column, "double"))

    def cell_text(self, column: exp.Expr) -> exp.Expr:
        """Write the text of a cell; NULL where it is blank."""
        return exp.Nullif(this=self.text(column), expression=self.string(""))

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        """Write a number, or NULL for NaN."""
        if self.nan == "does not exist":
            return number
        if self.nan == "equals nothing":
            return case((exp.IsNan(this=number), exp.Null()), default=number.copy())
        return exp.Nullif(this=number, expression=exp.cast(exp.Literal.string("NaN"), "double"))

    def infinity(self, number: float) -> exp.Expr | None:
        """Write an infinite number; None if the database has none."""
        return exp.cast(exp.Literal.string("inf" if number > 0 else "-inf"), "double")

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        """Write a part of a date or a time."""
        moment = exp.cast(self.cell_text(column), "timestamp") if is_text else column
        if part == "weekday":
            return self.weekday(moment)
        return exp.Extract(this=exp.Var(this=part.upper()), expression=moment)

    def weekday(self, column: exp.Expr) -> exp.Expr:
        """Write the day of the week, one of ``weekdays``."""
        if self.weekday_function is not None:
            return call(self.weekday_function, column)
        return exp.Extract(this=exp.Var(this=self.weekday_field), expression=column)

    def either(self, yes: exp.Expr, no: exp.Expr) -> exp.Expr:
        """Write a condition: true where ``yes`` is, false where ``no`` is, and NULL elsewhere."""
        value = truth_value if self.has_booleans else literal
        return self.as_condition(case((yes, value(True)), (no, value(False))))

    def fill(self, condition: exp.Expr) -> exp.Expr:
        """Write a condition that is false where it would be NULL."""
        if self.has_booleans:
            return exp.Coalesce(this=condition, expressions=[truth_value(False)])
        return self.as_condition(case((condition, literal(1)), default=literal(0)))

    def as_value(self, condition: exp.Expr) -> exp.Expr:
        """Write a condition as the value of a column."""
        if self.has_booleans:
            return condition
        return case((condition, literal(1)), (exp.not_(condition), literal(0)))

    def as_condition(self, column: exp.Expr) -> exp.Expr:
        """Write the result of ``as_value``, or a column of Booleans, as a condition again."""
        return column if self.has_booleans else exp.EQ(this=column, expression=literal(1))

    def create(
        self, kind: Literal["view", "table"], name: exp.Table, query: exp.Select
    ) -> exp.Create:
        """Write a statement that makes a view or a table of a query."""
        return exp.Create(kind=kind.upper(), this=name, expression=query)

    def check_columns(self, number: int, *, in_table: bool) -> None:
        """Refuse more columns than the database takes."""
        most = (in_table and self.most_in_table) or self.most_columns
        if most is not None and number > most:
            raise InputError(
                f"{self.name} allows at most {most:,} columns and this needs {number:,}: fit with "
                "min_support or max_iter, for fewer features"
            )

    def check_name(self, name: str) -> None:
        """Refuse a name that no column of the database can have."""
        check_text(name, repr(name))
        if not name and not self.allows_empty_name:
            raise InputError(f"{self.name} has no columns with an empty name: rename the column")
        if self.allowed_name is not None and not self.allowed_name.fullmatch(name):
            raise InputError(
                f"{self.name} does not allow the name {shorten_name(name)!r}: rename the column"
            )

    def check_new_name(self, name: str) -> None:
        """Refuse a name that a feature cannot have in the database."""
        length = len(name.encode(errors="replace")) if self.name_unit == "bytes" else len(name)
        if self.longest_name is not None and length > self.longest_name:
            why = f"is longer than {self.longest_name} {self.name_unit}"
        elif self.allowed_name is not None and not self.allowed_name.fullmatch(name):
            why = "has characters that it does not allow"
        else:
            self.check_name(name)
            return
        raise InputError(
            f"{self.name} does not allow the name {shorten_name(name)!r}, which {why}: "
            "number the columns instead (feature_names='number')"
        )


def truth_value(value: bool) -> exp.Expr:
    """Write true or false; not TRUE, which SQLite takes for a column if one has that name."""
    return exp.EQ(this=literal(1), expression=literal(value))


def literal(number: float) -> exp.Expr:
    """Write a number, without decimals where it is whole."""
    return exp.Literal.number(int(number) if float(number).is_integer() else number)


def call(function: str, *arguments: exp.Expr) -> exp.Expr:
    """Write a call of a function by its name."""
    return exp.Anonymous(this=function, expressions=[*arguments])


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Expr:
    """Write a CASE of conditions and values."""
    return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in branches], default=default)


def check_text(text: str, what: str) -> None:
    """Refuse text that SQL cannot hold."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} cannot be written in SQL: it holds a NUL or a lone surrogate")


def shorten_name(name: str) -> str:
    """Cut a long name with an ellipsis."""
    return name if len(name) <= 40 else name[:39] + "…"


class ClickHouse(Dialect):
    """ClickHouse: a table needs an engine."""

    def create(
        self, kind: Literal["view", "table"], name: exp.Table, query: exp.Select
    ) -> exp.Create:
        create = super().create(kind, name, query)
        if kind == "table":
            engine = exp.EngineProperty(this=call("MergeTree"))
            order = exp.Order(expressions=[exp.Ordered(this=exp.Tuple())])
            create.set("properties", exp.Properties(expressions=[engine, order]))
        return create


_ENDS = f"^[{BLANKS}]+|[{BLANKS}]+$"
_MYSQL_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


class MySQL(Dialect):
    """MySQL and MariaDB: words are taken for 0, texts compare without case, and NaN is unknown."""

    def text(self, column: exp.Expr) -> exp.Expr:
        kind = exp.DataType(this=exp.DType.CHARACTER_SET, kind=exp.Var(this="utf8mb4"))
        cell = exp.Cast(this=column, to=kind)
        # its TRIM takes words from the ends, not characters
        trimmed = call("REGEXP_REPLACE", cell, self.string(_ENDS), self.string(""))
        return exp.Collate(this=trimmed, expression=exp.Var(this="utf8mb4_bin"))

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        # not REGEXP_LIKE, which MariaDB does not have
        found = call("REGEXP_INSTR", self.text(column), self.string(_MYSQL_NUMBER))
        # not of every column: numbers of 32 bits are not what their text says
        cell = self.text(column) if is_text else column
        is_number = exp.GT(this=found, expression=literal(0))
        return case((is_number, exp.cast(cell.copy(), "double")))

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        # MySQL would round to seconds
        kind = exp.DataType.build("datetime(6)", dialect="mysql")
        moment = exp.cast(self.cell_text(column), kind) if is_text else column
        return super().part(moment, part)

    def infinity(self, number: float) -> None:
        return None


class Oracle(Dialect):
    """Oracle: a condition is no value, an empty text is NULL, and TRIM takes one character."""

    def text(self, column: exp.Expr) -> exp.Expr:
        return call("REGEXP_REPLACE", exp.cast(column, "varchar(4000)"), self.string(_ENDS))

    def cell_text(self, column: exp.Expr) -> exp.Expr:
        return self.text(column)

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        cell = self.text(column) if is_text else column
        return call("NANVL", call("TO_BINARY_DOUBLE", cell), exp.Null())

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
        day = call("TRUNC", column, self.string("DD"))
        return exp.Sub(this=day, expression=call("TRUNC", column.copy(), self.string("IW")))


_SQLITE_FORMATS = {"year": "%Y", "month": "%m", "weekday": "%w", "hour": "%H"}


class SQLite(Dialect):
    """SQLite: any column may hold text, NaN is stored as NULL, and dates are texts."""

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        # a text is compared as a number if it is one, and is above all numbers if it is not
        is_number = exp.LTE(this=column, expression=exp.cast(self.infinity(1), "double"))
        return case((is_number, exp.cast(column.copy(), "double")))

    def infinity(self, number: float) -> exp.Expr:
        return exp.Literal.number("9e999" if number > 0 else "-9e999")

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        format_ = exp.Literal.string(_SQLITE_FORMATS[part])
        return exp.cast(call("STRFTIME", format_, column), "int")


class Trino(Dialect):
    """Trino: infinity is a function."""

    def infinity(self, number: float) -> exp.Expr:
        return call("INFINITY") if number > 0 else exp.Neg(this=call("INFINITY"))


class TSQL(Dialect):
    """SQL Server: a condition is no value, and texts compare without case."""

    def text(self, column: exp.Expr) -> exp.Expr:
        cell = exp.cast(column, "nvarchar(max)")
        trimmed = exp.Trim(this=cell, expression=self.string(BLANKS))
        return exp.Collate(this=trimmed, expression=exp.Var(this="Latin1_General_BIN2"))

    def string(self, text: str) -> exp.Expr:
        return exp.National(this=text)

    def infinity(self, number: float) -> None:
        return None

    def weekday(self, column: exp.Expr) -> exp.Expr:
        # days since a Monday: what DATEPART calls a weekday depends on the session
        monday = exp.cast(exp.Literal.string("17530101"), "timestamp")
        moment = exp.cast(column, "timestamp")
        days = exp.DateDiff(this=moment, expression=monday, unit=exp.Var(this="DAY"))
        return exp.Mod(this=days, expression=literal(7))


_SPARK = Dialect(
    name="spark", summary="Spark", weekday_function="DAYOFWEEK", weekdays=_FROM_SUNDAY_AS_1
)
DIALECTS: Registry[Dialect] = Registry("dialect", "conjunct.export.dialects")
for _dialect in (
    Dialect(
        name="bigquery",
        summary="BigQuery",
        most_columns=10_000,
        longest_name=300,
        name_unit="characters",
        allowed_name=re.compile(r"[\w %&=+:'<>#|-]+"),
        nan="equals nothing",
        weekday_field="DAYOFWEEK",
        weekdays=_FROM_SUNDAY_AS_1,
    ),
    ClickHouse(
        name="clickhouse",
        summary="ClickHouse",
        folds_case=False,
        nan="equals nothing",
        weekday_function="toDayOfWeek",
    ),
    Dialect(
        name="duckdb",
        summary="DuckDB",
        is_run=True,
        # Steps that are only marked as such are planned in more than linear time, and held in
        # memory; a sample of all rows is neither.
        keeps_steps="sample",
        takes_nan_for_true=True,
    ),
    MySQL(
        name="mysql",
        summary="MySQL and MariaDB",
        is_run=True,
        takes_any_text=True,
        keeps_steps="limit",
        most_columns=4096,
        most_in_table=1017,  # of InnoDB
        longest_name=64,
        name_unit="characters",
        # no character beyond the first 65,536, and no blank at the end
        allowed_name=re.compile("[\x01-\uffff]*[^\x00\\s\U00010000-\U0010ffff]"),
        weekday_function="WEEKDAY",
        weekdays=_FROM_MONDAY,
    ),
    Oracle(
        name="oracle",
        summary="Oracle",
        has_booleans=False,
        folds_case=False,
        most_columns=1000,
        longest_name=128,
        allowed_name=re.compile(r'[^"]+'),
        weekdays=_FROM_MONDAY,
    ),
    Dialect(
        name="postgres",
        summary="PostgreSQL",
        is_run=True,
        folds_case=False,
        keeps_steps="hint",
        most_columns=1664,
        most_in_table=1600,
        longest_name=63,
    ),
    Dialect(
        name="redshift",
        summary="Redshift",
        most_columns=1600,
        longest_name=127,
        weekday_field="DOW",
        weekdays=_FROM_SUNDAY,
    ),
    Dialect(
        name="snowflake",
        summary="Snowflake",
        folds_case=False,
        longest_name=255,
        name_unit="characters",
        weekday_function="DAYOFWEEKISO",
    ),
    _SPARK,
    replace(_SPARK, name="databricks", summary="Databricks"),
    SQLite(
        name="sqlite",
        summary="SQLite",
        is_run=True,
        takes_any_text=True,
        keeps_steps="hint",
        most_columns=2000,
        allows_empty_name=True,
        weekdays=_FROM_SUNDAY,
    ),
    Trino(name="trino", summary="Trino", nan="equals nothing", weekday_function="DAY_OF_WEEK"),
    TSQL(
        name="tsql",
        summary="SQL Server",
        has_booleans=False,
        most_columns=4096,
        most_in_table=1024,
        longest_name=128,
        name_unit="characters",
        nan="does not exist",
        weekdays=_FROM_MONDAY,
    ),
):
    DIALECTS.enter(_dialect)
