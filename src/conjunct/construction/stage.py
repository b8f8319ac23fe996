"""A feature set at one point of a run: its features, their columns and their joint counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.association import Compared, Pairs
from conjunct.construction.lineage import Lineage
from conjunct.stores import Counts, Rewrite, Store


@dataclass(frozen=True)
class Merge:
    """One replaced pair. Features are numbers in the lineage; an empty conjunction is ``None``.

    ``r``, ``score`` (the measure) and the p-values are the pair's; ``threshold`` is where its
    iteration drew the line, ``compared`` which of them was held against it, and ``family_size``
    how many pairs were tested.
    """

    iteration: int
    left: int
    right: int
    both: int | None
    right_only: int | None
    left_only: int | None
    joint: int
    r: float
    score: float
    p_value: float
    p_adjusted: float
    threshold: float
    compared: Compared
    family_size: int

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

    Kept features come first, then ``i ∧ j``, ``¬i ∧ j``, ``i ∧ ¬j`` of each pair in turn. Only the
    columns ``i ∧ j`` are counted; the rest follows by subtraction.
    """
    both = stage.store.conjunctions(pairs.left, pairs.right)
    rewrite, merges = _plan(stage, pairs, lineage)
    extended = extended_counts(stage.joint, stage.store.joint_counts(both), both.joint_counts())
    kept = len(stage.features) - 2 * len(pairs)
    features = [stage.features[position] for position in rewrite.plus[:kept]]
    for merge in merges:
        features.extend(merge.made)
    return Stage(
        stage.iteration + 1,
        tuple(features),
        stage.store.rewritten(rewrite, both),
        _rewritten_counts(extended, rewrite),
        merges,
    )


def _plan(stage: Stage, pairs: Pairs, lineage: Lineage) -> tuple[Rewrite, tuple[Merge, ...]]:
    m = len(stage.features)
    replaced = np.zeros(m, bool)
    replaced[pairs.left] = replaced[pairs.right] = True
    plus: list[int] = np.flatnonzero(~replaced).tolist()
    minus = [-1] * len(plus)
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
                score=float(pairs.score[k]),
                p_value=float(pairs.p_value[k]),
                p_adjusted=float(pairs.p_adjusted[k]),
                threshold=pairs.line.threshold,
                compared=pairs.line.compared,
                family_size=pairs.line.family_size,
            )
        )
    rewrite = Rewrite(pairs.left, pairs.right, np.array(plus, np.intp), np.array(minus, np.intp))
    return rewrite, tuple(merges)


def extended_counts(old: Counts, across: Counts, new: Counts) -> Counts:
    """Joint counts of present columns and new conjunctions together."""
    m, p = len(old), len(new)
    extended = np.empty((m + p, m + p), old.dtype)
    extended[:m, :m] = old
    extended[:m, m:] = across
    extended[m:, :m] = across.T
    extended[m:, m:] = new
    return extended


def _rewritten_counts(extended: Counts, rewrite: Rewrite) -> Counts:
    # a column is one indicator less another, so its counts subtract
    counts = extended[np.ix_(rewrite.plus, rewrite.plus)]
    less = np.flatnonzero(rewrite.minus >= 0)
    taken = rewrite.minus[less]
    across = extended[np.ix_(taken, rewrite.plus)]
    counts[less] -= across
    counts[:, less] -= across.T
    counts[np.ix_(less, less)] += extended[np.ix_(taken, taken)]
    return counts
