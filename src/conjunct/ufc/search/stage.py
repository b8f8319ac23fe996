"""A feature set at one point of a run: its features, and the counts of their columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, Counts, PairCounts, Positions, Rewrite
from conjunct.counting import Store, Tally
from conjunct.features import Lineage, Merge
from conjunct.ufc.association import PairFilter, Pairs, correlated_pairs

# the conjunctions i ∧ j, ¬i ∧ j and i ∧ ¬j of a pair: numbers in the lineage, None for an empty one
Made = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, eq=False)
class Stage:
    """The feature set after some iterations, and the merges of the last one."""

    iteration: int
    features: tuple[int, ...]
    tally: Tally
    replaced: Replaced | None = None

    @classmethod
    def first(cls, store: Store) -> Stage:
        """The primitives."""
        return cls(0, tuple(range(store.n_columns)), Tally.of(store))

    @property
    def counts(self) -> PairCounts:
        return self.tally.counts

    @property
    def supports(self) -> Counts:
        return self.counts.supports

    @property
    def observed(self) -> int | Counts:
        return self.counts.observed

    def candidates(self, criterion: PairFilter) -> Pairs:
        """The pairs that pass."""
        return correlated_pairs(self.counts, criterion)

    @property
    def merges(self) -> tuple[Merge, ...]:
        """What the last iteration replaced."""
        return () if self.replaced is None else tuple(self.replaced.merges(self.iteration))


@dataclass(frozen=True, eq=False)
class Replaced:
    """The pairs that an iteration replaced; written out as merges only where they are wanted."""

    features: tuple[int, ...]
    pairs: Pairs
    made: list[Made]

    def merges(self, iteration: int, saved: Sequence[float] | None = None) -> Iterator[Merge]:
        """The merges of an iteration; with the bits that each saved, if these are known."""
        pairs, cut_off = self.pairs, self.pairs.cut_off
        columns = (pairs.left, pairs.right, pairs.joint, pairs.r, pairs.score)
        tests = (pairs.p_value, pairs.p_adjusted)
        each = (
            np.broadcast_to(value, len(pairs)) for value in (pairs.counts.n_rows, cut_off.threshold)
        )
        lines = zip(
            *(column.tolist() for column in (*columns, *tests, *each)),
            self.made,
            [math.nan] * len(pairs) if saved is None else saved,
            strict=True,
        )
        for i, j, joint, r, score, p, p_adjusted, n_rows, threshold, made, bits in lines:
            both, right_only, left_only = made
            yield Merge(
                iteration=iteration,
                left=self.features[i],
                right=self.features[j],
                both=both,
                right_only=right_only,
                left_only=left_only,
                n_rows=n_rows,
                joint=joint,
                r=r,
                score=score,
                p_value=p,
                p_adjusted=p_adjusted,
                threshold=threshold,
                compared=cut_off.compared,
                family_size=cut_off.family_size,
                saved=bits,
            )


def replace_pairs(stage: Stage, pairs: Pairs, lineage: Lineage) -> Stage:
    """The next stage: each pair gives way to its non-empty conjunctions (§3.3).

    Kept features come first, then ``i ∧ j``, ``¬i ∧ j``, ``i ∧ ¬j`` of each pair in turn.
    """
    return Replacement(stage, pairs, lineage).of_first(len(pairs))


class Replacement:
    """The next stages of a sequence of pairs: that of all of them, or of the first few only.

    What is new is counted once for all.
    """

    def __init__(self, stage: Stage, pairs: Pairs, lineage: Lineage) -> None:
        self.pairs = pairs
        self.stage = stage
        self._tally = stage.tally.with_conjunctions(pairs.left, pairs.right)
        both = len(stage.features) + np.arange(len(pairs))
        # one line a pair: i ∧ j, ¬i ∧ j, i ∧ ¬j
        self._plus = np.column_stack([both, pairs.right, pairs.left])
        self._minus = np.column_stack([np.full_like(both, -1), both, both])
        self._occurs = parts_of(pairs.counts) > 0
        self._made = numbered_conjunctions(
            stage.features, pairs.left, pairs.right, self._occurs, lineage
        )

    @property
    def r(self) -> list[float]:
        return list(map(float, self.pairs.r))

    @property
    def size(self) -> int:
        """How much there is to look at."""
        return len(self.stage.features) ** 2

    def of_first(self, n_pairs: int) -> Stage:
        """The stage in which the first ``n_pairs`` pairs are replaced."""
        stage = self.stage
        pairs = self.pairs.take(slice(n_pairs))
        keeps = np.ones(len(stage.features), bool)
        keeps[pairs.left] = keeps[pairs.right] = False
        kept = np.flatnonzero(keeps)
        occurs = self._occurs[:n_pairs]
        rewrite = Rewrite(
            pairs.left,
            pairs.right,
            np.concatenate([kept, self._plus[:n_pairs][occurs]]),
            np.concatenate([np.full_like(kept, -1), self._minus[:n_pairs][occurs]]),
        )
        features = [stage.features[position] for position in kept.tolist()]
        for made in self._made[:n_pairs]:
            features += [number for number in made if number is not None]
        return Stage(
            stage.iteration + 1,
            tuple(features),
            self._tally.rewritten(rewrite),
            Replaced(stage.features, pairs, self._made[:n_pairs]),
        )


def parts_of(pairs: Contingency) -> Counts:
    """Rows with ``i ∧ j``, ``¬i ∧ j`` and ``i ∧ ¬j``, one line a pair."""
    joint = pairs.joint
    return np.column_stack([joint, pairs.right_support - joint, pairs.left_support - joint])


def numbered_conjunctions(
    features: Sequence[int],
    left: Positions,
    right: Positions,
    occurs: NDArray[np.bool_],
    lineage: Lineage,
) -> list[Made]:
    """The numbers of the conjunctions of each pair, ``None`` for those that occur nowhere."""
    made: list[Made] = []
    conjoin = lineage.conjoin
    for i, j, (both, right_only, left_only) in zip(
        left.tolist(), right.tolist(), occurs.tolist(), strict=True
    ):
        f, g = features[i], features[j]
        made.append(
            (
                conjoin(f, g) if both else None,
                conjoin(~f, g) if right_only else None,
                conjoin(f, ~g) if left_only else None,
            )
        )
    return made
