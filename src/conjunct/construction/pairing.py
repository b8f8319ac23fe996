"""Greedy choice among candidate pairs (§3.3), with the documented order.

Larger score (the measure: r in the paper) first, then the larger joint count, then the two
canonical texts in code-point order. It does not depend on the order of columns, and so neither do
the features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from conjunct.association import Floats, Pairs
from conjunct.expressions import Expression, canonical_key
from conjunct.stores import Counts, Positions

ExpressionOf = Callable[[int], Expression]


def greedy_matching(pairs: Pairs, n_columns: int, expression_of: ExpressionOf) -> Positions:
    """Which pairs ``highest_scoring_pair`` and ``remove_candidate`` take, in the order taken.

    The sequence for a higher threshold is a prefix of this one. Only the strongest pairs that
    are still free are ever sorted: after each batch, pairs with a used end are dropped.
    """
    free = np.ones(n_columns, bool)
    taken: list[int] = []
    left = np.arange(len(pairs))
    while len(left):
        strongest = left[_at_least_nth(pairs.score[left], 2 * n_columns)]
        for run in _runs(strongest, pairs.score, pairs.joint):
            if len(run) > 1:
                still_free = free[pairs.left[run]] & free[pairs.right[run]]
                run = _by_text(pairs, run[still_free], expression_of)
            for k in run.tolist():
                i, j = pairs.left[k], pairs.right[k]
                if free[i] and free[j]:
                    free[i] = free[j] = False
                    taken.append(k)
        left = left[free[pairs.left[left]] & free[pairs.right[left]]]
    return np.array(taken, np.intp)


def largest_joint_count(pairs: Pairs, expression_of: ExpressionOf) -> Positions:
    """The one pair whose replacement lowers OI most: that with the largest joint count."""
    if not len(pairs):
        return np.empty(0, np.intp)
    largest = np.flatnonzero(pairs.joint == pairs.joint.max())
    first_run = next(_runs(largest, pairs.joint, pairs.score))
    return _by_text(pairs, first_run, expression_of)[:1]


def _at_least_nth(values: Floats, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which values are at least the n-th largest, ties included."""
    if len(values) <= n:
        return np.ones(len(values), bool)
    nth = np.partition(values, len(values) - n)[len(values) - n]
    return np.asarray(values >= nth)


def _runs(which: Positions, first: Floats | Counts, second: Floats | Counts) -> Iterator[Positions]:
    """``which`` by falling ``first``, then falling ``second``, in runs of equals."""
    order = which[np.lexsort((-second[which], -first[which]))]
    one, other = first[order], second[order]
    edges = np.flatnonzero((one[1:] != one[:-1]) | (other[1:] != other[:-1])) + 1
    for start, stop in pairwise([0, *edges.tolist(), len(order)]):
        yield order[start:stop]


def _by_text(pairs: Pairs, run: Positions, expression_of: ExpressionOf) -> Positions:
    """Tied pairs in the order of their smaller text, then of the other one."""
    columns, ends = np.unique((pairs.left[run], pairs.right[run]), return_inverse=True)
    expressions = [expression_of(column) for column in columns.tolist()]
    by_text = sorted(range(len(columns)), key=lambda k: canonical_key(expressions[k]))
    rank = np.empty(len(columns), np.intp)
    rank[by_text] = range(len(columns))
    ranks = rank[ends].reshape(2, -1)
    return run[np.lexsort((ranks.max(axis=0), ranks.min(axis=0)))]
