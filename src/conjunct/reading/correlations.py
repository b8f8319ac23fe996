"""Correlations among the columns of a store, as much of them as a picture can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.association import phi
from conjunct.association.measures import Floats
from conjunct.stores import Columns

# of very many columns only the most common ones are looked at
_MOST_COUNTED = 1000


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's r among some columns: 1 on the diagonal, NaN where one of two does not vary.

    ``positions`` are those shown, of ``n_columns``; ``strongest`` is the largest r between two.
    """

    positions: tuple[int, ...]
    n_columns: int
    r: Floats
    strongest: float


def correlations(store: Columns, limit: int) -> Correlations:
    """Among the ``limit`` columns with the strongest correlations, in the order of the store."""
    common = np.sort(np.argsort(-store.supports(), kind="stable")[:_MOST_COUNTED])
    r = _matrix(store.with_lines([store.lines[k] for k in common]))
    strength = np.where(np.isnan(r), -1.0, np.abs(r))
    np.fill_diagonal(strength, -1.0)
    linked = strength.max(axis=1, initial=-1.0)
    shown = np.sort(np.argsort(-linked, kind="stable")[:limit])
    above = r[np.triu_indices(len(r), 1)]
    return Correlations(
        tuple(int(common[k]) for k in shown),
        store.n_columns,
        r[np.ix_(shown, shown)],
        float(np.max(above[~np.isnan(above)], initial=-1.0)),
    )


def _matrix(store: Columns) -> Floats:
    n = store.n_columns
    left, right = np.triu_indices(n, 1)
    between = phi(*store.tally().of(left, right).table)
    r = np.ones((n, n))
    r[left, right] = r[right, left] = between
    return r
