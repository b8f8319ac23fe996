"""Groups of rows: their counts, the marks of each group, and shares that differ between groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.explain.sentences import count, format_share
from conjunct.expressions import pattern_text
from conjunct.ufc import adjust_p_values, evidence, exact_p_value, significant

Table = dict[str, list[Any]]
Integers = NDArray[np.int64]

_MOST_MARKS = 20  # marks of a group that are kept
_IN_NAME = 3  # marks in the name of a group


class GroupCounts(NamedTuple):
    """Per group and feature, the number of rows in which it is true, and in which it is known."""

    true: Integers
    known: Integers

    @classmethod
    def of_groups(
        cls,
        features: Columns,
        groups: NDArray[np.intp],
        n_groups: int,
        weights: Integers | None = None,
    ) -> GroupCounts:
        """Count by the group of each row, leaving out rows with a negative group."""

        def count_rows(rows: Any) -> Integers:
            found = groups[rows]
            own = None if weights is None else weights[rows][found >= 0]
            return np.bincount(found[found >= 0], own, n_groups).astype(np.int64)

        true = np.zeros((n_groups, features.n_columns), np.int64)
        known = np.tile(count_rows(slice(None))[:, None], features.n_columns)
        for k in range(features.n_columns):
            true[:, k] = count_rows(features.true_rows(k))
            if features.has_missing:
                known[:, k] -= count_rows(features.cells(k)[1])
        return cls(true, known)

    @classmethod
    def of_parts(cls, *parts: Columns) -> GroupCounts:
        """Count each part as a group."""
        true = np.array([part.supports() for part in parts], np.int64)
        return cls(true, np.array([part.count_known() for part in parts], np.int64))

    def testable(self, alpha: float | None, sides: int) -> NDArray[np.bool_]:
        """Mark the groups and features for which a test could be significant.

        The feature varies and is known in the group and outside, and p would be at most ``alpha``
        if all of its rows were on one side. These conditions depend only on totals, so the
        correction may ignore all other tests (Tarone, 1990).
        """
        true, known = self.true.sum(0), self.known.sum(0)
        tested = (true > 0) & (true < known) & (self.known > 0) & (self.known < known)
        if alpha is not None:
            rarest = GroupCounts(np.minimum(true, self.known), self.known)
            tested[tested] = significant(sides * rarest.p_values(tested, true), alpha)
        return np.asarray(tested)

    def copies_of_groups(self) -> list[int]:
        """Return for each group a feature that is true in exactly its rows.

        Empty if a group has none. Of two groups, only one needs such a feature.
        """
        true = self.true.sum(0)
        equal = (self.true == self.known) & (self.true == true) & (self.true > 0)
        has_copy = equal.any(1)
        if not has_copy.all() and not (len(equal) == 2 and has_copy.any()):
            return []
        return [int(row.argmax()) for row in equal[has_copy]]

    def p_values(self, tested: NDArray[np.bool_], totals: Integers) -> NDArray[np.float64]:
        """Compute one-sided p-values of Fisher's exact test for features more common in the group.

        ``totals`` are the rows of all groups in which each feature is true.
        """
        _, feature = np.nonzero(tested)
        known = self.known.sum(0)[feature]
        return exact_p_value(known, totals[feature], self.known[tested], self.true[tested])


@dataclass(frozen=True)
class Mark:
    """A tag or chunk that is much more common in a group than outside it, or much rarer.

    ``rows`` and ``rows_outside`` have all of the tags; ``share`` and ``share_outside`` refer to the
    rows in which the tags are known. ``evidence`` is the number of bits that support a difference
    over chance, in all rows. ``is_absent`` means that it is rarer in the group.
    """

    tags: tuple[str, ...]
    text: str
    rows: int
    rows_outside: int
    share: float
    share_outside: float
    evidence: float
    is_absent: bool

    @property
    def sentence(self) -> str:
        """The contrast in words."""
        inside, outside = format_share(self.share), format_share(self.share_outside)
        return f"{self.text}: {inside} of this group, {outside} of the rows outside it"


@dataclass(frozen=True)
class RowGroup:
    """A group of rows that are alike.

    Its ``name`` consists of its strongest marks. ``rows`` and ``share`` count the training rows
    for which it is the most probable group. ``marks`` are its at most 20 strongest differences from
    the other rows, most evidence first. ``typical`` lists the positions of its most probable
    training rows, ``borderline`` those that are nearly as probable in another group.
    """

    name: str
    rows: int
    share: float
    marks: tuple[Mark, ...]
    typical: tuple[int, ...] = ()
    borderline: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """The size and the strongest mark, in words."""
        size = f"{count(self.rows, 'row')} ({format_share(self.share)})"
        return "; ".join([size, *(mark.sentence for mark in self.list_marks(1))])

    def list_marks(self, number: int) -> list[Mark]:
        """Return the strongest marks, common ones first, without marks that repeat tags."""
        return choose_marks(sorted(self.marks, key=lambda mark: mark.is_absent), number)


def find_marks(
    counts: GroupCounts,
    patterns: Sequence[tuple[str, ...]],
    variables: Mapping[str, str],
    *,
    priced: bool = True,
) -> list[list[Mark]]:
    """Return the marks of each group, most evidence first.

    The evidence of a mark must exceed its price, which is ½·log₂ n for a number plus the bits that
    name a group and a pattern; if not ``priced``, the price is 0. A chunk must have more evidence
    than each of its tags. Where a value of a variable is more common, the other values are rarer;
    these marks are left out. ``variables`` gives the variables of tags.
    """
    n_groups, n_patterns = counts.true.shape
    every, true = counts.known.sum(0), counts.true.sum(0)
    # per group and pattern, the evidence that the tags are more common, and that they are rarer
    present = evidence(every, counts.known, true, counts.true)
    absent = evidence(every, counts.known, every - true, counts.known - counts.true)
    price = math.log2(max(n_groups * n_patterns, 1)) + 0.5 * np.log2(np.maximum(every, 1))
    bits, is_rarer = np.maximum(present, absent), absent > present
    outside = true - counts.true
    with np.errstate(divide="ignore", invalid="ignore"):
        share, share_outside = counts.true / counts.known, outside / (every - counts.known)
    is_listed = (bits > price * priced) & (counts.known > 0) & (counts.known < every)
    found: list[list[Mark]] = []
    for k in range(n_groups):
        listed = np.flatnonzero(is_listed[k]).tolist()
        best = {patterns[j]: bits[k, j] for j in listed if len(patterns[j]) == 1}
        marks = [
            Mark(
                patterns[j],
                pattern_text(patterns[j]),
                int(counts.true[k, j]),
                int(outside[k, j]),
                float(share[k, j]),
                float(share_outside[k, j]),
                float(bits[k, j]),
                bool(is_rarer[k, j]),
            )
            for j in listed
            if len(patterns[j]) == 1
            or (
                not is_rarer[k, j]
                and all(best.get((tag,), 0.0) < bits[k, j] for tag in patterns[j])
            )
        ]
        common = {variables.get(mark.tags[0]) for mark in marks if not mark.is_absent} - {None}
        marks = [
            mark
            for mark in sorted(marks, key=lambda mark: (-mark.evidence, mark.tags))
            if not (mark.is_absent and variables.get(mark.tags[0]) in common)
        ]
        found.append(marks[:_MOST_MARKS])
    return found


def choose_marks(marks: Iterable[Mark], number: int) -> list[Mark]:
    """Return the first marks, each with a tag that no earlier one has."""
    chosen: list[Mark] = []
    for mark in marks:
        if len(chosen) < number and not {*mark.tags} <= {t for each in chosen for t in each.tags}:
            chosen.append(mark)
    return chosen


def name_groups(marks: Sequence[Sequence[Mark]]) -> list[str]:
    """Return a distinct name for each group: its strongest common marks, else its rarer ones."""
    names: list[str] = []
    for own in marks:
        common = choose_marks((mark for mark in own if not mark.is_absent), _IN_NAME)
        texts = [mark.text for mark in common] or [f"no {mark.text}" for mark in own[:_IN_NAME]]
        name = ", ".join(texts) or ("all rows" if len(marks) == 1 else "other rows")
        numbered = (f"{name} [{number}]" for number in itertools.count(2))
        names.append(next(each for each in itertools.chain([name], numbered) if each not in names))
    return names


def rank_differences(
    tags: Sequence[Sequence[str]],
    counts: GroupCounts,
    alpha: float | None,
    correction: str | None,
    other_value: Mapping[str, str],
) -> Table:
    """List the tags and chunks whose shares in two data sets differ, lowest p-value first.

    The p-values are two-sided: twice the smaller one-sided p-value. Of a variable with two values,
    only one value is listed.
    """
    which = np.flatnonzero(counts.testable(alpha, sides=2).any(0))
    counts = GroupCounts(counts.true[:, which], counts.known[:, which])
    every = np.ones_like(counts.true, np.bool_)
    one_sided = counts.p_values(every, counts.true.sum(0)).reshape(2, -1)
    p = np.minimum(2 * one_sided.min(0), 1)
    p_adjusted = adjust_p_values(p, len(p), correction)
    (true_x, true_y), (n_x, n_y) = counts
    excess = true_y * n_x - true_x * n_y
    difference = excess / (n_x * n_y)
    with np.errstate(divide="ignore"):
        ratio = (true_y * n_x) / (true_x * n_y)
    table = {
        "pattern": [pattern_text(tags[k]) for k in which.tolist()],
        "more_common_in": np.select([excess > 0, excess < 0], ["Y", "X"], "").tolist(),
        "share_x": (true_x / n_x).tolist(),
        "share_y": (true_y / n_y).tolist(),
        "difference": difference.tolist(),
        "ratio": ratio.tolist(),
        "rows_x": true_x.tolist(),
        "rows_y": true_y.tolist(),
        "n_x": n_x.tolist(),
        "n_y": n_y.tolist(),
        "p_value": p.tolist(),
        "p_adjusted": p_adjusted.tolist(),
    }
    tags_of_row = [tags[k] for k in which.tolist()]
    order = sorted(
        np.flatnonzero(significant(p_adjusted, 1 if alpha is None else alpha)).tolist(),
        key=lambda k: (p[k], -abs(difference[k]), len(tags_of_row[k]), table["pattern"][k]),
    )
    if alpha is not None:
        order = list(_say_once(order, tags_of_row, other_value))
    return {name: [values[k] for k in order] for name, values in table.items()}


def rank_group_features(
    tags: Sequence[Sequence[str]],
    labels: Sequence[Any],
    counts: GroupCounts,
    alpha: float | None,
    correction: str | None,
    top: int | None,
) -> Table:
    """List the tags and chunks that are more common in each group, lowest p-value first."""
    tested = counts.testable(alpha, sides=1)
    p = counts.p_values(tested, counts.true.sum(0))
    p_adjusted = adjust_p_values(p, len(p), correction)
    group, feature = np.nonzero(tested)
    true, n = counts.true[tested], counts.known[tested]
    all_true, all_n = counts.true.sum(0)[feature], counts.known.sum(0)[feature]
    outside, n_outside = all_true - true, all_n - n
    lift = (true * all_n) / (n * all_true)
    table = {
        "group": [labels[g] for g in group.tolist()],
        "pattern": [pattern_text(tags[k]) for k in feature.tolist()],
        "share": (true / n).tolist(),
        "share_outside": (outside / n_outside).tolist(),
        "lift": lift.tolist(),
        "rows": true.tolist(),
        "rows_outside": outside.tolist(),
        "n": n.tolist(),
        "n_outside": n_outside.tolist(),
        "p_value": p.tolist(),
        "p_adjusted": p_adjusted.tolist(),
    }
    more_common = true * n_outside > outside * n
    tags_of_row = [tags[k] for k in feature.tolist()]
    ranked = sorted(
        np.flatnonzero(
            significant(p_adjusted, 1 if alpha is None else alpha) & more_common
        ).tolist(),
        key=lambda k: (group[k], p[k], -lift[k], len(tags_of_row[k]), table["pattern"][k]),
    )
    order: list[int] = []
    for _, some in itertools.groupby(ranked, lambda k: group[k]):
        one_group = list(some)
        said = one_group if alpha is None else _say_once(one_group, tags_of_row)
        order += itertools.islice(said, top)
    return {name: [values[k] for k in order] for name, values in table.items()}


def _say_once(
    ranked: Iterable[int],
    tags: Sequence[Sequence[str]],
    other_value: Mapping[str, str] | None = None,
) -> Iterator[int]:
    """Leave out entries that contain all tags of an earlier entry, which has the lower p-value.

    Also leave out the second of two values: if one is more common, the other is rarer.
    """
    said: list[set[str]] = []
    for k in ranked:
        own = set(tags[k])
        opposite = {(other_value or {}).get(tag, tag) for tag in own}
        if not any(other <= own for other in said) and not (len(own) == 1 and opposite in said):
            said.append(own)
            yield k
