"""Correlations among the columns of a store, as much of them as a picture can show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conjunct.association import phi
from conjunct.association.measures import Floats
from conjunct.stores import BitStore

# of very many columns only the most common ones are looked at
_MOST_COUNTED = 1000


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's r among some columns; NaN where one does not vary.

    ``positions`` are those shown, of ``n_columns``; ``strongest`` is the largest r between two.
    """

    positions: tuple[int, ...]
    n_columns: int
    r: Floats
    strongest: float


def correlations(store: BitStore, limit: int) -> Correlations:
    """Among the ``limit`` columns with the strongest correlations, in the order of the store."""
    supports = store.supports()
    common = np.sort(np.argsort(-supports, kind="stable")[:_MOST_COUNTED])
    counted = store.taken(common)
    counts = supports[common]
    r = phi(store.n_rows, counts[:, None], counts[None, :], counted.joint_counts())
    apart = np.where(np.eye(len(r), dtype=bool) | np.isnan(r), -1.0, np.abs(r))
    linked = apart.max(axis=1, initial=-1.0)
    shown = np.sort(np.argsort(-linked, kind="stable")[:limit])
    others = np.where(np.eye(len(r), dtype=bool) | np.isnan(r), -1.0, r)
    return Correlations(
        tuple(int(common[k]) for k in shown),
        store.n_columns,
        r[np.ix_(shown, shown)],
        float(others.max(initial=-1.0)),
    )
