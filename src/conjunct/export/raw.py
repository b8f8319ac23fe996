"""The checks of raw columns behind Boolean ones: the rules of a Binarizer, one check per feature.

Every export writes these checks, so that it takes raw tables as ``transform`` does. A missing
cell is missing in every feature of its column, and an unknown word makes all of them false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conjunct.data import (
    MONTHS,
    PAIRS,
    WEEKDAYS,
    BooleanRule,
    ColumnRule,
    DatePart,
    NumberRule,
    TagsRule,
)
from conjunct.errors import InputError

NO = tuple(sorted(word for no, _ in PAIRS for word in no))
YES = tuple(sorted(word for _, yes in PAIRS for word in yes))


@dataclass(frozen=True)
class Flag:
    """A check that a cell is true: Booleans, 0 and 1, or words such as yes and no."""

    column: str


@dataclass(frozen=True)
class OneOf:
    """A check that a cell is one of some words, or of numbers in their shortest spelling."""

    column: str
    words: tuple[str, ...]
    are_numbers: bool


@dataclass(frozen=True)
class Interval:
    """A check that a number, or a part of a date, is at least ``low`` and below ``high``."""

    column: str
    low: float | None
    high: float | None
    part: DatePart | None = None
    are_digits: bool = False


@dataclass(frozen=True)
class PartOneOf:
    """A check that a part of a date is one of some numbers; months and weekdays count from 1."""

    column: str
    part: DatePart
    numbers: tuple[int, ...]
    are_digits: bool = False
    """True if dates are numbers such as 20241231."""


@dataclass(frozen=True)
class HasTag:
    """A check that a list has a tag. A row without a list has none.

    ``separator`` stands between tags in text: ``[]`` for lists in brackets, None for lists as such.
    """

    column: str
    tag: str
    separator: str | None


Check = Flag | OneOf | Interval | PartOneOf | HasTag


def checks_of(rules: Sequence[ColumnRule]) -> dict[str, Check]:
    """Return the check behind each feature of a Binarizer."""
    found: dict[str, Check] = {}
    for rule in rules:
        found.update(zip(rule.names(), _checks(rule), strict=True))
    return found


def _checks(rule: ColumnRule) -> Iterator[Check]:
    if isinstance(rule, BooleanRule):
        yield Flag(rule.column)
        return
    if isinstance(rule, TagsRule):
        yield from (HasTag(rule.column, tag, rule.separator) for tag in rule.values)
        return
    are_digits = rule.part is not None and rule.order == "digits"
    if isinstance(rule, NumberRule):
        if rule.part == "hour" and not all(edge.is_integer() for edge in rule.edges):
            raise InputError(
                f"column {rule.column!r} has a bin edge within an hour, which cannot be exported: "
                "use whole hours"
            )
        lows, highs = [None, *rule.edges], [*rule.edges, None]
        if rule.cumulative:
            lows, highs = [*rule.edges], [None] * len(rule.edges)
        for low, high in zip(lows, highs, strict=True):
            yield Interval(rule.column, low, high, rule.part, are_digits)
        return
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(rule.part or "")
    for group in [
        *((value,) for value in rule.values),
        *([] if rule.other is None else [rule.rare]),
    ]:
        if rule.part is None:
            yield OneOf(rule.column, tuple(group), rule.written != "words")
        else:
            numbers = tuple(names.index(word) + 1 if names else int(word) for word in group)
            yield PartOneOf(rule.column, rule.part, numbers, are_digits)


def refuse_lists(check: HasTag, where: str, known: Sequence[str | None]) -> None:
    """Refuse a column of lists that cannot be read there."""
    if check.separator in known:
        return
    what = "lists" if check.separator is None else "lists in brackets"
    raise InputError(
        f"column {check.column!r} holds {what}, which {where} cannot read: make the columns "
        "Boolean with a Binarizer, and fit on its output"
    )
