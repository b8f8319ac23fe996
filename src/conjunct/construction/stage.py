"""A feature set at one point of a run: its features, their columns and their joint counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.association import Pairs, p_value
from conjunct.construction.lineage import Lineage
from conjunct.stores import Counts, Rewrite, Store


@dataclass(frozen=True)
class Merge:
    """One replaced pair. Features are numbers in the lineage; an empty conjunction is ``None``."""

    iteration: int
    left: int
    right: int
    both: int | None
    right_only: int | None
    left_only: int | None
    joint: int
    r: float
    p_value: float

    @property
    def made(self) -> tuple[int, ...]:
        """The features that took the place of the pair."""
        made = (self.both, self.right_only, self.left_only)
        return tuple(number for number in made if number is not None)


@dataclass(frozen=True, eq=False)
class Stage:
    """The feature set after some iterations, and the merges of the last one."""

    iteration: int
    features: tuple[int, ...]
    store: Store
    joint: Counts
    merges: tuple[Merge, ...] = ()

    @classmethod
    def first(cls, store: Store) -> Stage:
        """The primitives."""
        return cls(0, tuple(range(store.n_columns)), store, store.joint_counts())

    @property
    def supports(self) -> Counts:
        return np.diagonal(self.joint)


def replace_pairs(stage: Stage, pairs: Pairs, lineage: Lineage) -> Stage:
    """The next stage: each pair gives way to its non-empty conjunctions (§3.3).

    Kept features come first, then ``i ∧ j``, ``¬i ∧ j``, ``i ∧ ¬j`` of each pair in turn.
    """
    return Replacement(stage, pairs, lineage).of_first(len(pairs))


class Replacement:
    """The next stages of a sequence of pairs: that of all of them, or of the first few only.

    What is counted is counted once for all: the columns ``i ∧ j``, against each other and against
    the present ones. The rest follows by subtraction.
    """

    def __init__(self, stage: Stage, pairs: Pairs, lineage: Lineage) -> None:
        self.pairs = pairs
        self._stage = stage
        self._both = stage.store.conjunctions(pairs.left, pairs.right)
        self._extended = extended_counts(
            stage.joint, self._both.joint_counts(stage.store), self._both.joint_counts()
        )
        self._merges, self._plus, self._minus = _planned(stage, pairs, lineage)

    def of_first(self, n_pairs: int) -> Stage:
        """The stage in which the first ``n_pairs`` pairs are replaced."""
        stage, pairs, merges = self._stage, self.pairs, self._merges[:n_pairs]
        keeps = np.ones(len(stage.features), bool)
        keeps[pairs.left[:n_pairs]] = keeps[pairs.right[:n_pairs]] = False
        kept = np.flatnonzero(keeps).tolist()
        n_made = sum(len(merge.made) for merge in merges)
        rewrite = Rewrite(
            pairs.left[:n_pairs],
            pairs.right[:n_pairs],
            np.array(kept + self._plus[:n_made], np.intp),
            np.array([-1] * len(kept) + self._minus[:n_made], np.intp),
        )
        features = [stage.features[position] for position in kept]
        for merge in merges:
            features.extend(merge.made)
        return Stage(
            stage.iteration + 1,
            tuple(features),
            stage.store.rewritten(rewrite, self._both),
            _rewritten_counts(self._extended, rewrite),
            merges,
        )


def _planned(
    stage: Stage, pairs: Pairs, lineage: Lineage
) -> tuple[tuple[Merge, ...], list[int], list[int]]:
    """What each pair becomes, and the new columns as a :class:`Rewrite` has them."""
    m = len(stage.features)
    plus: list[int] = []
    minus: list[int] = []
    p_values = p_value(pairs.r, stage.store.n_rows)
    merges = []
    for k, (i, j) in enumerate(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)):
        left, right = stage.features[i], stage.features[j]
        joint = int(pairs.joint[k])
        candidates = (
            (m + k, -1, joint, left, right),
            (j, m + k, int(stage.joint[j, j]) - joint, ~left, right),
            (i, m + k, int(stage.joint[i, i]) - joint, left, ~right),
        )
        made: list[int | None] = []
        for base, less, support, one, other in candidates:
            if support:
                plus.append(base)
                minus.append(less)
            made.append(lineage.conjoin(one, other) if support else None)
        both, right_only, left_only = made
        merges.append(
            Merge(
                iteration=stage.iteration + 1,
                left=left,
                right=right,
                both=both,
                right_only=right_only,
                left_only=left_only,
                joint=joint,
                r=float(pairs.r[k]),
                p_value=float(p_values[k]),
            )
        )
    return tuple(merges), plus, minus


def extended_counts(old: Counts, across: Counts, new: Counts) -> Counts:
    """Joint counts of present columns and new conjunctions together."""
    m, p = len(old), len(new)
    extended = np.empty((m + p, m + p), np.int64)
    extended[:m, :m] = old
    extended[m:, :m] = across
    extended[:m, m:] = across.T
    extended[m:, m:] = new
    return extended


def _rewritten_counts(extended: Counts, rewrite: Rewrite) -> Counts:
    # a column is one indicator less another, so its counts subtract
    rows = np.take(extended, rewrite.plus, axis=0)
    subtracts = np.flatnonzero(rewrite.minus >= 0)
    rows[subtracts] -= extended[rewrite.minus[subtracts]]
    counts = np.take(rows, rewrite.plus, axis=1)
    counts[:, subtracts] -= np.take(rows, rewrite.minus[subtracts], axis=1)
    return counts
