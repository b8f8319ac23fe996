"""Cells of text as Booleans, numbers, dates or words.

The type of a column is inferred from all of its cells once, when a model is fitted. From then on
the model's rules decide, so that a row is read in the same way with any other rows.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from conjunct.data import (
    BLANKS,
    BooleanRule,
    Column,
    ColumnRule,
    DateOrder,
    Mask,
    Written,
    from_series,
    is_yes_or_no,
    meaning,
    says_missing,
)
from conjunct.errors import CellError, ConjunctWarning

if TYPE_CHECKING:
    import polars as pl


_SPELLED = {"0": False, "1": True, "false": False, "true": True}
_DAY = r"^\d{4}([-/])\d\d?[-/]\d\d?(?:[ T]\d|$)"
# the clock on the wall is read as it is written: a column's own zone may have two offsets
_OFFSET = r"(:\d\d(?:\.\d+)?) ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?)$"
_COMMA = r"^[+-]?\d*(?:,\d+)?(?:[eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(?:,\d{3})+$"
_DAY_AND_MONTH = r"^\d\d?[./-]\d\d?[./-]\d{4}(?:[ T]\d|$)"
_DATE = "%Y-%m-%d"
_TIMES = (_DATE, *(f"{_DATE} {t}" for t in ("%H:%M:%S%.f", "%H:%M", "%I:%M:%S %p", "%I:%M %p")))
_FORMS: dict[DateOrder, str] = {
    "year first": "write dates as 2024-12-31",
    "day first": "write dates as 31.12.2024",
    "month first": "write dates as 12/31/2024",
}

# fewer cells than this say little; of more, this share of dates or numbers says what they are
_FEW = 20
_MOST_DATES = 0.8
_MOST_NUMBERS = 0.95
# words named in a remark
_SHOWN = 3
_ANSWERS = ["unknown", "none"]
_COLUMN = "\0"
_OR_WORDS = f"words=[{_COLUMN}] takes the column as words (at a prompt: --words {_COLUMN})"
_NULL = "null_values= takes them as missing (at a prompt: --null WORD)"
_ISO = "it is taken as words: write dates as 2024-12-31"


def read_column(cells: pl.Series) -> Column:
    """Return a column whose type says what it holds."""
    return from_series(cells.name, nw.from_native(cells.alias("cells"), series_only=True))


def read_text_column(
    cells: pl.Series, rules: Sequence[ColumnRule] | None = None, *, as_words: bool = False
) -> Column:
    """Read a column of text as rules do; without rules, as what all of it says.

    A guess gives a warning. ``as_words``: the column holds words, even if they look like numbers.
    """
    import polars as pl

    name = cells.name
    if cells.dtype != pl.String:
        return read_column(cells).as_text() if as_words else read_column(cells)
    text = _strip_blanks(cells)
    if rules is not None:
        return read_column(_read_with_rule(rules[0], text, name).alias(name))
    read = InferredColumn(text) if as_words else _infer(text)
    if read.remark:
        said = read.remark.replace(_COLUMN, repr(name))
        warnings.warn(f"column {name!r}: {said}", ConjunctWarning, stacklevel=2)
    column = read_column(read.cells.alias(name))
    if column.kind == "number":
        return replace(column, written=read.written)
    return replace(column, order=read.order, odd=read.odd) if column.kind == "date" else column


def parse_text(column: pl.Series) -> pl.Series:
    """Return text as Booleans, numbers or dates if all of it can be; else unchanged."""
    import polars as pl

    read = _infer_all(_strip_blanks(column)) if column.dtype == pl.String else None
    return column if read is None else read.cells


@dataclass(frozen=True)
class InferredColumn:
    """Cells as what they say, how that is written, and what a person should know about it."""

    cells: pl.Series
    kind: str = "words"
    written: Written = "words"
    order: DateOrder = "year first"
    odd: tuple[str, ...] = ()
    remark: str = ""


def _strip_blanks(cells: pl.Series) -> pl.Series:
    """Strip blanks; a cell of nothing else is missing, even in quotes."""
    text = cells.alias("cells").str.strip_chars(BLANKS)
    return text.replace("", None)


def _infer(text: pl.Series) -> InferredColumn:
    """Infer what all cells say, except for those that mean missing and a few odd dates."""
    read = _infer_all(text)
    if read is not None:
        return read
    rest = _drop_missing(text)
    known = rest.drop_nulls().unique()
    # one word and n/a or - may be two answers
    if len(known) > 1 and rest.null_count() > text.null_count():
        gone = text.filter(rest.is_null() & text.is_not_null())
        read = _infer_all(rest)
        if is_yes_or_no(known.to_list()):
            # a third answer, rather than none
            answers = bool(gone.str.to_lowercase().is_in(_ANSWERS).any())
            read = None if answers else InferredColumn(rest, "cells of yes or no")
        if read is not None:
            said = f"{rest.count()} {read.kind}, {_count_words(gone)} taken as missing; {_OR_WORDS}"
            return replace(read, remark=said)
    return _infer_mostly(text, rest)


def _infer_all(text: pl.Series) -> InferredColumn | None:
    """Return all cells as Booleans, numbers or dates, or None if some cannot be."""
    import polars as pl

    if not text.count():
        return None
    lower = text.str.to_lowercase()
    booleans = lower.replace_strict(_SPELLED, default=None, return_dtype=pl.Boolean)
    for typed in (booleans, text.cast(pl.Int64, strict=False), _parse_numbers(text)):
        if _is_complete(typed, text):
            return InferredColumn(typed, "numbers", "numbers")
    if _has_decimal_commas(text):
        return InferredColumn(_parse_numbers(text, "decimal commas"), "numbers", "decimal commas")
    moments, order = _parse_dates(text)
    if moments is None or not _is_complete(moments, text):
        return None
    is_day = not text.str.contains(":", literal=True).any()
    return InferredColumn(moments.cast(pl.Date) if is_day else moments, "dates", order=order)


def _infer_mostly(text: pl.Series, rest: pl.Series) -> InferredColumn:
    """Return dates if most cells are, else words, with a remark if most are numbers."""
    n_cells = rest.count()
    if n_cells < _FEW:
        return InferredColumn(text)
    moments, order = _parse_dates(rest)
    if moments is None:
        unclear = rest.drop_nulls().str.contains(_DAY_AND_MONTH).all()
        said = f"{rest.drop_nulls()[0]!r} may begin with the day or with the month; {_ISO}"
        return InferredColumn(text, remark=said if unclear else "")
    if moments.count() >= _MOST_DATES * n_cells:
        odd = text.filter(moments.is_null() & text.is_not_null())
        said = f"{moments.count()} dates, {_count_words(odd)} taken as missing; {_OR_WORDS}"
        return InferredColumn(
            moments, "dates", order=order, odd=tuple(sorted(set(odd))), remark=said
        )
    for written in ("numbers", "decimal commas"):
        numbers = _parse_numbers(rest, written)
        if _MOST_NUMBERS * n_cells <= numbers.count() < n_cells:
            odd = rest.filter(numbers.is_null() & rest.is_not_null())
            said = (
                f"{numbers.count()} numbers, but {_count_words(odd)}: it is taken as words; {_NULL}"
            )
            return InferredColumn(text, remark=said)
    return InferredColumn(text)


def _count_words(cells: pl.Series) -> str:
    """Return the words and how often each occurs: ``3 × 'n/a', 1 × '?'``."""
    counts = Counter(cells.to_list()).most_common()
    shown = ", ".join(f"{count} × {word!r}" for word, count in counts[:_SHOWN])
    more = sum(count for _, count in counts[_SHOWN:])
    return f"{shown} and {more} more cells" if more else shown


def _drop_missing(text: pl.Series, odd: Sequence[str] = ()) -> pl.Series:
    """Set words to null that mean missing, in general or to a model."""
    words = text.drop_nulls().unique().to_list()
    gone = [word for word in words if says_missing(word) or word in odd]
    return text.replace(gone, [None] * len(gone)) if gone else text


def _read_with_rule(rule: ColumnRule, text: pl.Series, name: str) -> pl.Series:
    """Read text as numbers or dates if the rule wants them; the rule itself judges words."""
    if isinstance(rule, BooleanRule):
        return _drop_missing(text)
    if rule.part is not None:
        text = _drop_missing(text, rule.odd)
        moments = _parse_moments(text, rule.order)
        if not _is_complete(moments, text):
            row = int((moments.is_null() & text.is_not_null()).arg_max() or 0)
            problem = f"{text[row]!r} is not a date"
            raise CellError(name, row, text[row], problem, _FORMS[rule.order])
        return moments
    if rule.written == "words":
        return text
    numbers = _parse_numbers(text, rule.written)
    if not _is_complete(numbers, text):
        text = _drop_missing(text)
        numbers = _parse_numbers(text, rule.written)
    return numbers if _is_complete(numbers, text) else text


def _is_complete(typed: pl.Series, text: pl.Series) -> bool:
    return typed.null_count() == text.null_count()


def _parse_numbers(text: pl.Series, written: Written = "numbers") -> pl.Series:
    import polars as pl

    if written == "decimal commas":
        with_points = text.str.replace(",", ".", literal=True)
        text = pl.select(pl.when(text.str.contains(_COMMA)).then(with_points)).to_series()
    return text.cast(pl.Float64, strict=False)


def _has_decimal_commas(text: pl.Series) -> bool:
    """Return True if all cells are numbers, and some comma cannot separate thousands."""
    with_comma = text.filter(text.str.contains(",", literal=True))
    return (
        len(with_comma) > 0
        and bool(text.str.contains(_COMMA).all())
        and not bool(with_comma.str.contains(_THOUSANDS).all())
        and _is_complete(_parse_numbers(text, "decimal commas"), text)
    )


def _parse_dates(text: pl.Series) -> tuple[pl.Series | None, DateOrder]:
    """Return the moments of cells that are dates, in the order that most are written in.

    None where the day may be the month; with points, the day is first everywhere.
    """
    orders: tuple[DateOrder, ...] = ("year first",)
    if text.str.contains(_DAY_AND_MONTH).any():
        orders = ("year first", "day first", "month first")
    read = [(_parse_moments(text, order), order) for order in orders]
    moments, order = max(read, key=lambda one: one[0].count())
    if order == "day first" and read[2][0].count() == moments.count():
        days = text.filter(text.str.contains(_DAY_AND_MONTH))
        same = read[2][0].equals(moments, null_equal=True)
        if not same and not days.str.contains(r"^\d\d?\.").all():
            return None, order
    return moments, order


def _parse_moments(text: pl.Series, order: DateOrder = "year first") -> pl.Series:
    """Return the moments of those cells that are dates, with or without a time."""
    import polars as pl

    pattern = _DAY if order == "year first" else _DAY_AND_MONTH
    day = pl.when(text.str.contains(pattern)).then(text).str.replace("T", " ", literal=True)
    if order == "year first":
        same = day.str.replace(r"^(\d{4})/(\d\d?)/", "$1-$2-")
    else:
        parts = "$3-$2-$1" if order == "day first" else "$3-$1-$2"
        same = day.str.replace(r"^(\d\d?)[./-](\d\d?)[./-](\d{4})", parts)
    same = same.str.replace(_OFFSET, "$1")
    parsed = (same.str.to_datetime(form, strict=False, time_unit="us") for form in _TIMES)
    return pl.select(pl.coalesce(parsed)).to_series()


class BooleanCells:
    """Reader of cells that say yes or no, batch after batch, all in the same spelling."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self.seen = False
        """True once some cell was not empty."""

    def read(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        """Return which cells are true, and which missing if any; None if one is not Boolean."""
        import polars as pl

        # polars takes a name such as ^a.*$ for a pattern, even that of a column alone
        cells = cells.alias("cells")
        is_text = cells.dtype in (pl.String, pl.Categorical, pl.Enum)
        read = self._read_words(cells.cast(pl.String)) if is_text else _read_booleans(cells)
        self.seen = self.seen or read is None or read[1] is None or not read[1].all()
        return read

    def _read_words(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        # blank cells are missing, however they are quoted
        words = [word for word in cells.unique().drop_nulls().to_list() if word.strip()]
        # many words are no yes and no, however spelled
        if len(words) > 20 or any(meaning(word) is None for word in words):
            return None
        self._words |= {word.strip().casefold() for word in words}
        if not is_yes_or_no(self._words):
            return None
        missing = ~cells.is_in(words).fill_null(False).to_numpy()
        values = cells.is_in([word for word in words if meaning(word)])
        return values.fill_null(False).to_numpy(), missing if missing.any() else None


def _read_booleans(cells: pl.Series) -> tuple[Mask, Mask | None] | None:
    """Return which Booleans or numbers are true, and which missing; None if one is not 0 or 1."""
    import polars as pl

    # each of polars' operations on a short column takes longer than the column
    is_full = cells.null_count() == 0
    missing = None if is_full else cells.is_null().to_numpy()
    if cells.dtype == pl.Boolean:
        return (cells if is_full else cells.fill_null(False)).to_numpy(), missing
    if cells.dtype == pl.Null:
        return np.zeros(len(cells), np.bool_), missing
    if not cells.dtype.is_numeric():
        return None
    numbers = (cells if is_full else cells.fill_null(0)).to_numpy()
    true = numbers == 1
    is_boolean = true | (numbers == 0)
    if cells.dtype.is_float():
        is_nan = np.isnan(numbers)
        if is_nan.any():
            missing = is_nan if missing is None else missing | is_nan
            is_boolean |= is_nan
    return (true, missing) if is_boolean.all() else None
