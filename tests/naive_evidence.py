"""The evidence rule from its definition, slowly: plain Python on lists of rows.

Cells are True, False or None (missing). A feature is a formula over the tags, kept as its column;
a pattern is a set of names, whose rows are counted again whenever they are asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Cell = bool | None


def evidence(n: int, s: int, t: int, c: int) -> float:
    """Return n times the mutual information in bits; 0 unless together more often than chance."""
    if c * n <= s * t:
        return 0.0
    cells = {(1, 1): c, (1, 0): s - c, (0, 1): t - c, (0, 0): n - s - t + c}
    of_row, of_column = {1: s, 0: n - s}, {1: t, 0: n - t}
    return math.fsum(
        x * math.log2(x * n / (of_row[i] * of_column[j])) for (i, j), x in cells.items() if x
    )


def table(one: list[Cell], other: list[Cell], weights: list[int]) -> tuple[int, int, int, int]:
    """Return n, s, t and c of the rows in which both are known."""
    n = s = t = c = 0
    for a, b, w in zip(one, other, weights, strict=True):
        if a is None or b is None:
            continue
        n, s, t, c = n + w, s + w * a, t + w * b, c + w * (a and b)
    return n, s, t, c


def both(a: Cell, b: Cell) -> Cell:
    """Return a ∧ b by Kleene's logic."""
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def negate(a: Cell) -> Cell:
    """Return ¬a by Kleene's logic."""
    return None if a is None else not a


def cost(n: int, n_columns: int, k: int) -> float:
    """Return what the k-th merge costs: a number, and one of the pairs of m + k − 1 features."""
    n_pairs = math.comb(n_columns + k - 1, 2)
    return 0.5 * math.log2(n) + max(0.0, math.log2(n_pairs / k))


@dataclass(frozen=True)
class Feature:
    """What is true now, and the names of the tags."""

    tags: tuple[str, ...]
    column: tuple[Cell, ...]


@dataclass(frozen=True)
class Merge:
    """A pair that was joined, by its patterns (names in order), and what spoke for it."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    evidence: float
    joint: int
    all_rows: tuple[int, int, int, int]


Found = tuple[tuple, Feature, Feature, float, tuple[int, int, int, int]]
"""The place of a pair in the order, its features, its evidence and its table in all rows."""


class Rows:
    """The features of some rows, and the merges so far."""

    def __init__(self, names, rows, factor, max_length, weights) -> None:
        self.rows, self.factor, self.max_length = rows, factor, max_length
        self.weights = weights or [1] * len(rows)
        self.raw = {name: tuple(row[k] for row in rows) for k, name in enumerate(names)}
        self.n_columns = sum(any(cell for cell in self.raw[name]) for name in names)
        features = [Feature((name,), self.raw[name]) for name in names]
        self.features = [f for f in features if any(cell is True for cell in f.column)]
        self.merges: list[Merge] = []

    def all_tags(self, tags: tuple[str, ...]) -> list[Cell]:
        column: list[Cell] = [True] * len(self.rows)
        for tag in tags:
            column = [both(a, b) for a, b in zip(column, self.raw[tag], strict=True)]
        return column

    def pairs(self) -> list[Found]:
        """Return all pairs with evidence, the best first."""
        found = []
        for i, f in enumerate(self.features):
            for g in self.features[i + 1 :]:
                if self.max_length is not None and len(f.tags) + len(g.tags) > self.max_length:
                    continue
                now = table(list(f.column), list(g.column), self.weights)
                every = table(self.all_tags(f.tags), self.all_tags(g.tags), self.weights)
                value = round(min(evidence(*now), evidence(*every)), 6)
                if value <= 0:
                    continue
                one, other = (f, g) if f.tags < g.tags else (g, f)
                key = (-value, -now[3], one.tags, other.tags)
                found.append((key, one, other, value, every if one is f else swap(every)))
        return sorted(found, key=lambda pair: pair[0])

    def is_worth(self, value: float) -> bool:
        """Return whether a pair is worth the price of the next merge."""
        if self.n_columns < 2:
            return False
        return value > self.factor * cost(sum(self.weights), self.n_columns, len(self.merges) + 1)

    def join(self, pair: Found) -> None:
        (_, joint, *_), f, g, value, every = pair
        self.merges.append(Merge(f.tags, g.tags, value, -joint, every))
        made = [
            Feature(tuple(sorted(f.tags + g.tags)), tuple(map(both, f.column, g.column))),
            Feature(g.tags, tuple(map(both, map(negate, f.column), g.column))),
            Feature(f.tags, tuple(map(both, f.column, map(negate, g.column)))),
        ]
        self.features = [h for h in self.features if h is not f and h is not g]
        self.features += [h for h in made if any(cell is True for cell in h.column)]

    def final(self) -> list[tuple[tuple[str, ...], int]]:
        """Return each pattern that is left with the support of its feature."""
        rows = self.weights
        return [
            (f.tags, sum(w for cell, w in zip(f.column, rows, strict=True) if cell is True))
            for f in self.features
        ]


def run(
    names: list[str],
    rows: list[list[Cell]],
    factor: float = 1.0,
    max_length: int | None = None,
    max_merges: int | None = None,
    weights: list[int] | None = None,
) -> tuple[list[Merge], list[tuple[tuple[str, ...], int]]]:
    """Join the pair with the most evidence for as long as it is worth its price.

    Returns the merges, and each pattern that is left with the support of its feature.
    """
    state = Rows(names, rows, factor, max_length, weights)
    while max_merges is None or len(state.merges) < max_merges:
        found = state.pairs()
        if not found or not state.is_worth(found[0][3]):
            break
        state.join(found[0])
    return state.merges, state.final()


def run_in_rounds(
    names: list[str],
    rows: list[list[Cell]],
    factor: float = 1.0,
    max_length: int | None = None,
    max_rounds: int | None = None,
    weights: list[int] | None = None,
) -> tuple[list[list[Merge]], list[tuple[tuple[str, ...], int]]]:
    """Join in each round the pairs that are the best pair of both their features.

    They need at least half of the evidence of the best pair, and are joined in the order of their
    evidence, for as long as each is worth its price. Returns the merges of each round, and each
    pattern that is left with the support of its feature.
    """
    state = Rows(names, rows, factor, max_length, weights)
    rounds: list[list[Merge]] = []
    while max_rounds is None or len(rounds) < max_rounds:
        found, n_before = state.pairs(), len(state.merges)
        best = {
            id(f): next((pair for pair in found if f is pair[1] or f is pair[2]), None)
            for f in state.features
        }
        for pair in found:
            is_best_of_both = best[id(pair[1])] is pair and best[id(pair[2])] is pair
            if is_best_of_both and pair[3] >= 0.5 * found[0][3]:
                if not state.is_worth(pair[3]):
                    break
                state.join(pair)
        if len(state.merges) == n_before:
            break
        rounds.append(state.merges[n_before:])
    return rounds, state.final()


def swap(counts: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Return the same table, the other one first."""
    n, s, t, c = counts
    return n, t, s, c
