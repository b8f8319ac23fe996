"""Checks of raw columns as SQL: every word is a literal of the syntax tree, never pasted text."""

from __future__ import annotations

from math import isinf
from typing import Any

from sqlglot import exp

from conjunct.binarize.columns import BLANKS
from conjunct.binarize.dates import Part
from conjunct.errors import InputError
from conjunct.export.raw import NO, YES, Check, Flag, Interval, OneOf, PartOneOf

_SQLITE_PARTS = {"year": "%Y", "month": "%m", "weekday": "%w", "hour": "%H"}
# what the databases call the first day of the week, and which day that is
_SUNDAY_IS_0 = ("sqlite",)
_SUNDAY_IS_1 = ("bigquery", "spark")


def check_sql(check: Check, column: exp.Expr, dialect: str) -> exp.Expr:
    """Whether a raw cell passes; NULL where it is missing."""
    if isinstance(check, Flag):
        # as text, whether it is Boolean, a number or a word; other words are neither
        written = exp.Lower(this=_text(column))
        # decimals are written with all their places: 1.00
        short = exp.Trim(this=written.copy(), expression=_string("0"), position="TRAILING")
        cases = [
            exp.If(
                this=exp.or_(_in(written.copy(), [*words]), _in(short.copy(), [number])),
                true=_truth(words is YES),
            )
            for words, number in ((YES, "1."), (NO, "0."))
        ]
        return exp.Case(ifs=cases)
    if isinstance(check, OneOf):
        if check.are_numbers:
            return _in(number_sql(column, dialect), [*map(float, check.words)], dialect)
        for word in check.words:
            _check_word(check.column, word)
        return _in(exp.Nullif(this=_text(column), expression=_string("")), [*check.words])
    if isinstance(check, PartOneOf):
        numbers_there = [_as_counted(check.part, number, dialect) for number in check.numbers]
        return _in(_part(column, check.part, dialect), [*numbers_there])
    if check.part is None:
        return _between(number_sql(column, dialect), check)
    value = _part(column, check.part, dialect)
    return _between(value, check)


def _between(value: exp.Expr, check: Interval) -> exp.Expr:
    sides: list[exp.Expr] = []
    if check.low is not None:
        sides.append(exp.GTE(this=value.copy(), expression=_literal(check.low)))
    if check.high is not None:
        sides.append(exp.LT(this=value.copy(), expression=_literal(check.high)))
    return exp.and_(*sides, copy=False)


def _in(value: exp.Expr, wanted: list[Any], dialect: str = "") -> exp.Expr:
    if not wanted:  # false, and NULL where the value is
        return exp.NEQ(this=value, expression=value.copy())
    literals = [_string(w) if isinstance(w, str) else _literal(w, dialect) for w in wanted]
    if len(literals) == 1:
        return exp.EQ(this=value, expression=literals[0])
    return exp.In(this=value, expressions=literals)


def _text(column: exp.Expr) -> exp.Expr:
    return exp.Trim(this=exp.cast(column, "text"), expression=_string(BLANKS))


def number_sql(column: exp.Expr, dialect: str) -> exp.Expr:
    """The column as a floating-point number; NULL where it is not one, for NaN is missing."""
    number = exp.cast(column, "double")
    if dialect == "sqlite":  # which stores NaN as NULL, and has no word for it
        return number
    if dialect == "bigquery":  # where NaN does not equal itself
        is_nan = exp.If(this=exp.IsNan(this=number), true=exp.Null())
        return exp.Case(ifs=[is_nan], default=number.copy())
    return without_nan(number)


def without_nan(number: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=number, expression=exp.cast(_string("NaN"), "double"))


def _part(column: exp.Expr, part: Part, dialect: str) -> exp.Expr:
    if dialect == "sqlite":  # dates are texts, such as 2024-12-31 18:30:00
        form = _string(_SQLITE_PARTS[part])
        return exp.cast(exp.Anonymous(this="STRFTIME", expressions=[form, column]), "int")
    if part != "weekday":
        return exp.Extract(this=exp.Var(this=part.upper()), expression=column)
    if dialect == "snowflake":
        return exp.Anonymous(this="DAYOFWEEKISO", expressions=[column])
    if dialect == "spark":
        return exp.Anonymous(this="DAYOFWEEK", expressions=[column])
    unit = "DAYOFWEEK" if dialect == "bigquery" else "ISODOW"
    return exp.Extract(this=exp.Var(this=unit), expression=column)


def _as_counted(part: Part, number: int, dialect: str) -> int:
    """A part as the database numbers it: weekdays from 1 for Monday are not everywhere."""
    if part == "weekday" and dialect in _SUNDAY_IS_0:
        return number % 7
    if part == "weekday" and dialect in _SUNDAY_IS_1:
        return number % 7 + 1
    return number


def _truth(value: bool) -> exp.Expr:
    # not TRUE, which in SQLite is a column where one is called so
    one, other = exp.Literal.number(1), exp.Literal.number(int(value))
    return exp.EQ(this=one, expression=other)


def _literal(number: float, dialect: str = "") -> exp.Expr:
    if isinf(number):
        if dialect == "sqlite":  # which has no word for it
            return exp.Literal.number("9e999" if number > 0 else "-9e999")
        return exp.cast(_string("inf" if number > 0 else "-inf"), "double")
    return exp.Literal.number(int(number) if float(number).is_integer() else number)


def _string(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _check_word(column: str, word: str) -> None:
    if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
        raise InputError(
            f"column {column!r}: the word {word!r} cannot be written in SQL: it holds a NUL or a "
            "lone surrogate"
        )
