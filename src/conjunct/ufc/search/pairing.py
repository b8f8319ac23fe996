"""Greedy choice among candidate pairs (§3.3), with the documented order.

Larger score (the measure: r in the paper) first, then the larger joint count, then the two
canonical texts in code-point order. It does not depend on the order of columns, and so neither do
the features.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

import numpy as np

from conjunct.columns import Counts, Positions
from conjunct.ufc.association import Floats, Pairs


class Associated(Protocol):
    """Pairs of columns with what orders them."""

    @property
    def left(self) -> Positions: ...

    @property
    def right(self) -> Positions: ...

    @property
    def joint(self) -> Counts: ...

    @property
    def r(self) -> Floats: ...


ByText = Callable[[list[int]], list[int]]
"""Puts columns in the order of the canonical texts of their features."""


def greedy_matching(pairs: Pairs, n_columns: int, by_text: ByText) -> Positions:
    """Which pairs ``highest_scoring_pair`` and ``remove_candidate`` take, in the order taken.

    The sequence for a higher threshold is a prefix of this one. Only the strongest pairs that
    are still free are ever sorted: after each batch, pairs with a used end are dropped. Texts are
    compared only where tied pairs share an end, for nowhere else do they decide what is taken;
    ``in_order_of_texts`` puts the others in order too.
    """
    free = bytearray(b"\1") * n_columns
    taken: list[int] = []
    left = np.arange(len(pairs))
    while len(left):
        strongest = left[_at_least_nth(pairs.score[left], 2 * n_columns)]
        order, edges = _in_runs(strongest, pairs.score, pairs.joint)
        ends = list(zip(pairs.left[order].tolist(), pairs.right[order].tolist(), strict=True))
        numbers = order.tolist()
        for start, stop in pairwise(edges):
            if stop - start == 1:
                run = [start]
            else:
                run = [k for k in range(start, stop) if free[ends[k][0]] and free[ends[k][1]]]
                if len(run) > 1 and _overlap([ends[k] for k in run]):
                    run = [run[k] for k in in_order([ends[k] for k in run], by_text)]
            for k in run:
                i, j = ends[k]
                if free[i] and free[j]:
                    free[i] = free[j] = 0
                    taken.append(numbers[k])
        if len(strongest) == len(left):
            break
        is_free = np.frombuffer(free, bool)
        left = left[is_free[pairs.left[left]] & is_free[pairs.right[left]]]
    return np.array(taken, np.intp)


def greedy_matchings(pairs: Associated, group_of: Positions, by_text: ByText) -> Positions:
    """The greedy matchings of several groups of columns at once, group after group.

    ``group_of`` is the group of each column; no pair goes from one to another.
    """
    group = group_of[pairs.left]
    order = np.lexsort((-pairs.joint, -pairs.r, group))
    joint, r, group = pairs.joint[order], pairs.r[order], group[order]
    changes = (group[1:] != group[:-1]) | (r[1:] != r[:-1]) | (joint[1:] != joint[:-1])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else []
    left, right = pairs.left[order].tolist(), pairs.right[order].tolist()
    free = bytearray(b"\1") * len(group_of)
    taken: list[int] = []
    for start, stop in pairwise(edges):
        if stop - start == 1:
            i, j = left[start], right[start]
            if free[i] and free[j]:
                free[i] = free[j] = 0
                taken.append(start)
            continue
        run = [k for k in range(start, stop) if free[left[k]] and free[right[k]]]
        if len(run) > 1:
            run = _untied(run, left, right, by_text)
        for k in run:
            i, j = left[k], right[k]
            if free[i] and free[j]:
                free[i] = free[j] = 0
                taken.append(k)
    return order[np.array(taken, np.intp)]


def _untied(run: list[int], left: list[int], right: list[int], by_text: ByText) -> list[int]:
    """Tied pairs in the order in which they are to be tried, those without a chance left out."""
    columns = [left[k] for k in run] + [right[k] for k in run]
    others = set(columns)
    if len(others) == len(columns):
        return run
    if len(others) == len(run) + 1:
        for shared in (left[run[0]], right[run[0]]):
            if columns.count(shared) == len(run):
                # whatever the text of the shared end, that of the other decides, and one is taken
                others.remove(shared)
                first = by_text([*others])[0]
                return [k for k in run if left[k] == first or right[k] == first]
    return [run[k] for k in in_order([(left[k], right[k]) for k in run], by_text)]


def in_order_of_texts(pairs: Pairs, by_text: ByText) -> Pairs:
    """Matched pairs with those of equal score and joint count in the order of their texts."""
    order, edges = _in_runs(np.arange(len(pairs)), pairs.score, pairs.joint)
    for start, stop in pairwise(edges):
        if stop - start > 1:
            run = order[start:stop]
            ends = list(zip(pairs.left[run].tolist(), pairs.right[run].tolist(), strict=True))
            order[start:stop] = run[in_order(ends, by_text)]
    return pairs.take(order)


def _at_least_nth(values: Floats, n: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which values are at least the n-th largest, ties included."""
    if len(values) <= n:
        return np.ones(len(values), bool)
    nth = np.partition(values, len(values) - n)[len(values) - n]
    return np.asarray(values >= nth)


def _in_runs(
    which: Positions, first: Floats | Counts, second: Floats | Counts
) -> tuple[Positions, list[int]]:
    """``which`` by falling ``first``, then falling ``second``; and where runs of equals begin."""
    order = which[np.lexsort((-second[which], -first[which]))]
    one, other = first[order], second[order]
    edges = np.flatnonzero((one[1:] != one[:-1]) | (other[1:] != other[:-1])) + 1
    return order, [0, *edges.tolist(), len(order)]


def _overlap(ends: list[tuple[int, int]]) -> bool:
    """Whether two of the pairs share a column."""
    return len({column for pair in ends for column in pair}) < 2 * len(ends)


def in_order(ends: list[tuple[int, int]], by_text: ByText) -> list[int]:
    """Tied pairs in the order of their smaller text, then of the other one."""
    if len(ends) == 1:
        return [0]
    columns = by_text(list({column for pair in ends for column in pair}))
    rank = dict(zip(columns, range(len(columns)), strict=True))
    ranks = [(rank[i], rank[j]) if rank[i] < rank[j] else (rank[j], rank[i]) for i, j in ends]
    return sorted(range(len(ends)), key=ranks.__getitem__)
