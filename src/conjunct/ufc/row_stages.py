"""Stages by rows: which features each row holds, and which two of them share a row.

Conjunctions split what they replace, so a row holds fewer and fewer features, and two features
rarely share one. Following a path of many stages, that is far less to look at than matrices of
joint counts; it gives the same integers. Many stages are followed at once, their arrays joined
end to end: they are so small that one by one the calls would take longer than the counting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns, Counts, unpack
from conjunct.features import Lineage
from conjunct.ufc.association import Floats, has_expected_frequencies, phi
from conjunct.ufc.batch import ByText, take_free, text_order

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

# 32 bytes for each two features that share a row; more are counted in a matrix
_MAX_MEETINGS = 1 << 20
_MAX_CELLS = 1 << 26


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class RowStage:
    """A feature set after some iterations.

    The first ``n_kept`` features were there before the last iteration. An entry is a feature in a
    row, and ``column_of`` its column. A meeting is two entries of the same row.
    """

    iteration: int
    features: tuple[int, ...]
    n_kept: int
    n_rows: int
    supports: Counts
    column_of: Indices
    one: Indices
    other: Indices

    @property
    def observed(self) -> int:
        return self.n_rows

    @classmethod
    def first(cls, store: Columns) -> RowStage | None:
        """Return the primitives; ``None`` where cells are missing, or are too many to look at."""
        if store.has_missing or store.n_rows * store.n_columns > _MAX_CELLS:
            return None
        table = unpack(store.to_bits().bits, store.n_rows)
        held = table.sum(axis=1)
        if int((held * (held - 1) // 2).sum()) > _MAX_MEETINGS:
            return None
        _, column_of = np.nonzero(table)
        starts = np.concatenate([[0], np.cumsum(held)])
        met = [np.triu_indices(k, 1) for k in range(int(held.max(initial=0)) + 1)]
        one = [met[k][0] + start for k, start in zip(held, starts[:-1], strict=True)]
        other = [met[k][1] + start for k, start in zip(held, starts[:-1], strict=True)]
        nothing = [np.empty(0, np.intp)]
        return cls(
            0,
            tuple(range(store.n_columns)),
            0,
            store.n_rows,
            table.sum(axis=0, dtype=np.int64),
            column_of,
            np.concatenate(one + nothing),
            np.concatenate(other + nothing),
        )


@dataclass(frozen=True, eq=False, slots=True)
class RowReplacement:
    """The pairs that the next iteration takes from a stage, strongest first.

    ``parts`` has a line for each: the supports of i ∧ j, ¬i ∧ j and i ∧ ¬j. ``made``
    are the features that take its place.
    """

    stage: RowStage
    r: list[float]
    left: Indices
    right: Indices
    parts: Counts
    made: list[list[int]]

    @property
    def size(self) -> int:
        """The number of meetings to look at."""
        return len(self.stage.one)


@dataclass(frozen=True, eq=False, slots=True)
class RowPairs:
    """Pairs of columns (``left < right``), their joint counts and correlations."""

    left: Indices
    right: Indices
    joint: Counts
    r: Floats


class JoinedRows:
    """Several stages end to end: columns and entries are numbered throughout."""

    def __init__(self, stages: Sequence[RowStage]) -> None:
        self.stages = stages
        self.n_rows = stages[0].n_rows
        self.sizes = np.array([len(stage.features) for stage in stages])
        self.n_entries = np.array([len(stage.column_of) for stage in stages])
        self.n_meetings = np.array([len(stage.one) for stage in stages])
        self.first_column = _starts(self.sizes)
        first_entry = _starts(self.n_entries)
        self.supports = np.concatenate([stage.supports for stage in stages])
        self.column_of = np.concatenate([stage.column_of for stage in stages])
        self.column_of += np.repeat(self.first_column, self.n_entries)
        shifts = np.repeat(first_entry, self.n_meetings)
        self.one = np.concatenate([stage.one for stage in stages])
        self.one += shifts
        self.other = np.concatenate([stage.other for stage in stages])
        self.other += shifts

    def candidates(self, lows: Sequence[float], prune: bool) -> RowPairs:
        """Find the pairs above the threshold of their stage, as ``correlated_pairs`` does.

        Thresholds are at least the one that led to the stage. So no two features that were kept
        can pass: the matching would have taken them, or another pair in their way.
        """
        m, supports = len(self.supports), self.supports
        n_kept = np.array([stage.n_kept for stage in self.stages])
        is_new = np.arange(m) >= np.repeat(self.first_column + n_kept, self.sizes)
        one, other = self.column_of[self.one], self.column_of[self.other]
        some = is_new[one] | is_new[other]
        one, other = one[some], other[some]
        codes = np.minimum(one, other) * m + np.maximum(one, other)
        codes.sort()
        is_edge = np.ones(len(codes) + 1, bool)
        np.not_equal(codes[1:], codes[:-1], out=is_edge[1:-1])
        edges = np.flatnonzero(is_edge)
        starts = edges[:-1]
        joint = edges[1:] - starts
        left, right = np.divmod(codes[starts], m)
        r = phi(self.n_rows, supports[left], supports[right], joint)
        passes = r > np.repeat(lows, self.sizes)[left]
        if prune:
            passes &= has_expected_frequencies(self.n_rows, supports[left], supports[right])
        return RowPairs(left[passes], right[passes], joint[passes], r[passes])


def greedy_matchings(pairs: RowPairs, group_of: Indices, by_text: ByText) -> Indices:
    """Return the greedy matchings of several groups of columns at once, group after group.

    ``group_of`` is the group of each column; no pair goes from one to another.
    """
    group = group_of[pairs.left]
    order = np.lexsort((-pairs.joint, -pairs.r, group))
    joint, r, group = pairs.joint[order], pairs.r[order], group[order]
    changes = (group[1:] != group[:-1]) | (r[1:] != r[:-1]) | (joint[1:] != joint[:-1])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)] if len(order) else []
    ends = pairs.left[order].tolist(), pairs.right[order].tolist()
    free = bytearray(b"\1") * len(group_of)
    return order[np.array(take_free(*ends, edges, free, by_text), np.intp)]


def find_replacements(
    stages: Sequence[RowStage], lows: Sequence[float], prune: bool, lineage: Lineage
) -> list[RowReplacement]:
    """Return what the next iteration takes from each stage, for thresholds from ``lows`` up."""
    joined = JoinedRows(stages)
    pairs = joined.candidates(lows, prune)
    features = [*chain.from_iterable([stage.features for stage in stages])]
    stage_of = np.repeat(np.arange(len(stages)), joined.sizes)
    taken = greedy_matchings(pairs, stage_of, text_order(features, lineage))
    left, right, joint = pairs.left[taken], pairs.right[taken], pairs.joint[taken]
    parts = np.empty((len(taken), 3), np.int64)
    parts[:, 0] = joint
    parts[:, 1] = joined.supports[right] - joint
    parts[:, 2] = joined.supports[left] - joint
    occurs = parts > 0
    # the literals of i ∧ j, ¬i ∧ j and i ∧ ¬j
    numbers = np.array(features)
    f, g = numbers[left], numbers[right]
    ones, others = np.stack([f, ~f, f], axis=1), np.stack([g, g, ~g], axis=1)
    made = [*map(lineage.conjoin, ones[occurs].tolist(), others[occurs].tolist())]
    n_pairs = np.bincount(stage_of[left], minlength=len(stages))
    shifts = np.repeat(joined.first_column, n_pairs)
    left -= shifts
    right -= shifts
    r = pairs.r[taken].tolist()
    n_made = np.cumsum(np.append(0, occurs.sum(axis=1))).tolist()
    return [
        RowReplacement(
            stage,
            r[which],
            left[which],
            right[which],
            parts[which],
            [made[start:stop] for start, stop in pairwise(n_made[which.start : which.stop + 1])],
        )
        for stage, which in zip(stages, _slices(n_pairs), strict=True)
    ]


def replace_first(wanted: Sequence[tuple[RowReplacement, int]]) -> list[RowStage]:
    """Replace the first pairs of each replacement, as many as wanted, and return the stages."""
    joined = JoinedRows([replacement.stage for replacement, _ in wanted])
    n_pairs = np.array([n for _, n in wanted])
    shifts = np.repeat(joined.first_column, n_pairs)
    left = np.concatenate([replacement.left[:n] for replacement, n in wanted]) + shifts
    right = np.concatenate([replacement.right[:n] for replacement, n in wanted]) + shifts
    parts = np.concatenate([replacement.parts[:n] for replacement, n in wanted])
    occurs = parts > 0

    m = len(joined.supports)
    keeps = np.ones(m, bool)
    keeps[left] = keeps[right] = False
    n_kept = _totals(keeps, joined.sizes)
    n_made = _totals(occurs, 3 * n_pairs)
    sizes = n_kept + n_made
    first_column = _starts(sizes)
    # where the entries of a column go: alone in a row, or together with its partner
    alone = np.cumsum(keeps) + np.repeat(first_column - _starts(n_kept) - 1, joined.sizes)
    places = np.cumsum(occurs).reshape(-1, 3)
    places += np.repeat(first_column + n_kept - _starts(n_made) - 1, n_pairs)[:, None]
    supports = np.empty(int(sizes.sum()), np.int64)
    supports[alone[keeps]] = joined.supports[keeps]
    supports[places[occurs]] = parts[occurs]
    alone[left], alone[right] = places[:, 2], places[:, 1]
    together = np.empty(m, np.intp)
    together[left] = together[right] = places[:, 0]
    partner = np.full(m, -1)
    partner[left], partner[right] = right, left

    one, other = joined.column_of[joined.one], joined.column_of[joined.other]
    merged = partner[one] == other
    column_of = alone[joined.column_of]
    column_of[joined.one[merged]] = together[one[merged]]
    column_of -= np.repeat(first_column, joined.n_entries)
    # of two entries that were merged one stays: the other meets none any more
    is_gone = np.zeros(len(column_of), bool)
    is_gone[joined.other[merged]] = True
    stays = ~(is_gone[joined.one] | is_gone[joined.other])
    starts = np.repeat(_starts(joined.n_entries), joined.n_meetings)
    one, other = (joined.one - starts)[stays], (joined.other - starts)[stays]
    is_kept = keeps.tobytes()
    cuts = zip(
        _slices(sizes),
        _slices(joined.n_entries),
        _slices(_totals(stays, joined.n_meetings)),
        _slices(joined.sizes),
        n_kept.tolist(),
        strict=True,
    )
    return [
        RowStage(
            replacement.stage.iteration + 1,
            (
                *compress(replacement.stage.features, is_kept[there]),
                *chain.from_iterable(replacement.made[:n]),
            ),
            kept,
            joined.n_rows,
            supports[columns],
            column_of[entries],
            one[meetings],
            other[meetings],
        )
        for (replacement, n), (columns, entries, meetings, there, kept) in zip(
            wanted, cuts, strict=True
        )
    ]


def _starts(lengths: Indices) -> Indices:
    """Return where each of several pieces begins, end to end."""
    return np.cumsum(lengths) - lengths


def _slices(lengths: Indices) -> Iterator[slice]:
    ends = np.cumsum(lengths).tolist()
    return map(slice, [0, *ends], ends)


def _totals(values: Mask, lengths: Indices) -> Indices:
    """Count how many are true in each of several pieces, end to end."""
    before = np.concatenate([[0], np.cumsum(values)])
    ends = np.cumsum(lengths)
    return np.asarray(before[ends] - before[ends - lengths])
