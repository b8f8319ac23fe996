"""Weights of rows, which count as so many equal rows each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Columns
from conjunct.counting import Store, WeightedColumns
from conjunct.errors import InputError

# products of two counts fit into 64 bits up to here
_LARGEST = 1 << 31


def weighted(store: Store, sample_weight: Any) -> Store:
    """The columns, with weights if there are any."""
    if sample_weight is None:
        return store
    if not isinstance(store, Columns):
        raise InputError("sample_weight needs all rows in memory: repeat the rows, or read them")
    weights = checked_weights(sample_weight, store.n_rows)
    return store if (weights == 1).all() else WeightedColumns.of(store, weights)


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.int64]:
    """Weights as whole numbers; anything else is refused, for counts are whole numbers."""
    try:
        given = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must be numbers, one for each row") from None
    if given.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {given.shape}: there must be one weight for each of the "
            f"{n_rows} rows"
        )
    wrong = np.flatnonzero(~((given >= 0) & (given <= _LARGEST) & (np.floor(given) == given)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"sample_weight: that of row {row} is {given[row]:g}, and a row of weight w counts as "
            f"w rows: give whole numbers from 0, or multiply by a common factor and round"
        )
    if not given.any():
        raise InputError("Sample weights must contain at least one non-zero number: all are 0")
    if given.sum() > _LARGEST:
        raise InputError(f"sample_weight: the sum exceeds {_LARGEST}: divide by a common factor")
    return given.astype(np.int64)
