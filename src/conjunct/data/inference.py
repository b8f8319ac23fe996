"""Inference of Booleans, numbers, dates and tags from all words of a column.

A fit infers once. The rules of its model then read every row in the same way.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import nan
from typing import Any, NamedTuple

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

# cells needed to infer anything from most of them, and the share of dates or numbers needed
FEW = 20
_MOST_DATES = 0.8
_MOST_NUMBERS = 0.95

# average number of words per cell, above which text is free text
PROSE = 3.0

# distinct lists needed to infer tags: fewer may be categories with commas in their names
_FEW_LISTS = 6
_TAG_SEPARATORS = ";|,"
JSON = "[]"
"""The separator of lists in brackets, as in JSON and Python."""

# words named in a remark
_SHOWN = 3
_ANSWERS = ("unknown", "none")
_SPELLED = {"0": False, "1": True, "false": False, "true": True}
_CODE = re.compile(r"0\d\d+")
_COMMA = re.compile(r"[+-]?\d*(?:,\d+)?(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
_YEARS = (1800, 2100)

# offsets are ignored, because a local time zone may have two of them
_TIME = (
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d+))?)?"
    r"(?: (?P<half>[AaPp])[Mm])?(?: ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?))?"
)
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
_FORMS: dict[DateOrder, tuple[re.Pattern[str], ...]] = {
    "year first": (_ISO, _ISO_MONTH, *_NAMED),
    "day first": (re.compile(rf"(?P<day>\d\d?)[./-](?P<month>\d\d?)[./-]{_YEAR}{_THEN}"),),
    "month first": (re.compile(rf"(?P<month>\d\d?)[./-](?P<day>\d\d?)[./-]{_YEAR}{_THEN}"),),
    "digits": (re.compile(rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)"),),
    "clock": (re.compile(_TIME),),
}
DATE_ADVICE: dict[DateOrder, str] = {
    "year first": "write dates as 2024-12-31",
    "day first": "write dates as 31.12.2024",
    "month first": "write dates as 12/31/2024",
    "digits": "write dates as 20241231",
    "clock": "write times as 14:35",
}


class Remark(NamedTuple):
    """A remark about a column for the user, and the words that count as missing in it."""

    text: str
    missing: str = ""


def infer(column: Column) -> tuple[Column, Remark | None]:
    """Convert a column of words to the kind inferred, and return a remark for the user if any.

    Numbers and dates may hold words that mean missing, and dates may hold a few other cells.
    """
    if column.kind != "text" or column.is_category:
        return column, None
    counts = column.counts() if column.words else ()
    absent = [word for word, count in zip(column.words, counts, strict=True) if not count]
    column = drop_words(column, absent)
    read = infer_all(column)
    if read is not None:
        return read, None
    gone = [word for word in column.words if says_missing(word)]
    rest = drop_words(column, gone)
    # a single word and n/a may be two answers
    if 1 < len(rest.words) < len(column.words):
        read, kind = infer_all(rest), "numbers"
        if is_yes_or_no(rest.words):
            # unknown may be a third answer
            answers = any(word.lower() in _ANSWERS for word in gone)
            read, kind = (None if answers else rest), "cells of yes or no"
        if read is not None:
            kind = "dates" if read.kind == "date" else kind
            n_read = int((~rest.missing).sum())
            text = f"{n_read:,} {kind}, {_describe_missing(column, gone)}"
            return read, Remark(text, _count_words(column, gone))
    column, text = _infer_mostly(column, rest)
    return column, Remark(text) if text else None


def infer_all(column: Column) -> Column | None:
    """Convert all words to Booleans, numbers or dates. Return None if some words do not fit."""
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
    # next to 5%, a bare 0.05 may be a share or a percentage
    return len(units - {""}) <= 1 and not ("%" in units and (bare or "" in units))


def to_dates(column: Column, order: DateOrder) -> Column:
    """Convert words to dates. Other words become missing."""
    moments = [parse_moment(word, order) for word in column.words]
    read = _convert(column, "date", moments, "datetime64[us]")
    return replace(read, missing=np.isnat(read.values), order=order)


def _convert(column: Column, kind: str, values: Sequence[object], dtype: object) -> Column:
    nothing = {"Boolean": False, "number": nan, "date": None}[kind]
    table = np.array([*values, nothing], dtype)  # type: ignore[call-overload]
    return replace(column, kind=kind, values=table[column.values], words=())  # type: ignore[arg-type]


def drop_words(column: Column, gone: Iterable[str]) -> Column:
    """Make some words of a column missing."""
    lost = set(gone)
    if lost.isdisjoint(column.words):
        return column
    kept = tuple(word for word in column.words if word not in lost)
    position = {word: k for k, word in enumerate(kept)}
    codes = np.array([*(position.get(word, -1) for word in column.words), -1], np.int64)
    values = codes[column.values]
    return replace(column, values=values, missing=values < 0, words=kept)


def _infer_mostly(column: Column, rest: Column) -> tuple[Column, str]:
    """Convert a column if most cells are dates. Add a remark about these, or about most numbers."""
    counts = dict(zip(rest.words, rest.counts().tolist() if rest.words else (), strict=True))
    n_cells = sum(counts.values())
    if n_cells < FEW:
        return column, ""
    orders = _find_orders(rest.words)
    if not orders:
        is_unclear = all(map(_DAY_AND_MONTH.fullmatch, rest.words))
        remark = (
            f"{rest.words[0]!r} may begin with the day or the month, so the dates become "
            "categories; write them as 2024-12-31"
        )
        return column, remark if is_unclear else ""
    for order in orders:
        dates = [word for word in rest.words if parse_moment(word, order)]
        n_dates = sum(counts[word] for word in dates)
        if n_dates >= _MOST_DATES * n_cells:
            odd = [word for word in column.words if word not in set(dates)]
            remark = f"{n_dates:,} dates, {_describe_missing(column, odd)}"
            return replace(to_dates(column, order), odd=tuple(odd)), remark
    for written in ("numbers", "decimal commas"):
        odd = [word for word in rest.words if number(word, written) is None]
        n_numbers = n_cells - sum(counts[word] for word in odd)
        if _MOST_NUMBERS * n_cells <= n_numbers < n_cells:
            return column, (
                f"{n_numbers:,} numbers, but {_count_words(column, odd)}, so the column becomes "
                "categories; null_values= treats words as missing (--null on the command line)"
            )
    return column, ""


def _count_words(column: Column, words: Sequence[str]) -> str:
    """Describe how often words occur: ``3 × 'n/a', 1 × '?'``."""
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
    """Parse a date or time in one spelling. Return None for any other word.

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
    """Return the possible spellings of dates, the most likely first.

    Return none if days and months are ambiguous. In dates with dots, the day comes first.
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
    """Convert whole numbers such as 19750103 to dates. Return None if one is not a date.

    ``strict`` requires at least three dates between 1800 and 2100: others may be numbers.
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
    """Return a function that splits a cell of text into tags."""
    if separator == JSON:
        return _split_brackets
    if separator is None:
        return lambda cell: clean_tags([cell])
    return lambda cell: clean_tags(cell.split(separator))


def _split_brackets(cell: str) -> list[str]:
    try:
        return clean_tags(msgspec.json.decode(cell, type=list[str | int | float | None]))
    except msgspec.MsgspecError:
        # a list as Python writes it
        parts = cell.strip().removeprefix("[").removesuffix("]").split(",")
        return clean_tags(part.strip().strip("'\"") for part in parts)


def find_tag_separator(words: Sequence[str], *, is_asked: bool = False) -> str | None:
    """Return the separator of tags in cells, or None if the cells are not lists of tags.

    Tags are short and recur in other cells, and lists differ in length. Commas also occur
    elsewhere: ``Lyon, France`` and ``Rome, Italy`` always have two parts, the initial of
    ``Abreu, J`` is never first, and parts of sentences do not recur. ``is_asked``: the user names
    a column of tags.
    """
    if words and all(word.startswith("[") and word.endswith("]") for word in words):
        return JSON
    if is_asked:
        return next((s for s in _TAG_SEPARATORS if any(s in word for word in words)), ";")
    # a few tags form few distinct lists
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
