"""Checks of raw columns as SQL: every word is a literal of the syntax tree, never pasted text."""

from __future__ import annotations

from math import isinf
from typing import Any

from sqlglot import exp

from conjunct.data import BLANKS
from conjunct.errors import InputError
from conjunct.export.dialects.base import Dialect
from conjunct.export.raw import NO, YES, Check, Flag, Interval, OneOf, PartOneOf


def check_sql(check: Check, column: exp.Expr, dialect: Dialect) -> exp.Expr:
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
            return _in(dialect.number(column), [*map(float, check.words)], dialect)
        for word in check.words:
            _check_word(check.column, word)
        return _in(exp.Nullif(this=_text(column), expression=_string("")), [*check.words])
    if isinstance(check, PartOneOf):
        numbers = check.numbers
        if check.part == "weekday":
            numbers = tuple(map(dialect.numbered_weekday, numbers))
        return _in(dialect.part(column, check.part), [*numbers])
    if check.part is None:
        return _between(dialect.number(column), check)
    value = dialect.part(column, check.part)
    return _between(value, check)


def _between(value: exp.Expr, check: Interval) -> exp.Expr:
    sides: list[exp.Expr] = []
    if check.low is not None:
        sides.append(exp.GTE(this=value.copy(), expression=_literal(check.low)))
    if check.high is not None:
        sides.append(exp.LT(this=value.copy(), expression=_literal(check.high)))
    return exp.and_(*sides, copy=False)


def _in(value: exp.Expr, wanted: list[Any], dialect: Dialect | None = None) -> exp.Expr:
    if not wanted:  # false, and NULL where the value is
        return exp.NEQ(this=value, expression=value.copy())
    literals = [_string(w) if isinstance(w, str) else _literal(w, dialect) for w in wanted]
    if len(literals) == 1:
        return exp.EQ(this=value, expression=literals[0])
    return exp.In(this=value, expressions=literals)


def _text(column: exp.Expr) -> exp.Expr:
    return exp.Trim(this=exp.cast(column, "text"), expression=_string(BLANKS))


def _truth(value: bool) -> exp.Expr:
    # not TRUE, which in SQLite is a column where one is called so
    one, other = exp.Literal.number(1), exp.Literal.number(int(value))
    return exp.EQ(this=one, expression=other)


def _literal(number: float, dialect: Dialect | None = None) -> exp.Expr:
    if dialect is not None and isinf(number):
        return dialect.infinity(number)
    return exp.Literal.number(int(number) if float(number).is_integer() else number)


def _string(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _check_word(column: str, word: str) -> None:
    if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
        raise InputError(
            f"column {column!r}: the word {word!r} cannot be written in SQL: it holds a NUL or a "
            "lone surrogate"
        )
