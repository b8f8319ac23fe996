"""Sets of tags as a vocabulary: frequent ones, Boolean factors, and the cover of rows by them.

A row is covered as by Krimp: the largest sets first, each where all its tags are still uncovered,
then single tags. The sets that cover a row are a partition of its tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.bool_]
Itemset = frozenset[int]

LONGEST = 4
"""Frequent sets have so many tags at most: dense tables have too many that are longer."""


def occurrences(itemsets: Sequence[Itemset], table: Table) -> Table:
    """Return the rows that have all tags of a set."""
    made = [table[:, sorted(itemset)].all(axis=1) for itemset in itemsets]
    return np.array(made, bool).reshape(len(itemsets), len(table)).T


def frequent(table: Table, n_sets: int) -> list[Itemset]:
    """Return the most frequent sets of at least two tags, by mlxtend's fpgrowth."""
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth

    frame, share, least = pd.DataFrame(table), 0.5, 2 / len(table)
    while True:
        found = fpgrowth(frame, min_support=max(share, least), max_len=LONGEST)
        sizes = found["itemsets"].map(len)
        found = found[sizes > 1]
        if len(found) >= n_sets or share <= least:
            break
        share /= 2
    lines = zip(found["support"], found["itemsets"], strict=True)
    ordered = sorted(lines, key=lambda line: (-line[0], -len(line[1]), sorted(line[1])))
    return [frozenset(itemset) for _, itemset in ordered[:n_sets]]


def factors(table: Table, n_factors: int) -> list[Itemset]:
    """Return the tags of Boolean factors by GreConD: concepts that cover the most uncovered cells.

    Belohlavek and Vychodil, Discovery of optimal factors in binary data, 2010.
    """
    left, found = table.copy(), []
    while left.any() and len(found) < n_factors:
        rows, tags = np.ones(len(table), bool), np.zeros(table.shape[1], bool)
        best = 0
        while True:
            gains = _gains(table, left, rows, tags)
            tag = int(np.argmax(gains))
            if gains[tag] <= best:
                break
            best = int(gains[tag])
            rows = rows & table[:, tag]
            tags = table[rows].all(axis=0)
        left[np.ix_(rows, tags)] = False
        found.append(frozenset(np.flatnonzero(tags).tolist()))
    return found


def _gains(table: Table, left: Table, rows: Table, tags: Table) -> NDArray[np.float32]:
    """Count the cells that the concept of each further tag would newly cover."""
    having, uncovered = (cells[rows].astype(np.float32) for cells in (table, left))
    together = having.T @ having
    in_concept = together == together.diagonal()[:, None]  # tags that all rows with the tag have
    gains: NDArray[np.float32] = ((having.T @ uncovered) * in_concept).sum(axis=1)
    gains[tags] = 0
    return gains


def in_cover_order(itemsets: Iterable[Itemset], table: Table) -> list[Itemset]:
    """Return the sets and all single tags, the largest and then the most frequent first."""
    singles = map(frozenset, np.arange(table.shape[1])[:, None].tolist())
    every = list(dict.fromkeys((*filter(None, itemsets), *singles)))
    supports = occurrences(every, table).sum(axis=0).tolist()
    order = sorted(range(len(every)), key=lambda k: (-len(every[k]), -supports[k], *every[k]))
    return [every[k] for k in order]


def cover(ordered: Sequence[Itemset], table: Table) -> Table:
    """Return the sets that cover each row."""
    left, used = table.copy(), np.zeros((len(table), len(ordered)), bool)
    for k, itemset in enumerate(ordered):
        tags = sorted(itemset)
        used[:, k] = left[:, tags].all(axis=1)
        left[np.ix_(used[:, k], tags)] = False
    return used


def bits_of(ordered: Sequence[Itemset], train: Table, test: Table) -> float:
    """Return the bits of test rows by their covers, with probabilities from the training rows.

    Each set is a Bernoulli variable, in the order of the cover. It is skipped if one of its tags is
    already covered, or if it would complete a set that is known to be absent.
    """
    one, other = _Known(train, len(ordered)), _Known(test, len(ordered))
    bits = 0.0
    for k, itemset in enumerate(ordered):
        earlier = [j for j in range(k) if ordered[j] & itemset]
        without = [sorted(ordered[j] - itemset) for j in earlier]
        n_true, n_coded = one.told(k, sorted(itemset), earlier, without)
        probability = (n_true + 0.5) / (n_coded + 1)
        n_true, n_coded = other.told(k, sorted(itemset), earlier, without)
        bits -= n_true * np.log2(probability) + (n_coded - n_true) * np.log2(1 - probability)
    return float(bits)


class _Known:
    """The knowledge of a reader of the code about each row so far."""

    def __init__(self, table: Table, n_sets: int) -> None:
        self.table = table
        self.there = np.zeros_like(table)
        self.absent = np.zeros((len(table), n_sets), bool)

    def told(
        self, k: int, tags: list[int], earlier: list[int], without: list[list[int]]
    ) -> tuple[int, int]:
        """Return the number of rows with the set in the cover, and the number that code this."""
        free = ~self.there[:, tags].any(axis=1)
        excluded = np.zeros(len(self.table), bool)
        for j, others in zip(earlier, without, strict=True):
            excluded |= self.absent[:, j] & self.there[:, others].all(axis=1)
        true = free & self.table[:, tags].all(axis=1)
        self.absent[:, k] = free & ~true
        self.there[np.ix_(true, tags)] = True
        return int(true.sum()), int((free & ~excluded).sum())
