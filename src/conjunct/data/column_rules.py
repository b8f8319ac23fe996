"""Rules that make features of one column: plain data, chosen for a column, applied to any rows."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from math import floor, inf, isfinite, log10, nan
from sys import float_info
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.data.cells import (
    HOURS,
    Column,
    DateOrder,
    DatePart,
    Mask,
    Written,
    has_hours,
    number,
    says_missing,
    spell,
    take_date_part,
)
from conjunct.data.variables import make_distinct
from conjunct.errors import CellError, InputError

if TYPE_CHECKING:
    from conjunct.data.binarizer import Settings

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
Cut = Literal["quantile", "width", "kmeans"]
Floats = NDArray[np.float64]

# fewer rows than this are no evidence that a column numbers them
_FEW = 20

# words in a cell of free text, on average
_PROSE = 3.0

# different words: fewer may be categories with commas in their names
_FEW_LISTS = 6
_TAG_SEPARATORS = ";|,"
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})*")


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
        if value is None or value != value or spell(value) != word:
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
        meanings = [_read_truth(word) for word in text.words]
        if None in meanings:
            _refuse(text, meanings.index(None), "is not Boolean", "write 0/1, true/false or yes/no")
        missing = text.missing | _select_rows(text, [m != m for m in meanings])
        return Applied([_select_rows(text, [m == 1 for m in meanings])], missing)


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
        return [f"{_label_part(self.column, self.part)} = {word}" for word in words]

    @property
    def variable(self) -> str | None:
        """Return what the words are values of; None for one feature, which excludes no other."""
        return _label_part(self.column, self.part) if len(self.names()) > 1 else None

    def describe(self) -> str:
        part = "" if self.part is None else f"{self.part}: "
        rare = ""
        if self.rare:
            fate = "left out" if self.other is None else f"together as {self.other!r}"
            rare = f", {len(self.rare)} rare ones {fate}"
        return f"{part}{len(self.values)} words{rare}"

    def apply(self, column: Column) -> Applied:
        text = _read_words(_take_part(column, self.part), self.written)
        groups = [{value} for value in self.values]
        if self.other is not None:
            groups.append(set(self.rare))
        return Applied(
            [_select_rows(text, [word in group for word in text.words]) for group in groups],
            text.missing,
            _find_unknown(text, {*self.values, *self.rare}),
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
        label = _label_part(self.column, self.part)
        edges = [spell(edge) for edge in self.edges]
        if self.cumulative:
            return [f"{label} ≥ {edge}" for edge in edges]
        inner = [f"{label} in [{low}, {high})" for low, high in pairwise(edges)]
        return [f"{label} < {edges[0]}", *inner, f"{label} ≥ {edges[-1]}"]

    @property
    def variable(self) -> str | None:
        """Return what the intervals are values of; None for steps, which include each other."""
        return None if self.cumulative else _label_part(self.column, self.part)

    def describe(self) -> str:
        part = "" if self.part is None else f"{self.part}: "
        steps = "steps" if self.cumulative else "cut"
        return f"{part}{steps} at {', '.join(map(spell, self.edges))}"

    def apply(self, column: Column) -> Applied:
        numbers, missing = _read_numbers(_take_part(column, self.part), self.written)
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
    """Return what a word such as ``Yes`` or ``0`` says, or None if neither yes nor no."""
    return _MEANING.get(word.strip().casefold())


def _read_truth(word: str) -> float | None:
    """Return 1 for yes, 0 for no, NaN for a missing number, and None for anything else."""
    said = meaning(word)
    if said is not None:
        return float(said)
    value = number(word.replace(",", "."))
    if value is None and says_missing(word):
        return nan
    return None if value is None or (value not in (0, 1) and value == value) else value


def is_yes_or_no(words: Iterable[str]) -> bool:
    """Return True if words spell one pair: ``Yes`` and ``no``, but not ``yes`` and ``f``."""
    spellings = {word.strip().casefold() for word in words}
    return any(spellings <= no | yes for no, yes in PAIRS)


def _label_part(column: str, part: DatePart | None) -> str:
    return column if part is None else f"{column} {part}"


def _take_part(column: Column, part: DatePart | None) -> Column:
    if part is None or column.kind == "empty":
        return column
    if column.kind != "date":
        text = column.as_text()
        _refuse(text, 0, "is not a date", "write dates as 2024-12-31")
    return take_date_part(column, part)


def _read_numbers(column: Column, written: Written) -> tuple[NDArray[np.float64], Mask]:
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


def _read_words(column: Column, written: Written) -> Column:
    """Return the words of a column; numbers in their shortest spelling."""
    if written == "words" or column.kind == "empty":
        return column.as_text()
    if column.kind == "Boolean":
        return replace(column, kind="number", values=column.values.astype(np.float64)).as_text()
    text = column.as_text()
    if column.kind != "text":
        return text
    values = [nan if says_missing(word) else number(word, written) for word in text.words]
    words = [
        word if value is None else "" if value != value else spell(value)
        for word, value in zip(text.words, values, strict=True)
    ]
    known = sorted(set(words) - {""})
    position = {word: k for k, word in enumerate(known)} | {"": -1}
    codes = np.array([*(position[word] for word in words), -1], np.int64)[text.values]
    return replace(text, values=codes, missing=codes < 0, words=tuple(known))


def _select_rows(text: Column, chosen: Sequence[bool]) -> Mask:
    """Return the rows whose word is one of those chosen."""
    if not text.words:
        return np.zeros(len(text), np.bool_)
    # a missing cell is position −1: the False at the end
    return np.asarray(np.array([*chosen, False])[text.values])


def _find_unknown(text: Column, known: set[str]) -> tuple[str, ...]:
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


def iter_feature_names(rules: Sequence[ColumnRule]) -> Iterator[tuple[str, str]]:
    """Yield each feature with the column it comes from."""
    for rule in rules:
        for name in rule.names():
            yield name, rule.column


def iter_feature_variables(rules: Sequence[ColumnRule]) -> Iterator[tuple[str, str | None]]:
    """Yield each feature with the variable that it is a value of, if it is one.

    A column may be called as a part of a date is, and is another variable: it gets a number.
    """
    used: set[str] = set()
    for rule in rules:
        variable = rule.variable
        if variable is not None:
            variable = make_distinct(used, variable)
            used.add(variable)
        for name in rule.names():
            yield name, variable


def find_edges(values: Floats, how: Cut, n_bins: int) -> list[float]:
    """Find edges between at most ``n_bins`` intervals, none of them empty.

    An edge may be any number above the value before it and not above the value after it: which
    rows lie on which side is the same. The one with the fewest digits is taken.
    """
    distinct, counts = np.unique(values, return_counts=True)
    wanted = {"quantile": _quantile_edges, "width": _width_edges, "kmeans": _kmeans_edges}[how]
    # numbers of at most 1 have ranges and squares that are floats; powers of 2 change no digit
    finite = distinct[np.isfinite(distinct)]
    power = int(np.frexp(np.abs(finite).max(initial=0))[1])
    small = wanted(np.ldexp(distinct, -power), counts, n_bins)
    # the first value at or above each wanted edge; before the very first there is nothing to cut
    after = np.unique(np.searchsorted(np.ldexp(distinct, -power), small))
    inner = after[(after > 0) & (after < len(distinct))]
    edges = (round_between(float(distinct[k - 1]), float(distinct[k])) for k in inner)
    # above the largest number there is only infinity, and an edge is finite
    return [edge for edge in edges if isfinite(edge)]


def round_between(low: float, high: float) -> float:
    """Return the number above ``low`` and not above ``high`` that has the fewest digits.

    Examples
    --------
    >>> round_between(28.41, 31.27)
    30.0
    >>> round_between(0.12345, 0.12361)
    0.1235
    """
    if not isfinite(low):
        return high if isfinite(high) else 0.0
    if not isfinite(high):
        if low == float_info.max:
            return inf
        high = 0.0 if low < 0 else min(max(1.0, 2 * low), float_info.max)
    top = floor(log10(max(abs(low), abs(high)))) + 1
    exact = Decimal(high)
    for power in range(top, top - 20, -1):
        for step in (Decimal(1), Decimal("0.5"), Decimal("0.2")):
            unit = step.scaleb(power)
            rounded = float((exact / unit).to_integral_value(ROUND_FLOOR) * unit)
            if low < rounded <= high:
                return rounded + 0.0  # no minus before a zero
    return high


def _quantile_edges(distinct: Floats, counts: NDArray[Any], n_bins: int) -> Floats:
    """Return the values below which 1/k, 2/k, … of the rows lie."""
    below = np.cumsum(counts) / counts.sum()
    shares = np.arange(1, n_bins) / n_bins
    # rows of one value stay together: the cut goes after the value that reaches the share
    positions = np.searchsorted(below, shares - 1e-12) + 1
    return np.append(distinct, inf)[np.minimum(positions, len(distinct))]


def _width_edges(distinct: Floats, counts: NDArray[Any], n_bins: int) -> Floats:
    finite = distinct[np.isfinite(distinct)]
    return np.linspace(finite[0], finite[-1], n_bins + 1)[1:-1] if len(finite) else finite


def _kmeans_edges(distinct: Floats, counts: NDArray[Any], n_bins: int) -> Floats:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    finite = np.isfinite(distinct)
    values, weights = distinct[finite].reshape(-1, 1), counts[finite]
    if len(values) <= 1:
        return values[:, 0]
    n_clusters = min(n_bins, len(values))
    # starting from equal widths makes the outcome the same every time
    ends = np.linspace(values[0, 0], values[-1, 0], n_clusters + 1)
    start = ((ends[1:] + ends[:-1]) / 2).reshape(-1, 1)
    with warnings.catch_warnings():
        # fewer clusters than asked for are fewer intervals: nothing to warn of
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(n_clusters, init=start, n_init=1).fit(values, sample_weight=weights)
    centres: Floats = np.sort(found.cluster_centers_[:, 0])
    return (centres[1:] + centres[:-1]) / 2


DateRule = TypeVar("DateRule", CategoryRule, NumberRule)


def rules_for(column: Column, settings: Settings) -> list[ColumnRule] | Dropped:
    """Return the rules that make features of a column, or why it makes none."""
    if column.name in settings.edges:
        edges = [float(edge) for edge in settings.edges[column.name]]
        return [_make_number_rule(column, edges, settings)]
    if column.kind == "empty":
        return Dropped(column.name, "every cell is empty")
    if column.name in settings.words:
        column = column.as_text()
    if column.kind == "Boolean":
        return [BooleanRule(column.name)]
    if column.kind == "number":
        return _choose_number_rules(column, settings)
    if column.kind == "date":
        return _choose_date_rules(column, settings)
    return _choose_word_rules(column, settings)


def _choose_number_rules(
    column: Column, settings: Settings, part: DatePart | None = None
) -> list[ColumnRule] | Dropped:
    present = column.values[~column.missing]
    distinct = np.unique(present)
    if part is None and set(distinct) <= {0.0, 1.0}:
        return [BooleanRule(column.name)]
    if len(distinct) == 1:
        return Dropped(column.name, f"every cell is {spell(distinct[0])}")
    may_count_rows = part is None and len(present) >= _FEW and present[0] in (0, 1)
    if may_count_rows and (present == present[0] + np.arange(len(present))).all():
        return Dropped(column.name, "it numbers the rows")
    if len(distinct) <= settings.n_bins:
        values = [spell(value) for value in distinct]
        written = "words" if part is not None else column.written
        rule = CategoryRule(column.name, part=part, values=values, written=written)
        return [_copy_date_spelling(rule, column)]
    edges = find_edges(present, settings.numbers, settings.n_bins)
    if not edges:
        return Dropped(column.name, "no cut leaves rows on both sides")
    return [_make_number_rule(column, edges, settings, part)]


def _make_number_rule(
    column: Column, edges: list[float], settings: Settings, part: DatePart | None = None
) -> ColumnRule:
    rule = NumberRule(
        column.name,
        part=part,
        edges=edges,
        cumulative=settings.cumulative,
        written="decimal commas" if column.written == "decimal commas" else "numbers",
    )
    return _copy_date_spelling(rule, column)


def _copy_date_spelling(rule: DateRule, column: Column) -> DateRule:
    if rule.part is None or (column.order == "year first" and not column.odd):
        return rule
    return msgspec.structs.replace(rule, order=column.order, odd=list(column.odd))


def _choose_word_rules(
    column: Column, settings: Settings, part: DatePart | None = None
) -> list[ColumnRule] | Dropped:
    counts = column.counts()
    words = [word for word, count in zip(column.words, counts, strict=True) if count]
    if part is None and is_yes_or_no(words):
        return [BooleanRule(column.name)]
    if len(words) == 1:
        return Dropped(column.name, f"every cell is {words[0]!r}")
    if len(words) == 2 and part is None:
        # of two words, neither is rare
        return [CategoryRule(column.name, values=words, written=column.written)]
    n_present = int(counts.sum())
    if column.name in settings.words:
        return _make_categories(column, settings, part)
    # a few tags make few different lists
    if len(words) >= _FEW_LISTS:
        _refuse_lists(column.name, words)
    if len(words) <= settings.max_categories:
        return _make_categories(column, settings, part)
    if len(words) > n_present / 2:
        _refuse_prose(column, words)
        return Dropped(column.name, f"{len(words)} different words in {n_present} cells")
    return _make_categories(column, settings, part)


def _make_categories(
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
    other = "other" if rare and settings.rare == "group" else None
    while other in values:
        other += " values"
    rule = CategoryRule(column.name, part=part, values=values, rare=rare, other=other)
    return [_copy_date_spelling(rule, column)]


def _choose_date_rules(column: Column, settings: Settings) -> list[ColumnRule] | Dropped:
    rules: list[ColumnRule] = []
    for part in settings.parts:
        if part == "hour":
            if has_hours(column):
                hours = NumberRule(column.name, part=part, edges=list(HOURS))
                rules.append(_copy_date_spelling(hours, column))
            continue
        made = (_choose_number_rules if part == "year" else _choose_word_rules)(
            take_date_part(column, part), settings, part
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
            f"column {name!r} holds free text such as {_shorten(words[0])!r}, which makes no "
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
                f"column {name!r} holds lists of tags such as {_shorten(one)!r}: read it as "
                f"tags (tags={name!r}; at a prompt: --tags {name!r}), take each list as one word "
                f"(words=[{name!r}], --words {name!r}), or exclude it"
            )


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
