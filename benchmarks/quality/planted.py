"""Plant a known vocabulary in rows, and measure the part that is recovered.

A row is the union of independently drawn patterns, and of tags without a pattern. Then a share of
all cells is inverted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Pattern = frozenset[int]

N_ROWS = 1000
N_PATTERNS = 12
N_TAGS = 30
"""Tags of all overlapping patterns; those of disjoint ones are as many as they need."""
N_FREE = 8
"""Tags that belong to no pattern, each in a tenth of the rows."""


@dataclass(frozen=True, eq=False)
class Planted:
    table: NDArray[np.bool_]
    patterns: tuple[Pattern, ...]


def planted(
    kind: str, noise: float, seed: int, n_rows: int = N_ROWS, groups: Any = None
) -> Planted:
    """Return rows of ``kind`` "disjoint" or "overlapping"; each group has its own frequencies."""
    random = np.random.default_rng(seed)
    sizes = [2 + k % 4 for k in range(N_PATTERNS)]
    if kind == "disjoint":
        ends = np.cumsum([0, *sizes]).tolist()
        patterns = [frozenset(range(*ends[k : k + 2])) for k in range(N_PATTERNS)]
        n_tags = ends[-1]
    else:
        patterns, n_tags = _overlapping(sizes, random), N_TAGS
    groups = np.zeros(n_rows, int) if groups is None else groups
    chances = random.uniform(0.05, 0.25, (groups.max() + 1, N_PATTERNS))
    drawn = random.random((len(groups), N_PATTERNS)) < chances[groups]
    table = np.zeros((len(groups), n_tags + N_FREE), bool)
    for k, pattern in enumerate(patterns):
        table[:, sorted(pattern)] |= drawn[:, [k]]
    table[:, n_tags:] = random.random((len(groups), N_FREE)) < 0.1
    table ^= random.random(table.shape) < noise
    return Planted(table, tuple(patterns))


def _overlapping(sizes: list[int], random: np.random.Generator) -> list[Pattern]:
    """Return patterns from the same tags; no pattern is a subset of another."""
    patterns: list[Pattern] = []
    while len(patterns) < len(sizes):
        size = sizes[len(patterns)]
        drawn = frozenset(random.choice(N_TAGS, size, replace=False).tolist())
        if not any(drawn <= other or other <= drawn for other in patterns):
            patterns.append(drawn)
    return patterns


def recovered(found: list[Pattern], sought: tuple[Pattern, ...]) -> dict[str, float]:
    """Return the shares of exact patterns among all planted, all found and the first found."""
    found = list(dict.fromkeys(pattern for pattern in found if len(pattern) > 1))
    hits = [pattern in sought for pattern in found]
    first = hits[: len(sought)]
    return {
        "recall": sum(hits) / len(sought),
        "precision": sum(hits) / len(hits) if hits else 0.0,
        "first": sum(first) / len(sought),
        "found": len(found),
    }
