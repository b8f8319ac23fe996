"""Rules that make features from one column: a fit chooses them, and they apply to any rows."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from itertools import pairwise
from math import floor, inf, isfinite, log10, nan
from sys import float_info
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

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
    is_yes_or_no,
    meaning,
    number,
    plain_number,
    says_missing,
    spell,
    take_date_part,
)
from conjunct.data.inference import (
    DATE_ADVICE,
    FEW,
    PROSE,
    Remark,
    drop_words,
    find_tag_separator,
    infer,
    is_whole,
    parse_moment,
    read_digit_dates,
    split_tags,
    to_dates,
)
from conjunct.data.variables import make_distinct
from conjunct.errors import CellError, ConjunctWarning

if TYPE_CHECKING:
    from conjunct.data.binarizer import Binarizer

Binning = Literal["quantile", "width", "kmeans"]
Floats = NDArray[np.float64]

# at most this many distinct whole numbers, in this range, become values instead of intervals
_FEW_VALUES = 10
_NEAR = 100
# more remarks about missing words than these become one
_MOST_REMARKS = 2
_USUAL_BINS = 4

# the largest mean distance of row numbers
_GAP = 10

# the maximum number of tags of one column
_MOST_TAGS = 1000

# the share of an interval's rows that may change intervals for a round edge
_MOVED = 0.2

# names of columns that name or number the rows
_ROW_NAMES = re.compile(r"|unnamed: ?\d+|row[ _.]?(names?|numbers?|nums?|ids?)|level_0", re.I)
_ID_NAMES = re.compile(r"(?:.*[ _.-])?(?:id|ids|uuid|guid)|.*[a-z](?:Id|ID)", re.DOTALL)
_YEARS = (1500, 2100)


class Applied(msgspec.Struct, frozen=True):
    """The features of one column, and its words that the rule does not know."""

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

    @property
    def variable(self) -> str | None:
        """Return the variable of the features; None if they do not exclude each other."""
        return None


class BooleanRule(_Rule, frozen=True, tag="boolean"):
    """One feature with the name of its column, from Booleans, 0/1, or words such as yes and no."""

    def names(self) -> list[str]:
        return [self.column]

    def describe(self) -> str:
        return "one tag"

    def apply(self, column: Column) -> Applied:
        if column.kind == "Boolean":
            return Applied([column.values], column.missing)
        text = column.as_text()
        meanings: list[float] = []
        for k, word in enumerate(text.words):
            said: float | None = meaning(word)
            if said is None:
                value = plain_number(word.replace(",", "."))
                said = nan if value is None and says_missing(word) else value
            if said is None or (said not in (0, 1) and said == said):
                _refuse(text, k, "is not Boolean", "write 0/1, true/false or yes/no")
            meanings.append(said)
        missing = text.missing | _select_rows(text, [m != m for m in meanings])
        return Applied([_select_rows(text, [m == 1 for m in meanings])], missing)


class CategoryRule(_Rule, frozen=True, tag="categories", kw_only=True):
    """A feature ``column = word`` for each word, and one feature for all rare words."""

    part: DatePart | None = None
    values: list[str]
    rare: list[str] = []
    other: str | None = None
    written: Written = "words"
    order: DateOrder = "year first"
    odd: list[str] = []

    def __post_init__(self) -> None:
        # a damaged file may hold other words among numbers, or numbers in other spellings
        for word in (*self.values, *self.rare) if self.written != "words" else ():
            value = plain_number(word)
            if value is None or value != value or spell(value) != word:
                raise ValueError(f"{word[:40]!r} is not a number in its shortest spelling")

    def names(self) -> list[str]:
        words = self.values if self.other is None else [*self.values, self.other]
        return [f"{_label_part(self.column, self.part)} = {word}" for word in words]

    @property
    def variable(self) -> str | None:
        return _label_part(self.column, self.part) if len(self.names()) > 1 else None

    def describe(self) -> str:
        part = "" if self.part is None else f"{self.part}: "
        rare = ""
        if self.rare:
            fate = "left out" if self.other is None else f"grouped as {self.other!r}"
            rare = f", {len(self.rare)} rare ones {fate}"
        noun = "words" if self.part is None and self.written == "words" else "values"
        return f"{part}{len(self.values)} {noun}{rare}"

    def apply(self, column: Column) -> Applied:
        text = _read_words(_take_part(column, self), self.written)
        groups = [{value} for value in self.values]
        if self.other is not None:
            groups.append(set(self.rare))
        return Applied(
            [_select_rows(text, [word in group for word in text.words]) for group in groups],
            text.missing,
            _find_unknown(text, {*self.values, *self.rare}),
        )


class NumberRule(_Rule, frozen=True, tag="numbers", kw_only=True):
    """Intervals between edges, ``column in [30, 45)``, or a step ``column ≥ 30`` for each edge."""

    part: DatePart | None = None
    edges: list[float]
    cumulative: bool = False
    written: Literal["numbers", "decimal commas"] = "numbers"
    order: DateOrder = "year first"
    odd: list[str] = []

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in pairwise([-inf, *self.edges, inf]))
        if not self.edges or not rising:
            raise ValueError(f"the edges of column {self.column!r} must be finite and ascending")

    def names(self) -> list[str]:
        label = _label_part(self.column, self.part)
        edges = [spell(edge) for edge in self.edges]
        if self.cumulative:
            return [f"{label} ≥ {edge}" for edge in edges]
        inner = [f"{label} in [{low}, {high})" for low, high in pairwise(edges)]
        return [f"{label} < {edges[0]}", *inner, f"{label} ≥ {edges[-1]}"]

    @property
    def variable(self) -> str | None:
        # steps overlap
        return None if self.cumulative else _label_part(self.column, self.part)

    def describe(self) -> str:
        part = "" if self.part is None else f"{self.part}: "
        steps = "steps" if self.cumulative else "cut"
        return f"{part}{steps} at {', '.join(map(spell, self.edges))}"

    def apply(self, column: Column) -> Applied:
        column = _take_part(column, self)
        if column.kind in ("number", "Boolean"):
            numbers, missing = column.values.astype(np.float64), column.missing
        else:
            text = column.as_text()
            # a missing cell is position −1: the NaN at the end
            table = np.full(len(text.words) + 1, nan)
            for k, word in enumerate(text.words):
                value = number(word, self.written)
                if value is None and not says_missing(word):
                    _refuse(text, k, "is not a number", "correct it, or leave the cell empty")
                table[k] = nan if value is None else value
            numbers = table[text.values] if column.kind != "empty" else np.full(len(column), nan)
            missing = np.isnan(numbers)
        position = np.searchsorted(self.edges, numbers, side="right")
        position[missing] = -1
        steps = range(1, len(self.edges) + 1)
        if self.cumulative:
            return Applied([position >= k for k in steps], missing)
        return Applied([position == k for k in (0, *steps)], missing)


class TagsRule(_Rule, frozen=True, tag="tags", kw_only=True):
    """A feature ``column: tag`` for each tag. A row with a missing list has no tags."""

    values: list[str]
    separator: str | None = None
    """The separator of tags in text, ``[]`` for lists in brackets; None if cells are lists."""
    n_rare: int = 0

    def names(self) -> list[str]:
        return [f"{self.column}: {tag}" for tag in self.values]

    def describe(self) -> str:
        rare = f", {self.n_rare} rare ones left out" if self.n_rare else ""
        return f"{len(self.values)} tags{rare}"

    def apply(self, column: Column) -> Applied:
        tags = _read_tags(column, self.separator)
        having: dict[str, list[int]] = {tag: [] for tag in self.values}
        unknown: dict[str, None] = {}
        for k, cell in enumerate(tags.lists):
            for tag in cell:
                if tag in having:
                    having[tag].append(k)
                elif not self.n_rare:
                    unknown[tag] = None
        found = []
        for codes in having.values():
            # a missing cell is position −1: the False at the end
            has_tag = np.zeros(len(tags.lists) + 1, np.bool_)
            has_tag[codes] = True
            found.append(has_tag[tags.values])
        return Applied(found, np.zeros(len(column), np.bool_), tuple(unknown))


ColumnRule = BooleanRule | CategoryRule | NumberRule | TagsRule


class Dropped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column that makes no feature, and the reason."""

    column: str
    reason: str


def _label_part(column: str, part: DatePart | None) -> str:
    # the year of dates in a column called Year keeps that name
    if part is None or (part == "year" and column.casefold() == part):
        return column
    return f"{column} {part}"


def _take_part(column: Column, rule: CategoryRule | NumberRule) -> Column:
    if rule.part is None or column.kind == "empty":
        return column
    if column.kind == "text":
        column = drop_words(column, rule.odd)
        column = drop_words(column, [word for word in column.words if says_missing(word)])
        bad = [not parse_moment(word, rule.order) for word in column.words]
        if any(bad):
            _refuse(column, bad.index(True), "is not a date", DATE_ADVICE[rule.order])
        column = to_dates(column, rule.order)
    elif column.kind == "number" and rule.order == "digits":
        column = read_digit_dates(column, strict=False) or column
    if column.kind != "date":
        _refuse(column.as_text(), 0, "is not a date", DATE_ADVICE[rule.order])
    return take_date_part(column, rule.part)


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


def _read_tags(column: Column, separator: str | None) -> Column:
    """Return a column of words as lists of tags."""
    if column.kind == "tags":
        return column
    if column.kind in ("empty", "other"):
        return replace(column, kind="tags", values=np.full(len(column), -1))
    text = column.as_text()
    split = split_tags(separator)
    return replace(text, kind="tags", words=(), lists=tuple(tuple(split(w)) for w in text.words))


def _select_rows(text: Column, chosen: Sequence[bool]) -> Mask:
    """Return the rows that have one of the chosen words."""
    if not text.words:  # positions mean nothing in an empty column
        return np.zeros(len(text), np.bool_)
    # a missing cell is position −1: the False at the end
    return np.asarray(np.array([*chosen, False])[text.values])


def _find_unknown(text: Column, known: set[str]) -> tuple[str, ...]:
    # months and weekdays are in the list of words even if they do not occur
    return tuple(
        word
        for word, count in zip(text.words, text.counts() if text.words else (), strict=True)
        if count and word not in known
    )


def _refuse(text: Column, word: int, problem: str, advice: str) -> NoReturn:
    row = int(np.flatnonzero(text.values == word)[0])
    value: Any = text.words[word]
    raise CellError(text.name, row, value, f"{value!r} {problem}", advice)


def iter_feature_variables(rules: Sequence[ColumnRule]) -> Iterator[tuple[str, str | None]]:
    """Yield each feature with its variable or None.

    A variable gets a number if another one has its name, which may be that of a part of dates.
    """
    used: set[str] = set()
    for rule in rules:
        variable = rule.variable
        if variable is not None:
            variable = make_distinct(used, variable)
            used.add(variable)
        for name in rule.names():
            yield name, variable


def find_edges(values: Floats, how: Binning, n_bins: int) -> list[float]:
    """Find edges between at most ``n_bins`` intervals, none of them empty.

    Any number above the value before an edge, and at most the value after it, separates the same
    rows. Between quantiles, a few rows may change sides. The edge is the number with the fewest
    digits; of several, the nearest one.
    """
    distinct, counts = np.unique(values, return_counts=True)
    # ranges and squares of numbers up to 1 are finite; scaling by powers of 2 changes no digit
    is_finite = np.isfinite(distinct)
    power = int(np.frexp(np.abs(distinct[is_finite]).max(initial=0))[1])
    small = np.ldexp(distinct, -power)
    if how == "quantile":
        # rows of one value stay together: the edge comes after the value that reaches the share
        shares = np.arange(1, n_bins) / n_bins
        positions = np.searchsorted(np.cumsum(counts) / counts.sum(), shares - 1e-12) + 1
        wanted = np.append(small, inf)[np.minimum(positions, len(small))]
    elif how == "kmeans":
        wanted = _kmeans_edges(small[is_finite], counts[is_finite], n_bins)
    else:
        wanted = small[is_finite]
        if len(wanted):
            wanted = np.linspace(wanted[0], wanted[-1], n_bins + 1)[1:-1]
    # the first value at or above each wanted edge; the lowest value of all has none below it
    after = np.unique(np.searchsorted(small, wanted))
    inner = after[(after > 0) & (after < len(distinct))]
    if not len(inner):
        # most rows have the highest value, which becomes an interval
        inner = np.array([len(distinct) - 1])[: len(distinct) - 1]
    below = np.concatenate([[0], np.cumsum(counts)])
    free = _MOVED * below[-1] / n_bins if how == "quantile" else 0
    edges: list[float] = []
    for k in inner:
        first = max(1, np.searchsorted(below, below[k] - free))
        last = min(len(distinct) - 1, np.searchsorted(below, below[k] + free, side="right") - 1)
        low, high = float(distinct[first - 1]), float(distinct[last])
        edges.append(round_between(low, high, float(distinct[k])))
    # only infinity lies above the largest number, but edges must be finite
    edges = [edge for edge in dict.fromkeys(edges) if isfinite(edge)]
    is_later = np.diff(np.searchsorted(distinct, edges), prepend=0) > 0
    return [edge for edge, is_new in zip(edges, is_later, strict=True) if is_new]


def round_between(low: float, high: float, near: float | None = None) -> float:
    """Return the number with the fewest digits that is above ``low`` and at most ``high``.

    Of several, return the one nearest to ``near``, by default the highest.

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
    wanted = exact if near is None or not isfinite(near) else min(Decimal(near), exact)
    for power in range(top, top - 20, -1):
        for step in (Decimal(1), Decimal("0.5"), Decimal("0.2")):
            unit = step.scaleb(power)
            most = (exact / unit).to_integral_value(ROUND_FLOOR)
            nearest = min(most, (wanted / unit).to_integral_value(ROUND_HALF_EVEN))
            for multiple in (nearest, nearest + 1):
                rounded = float(multiple * unit)
                if low < rounded <= high:
                    return rounded + 0.0  # not -0.0
    return high


def _kmeans_edges(values: Floats, weights: NDArray[Any], n_bins: int) -> Floats:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if len(values) <= 1:
        return values
    n_clusters = min(n_bins, len(values))
    # intervals of equal width as a start make the result reproducible
    ends = np.linspace(values[0], values[-1], n_clusters + 1)
    start = ((ends[1:] + ends[:-1]) / 2).reshape(-1, 1)
    with warnings.catch_warnings():
        # fewer clusters than requested only mean fewer intervals
        warnings.simplefilter("ignore", ConvergenceWarning)
        means = KMeans(n_clusters, init=start, n_init=1)
        means.fit(values.reshape(-1, 1), sample_weight=weights)
    centres: Floats = np.sort(means.cluster_centers_[:, 0])
    return (centres[1:] + centres[:-1]) / 2


DateRule = TypeVar("DateRule", CategoryRule, NumberRule)


def choose_rules(
    columns: Iterable[Column], settings: Binarizer
) -> list[tuple[str, list[ColumnRule] | Dropped]]:
    """Choose the rules of each column, or find the reason why it makes no feature."""
    remarks: list[tuple[str, Remark]] = []
    found = [(column.name, rules_for(column, settings, remarks)) for column in columns]
    warn_of_guesses(remarks)
    return found


def warn_of_guesses(remarks: list[tuple[str, Remark]]) -> None:
    """Report the guesses about columns, and name the options that change them."""
    missing = [f"{name!r} {remark.missing}" for name, remark in remarks if remark.missing]
    if len(missing) > _MOST_REMARKS:
        shown = missing[:_MOST_REMARKS]
        warnings.warn(
            f"treating words as missing in {len(missing):,} columns: {', '.join(shown)} and "
            f"{len(missing) - len(shown):,} more; categorical= keeps the words of a column "
            "(--categorical on the command line)",
            ConjunctWarning,
            stacklevel=2,
        )
        remarks = [(name, remark) for name, remark in remarks if not remark.missing]
    for name, remark in remarks:
        warnings.warn(f"column {name!r}: {remark.text}", ConjunctWarning, stacklevel=2)


def rules_for(
    column: Column, settings: Binarizer, remarks: list[tuple[str, Remark]]
) -> list[ColumnRule] | Dropped:
    """Return the rules of a column, or why it makes no feature; add remarks on guesses."""
    name = column.name
    if settings.edges and name in settings.edges:
        edges = [float(edge) for edge in settings.edges[name]]
        return [_make_number_rule(infer(column)[0], edges, settings)]
    if column.kind == "empty":
        return Dropped(name, "every cell is empty")
    if column.kind == "other":
        return Dropped(name, f"cells of type {column.words[0]} make no features")
    if name in settings.tags:
        return _make_tags(column, settings, is_asked=True)
    if name in settings.categorical:
        return _choose_word_rules(column.as_text(), settings)
    column, remark = infer(column)
    if remark is not None:
        remarks.append((name, remark))
    if column.kind == "tags":
        return _make_tags(column, settings)
    if column.kind == "Boolean":
        return [BooleanRule(name)]
    dropped = _find_row_names(column)
    if dropped is not None:
        return dropped
    if column.kind == "number":
        dates = read_digit_dates(column)
        if dates is None:
            is_id = _ID_NAMES.fullmatch(name) is not None
            return (_choose_id_rules if is_id else _choose_number_rules)(column, settings)
        column = dates
    if column.kind == "date":
        return _choose_date_rules(column, settings)
    return _choose_word_rules(column, settings)


def _find_row_names(column: Column) -> Dropped | None:
    """Return the reason to drop a column if it only names or numbers the rows."""
    present = column.values[~column.missing]
    # in two rows, almost any column is unique
    if len(present) < 3:
        return None
    is_unique = len(np.unique(present)) == len(present)
    named = _ROW_NAMES.fullmatch(column.name) or _ID_NAMES.fullmatch(column.name)
    if is_unique and named and column.kind in ("number", "text"):
        return Dropped(column.name, "it names the rows")
    if column.kind != "number" or len(present) < FEW or not is_unique:
        return None
    is_rising = is_whole(present) and bool((present[1:] > present[:-1]).all())
    # a table may be sorted by a measurement, whose values lie farther from each other
    is_dense = present[-1] - present[0] <= _GAP * len(present)
    if not is_rising or not is_dense or (present[0] >= _YEARS[0] and present[-1] <= _YEARS[1]):
        return None
    return Dropped(column.name, "it numbers the rows")


def _choose_id_rules(column: Column, settings: Binarizer) -> list[ColumnRule] | Dropped:
    """Choose rules for ids: intervals of them have no meaning."""
    present = column.values[~column.missing]
    n_distinct = len(np.unique(present))
    if n_distinct > len(present) / 2 and n_distinct > settings.n_bins:
        return Dropped(column.name, f"{n_distinct:,} different ids in {len(present):,} cells")
    if n_distinct <= _FEW_VALUES:
        return _choose_number_rules(column, settings)
    text = column.as_text()
    return _make_categories(replace(text, written=column.written), settings, None)


def _choose_number_rules(
    column: Column, settings: Binarizer, part: DatePart | None = None
) -> list[ColumnRule] | Dropped:
    present = column.values[~column.missing]
    distinct = np.unique(present)
    if part is None and {*distinct} <= {0.0, 1.0}:
        return [BooleanRule(column.name)]
    if len(distinct) == 1:
        return Dropped(column.name, f"every cell is {spell(distinct[0])}")
    are_values = len(distinct) <= settings.n_bins
    # steps, or fewer intervals than usual, are a request for intervals
    may_be_values = not settings.cumulative and settings.n_bins >= _USUAL_BINS
    if not are_values and may_be_values and len(distinct) <= _FEW_VALUES:
        # values must recur: 10 ages of 12 persons make better intervals
        are_values = is_whole(distinct) and 3 * len(distinct) <= len(present)
        are_values = are_values and distinct[-1] - distinct[0] <= _NEAR
    if are_values:
        values = [spell(value) for value in distinct]
        written = "words" if part is not None else column.written
        rule = CategoryRule(column.name, part=part, values=values, written=written)
        return [_copy_date_spelling(rule, column)]
    edges = find_edges(present, settings.binning, settings.n_bins)
    if not edges:
        return Dropped(column.name, "no cut leaves rows on both sides")
    return [_make_number_rule(column, edges, settings, part)]


def _make_number_rule(
    column: Column, edges: list[float], settings: Binarizer, part: DatePart | None = None
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
    column: Column, settings: Binarizer, part: DatePart | None = None
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
    if part is not None or column.is_category or column.name in settings.categorical:
        return _make_categories(column, settings, part)
    separator = find_tag_separator(words)
    if separator is not None:
        one = next((word for word in words if separator in word), words[0])
        one = one if len(one) <= 40 else one[:39] + "…"
        warnings.warn(
            f"column {column.name!r}: cells such as {one!r} are read as tags; "
            f"categorical=[{column.name!r}] keeps each as one word "
            f"(--categorical {column.name!r} on the command line)",
            ConjunctWarning,
            stacklevel=2,
        )
        return _make_tags(column, settings)
    most = _FEW_VALUES if len(words) == n_present else settings.max_categories
    if len(words) > max(most, n_present / 2):
        if sum(len(word.split()) for word in words) > PROSE * len(words):
            return Dropped(column.name, "free text")
        return Dropped(column.name, f"{len(words):,} different words in {n_present:,} cells")
    return _make_categories(column, settings, part)


def _make_categories(
    column: Column, settings: Binarizer, part: DatePart | None
) -> list[ColumnRule] | Dropped:
    counts = column.counts()
    n_present = int(counts.sum())
    least = settings.min_frequency * (n_present if settings.min_frequency < 1 else 1)
    frequent = [k for k, count in enumerate(counts) if count and count >= least]
    room = settings.max_categories
    if part is None and len(frequent) > room:
        # the group of rare words is a feature too
        room -= settings.rare_categories == "group"
        frequent = sorted(sorted(frequent, key=lambda k: (-counts[k], k))[:room])
    values = [column.words[k] for k in frequent]
    rare = [column.words[k] for k in np.flatnonzero(counts) if k not in frequent]
    if not values:
        return Dropped(column.name, "every word is rare")
    # a group of most rows would carry no information
    is_dominant = 2 * int(counts[frequent].sum()) < n_present
    other = "other" if rare and settings.rare_categories == "group" and not is_dominant else None
    while other in values:
        other += " values"
    rule = CategoryRule(
        column.name, part=part, values=values, rare=rare, other=other, written=column.written
    )
    return [_copy_date_spelling(rule, column)]


def _make_tags(
    column: Column, settings: Binarizer, *, is_asked: bool = False
) -> list[ColumnRule] | Dropped:
    separator = None
    if column.kind != "tags":
        separator = find_tag_separator(column.as_text().words, is_asked=is_asked)
    tags = _read_tags(column, separator)
    n_lists = np.bincount(tags.values[tags.values >= 0], minlength=len(tags.lists))
    counts: Counter[str] = Counter()
    for cell, count in zip(tags.lists, n_lists.tolist(), strict=True):
        counts.update(dict.fromkeys(cell, count))
    least = settings.min_frequency * (len(column) if settings.min_frequency < 1 else 1)
    if len(counts) > settings.max_categories and not is_asked:
        # a tag of a single row says nothing about other rows
        least = max(least, 2)
    often = (tag for tag, count in counts.items() if count >= least)
    frequent = sorted(often, key=lambda tag: (-counts[tag], tag))
    values = sorted(frequent if is_asked else frequent[:_MOST_TAGS])
    if not values:
        return Dropped(
            column.name, "no tag is frequent enough" if counts else "every list is empty"
        )
    n_rare = len(counts) - len(values)
    return [TagsRule(column.name, values=values, separator=separator, n_rare=n_rare)]


def _choose_date_rules(column: Column, settings: Binarizer) -> list[ColumnRule] | Dropped:
    rules: list[ColumnRule] = []
    present = column.values[~column.missing]
    days = present.astype("datetime64[D]")
    has_hours = bool((present != days).any())
    # months and years are often written as their first day
    are_months = bool((days == days.astype("datetime64[M]")).all()) and len(np.unique(days)) > 1
    for part in settings.date_parts:
        if part == "hour":
            hours = take_date_part(column, part).values[~column.missing]
            edges = [edge for edge in HOURS if hours.min() < edge <= hours.max()]
            if has_hours and edges:
                rule = NumberRule(column.name, part=part, edges=edges)
                rules.append(_copy_date_spelling(rule, column))
            continue
        if part == "weekday" and are_months and not has_hours:
            continue
        choose = _choose_number_rules if part == "year" else _choose_word_rules
        made = choose(take_date_part(column, part), settings, part)
        if not isinstance(made, Dropped):
            rules.extend(made)
    return rules or Dropped(column.name, "all dates have the same parts")
