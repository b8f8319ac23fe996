"""Comparison of the shares of tags and chunks: between two data sets, or the groups of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.expressions import pattern_text
from conjunct.ufc import adjust_p_values, exact_p_value, significant

Table = dict[str, list[Any]]
Integers = NDArray[np.int64]


class GroupCounts(NamedTuple):
    """For each group (a row) and feature (a column), the rows in which it is true, and known."""

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
        """Count by the group of each row; rows of a negative group are left out."""

        def count(rows: Any) -> Integers:
            found = groups[rows]
            own = None if weights is None else weights[rows][found >= 0]
            return np.bincount(found[found >= 0], own, n_groups).astype(np.int64)

        true = np.zeros((n_groups, features.n_columns), np.int64)
        known = np.tile(count(slice(None))[:, None], features.n_columns)
        for k in range(features.n_columns):
            true[:, k] = count(features.true_rows(k))
            if features.has_missing:
                known[:, k] -= count(features.cells(k)[1])
        return cls(true, known)

    @classmethod
    def of_parts(cls, *parts: Columns) -> GroupCounts:
        """Count each part as a group."""
        true = np.array([part.supports() for part in parts], np.int64)
        return cls(true, np.array([part.count_known() for part in parts], np.int64))

    def testable(self, alpha: float | None, sides: int) -> NDArray[np.bool_]:
        """Mark the groups and features for which a test could be significant.

        The feature varies, is known in the group and outside, and is not so rare that p stays
        above ``alpha`` even if all of its rows lie on one side. This depends on totals only, so
        the correction need not count the others (Tarone, 1990).
        """
        true, known = self.true.sum(0), self.known.sum(0)
        tested = (true > 0) & (true < known) & (self.known > 0) & (self.known < known)
        if alpha is not None:
            least = sides * self._exact_p_values(np.minimum(true, self.known), tested)
            tested[tested] = significant(least, alpha)
        return np.asarray(tested)

    def copies_of_groups(self) -> list[int]:
        """Return a feature that equals each group: true in all of its rows and in no other.

        Empty if a group has none. Of two groups, a feature that equals one is enough.
        """
        true = self.true.sum(0)
        equal = (self.true == self.known) & (self.true == true) & (self.true > 0)
        has_copy = equal.any(1)
        if not has_copy.all() and not (len(equal) == 2 and has_copy.any()):
            return []
        copies: list[int] = [int(row.argmax()) for row in equal[has_copy]]
        return copies

    def p_values(self, tested: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Compute the p-values of Fisher's exact test, one-sided: true more often in the group."""
        return self._exact_p_values(self.true, tested)

    def _exact_p_values(self, inside: Integers, tested: NDArray[np.bool_]) -> NDArray[np.float64]:
        _, feature = np.nonzero(tested)
        true, known = self.true.sum(0)[feature], self.known.sum(0)[feature]
        return exact_p_value(known, true, self.known[tested], inside[tested])


def rank_differences(
    tags: Sequence[Sequence[str]],
    counts: GroupCounts,
    alpha: float | None,
    correction: str | None,
    other_value: Mapping[str, str],
) -> Table:
    """List the tags and chunks whose shares in two data sets differ, the lowest p-value first.

    A p-value is two-sided: twice that of the direction found. Of two values of a variable, one
    says what the other does.
    """
    which = np.flatnonzero(counts.testable(alpha, sides=2).any(0))
    counts = GroupCounts(counts.true[:, which], counts.known[:, which])
    one_sided = counts.p_values(np.ones_like(counts.true, np.bool_)).reshape(2, -1)
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
        np.flatnonzero(_is_significant(p_adjusted, alpha)).tolist(),
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
    """List the tags and chunks that are more common in each group, the lowest p-value first."""
    tested = counts.testable(alpha, sides=1)
    p = counts.p_values(tested)
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
        np.flatnonzero(_is_significant(p_adjusted, alpha) & more_common).tolist(),
        key=lambda k: (group[k], p[k], -lift[k], len(tags_of_row[k]), table["pattern"][k]),
    )
    order: list[int] = []
    for _, some in groupby(ranked, lambda k: group[k]):
        one_group = list(some)
        said = one_group if alpha is None else _say_once(one_group, tags_of_row)
        order += islice(said, top)
    return {name: [values[k] for k in order] for name, values in table.items()}


def _say_once(
    ranked: Iterable[int],
    tags: Sequence[Sequence[str]],
    other_value: Mapping[str, str] | None = None,
) -> Iterator[int]:
    """Leave out what holds all tags of an earlier one: fewer tags say it, with a lower p-value.

    The other of two values is left out too: where one is more common, the other is less so.
    """
    said: list[set[str]] = []
    for k in ranked:
        own = set(tags[k])
        opposite = {(other_value or {}).get(tag, tag) for tag in own}
        if not any(other <= own for other in said) and not (len(own) == 1 and opposite in said):
            said.append(own)
            yield k


def _is_significant(p_adjusted: NDArray[np.float64], alpha: float | None) -> NDArray[np.bool_]:
    return np.ones(len(p_adjusted), np.bool_) if alpha is None else significant(p_adjusted, alpha)
