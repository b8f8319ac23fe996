"""Bits of rows that training did not see, by features and by the columns as they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import Measurement
from conjunct import UFC, Bits, UFCPath
from conjunct.columns import PackedColumns
from conjunct.features import FeatureSet, bits_of_rows

Table = NDArray[np.bool_]

SEEDS = (0, 1, 2)
HELD_OUT = 0.3
PATH_SECONDS = 60
"""UFCPath looks for so long at most, from the highest λ down."""
WAYS: dict[str, Any] = {
    "default": lambda: UFC("bits"),
    "alpha=None": lambda: UFC(Bits(alpha=None)),
    "risk": lambda: UFC("risk"),
    "path": lambda: UFCPath(max_seconds=PATH_SECONDS),
}


def compared(table: Table) -> Measurement:
    """Bits of unseen rows as a share of what the bare columns need, and scores, over the splits."""
    shares: dict[str, list[float]] = {way: [] for way in WAYS}
    scores: dict[str, list[float]] = {way: [] for way in ("columns", *WAYS)}
    for seed in SEEDS:
        train, test = split(table, seed)
        bare = UFC(max_iter=0).fit(train)
        needed = bits_of(bare.feature_set_, train, test)
        scores["columns"].append(bare.score(test))
        for way, made in WAYS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = made().fit(train)
            shares[way].append(bits_of(model.feature_set_, train, test) / needed)
            scores[way].append(model.score(test))
    return {
        "shares": {way: float(np.mean(found)) for way, found in shares.items()},
        "scores": {way: float(np.mean(found)) for way, found in scores.items()},
    }


def split(table: Table, seed: int) -> tuple[Table, Table]:
    """Rows to train on, and rows held out."""
    order = np.random.default_rng(seed).permutation(len(table))
    n_held_out = round(HELD_OUT * len(table))
    return table[order[n_held_out:]], table[order[:n_held_out]]


def bits_of(features: FeatureSet, train: Table, test: Table) -> float:
    """Bits of the test rows in the complete code, coded as the training rows tell."""
    known = features.counted(PackedColumns.from_table(train)).known_counts()
    new = features.row_code.count(PackedColumns.from_table(test))
    return bits_of_rows(new, known.features)
