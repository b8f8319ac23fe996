"""Decision trees whose tests count literals: CAT, ID2-of-3 and XofN.

The trees are grown node by node, then pruned if that saves bits. At each node, a search finds the
best test. ID2-of-3 and XofN differ only in this search.

**Bits.** The classes of rows are coded in sequence. The probability of a class is its share so far,
with half a row added to each class (Krichevsky and Trofimov). For n rows, nᵢ of them in the i-th
of k classes, this takes

    log₂ [Γ(n + k/2) / Γ(k/2)] − Σᵢ log₂ [Γ(nᵢ + ½) / Γ(½)]

bits. A small group pays for its own distribution, so splitting noise makes a tree longer.

**ID2-of-3** (Murphy and Pazzani 1991) grows an M-of-N test at each node, starting with the literal
of the largest information gain. Each step adds a literal and either keeps M (more rows pass) or
raises it by one (fewer rows pass), whichever gains most, while the gain rises.

**XofN** (Zheng 1995) searches for a set of literals at each node, with one branch per number of
true literals. The best set minimises the bits of test and classes (MDL). One search starts with
the best literal or pair, another with the literals of ID2-of-3. Each step moves to the best
neighbour, with one literal more or less, even if it is worse, because parity helps only when it is
complete. A search ends after some steps without a new best.

**CAT** (Zheng 1998) tests one literal at each node, prunes the tree and joins the best conditions
of each path. A systematic search covers all subsets of two or more conditions, except those that
cannot beat the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb, log2
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from conjunct.columns import Counts
from conjunct.expressions import Expression
from conjunct.features import Made, Tally
from conjunct.trees.clustering import Limits, Path
from conjunct.trees.schema import PackedStage, all_of, telling_columns

Floats = NDArray[np.float64]
DECIMALS = 6
"""Bits are rounded before comparison, because the last digits depend on the machine."""


def class_bits(counts: NDArray[Any]) -> Floats:
    """Return the bits of the classes of groups of rows; classes are the last axis."""
    n, k = counts.sum(axis=-1), counts.shape[-1]
    of_classes = gammaln(counts + 0.5) - gammaln(0.5)
    nats = gammaln(n + k / 2) - gammaln(k / 2) - of_classes.sum(axis=-1)
    return np.asarray(nats / np.log(2))


def entropy_bits(counts: NDArray[Any]) -> Floats:
    """Return n times the entropy of the classes of groups of rows; classes are the last axis."""
    every, each = (n * np.log2(np.maximum(n, 1)) for n in (counts.sum(axis=-1), counts))
    return np.asarray(every - each.sum(axis=-1))


def literals_bits(n_literals: int, n_columns: int) -> float:
    """Return the bits that name literals: their number, their columns, and a sign each.

    A number N takes 2 log₂ N + 1 bits. Negating all literals is the same test, which saves a sign.
    """
    return 2 * log2(n_literals) + log2(comb(n_columns, n_literals)) + n_literals


Truths = NDArray[np.bool_]


class CountTest(NamedTuple):
    """A count of true literals: at least ``number``, or one branch per count."""

    literals: Path
    number: int | None

    def branches(self, table: Truths) -> NDArray[np.intp]:
        """Return the branch of each row: its count of true literals, or 1 if enough are true."""
        n_true = np.zeros(len(table), np.intp)
        for literal in self.literals:
            n_true += table[:, literal] if literal >= 0 else ~table[:, ~literal]
        return n_true if self.number is None else (n_true >= self.number).astype(np.intp)

    def bits(self, n_columns: int) -> float:
        """Return the bits of the test: its literals, and the number required."""
        threshold = 0.0 if self.number is None else log2(len(self.literals))
        return literals_bits(len(self.literals), n_columns) + threshold


@dataclass(frozen=True)
class CountNode:
    """A node: its rows per class, and if there is a test, the node of each branch."""

    counts: tuple[int, ...]
    test: CountTest | None = None
    children: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows with their columns and class numbers."""

    table: Truths
    codes: NDArray[np.intp]
    n_classes: int

    @property
    def counts(self) -> Counts:
        """Return the number of rows of each class."""
        return np.bincount(self.codes, minlength=self.n_classes)

    def take(self, rows: NDArray[Any]) -> Self:
        return replace(self, table=self.table[rows], codes=self.codes[rows])

    def totals_by(self, groups: NDArray[np.intp], n_groups: int) -> Counts:
        """Count the rows of each class in each group."""
        size = n_groups * self.n_classes
        counts = np.bincount(groups * self.n_classes + self.codes, minlength=size)
        return counts.reshape(n_groups, self.n_classes)

    def true_by(self, groups: NDArray[np.intp], n_groups: int) -> Counts:
        """Count the rows in which each column is true: (groups, columns, classes)."""
        n_rows = len(self.codes)
        cells = np.zeros((n_rows, n_groups * self.n_classes), self._floats.dtype)
        cells[np.arange(n_rows), groups * self.n_classes + self.codes] = 1
        true = (self._floats @ cells).astype(np.int64)
        return true.reshape(-1, n_groups, self.n_classes).transpose(1, 0, 2)

    def true_together(self) -> Counts:
        """Count the rows in which two columns are true: (columns, columns, classes)."""
        of_class = [self._floats[:, self.codes == code] for code in range(self.n_classes)]
        return np.stack([some @ some.T for some in of_class], axis=-1).astype(np.int64)

    @cached_property
    def _floats(self) -> NDArray[Any]:
        # a type with exact sums of this many ones
        exact = np.float32 if len(self.codes) < 1 << 24 else np.float64
        return np.ascontiguousarray(self.table.T, exact)


Search = Callable[[Labelled, int], CountTest | None]
"""A function that returns the best test of rows with a minimum number per branch, or None."""


@dataclass(frozen=True)
class CountTree:
    """A tree with nodes in preorder, and branches by number."""

    nodes: tuple[CountNode, ...]

    @property
    def tests(self) -> tuple[CountTest, ...]:
        return tuple(node.test for node in self.nodes if node.test is not None)

    def bits(self, n_columns: int) -> float:
        """Return the bits of the tree and of the classes of its training rows."""
        tests = sum(test.bits(n_columns) for test in self.tests)
        leaves = np.array([node.counts for node in self.nodes if node.test is None])
        return len(self.nodes) + tests + float(class_bits(leaves).sum())

    def on(self, columns: Sequence[int]) -> CountTree:
        """Return the same tree for a table with column k at position ``columns[k]``."""

        def move(test: CountTest) -> CountTest:
            literals = (columns[x] if x >= 0 else ~columns[~x] for x in test.literals)
            return test._replace(literals=tuple(literals))

        return CountTree(
            tuple(replace(node, test=node.test and move(node.test)) for node in self.nodes)
        )

    def class_counts(self, table: Truths) -> Counts:
        """Return the class counts in the leaf of each row, or at the node with an unseen count."""
        found = np.zeros((len(table), len(self.nodes[0].counts)), np.int64)
        pending = [(0, np.arange(len(table)))]
        while pending:
            number, rows = pending.pop()
            node = self.nodes[number]
            found[rows] = node.counts
            if node.test is not None:
                branches = node.test.branches(table[rows])
                pending += [
                    (child, rows[branches == branch]) for branch, child in node.children.items()
                ]
        return found


@dataclass(eq=False)
class TreeProposer:
    """Base of proposers that derive features from a tree and keep the best tree."""

    codes: NDArray[np.intp]
    n_classes: int
    limits: Limits
    prune: bool
    tree: CountTree | None = field(default=None, init=False)

    def label(
        self, stage: PackedStage, expressions: tuple[Expression, ...]
    ) -> tuple[Labelled, list[int]]:
        """Return the columns for a tree, with classes, and the positions of the columns."""
        columns = telling_columns(stage, expressions)
        table = stage.store.select(columns).to_dense()
        return Labelled(table, self.codes, self.n_classes), columns.tolist()


@dataclass(eq=False)
class CountProposer(TreeProposer):
    """Grow one tree; each test of several literals becomes a feature, or one per branch."""

    search: Search

    def __call__(self, stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        if self.tree is not None:  # the features come from a single tree
            return
        data, columns = self.label(stage, expressions)
        self.tree = grow_counts(data, self.limits, self.search, prune=self.prune).on(columns)
        for node in self.tree.nodes:
            if node.test is None or len(node.test.literals) < 2:
                continue
            literals, number = node.test
            literals = tuple(sorted(literals, key=lambda x: max(x, ~x)))
            if number is None:
                yield from (Tally(literals, k, exactly=True) for k in sorted(node.children))
            elif number == len(literals):
                yield all_of(literals)
            else:
                yield Tally(literals, number, exactly=False)


def grow_counts(data: Labelled, limits: Limits, search: Search, *, prune: bool) -> CountTree:
    """Split until a node has one class or no test; ``prune`` then removes subtrees to save bits."""
    nodes: list[CountNode] = []
    # rows, depth, and the parent's children to which to add a branch
    pending: list[tuple[Labelled, int, dict[int, int], int]] = [(data, 0, {}, 0)]
    while pending:
        here, depth, siblings, branch = pending.pop()
        siblings[branch] = len(nodes)
        counts, n_rows = tuple(here.counts.tolist()), len(here.table)
        ends = limits.max_depth is not None and depth >= limits.max_depth
        ends = ends or n_rows < limits.min_samples_split or max(counts) == n_rows
        test = None if ends else search(here, limits.min_samples_leaf)
        children: dict[int, int] = {}
        nodes.append(CountNode(counts, test, children))
        if test is not None:
            branches = test.branches(here.table)
            pending += [
                (here.take(branches == value), depth + 1, children, value)
                for value in np.unique(branches)[::-1].tolist()
            ]
    return CountTree(tuple(_prune(nodes, data.table.shape[1]) if prune else nodes))


def _prune(nodes: list[CountNode], n_columns: int) -> list[CountNode]:
    """Return the remaining nodes, renumbered in preorder."""
    bits = (1 + class_bits(np.array([node.counts for node in nodes]))).tolist()
    is_leaf = [node.test is None for node in nodes]
    for number, node in reversed([*enumerate(nodes)]):
        if node.test is not None:
            below = sum(bits[child] for child in node.children.values())
            split = 1 + node.test.bits(n_columns) + below
            is_leaf[number] = round(split - bits[number], DECIMALS) >= 0
            bits[number] = min(bits[number], split)
    kept: list[CountNode] = []
    pending: list[tuple[int, dict[int, int], int]] = [(0, {}, 0)]
    while pending:
        number, siblings, branch = pending.pop()
        siblings[branch] = len(kept)
        node, children = nodes[number], dict[int, int]()
        kept.append(CountNode(node.counts, None if is_leaf[number] else node.test, children))
        if not is_leaf[number]:
            below_it = sorted(node.children.items(), reverse=True)
            pending += [(child, children, value) for value, child in below_it]
    return kept


def best_m_of_n(max_literals: int | None = None) -> Search:
    """Return a greedy search for the M-of-N test with the largest information gain."""

    def search(data: Labelled, min_samples_leaf: int) -> CountTest | None:
        literals: tuple[int, ...] = ()
        number, gain = 0, 0.0
        n_true = np.zeros(len(data.table), np.intp)
        free = np.ones(data.table.shape[1], bool)
        while free.any() and (max_literals is None or len(literals) < max_literals):
            gains = _gains(data, n_true, number, min_samples_leaf)
            gains[..., ~free] = -1.0
            if gains.max() <= gain:
                break
            # ties go to the same M before a larger one, and a literal before its negation
            one_more, negated, column = np.unravel_index(int(gains.argmax()), gains.shape)
            gain = float(gains.max())
            number += int(one_more)
            literals = (*literals, ~int(column) if negated else int(column))
            n_true += data.table[:, column] ^ bool(negated)
            free[column] = False
        return CountTest(literals, number) if literals else None

    return search


def _gains(
    data: Labelled, n_true: NDArray[np.intp], number: int, min_samples_leaf: int
) -> NDArray[np.float64]:
    """Return the information gain of each test with another literal.

    The shape is (same M or one more, the literal or its negation, columns).
    """
    # rows that fail in any case, that the literal makes pass if M stays, that it keeps passing if
    # M rises, and that pass in any case
    groups = np.clip(n_true - number + 2, 0, 3)
    totals, true = data.totals_by(groups, 4), data.true_by(groups, 4)
    signed = np.stack([true, totals[:, None] - true])
    yes = np.stack([totals[2] + totals[3] + signed[:, 1], totals[3] + signed[:, 2]])
    total = data.counts
    no = total - yes
    gains = entropy_bits(total) - entropy_bits(yes) - entropy_bits(no)
    smaller = np.minimum(yes.sum(axis=-1), no.sum(axis=-1))
    return np.where(smaller < min_samples_leaf, -1.0, np.round(gains, DECIMALS))


Literals = tuple[int, ...]

MOST_PAIRED = 500
"""Maximum number of columns to try in pairs; with more, the search starts with one literal."""


def best_x_of_n(patience: int) -> Search:
    """Return a search that ends after ``patience`` steps without a shorter description."""

    def search(data: Labelled, min_samples_leaf: int) -> CountTest | None:
        m_of_n = best_m_of_n()(data, min_samples_leaf)
        best: Literals = ()
        least = np.inf
        for start in [(), *([m_of_n.literals] if m_of_n is not None else [])]:
            literals: Literals = start
            chosen, fewest = literals, _bits_of(data, literals, min_samples_leaf)
            waited, seen = 0, {frozenset(literals)}
            while waited < patience:
                found = _best_neighbour(data, literals, seen, min_samples_leaf)
                if found is None:
                    break
                literals, bits = found
                seen.add(frozenset(literals))
                waited += 1
                if bits < fewest:
                    chosen, fewest, waited = literals, bits, 0
            if fewest < least:
                best, least = chosen, fewest
        return CountTest(best, None) if best else None

    return search


def _bits_of(data: Labelled, literals: Literals, min_samples_leaf: int) -> float:
    if not literals:
        return np.inf
    branches = CountTest(literals, None).branches(data.table)
    totals = data.totals_by(branches, len(literals) + 1)
    return float(_bits(totals[:, None], len(literals), data.table.shape[1], min_samples_leaf)[0])


def _best_neighbour(
    data: Labelled, literals: Literals, seen: set[frozenset[int]], min_samples_leaf: int
) -> tuple[Literals, float] | None:
    """Return the set with the fewest bits that has one literal more or less.

    Ties go to smaller sets. Pairs are also neighbours of the empty set.
    """
    n_columns = data.table.shape[1]
    sets: list[Literals] = []
    bits: list[float] = []
    for k in range(len(literals)) if len(literals) > 1 else ():
        fewer = literals[:k] + literals[k + 1 :]
        sets.append(fewer)
        bits.append(_bits_of(data, fewer, min_samples_leaf))
    n_true = CountTest(literals, None).branches(data.table)
    n_groups = len(literals) + 1
    totals, true = data.totals_by(n_true, n_groups), data.true_by(n_true, n_groups)
    used = {max(x, ~x) for x in literals}
    free = [column for column in range(n_columns) if column not in used]
    for negated in (False, True) if free else ():
        of_literal = totals[:, None] - true if negated else true
        moved = np.zeros((n_groups + 1, n_columns, data.n_classes), np.int64)
        moved[:-1] = totals[:, None] - of_literal
        moved[1:] += of_literal
        found = _bits(moved, len(literals) + 1, n_columns, min_samples_leaf)
        sets += [(*literals, ~column if negated else column) for column in free]
        bits += found[free].tolist()
    if not literals and 1 < n_columns <= MOST_PAIRED:
        pair, its_bits = _best_pair(data, min_samples_leaf)
        sets.append(pair)
        bits.append(its_bits)
    new = [k for k, each in enumerate(sets) if frozenset(each) not in seen and bits[k] < np.inf]
    if not new:
        return None
    chosen = min(new, key=lambda k: bits[k])
    return sets[chosen], bits[chosen]


def _best_pair(data: Labelled, min_samples_leaf: int) -> tuple[Literals, float]:
    """Return the best two literals; the first is positive, because negating both has no effect."""
    n_columns = data.table.shape[1]
    left, right = np.triu_indices(n_columns, 1)
    both = data.true_together()[left, right]
    true = data.true_by(np.zeros(len(data.codes), np.intp), 1)[0]
    one, other = true[left] - both, true[right] - both
    neither = data.counts - one - other - both
    same = np.stack([neither, one + other, both])
    opposite = np.stack([other, both + neither, one])
    moved = np.concatenate([same, opposite], axis=1)
    bits = _bits(moved, 2, n_columns, min_samples_leaf)
    k = int(bits.argmin())
    negated, pair = divmod(k, len(left))
    second = int(right[pair])
    return (int(left[pair]), ~second if negated else second), float(bits[k])


def _bits(moved: Counts, n_literals: int, n_columns: int, min_samples_leaf: int) -> Floats:
    """Return the bits of test and classes, or infinity unless two branches have enough rows."""
    sizes = moved.sum(axis=-1)
    total: Floats = np.where(sizes > 0, 1 + class_bits(moved), 0.0).sum(axis=0)
    enough = (sizes >= min_samples_leaf).sum(axis=0) >= 2
    bits = np.round(total + literals_bits(n_literals, n_columns), DECIMALS)
    return np.where(enough, bits, np.inf)


MOST_LOOKED_AT = 2_000
"""Maximum number of subsets of the conditions of a path to try."""


@dataclass(eq=False)
class CatProposer(TreeProposer):
    """Propose the best conjunction of each path of a tree, while the bits decrease."""

    positive: int | None
    """The class whose paths are used; None for all classes."""
    _fewest: float = field(default=np.inf, init=False)

    def __call__(self, stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Made]:
        data, columns = self.label(stage, expressions)
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
    """Yield the conditions and class of each leaf of a tree with one literal per test."""
    pending: list[tuple[int, Path]] = [(0, ())]
    while pending:
        number, path = pending.pop()
        node = tree.nodes[number]
        if node.test is None:
            yield path, int(np.argmax(node.counts))
            continue
        (literal,) = node.test.literals
        for branch, child in sorted(node.children.items()):
            pending.append((child, (*path, literal if branch else ~literal)))


def best_conjunction(path: Path, table: Truths, is_class: Truths) -> Path | None:
    """Return the two or more conditions whose conjunction has the largest information gain.

    Ties go to fewer conditions, then to those near the root. Return None without a gain.
    """
    n_rows = len(table)
    positive, everywhere = _as_bits(is_class), _as_bits(np.ones(n_rows, bool))
    columns = [_as_bits(table[:, x] if x >= 0 else ~table[:, ~x]) for x in path]
    n_positive = positive.bit_count()

    def gain(n_inside: int, n_outside: int) -> float:
        """Return the gain of rows, given how many are inside and outside the class."""
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
        # gain is convex: no subset of rows gains more than all, or than the rows of one class
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
