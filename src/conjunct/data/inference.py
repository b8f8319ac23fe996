"""Columns of words as Booleans, numbers, dates or tags: what all of their words say.

This is inferred once, when a model is fitted. From then on the model's rules decide, so that a row
is read in the same way with any other rows.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.data.cells import (
    MONTHS,
    Column,
    DateOrder,
    Written,
    clean_tags,
    is_yes_or_no,
    number,
    plain_number,
    says_missing,
    unit_of,
)

# fewer cells than this say little; of more, this share of dates or numbers says what they are
FEW = 20
_MOST_DATES = 0.8
_MOST_NUMBERS = 0.95

# words in a cell of free text, on average
PROSE = 3.0

# different words: fewer may be categories with commas in their names
_FEW_LISTS = 6
_TAG_SEPARATORS = ";|,"
JSON = "[]"
"""In place of a separator: the cells are lists in brackets, as JSON or Python writes them."""

# words named in a remark
_SHOWN = 3
_ANSWERS = ("unknown", "none")
_SPELLED = {"0": False, "1": True, "false": False, "true": True}
_CODE = re.compile(r"0\d\d+")
_COMMA = re.compile(r"[+-]?\d*(?:,\d+)?(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
_YEARS = (1800, 2100)

# the clock on the wall is read as it is written: a column's own zone may have two offsets
_TIME = (
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d+))?)?"
    r"(?: (?P<half>[AaPp])[Mm])?(?: ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?))?"
)
_CLOCK = re.compile(_TIME)
_THEN = rf"(?:[ T]{_TIME})?"
_WEEKDAY = r"(?:[A-Z][a-z]{2,8},? )?"
_MONTH = "(?P<name>" + "|".join(f"{m}|{m[:3]}" for m in MONTHS) + r"|Sept)\.?"
_YEAR = r"(?P<year>\d{4})"
_NTH = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
_ISO = re.compile(rf"{_YEAR}(?P<slash>[-/])(?P<month>\d\d?)[-/](?P<day>\d\d?){_THEN}")
_ISO_MONTH = re.compile(rf"{_YEAR}-(?P<month>\d\d)")
_NAMED = tuple(
    re.compile(pattern + _THEN, re.IGNORECASE)
    for pattern in (
        rf"{_WEEKDAY}{_MONTH}[ -]{_NTH},?[ -]{_YEAR}",
        rf"{_WEEKDAY}{_NTH}[ -]{_MONTH},?[ -](?P<year>\d{{4}}|\d\d)",
        rf"{_MONTH}[ -]{_YEAR}",
    )
)
_DAY_AND_MONTH = re.compile(r"\d\d?[./-]\d\d?[./-]\d{4}(?:[ T]\d.*)?")
_DAY_FIRST = re.compile(rf"(?P<day>\d\d?)[./-](?P<month>\d\d?)[./-]{_YEAR}{_THEN}")
_MONTH_FIRST = re.compile(rf"(?P<month>\d\d?)[./-](?P<day>\d\d?)[./-]{_YEAR}{_THEN}")
_DIGITS = re.compile(rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)")
_FORMS: dict[DateOrder, tuple[re.Pattern[str], ...]] = {
    "year first": (_ISO, _ISO_MONTH, *_NAMED),
    "day first": (_DAY_FIRST,),
    "month first": (_MONTH_FIRST,),
    "digits": (_DIGITS,),
    "clock": (_CLOCK,),
}
DATE_ADVICE: dict[DateOrder, str] = {
    "year first": "write dates as 2024-12-31",
    "day first": "write dates as 31.12.2024",
    "month first": "write dates as 12/31/2024",
    "digits": "write dates as 20241231",
    "clock": "write times as 14:35",
}
_NULL = "null_values= treats them as missing (--null WORD on the command line)"
_ISO_ADVICE = "it becomes categories: write dates as 2024-12-31"


def infer(column: Column) -> tuple[Column, str]:
    """Return a column of words as what all of them say, and a remark for the user or nothing.

    Words that mean missing may stand among numbers and dates, and a few odd cells among dates.
    """
    if column.kind != "text" or column.is_category:
        return column, ""
    counts = column.counts() if column.words else ()
    absent = [word for word, count in zip(column.words, counts, strict=True) if not count]
    column = drop_words(column, absent)
    read = infer_all(column)
    if read is not None:
        return read, ""
    gone = [word for word in column.words if says_missing(word)]
    rest = drop_words(column, gone)
    # one word and n/a or - may be two answers
    if 1 < len(rest.words) < len(column.words):
        read, kind = infer_all(rest), "numbers"
        if is_yes_or_no(rest.words):
            # a third answer, rather than none
            answers = any(word.lower() in _ANSWERS for word in gone)
            read, kind = (None if answers else rest), "cells of yes or no"
        if read is not None:
            kind = "dates" if read.kind == "date" else kind
            n_read = int((~rest.missing).sum())
            return read, f"{n_read:,} {kind}, {_describe_missing(column, gone)}"
    return _infer_mostly(column, rest)


def infer_all(column: Column) -> Column | None:
    """Return all words of a column as Booleans, numbers or dates, or None if some are others."""
    words = column.words
    if not words:
        return None
    if all(word.lower() in _SPELLED for word in words):
        return _convert(column, "Boolean", [_SPELLED[word.lower()] for word in words], np.bool_)
    if not any(map(_CODE.match, words)):
        for written in ("numbers", "decimal commas"):
            if _are_numbers(words, written):
                values = [number(word, written) for word in words]
                read = _convert(column, "number", values, np.float64)
                return replace(read, missing=np.isnan(read.values), written=written)
    for order in _find_orders(words):
        if all(parse_moment(word, order) for word in words):
            return to_dates(column, order)
    return None


def _are_numbers(words: Sequence[str], written: Written) -> bool:
    """Return True if all words are numbers of one unit, in this spelling."""
    if any(number(word, written) is None for word in words):
        return False
    odd = [word for word in words if plain_number(word) is None]
    if written == "decimal commas":
        with_comma = [word for word in words if "," in word]
        return bool(with_comma) and not all(map(_THOUSANDS.fullmatch, with_comma))
    units = {unit_of(word, written) for word in odd}
    bare = [word for word in words if word not in set(odd) and number(word)]
    # 5% among 0.05 could mean either
    return len(units - {""}) <= 1 and not ("%" in units and (bare or "" in units))


def to_dates(column: Column, order: DateOrder) -> Column:
    """Return the words that are dates as dates; others are missing."""
    moments = [parse_moment(word, order) for word in column.words]
    read = _convert(column, "date", moments, "datetime64[us]")
    return replace(read, missing=np.isnat(read.values), order=order)


def _convert(column: Column, kind: str, values: Sequence[object], dtype: object) -> Column:
    nothing = {"Boolean": False, "number": nan, "date": None}[kind]
    table = np.array([*values, nothing], dtype)  # type: ignore[call-overload]
    return replace(column, kind=kind, values=table[column.values], words=())  # type: ignore[arg-type]


def drop_words(column: Column, gone: Iterable[str]) -> Column:
    """Return the column with some words missing."""
    lost = set(gone)
    if lost.isdisjoint(column.words):
        return column
    kept = tuple(word for word in column.words if word not in lost)
    position = {word: k for k, word in enumerate(kept)}
    codes = np.array([*(position.get(word, -1) for word in column.words), -1], np.int64)
    values = codes[column.values]
    return replace(column, values=values, missing=values < 0, words=kept)


def _infer_mostly(column: Column, rest: Column) -> tuple[Column, str]:
    """Return dates if most cells are, else words, with a remark if most are numbers."""
    counts = dict(zip(rest.words, rest.counts().tolist() if rest.words else (), strict=True))
    n_cells = sum(counts.values())
    if n_cells < FEW:
        return column, ""
    orders = _find_orders(rest.words)
    if not orders:
        unclear = all(map(_DAY_AND_MONTH.fullmatch, rest.words))
        said = f"{rest.words[0]!r} may begin with the day or with the month; {_ISO_ADVICE}"
        return column, said if unclear else ""
    for order in orders:
        dates = [word for word in rest.words if parse_moment(word, order)]
        n_dates = sum(counts[word] for word in dates)
        if n_dates >= _MOST_DATES * n_cells:
            odd = [word for word in column.words if word not in set(dates)]
            said = f"{n_dates:,} dates, {_describe_missing(column, odd)}"
            return replace(to_dates(column, order), odd=tuple(odd)), said
    for written in ("numbers", "decimal commas"):
        odd = [word for word in rest.words if number(word, written) is None]
        n_numbers = n_cells - sum(counts[word] for word in odd)
        if _MOST_NUMBERS * n_cells <= n_numbers < n_cells:
            said = f"{n_numbers:,} numbers, but {_count_words(column, odd)}: it becomes categories"
            return column, f"{said}; {_NULL}"
    return column, ""


def _count_words(column: Column, words: Sequence[str]) -> str:
    """Return the words and how often each occurs: ``3 × 'n/a', 1 × '?'``."""
    counts = dict(zip(column.words, column.counts().tolist(), strict=True))
    ordered = sorted(words, key=lambda word: -counts[word])
    shown = ", ".join(f"{counts[word]:,} × {word!r}" for word in ordered[:_SHOWN])
    more = sum(counts[word] for word in ordered[_SHOWN:])
    return f"{shown} and {more:,} more cells" if more else shown


def _describe_missing(column: Column, words: Sequence[str]) -> str:
    return (
        f"treating {_count_words(column, words)} as missing; "
        f"categorical=[{column.name!r}] keeps it as words "
        f"(--categorical {column.name!r} on the command line)"
    )


def parse_moment(word: str, order: DateOrder) -> datetime.datetime | None:
    """Return the moment that a word names in a spelling, or None.

    Examples
    --------
    >>> parse_moment("Jun 12 1998", "year first"), parse_moment("31.12.2024", "month first")
    (datetime.datetime(1998, 6, 12, 0, 0), None)
    """
    if not word[:1].isascii() or not word[:1].isalnum():
        return None
    for form in _FORMS[order]:
        found = form.fullmatch(word)
        if found is None:
            continue
        parts = found.groupdict()
        month = parts.get("month")
        if parts.get("name"):
            month = str([m[:3].lower() for m in MONTHS].index(parts["name"][:3].lower()) + 1)
        year = int(parts.get("year") or 1970)
        if len(parts.get("year") or "1970") == 2:
            year += 2000 if year < 69 else 1900
        hour, minute, second = (int(parts.get(p) or 0) for p in ("hour", "minute", "second"))
        if parts.get("half"):
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if parts["half"].lower() == "p" else 0)
        clock = hour, minute, second, int((parts.get("fraction") or "0")[:6].ljust(6, "0"))
        try:
            return datetime.datetime(year, int(month or 1), int(parts.get("day") or 1), *clock)
        except ValueError:
            return None
    return None


def _find_orders(words: Sequence[str]) -> list[DateOrder]:
    """Return the spellings that words may have if they are dates, the best first.

    None where the day may be the month; with points, the day is first everywhere.
    """
    days = [word for word in words if _DAY_AND_MONTH.fullmatch(word)]
    if not days:
        return ["year first", "clock"]
    read = {
        order: [parse_moment(word, order) for word in days]
        for order in ("day first", "month first")
    }
    n_days, n_months = (sum(moment is not None for moment in moments) for moments in read.values())
    if n_days == n_months and read["day first"] != read["month first"]:
        return ["day first"] if all(re.match(r"\d\d?\.", word) for word in days) else []
    return ["day first" if n_days >= n_months else "month first"]


def is_whole(values: NDArray[Any]) -> bool:
    """Return True if all numbers are whole."""
    return bool((np.floor(values) == values).all())


def read_digit_dates(column: Column, *, strict: bool = True) -> Column | None:
    """Return whole numbers such as 19750103 as dates, or None if some are no dates.

    ``strict``: few numbers may look like dates by chance.
    """
    present = np.unique(column.values[~column.missing])
    if strict and (len(present) < 3 or present[0] < _YEARS[0] * 10_000):
        return None
    if not len(present) or not 0 < present[0] <= present[-1] < 1e8 or not is_whole(present):
        return None
    moments = [parse_moment(f"{int(value):08d}", "digits") for value in present]
    if None in moments or (strict and present[-1] > _YEARS[1] * 10_000):
        return None
    table = np.array([*moments, None], "datetime64[us]")
    places = np.where(column.missing, -1, np.searchsorted(present, column.values))
    return replace(column, kind="date", values=table[places], order="digits", written="words")


def split_tags(separator: str | None) -> Callable[[str], list[str]]:
    """Return how cells of text are split into tags."""
    if separator == JSON:
        return _split_brackets
    if separator is None:
        return lambda cell: clean_tags([cell])
    return lambda cell: clean_tags(cell.split(separator))


def _split_brackets(cell: str) -> list[str]:
    try:
        return clean_tags(msgspec.json.decode(cell, type=list[str | int | float | None]))
    except msgspec.MsgspecError:
        # as Python writes lists
        parts = cell.strip().removeprefix("[").removesuffix("]").split(",")
        return clean_tags(part.strip().strip("'\"") for part in parts)


def find_tag_separator(words: Sequence[str], *, is_asked: bool = False) -> str | None:
    """Return what separates tags in cells, or None if they are no lists of tags.

    Tags are short and come again in other cells, here more, there fewer. A comma alone is no sign
    of them: all of ``Lyon, France`` and ``Rome, Italy`` have two parts, in ``Abreu, J`` the initial
    is never first, and the parts of sentences do not come again. ``is_asked`` says that they are.
    """
    if words and all(word.startswith("[") and word.endswith("]") for word in words):
        return JSON
    if is_asked:
        return next((s for s in _TAG_SEPARATORS if any(s in word for word in words)), ";")
    # a few tags make few different lists
    if len(words) < _FEW_LISTS:
        return None
    for separator in _TAG_SEPARATORS:
        cells = [*map(split_tags(separator), words)]
        n_lists = sum(len(cell) > 1 for cell in cells)
        all_as_long = separator == "," and len({*map(len, cells)}) == 1
        if n_lists <= len(words) / 2 or all_as_long:
            continue
        counts = Counter(tag for cell in cells for tag in cell)
        again = {tag for tag, count in counts.items() if count > 1}
        n_again = sum(counts[tag] for tag in again)
        n_words = sum(len(tag.split()) * count for tag, count in counts.items())
        if n_again < counts.total() / 2 or n_words > PROSE * counts.total():
            continue
        first = {cell[0] for cell in cells if cell}
        later = {tag for cell in cells for tag in cell[1:]}
        if separator != "," or 4 * sum(counts[tag] for tag in again & first & later) >= n_again:
            return separator
    return None
