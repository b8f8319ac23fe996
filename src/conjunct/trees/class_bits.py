"""What it takes to tell the classes of some rows, and a test, in bits.

The classes of n rows are told by how many rows each has, all ways to share n rows among k classes
being as likely, and then by which rows these are:

    log₂ C(n + k − 1, k − 1) + log₂ (n! / (n₁! ⋯ nₖ!))

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
    nats = gammaln(n + k) - gammaln(k) - gammaln(counts + 1.0).sum(axis=-1)
    return np.asarray(nats / np.log(2))


def entropy_bits(counts: NDArray[Any]) -> Floats:
    """n times the entropy of the classes of groups of rows; the last axis is that of classes."""

    def n_log_n(values: NDArray[Any]) -> Floats:
        found: Floats = values * np.log2(np.maximum(values, 1))
        return found

    return np.asarray(n_log_n(counts.sum(axis=-1)) - n_log_n(counts).sum(axis=-1))


def literals_bits(n_literals: int, n_columns: int) -> float:
    """Bits that name some literals: how many there are, which columns, and a sign each."""
    return log2(n_columns) + log2(comb(n_columns, n_literals)) + n_literals
