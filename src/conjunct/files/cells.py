"""Cells of text as what they say: Booleans, numbers, dates or words.

All cells of a column decide together, once, when a model is fitted. From then on its rules do, so
that a row is read the same whatever rows stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from conjunct.data import (
    BLANKS,
    BooleanRule,
    Column,
    ColumnRule,
    Mask,
    TwoValuedRule,
    Written,
    from_series,
    is_yes_or_no,
    meaning,
)
from conjunct.errors import CellError

if TYPE_CHECKING:
    import polars as pl

_SPELLED = {"0": False, "1": True, "false": False, "true": True}
_DAY = r"^\d{4}([-/])\d\d?[-/]\d\d?(?:[ T]\d|$)"
# the clock on the wall is read as it is written: a column's own zone may have two offsets
_OFFSET = r"(:\d\d(?:\.\d+)?) ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?)$"
_COMMA = r"^[+-]?\d*(?:,\d+)?(?:[eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(?:,\d{3})+$"


def column_of(cells: pl.Series) -> Column:
    """A column that says by itself what it holds."""
    return from_series(cells.name, nw.from_native(cells.alias("cells"), series_only=True))


def text_column(cells: pl.Series, rules: Sequence[ColumnRule] | None = None) -> Column:
    """A column of text as rules read it; without rules, as what all of it says."""
    import polars as pl

    name = cells.name
    if cells.dtype != pl.String:
        return column_of(cells)
    text = _filled(cells)
    if rules is not None:
        return column_of(_read_by(rules[0], text, name).alias(name))
    typed, written = _inferred(text)
    column = column_of(typed.alias(name))
    return replace(column, written=written) if column.kind == "number" else column


def typed_text(column: pl.Series) -> pl.Series:
    """Text as Booleans, numbers or dates if all of it can be; else as it is."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    typed, _ = _inferred(_filled(column))
    return column if typed.dtype == pl.String else typed


def _filled(cells: pl.Series) -> pl.Series:
    """Text without blanks around it; a cell of nothing else is missing, however it is quoted."""
    text = cells.alias("cells").str.strip_chars(BLANKS)
    return text.replace("", None)


def _inferred(text: pl.Series) -> tuple[pl.Series, Written]:
    import polars as pl

    lower = text.str.to_lowercase()
    for typed in (
        lower.replace_strict(_SPELLED, default=None, return_dtype=pl.Boolean),
        text.cast(pl.Int64, strict=False),
        _numbers(text),
    ):
        if _complete(typed, text):
            return typed, "numbers"
    if _has_decimal_commas(text):
        return _numbers(text, "decimal commas"), "decimal commas"
    moments = _moments(text)
    if _complete(moments, text):
        is_day = not text.str.contains(":", literal=True).any()
        return moments.cast(pl.Date) if is_day else moments, "words"
    return text, "words"


def _read_by(rule: ColumnRule, text: pl.Series, name: str) -> pl.Series:
    """Text as numbers or dates if that is what the rule wants; words are for the rule to judge."""
    if isinstance(rule, BooleanRule):
        return text
    if not isinstance(rule, TwoValuedRule) and rule.part is not None:
        moments = _moments(text)
        if not _complete(moments, text):
            row = int((moments.is_null() & text.is_not_null()).arg_max() or 0)
            problem = f"{text[row]!r} is not a date"
            raise CellError(name, row, text[row], problem, "write dates as 2024-12-31")
        return moments
    numbers = text if rule.written == "words" else _numbers(text, rule.written)
    return numbers if _complete(numbers, text) else text


def _complete(typed: pl.Series, text: pl.Series) -> bool:
    return typed.null_count() == text.null_count()


def _numbers(text: pl.Series, written: Written = "numbers") -> pl.Series:
    import polars as pl

    if written == "decimal commas":
        with_points = text.str.replace(",", ".", literal=True)
        text = pl.select(pl.when(text.str.contains(_COMMA)).then(with_points)).to_series()
    return text.cast(pl.Float64, strict=False)


def _has_decimal_commas(text: pl.Series) -> bool:
    """Whether all cells are numbers, and some comma cannot be one between thousands."""
    with_comma = text.filter(text.str.contains(",", literal=True))
    return (
        len(with_comma) > 0
        and bool(text.str.contains(_COMMA).all())
        and not bool(with_comma.str.contains(_THOUSANDS).all())
        and _complete(_numbers(text, "decimal commas"), text)
    )


def _moments(text: pl.Series) -> pl.Series:
    """Moments of those cells that are dates, with or without a time."""
    import polars as pl

    day = pl.when(text.str.contains(_DAY)).then(text).str.replace("T", " ", literal=True)
    same = day.str.replace(r"^(\d{4})/(\d\d?)/", "$1-$2-").str.replace(_OFFSET, "$1")
    forms = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M")
    parsed = (same.str.to_datetime(form, strict=False, time_unit="us") for form in forms)
    return pl.select(pl.coalesce(parsed)).to_series()


class BooleanCells:
    """Whether cells say yes or no, batch after batch: the spelling must be one and the same."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self.seen = False
        """Whether some cell was not empty."""

    def read(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        """Which cells are true, and which missing if any is; None if one is not Boolean."""
        read = self._read(cells)
        self.seen = self.seen or read is None or read[1] is None or not read[1].all()
        return read

    def _read(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
        import polars as pl

        # polars takes a name such as ^a.*$ for a pattern, even that of a column alone
        cells = cells.alias("cells")
        if cells.dtype in (pl.String, pl.Categorical, pl.Enum):
            return self._spelled(cells.cast(pl.String))
        missing = _is_missing(cells)
        values = _booleans(
            cells if missing is None or not cells.dtype.is_float() else cells.fill_nan(None)
        )
        return None if values is None else (values, missing)

    def _spelled(self, cells: pl.Series) -> tuple[Mask, Mask | None] | None:
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


def _booleans(cells: pl.Series) -> Mask | None:
    import polars as pl

    # each of polars' operations on a short column takes longer than the column
    filled = cells.null_count() == 0
    if cells.dtype == pl.Boolean:
        return (cells if filled else cells.fill_null(False)).to_numpy()
    if cells.dtype == pl.Null:
        return np.zeros(len(cells), np.bool_)
    if cells.dtype.is_numeric():
        numbers = (cells if filled else cells.fill_null(0)).to_numpy()
        true = numbers == 1
        return true if (true | (numbers == 0)).all() else None
    return None


def _is_missing(cells: pl.Series) -> Mask | None:
    """Which cells are null or NaN, if any is."""
    if cells.null_count():
        missing = cells.is_null()
        if cells.dtype.is_float():
            missing |= cells.is_nan().fill_null(False)
        return missing.to_numpy()
    if cells.dtype.is_float():
        missing = np.isnan(cells.to_numpy())
        return missing if missing.any() else None
    return None
