"""What a database must say about itself so that features can be written in its SQL."""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot import exp

from conjunct.data import DatePart
from conjunct.errors import InputError
from conjunct.registry import Registry


class Dialect:
    """A dialect of SQL, by the name that sqlglot has for it. What is not said here is standard."""

    name: ClassVar[str]
    summary: ClassVar[str]
    keeps_steps: ClassVar[bool] = False
    """Whether it can be told not to put the steps of a query together again."""
    longest_name: ClassVar[int | None] = None
    """Bytes of the name of a column."""
    allowed_name: ClassVar[re.Pattern[str] | None] = None
    allows_empty_name: ClassVar[bool] = False
    takes_nan_for_true: ClassVar[bool] = False
    """Whether a column of numbers may stand for a Boolean one, NaN included."""

    def number(self, column: exp.Expr) -> exp.Expr:
        """The column as a floating-point number; NULL where it is not one, for NaN is missing."""
        return without_nan(exp.cast(column, "double"))

    def infinity(self, number: float) -> exp.Expr:
        """A literal for an infinite number."""
        return exp.cast(exp.Literal.string("inf" if number > 0 else "-inf"), "double")

    def part(self, column: exp.Expr, part: DatePart) -> exp.Expr:
        """A part of a date or a time."""
        if part == "weekday":
            return self.weekday(column)
        return exp.Extract(this=exp.Var(this=part.upper()), expression=column)

    def weekday(self, column: exp.Expr) -> exp.Expr:
        """The day of the week, as ``numbered_weekday`` numbers it."""
        return exp.Extract(this=exp.Var(this="ISODOW"), expression=column)

    def numbered_weekday(self, number: int) -> int:
        """What a day of the week is in this database; 1 is Monday and 7 is Sunday."""
        return number

    def check_name(self, name: str) -> None:
        """Refuse what the database cannot call anything: nobody has a column of that name there."""
        if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
            raise InputError(
                f"{name!r} cannot be a name in SQL: it holds a NUL or a lone surrogate"
            )
        if not name and not self.allows_empty_name:
            raise InputError(f"{self.name} has no columns with an empty name: rename the column")
        if self.allowed_name is not None and not self.allowed_name.fullmatch(name):
            raise InputError(
                f"{self.name} cannot call anything {shortened(name)!r}: rename the column"
            )

    def check_new_name(self, name: str) -> None:
        """Refuse a name that a feature cannot have there."""
        if self.longest_name is not None and len(name.encode(errors="replace")) > self.longest_name:
            why = f"longer than {self.longest_name} bytes"
        elif self.allowed_name is not None and not self.allowed_name.fullmatch(name):
            why = "of characters it does not allow"
        else:
            self.check_name(name)
            return
        raise InputError(
            f"{self.name} cannot call a column {shortened(name)!r}, a name {why}: "
            "number the columns instead (columns='number')"
        )


DIALECTS: Registry[Dialect] = Registry("dialect", "conjunct.export.dialects")


def without_nan(number: exp.Expr) -> exp.Expr:
    """A number, or NULL for NaN."""
    nan = exp.cast(exp.Literal.string("NaN"), "double")
    return exp.Nullif(this=number, expression=nan)


def shortened(name: str) -> str:
    """A name, cut where it is long."""
    return name if len(name) <= 40 else name[:39] + "…"
