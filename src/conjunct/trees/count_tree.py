"""Decision trees whose tests count literals: grown node by node, then cut back where bits say so.

At each node a search looks for the best test of the rows there. ID2-of-3 and XofN differ in that
search alone (`m_of_n`, `x_of_n`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Counts
from conjunct.expressions import Expression
from conjunct.features import Made, Tally
from conjunct.trees.class_bits import DECIMALS, class_bits, literals_bits
from conjunct.trees.clustering import Limits, Path
from conjunct.trees.schema import PackedStage, all_of, telling_columns

Truths = NDArray[np.bool_]


class CountTest(NamedTuple):
    """How many of some literals are true: at least ``number``, or each number is a branch."""

    literals: Path
    number: int | None

    def branches(self, table: Truths) -> NDArray[np.intp]:
        """The branch of each row: how many are true, or whether that is enough."""
        n_true = np.zeros(len(table), np.intp)
        for literal in self.literals:
            n_true += table[:, literal] if literal >= 0 else ~table[:, ~literal]
        return n_true if self.number is None else (n_true >= self.number).astype(np.intp)

    def bits(self, n_columns: int) -> float:
        """Bits that tell the test: its literals, and which of their numbers is enough."""
        threshold = 0.0 if self.number is None else log2(len(self.literals))
        return literals_bits(len(self.literals), n_columns) + threshold


@dataclass(frozen=True)
class CountNode:
    """How many rows of each class; where there is a test, the node of each branch."""

    counts: tuple[int, ...]
    test: CountTest | None = None
    children: Mapping[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Labelled:
    """Some rows: their columns, and the number of the class of each."""

    table: Truths
    codes: NDArray[np.intp]
    n_classes: int

    @property
    def counts(self) -> Counts:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=self.n_classes)

    def take(self, rows: NDArray[Any]) -> Self:
        return replace(self, table=self.table[rows], codes=self.codes[rows])

    def totals_by(self, groups: NDArray[np.intp], n_groups: int) -> Counts:
        """Rows of each class in each group."""
        size = n_groups * self.n_classes
        counts = np.bincount(groups * self.n_classes + self.codes, minlength=size)
        return counts.reshape(n_groups, self.n_classes)

    def true_by(self, groups: NDArray[np.intp], n_groups: int) -> Counts:
        """Rows in which each column is true, by group and class: (groups, columns, classes)."""
        n_rows = len(self.codes)
        cells = np.zeros((n_rows, n_groups * self.n_classes), self._floats.dtype)
        cells[np.arange(n_rows), groups * self.n_classes + self.codes] = 1
        true = (self._floats @ cells).astype(np.int64)
        return true.reshape(-1, n_groups, self.n_classes).transpose(1, 0, 2)

    def true_together(self) -> Counts:
        """Rows in which two columns are true, by class: (columns, columns, classes)."""
        of_class = [self._floats[:, self.codes == code] for code in range(self.n_classes)]
        return np.stack([some @ some.T for some in of_class], axis=-1).astype(np.int64)

    @cached_property
    def _floats(self) -> NDArray[Any]:
        # in which sums of this many ones are exact
        exact = np.float32 if len(self.codes) < 1 << 24 else np.float64
        return np.ascontiguousarray(self.table.T, exact)


Search = Callable[[Labelled, int], CountTest | None]
"""The best test of some rows, each side of which has a number of rows; None if none tells."""


@dataclass(frozen=True)
class CountTree:
    """Nodes in preorder, branches by their number."""

    nodes: tuple[CountNode, ...]

    @property
    def tests(self) -> tuple[CountTest, ...]:
        return tuple(node.test for node in self.nodes if node.test is not None)

    def bits(self, n_columns: int) -> float:
        """Bits that tell the tree, and with it the classes of the rows it was grown on."""
        tests = sum(test.bits(n_columns) for test in self.tests)
        leaves = np.array([node.counts for node in self.nodes if node.test is None])
        return len(self.nodes) + tests + float(class_bits(leaves).sum())

    def on(self, columns: Sequence[int]) -> CountTree:
        """The same tree for a table in which column k has the position ``columns[k]``."""

        def moved(test: CountTest) -> CountTest:
            literals = (columns[x] if x >= 0 else ~columns[~x] for x in test.literals)
            return test._replace(literals=tuple(literals))

        return CountTree(
            tuple(replace(node, test=node.test and moved(node.test)) for node in self.nodes)
        )

    def class_counts(self, table: Truths) -> Counts:
        """Rows of each class in the leaf of each row.

        A row whose number of true literals was never seen at a node stays there.
        """
        found = np.zeros((len(table), len(self.nodes[0].counts)), np.int64)
        pending = [(0, np.arange(len(table)))]
        while pending:
            number, rows = pending.pop()
            node = self.nodes[number]
            found[rows] = node.counts
            if node.test is not None and node.children is not None:
                branches = node.test.branches(table[rows])
                pending += [
                    (child, rows[branches == branch]) for branch, child in node.children.items()
                ]
        return found


def labelled(
    stage: PackedStage,
    expressions: tuple[Expression, ...],
    codes: NDArray[np.intp],
    n_classes: int,
) -> tuple[Labelled, list[int]]:
    """The columns of a stage that a tree may look at, with classes; and their positions."""
    columns = telling_columns(stage, expressions)
    return Labelled(stage.store.select(columns).to_dense(), codes, n_classes), columns.tolist()


class CountProposer:
    """One tree on the columns; each of its tests that counts becomes a feature, or one a branch."""

    def __init__(
        self,
        codes: NDArray[np.intp],
        n_classes: int,
        limits: Limits,
        search: Search,
        *,
        prune: bool,
    ) -> None:
        self.codes = codes
        self.n_classes = n_classes
        self.limits = limits
        self.search = search
        self.prune = prune
        self.tree: CountTree | None = None

    def __call__(self, stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        if self.tree is not None:  # features are made as the tree grows: there is no second one
            return
        data, columns = labelled(stage, expressions, self.codes, self.n_classes)
        self.tree = grow_counts(data, self.limits, self.search, prune=self.prune).on(columns)
        for node in self.tree.nodes:
            if node.test is not None and len(node.test.literals) > 1:
                yield from _features(node.test, sorted(node.children or ()))


def _features(test: CountTest, branches: Iterable[int]) -> Iterator[Made]:
    literals = tuple(sorted(test.literals, key=lambda x: max(x, ~x)))
    if test.number is None:
        yield from (Tally(literals, number, exactly=True) for number in branches)
    elif test.number == len(literals):
        yield all_of(literals)
    else:
        yield Tally(literals, test.number, exactly=False)


def grow_counts(data: Labelled, limits: Limits, search: Search, *, prune: bool) -> CountTree:
    """Split until a node has one class or cannot be split; then, with ``prune``, cut back.

    A node whose rows are told in fewer bits as a leaf than by all that is below it becomes one.
    """
    nodes: list[CountNode] = []
    pending: list[tuple[Labelled, int, int | None, int]] = [(data, 0, None, 0)]
    while pending:
        here, depth, parent, branch = pending.pop()
        number = len(nodes)
        nodes.append(CountNode(tuple(here.counts.tolist())))
        if parent is not None:
            children = {**(nodes[parent].children or {}), branch: number}
            nodes[parent] = replace(nodes[parent], children=children)
        n_rows = len(here.table)
        ends = limits.max_depth is not None and depth >= limits.max_depth
        if ends or n_rows < limits.min_samples_split or max(nodes[number].counts) == n_rows:
            continue
        test = search(here, limits.min_samples_leaf)
        if test is None:
            continue
        nodes[number] = replace(nodes[number], test=test, children={})
        branches = test.branches(here.table)
        pending += [
            (here.take(branches == value), depth + 1, number, value)
            for value in np.unique(branches)[::-1].tolist()
        ]
    if prune:
        nodes = _pruned(nodes, data.table.shape[1])
    return CountTree(tuple(nodes))


def _pruned(nodes: list[CountNode], n_columns: int) -> list[CountNode]:
    """The nodes left, numbered in preorder again."""
    bits = (1 + class_bits(np.array([node.counts for node in nodes]))).tolist()
    leaf = [node.test is None for node in nodes]
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        if node.test is not None and node.children is not None:
            below = sum(bits[child] for child in node.children.values())
            split = 1 + node.test.bits(n_columns) + below
            leaf[number] = round(split - bits[number], DECIMALS) >= 0
            bits[number] = min(bits[number], split)
    kept: list[CountNode] = []
    pending: list[tuple[int, int | None, int]] = [(0, None, 0)]
    while pending:
        number, parent, branch = pending.pop()
        node = nodes[number]
        here = len(kept)
        kept.append(CountNode(node.counts) if leaf[number] else replace(node, children={}))
        if parent is not None:
            children = {**(kept[parent].children or {}), branch: here}
            kept[parent] = replace(kept[parent], children=children)
        if not leaf[number]:
            below_it = sorted((node.children or {}).items(), reverse=True)
            pending += [(child, here, value) for value, child in below_it]
    return kept
