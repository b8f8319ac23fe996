"""Real databases, each started once, in which exported statements run."""

import datetime
import math
import os
import sqlite3
from decimal import Decimal

import duckdb
import polars as pl
import pymysql
import pytest
from hypothesis import reject
from pymysql.constants.ER import DUP_FIELDNAME as DUPLICATE

import servers

# as they are called in DIALECTS
DATABASES = ("duckdb", "sqlite", "postgres", "mysql")
_TRUTHS = {0: False, 1: True, None: None}
_KINDS = {
    pl.Boolean: "BOOLEAN",
    pl.Int64: "BIGINT",
    pl.Float32: "REAL",
    pl.Float64: "DOUBLE PRECISION",
    pl.String: "TEXT",
    pl.Date: "DATE",
    pl.Decimal: "DECIMAL(10, 2)",
    pl.Datetime: "TIMESTAMP",
}
_KINDS_OF_MARIADB = {pl.Float32: "FLOAT", pl.Float64: "DOUBLE", pl.Datetime: "DATETIME(6)"}


class Database:
    """A database that is filled with one table at a time and asked one statement."""

    quote = '"'
    mark = "?"
    with_views = ""

    def __init__(self, name, connection):
        self.name = name
        self.connection = connection

    def run(self, sql, table, kinds=None, *, name="data"):
        """Fill a table, run the statement, give what it selects, in the order of the rows.

        The statement keeps the column ``row_number_``. ``kinds`` are types of SQL for all columns,
        if not those of the frame. Of several statements, the last one selects.
        """
        *before, query = [sql] if isinstance(sql, str) else sql
        quoted = self.quoted(name)
        kinds = kinds or [self.kind(dtype) for dtype in table.dtypes]
        declared = [
            f"{self.quoted(column)} {kind}"
            for column, kind in zip(table.columns, kinds, strict=True)
        ]
        self.execute(f"CREATE TABLE {quoted} (row_number_ INTEGER, {', '.join(declared)})")
        try:
            marks = ", ".join([self.mark] * (len(declared) + 1))
            rows = [[k, *map(self.stored, row)] for k, row in enumerate(table.rows())]
            cursor = self.connection.cursor()
            cursor.executemany(f"INSERT INTO {quoted} VALUES ({marks})", rows)
            for statement in before:
                self.execute(statement)
            found = self.execute(query).fetchall()
        finally:
            self.execute(f"DROP TABLE {quoted}{self.with_views}")
        return [tuple(_TRUTHS[value] for value in row[1:]) for row in sorted(found, key=_number)]

    def execute(self, sql):
        cursor = self.connection.cursor()
        cursor.execute(sql)
        return cursor

    def quoted(self, name):
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def kind(self, dtype):
        return _KINDS[dtype.base_type()]

    def stored(self, value):
        return value

    def can_call(self, name):
        """Whether a column may have this name."""
        return name != "" and "\0" not in name and not any("\ud800" <= c <= "\udfff" for c in name)


class SQLite(Database):
    def stored(self, value):
        if isinstance(value, datetime.datetime):
            return value.isoformat(sep=" ")
        if isinstance(value, datetime.date | Decimal):
            return str(value) if isinstance(value, datetime.date) else float(value)
        return value


class Postgres(Database):
    mark = "%s"
    with_views = " CASCADE"

    def can_call(self, name):
        return super().can_call(name) and len(name.encode()) <= 63


class MariaDB(Database):
    quote = "`"
    mark = "%s"

    def kind(self, dtype):
        return _KINDS_OF_MARIADB.get(dtype.base_type()) or super().kind(dtype)

    def stored(self, value):
        # it has no NaN, which is missing everywhere
        return None if isinstance(value, float) and math.isnan(value) else value

    def can_call(self, name):
        fits = len(name) <= 64 and name.rstrip() == name and max(name, default="") <= "\uffff"
        return super().can_call(name) and fits

    def execute(self, sql):
        try:
            return super().execute(sql)
        except pymysql.OperationalError as error:
            if error.args[0] == DUPLICATE:  # e and é are one name there
                reject()
            raise


def _number(row):
    return row[0]


def _started(server, connection):
    if reason := servers.missing(server):
        # a test that is skipped everywhere would never fail
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    return connection()


@pytest.fixture(scope="session")
def in_duckdb():
    with duckdb.connect() as connection:
        yield Database("duckdb", connection)


@pytest.fixture(scope="session")
def in_sqlite():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield SQLite("sqlite", connection)
    connection.close()


@pytest.fixture(scope="session")
def in_postgres():
    with _started("postgres", servers.postgres) as connection:
        yield Postgres("postgres", connection)


@pytest.fixture(scope="session")
def in_mysql():
    with _started("mariadbd", servers.mariadb) as connection:
        yield MariaDB("mysql", connection)


@pytest.fixture(
    scope="session",
    params=[
        # MariaDB takes ten times as long as the others to plan a statement
        pytest.param(name, marks=pytest.mark.slow if name == "mysql" else ())
        for name in DATABASES
    ],
)
def database(request):
    return request.getfixturevalue(f"in_{request.param}")
