"""The SQL dialects of databases: `DIALECTS` holds the limits and functions of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from conjunct.data import BLANKS, DatePart
from conjunct.errors import InputError
from conjunct.parameters import Registry

# numbers of the days from Monday to Sunday in different databases
_FROM_MONDAY = (0, 1, 2, 3, 4, 5, 6)
_FROM_SUNDAY = (1, 2, 3, 4, 5, 6, 0)
_FROM_SUNDAY_AS_1 = (2, 3, 4, 5, 6, 7, 1)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A dialect of SQL, with its name in sqlglot. The defaults are standard SQL."""

    name: str
    summary: str
    is_run: bool = False
    """True if the tests run its statements in a real database instead of only parsing them."""
    takes_any_text: bool = False
    """True if it reads text as a number or a Boolean, and words as 0, without an error."""
    has_booleans: bool = True
    """True if a condition can be the value of a column."""
    folds_case: bool = True
    """True if the names of two columns must not differ only in case."""
    keeps_steps: Literal["hint", "limit", "sample"] | None = None
    """The way to keep the database from merging the steps of a query, if there is one."""
    most_columns: int | None = None
    """Maximum number of columns of a query."""
    most_in_table: int | None = None
    """Maximum number of columns of a table or a view, if smaller."""
    longest_name: int | None = None
    """Maximum length of the name of a column, in ``name_unit``."""
    name_unit: Literal["bytes", "characters"] = "bytes"
    allowed_name: re.Pattern[str] | None = None
    allows_empty_name: bool = False
    takes_nan_for_true: bool = False
    """True if it reads a column of numbers as Boolean, with NaN as true."""
    nan: Literal["equals itself", "equals nothing", "does not exist"] = "equals itself"
    weekday_function: str | None = None
    """The function that returns the day of the week; without one, EXTRACT does."""
    weekday_field: str = "ISODOW"
    """The field of EXTRACT for the day of the week."""
    weekdays: Sequence[int] = (1, 2, 3, 4, 5, 6, 7)
    """The numbers of the days from Monday to Sunday."""

    def string(self, text: str) -> exp.Expr:
        """Write a text as a literal."""
        return exp.Literal.string(text)

    def text(self, column: exp.Expr) -> exp.Expr:
        """Write a cell of any type as text, without surrounding blanks."""
        return exp.Trim(this=exp.cast(column, "text"), expression=self.string(BLANKS))

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        """Write a column as a floating-point number, with NULL for NaN."""
        return self.without_nan(exp.cast(self.cell_text(column) if is_text else column, "double"))

    def cell_text(self, column: exp.Expr) -> exp.Expr:
        """Write the text of a cell, or NULL if it is blank."""
        return exp.Nullif(this=self.text(column), expression=self.string(""))

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        """Write a number, or NULL for NaN."""
        if self.nan == "does not exist":
            return number
        if self.nan == "equals nothing":
            return case((exp.IsNan(this=number), exp.Null()), default=number.copy())
        return exp.Nullif(this=number, expression=exp.cast(exp.Literal.string("NaN"), "double"))

    def infinity(self, number: float) -> exp.Expr | None:
        """Write an infinite number; return None if the database has none."""
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
        """Write a condition: true if ``yes`` is, false if ``no`` is, and NULL otherwise."""
        value = truth_value if self.has_booleans else literal
        return self.as_condition(case((yes, value(True)), (no, value(False))))

    def fill(self, condition: exp.Expr) -> exp.Expr:
        """Write a condition with false in place of NULL."""
        if self.has_booleans:
            return exp.Coalesce(this=condition, expressions=[truth_value(False)])
        return self.as_condition(case((condition, literal(1)), default=literal(0)))

    def as_value(self, condition: exp.Expr) -> exp.Expr:
        """Write a condition as the value of a column."""
        if self.has_booleans:
            return condition
        return case((condition, literal(1)), (exp.not_(condition), literal(0)))

    def as_condition(self, column: exp.Expr) -> exp.Expr:
        """Write the result of ``as_value``, or a Boolean column, as a condition."""
        return column if self.has_booleans else exp.EQ(this=column, expression=literal(1))

    def create(
        self, kind: Literal["view", "table"], name: exp.Table, query: exp.Select
    ) -> exp.Create:
        """Write a statement that creates a view or a table from a query."""
        return exp.Create(kind=kind.upper(), this=name, expression=query)

    def check_columns(self, number: int, *, in_table: bool) -> None:
        """Refuse more columns than the database allows."""
        most = (in_table and self.most_in_table) or self.most_columns
        if most is not None and number > most:
            raise InputError(
                f"{self.name} allows at most {most:,} columns, but this needs {number:,}: fit with "
                "min_support or max_iter for fewer features"
            )

    def check_name(self, name: str) -> None:
        """Refuse a name that a column of the database cannot have."""
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
            why = "has forbidden characters"
        else:
            self.check_name(name)
            return
        raise InputError(
            f"{self.name} does not allow the name {shorten_name(name)!r}, which {why}: "
            "number the columns instead (feature_names='number')"
        )


def truth_value(value: bool) -> exp.Expr:
    """Write true or false as a comparison, because SQLite may read TRUE as a column name."""
    return exp.EQ(this=literal(1), expression=literal(value))


def literal(number: float) -> exp.Expr:
    """Write a number, without decimals if it is whole."""
    return exp.Literal.number(int(number) if float(number).is_integer() else number)


def call(function: str, *arguments: exp.Expr) -> exp.Expr:
    """Write a function call."""
    return exp.Anonymous(this=function, expressions=[*arguments])


def case(*branches: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Expr:
    """Write a CASE expression from pairs of a condition and a value."""
    return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in branches], default=default)


def check_text(text: str, what: str) -> None:
    """Refuse text that SQL cannot hold."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} cannot be written in SQL: it contains a NUL or a lone surrogate")


def shorten_name(name: str) -> str:
    """Truncate a long name, with an ellipsis at the end."""
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
    """MySQL and MariaDB: words count as 0, texts ignore case, and there is no NaN."""

    def text(self, column: exp.Expr) -> exp.Expr:
        kind = exp.DataType(this=exp.DType.CHARACTER_SET, kind=exp.Var(this="utf8mb4"))
        cell = exp.Cast(this=column, to=kind)
        # TRIM of MySQL removes a word from the ends, not a set of characters
        trimmed = call("REGEXP_REPLACE", cell, self.string(_ENDS), self.string(""))
        return exp.Collate(this=trimmed, expression=exp.Var(this="utf8mb4_bin"))

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        # MariaDB has no REGEXP_LIKE
        found = call("REGEXP_INSTR", self.text(column), self.string(_MYSQL_NUMBER))
        # only text columns: the text of a 32-bit number is not its exact value
        cell = self.text(column) if is_text else column
        is_number = exp.GT(this=found, expression=literal(0))
        return case((is_number, exp.cast(cell.copy(), "double")))

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        # without (6), MySQL rounds to seconds
        kind = exp.DataType.build("datetime(6)", dialect="mysql")
        moment = exp.cast(self.cell_text(column), kind) if is_text else column
        return super().part(moment, part)

    def infinity(self, number: float) -> None:
        return None


class Oracle(Dialect):
    """Oracle: a condition is not a value, empty text is NULL, and TRIM removes one character."""

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
            # EXTRACT reads hours only from a timestamp
            column = exp.cast(column, "timestamp")
        return super().part(column, part, is_text=is_text)

    def weekday(self, column: exp.Expr) -> exp.Expr:
        # days since Monday, because the day numbers of TO_CHAR depend on the session
        day = call("TRUNC", column, self.string("DD"))
        return exp.Sub(this=day, expression=call("TRUNC", column.copy(), self.string("IW")))


_SQLITE_FORMATS = {"year": "%Y", "month": "%m", "weekday": "%w", "hour": "%H"}


class SQLite(Dialect):
    """SQLite: any column may hold text, NaN is stored as NULL, and dates are text."""

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        # text that is not a number is greater than all numbers
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
    """SQL Server: a condition is not a value, and texts ignore case."""

    def text(self, column: exp.Expr) -> exp.Expr:
        cell = exp.cast(column, "nvarchar(max)")
        trimmed = exp.Trim(this=cell, expression=self.string(BLANKS))
        return exp.Collate(this=trimmed, expression=exp.Var(this="Latin1_General_BIN2"))

    def string(self, text: str) -> exp.Expr:
        return exp.National(this=text)

    def infinity(self, number: float) -> None:
        return None

    def weekday(self, column: exp.Expr) -> exp.Expr:
        # days since a Monday, because the weekdays of DATEPART depend on the session
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
        # with hints, planning takes more than linear time and steps are held in memory; a sample
        # of all rows avoids both
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
        # only the first 65,536 characters of Unicode, and no blank at the end
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
