"""Bits: how long a description of the data by a vocabulary of features is, as Krimp counts it.

Each true cell is written with the code of its feature; beside the cells, the code table is written
once: each used feature's code, and its pattern in the codes of the primitives. With supports s_f,
S = Σ s_f, T used features and the cost c_p of naming a primitive,

    L = Σ s_f · log₂(S/s_f) + Σ [log₂(S/s_f) + Σ c_p]
      = (S + T) · log₂ S − Σ (s_f + 1) · log₂ s_f + Σ Σ c_p
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    """Bits that describe the data by some features, model included.

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
    named = isinstance(primitive_supports, Mapping)
    values = list(primitive_supports.values() if named else primitive_supports)  # type: ignore[union-attr]
    cost = dict(
        zip(
            primitive_supports if named else range(len(values)),
            primitive_costs(values).tolist(),
            strict=True,
        )
    )
    total = sum(supports)
    parts: list[float] = []
    for support, pattern in zip(supports, patterns, strict=True):
        if support:
            code = math.log2(total / support)
            parts += [support * code, code, *(cost[primitive] for primitive in pattern)]
    return math.fsum(parts)


def primitive_costs(supports: ArrayLike) -> Floats:
    """Bits that name each primitive in a pattern; what never occurs is never named."""
    counts = np.asarray(supports, np.float64)
    occurs = counts > 0
    safe = np.where(occurs, counts, 1.0)
    return np.where(occurs, np.log2(max(counts.sum(), 1.0)) - np.log2(safe), 0.0)


def bits_saved(
    left: ArrayLike,
    right: ArrayLike,
    joint: ArrayLike,
    total: float,
    n_used: int,
    left_cost: ArrayLike,
    right_cost: ArrayLike,
) -> Floats:
    """How much shorter L becomes when a pair gives way to its conjunctions.

    ``total`` is S and ``n_used`` is T before; ``left`` and ``right`` are the two supports,
    ``left_cost`` and ``right_cost`` the costs of the two patterns. Differences of logarithms are
    taken first, so that nothing is lost where S is large.

    Examples
    --------
    >>> float(bits_saved(4, 4, 4, 8, 2, 1.0, 1.0).round(3))
    10.0
    """
    s, t = np.asarray(left, np.float64), np.asarray(right, np.float64)
    a = np.asarray(joint, np.float64)
    rest_s, rest_t = s - a, t - a
    stays_s, stays_t = rest_s > 0, rest_t > 0
    added = 1.0 - (~stays_s).astype(np.float64) - (~stays_t)
    whole = (total - a + n_used + added) * -np.log1p(-a / max(total, 1)) / _LN2
    whole += (a - added) * math.log2(max(total, 1))
    lost = (a + 1) * np.log2(a) - _shrunk(s, a, rest_s, stays_s) - _shrunk(t, a, rest_t, stays_t)
    named = np.where(stays_s, left_cost, 0.0) + np.where(stays_t, right_cost, 0.0)
    return np.asarray(whole + lost - named, np.float64)


def bits_saved_by(
    left: int,
    right: int,
    joint: int,
    total: float,
    n_used: int,
    left_cost: float,
    right_cost: float,
) -> float:
    """``bits_saved`` of one pair, in plain numbers: a run of thousands of merges asks for each.

    Examples
    --------
    >>> round(bits_saved_by(4, 4, 4, 8, 2, 1.0, 1.0), 3)
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


def rounded(saved: Floats) -> Floats:
    """Savings as they are compared."""
    return np.round(saved, DECIMALS)


def largest_rise(total: float, n_used: int, joint: int, added: int, largest_joint: int) -> float:
    """By how much at most a merge makes other pairs save more than they did.

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
    # S log S − (S − a) log (S − a), before and after
    data = _drop(after, a) - _drop(total, a)
    table = np.array(
        [
            _table_part(after, used_after, a, more) - _table_part(total, n_used, a, more)
            for more in (-1, 0, 1)
        ]
    ).max(axis=0)
    # within a range of a: the data part is largest at its lower end
    rise = data[:-1] + np.maximum(table[:-1], table[1:]) if len(a) > 1 else data + table
    return max(0.0, float(rise.max())) + 10.0**-DECIMALS


def _shrunk(support: Floats, joint: Floats, rest: Floats, stays: NDArray[np.bool_]) -> Floats:
    """(s + 1) log₂ s − (s − a + 1) log₂ (s − a)."""
    safe = np.where(stays, rest, 1.0)
    log = np.log2(support)
    change = (rest + 1) * -np.log1p(-np.where(stays, joint / support, 0.0)) / _LN2 + joint * log
    return np.where(stays & (safe > 0), change, (support + 1) * log)


def _drop(total: float, joint: Floats) -> Floats:
    drop = total * -np.log1p(-joint / total) / _LN2 + joint * np.log2(total - joint)
    return np.asarray(drop, np.float64)


def _table_part(total: float, n_used: int, joint: Floats, more: int) -> Floats:
    part = n_used * -np.log1p(-joint / total) / _LN2 - more * np.log2(total - joint)
    return np.asarray(part, np.float64)
