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
    weights = weights or [1] * len(rows)
    n = sum(weights)
    raw = {name: tuple(row[k] for row in rows) for k, name in enumerate(names)}
    n_columns = sum(any(cell for cell in raw[name]) for name in names)

    def all_tags(tags: tuple[str, ...]) -> list[Cell]:
        column: list[Cell] = [True] * len(rows)
        for tag in tags:
            column = [both(a, b) for a, b in zip(column, raw[tag], strict=True)]
        return column

    features = [Feature((name,), raw[name]) for name in names]
    features = [f for f in features if any(cell is True for cell in f.column)]
    merges: list[Merge] = []
    while max_merges is None or len(merges) < max_merges:
        best = None
        for i, f in enumerate(features):
            for g in features[i + 1 :]:
                if max_length is not None and len(f.tags) + len(g.tags) > max_length:
                    continue
                now = table(list(f.column), list(g.column), weights)
                every = table(all_tags(f.tags), all_tags(g.tags), weights)
                value = round(min(evidence(*now), evidence(*every)), 6)
                if value <= 0:
                    continue
                one, other = (f, g) if f.tags < g.tags else (g, f)
                key = (-value, -now[3], one.tags, other.tags)
                if best is None or key < best[0]:
                    best = key, one, other, value, now, every if one is f else swap(every)
        price = cost(n, n_columns, len(merges) + 1) if n_columns > 1 else math.inf
        if best is None or not best[3] > factor * price:
            break
        _, f, g, value, now, every = best
        merges.append(Merge(f.tags, g.tags, value, now[3], every))
        made = [
            Feature(tuple(sorted(f.tags + g.tags)), tuple(map(both, f.column, g.column))),
            Feature(g.tags, tuple(map(both, map(negate, f.column), g.column))),
            Feature(f.tags, tuple(map(both, f.column, map(negate, g.column)))),
        ]
        features = [h for h in features if h not in (f, g)]
        features += [h for h in made if any(cell is True for cell in h.column)]
    final = [
        (f.tags, sum(w for cell, w in zip(f.column, weights, strict=True) if cell is True))
        for f in features
    ]
    return merges, final


def swap(counts: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Return the same table, the other one first."""
    n, s, t, c = counts
    return n, t, s, c
