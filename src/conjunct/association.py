"""How strongly two features go together, from exact counts (§3.2, §6.1, §6.2).

Everything here is a function of four integers: the number of rows ``n``, the two supports and the
joint count. They become floating-point numbers once, in :func:`phi`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from conjunct.stores import Counts, Positions

Floats = NDArray[np.float64]

# The χ² test is trusted where every expected frequency is at least this (§6.2).
MIN_EXPECTED_FREQUENCY = 5


def phi(n_rows: int, left: Counts, right: Counts, joint: Counts) -> Floats:
    """Pearson's r of Boolean columns with the given supports and joint counts (§3.2).

    Undefined (NaN) where a column is constant.

    Examples
    --------
    >>> phi(4, np.array([2]), np.array([2]), np.array([2]))
    array([1.])
    """
    left, right, joint = _wide(left), _wide(right), _wide(joint)
    # |n c − s_i s_j| ≤ n²/4: exact in 64 bits up to 6·10⁹ rows, even where the products wrap.
    covariance = n_rows * joint - left * right
    left_variance = (left * (n_rows - left)).astype(np.float64)
    right_variance = (right * (n_rows - right)).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return covariance / np.sqrt(left_variance * right_variance)


def risk_threshold(alpha: float, n_rows: int) -> float:
    """The threshold λ(α) = u₁₋α/√n above which r is significantly positive (§6.1).

    Examples
    --------
    >>> round(risk_threshold(0.0001, 267), 3)
    0.228
    """
    return float(-ndtri(alpha)) / math.sqrt(n_rows)


def p_value(r: Floats, n_rows: int) -> Floats:
    """One-sided p-value of r under independence: r√n is standard normal (§6.1)."""
    return np.asarray(ndtr(-np.asarray(r) * math.sqrt(n_rows)), np.float64)


def has_expected_frequencies(n_rows: int, left: Counts, right: Counts) -> NDArray[np.bool_]:
    """Whether all four expected frequencies are at least 5 (§6.2, with the cells corrected).

    The smallest of the four is the product of the two rarer sides over n: one exact comparison.
    """
    left, right = _wide(left), _wide(right)
    rarer_left = np.minimum(left, n_rows - left)
    rarer_right = np.minimum(right, n_rows - right)
    return np.asarray(rarer_left * rarer_right >= MIN_EXPECTED_FREQUENCY * n_rows)


@dataclass(frozen=True)
class Criterion:
    """Which pairs are candidates for replacement."""

    threshold: float
    # strict: §3.2 says r > λ; the risk-based variant uses ≥ (§6.1)
    strict: bool = True
    prune: bool = False

    @classmethod
    def from_risk(cls, alpha: float, n_rows: int, *, prune: bool) -> Criterion:
        return cls(risk_threshold(alpha, n_rows), strict=False, prune=prune)

    def accepts(self, r: Floats, n_rows: int, left: Counts, right: Counts) -> NDArray[np.bool_]:
        """Which of these pairs pass. NaN (a constant column) never does."""
        passes = r > self.threshold if self.strict else r >= self.threshold
        if self.prune:
            passes &= has_expected_frequencies(n_rows, left, right)
        return passes


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns (``left < right``) with their joint counts and r."""

    left: Positions
    right: Positions
    joint: Counts
    r: Floats

    def __len__(self) -> int:
        return len(self.left)

    def take(self, which: Positions | NDArray[np.bool_] | slice) -> Pairs:
        return Pairs(self.left[which], self.right[which], self.joint[which], self.r[which])


def correlated_pairs(n_rows: int, joint: Counts, criterion: Criterion) -> Pairs:
    """The paper's ``search_correlated_pairs`` on a matrix of joint counts (§3.2).

    Works through a few rows of the matrix at a time, so that nothing of its size is allocated.
    """
    supports = np.diagonal(joint)
    m = len(supports)
    found = [_no_pairs()]
    rows_at_once = max(1, (1 << 16) // max(m, 1))
    for start in range(0, m - 1, rows_at_once):
        stop = min(start + rows_at_once, m - 1)
        # r > λ ≥ 0 needs a common row; below the diagonal each pair stands a second time
        row, right = np.divmod(np.flatnonzero(joint[start:stop]), m)
        above = right > row + start
        left, right = row[above] + start, right[above]
        r = phi(n_rows, supports[left], supports[right], joint[left, right])
        passes = criterion.accepts(r, n_rows, supports[left], supports[right])
        left, right = left[passes], right[passes]
        found.append(Pairs(left, right, joint[left, right], r[passes]))
    return Pairs(
        np.concatenate([pairs.left for pairs in found]),
        np.concatenate([pairs.right for pairs in found]),
        np.concatenate([pairs.joint for pairs in found]),
        np.concatenate([pairs.r for pairs in found]),
    )


def _wide(counts: Counts) -> NDArray[np.int64]:
    """Counts in 64 bits, for products of two of them."""
    return counts.astype(np.int64, copy=False)


def _no_pairs() -> Pairs:
    none = np.empty(0, np.intp)
    return Pairs(none, none, np.empty(0, np.int64), np.empty(0, np.float64))
