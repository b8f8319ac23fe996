"""Many tests at once: adjusted p-values over a family of which only the small ones are at hand.

A family has far more pairs than significant ones. All that its corrections need of the others is
how many they are, as long as the p-values at hand are the smallest of the family: Bonferroni's and
Holm's adjusted value looks at smaller p-values only; Benjamini and Hochberg's is the least of
p₍ⱼ₎·M/j over all j ≥ k, to which a p-value that is not at hand adds nothing below itself.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from conjunct.association.measures import Floats

Correction = Literal["bonferroni", "holm", "bh", "by"]
CORRECTIONS: tuple[Correction, ...] = ("bonferroni", "holm", "bh", "by")


def adjusted(p_values: Floats, family_size: int, correction: Correction | None) -> Floats:
    """Adjusted p-values: those at most α are significant at level α over the whole family.

    ``p_values`` holds the smallest of the family. Every value below the smallest that it leaves
    out is exact; with Benjamini–Hochberg and –Yekutieli a larger one may be too large.

    Examples
    --------
    >>> adjusted(np.array([0.001, 0.02]), 10, "holm")
    array([0.01, 0.18])
    >>> adjusted(np.array([0.001, 0.02]), 10, "bh")
    array([0.01, 0.1 ])
    """
    if correction is None:
        return p_values
    if correction == "bonferroni":
        return np.minimum(p_values * family_size, 1.0)
    order = np.argsort(p_values, kind="stable")
    rank = np.arange(1, len(order) + 1)
    ordered = p_values[order]
    if correction == "holm":
        steps = np.maximum.accumulate(ordered * (family_size - rank + 1))
    else:
        inflation = _harmonic(family_size) if correction == "by" else 1.0
        scaled = ordered * (family_size * inflation) / rank
        steps = np.minimum.accumulate(scaled[::-1])[::-1]
    result = np.empty_like(p_values)
    result[order] = np.minimum(steps, 1.0)
    return result


def significant(p_values: Floats, level: float | Floats) -> NDArray[np.bool_]:
    """Whether p-values are at most a level, which they may equal but for rounding."""
    # exact p-values are fractions: 1/20 is significant at 0.05 on every machine
    return np.asarray(p_values <= level * (1 + 1e-9))


def critical_p_value(
    alpha: float, n_significant: int, family_size: int, correction: Correction | None
) -> float:
    """The p-value that parts the significant pairs of a family from the others.

    A step procedure that ends after ``n_significant`` steps accepts what lies at or below the
    bound of its last step, and nothing else does.
    """
    size, step = max(family_size, 1), max(n_significant, 1)
    if correction is None:
        return alpha
    if correction == "bonferroni":
        return alpha / size
    if correction == "holm":
        return alpha / (size - step + 1)
    return alpha * step / (size * (_harmonic(size) if correction == "by" else 1.0))


def _harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n."""
    return float(digamma(n + 1) + np.euler_gamma)
