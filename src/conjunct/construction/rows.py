"""A stage by rows: which features each row holds, and which two of them share a row.

Conjunctions split what they replace, so a row holds fewer and fewer features, and two features
rarely share one. Following a path of many stages, that is far less to look at than a matrix of
joint counts; it gives the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from conjunct.association import Criterion, Pairs, count_complete_pairs, judged
from conjunct.construction.lineage import Lineage
from conjunct.construction.stage import Made, made_of
from conjunct.stores import BitStore, Contingency
from conjunct.stores.packing import unpack

Indices = NDArray[np.intp]

# 32 bytes for each two features that share a row; more are counted in a matrix
_MAX_MEETINGS = 1 << 20
_MAX_CELLS = 1 << 26


@dataclass(frozen=True, eq=False)
class RowStage:
    """A feature set after some iterations.

    The first ``n_kept`` features were there before the last iteration. An entry is a feature in a
    row: ``column_of[e]`` is its column, or that after the last one if it was merged into another
    entry. A meeting is two entries of the same row.
    """

    iteration: int
    features: tuple[int, ...]
    n_kept: int
    n_rows: int
    supports: NDArray[np.int64]
    column_of: Indices
    one: Indices
    other: Indices

    @classmethod
    def first(cls, store: BitStore) -> RowStage | None:
        """The primitives; ``None`` where there are too many cells or meetings."""
        if store.n_rows * store.n_columns > _MAX_CELLS:
            return None
        table = unpack(store.bits, store.n_rows)
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

    def candidates(self, criterion: Criterion) -> Pairs:
        """The pairs that pass, as ``correlated_pairs`` finds them in a matrix.

        For thresholds from that which led here on: no two features that were kept can pass, for
        the matching would have taken them, or another pair in their way.
        """
        m = len(self.features)
        one, other = self.columns
        later = np.maximum(one, other)
        is_new = later >= self.n_kept
        codes = np.minimum(one, other)[is_new] * m + later[is_new]
        codes.sort()
        is_edge = np.ones(len(codes) + 1, bool)
        np.not_equal(codes[1:], codes[:-1], out=is_edge[1:-1])
        edges = np.flatnonzero(is_edge)
        starts = edges[:-1]
        joint = edges[1:] - starts
        left, right = np.divmod(codes[starts], m)
        counts = Contingency(
            left, right, self.n_rows, self.supports[left], self.supports[right], joint
        )
        passing = counts.take(criterion.screen().accepts(counts))
        tested = count_complete_pairs(self.n_rows, self.supports, prune=criterion.prune)
        return judged(passing, tested, criterion)

    @property
    def observed(self) -> int:
        return self.n_rows

    @cached_property
    def columns(self) -> tuple[Indices, Indices]:
        """The two columns of each meeting."""
        return self.column_of[self.one], self.column_of[self.other]

    def replacement(self, pairs: Pairs, lineage: Lineage) -> RowReplacement:
        return RowReplacement(self, pairs, lineage)


class RowReplacement:
    """The next stages of a sequence of pairs: that of all of them, or of the first few only."""

    def __init__(self, stage: RowStage, pairs: Pairs, lineage: Lineage) -> None:
        self.pairs = pairs
        self._stage = stage
        joint, supports = pairs.joint, stage.supports
        # one line a pair: i ∧ j, ¬i ∧ j, i ∧ ¬j
        self._parts = np.empty((len(pairs), 3), np.int64)
        self._parts[:, 0] = joint
        self._parts[:, 1] = supports[pairs.right] - joint
        self._parts[:, 2] = supports[pairs.left] - joint
        self._occurs = self._parts > 0
        self._made: list[Made] = made_of(stage.features, pairs, self._occurs, lineage)

    def of_first(self, n_pairs: int) -> RowStage:
        """The stage in which the first ``n_pairs`` pairs are replaced."""
        stage = self._stage
        left, right = self.pairs.left[:n_pairs], self.pairs.right[:n_pairs]
        occurs = self._occurs[:n_pairs]
        m = len(stage.features)
        keeps = np.ones(m, bool)
        keeps[left] = keeps[right] = False
        kept = np.flatnonzero(keeps)
        # where the entries of a column go: alone in a row, or together with its partner
        alone = np.empty(m + 1, np.intp)
        alone[kept] = np.arange(len(kept))
        places = len(kept) + np.cumsum(occurs).reshape(-1, 3) - 1
        alone[left], alone[right] = places[:, 2], places[:, 1]
        together = np.empty(m, np.intp)
        together[left] = together[right] = places[:, 0]
        partner = np.full(m, -1)
        partner[left], partner[right] = right, left
        n_next = int(places[-1, -1]) + 1
        alone[m] = n_next

        one, other = stage.columns
        merged = partner[one] == other
        column_of = alone[stage.column_of]
        first, second = stage.one[merged], stage.other[merged]
        column_of[first] = together[one[merged]]
        column_of[second] = n_next
        stays = ~merged & (column_of[stage.one] != n_next) & (column_of[stage.other] != n_next)
        features = [stage.features[position] for position in kept.tolist()]
        features += [
            number for made in self._made[:n_pairs] for number in made if number is not None
        ]
        return RowStage(
            stage.iteration + 1,
            tuple(features),
            len(kept),
            stage.n_rows,
            np.concatenate([stage.supports[kept], self._parts[:n_pairs][occurs]]),
            column_of,
            stage.one[stays],
            stage.other[stays],
        )
