"""Whether the numbers of a model file agree: supports, joint counts and indicators follow from each
other, so that a file that says otherwise was not written by a run.

Where cells were missing, supports do not follow from joint counts, and only ranges are checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import numpy as np

from conjunct.association import Floats, exact_p_value, p_value, phi
from conjunct.construction.indicators import Indicators
from conjunct.construction.lineage import Lineage
from conjunct.construction.stage import Merge
from conjunct.evaluation import mean_length_of, rms
from conjunct.evaluation.bits import bits_saved, primitive_costs

Check = Callable[[bool, str], None]

# what another processor may compute a little differently
_CLOSE = 1e-6


def check_patterns(merges: Iterable[Merge], n_primitives: int, check: Check) -> None:
    """Features that are true in the same row assert different primitives: no others are joined."""
    pattern = {k: 1 << k for k in range(n_primitives)}
    for merge in merges:
        left, right = pattern[merge.left], pattern[merge.right]
        check(not left & right, "a merge joins features that are never true together")
        parts = (merge.both, left | right), (merge.right_only, right), (merge.left_only, left)
        pattern |= {number: mask for number, mask in parts if number is not None}


def check_counts(
    merges: Sequence[Merge], supports: dict[int, int], n_rows: int, check: Check
) -> dict[int, int]:
    """The supports of all features, given those of the primitives; merges must agree with them."""
    supports = dict(supports)
    for merge in merges:
        left, right, joint = supports[merge.left], supports[merge.right], merge.joint
        check(0 < joint <= min(left, right), "a joint count is larger than a support")
        parts = (
            (merge.both, joint),
            (merge.right_only, right - joint),
            (merge.left_only, left - joint),
        )
        for number, support in parts:
            check((number is None) == (support == 0), "a merge leaves out what occurs")
            if number is not None:
                supports[number] = support
    _check_evidence(merges, supports, n_rows, check)
    return supports


def _check_evidence(
    merges: Sequence[Merge], supports: dict[int, int], n_rows: int, check: Check
) -> None:
    left = np.array([supports[merge.left] for merge in merges], np.int64)
    right = np.array([supports[merge.right] for merge in merges], np.int64)
    joint = np.array([merge.joint for merge in merges], np.int64)
    r = phi(n_rows, left, right, joint)
    check(_close([merge.r for merge in merges], r), "an r is not that of its counts")
    told = np.array([merge.p_value for merge in merges])
    exact = exact_p_value(n_rows, left, right, joint)
    either = np.isclose(told, p_value(r, n_rows), _CLOSE, 1e-12) | np.isclose(
        told, exact, 1e-4, 1e-12
    )
    check(bool(either.all()), "a p-value is not that of its counts")
    adjusted = np.array([merge.p_adjusted for merge in merges])
    check(bool((adjusted >= told * (1 - _CLOSE)).all()), "an adjusted p-value is below its own")


def check_history(
    history: Sequence[Indicators],
    merges: Sequence[Merge],
    lineage: Lineage,
    supports: dict[int, int],
    n_rows: int,
    check: Check,
) -> None:
    """Numbers of features, lengths, overlap and bits after each iteration."""
    n_primitives = len(lineage.primitives)
    first = [supports[k] for k in range(n_primitives)]
    total, n_used = sum(first), sum(support > 0 for support in first)
    costs: dict[int, float] = dict(enumerate(primitive_costs(first).tolist()))
    n_features, length, bits = n_primitives, n_primitives, history[0].bits
    # the paper's artificial feature is one more, true in as many rows in every iteration
    null = _null_support(history[0], total, n_rows, n_primitives)
    by_iteration = groupby(merges, key=lambda merge: merge.iteration)
    groups: list[tuple[Merge, ...]] = [(), *(tuple(some) for _, some in by_iteration)]
    check(len(groups) == len(history), "its history and its merges differ in iterations")
    for line, some in zip(history, groups, strict=True):
        for merge in some:
            s, t = supports[merge.left], supports[merge.right]
            one, other = costs[merge.left], costs[merge.right]
            saved = float(bits_saved(s, t, merge.joint, total, n_used, one, other))
            check(math.isnan(merge.saved) or _near(merge.saved, saved), "a merge saved other bits")
            parts = (merge.both, one + other), (merge.right_only, other), (merge.left_only, one)
            costs |= {number: cost for number, cost in parts if number is not None}
            total -= merge.joint
            n_used += len(merge.made) - 2
            n_features += len(merge.made) - 2
            gone = lineage.length(merge.left) + lineage.length(merge.right)
            length += sum(lineage.lengths(merge.made)) - gone
            bits -= saved
        _check_line(line, n_features, length, bits, check)
        check(_near(line.oi, _overlap(total, n_rows, n_features, null)), "an OI is not its own")


def _check_line(line: Indicators, n_features: int, length: int, bits: float, check: Check) -> None:
    check(line.n_features == n_features, "its history has other numbers of features")
    check(_near(line.length, mean_length_of(length, n_features)), "a length is not its own")
    check(math.isnan(line.c0) or _near(line.rms, rms(line.oi, line.c0)), "an RMS is not its own")
    check(math.isnan(line.bits) or _near(line.bits, bits), "its history has other bits")


def _null_support(first: Indicators, total: int, n_rows: int, m: int) -> int | None:
    """Rows without any feature, if the first OI counts them; ``None`` if it does not."""
    if _near(first.oi, _overlap(total, n_rows, m, None)):
        return None
    return round(first.oi * n_rows * m + n_rows - total)


def _overlap(total: int, n_rows: int, n_features: int, null: int | None) -> float:
    if null is not None:
        total, n_features = total + null, n_features + 1
    return 0.0 if n_features < 2 else (total - n_rows) / (n_rows * (n_features - 1))


def _near(told: float, own: float) -> bool:
    return math.isclose(told, own, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _close(told: Sequence[float], own: Floats) -> bool:
    return bool(np.allclose(np.array(told), own, _CLOSE, _CLOSE))
