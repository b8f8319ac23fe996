"""Checks of raw columns as SQL: every word is a literal of the syntax tree, never pasted text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isinf

from sqlglot import exp

from conjunct.errors import InputError
from conjunct.export.dialects.base import Dialect
from conjunct.export.raw import NO, YES, Check, Flag, Interval, OneOf, PartOneOf


class Checks:
    """What checks ask of the columns of a table.

    ``is_text``: the columns are of text, whatever they were when the model was fitted. A cell is
    read once, as a number, a word or a date, in a step before all others; ``cell`` gives it a
    column there.
    """

    def __init__(
        self, dialect: Dialect, is_text: bool, cell: Callable[[exp.Expr], exp.Expr]
    ) -> None:
        self.dialect = dialect
        self.is_text = is_text
        self.cell = cell

    def __call__(self, check: Check, column: exp.Expr) -> exp.Expr:
        """Whether a raw cell passes; NULL where it is missing."""
        dialect = self.dialect
        if isinstance(check, Flag):
            return self._flag(column)
        if isinstance(check, OneOf):
            if check.are_numbers:
                return _in(self.number(column), map(self._number, map(float, check.words)))
            for word in check.words:
                _check_word(check.column, word)
            return _in(self.cell(dialect.written(column)), map(dialect.string, check.words))
        if check.part is None:
            value = self.number(column)
        else:
            value = self.cell(dialect.part(column, check.part, is_text=self.is_text))
        if isinstance(check, PartOneOf):
            is_day = check.part == "weekday"
            numbers = map(dialect.numbered_weekday, check.numbers) if is_day else check.numbers
            return _in(value, map(_literal, numbers))
        return _between(value, check)

    def number(self, column: exp.Expr) -> exp.Expr:
        return self.cell(self.dialect.number(column, is_text=self.is_text))

    def _flag(self, column: exp.Expr) -> exp.Expr:
        # as text, whether it is Boolean, a number or a word; other words are neither
        written = self.cell(exp.Lower(this=self.dialect.text(column)))
        # decimals are written with all their places: 1.00
        zero = exp.Literal.string("0")
        short = exp.Trim(this=written.copy(), expression=zero, position="TRAILING")
        yes, no = (
            exp.or_(
                _in(written.copy(), map(self.dialect.string, words)),
                exp.EQ(this=short.copy(), expression=self.dialect.string(number)),
            )
            for words, number in ((YES, "1."), (NO, "0."))
        )
        return self.dialect.either(yes, no)

    def _number(self, number: float) -> exp.Expr | None:
        return self.dialect.infinity(number) if isinf(number) else _literal(number)


def _between(value: exp.Expr, check: Interval) -> exp.Expr:
    sides: list[exp.Expr] = []
    if check.low is not None:
        sides.append(exp.GTE(this=value.copy(), expression=_literal(check.low)))
    if check.high is not None:
        sides.append(exp.LT(this=value.copy(), expression=_literal(check.high)))
    return exp.and_(*sides, copy=False)


def _in(value: exp.Expr, wanted: Iterable[exp.Expr | None]) -> exp.Expr:
    literals = [literal for literal in wanted if literal is not None]
    if not literals:  # false, and NULL where the value is
        return exp.NEQ(this=value, expression=value.copy())
    if len(literals) == 1:
        return exp.EQ(this=value, expression=literals[0])
    return exp.In(this=value, expressions=literals)


def _literal(number: float) -> exp.Expr:
    return exp.Literal.number(int(number) if float(number).is_integer() else number)


def _check_word(column: str, word: str) -> None:
    if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
        raise InputError(
            f"column {column!r}: the word {word!r} cannot be written in SQL: it holds a NUL or a "
            "lone surrogate"
        )
