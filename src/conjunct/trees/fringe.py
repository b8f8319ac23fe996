"""Conjunctions of the conditions on the paths of a tree: the FRINGE family and CAT.

FRINGE, CITRE and uFRINGE (§1.2, §2) join two conditions of each path of a tree.

CAT (Zheng 1998) joins the best conditions of each path of a pruned tree. Which ones, and how many,
is found by a systematic search: all subsets of two or more are looked at, except those that cannot
be better than the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import log2
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.expressions import Expression
from conjunct.features import Made
from conjunct.trees.clustering import Limits, Path, grow, simplest_first
from conjunct.trees.count_trees import (
    DECIMALS,
    CountTree,
    Truths,
    best_m_of_n,
    grow_counts,
    label_columns,
)
from conjunct.trees.schema import PackedStage, Proposer, all_of

Strategy = Literal["fringe", "root", "root-fringe"]

# which two conditions of a path are joined: FRINGE's last two, CITRE's first two, or the ends
CHOSEN: dict[Strategy, tuple[int, int]] = {
    "fringe": (-2, -1),
    "root": (0, 1),
    "root-fringe": (0, -1),
}

# leaves that a tree may have even if fewer features are wanted
_FEW_LEAVES = 100

Learner = Callable[[PackedStage, tuple[Expression, ...]], Iterable[Path]]
"""Paths of conditions on the columns of a stage, given the stage and its expressions."""


def clustering_paths(limits: Limits, max_features: int) -> Learner:
    """Return uFRINGE's learner: every path of a clustering tree on the present features.

    A path gives at most one feature. The leaves of many rows are so large that there are no more
    than ``max_features`` of them, or a few.
    """
    most_leaves = max(max_features, _FEW_LEAVES)

    def learn(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Path]:
        fewest = max(limits.min_samples_leaf, -(-stage.store.n_rows // most_leaves))
        bounded = replace(limits, min_samples_leaf=fewest)
        return grow(stage.store, simplest_first(expressions), bounded, stage.counts.joint).paths()

    return learn


def join_conditions(learner: Learner, strategy: Strategy) -> Proposer:
    """Return a proposer that joins two conditions of every path that has two."""
    one, other = CHOSEN[strategy]

    def propose(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        paths = learner(stage, expressions)
        return [(path[one], path[other]) for path in paths if len(path) > 1]

    return propose


MOST_LOOKED_AT = 2_000
"""Subsets of the conditions of one path; a longer search ends with the best so far."""


@dataclass(eq=False)
class CatProposer:
    """A tree on the present features; the best conjunction of each of its paths.

    Nothing more is proposed once the tree, with the classes that it codes, takes no fewer bits
    than the one before.
    """

    codes: NDArray[np.intp]
    n_classes: int
    positive: int | None
    """The class whose paths are used; those of every class if None."""
    limits: Limits
    prune: bool = field(kw_only=True)
    tree: CountTree | None = field(default=None, init=False)
    """The shortest tree so far."""
    _fewest: float = field(default=np.inf, init=False)

    def __call__(self, stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        data, columns = label_columns(stage, expressions, self.codes, self.n_classes)
        tree = grow_counts(data, self.limits, best_m_of_n(max_literals=1), prune=self.prune)
        bits = round(tree.bits(len(columns)), DECIMALS)
        if bits >= self._fewest:
            return
        self.tree, self._fewest = tree.on(columns), bits
        for path, code in class_paths(tree):
            if self.positive not in (None, code):
                continue
            found = best_conjunction(path, data.table, self.codes == code)
            if found is not None:
                yield all_of(tuple(columns[x] if x >= 0 else ~columns[~x] for x in found))


def class_paths(tree: CountTree) -> Iterator[tuple[Path, int]]:
    """Yield the conditions of each leaf of a tree with one literal per test, and its class."""
    pending: list[tuple[int, Path]] = [(0, ())]
    while pending:
        number, path = pending.pop()
        node = tree.nodes[number]
        if node.test is None or node.children is None:
            yield path, int(np.argmax(node.counts))
            continue
        (literal,) = node.test.literals
        for branch, child in sorted(node.children.items()):
            pending.append((child, (*path, literal if branch else ~literal)))


def best_conjunction(path: Path, table: Truths, is_class: Truths) -> Path | None:
    """Return the conditions, two or more, whose conjunction says most about the class.

    Of those with the same information gain, the fewest, then those nearest to the root. None if no
    conjunction gains anything.
    """
    n_rows = len(table)
    positive, everywhere = _as_bits(is_class), _as_bits(np.ones(n_rows, bool))
    columns = [_as_bits(table[:, x] if x >= 0 else ~table[:, ~x]) for x in path]
    n_positive = positive.bit_count()

    def gain(n_inside: int, n_outside: int) -> float:
        """Return the gain of rows, given how many are of the class and of others."""
        n_others = n_rows - n_positive
        rest = _entropy_bits(n_positive - n_inside, n_others - n_outside)
        after = _entropy_bits(n_inside, n_outside) + rest
        return round(_entropy_bits(n_positive, n_others) - after, DECIMALS)

    best: Path | None = None
    most, looked_at = 0.0, 0
    pending: list[tuple[Path, int, int]] = [((), 0, everywhere)]
    while pending and looked_at < MOST_LOOKED_AT:
        chosen, start, rows = pending.pop()
        inside = (rows & positive).bit_count()
        outside = rows.bit_count() - inside
        own = gain(inside, outside)
        if len(chosen) > 1:
            looked_at += 1
            if own > most or (best and own == most and len(chosen) < len(best)):
                best, most = chosen, own
        # gain is convex: no subset of the rows tells more than all of them, or those of one class
        bound = max(own, gain(inside, 0), gain(0, outside))
        shorter = best is None or len(chosen) + 1 < len(best)
        if bound > most or (bound == most and shorter):
            following = range(len(path) - 1, start - 1, -1)
            pending += [((*chosen, path[k]), k + 1, rows & columns[k]) for k in following]
    return best


def _as_bits(rows: Truths) -> int:
    return int.from_bytes(np.packbits(rows).tobytes(), "big")


def _entropy_bits(one: int, other: int) -> float:
    if not one or not other:
        return 0.0
    n = one + other
    return n * log2(n) - one * log2(one) - other * log2(other)
