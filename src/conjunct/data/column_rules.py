"""What is done to one column: rules that are plain data, applied to any rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf, nan
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.data.dates import DatePart, part_of
from conjunct.data.raw_columns import (
    Column,
    DateOrder,
    Mask,
    Written,
    number,
    says_missing,
    spelled,
)
from conjunct.data.variables import distinct_from
from conjunct.errors import CellError

PAIRS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(no.split()), frozenset(yes.split()))
    for no, yes in (
        ("0 false", "1 true"),
        ("f", "t"),
        ("no", "yes"),
        ("n", "y"),
        ("off", "on"),
        ("absent", "present"),
    )
)
"""Words that say no and yes. A column of one such pair needs no more name than its own."""

_MEANING = {word: bool(k) for pair in PAIRS for k, words in enumerate(pair) for word in words}


class Applied(msgspec.Struct, frozen=True):
    """The features of one column, and the words in it that the rule does not know."""

    features: Sequence[Mask]
    missing: Mask
    unknown: tuple[str, ...] = ()


class _Rule(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    repr_omit_defaults=True,
    tag_field="rule",
):
    column: str


def _check_numbers(written: Written, words: Iterable[str]) -> None:
    """Refuse rules, of a damaged file, about numbers that are none, or not in their spelling."""
    for word in words if written != "words" else ():
        value = number(word)
        if value is None or value != value or spelled(value) != word:
            raise ValueError(f"{word[:40]!r} is not a number in its shortest spelling")


class BooleanRule(_Rule, frozen=True, tag="boolean"):
    """Booleans, 0 and 1, or two words such as yes and no: one feature, named as the column."""

    def names(self) -> list[str]:
        return [self.column]

    @property
    def variable(self) -> str | None:
        """Return None: a single feature excludes no other."""
        return None

    def describe(self) -> str:
        return "as it is"

    def apply(self, column: Column) -> Applied:
        if column.kind == "Boolean":
            return Applied([column.values], column.missing)
        text = column.as_text()
        meanings = [_truth(word) for word in text.words]
        if None in meanings:
            _refuse(text, meanings.index(None), "is not Boolean", "write 0/1, true/false or yes/no")
        missing = text.missing | _chosen(text, [m != m for m in meanings])
        return Applied([_chosen(text, [m == 1 for m in meanings])], missing)


class CategoryRule(_Rule, frozen=True, tag="categories", kw_only=True):
    """A feature ``column = word`` for each word, and one for the rare ones together."""

    part: DatePart | None = None
    values: list[str]
    rare: list[str] = []
    other: str | None = None
    written: Written = "words"
    order: DateOrder = "year first"
    odd: list[str] = []

    def __post_init__(self) -> None:
        _check_numbers(self.written, (*self.values, *self.rare))

    def names(self) -> list[str]:
        words = [*self.values, *([self.other] if self.other is not None else [])]
        return [f"{_label(self.column, self.part)} = {word}" for word in words]

    @property
    def variable(self) -> str | None:
        """Return what the words are values of; None for one feature, which excludes no other."""
        return _label(self.column, self.part) if len(self.names()) > 1 else None

    def describe(self) -> str:
        part = "" if self.part is None else f"{self.part}: "
        rare = ""
        if self.rare:
            fate = "left out" if self.other is None else f"together as {self.other!r}"
            rare = f", {len(self.rare)} rare ones {fate}"
        return f"{part}{len(self.values)} words{rare}"

    def apply(self, column: Column) -> Applied:
        text = _words(_part(column, self.part), self.written)
        groups = [{value} for value in self.values]
        if self.other is not None:
            groups.append(set(self.rare))
        return Applied(
            [_chosen(text, [word in group for word in text.words]) for group in groups],
            text.missing,
            _unknown(text, {*self.values, *self.rare}),
        )


class NumberRule(_Rule, frozen=True, tag="numbers", kw_only=True):
    """Intervals between edges, ``column in [30, 45)``; or ``column ≥ 30`` for each edge."""

    part: DatePart | None = None
    edges: list[float]
    cumulative: bool = False
    written: Literal["numbers", "decimal commas"] = "numbers"
    order: DateOrder = "year first"
    odd: list[str] = []

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in pairwise([-inf, *self.edges, inf]))
        if not self.edges or not rising:
            raise ValueError(f"column {self.column!r} is not cut at rising, finite numbers")

    def names(self) -> list[str]:
        label = _label(self.column, self.part)
        edges = [spelled(edge) for edge in self.edges]
        if self.cumulative:
            return [f"{label} ≥ {edge}" for edge in edges]
        inner = [f"{label} in [{low}, {high})" for low, high in pairwise(edges)]
        return [f"{label} < {edges[0]}", *inner, f"{label} ≥ {edges[-1]}"]

    @property
    def variable(self) -> str | None:
        """Return what the intervals are values of; None for steps, which include each other."""
        return None if self.cumulative else _label(self.column, self.part)

    def describe(self) -> str:
        part = "" if self.part is None else f"{self.part}: "
        steps = "steps" if self.cumulative else "cut"
        return f"{part}{steps} at {', '.join(map(spelled, self.edges))}"

    def apply(self, column: Column) -> Applied:
        numbers, missing = _numbers(_part(column, self.part), self.written)
        position = np.searchsorted(self.edges, numbers, side="right")
        position[missing] = -1
        steps = range(1, len(self.edges) + 1)
        if self.cumulative:
            return Applied([position >= k for k in steps], missing)
        return Applied([position == k for k in (0, *steps)], missing)


ColumnRule = BooleanRule | CategoryRule | NumberRule


class Dropped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column that makes no feature, and why."""

    column: str
    reason: str


def meaning(word: str) -> bool | None:
    """What a word such as ``Yes`` or ``0`` says, if it says yes or no."""
    return _MEANING.get(word.strip().casefold())


def _truth(word: str) -> float | None:
    """1 for yes, 0 for no, NaN for a missing number, None for what is none of them."""
    said = meaning(word)
    if said is not None:
        return float(said)
    value = number(word.replace(",", "."))
    if value is None and says_missing(word):
        return nan
    return None if value is None or (value not in (0, 1) and value == value) else value


def is_yes_or_no(words: Iterable[str]) -> bool:
    """Whether words are spellings of one pair: ``Yes`` and ``no``, but not ``yes`` and ``f``."""
    spellings = {word.strip().casefold() for word in words}
    return any(spellings <= no | yes for no, yes in PAIRS)


def _label(column: str, part: DatePart | None) -> str:
    return column if part is None else f"{column} {part}"


def _part(column: Column, part: DatePart | None) -> Column:
    if part is None or column.kind == "empty":
        return column
    if column.kind != "date":
        text = column.as_text()
        _refuse(text, 0, "is not a date", "write dates as 2024-12-31")
    return part_of(column, part)


def _numbers(column: Column, written: Written) -> tuple[NDArray[np.float64], Mask]:
    if column.kind == "empty":
        return np.full(len(column), np.nan), column.missing
    if column.kind in ("number", "Boolean"):
        return np.where(column.missing, np.nan, column.values.astype(np.float64)), column.missing
    text = column.as_text()
    # a missing cell is position −1: the NaN at the end
    numbers = np.full(len(text.words) + 1, np.nan)
    for k, word in enumerate(text.words):
        value = number(word, written)
        if value is None and says_missing(word):
            value = nan
        if value is None:
            _refuse(text, k, "is not a number", "correct it, or leave the cell empty")
        numbers[k] = value
    cells = numbers[text.values]
    return cells, np.isnan(cells)


def _words(column: Column, written: Written) -> Column:
    """The words of a column; where they are numbers, each in its shortest spelling."""
    if written == "words" or column.kind == "empty":
        return column.as_text()
    if column.kind == "Boolean":
        return replace(column, kind="number", values=column.values.astype(np.float64)).as_text()
    text = column.as_text()
    if column.kind != "text":
        return text
    values = [nan if says_missing(word) else number(word, written) for word in text.words]
    words = [
        word if value is None else "" if value != value else spelled(value)
        for word, value in zip(text.words, values, strict=True)
    ]
    known = sorted(set(words) - {""})
    position = {word: k for k, word in enumerate(known)} | {"": -1}
    codes = np.array([*(position[word] for word in words), -1], np.int64)[text.values]
    return replace(text, values=codes, missing=codes < 0, words=tuple(known))


def _chosen(text: Column, chosen: Sequence[bool]) -> Mask:
    """Rows whose word is one of those chosen."""
    if not text.words:
        return np.zeros(len(text), np.bool_)
    # a missing cell is position −1: the False at the end
    return np.asarray(np.array([*chosen, False])[text.values])


def _unknown(text: Column, known: set[str]) -> tuple[str, ...]:
    # words of months and weekdays are all there whether they occur or not
    return tuple(
        word
        for word, count in zip(text.words, text.counts() if text.words else (), strict=True)
        if count and word not in known
    )


def _refuse(text: Column, word: int, problem: str, advice: str) -> None:
    row = int(np.flatnonzero(text.values == word)[0])
    value: Any = text.words[word]
    raise CellError(text.name, row, value, f"{value!r} {problem}", advice)


def feature_names(rules: Sequence[ColumnRule]) -> Iterator[tuple[str, str]]:
    """Each feature with the column it comes from."""
    for rule in rules:
        for name in rule.names():
            yield name, rule.column


def feature_variables(rules: Sequence[ColumnRule]) -> Iterator[tuple[str, str | None]]:
    """Return each feature with the variable that it is a value of, if it is one.

    A column may be called as a part of a date is, and is another variable: it gets a number.
    """
    used: set[str] = set()
    for rule in rules:
        variable = rule.variable
        if variable is not None:
            variable = distinct_from(used, variable)
            used.add(variable)
        for name in rule.names():
            yield name, variable
