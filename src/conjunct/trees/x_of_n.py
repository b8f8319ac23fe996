"""XofN (Zheng 1995): a set of literals is searched at each node, each number of true ones a branch.

The best set is that with which test and classes take the fewest bits (MDL). There are two searches:
one starts with the best literal or pair of literals, the other with the literals that ID2-of-3
would count. Then the best neighbour is taken, one literal added or left out, even if it is worse:
parity shows nothing until all its literals are there. A search ends after some steps without a new
best.
"""

from __future__ import annotations

import numpy as np

from conjunct.columns import Counts
from conjunct.trees.class_bits import DECIMALS, Floats, class_bits, literals_bits
from conjunct.trees.count_tree import CountTest, Labelled, Search
from conjunct.trees.m_of_n import best_m_of_n

Literals = tuple[int, ...]

MOST_PAIRED = 500
"""Columns of which all pairs are looked at; of more, the search starts with a single literal."""


def best_x_of_n(patience: int) -> Search:
    """Search that ends after ``patience`` steps without a shorter description."""

    def search(data: Labelled, min_samples_leaf: int) -> CountTest | None:
        m_of_n = best_m_of_n()(data, min_samples_leaf)
        starts: list[Literals] = [(), *([m_of_n.literals] if m_of_n is not None else [])]
        found = [_climbed(data, start, patience, min_samples_leaf) for start in starts]
        best, _ = min(found, key=lambda each: each[1])
        return CountTest(best, None) if best else None

    return search


def _climbed(
    data: Labelled, literals: Literals, patience: int, min_samples_leaf: int
) -> tuple[Literals, float]:
    """The best set on the way from a set of literals, and its bits; infinite for no set."""
    best, fewest = literals, _bits_of(data, literals, min_samples_leaf)
    waited = 0
    seen = {frozenset(literals)}
    while waited < patience:
        found = _best_neighbour(data, literals, seen, min_samples_leaf)
        if found is None:
            break
        literals, bits = found
        seen.add(frozenset(literals))
        waited += 1
        if bits < fewest:
            best, fewest, waited = literals, bits, 0
    return best, fewest


def _bits_of(data: Labelled, literals: Literals, min_samples_leaf: int) -> float:
    if not literals:
        return np.inf
    branches = CountTest(literals, None).branches(data.table)
    totals = data.totals_by(branches, len(literals) + 1)
    return float(_bits(totals[:, None], len(literals), data.table.shape[1], min_samples_leaf)[0])


def _best_neighbour(
    data: Labelled, literals: Literals, seen: set[frozenset[int]], min_samples_leaf: int
) -> tuple[Literals, float] | None:
    """The set with one literal less or more that takes the fewest bits; smaller sets first.

    From the empty set, one of two literals is a neighbour too.
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
        moved = _moved(totals, of_literal)
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
    """Two literals, the first of which is positive: negating both changes nothing."""
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


def _moved(totals: Counts, of_literal: Counts) -> Counts:
    """Rows by number of true literals with one more, given those in which that is true."""
    n_groups, n_columns, n_classes = of_literal.shape
    moved = np.zeros((n_groups + 1, n_columns, n_classes), np.int64)
    moved[:-1] = totals[:, None] - of_literal
    moved[1:] += of_literal
    return moved


def _bits(moved: Counts, n_literals: int, n_columns: int, min_samples_leaf: int) -> Floats:
    """Bits of test and classes; infinite where fewer than two branches have enough rows."""
    sizes = moved.sum(axis=-1)
    total: Floats = np.where(sizes > 0, 1 + class_bits(moved), 0.0).sum(axis=0)
    enough = (sizes >= min_samples_leaf).sum(axis=0) >= 2
    bits = np.round(total + literals_bits(n_literals, n_columns), DECIMALS)
    return np.where(enough, bits, np.inf)
