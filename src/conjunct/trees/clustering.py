"""Clustering trees from counts alone (§2; Blockeel et al. 1998).

A node with n rows, supports s and joint counts c is split on the feature f that most reduces the
squared error within clusters, summed over all features. The reduction is

    Σ_k c_fk²/c_ff + (s_k − c_fk)²/(n − c_ff) − s_k²/n
        = Σ_k (n c_fk − c_ff s_k)² / (n c_ff (n − c_ff))

A single matrix of joint counts gives the reduction of every split. Only the smaller child is
counted; subtraction from the parent gives the matrix of the larger child.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    Bits,
    Counts,
    PackedColumns,
    Positions,
    bits_of_rows,
    count_pairs,
    pack_rows,
    rows_as_words,
)
from conjunct.expressions import Expression, canonical_key

Condition = int
"""The position of a column, or its bitwise complement (``~position``) if it must be false."""

Path = tuple[Condition, ...]
"""The conditions from the root to a node."""


@dataclass(frozen=True)
class Limits:
    """The limits of a tree, named as in scikit-learn."""

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None


@dataclass(frozen=True)
class TreeNode:
    """A cluster, and if it is split, the column, the reduction and the two parts."""

    n_rows: int
    path: Path = ()
    column: int | None = None
    gain: float = 0.0
    yes: int = -1
    no: int = -1


@dataclass(frozen=True)
class Tree:
    """A tree with nodes in preorder, ``yes`` before ``no``."""

    nodes: tuple[TreeNode, ...]

    @property
    def leaves(self) -> tuple[int, ...]:
        """Return the numbers of the nodes without a split, from left to right."""
        return tuple(k for k, node in enumerate(self.nodes) if node.column is None)

    @property
    def depth(self) -> int:
        return max(len(node.path) for node in self.nodes)

    def paths(self) -> tuple[Path, ...]:
        """Return the conditions of each leaf."""
        return tuple(self.nodes[leaf].path for leaf in self.leaves)

    def apply(self, columns: Bits, n_rows: int) -> Positions:
        """Return the leaf of each row of packed columns."""
        found = np.zeros(n_rows, np.intp)
        pending = [(0, np.arange(n_rows))]
        while pending:
            number, rows = pending.pop()
            node = self.nodes[number]
            if node.column is None:
                found[rows] = number
                continue
            is_true = bits_of_rows(columns[node.column], rows)
            pending += [(node.yes, rows[is_true]), (node.no, rows[~is_true])]
        return found


def grow(
    store: PackedColumns, ranks: Positions, limits: Limits, joint: Counts | None = None
) -> Tree:
    """Grow a tree on all columns of a store; the lowest of ``ranks`` breaks ties between columns.

    With ``max_leaf_nodes``, the largest gain is split first; otherwise the order does not matter.
    """
    table = rows_as_words(store.bits, store.n_rows).view(np.uint8)
    nodes = [TreeNode(store.n_rows)]
    # priority, number, rows, joint counts, column to split on, and gain
    frontier: list[tuple[float, int, Positions, Counts, int, float]] = []
    fewest, most = max(limits.min_samples_split, 2 * limits.min_samples_leaf), limits.max_leaf_nodes

    def may_split(number: int) -> bool:
        node = nodes[number]
        is_deep = limits.max_depth is not None and len(node.path) >= limits.max_depth
        return node.n_rows >= fewest and not is_deep

    def consider(number: int, rows: Positions, joint: Counts) -> None:
        """Add a node to the frontier if it can be split."""
        found = may_split(number) and best_split(joint, len(rows), ranks, limits.min_samples_leaf)
        if found and found[1] / (store.n_rows * store.n_columns) >= limits.min_impurity_decrease:
            # depth first keeps the fewest matrices in memory; max_leaf_nodes needs best first
            place = (0.0, -number) if most is None else (-found[1], number)
            heappush(frontier, (*place, rows, joint, *found))

    consider(0, np.arange(store.n_rows), store.joint_counts() if joint is None else joint.copy())
    while frontier and (most is None or (len(nodes) + 1) // 2 < most):
        _, place, rows, rest, column, gain = heappop(frontier)
        number, first = abs(place), len(nodes)
        parent = nodes[number]
        is_true = bits_of_rows(store.raw_columns[column], rows)
        parts = rows[is_true], rows[~is_true]
        nodes[number] = replace(parent, column=column, gain=gain, yes=first, no=first + 1)
        for condition, part in zip((column, ~column), parts, strict=True):
            nodes.append(TreeNode(len(part), (*parent.path, condition)))
        if may_split(first) or may_split(first + 1):
            children = enumerate(parts, start=first)
            (smaller, few), (larger, many) = sorted(children, key=lambda child: len(child[1]))
            counted = count_pairs(pack_rows(table[few], store.n_columns))
            rest -= counted
            consider(smaller, few, counted)
            consider(larger, many, rest)
    return Tree(tuple(_preorder(nodes)))


def best_split(
    joint: Counts, n_rows: int, ranks: Positions, min_samples_leaf: int = 1
) -> tuple[int, float] | None:
    """Return the column of the best split and its reduction, or None if none has enough rows."""
    supports = joint.diagonal()
    least = max(min_samples_leaf, 1)
    candidates = np.flatnonzero((supports >= least) & (supports <= n_rows - least))
    if not len(candidates):
        return None
    gains = reductions(joint, n_rows, candidates)
    largest = gains.max()
    tied = candidates[gains == largest]
    return int(tied[ranks[tied].argmin()]), float(largest)


def reductions(joint: Counts, n_rows: int, candidates: Positions) -> NDArray[np.float64]:
    """Return the reduction of the summed squared error by a split on each candidate.

    The largest reductions are integer sums with a single, correctly rounded division, so ties are
    exact in any order of columns. Reductions that are clearly smaller are approximate.
    """
    supports = joint.diagonal()
    yes, (squares, products, total) = (
        supports[candidates],
        _sum_up(joint[candidates], supports, n_rows),
    )
    n, floats = float(n_rows), yes.astype(np.float64)
    plus = n * n * squares.astype(np.float64) + floats * floats * float(total)
    minus = 2 * n * floats * products.astype(np.float64)
    scale = n * floats * (n - floats)
    gains, errors = (plus - minus) / scale, 1e-14 * (plus + minus) / scale
    largest = np.flatnonzero(gains + errors >= (gains - errors).max())
    gains[largest] = _divide(n_rows, yes[largest], squares[largest], products[largest], total)
    return gains


def gains_of_new(new: PackedColumns, store: PackedColumns) -> NDArray[np.float64]:
    """Return the reduction of the squared error by a split of all rows on each new column."""
    gains, yes = np.zeros(new.n_columns), new.supports()
    both = np.flatnonzero((yes > 0) & (yes < store.n_rows))
    joint = new.select(both).joint_counts(store)
    gains[both] = _divide(store.n_rows, yes[both], *_sum_up(joint, store.supports(), store.n_rows))
    return gains


def _sum_up(joint: Counts, supports: Counts, n_rows: int) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return the exact Σ_k c_fk² and Σ_k c_fk s_k for each candidate f, and Σ_k s_k²."""
    # the fastest type with exact sums
    largest = len(supports) * n_rows**2
    in_words: type[Any] = np.int64 if largest < 1 << 63 else object
    dtype: type[Any] = np.float64 if largest < 1 << 53 else in_words
    joint, supports = joint.astype(dtype), supports.astype(dtype)
    return np.einsum("fk,fk->f", joint, joint), joint @ supports, supports @ supports


def _divide(
    n: int, yes: NDArray[Any], squares: NDArray[Any], products: NDArray[Any], total: Any
) -> list[float]:
    """Return the exact reductions from these sums."""
    return [
        (n * n * square - 2 * n * own * product + own * own * int(total)) / (n * own * (n - own))
        for own, square, product in zip(
            *(map(int, x) for x in (yes, squares, products)), strict=True
        )
    ]


def simplest_first(expressions: Iterable[Expression]) -> Positions:
    """Rank expressions by number of literals, then canonical text, then age."""
    listed = list(expressions)
    order = sorted(
        range(len(listed)), key=lambda k: (listed[k].length, canonical_key(listed[k]), k)
    )
    ranks = np.empty(len(listed), np.intp)
    ranks[order] = range(len(listed))
    return ranks


def _preorder(nodes: list[TreeNode]) -> Iterator[TreeNode]:
    """Yield the nodes, numbered in preorder."""
    order: list[int] = []
    pending = [0]
    while pending:
        number = pending.pop()
        order.append(number)
        if nodes[number].column is not None:
            pending += [nodes[number].no, nodes[number].yes]
    new = {number: k for k, number in enumerate(order)}
    for number in order:
        node = nodes[number]
        split = node.column is not None
        yield replace(node, yes=new[node.yes], no=new[node.no]) if split else node
