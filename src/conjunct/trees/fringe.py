"""FRINGE, CITRE and uFRINGE (§1.2, §2): two conditions of each path of a tree are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from conjunct.expressions import Expression
from conjunct.features import Made
from conjunct.trees.clustering import Limits, Path, grow, simplest_first
from conjunct.trees.schema import PackedStage, Proposer

Strategy = Literal["fringe", "root", "root-fringe"]

# which two conditions of a path are joined: FRINGE's last two, CITRE's first two, or the ends
CHOSEN: dict[Strategy, tuple[int, int]] = {
    "fringe": (-2, -1),
    "root": (0, 1),
    "root-fringe": (0, -1),
}

# what a tree may have in any case, however few features are wanted
_FEW_LEAVES = 100

Learner = Callable[[PackedStage, tuple[Expression, ...]], Iterable[Path]]
"""Paths of conditions on the columns of a stage, given the stage and its expressions."""


def clustering_paths(limits: Limits, max_features: int) -> Learner:
    """uFRINGE's learner: every path of a clustering tree on the present features.

    A path gives one feature at most. The leaves of many rows are so large that there are no more
    than ``max_features`` of them, or a few.
    """
    most_leaves = max(max_features, _FEW_LEAVES)

    def learn(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Path]:
        fewest = max(limits.min_samples_leaf, -(-stage.store.n_rows // most_leaves))
        bounded = replace(limits, min_samples_leaf=fewest)
        return grow(stage.store, simplest_first(expressions), bounded, stage.counts.joint).paths()

    return learn


def joined_conditions(learner: Learner, strategy: Strategy) -> Proposer:
    """Two conditions of every path that has as many."""
    one, other = CHOSEN[strategy]

    def propose(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        paths = learner(stage, expressions)
        return [(path[one], path[other]) for path in paths if len(path) > 1]

    return propose
