"""One column of any table, as the rules see it: Booleans, numbers, words or dates."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf
from numbers import Real
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from conjunct.errors import InputError

ColumnKind = Literal["Boolean", "number", "text", "date", "empty"]
Mask = NDArray[np.bool_]

Written = Literal["words", "numbers", "decimal commas"]
"""How the cells of a column that is read as words or numbers are written in text."""

DateOrder = Literal["year first", "day first", "month first"]
"""How the dates of a column are written in text."""

BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""What str.strip takes away, which is more than the blanks that others trim."""

_SAY_MISSING = frozenset(
    (
        *("", "-", "--", "---", "–", "—", "?", "??", ".", "..", "n/a", "na", "n.a.", "n. a."),
        *("#n/a", "#na", "<na>", "nan", "nat", "null", "none", "nil", "missing", "unknown"),
        *("blank", "(blank)", "undefined", "no data", "k.a.", "k. a.", "not available"),
        *("not applicable", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"),
    )
)

_NAMES_OF_MISSING = ("NAType", "NaTType")


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one kind. Those of text are positions in ``words``; −1 where missing."""

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    missing: Mask
    words: tuple[str, ...] = ()
    written: Written = "words"
    order: DateOrder = "year first"
    odd: tuple[str, ...] = ()
    """Cells among dates that are none, and count as missing."""

    def __len__(self) -> int:
        return len(self.values)

    def as_text(self) -> Column:
        """The same cells as words: numbers and dates in their shortest spelling."""
        if self.kind in ("text", "empty"):
            return self
        distinct, codes = np.unique(self.values[~self.missing], return_inverse=True)
        values = np.full(len(self), -1, np.int64)
        values[~self.missing] = codes
        return Column(self.name, "text", values, self.missing, tuple(map(spelled, distinct)))

    def cells(self) -> list[str | None]:
        """The cells as words, None where missing."""
        text = self.as_text()
        words = [*text.words, None]
        return [words[code] for code in text.values] if text.words else [None] * len(self)

    def counts(self) -> NDArray[np.int64]:
        """How often each word occurs."""
        return np.bincount(self.values[~self.missing], minlength=len(self.words))


def spelled(value: Any) -> str:
    """A cell in its shortest spelling: ``4``, ``0.5``, ``true``, ``2026-11-16``."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.datetime64):
        return str(value.item()).removesuffix(" 00:00:00")
    number = as_float(value)
    if number.is_integer() and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def as_float(value: Any) -> float:
    """A number as a float: infinity for whole numbers beyond all floats, as in text."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def says_missing(word: str) -> bool:
    """Whether a word such as ``n/a`` or ``?``, among numbers or dates, stands for nothing."""
    return word.strip().casefold() in _SAY_MISSING


def number(word: str, written: Written = "numbers") -> float | None:
    """The number that a word is, if it is one. ``1_000`` and ``١`` are none: readers agree."""
    if written == "decimal commas":
        if "." in word:
            return None
        word = word.replace(",", ".")
    if "_" in word or not word.isascii():
        return None
    try:
        return float(word)
    except ValueError:
        return None


def eager_frame(data: Any, *, pass_through: bool = False) -> Any:
    """A data frame as narwhals sees it; what is none is refused, or passed through."""
    try:
        return nw.from_native(data, eager_only=True, pass_through=pass_through)
    except nw.exceptions.DuplicateError:
        # the columns of an Arrow table are its cells
        names = list(getattr(data, "column_names", data.columns))
        raise InputError(twice(names)) from None


def twice(names: Sequence[str]) -> str:
    """That two columns have one name, and which."""
    name = next(name for k, name in enumerate(names) if name in names[:k])
    return f"two columns are called {name!r}: names must be distinct"


def from_series(name: str, series: nw.Series[Any]) -> Column:
    """A column of any table that narwhals reads."""
    # polars takes a name such as ^a.*$ for a pattern, even that of a column alone
    series = series.alias("cells")
    kind = series.dtype
    if kind == nw.Boolean:
        missing = series.is_null().to_numpy().astype(np.bool_)
        values = series.fill_null(False).to_numpy().astype(np.bool_)
        return _column(name, "Boolean", values, missing)
    if kind.is_numeric():
        numbers = series.cast(nw.Float64).to_numpy().astype(np.float64)
        return _column(name, "number", numbers, np.isnan(numbers))
    if kind in (nw.Date, nw.Datetime):
        # the clock on the wall in the column's own zone
        there = series.dt.replace_time_zone(None) if getattr(kind, "time_zone", None) else series
        values = there.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]")
        return _column(name, "date", values, np.isnat(values))
    if kind == nw.String:
        return _text(name, series.to_list())
    if kind in (nw.Categorical, nw.Enum):
        # categories of numbers too: pandas writes them otherwise where a cell is missing
        return _text(name, map(_word, series.to_list()), len(series))
    if kind in (nw.Object, nw.Unknown):
        return from_array(name, np.array(series.to_list(), object))
    raise InputError(f"column {name!r}: {kind} cannot be made Boolean; leave the column out")


def from_array(name: str, values: NDArray[Any]) -> Column:
    """A column of an array."""
    kind = values.dtype.kind
    if kind == "b":
        return _column(name, "Boolean", values, np.zeros(len(values), np.bool_))
    if kind in "iuf":
        numbers = values.astype(np.float64)
        return _column(name, "number", numbers, np.isnan(numbers))
    if kind == "M":
        moments = values.astype("datetime64[us]")
        return _column(name, "date", moments, np.isnat(moments))
    if kind == "c":
        raise InputError("Complex data not supported: leave the column out")
    return _objects(name, [None if _is_missing(value) else value for value in values.tolist()])


def _objects(name: str, values: list[Any]) -> Column:
    present = [value for value in values if value is not None]
    told = [v for v in present if not (isinstance(v, str) and says_missing(v))]
    if len(told) < len(present) and all(isinstance(v, Real | Decimal) for v in told) and told:
        return _objects(name, [None if isinstance(value, str) else value for value in values])
    missing = np.array([value is None for value in values], np.bool_)
    if all(isinstance(value, bool | np.bool_) for value in present):
        return _column(name, "Boolean", np.array([bool(v) for v in values], np.bool_), missing)
    if all(isinstance(value, Real | Decimal) for value in present):
        numbers = np.array([np.nan if v is None else as_float(v) for v in values], np.float64)
        return _column(name, "number", numbers, np.isnan(numbers))
    if all(isinstance(value, datetime.date) for value in present):
        moments = np.array([_on_the_wall(value) for value in values], "datetime64[us]")
        return _column(name, "date", moments, missing)
    for value in present:
        if not isinstance(value, str | Real):
            raise InputError(
                f"column {name!r}: argument must be a string or a number, "
                f"not {type(value).__name__}; leave the column out"
            )
    return _text(
        name, (v if v is None or isinstance(v, str) else spelled(v) for v in values), len(values)
    )


def _word(value: Any) -> str | None:
    if isinstance(value, str) or _is_missing(value):
        return value if isinstance(value, str) else None
    return spelled(value) if isinstance(value, Real) else str(value).removesuffix(" 00:00:00")


def _on_the_wall(moment: Any) -> Any:
    return moment.replace(tzinfo=None) if isinstance(moment, datetime.datetime) else moment


def _is_missing(value: object) -> bool:
    return value is None or value != value or type(value).__name__ in _NAMES_OF_MISSING


def _column(name: str, kind: ColumnKind, values: NDArray[Any], missing: Mask) -> Column:
    written: Written = "numbers" if kind == "number" else "words"
    column = Column(name, kind, values, missing, written=written)
    return replace(column, kind="empty") if missing.all() else column


def _text(name: str, cells: Iterable[str | None], n_rows: int = -1) -> Column:
    index: dict[str, int] = {}

    def code(cell: str | None) -> int:
        # pandas may put NaN for None among strings
        word = cell.strip() if isinstance(cell, str) else ""
        return index.setdefault(word, len(index)) if word else -1

    codes = np.fromiter(map(code, cells), np.int64, n_rows)
    words = sorted(index)
    position = np.empty(len(words) + 1, np.int64)
    position[[index[word] for word in words]] = np.arange(len(words))
    position[-1] = -1
    codes = position[codes]
    return replace(_column(name, "text", codes, codes < 0), words=tuple(words))
