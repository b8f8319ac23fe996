"""Greedy choice among candidate pairs (§3.3), with the documented order.

Larger r first, then the larger joint count, then the two canonical texts in code-point order.
The order does not depend on the order of columns, and so neither do the features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from conjunct.association import Floats, Pairs
from conjunct.expressions import Expression, canonical_text
from conjunct.expressions.text import MAX_LITERALS
from conjunct.stores import Counts, Positions

SortKey = tuple[bool, str, int]
TextOf = Callable[[int], SortKey]


def sort_key(expression: Expression) -> SortKey:
    """Canonical text; the digest tells apart names that read like formulas.

    A formula too long to be written out comes after the others, by its digest.
    """
    endless = expression.length > MAX_LITERALS
    return endless, "" if endless else canonical_text(expression), expression.digest


def greedy_matching(pairs: Pairs, n_columns: int, text_of: TextOf) -> Positions:
    """Which pairs ``highest_scoring_pair`` and ``remove_candidate`` take, in the order taken.

    The sequence for a higher threshold is a prefix of this one. Only the strongest pairs that
    are still free are ever sorted: after each batch, pairs with a used end are dropped.
    """
    free = np.ones(n_columns, bool)
    taken: list[int] = []
    left = np.arange(len(pairs))
    while len(left):
        strongest = left[_at_least_nth(pairs.r[left], 2 * n_columns)]
        for k in _ordered(pairs, strongest, pairs.r, pairs.joint, text_of):
            i, j = pairs.left[k], pairs.right[k]
            if free[i] and free[j]:
                free[i] = free[j] = False
                taken.append(k)
        left = left[free[pairs.left[left]] & free[pairs.right[left]]]
    return np.array(taken, np.intp)


def largest_joint_count(pairs: Pairs, text_of: TextOf) -> Positions:
    """The one pair whose replacement lowers OI most: that with the largest joint count."""
    everything = np.arange(len(pairs))
    largest = everything[pairs.joint == pairs.joint.max(initial=0)]
    ordered = _ordered(pairs, largest, pairs.joint, pairs.r, text_of)
    return np.array([next(ordered)] if len(pairs) else [], np.intp)


def _at_least_nth(values: Floats, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which values are at least the n-th largest, ties included."""
    if len(values) <= n:
        return np.ones(len(values), bool)
    nth = np.partition(values, len(values) - n)[len(values) - n]
    return np.asarray(values >= nth)


def _ordered(
    pairs: Pairs,
    which: Positions,
    first: Floats | Counts,
    second: Floats | Counts,
    text_of: TextOf,
) -> Iterator[int]:
    """``which`` by falling ``first``, then ``second``; texts are looked at only for ties."""
    order = which[np.lexsort((-second[which], -first[which]))]
    new_run = (first[order][1:] != first[order][:-1]) | (second[order][1:] != second[order][:-1])
    edges = np.concatenate(([0], np.flatnonzero(new_run) + 1, [len(order)]))
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        run = order[start:stop]
        yield from (run if len(run) == 1 else _by_text(pairs, run, text_of)).tolist()


def _by_text(pairs: Pairs, run: Positions, text_of: TextOf) -> Positions:
    """Tied pairs in the order of their smaller text, then of the other one."""
    columns, ends = np.unique((pairs.left[run], pairs.right[run]), return_inverse=True)
    rank = np.empty(len(columns), np.intp)
    rank[sorted(range(len(columns)), key=lambda k: text_of(int(columns[k])))] = range(len(columns))
    ranks = rank[ends].reshape(2, -1)
    return run[np.lexsort((ranks.max(axis=0), ranks.min(axis=0)))]
