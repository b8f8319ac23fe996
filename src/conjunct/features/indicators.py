"""How good a feature set is: the paper's OI, C0, C1 and RMS (§4, §6.2)."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike


def overlapping_index(
    supports: ArrayLike, n_rows: ArrayLike, *, null_support: int | None = None
) -> float:
    """OI(F): 0 where no two features share a row, 1 where all features are true everywhere.

    Parameters
    ----------
    supports
        Number of rows in which each feature is true.
    n_rows
        Number of rows; where cells are missing, for each feature the number of rows in which it
        is known: p(f) is then its share of those.
    null_support
        Number of rows in which no feature is true. When given, the paper's artificial feature
        "null" is counted as one more feature; the published figures leave it out, so that OI can
        fall a little below 0 where many rows have no feature at all.

    Returns
    -------
    float
        (Σ p(f) − 1) / (m − 1), and 0 for a single feature, which cannot overlap.

    Examples
    --------
    >>> overlapping_index([2, 2], 4)
    0.0
    >>> overlapping_index([4, 4], 4)
    1.0
    """
    counts = np.asarray(supports, dtype=np.int64)
    known = np.asarray(n_rows, dtype=np.int64)
    n_features = counts.size + (null_support is not None)
    if n_features < 2:
        return 0.0
    if (known != known.flat[0]).any() or not known.any():
        if null_support is not None:
            raise ValueError("null_support needs one number of rows: give it as a feature instead")
        return (math.fsum(counts[known > 0] / known[known > 0]) - 1) / (n_features - 1)
    total, rows = int(counts.sum()) + (null_support or 0), int(known.flat[0])
    return (total - rows) / (rows * (n_features - 1))


def complexity(n_features: int, n_primitives: int, n_distinct_rows: int) -> float:
    """C0(F): how much of the possible growth in features was used. Never clipped.

    Raises
    ------
    ValueError
        Where there are no more distinct rows than primitives: C0 has no meaning there.

    Examples
    --------
    >>> round(complexity(36, 22, 219), 3)
    0.071
    """
    room = n_distinct_rows - n_primitives
    if room <= 0:
        raise ValueError(
            f"C0 has no meaning for {n_distinct_rows} distinct rows and {n_primitives} primitives: "
            "it measures growth from the number of primitives up to the number of distinct rows"
        )
    return (n_features - n_primitives) / room


def mean_length(lengths: Iterable[int]) -> float:
    """C1(F): literal occurrences per feature.

    Examples
    --------
    >>> mean_length([1, 2, 3])
    2.0
    """
    counted = list(lengths)
    return mean_length_of(sum(counted), len(counted))


def mean_length_of(total: int, n_features: int) -> float:
    """The same from the sum of all lengths, which may be larger than any float."""
    try:
        return total / n_features
    except OverflowError:
        return sys.float_info.max


def rms(oi: float, c0: float) -> float:
    """Root mean square of OI and C0: the quantity whose rise ends the risk-based run (§6.2)."""
    return math.sqrt((oi * oi + c0 * c0) / 2)


def pareto_front(oi: Sequence[float], c0: Sequence[float]) -> list[int]:
    """Positions of the solutions that no other solution beats, ordered by C0 (§4.2).

    A solution beats another when it is no worse in both and better in one. Of equal solutions
    the first is kept.

    Examples
    --------
    >>> pareto_front([0.3, 0.1, 0.2], [0.0, 0.2, 0.3])
    [0, 1]
    """
    front: list[int] = []
    lowest = math.inf
    for k in sorted(range(len(oi)), key=lambda k: (c0[k], oi[k], k)):
        if oi[k] < lowest:
            lowest = oi[k]
            front.append(k)
    return front


def closest_point(oi: Sequence[float], c0: Sequence[float]) -> int:
    """Position of the solution nearest to the ideal point (0, 0); the first of equals (§4.2).

    Examples
    --------
    >>> closest_point([0.3, 0.1, 0.2], [0.0, 0.2, 0.3])
    1
    """
    if not len(oi):
        raise ValueError("there is no solution to choose from")
    return min(range(len(oi)), key=lambda k: math.hypot(oi[k], c0[k]))
