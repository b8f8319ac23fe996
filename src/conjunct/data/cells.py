"""Cells of any table: which are missing, Boolean, numbers, words or dates."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from conjunct.columns import StorageKind
from conjunct.errors import CellError, InputError

ColumnKind = Literal["Boolean", "number", "text", "date", "tags", "other", "empty"]
Mask = NDArray[np.bool_]

Written = Literal["words", "numbers", "decimal commas"]
"""The spelling of words or numbers in a column of text."""

DateOrder = Literal["year first", "day first", "month first", "digits", "clock"]
"""The spelling of dates: 2024-12-31, 31.12.2024, 12/31/2024, 20241231; or 14:35, times alone."""

BLANKS = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""The characters that str.strip removes. Other libraries trim fewer."""

_SAY_MISSING = frozenset(
    (
        *("", "-", "--", "---", "–", "—", "?", "??", ".", "..", "n/a", "na", "n.a.", "n. a."),
        *("#n/a", "#na", "<na>", "nan", "nat", "null", "none", "nil", "missing", "unknown"),
        *("blank", "(blank)", "undefined", "no data", "k.a.", "k. a.", "not available"),
        *("not applicable", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"),
    )
)
_FACTORS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6}
_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF"
_AMOUNTS = {
    written: re.compile(
        rf"(?P<sign>[+-])?(?:(?P<before>{_CURRENCY})\s?)?"
        rf"(?P<whole>[0-9]{{1,3}}(?:{thousands}[0-9]{{3}})+|[0-9]*)(?P<part>{point}[0-9]*)?"
        rf"(?P<power>[eE][+-]?[0-9]+)?(?P<factor>[kKM])?(?:\s?(?P<after>{_CURRENCY}|%))?"
    )
    for written, thousands, point in (
        ("numbers", r"[,\u00a0\u202f]", r"\."),
        ("decimal commas", r"[.\u00a0\u202f']", ","),
    )
}
DatePart = Literal["year", "month", "weekday", "hour"]
PARTS: tuple[DatePart, ...] = get_args(DatePart)

# calendar.month_name depends on the locale
MONTHS: tuple[str, ...] = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WEEKDAYS: tuple[str, ...] = (
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
)
HOURS = (6.0, 12.0, 18.0)

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
"""Words for no and yes. A column of one such pair becomes one feature with the same name."""

_MEANING = {word: bool(k) for pair in PAIRS for k, words in enumerate(pair) for word in words}
Missing = Literal["raise", "false", "pairwise"]
"""Options for missing cells: refuse them, read them as false, or keep them missing."""

MISSING: tuple[Missing, ...] = get_args(Missing)
_ANY = "pass a data frame: its columns of words, numbers and dates become Boolean"
MISSING_ADVICE = "fill it in, or pass missing='pairwise' or 'false' (--missing on the command line)"


@dataclass(frozen=True, eq=False)
class Column:
    """A column whose cells are of one kind.

    Text holds positions in ``words``, and tags hold positions in ``lists``: −1 where missing.
    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    missing: Mask
    words: tuple[str, ...] = ()
    written: Written = "words"
    order: DateOrder = "year first"
    odd: tuple[str, ...] = ()
    """Other cells in a column of dates, which count as missing."""
    is_category: bool = False
    """True if the table declares the cells as categories."""
    lists: tuple[tuple[str, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def as_text(self) -> Column:
        """Return the cells as words, with numbers and dates in their shortest spelling."""
        if self.kind in ("text", "empty", "other"):
            return self
        if self.kind == "tags":
            lists = [", ".join(self.lists[code]) if code >= 0 else None for code in self.values]
            return _make_text_column(self.name, lists)
        distinct, codes = np.unique(self.values[~self.missing], return_inverse=True)
        values = np.full(len(self), -1, np.int64)
        values[~self.missing] = codes
        return Column(self.name, "text", values, self.missing, tuple(map(spell, distinct)))

    def cells(self) -> list[str | None]:
        """Return the cells as words, None where missing."""
        text = self.as_text()
        words = [*text.words, None]
        return [words[code] for code in text.values] if text.words else [None] * len(self)

    def counts(self) -> NDArray[np.int64]:
        """Count how often each word occurs."""
        return np.bincount(self.values[~self.missing], minlength=len(self.words))


def spell(value: Any) -> str:
    """Return a cell in its shortest spelling: ``4``, ``0.5``, ``true``, ``2026-11-16``."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.datetime64):
        return str(value.item()).removesuffix(" 00:00:00")
    number = as_float(value)
    if number.is_integer() and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def as_float(value: Any) -> float:
    """Return a number as a float: infinity for integers that are too large."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def is_missing(value: object) -> bool:
    """Return True for None, NaN, NaT and pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    differs: object = value != value
    # an array is compared cell by cell, and is never a missing value
    return isinstance(differs, bool | np.bool_) and bool(differs)


def says_missing(word: str) -> bool:
    """Return True if a word such as ``n/a`` or ``?`` among numbers or dates means missing."""
    return word.strip().casefold() in _SAY_MISSING


def meaning(word: str) -> bool | None:
    """Return True for yes, False for no, and None for any other word."""
    return _MEANING.get(word.strip().casefold())


def is_yes_or_no(words: Iterable[str]) -> bool:
    """Return True if all words are of one pair: ``Yes`` and ``no``, but not ``yes`` and ``f``."""
    spellings = {word.strip().casefold() for word in words}
    return any(spellings <= no | yes for no, yes in PAIRS)


def plain_number(word: str) -> float | None:
    """Parse a number. Return None if readers of files disagree, as on ``1_000`` and ``١``."""
    if "_" in word or not word.isascii():
        return None
    try:
        return float(word)
    except ValueError:
        return None


def number(word: str, written: Written = "numbers") -> float | None:
    """Parse a number as a person reads it, such as ``$1,002.50``, ``45%`` or ``1.5k``.

    Examples
    --------
    >>> number("1,002"), number("1,002", "decimal commas"), number("-$1.5k"), number("4th")
    (1002.0, 1.002, -1500.0, None)
    """
    if written == "numbers":
        value = plain_number(word)
        if value is not None:
            return value
    amount = _AMOUNTS[written].fullmatch(word)
    if amount is None:
        return plain_number(word) if "," not in word and "." not in word else None
    sign, digits, decimals, power, factor = amount.group("sign", "whole", "part", "power", "factor")
    whole = re.sub(r"\D", "", digits or "")
    decimals = (decimals or ".")[1:]
    if not whole and not decimals:
        return None
    exact = f"{sign or ''}{whole or 0}.{decimals or 0}{power or ''}"
    return float(exact) * _FACTORS[factor or ""]


def unit_of(word: str, written: Written = "numbers") -> str:
    """Return the currency or percent sign of a number, or an empty string."""
    amount = _AMOUNTS[written].fullmatch(word)
    return "" if amount is None else amount["before"] or amount["after"] or ""


def as_narwhals(data: Any) -> Any:
    """Wrap a table in narwhals. Return anything else unchanged."""
    try:
        return nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        # an Arrow table keeps its names in column_names
        names = list(getattr(data, "column_names", data.columns))
        raise InputError(describe_duplicate(names)) from None


def describe_duplicate(names: Sequence[str]) -> str:
    """Return a message that names the first column name that occurs twice."""
    name = next(name for k, name in enumerate(names) if name in names[:k])
    return f"two columns are called {name!r}: names must be distinct"


def from_series(name: str, series: nw.Series[Any]) -> Column:
    """Convert a series of narwhals."""
    # polars reads a name such as ^a.*$ as a pattern, even for a single column
    series = series.alias("cells")
    kind = series.dtype
    if kind == nw.Boolean:
        missing = series.is_null().to_numpy().astype(np.bool_)
        values = series.fill_null(False).to_numpy().astype(np.bool_)
        return _make_column(name, "Boolean", values, missing)
    if kind.is_numeric():
        return from_array(name, series.cast(nw.Float64).to_numpy().astype(np.float64))
    if kind in (nw.Date, nw.Datetime):
        # local time in the column's own zone
        zone = getattr(kind, "time_zone", None)
        if zone and (zone[0] in "+-" or "pyarrow" in str(getattr(series.to_native(), "dtype", ""))):
            # cell by cell: Arrow before 22 refuses such zones, and pandas before 3 returns UTC for
            # columns of Arrow
            cells = (None if is_missing(cell) else cell for cell in series.to_list())
            walls = [None if cell is None else cell.replace(tzinfo=None) for cell in cells]
            values = np.array(walls, "datetime64[us]")
        else:
            there = series.dt.replace_time_zone(None) if zone else series
            values = there.cast(nw.Datetime("us")).to_numpy()
        return from_array(name, values.astype("datetime64[us]"))
    if kind == nw.String:
        return _make_text_column(name, series.to_list())
    if kind in (nw.Categorical, nw.Enum):
        # numbers too: pandas spells them differently if a cell is missing
        words = _make_text_column(name, map(_spell_category, series.to_list()), len(series))
        return replace(words, is_category=True)
    if kind in (nw.Object, nw.Unknown, nw.List, nw.Array, nw.Time):
        return _from_objects(name, series.to_list())
    return _make_other_column(name, len(series), str(kind))


def from_array(name: str, values: NDArray[Any]) -> Column:
    """Convert a column of an array."""
    kind = values.dtype.kind
    if kind == "b":
        return _make_column(name, "Boolean", values, np.zeros(len(values), np.bool_))
    if kind in "iuf":
        return _make_column(name, "number", values.astype(np.float64))
    if kind == "M":
        return _make_column(name, "date", values.astype("datetime64[us]"))
    if kind == "c":
        raise InputError("Complex data not supported: leave the column out")
    return _from_objects(name, values.tolist())


def _from_objects(name: str, cells: Iterable[Any]) -> Column:
    values = [None if is_missing(cell) else cell for cell in cells]
    present = [value for value in values if value is not None]
    known = [v for v in present if not (isinstance(v, str) and says_missing(v))]
    if known and len(known) < len(present) and all(isinstance(v, Real | Decimal) for v in known):
        values = [None if isinstance(value, str) else value for value in values]
        present = known
    missing = np.array([value is None for value in values], np.bool_)
    if all(isinstance(value, bool | np.bool_) for value in present):
        return _make_column(name, "Boolean", np.array([bool(v) for v in values], np.bool_), missing)
    if all(isinstance(value, Real | Decimal) for value in present):
        return from_array(name, np.array([np.nan if v is None else as_float(v) for v in values]))
    if all(isinstance(value, datetime.date) for value in present):
        # local time in the zone of each cell
        walls = [v.replace(tzinfo=None) if isinstance(v, datetime.datetime) else v for v in values]
        return from_array(name, np.array(walls, "datetime64[us]"))
    if all(isinstance(value, datetime.time) for value in present):
        day = datetime.date(1970, 1, 1)
        walls = [None if v is None else datetime.datetime.combine(day, v) for v in values]
        return replace(from_array(name, np.array(walls, "datetime64[us]")), order="clock")
    if all(isinstance(value, list | tuple | set | frozenset | np.ndarray) for value in present):
        index: dict[tuple[str, ...], int] = {}
        lists = (None if cell is None else tuple(clean_tags(cell)) for cell in values)
        codes = [-1 if tags is None else index.setdefault(tags, len(index)) for tags in lists]
        column = _make_column(name, "tags", np.array(codes, np.int64), missing)
        return replace(column, lists=tuple(index))
    for value in present:
        if not isinstance(value, str | Real):
            return _make_other_column(name, len(values), type(value).__name__)
    return _make_text_column(
        name, (v if v is None or isinstance(v, str) else spell(v) for v in values), len(values)
    )


def _make_other_column(name: str, n_rows: int, kind: str) -> Column:
    return Column(name, "other", np.zeros(n_rows), np.zeros(n_rows, np.bool_), words=(kind,))


def clean_tags(cell: Iterable[Any]) -> list[str]:
    """Return the tags of a list as text, without empty ones. Sort the tags of a set."""
    tags = (tag if isinstance(tag, str) else _spell_category(tag) for tag in cell)
    words = [word for tag in tags if tag is not None and (word := tag.strip())]
    return sorted(words) if isinstance(cell, set | frozenset) else words


def _spell_category(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    return spell(value) if isinstance(value, Real) else str(value).removesuffix(" 00:00:00")


def _make_column(
    name: str, kind: ColumnKind, values: NDArray[Any], missing: Mask | None = None
) -> Column:
    """Return a column. By default, NaN and NaT are missing."""
    missing = np.isnan(values) if missing is None else missing
    written: Written = "numbers" if kind == "number" else "words"
    column = Column(name, kind, values, missing, written=written)
    return replace(column, kind="empty") if missing.all() else column


def _make_text_column(name: str, cells: Iterable[str | None], n_rows: int = -1) -> Column:
    index: dict[str, int] = {}

    class Codes(dict[str | None, int]):
        """The code of each distinct cell."""

        def __missing__(self, cell: str | None) -> int:
            # pandas may write a new NaN for each missing string
            if not isinstance(cell, str):
                return -1
            word = cell.strip()
            self[cell] = code = index.setdefault(word, len(index)) if word else -1
            return code

    codes = np.fromiter(map(Codes().__getitem__, cells), np.int64, n_rows)
    words = sorted(index)
    position = np.empty(len(words) + 1, np.int64)
    position[[index[word] for word in words]] = np.arange(len(words))
    position[-1] = -1
    codes = position[codes]
    return replace(_make_column(name, "text", codes, codes < 0), words=tuple(words))


def take_date_part(column: Column, part: DatePart) -> Column:
    """Return one part of dates: numbers for year and hour, words for month and weekday."""
    days = column.values.astype("datetime64[D]")
    if part in ("year", "hour"):
        numbers = (column.values - days) / np.timedelta64(1, "h")
        if part == "year":
            numbers = days.astype("datetime64[Y]").astype(np.float64) + 1970
        numbers = np.where(column.missing, np.nan, numbers)
        return replace(column, kind="number", values=numbers)
    codes, words = days.astype("datetime64[M]").astype(np.int64) % 12, MONTHS
    if part == "weekday":
        # 1 January 1970 was a Thursday
        codes, words = (days.astype(np.int64) + calendar.THURSDAY) % 7, WEEKDAYS
    return replace(column, kind="text", values=np.where(column.missing, -1, codes), words=words)


class Cells(NamedTuple):
    """The true cells, and the cells that stay missing."""

    true: NDArray[np.bool_]
    missing: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class CellRules:
    """Rules for reading cells as true, false or missing, and for storing their columns.

    If there is a ``threshold``, the values above it are true.
    """

    threshold: float | None = None
    missing: Missing = "pairwise"
    storage: StorageKind = "auto"
    n_jobs: int | None = None

    def read(self, block: NDArray[Any], names: Sequence[str], first_row: int = 0) -> Cells:
        """Read a block of cells. Error messages count rows from ``first_row``."""
        if block.dtype == np.bool_:
            return Cells(block)
        numbers = block if block.dtype.kind in "iufc" else _as_numbers(block, names, first_row)
        if numbers.dtype.kind == "c":
            raise InputError("Complex data not supported: values must be Boolean or 0/1")
        gone = None
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            gone = np.isnan(numbers)
            bad = np.isinf(numbers)
            _refuse(bad | gone if self.missing == "raise" else bad, numbers, names, first_row)
        kept = gone if self.missing == "pairwise" else None
        if self.threshold is not None:
            return Cells(self._is_above(numbers), kept)
        other = (numbers != 0) & (numbers != 1)
        _refuse(other if gone is None else other & ~gone, numbers, names, first_row)
        return Cells(np.asarray(numbers == 1), kept)

    def read_stored(self, cells: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Return which stored cells of a sparse matrix are true.

        Return None if all cells have to be read, or if one of them is invalid.
        """
        if cells.dtype == np.bool_:
            return cells
        below_zero = self.threshold is not None and self.threshold < 0
        if cells.dtype.kind not in "iuf" or below_zero:
            return None
        gone = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), np.bool_)
        if gone.any() and self.missing != "false":
            return None
        if self.threshold is not None:
            return None if np.isinf(cells).any() else self._is_above(cells)
        is_boolean = (cells == 0) | (cells == 1) | gone
        return np.asarray(cells == 1) if is_boolean.all() else None

    def _is_above(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        # compared with a Python number, NumPy would use the precision of the column
        return np.asarray(numbers > np.float64(as_float(self.threshold)))


def _as_numbers(block: NDArray[Any], names: Sequence[str], first_row: int) -> NDArray[np.float64]:
    """Convert objects to numbers: None becomes NaN, and strings raise an error."""
    if block.dtype.kind != "O":
        block = block.astype(object)
    never = (str, bytes, datetime.date, datetime.timedelta)
    is_other = np.frompyfunc(lambda value: isinstance(value, never), 1, 1)(block).astype(bool)
    # '0' among 'yes' and 'no' is text too, but the user has to change the other words
    words = block[is_other]
    is_word = is_other.copy()
    spelled = frozenset().union(*PAIRS[0])
    is_word[is_other] = [str(word).strip().lower() not in spelled for word in words]
    _refuse(is_word if is_word.any() else is_other, block, names, first_row)
    missing = np.frompyfunc(is_missing, 1, 1)(block).astype(bool)
    numbers = np.where(missing, np.nan, block)
    try:
        return numbers.astype(np.float64)
    except OverflowError:
        return np.asarray(np.frompyfunc(as_float, 1, 1)(numbers), np.float64)


def _refuse(bad: Mask, values: NDArray[Any], names: Sequence[str], first_row: int) -> None:
    if not bad.any():
        return
    row, column = (int(k) for k in np.argwhere(bad)[0])
    value = values[row, column].item() if values.dtype.kind in "iuf" else values[row, column]
    advice = f"use True/False or 0/1, pass threshold= to split all columns at one number, or {_ANY}"
    if isinstance(value, str | datetime.date):
        advice = _ANY
    problem = f"{value!r} is not Boolean"
    if value != value:
        problem, advice = "the value is missing (NaN)", MISSING_ADVICE
    elif values.dtype.kind == "f" and np.isinf(value):
        problem, advice = f"the value is infinity ({value!r})", "it must be Boolean or 0/1"
    raise CellError(names[column], first_row + row, value, problem, advice)
