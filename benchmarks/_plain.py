"""Implement uFC in a simple way in NumPy and SciPy, as a baseline for conjunct.

The code is vectorised, uses the matrix products of the libraries, and repeats every count in each
iteration. Equally correlated pairs are taken in the order of the columns.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Pairs = list[tuple[int, int]]


def dense(table: NDArray[np.bool_], max_iter: int, alpha: float = 0.001) -> tuple[Any, list[Pairs]]:
    """Return the columns after the last iteration, and the pairs that each iteration replaced."""
    columns, history = table.astype(np.float32), []
    for _ in range(max_iter):
        joint = columns.T @ columns  # exact up to 2^24 rows
        left, right = np.triu_indices(len(joint), 1)
        counts = joint[left, right].astype(float)
        pairs = _chosen(left, right, counts, joint.diagonal().astype(float), len(table), alpha)
        if not pairs:
            break
        i, j = np.array(pairs).T
        both = columns[:, i] * columns[:, j]
        made = np.empty((len(table), 3 * len(pairs)), np.float32)
        made[:, ::3], made[:, 1::3], made[:, 2::3] = (
            both,
            columns[:, j] - both,
            columns[:, i] - both,
        )
        kept = np.delete(columns, np.concatenate([i, j]), axis=1)
        columns = np.hstack([kept, made[:, made.any(axis=0)]])
        history.append(pairs)
    return columns, history


def sparse(matrix: Any, max_iter: int, alpha: float = 0.001) -> tuple[Any, list[Pairs]]:
    """Do the same on a sparse matrix."""
    columns, history = sp.csc_array(matrix, dtype=np.int32), []
    for _ in range(max_iter):
        met = sp.triu(columns.T @ columns, 1, format="coo")
        supports = np.asarray(columns.sum(axis=0), float)
        pairs = _chosen(*met.coords, met.data.astype(float), supports, matrix.shape[0], alpha)
        if not pairs:
            break
        i, j = np.array(pairs).T
        both = columns[:, i].multiply(columns[:, j])
        made = sp.hstack([both, columns[:, j] - both, columns[:, i] - both], format="csc")
        made = made[:, np.arange(3 * len(pairs)).reshape(3, -1).T.ravel()]
        made.eliminate_zeros()
        kept = np.delete(np.arange(columns.shape[1]), np.concatenate([i, j]))
        columns = sp.hstack([columns[:, kept], made[:, np.diff(made.indptr) > 0]], format="csc")
        history.append(pairs)
    return columns, history


def _chosen(left: Any, right: Any, joint: Any, supports: Any, n: int, alpha: float) -> Pairs:
    """Return a greedy matching of significant pairs with expected frequencies of at least 5."""
    s, t = supports[left], supports[right]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (n * joint - s * t) / np.sqrt(s * (n - s) * (t * (n - t)))
    least = np.minimum(s, n - s) * np.minimum(t, n - t) / n
    passing = np.flatnonzero((r >= NormalDist().inv_cdf(1 - alpha) / np.sqrt(n)) & (least >= 5))
    order = passing[np.lexsort((right[passing], left[passing], -joint[passing], -r[passing]))]
    free = np.ones(len(supports), bool)
    pairs = []
    for i, j in zip(left[order].tolist(), right[order].tolist(), strict=True):
        if free[i] and free[j]:
            free[i] = free[j] = False
            pairs.append((i, j))
    return pairs
