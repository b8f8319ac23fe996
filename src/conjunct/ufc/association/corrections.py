"""Many tests at once: adjusted p-values over a family of which only the small ones are at hand.

A family has far more pairs than significant ones. All that its corrections need of the others is
how many they are, as long as the p-values at hand are the smallest of the family: Bonferroni's and
Holm's adjusted value looks at smaller p-values only; Benjamini and Hochberg's is the least of
p₍ⱼ₎·M/j over all j ≥ k, to which a p-value that is not at hand adds nothing below itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from conjunct.registry import Registry
from conjunct.ufc.association.measures import Floats

Ranks = NDArray[np.intp]


class Correction(ABC):
    """A correction of a level for the number of tests."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        """Adjust the p-values of a family, the smallest first; ``rank`` counts them from 1."""

    @abstractmethod
    def critical(self, alpha: float, step: int, family_size: int) -> float:
        """Return the bound of the last step of a procedure that ends after ``step`` steps."""


CORRECTIONS: Registry[Correction] = Registry("correction", __name__)


class Bonferroni(Correction):
    name = "bonferroni"
    summary = "Bonferroni's"

    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        return p_values * family_size

    def critical(self, alpha: float, step: int, family_size: int) -> float:
        return alpha / family_size


CORRECTIONS.enter(Bonferroni())


class Holm(Correction):
    name = "holm"
    summary = "Holm's"

    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        return np.maximum.accumulate(p_values * (family_size - rank + 1))

    def critical(self, alpha: float, step: int, family_size: int) -> float:
        return alpha / (family_size - step + 1)


CORRECTIONS.enter(Holm())


class BenjaminiHochberg(Correction):
    name = "bh"
    summary = "Benjamini and Hochberg's"

    def adjust(self, p_values: Floats, rank: Ranks, family_size: int) -> Floats:
        steps = p_values * (family_size * self.inflation(family_size)) / rank
        return np.minimum.accumulate(steps[::-1])[::-1]

    def critical(self, alpha: float, step: int, family_size: int) -> float:
        return alpha * step / (family_size * self.inflation(family_size))

    def inflation(self, family_size: int) -> float:
        """Return the factor that dependent p-values cost."""
        return 1.0


CORRECTIONS.enter(BenjaminiHochberg())


class BenjaminiYekutieli(BenjaminiHochberg):
    name = "by"
    summary = "Benjamini and Yekutieli's"

    def inflation(self, family_size: int) -> float:
        """Return 1 + 1/2 + … + 1/n."""
        return float(digamma(family_size + 1) + np.euler_gamma)


CORRECTIONS.enter(BenjaminiYekutieli())


def adjusted(p_values: Floats, family_size: int, correction: str | None) -> Floats:
    """Adjust p-values: those at most α are significant at level α over the whole family.

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
    order = np.argsort(p_values, kind="stable")
    rank = np.arange(1, len(order) + 1)
    result = np.empty_like(p_values)
    result[order] = CORRECTIONS[correction].adjust(p_values[order], rank, family_size)
    return np.minimum(result, 1.0)


def significant(p_values: Floats, level: float | Floats) -> NDArray[np.bool_]:
    """Test whether p-values are at most a level, which they may equal up to rounding."""
    # exact p-values are fractions: 1/20 is significant at 0.05 on every machine
    return np.asarray(p_values <= level * (1 + 1e-9))


def critical_p_value(
    alpha: float, n_significant: int, family_size: int, correction: str | None
) -> float:
    """Return the p-value that separates the significant pairs of a family from the others.

    A step procedure that ends after ``n_significant`` steps accepts what lies at or below the
    bound of its last step, and nothing else does.
    """
    if correction is None:
        return alpha
    return CORRECTIONS[correction].critical(alpha, max(n_significant, 1), max(family_size, 1))
