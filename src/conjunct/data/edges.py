"""Where to cut numbers into intervals, at numbers that are easy to read."""

from __future__ import annotations

import warnings
from decimal import ROUND_FLOOR, Decimal
from math import floor, inf, isfinite, log10
from sys import float_info
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Cut = Literal["quantile", "width", "kmeans"]
Floats = NDArray[np.float64]


def cut(values: Floats, how: Cut, n_bins: int) -> list[float]:
    """Edges between at most ``n_bins`` intervals, none of them empty, of numbers none missing.

    An edge may be any number above the value before it and not above the value after it: which
    rows lie on which side is the same. The one with the fewest digits is taken.
    """
    distinct, counts = np.unique(values, return_counts=True)
    wanted = {"quantile": _quantiles, "width": _widths, "kmeans": _means}[how]
    # numbers of at most 1 have ranges and squares that are floats; powers of 2 change no digit
    finite = distinct[np.isfinite(distinct)]
    power = int(np.frexp(np.abs(finite).max(initial=0))[1])
    small = wanted(np.ldexp(distinct, -power), counts, n_bins)
    # the first value at or above each wanted edge; before the very first there is nothing to cut
    after = np.unique(np.searchsorted(np.ldexp(distinct, -power), small))
    inner = after[(after > 0) & (after < len(distinct))]
    edges = (readable(float(distinct[k - 1]), float(distinct[k])) for k in inner)
    # above the largest number there is only infinity, and an edge is finite
    return [edge for edge in edges if isfinite(edge)]


def readable(low: float, high: float) -> float:
    """A number above ``low``, not above ``high``, with as few digits as there are.

    Examples
    --------
    >>> readable(28.41, 31.27)
    30.0
    >>> readable(0.12345, 0.12361)
    0.1235
    """
    if not isfinite(low):
        return high if isfinite(high) else 0.0
    if not isfinite(high):
        if low == float_info.max:
            return inf
        high = 0.0 if low < 0 else min(max(1.0, 2 * low), float_info.max)
    top = floor(log10(max(abs(low), abs(high)))) + 1
    exact = Decimal(high)
    for power in range(top, top - 20, -1):
        for step in (Decimal(1), Decimal("0.5"), Decimal("0.2")):
            unit = step.scaleb(power)
            rounded = float((exact / unit).to_integral_value(ROUND_FLOOR) * unit)
            if low < rounded <= high:
                return rounded + 0.0  # no minus before a zero
    return high


def _quantiles(distinct: Floats, counts: NDArray[Any], n_bins: int) -> Floats:
    """Values below which 1/k, 2/k, … of the rows lie."""
    below = np.cumsum(counts) / counts.sum()
    shares = np.arange(1, n_bins) / n_bins
    # rows of one value stay together: the cut goes after the value that reaches the share
    positions = np.searchsorted(below, shares - 1e-12) + 1
    return np.append(distinct, inf)[np.minimum(positions, len(distinct))]


def _widths(distinct: Floats, counts: NDArray[Any], n_bins: int) -> Floats:
    finite = distinct[np.isfinite(distinct)]
    return np.linspace(finite[0], finite[-1], n_bins + 1)[1:-1] if len(finite) else finite


def _means(distinct: Floats, counts: NDArray[Any], n_bins: int) -> Floats:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    finite = np.isfinite(distinct)
    values, weights = distinct[finite].reshape(-1, 1), counts[finite]
    if len(values) <= 1:
        return values[:, 0]
    n_clusters = min(n_bins, len(values))
    # starting from equal widths makes the outcome the same every time
    ends = np.linspace(values[0, 0], values[-1, 0], n_clusters + 1)
    start = ((ends[1:] + ends[:-1]) / 2).reshape(-1, 1)
    with warnings.catch_warnings():
        # fewer clusters than asked for are fewer intervals: nothing to warn of
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(n_clusters, init=start, n_init=1).fit(values, sample_weight=weights)
    centres: Floats = np.sort(found.cluster_centers_[:, 0])
    return (centres[1:] + centres[:-1]) / 2
