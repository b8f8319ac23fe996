"""Cells of files: text as numbers, quickly, and Booleans batch after batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from conjunct.data import (
    BLANKS,
    CategoryRule,
    Column,
    ColumnRule,
    Mask,
    TagsRule,
    from_series,
    infer_all,
    is_yes_or_no,
    meaning,
)

if TYPE_CHECKING:
    import polars as pl


_WHOLE = re.compile(r"[+-]?\d{1,18}")

# codes, which are no numbers: 007
_CODE = r"^0\d\d"


def read_column(cells: pl.Series, *, as_words: bool = False) -> Column:
    """Return a column; text that is plain numbers as numbers, which is quick.

    What other text says is inferred where rules are chosen. ``as_words``: it holds words, even if
    they look like numbers.
    """
    import polars as pl

    name, cells = cells.name, cells.alias("cells")
    if cells.dtype == pl.String and not as_words:
        numbers = _parse_numbers(cells)
        cells = cells if numbers is None else numbers
    column = from_series(name, nw.from_native(cells, series_only=True))
    return column.as_text() if as_words else column


def read_with_rules(cells: pl.Series, rules: Sequence[ColumnRule]) -> Column:
    """Return a column as rules want it: words as they are written, anything else as it is."""
    rule = rules[0]
    is_text = isinstance(rule, TagsRule) or (
        isinstance(rule, CategoryRule) and rule.part is None and rule.written == "words"
    )
    return read_column(cells, as_words=is_text and not cells.dtype.is_nested())


def parse_text(column: pl.Series) -> pl.Series:
    """Return text as Booleans, numbers or dates if all of it can be; else unchanged."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    text = read_column(column, as_words=True)
    read = infer_all(text)
    if read is None:
        return column
    if read.kind == "date":
        is_day = not any(":" in word for word in text.words)
        moments = pl.Series(column.name, read.values)
        return moments.cast(pl.Date) if is_day else moments
    cells = pl.Series(column.name, read.values).set(pl.Series(read.missing), None)
    is_whole = read.kind == "number" and all(map(_WHOLE.fullmatch, text.words))
    return cells.cast(pl.Int64, strict=False) if is_whole else cells


def _parse_numbers(text: pl.Series) -> pl.Series | None:
    """Return text as numbers if all of it is plain ones, none of them 0 or 1 alone."""
    import polars as pl

    text = text.str.strip_chars(BLANKS).replace("", None)
    numbers = text.cast(pl.Float64, strict=False)
    if not numbers.count() or numbers.null_count() > text.null_count():
        return None
    # flags are Booleans, and codes are words
    if text.str.contains(_CODE).any() or numbers.is_in([0.0, 1.0]).all():
        return None
    return numbers


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
