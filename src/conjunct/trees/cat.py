"""CAT (Zheng 1998): the best conjunction of conditions on each path of a pruned tree.

Which conditions of a path are joined, and how many, is found by a systematic search: all subsets
of two or more are looked at, but for those that cannot be better than the best so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from conjunct.expressions import Expression
from conjunct.features import Made
from conjunct.trees.class_bits import DECIMALS, entropy_bits
from conjunct.trees.clustering import Limits, Path
from conjunct.trees.count_tree import CountTree, Truths, grow_counts, labelled
from conjunct.trees.m_of_n import best_m_of_n
from conjunct.trees.schema import PackedStage, all_of

MOST_LOOKED_AT = 10_000
"""Subsets of the conditions of one path; a longer search ends with the best so far."""


class CatProposer:
    """A tree on the present features; the best conjunction of each of its paths.

    Nothing more is proposed once the tree, with the classes that it tells, takes no fewer bits
    than the one before.
    """

    def __init__(
        self,
        codes: NDArray[np.intp],
        n_classes: int,
        positive: int | None,
        limits: Limits,
        *,
        prune: bool,
    ) -> None:
        self.codes = codes
        self.n_classes = n_classes
        self.positive = positive
        """The class whose paths are used; those of every class if None."""
        self.limits = limits
        self.prune = prune
        self.tree: CountTree | None = None
        """The shortest tree so far."""
        self._fewest = np.inf

    def __call__(self, stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        data, columns = labelled(stage, expressions, self.codes, self.n_classes)
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
    """The conditions of each leaf of a tree with one literal a test, and its class."""
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
    """The conditions, two or more, whose conjunction tells most about the class.

    Of those with the same information gain, the fewest, then those nearest to the root. None if no
    conjunction tells anything.
    """
    columns = [table[:, x] if x >= 0 else ~table[:, ~x] for x in path]
    total = np.array([np.sum(is_class), np.sum(~is_class)])
    best: Path | None = None
    most, looked_at = 0.0, 0
    pending: list[tuple[Path, int, Truths]] = [((), 0, np.ones(len(table), bool))]
    while pending and looked_at < MOST_LOOKED_AT:
        chosen, start, rows = pending.pop()
        inside = np.array([np.sum(rows & is_class), np.sum(rows & ~is_class)])
        if len(chosen) > 1:
            looked_at += 1
            gain = _gain(inside, total)
            if gain > most or (best and gain == most and len(chosen) < len(best)):
                best, most = chosen, gain
        # gain is convex: no subset of the rows tells more than all of them, or those of one class
        bound = max(_gain(inside * np.array(of), total) for of in ((1, 0), (0, 1), (1, 1)))
        shorter = best is None or len(chosen) + 1 < len(best)
        if bound > most or (bound == most and shorter):
            following = range(len(path) - 1, start - 1, -1)
            pending += [((*chosen, path[k]), k + 1, rows & columns[k]) for k in following]
    return best


def _gain(inside: NDArray[np.int64], total: NDArray[np.int64]) -> float:
    outside = entropy_bits(total - inside)
    return round(float(entropy_bits(total) - entropy_bits(inside) - outside), DECIMALS)
