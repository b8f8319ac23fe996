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


@dataclass(frozen=True)
class PartOneOf:
    """A check that a part of a date is one of some numbers; months and weekdays count from 1."""

    column: str
    part: DatePart
    numbers: tuple[int, ...]


Check = Flag | OneOf | Interval | PartOneOf


def checks_of(rules: Sequence[ColumnRule]) -> dict[str, Check]:
    """Return the check behind each feature of a Binarizer."""
    found: dict[str, Check] = {}
    for rule in rules:
        found.update(zip(rule.names(), _checks(rule), strict=True))
    return found


def _checks(rule: ColumnRule) -> Iterator[Check]:
    if isinstance(rule, BooleanRule):
        yield Flag(rule.column)
    elif isinstance(rule, NumberRule):
        yield from _intervals(rule)
    else:
        groups: list[tuple[str, ...]] = [(value,) for value in rule.values]
        if rule.other is not None:
            groups.append(tuple(rule.rare))
        for group in groups:
            if rule.part is None:
                yield OneOf(rule.column, group, rule.written != "words")
            else:
                yield PartOneOf(rule.column, rule.part, tuple(_numbers(rule.part, group)))


def _intervals(rule: NumberRule) -> Iterator[Interval]:
    if rule.part == "hour" and not all(edge.is_integer() for edge in rule.edges):
        raise InputError(
            f"column {rule.column!r} is cut within an hour, which cannot be exported: "
            "only whole hours can"
        )
    lows, highs = [None, *rule.edges], [*rule.edges, None]
    if rule.cumulative:
        lows, highs = [*rule.edges], [None] * len(rule.edges)
    for low, high in zip(lows, highs, strict=True):
        yield Interval(rule.column, low, high, rule.part)


def _numbers(part: DatePart, words: Sequence[str]) -> Iterator[int]:
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(part)
    for word in words:
        yield int(word) if names is None else names.index(word) + 1
