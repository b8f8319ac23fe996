"""Measure the bits of unseen rows, by features and by the columns alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import Measurement
from conjunct import UFC, Bits, UFCPath

Table = NDArray[np.bool_]

SEEDS = (0, 1, 2)
HELD_OUT = 0.3
PATH_SECONDS = 60
"""UFCPath looks for so long at most, from the highest λ down."""
WAYS: dict[str, Any] = {
    "variables": lambda: UFC(max_iter=0),
    "bits": lambda: UFC("bits"),
    "alpha=None": lambda: UFC(Bits(alpha=None)),
    "risk": lambda: UFC("risk"),
    "path": lambda: UFCPath(max_seconds=PATH_SECONDS),
}
"""The first makes no chunks, and only knows which columns exclude each other."""


def compared(table: Table) -> Measurement:
    """Return the bits of unseen rows as a share of the bits by columns alone, over the splits."""
    shares: dict[str, list[float]] = {way: [] for way in WAYS}
    for seed in SEEDS:
        train, test = split(table, seed)
        bare = bits_per_row(UFC(max_iter=0, variables=False), train, test)
        for way, made in WAYS.items():
            shares[way].append(bits_per_row(made(), train, test) / bare)
    return {"shares": {way: float(np.mean(found)) for way, found in shares.items()}}


def bits_per_row(model: Any, train: Table, test: Table) -> float:
    """Return the mean bits of a test row after a fit on the training rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is constructed, the figures tell
        return -float(model.fit(train).score(test))


def split(table: Table, seed: int) -> tuple[Table, Table]:
    """Return training rows and test rows."""
    order = np.random.default_rng(seed).permutation(len(table))
    n_held_out = round(HELD_OUT * len(table))
    return table[order[n_held_out:]], table[order[:n_held_out]]
