"""What it takes to tell the classes of some rows, and a test, in bits.

The classes of rows are told one after the other, each class as likely as it was so far, and half a
row more (Krichevsky and Trofimov). Of n rows, nᵢ of the i-th of k classes:

    log₂ [Γ(n + k/2) / Γ(k/2)] − Σᵢ log₂ [Γ(nᵢ + ½) / Γ(½)]

So a small group pays for its own distribution, and a tree that splits noise is longer, not shorter.
"""

from __future__ import annotations

from math import comb, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]
DECIMALS = 6
"""Bits are compared to a millionth: the last digits of a logarithm are those of one machine."""


def class_bits(counts: NDArray[Any]) -> Floats:
    """Bits that tell the classes of groups of rows; the last axis is that of classes."""
    n, k = counts.sum(axis=-1), counts.shape[-1]
    of_classes = gammaln(counts + 0.5) - gammaln(0.5)
    nats = gammaln(n + k / 2) - gammaln(k / 2) - of_classes.sum(axis=-1)
    return np.asarray(nats / np.log(2))


def entropy_bits(counts: NDArray[Any]) -> Floats:
    """n times the entropy of the classes of groups of rows; the last axis is that of classes."""

    def n_log_n(values: NDArray[Any]) -> Floats:
        found: Floats = values * np.log2(np.maximum(values, 1))
        return found

    return np.asarray(n_log_n(counts.sum(axis=-1)) - n_log_n(counts).sum(axis=-1))


def literals_bits(n_literals: int, n_columns: int) -> float:
    """Bits that name some literals: how many there are, which columns, and a sign each.

    A number N takes 2 log₂ N + 1. Negating all literals asks the same, which saves a sign.
    """
    return 2 * log2(n_literals) + log2(comb(n_columns, n_literals)) + n_literals
