"""What a database must say about itself so that features can be written in its SQL."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from sqlglot import exp

from conjunct.data import BLANKS, DatePart
from conjunct.errors import InputError
from conjunct.registry import Registry


class Dialect:
    """A dialect of SQL, by the name that sqlglot has for it. What is not said here is standard."""

    name: ClassVar[str]
    summary: ClassVar[str]
    is_run: ClassVar[bool] = False
    """Whether the tests run its statements in a real one; the others are parsed back."""
    takes_any_text: ClassVar[bool] = False
    """Whether it takes text for a number or a Boolean, and words for 0, without an error."""
    has_booleans: ClassVar[bool] = True
    """Whether a condition is a value."""
    folds_case: ClassVar[bool] = True
    """Whether two columns cannot be called the same but for capitals."""
    keeps_steps: ClassVar[Literal["hint", "limit", "sample"] | None] = None
    """How it is told not to put the steps of a query together again, if it can be."""
    most_columns: ClassVar[int | None] = None
    """Columns of a query."""
    most_in_table: ClassVar[int | None] = None
    """Columns of a table or a view, if those are fewer."""
    longest_name: ClassVar[int | None] = None
    """How long the name of a column may be."""
    name_unit: ClassVar[Literal["bytes", "characters"]] = "bytes"
    allowed_name: ClassVar[re.Pattern[str] | None] = None
    allows_empty_name: ClassVar[bool] = False
    takes_nan_for_true: ClassVar[bool] = False
    """Whether a column of numbers may stand for a Boolean one, NaN included."""

    def string(self, text: str) -> exp.Expr:
        """A text as a literal."""
        return exp.Literal.string(text)

    def text(self, column: exp.Expr) -> exp.Expr:
        """A cell as text, whatever it is, without blanks around it."""
        return exp.Trim(this=exp.cast(column, "text"), expression=self.string(BLANKS))

    def number(self, column: exp.Expr, *, is_text: bool = False) -> exp.Expr:
        """The column as a floating-point number; NULL where it is not one, for NaN is missing."""
        return self.without_nan(exp.cast(self.written(column) if is_text else column, "double"))

    def written(self, column: exp.Expr) -> exp.Expr:
        """The text of a cell; NULL where it is blank."""
        return exp.Nullif(this=self.text(column), expression=self.string(""))

    def without_nan(self, number: exp.Expr) -> exp.Expr:
        """A number, or NULL for NaN."""
        return exp.Nullif(this=number, expression=exp.cast(exp.Literal.string("NaN"), "double"))

    def infinity(self, number: float) -> exp.Expr | None:
        """A literal for an infinite number; None where no number is."""
        return exp.cast(exp.Literal.string("inf" if number > 0 else "-inf"), "double")

    def part(self, column: exp.Expr, part: DatePart, *, is_text: bool = False) -> exp.Expr:
        """A part of a date or a time."""
        moment = exp.cast(self.written(column), "timestamp") if is_text else column
        if part == "weekday":
            return self.weekday(moment)
        return exp.Extract(this=exp.Var(this=part.upper()), expression=moment)

    def weekday(self, column: exp.Expr) -> exp.Expr:
        """The day of the week, as ``numbered_weekday`` numbers it."""
        return exp.Extract(this=exp.Var(this="ISODOW"), expression=column)

    def numbered_weekday(self, number: int) -> int:
        """What a day of the week is in this database; 1 is Monday and 7 is Sunday."""
        return number

    def either(self, yes: exp.Expr, no: exp.Expr) -> exp.Expr:
        """A condition: true where ``yes`` is, false where ``no`` is, and NULL elsewhere."""
        if self.has_booleans:
            return exp.Case(
                ifs=[exp.If(this=yes, true=truth(True)), exp.If(this=no, true=truth(False))]
            )
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        case = exp.Case(ifs=[exp.If(this=yes, true=one), exp.If(this=no, true=zero)])
        return exp.EQ(this=case, expression=one.copy())

    def filled(self, condition: exp.Expr) -> exp.Expr:
        """A condition that is false where it would be NULL."""
        if self.has_booleans:
            return exp.Coalesce(this=condition, expressions=[truth(False)])
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        case = exp.Case(ifs=[exp.If(this=condition, true=one)], default=zero)
        return exp.EQ(this=case, expression=one.copy())

    def kept(self, condition: exp.Expr) -> exp.Expr:
        """A condition as the value of a column."""
        if self.has_booleans:
            return condition
        one, zero = exp.Literal.number(1), exp.Literal.number(0)
        opposite = exp.not_(condition)
        return exp.Case(ifs=[exp.If(this=condition, true=one), exp.If(this=opposite, true=zero)])

    def holds(self, column: exp.Expr) -> exp.Expr:
        """What ``kept`` has kept, or a column of Booleans, as a condition again."""
        if self.has_booleans:
            return column
        return exp.EQ(this=column, expression=exp.Literal.number(1))

    def created(
        self, kind: Literal["view", "table"], name: exp.Table, query: exp.Select
    ) -> exp.Create:
        """A statement that makes a view or a table of a query."""
        return exp.Create(kind=kind.upper(), this=name, expression=query)

    def check_columns(self, number: int, *, in_table: bool) -> None:
        """Refuse more columns than the database takes."""
        most = (in_table and self.most_in_table) or self.most_columns
        if most is not None and number > most:
            raise InputError(
                f"{self.name} takes at most {most:,} columns and this needs {number:,}: fit with "
                "min_support or max_iter, for fewer features"
            )

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
        length = len(name.encode(errors="replace")) if self.name_unit == "bytes" else len(name)
        if self.longest_name is not None and length > self.longest_name:
            why = f"longer than {self.longest_name} {self.name_unit}"
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


def truth(value: bool) -> exp.Expr:
    """True or false; not TRUE, which in SQLite is a column where one is called so."""
    return exp.EQ(this=exp.Literal.number(1), expression=exp.Literal.number(int(value)))


def null_where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """A value, or NULL where a condition holds."""
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Null())], default=value)


def shortened(name: str) -> str:
    """A name, cut where it is long."""
    return name if len(name) <= 40 else name[:39] + "…"
