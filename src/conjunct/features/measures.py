"""Measures of feature sets: the paper's indicators, and Krimp's description length.

The indicators are OI, C0, C1 and RMS (§4, §6.2).

Krimp's description: each true cell is written with the code of its feature. The code table is
written once: each used feature's code, and its pattern in the codes of the primitives. With
supports s_f, S = Σ s_f, T used features and the cost c_p of naming a primitive,

    L = Σ s_f · log₂(S/s_f) + Σ [log₂(S/s_f) + Σ c_p]
      = (S + T) · log₂ S − Σ (s_f + 1) · log₂ s_f + Σ Σ c_p
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def overlapping_index(
    supports: ArrayLike, n_rows: ArrayLike, *, null_support: int | None = None
) -> float:
    """Return OI(F): 0 where no two features share a row, 1 where all features are true everywhere.

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
            raise ValueError(
                "null_support needs the same number of rows for every feature: pass it as a feature"
            )
        return (math.fsum(counts[known > 0] / known[known > 0]) - 1) / (n_features - 1)
    total, rows = int(counts.sum()) + (null_support or 0), int(known.flat[0])
    return (total - rows) / (rows * (n_features - 1))


def complexity(n_features: int, n_primitives: int, n_distinct_rows: int) -> float:
    """Return C0(F): how much of the possible growth in features was used. Never clipped.

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
    """Return C1(F): literal occurrences per feature.

    Examples
    --------
    >>> mean_length([1, 2, 3])
    2.0
    """
    counted = list(lengths)
    return mean_length_of(sum(counted), len(counted))


def mean_length_of(total: int, n_features: int) -> float:
    """Return C1 from the sum of all lengths, which may be larger than any float.

    Examples
    --------
    >>> mean_length_of(6, 4)
    1.5
    """
    try:
        return total / n_features
    except OverflowError:
        return sys.float_info.max


def rms(oi: float, c0: float) -> float:
    """Return the root mean square of OI and C0, whose rise ends the risk-based run (§6.2).

    Examples
    --------
    >>> rms(0.3, 0.4) == (0.125) ** 0.5
    True
    """
    return math.sqrt((oi * oi + c0 * c0) / 2)


def pareto_front(oi: Sequence[float], c0: Sequence[float]) -> list[int]:
    """Return the positions of solutions that no other one beats, ordered by C0 (§4.2).

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
    """Return the position of the solution nearest to the ideal point (0, 0) (§4.2).

    Of equals, the first.

    Examples
    --------
    >>> closest_point([0.3, 0.1, 0.2], [0.0, 0.2, 0.3])
    1
    """
    if not len(oi):
        raise ValueError("there is no solution to choose from")
    return min(range(len(oi)), key=lambda k: math.hypot(oi[k], c0[k]))


Floats = NDArray[np.float64]

# Savings that differ by less than half of this are ties: the last digits of a logarithm are
# those of one machine.
DECIMALS = 6

_LN2 = math.log(2)


def description_length(
    supports: Sequence[int],
    patterns: Iterable[Iterable[Hashable]],
    primitive_supports: Mapping[Any, int] | Sequence[int],
) -> float:
    """Return the bits that describe the data by some features, model included.

    Parameters
    ----------
    supports
        Number of rows in which each feature is true. Those of support 0 cost nothing.
    patterns
        The primitives that each feature asserts.
    primitive_supports
        Number of rows in which each primitive is true: by name, or by position.

    Examples
    --------
    Two columns that are always true together are one chunk:

    >>> round(description_length([4, 4], [["a"], ["b"]], {"a": 4, "b": 4}), 3)
    12.0
    >>> round(description_length([4], [["a", "b"]], {"a": 4, "b": 4}), 3)
    2.0
    """
    if not isinstance(primitive_supports, Mapping):
        primitive_supports = dict(enumerate(primitive_supports))
    costs = primitive_costs(list(primitive_supports.values())).tolist()
    cost = dict(zip(primitive_supports, costs, strict=True))
    total = sum(supports)
    parts: list[float] = []
    for support, pattern in zip(supports, patterns, strict=True):
        if support:
            code = math.log2(total / support)
            parts += [support * code, code, *(cost[primitive] for primitive in pattern)]
    return math.fsum(parts)


def primitive_costs(supports: ArrayLike) -> Floats:
    """Return the bits that name each primitive; what never occurs is never named."""
    counts = np.asarray(supports, np.float64)
    occurs = counts > 0
    safe = np.where(occurs, counts, 1.0)
    return np.where(occurs, np.log2(max(counts.sum(), 1.0)) - np.log2(safe), 0.0)


def pair_savings(
    left: ArrayLike,
    right: ArrayLike,
    joint: ArrayLike,
    total: float,
    n_used: int,
    left_cost: ArrayLike,
    right_cost: ArrayLike,
) -> Floats:
    """Return how much shorter L becomes when a pair is replaced by its conjunctions.

    ``total`` is S and ``n_used`` is T before; ``left`` and ``right`` are the two supports,
    ``left_cost`` and ``right_cost`` the costs of the two patterns. Differences of logarithms are
    taken first, so that nothing is lost where S is large.

    Examples
    --------
    >>> float(pair_savings(4, 4, 4, 8, 2, 1.0, 1.0).round(3))
    10.0
    """
    s, t = np.asarray(left, np.float64), np.asarray(right, np.float64)
    a = np.asarray(joint, np.float64)
    rest_s, rest_t = s - a, t - a
    stays_s, stays_t = rest_s > 0, rest_t > 0
    added = 1.0 - (~stays_s).astype(np.float64) - (~stays_t)
    whole = (total - a + n_used + added) * -np.log1p(-a / max(total, 1)) / _LN2
    whole += (a - added) * math.log2(max(total, 1))
    lost = (
        (a + 1) * np.log2(a) - _shrinkage(s, a, rest_s, stays_s) - _shrinkage(t, a, rest_t, stays_t)
    )
    named = np.where(stays_s, left_cost, 0.0) + np.where(stays_t, right_cost, 0.0)
    return np.asarray(whole + lost - named, np.float64)


def pair_saving(
    left: int,
    right: int,
    joint: int,
    total: float,
    n_used: int,
    left_cost: float,
    right_cost: float,
) -> float:
    """Return ``pair_savings`` of one pair, in plain numbers: quicker for a single pair.

    Examples
    --------
    >>> round(pair_saving(4, 4, 4, 8, 2, 1.0, 1.0), 3)
    10.0
    """
    added = 1 - (left == joint) - (right == joint)
    saved = (total - joint + n_used + added) * -math.log1p(-joint / total) / _LN2
    saved += (joint - added) * math.log2(total) + (joint + 1) * math.log2(joint)
    for support, cost in ((left, left_cost), (right, right_cost)):
        rest, log = support - joint, math.log2(support)
        if rest:
            saved -= (rest + 1) * -math.log1p(-joint / support) / _LN2 + joint * log + cost
        else:
            saved -= (support + 1) * log
    return saved


def round_savings(saved: Floats) -> Floats:
    """Round savings as they are compared."""
    return np.round(saved, DECIMALS)


def largest_rise(total: float, n_used: int, joint: int, added: int, largest_joint: int) -> float:
    """Return by how much at most a merge makes other pairs save more than they did.

    The merge has a joint count and adds ``added`` features; S falls, which makes every pair save
    less, and the code table changes, which may make it save a little more. For a pair with joint
    count a and d more features that it would add, the data part D(a) falls with a, and the part
    of the code table E(a, d) is largest at one end of every range of a.
    """
    edges = 2.0 ** np.arange(max(1, math.ceil(math.log2(largest_joint + 1))))
    a = np.append(edges, max(largest_joint, 1.0))
    after, used_after = total - joint, n_used + added
    a = a[a < after]
    if not len(a):
        return math.inf

    def parts(total: float, n_used: int) -> tuple[Floats, Floats]:
        """Return S log S − (S − a) log (S − a), and the part of the code table for each d."""
        bits, rest = -np.log1p(-a / total) / _LN2, np.log2(total - a)
        table = [n_used * bits - more * rest for more in (-1, 0, 1)]
        return total * bits + a * rest, np.array(table)

    (data, table), (data_before, table_before) = parts(after, used_after), parts(total, n_used)
    data, table = data - data_before, (table - table_before).max(axis=0)
    # within a range of a: the data part is largest at its lower end
    rise = data[:-1] + np.maximum(table[:-1], table[1:]) if len(a) > 1 else data + table
    return max(0.0, float(rise.max())) + 10.0**-DECIMALS


def _shrinkage(support: Floats, joint: Floats, rest: Floats, stays: NDArray[np.bool_]) -> Floats:
    """Return (s + 1) log₂ s − (s − a + 1) log₂ (s − a)."""
    log = np.log2(support)
    change = (rest + 1) * -np.log1p(-np.where(stays, joint / support, 0.0)) / _LN2 + joint * log
    return np.where(stays, change, (support + 1) * log)
