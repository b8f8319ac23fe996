"""Which rule suits a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.data.column_rules import (
    BooleanRule,
    CategoryRule,
    ColumnRule,
    Dropped,
    NumberRule,
    is_yes_or_no,
)
from conjunct.data.dates import HOURS, DatePart, has_hours, part_of
from conjunct.data.edges import cut
from conjunct.data.raw_columns import Column, spelled
from conjunct.data.settings import Settings
from conjunct.errors import InputError

DateRule = TypeVar("DateRule", CategoryRule, NumberRule)

# fewer rows than this are no evidence that a column numbers them
_FEW = 20
# words in a cell of free text, on average
_PROSE = 3.0
# different words: fewer may be categories with commas in their names
_FEW_LISTS = 6
_TAG_SEPARATORS = ";|,"
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})*")


def rules_for(column: Column, settings: Settings) -> list[ColumnRule] | Dropped:
    """The rules that make features of a column, or why it makes none."""
    if column.name in settings.edges:
        edges = [float(edge) for edge in settings.edges[column.name]]
        return [_number_rule(column, edges, settings)]
    if column.kind == "empty":
        return Dropped(column.name, "every cell is empty")
    if column.name in settings.words:
        column = column.as_text()
    if column.kind == "Boolean":
        return [BooleanRule(column.name)]
    if column.kind == "number":
        return _for_numbers(column, settings)
    if column.kind == "date":
        return _for_dates(column, settings)
    return _for_words(column, settings)


def _for_numbers(
    column: Column, settings: Settings, part: DatePart | None = None
) -> list[ColumnRule] | Dropped:
    present = column.values[~column.missing]
    distinct = np.unique(present)
    if part is None and set(distinct) <= {0.0, 1.0}:
        return [BooleanRule(column.name)]
    if len(distinct) == 1:
        return Dropped(column.name, f"every cell is {spelled(distinct[0])}")
    if part is None and _numbers_the_rows(present):
        return Dropped(column.name, "it numbers the rows")
    if len(distinct) <= settings.n_bins:
        values = [spelled(value) for value in distinct]
        written = "words" if part is not None else column.written
        rule = CategoryRule(column.name, part=part, values=values, written=written)
        return [_as_dates_are_written(rule, column)]
    edges = cut(present, settings.numbers, settings.n_bins)
    if not edges:
        return Dropped(column.name, "no cut leaves rows on both sides")
    return [_number_rule(column, edges, settings, part)]


def _number_rule(
    column: Column, edges: list[float], settings: Settings, part: DatePart | None = None
) -> ColumnRule:
    rule = NumberRule(
        column.name,
        part=part,
        edges=edges,
        cumulative=settings.cumulative,
        written="decimal commas" if column.written == "decimal commas" else "numbers",
    )
    return _as_dates_are_written(rule, column)


def _as_dates_are_written(rule: DateRule, column: Column) -> DateRule:
    if rule.part is None or (column.order == "year first" and not column.odd):
        return rule
    return msgspec.structs.replace(rule, order=column.order, odd=list(column.odd))


def _numbers_the_rows(values: NDArray[np.float64]) -> bool:
    if len(values) < _FEW or values[0] not in (0, 1):
        return False
    return bool((values == values[0] + np.arange(len(values))).all())


def _for_words(
    column: Column, settings: Settings, part: DatePart | None = None
) -> list[ColumnRule] | Dropped:
    counts = column.counts()
    words = [word for word, count in zip(column.words, counts, strict=True) if count]
    if part is None and is_yes_or_no(words):
        return [BooleanRule(column.name)]
    if len(words) == 1:
        return Dropped(column.name, f"every cell is {words[0]!r}")
    if len(words) == 2 and part is None:
        # neither is rare beside one other word
        return [CategoryRule(column.name, values=words, written=column.written)]
    n_present = int(counts.sum())
    if column.name in settings.words:
        return _categories(column, settings, part)
    # a few tags make few different lists
    if len(words) >= _FEW_LISTS:
        _refuse_lists(column.name, words)
    if len(words) <= settings.max_categories:
        return _categories(column, settings, part)
    if len(words) > n_present / 2:
        _refuse_prose(column, words)
        return Dropped(column.name, f"{len(words)} different words in {n_present} cells")
    return _categories(column, settings, part)


def _categories(
    column: Column, settings: Settings, part: DatePart | None
) -> list[ColumnRule] | Dropped:
    counts = column.counts()
    least = settings.min_frequency * (counts.sum() if settings.min_frequency < 1 else 1)
    frequent = [k for k, count in enumerate(counts) if count and count >= least]
    room = settings.max_categories
    if part is None and len(frequent) > room:
        # the group of the others is one of the features
        room -= settings.rare == "group"
        frequent = sorted(sorted(frequent, key=lambda k: (-counts[k], k))[:room])
    values = [column.words[k] for k in frequent]
    rare = [w for k, w in enumerate(column.words) if counts[k] and w not in set(values)]
    if not values:
        return Dropped(column.name, "every word in it is rare")
    other = _group_name(values) if rare and settings.rare == "group" else None
    rule = CategoryRule(column.name, part=part, values=values, rare=rare, other=other)
    return [_as_dates_are_written(rule, column)]


def _group_name(values: Sequence[str]) -> str:
    name = "other"
    while name in values:
        name += " values"
    return name


def _for_dates(column: Column, settings: Settings) -> list[ColumnRule] | Dropped:
    rules: list[ColumnRule] = []
    for part in settings.parts:
        if part == "hour":
            if has_hours(column):
                hours = NumberRule(column.name, part=part, edges=list(HOURS))
                rules.append(_as_dates_are_written(hours, column))
            continue
        made = (_for_numbers if part == "year" else _for_words)(
            part_of(column, part), settings, part
        )
        if not isinstance(made, Dropped):
            rules.extend(made)
    return rules or Dropped(column.name, "all dates have the same parts")


def _refuse_prose(column: Column, words: Sequence[str]) -> None:
    name = column.name
    if all(map(_THOUSANDS.fullmatch, words)):
        raise InputError(
            f"column {name!r} holds numbers such as {words[0]!r}, in which a comma may stand "
            "between thousands or before decimals: write them without, or exclude the column "
            f"(at a prompt: --exclude {name!r})"
        )
    if sum(len(word.split()) for word in words) > _PROSE * len(words):
        raise InputError(
            f"column {name!r} holds free text such as {_start(words[0])!r}, which makes no "
            f"readable features: exclude it (at a prompt: --exclude {name!r}), or turn it into "
            "tags or categories first"
        )


def _refuse_lists(name: str, words: Sequence[str]) -> None:
    """Refuse lists of tags: short words that come again in other cells, here more, there fewer.

    A comma alone is no sign of one: all of ``Lyon, France`` and ``Rome, Italy`` have two parts,
    and the parts of sentences do not come again.
    """
    for separator in _TAG_SEPARATORS:
        cells = [[tag for part in w.split(separator) if (tag := part.strip())] for w in words]
        n_lists = sum(len(cell) > 1 for cell in cells)
        all_as_long = separator == "," and len(set(map(len, cells))) == 1
        if n_lists <= len(words) / 2 or all_as_long:
            continue
        counts = Counter(tag for cell in cells for tag in cell)
        n_again = sum(count for count in counts.values() if count > 1)
        n_parts = sum(len(tag.split()) * count for tag, count in counts.items())
        if n_again >= counts.total() / 2 and n_parts <= _PROSE * counts.total():
            one = next(word for word, cell in zip(words, cells, strict=True) if len(cell) > 1)
            raise InputError(
                f"column {name!r} holds lists of tags such as {_start(one)!r}: read it as "
                f"tags (tags={name!r}; at a prompt: --tags {name!r}), take each list as one word "
                f"(words=[{name!r}], --words {name!r}), or exclude it"
            )


def _start(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
