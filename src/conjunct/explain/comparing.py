"""Comparison of the shares of chunks: between two data sets, or the groups of one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.ufc import adjusted, exact_p_value, significant

Table = dict[str, list[Any]]
Integers = NDArray[np.int64]


class GroupCounts(NamedTuple):
    """For each group (a row) and feature (a column), the rows in which it is true, and known."""

    true: Integers
    known: Integers

    @classmethod
    def of_groups(cls, features: Columns, groups: NDArray[np.intp], n_groups: int) -> GroupCounts:
        """Count by the group of each row; rows of a negative group are left out."""

        def count(rows: Any) -> Integers:
            found = groups[rows]
            return np.bincount(found[found >= 0], minlength=n_groups)

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

    def p_values(self, tested: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Compute the p-values of Fisher's exact test, one-sided: true more often in the group."""
        return self._exact_p_values(self.true, tested)

    def _exact_p_values(self, inside: Integers, tested: NDArray[np.bool_]) -> NDArray[np.float64]:
        _, feature = np.nonzero(tested)
        true, known = self.true.sum(0)[feature], self.known.sum(0)[feature]
        return exact_p_value(known, true, self.known[tested], inside[tested])


def compared(
    texts: Sequence[str], counts: GroupCounts, alpha: float | None, correction: str | None
) -> Table:
    """List the features whose shares in two data sets differ, the lowest p-value first.

    A p-value is two-sided: twice that of the direction found.
    """
    which = np.flatnonzero(counts.testable(alpha, sides=2).any(0))
    counts = GroupCounts(counts.true[:, which], counts.known[:, which])
    one_sided = counts.p_values(np.ones_like(counts.true, np.bool_)).reshape(2, -1)
    p = np.minimum(2 * one_sided.min(0), 1)
    p_adjusted = adjusted(p, len(p), correction)
    (true_x, true_y), (n_x, n_y) = counts
    excess = true_y * n_x - true_x * n_y
    difference = excess / (n_x * n_y)
    with np.errstate(divide="ignore"):
        ratio = (true_y * n_x) / (true_x * n_y)
    table = {
        "pattern": [texts[k] for k in which.tolist()],
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
    order = sorted(
        np.flatnonzero(_is_significant(p_adjusted, alpha)).tolist(),
        key=lambda k: (p[k], -abs(difference[k]), table["pattern"][k]),
    )
    return {name: [values[k] for k in order] for name, values in table.items()}


def described(
    texts: Sequence[str],
    labels: Sequence[Any],
    counts: GroupCounts,
    alpha: float | None,
    correction: str | None,
    top: int | None,
) -> Table:
    """List the features of each group that are more common in it, the lowest p-value first."""
    tested = counts.testable(alpha, sides=1)
    p = counts.p_values(tested)
    p_adjusted = adjusted(p, len(p), correction)
    group, feature = np.nonzero(tested)
    true, n = counts.true[tested], counts.known[tested]
    all_true, all_n = counts.true.sum(0)[feature], counts.known.sum(0)[feature]
    outside, n_outside = all_true - true, all_n - n
    lift = (true * all_n) / (n * all_true)
    table = {
        "group": [labels[g] for g in group.tolist()],
        "pattern": [texts[k] for k in feature.tolist()],
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
    ranked = sorted(
        np.flatnonzero(_is_significant(p_adjusted, alpha) & more_common).tolist(),
        key=lambda k: (group[k], p[k], -lift[k], table["pattern"][k]),
    )
    order = [k for _, some in groupby(ranked, lambda k: group[k]) for k in islice(some, top)]
    return {name: [values[k] for k in order] for name, values in table.items()}


def _is_significant(p_adjusted: NDArray[np.float64], alpha: float | None) -> NDArray[np.bool_]:
    return np.ones(len(p_adjusted), np.bool_) if alpha is None else significant(p_adjusted, alpha)
