"""Variables: columns that exclude each other because they are values of one thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, lgamma, log
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import PairCounts, PairList
from conjunct.errors import InputError

Variables = Mapping[str, Sequence[str]] | Literal[False] | None
"""Options of ``variables=``: names with their columns, no variables, or those of the data."""

# Rows in which two columns must be expected to meet before it is significant that they never do:
# independent columns then never meet with a probability of about e⁻⁸.
_EXPECTED = 8

# Pairs that are compared at a time, to save memory.
_PAIRS_AT_ONCE = 1 << 20

# Characters. A longer name is text, with too many stems.
_LONGEST_NAME = 200

# "age < 30", "age in [30, 45)" and "age ≥ 45", as a Binarizer calls them
_INTERVAL = re.compile(r"(.+) (?:[<≥] [^ ]+|in \[[^ ]+, [^ ]+\))", re.DOTALL)
_BRACKETS = re.compile(r"([^\[]+)\[.+\]", re.DOTALL)
_BEFORE_VALUE = re.compile(r"(?<=[^ ]) *(=+|: ) *(?=[^ ])")
_IN_NAMES = re.compile(r"(?<=[^_.:])([_.:]+)(?=[^_.:])")


class _Stem(NamedTuple):
    """The part of a name before a separator."""

    text: str
    separator: str
    is_common: bool
    """True if the separator is also common in names that are not values."""


def recognise_variables(
    names: Sequence[str], counts: PairCounts, known: Sequence[str | None] = ()
) -> tuple[str | None, ...]:
    """Return the variable of each column, None for a plain tag; () if there are no variables.

    Columns are values of one variable

    - if they have the same stem, as ``colour=red`` and ``colour=blue``, and share no row. If the
      stem ends in an underscore, a dot or a colon, which are common in other names, either each
      row must have one of the columns, or chance must predict at least 8 common rows;
    - or if no two of them share a row, although chance predicts at least 8 common rows of each pair
      (with more than 77 columns, the logarithm of the number of their pairs). A rarer column joins
      such values if it shares a row with none of them, and the probability of that by chance is at
      most e⁻⁸. If there are only two frequent values, each row must have a value, because two tags
      may avoid each other without being a variable.

    Variables that are ``known`` stay. The order of columns does not matter.
    """
    found = list(known) or [None] * len(names)
    used: set[Any] = {*found} - {None}

    def enter(name: str, columns: Iterable[int]) -> None:
        own = make_distinct(used, name)
        used.add(own)
        for k in columns:
            found[k] = own

    free = [k for k, variable in enumerate(found) if variable is None]
    for stem, columns in _group_by_name(names, free, counts):
        enter(stem, columns)
    free = [k for k in free if found[k] is None]
    for columns in _group_by_counts(names, free, counts):
        first = [names[k] for k in columns[:2]]
        enter(" | ".join([*first, *["…"] * (len(columns) > 2)]), columns)
    return tuple(found) if used else ()


def check_variables(variables: object) -> None:
    """Refuse values of ``variables=`` that are invalid for any columns."""
    if variables is None or variables is False:
        return
    if not isinstance(variables, Mapping):
        raise InputError(
            "variables must be None, False or a mapping of names to lists of columns; "
            f"got {variables!r}"
        )
    seen: dict[str, str] = {}
    for name, columns in variables.items():
        is_list = isinstance(columns, Sequence) and not isinstance(columns, str)
        if not isinstance(name, str) or not is_list or not all(isinstance(c, str) for c in columns):
            raise InputError(
                f"variables must map names to lists of columns; got {name!r}: {columns!r}"
            )
        if len(columns) < 2:
            raise InputError(f"variable {name!r} needs at least two columns; got {list(columns)!r}")
        for column in columns:
            if column in seen:
                both = f"variables {seen[column]!r} and {name!r}"
                where = f"twice in variable {name!r}" if seen[column] == name else f"in {both}"
                raise InputError(f"column {column!r} is {where}: name it once")
            seen[column] = name


def variables_by_column(
    variables: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[str | None, ...]:
    """Return the variable of each column according to ``variables=``."""
    variable = {column: name for name, columns in variables.items() for column in columns}
    absent = variable.keys() - set(names)
    if absent:
        column = min(absent)
        raise InputError(f"variable {variable[column]!r} has {column!r}, which is not a column")
    return tuple(map(variable.get, names)) if variable else ()


def group_by_variable(pairs: Iterable[tuple[str, str | None]]) -> dict[str, tuple[str, ...]]:
    """Group pairs of a column and its variable by variable."""
    columns: dict[str, list[str]] = {}
    for column, variable in pairs:
        if variable is not None:
            columns.setdefault(variable, []).append(column)
    return {variable: tuple(values) for variable, values in columns.items()}


def make_distinct(used: set[str], name: str) -> str:
    """Return the name, followed by a number if it is already used."""
    own, k = name, 1
    while own in used:
        k += 1
        own = f"{name} [{k}]"
    return own


def _iter_stems(name: str) -> Iterator[_Stem]:
    """Yield the stems of a name, the shortest first."""
    if len(name) > _LONGEST_NAME:
        return
    interval = _INTERVAL.fullmatch(name)
    brackets = _BRACKETS.fullmatch(name)
    if interval is not None:
        yield _Stem(interval[1], "interval", False)
    elif brackets is not None:
        yield _Stem(brackets[1].strip(), "[", False)
    elif _BEFORE_VALUE.search(name):
        for match in _BEFORE_VALUE.finditer(name):
            yield _Stem(name[: match.start()], match[1], False)
    else:
        for match in _IN_NAMES.finditer(name):
            yield _Stem(name[: match.start()], match[1], True)


def _group_by_name(
    names: Sequence[str], free: Sequence[int], counts: PairCounts
) -> Iterator[tuple[str, list[int]]]:
    """Yield stems and their columns, which never meet.

    Shorter stems come first, because values may hold separators: ``status_never_married`` belongs
    to ``status_divorced``.
    """
    levels: list[dict[_Stem, list[int]]] = []
    for k in free:
        for depth, stem in enumerate(_iter_stems(names[k])):
            if depth == len(levels):
                levels.append({})
            levels[depth].setdefault(stem, []).append(k)
    for level in levels:
        for stem in [stem for stem, columns in level.items() if len(columns) < 2]:
            del level[stem]
    if not any(levels):
        return
    meet = _find_meeting_stems(levels, len(names), counts)
    taken: set[int] = set()
    for level in levels:
        for stem, columns in sorted(level.items()):
            if stem in meet or columns[0] in taken:
                continue
            if not stem.is_common or _is_beyond_chance(columns, counts):
                taken.update(columns)
                yield stem.text, columns


def _find_meeting_stems(
    levels: Sequence[Mapping[_Stem, Sequence[int]]], n_columns: int, counts: PairCounts
) -> set[_Stem]:
    """Return the stems with two columns that are both true in some row."""
    numbered: list[tuple[list[_Stem], NDArray[np.intp], NDArray[np.bool_]]] = []
    for level in levels:
        number = np.full(n_columns, -1)
        for k, columns in enumerate(level.values()):
            number[columns] = k
        if level:
            numbered.append((list(level), number, np.zeros(len(level), np.bool_)))
    for pairs in counts.pair_blocks() if numbered else ():
        for _, number, meets in numbered:
            left = number[pairs.left]
            same = (left >= 0) & (left == number[pairs.right]) & (pairs.joint > 0)
            meets[left[same]] = True
    return {
        stem for stems, _, meets in numbered for stem, met in zip(stems, meets, strict=True) if met
    }


def _is_beyond_chance(columns: Sequence[int], counts: PairCounts) -> bool:
    """Return True if columns that never meet fill all rows, or should meet by chance."""
    supports = [int(support) for support in counts.supports[list(columns)]]
    total = sum(supports)
    if total == counts.n_rows:
        return True
    if isinstance(counts.observed, int):
        # twice the products of all pairs
        products = total**2 - sum(support**2 for support in supports)
        return products >= 2 * _EXPECTED * counts.n_rows
    left, right = np.array(list(combinations(columns, 2))).T
    pairs = counts.for_pairs(left, right)
    expected = Fraction(0)
    rows = np.broadcast_to(pairs.n_rows, len(pairs))
    for s, t, n in np.column_stack([pairs.left_support, pairs.right_support, rows]).tolist():
        expected += Fraction(s * t, n) if n else 0
        if expected >= _EXPECTED:
            return True
    return False


def _group_by_counts(
    names: Sequence[str], free: Sequence[int], counts: PairCounts
) -> Iterator[list[int]]:
    """Yield sets of columns that never meet, although each pair is expected to.

    Each column, the most frequent first, joins the first set whose columns it never meets.
    """
    supports = counts.supports.astype(np.int64)
    by_name = np.array(sorted(free, key=names.__getitem__), np.intp)
    order = by_name[np.argsort(-supports[by_name], kind="stable")]
    if isinstance(counts.observed, int):
        # keep columns that meet fewer columns than expected by chance, which are mostly few:
        # compare the number of columns that each should meet with the number that it meets
        needed = _expected_meetings(len(supports)) * counts.n_rows
        falling = supports[order]
        # an empty column should meet none
        least = np.where(falling > 0, -(-needed // np.maximum(falling, 1)), counts.n_rows + 1)
        n_should = np.searchsorted(-falling, -least, side="right") - (falling**2 >= needed)
        order, n_should = order[n_should > 0], n_should[n_should > 0]
        ranks = np.full(len(supports), -1)
        ranks[order] = np.arange(len(order))
        n_met = np.zeros(len(order), np.int64)
        for block in counts.pair_blocks() if len(order) else ():
            left, right = ranks[block.left], ranks[block.right]
            product = supports[block.left] * supports[block.right]
            should = (product >= needed) & (left >= 0) & (right >= 0)
            for side in (left, right):
                n_met += np.bincount(side[should], minlength=len(order))
        order = order[n_should > n_met]
    if len(order) < 2:
        return
    earlier, starts = _find_clear_pairs(order, counts)
    sets: list[list[int]] = []
    place, sizes = np.zeros((2, len(order)), np.intp)
    for rank, column in enumerate(order.tolist()):
        clear = earlier[starts[rank] : starts[rank + 1]]
        near, n_clear = np.unique(place[clear], return_counts=True)
        fits = near[n_clear == sizes[near]]
        place[rank] = fits[0] if len(fits) else len(sets)
        sizes[place[rank]] += 1
        if len(fits):
            sets[fits[0]].append(column)
        else:
            sets.append([column])
    has_rare = bool(np.all(counts.observed == counts.n_rows))
    # two tags may avoid each other without being a variable, unless they fill all rows
    found = [columns for columns in sets if len(columns) > 2]
    if has_rare:
        _add_rare_values(found, names, free, counts)
    inside = {column for columns in found for column in columns}
    pairs = [pair for pair in sets if len(pair) == 2 and not inside & {*pair}]
    if has_rare:
        _add_rare_values(pairs, names, [k for k in free if k not in inside], counts)
    found += [pair for pair in pairs if int(supports[pair].sum()) == counts.n_rows]
    yield from found


def _add_rare_values(
    sets: list[list[int]], names: Sequence[str], free: Sequence[int], counts: PairCounts
) -> None:
    """Add columns that are too rare to be expected to meet single values.

    A column of s rows meets no value of a set that fills u of n rows with a probability of
    C(n−u, s) / C(n, s) by chance. If that is small, it joins the set with the most rows.
    """
    if not sets:
        return
    supports, n = counts.supports, counts.n_rows
    n_values = [int(supports[columns].sum()) for columns in sets]
    is_met = _find_met_columns(sets, counts)
    inside = {column for columns in sets for column in columns}
    rest = [k for k in free if k not in inside and supports[k] and not is_met[:, k].all()]
    needed = _expected_meetings(len(supports))

    def is_unlikely(s: int, u: int) -> bool:
        chance = lgamma(n - u + 1) - lgamma(n - u - s + 1) - lgamma(n + 1) + lgamma(n - s + 1)
        return chance <= -needed

    for column in sorted(rest, key=lambda k: (-int(supports[k]), names[k])):
        s, most = int(supports[column]), max(n_values)
        if s <= n - most and not is_unlikely(s, most):
            return  # this column and the rarer ones fit no set
        fits = [
            k
            for k, u in enumerate(n_values)
            if not is_met[k, column] and s <= n - u and is_unlikely(s, u)
        ]
        if fits:
            k = max(fits, key=lambda k: (n_values[k], -k))
            sets[k].append(column)
            n_values[k] += s
            is_met[k] |= _find_partners(column, counts)


def _find_partners(column: int, counts: PairCounts) -> NDArray[np.bool_]:
    """Return which columns meet a column."""
    if isinstance(counts, PairList):
        return np.asarray(_find_met_columns([[column]], counts)[0])
    every = np.arange(len(counts.supports))
    return np.asarray(counts.for_pairs(np.full_like(every, column), every).joint > 0)


def _find_met_columns(sets: Sequence[Sequence[int]], counts: PairCounts) -> NDArray[np.bool_]:
    """Return which columns meet any column of each set, in one pass over all pairs."""
    n_columns = len(counts.supports)
    place = np.full(n_columns, -1)
    for k, columns in enumerate(sets):
        place[list(columns)] = k
    is_met = np.zeros((len(sets), n_columns), np.bool_)
    for pairs in counts.pair_blocks():
        for one, other in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
            hits = np.flatnonzero((place[one] >= 0) & (pairs.joint > 0))
            is_met[place[one[hits]], other[hits]] = True
    return is_met


def _expected_meetings(n_columns: int) -> int:
    """Return the expected number of common rows from which it is significant to have none.

    Of N independent pairs that are expected to meet in ln N rows, about one never meets. With many
    columns, 8 rows are therefore too few.
    """
    n_pairs = n_columns * (n_columns - 1) // 2
    return max(_EXPECTED, ceil(log(max(n_pairs, 1))))


def _find_clear_pairs(
    order: NDArray[np.intp], counts: PairCounts
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the earlier columns that each column never meets, although it is expected to.

    Columns are numbered by their places in ``order``, the most frequent first. The earlier ones of
    column k are in the first array from ``starts[k]``, which the second array holds.
    """
    supports = counts.supports[order].astype(np.int64)
    ranks = np.arange(len(order))
    expected = _expected_meetings(len(counts.supports))
    if isinstance(counts.observed, int):
        least = -(-expected * counts.n_rows // np.maximum(supports, 1))
        n_earlier = np.minimum(ranks, np.searchsorted(-supports, -least, side="right"))
    else:
        # a pair is expected to meet in at most as many rows as either column has
        n_earlier = np.where(supports >= expected, ranks, 0)
    at_once = max(_PAIRS_AT_ONCE, counts.n_pairs // 8)
    ends = np.cumsum(n_earlier)
    found, n_found = [np.empty(0, np.intp)], np.zeros(len(order) + 1, np.intp)
    start = 0
    while start < len(order):
        before = ends[start] - n_earlier[start]
        stop = max(start + 1, int(np.searchsorted(ends, before + at_once, side="right")))
        later = np.repeat(ranks[start:stop], n_earlier[start:stop])
        earlier = np.arange(len(later)) - (ends - n_earlier)[later] + before
        columns = order[earlier], order[later]
        pairs = counts.for_pairs(np.minimum(*columns), np.maximum(*columns))
        product = pairs.left_support.astype(np.int64) * pairs.right_support
        # columns that are never known together are not expected to meet
        is_expected = (product > 0) & (product >= expected * np.asarray(pairs.n_rows, np.int64))
        clear = is_expected & (pairs.joint == 0)
        found.append(earlier[clear])
        n_found[1:] += np.bincount(later[clear], minlength=len(order))
        start = stop
    return np.concatenate(found), np.cumsum(n_found)
