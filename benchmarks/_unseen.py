"""Bits of rows that training did not see, by features and by the columns as they are.

Each feature is a Bernoulli variable. Features are coded one after the other, the largest patterns
first; one that cannot be true beside those that are known to be true is not coded at all.
Its probability is that in the training rows in which it was coded, smoothed by ½. Features that
training never saw are coded too, so that every row there could be has a code.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._apart import Measurement
from conjunct import UFC, Bits, UFCPath
from conjunct.columns import PackedColumns
from conjunct.columns.packing import unpack
from conjunct.features.feature_set import FeatureSet

Table = NDArray[np.bool_]

SEEDS = (0, 1, 2)
HELD_OUT = 0.3
PATH_SECONDS = 60
"""UFCPath looks for so long at most, from the highest λ down."""
WAYS: dict[str, Any] = {
    "default": lambda: UFC(),
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
    """Bits of the test rows, coded as the training rows tell."""
    every = features.with_unseen
    excludes = exclusions(every)
    seen, unseen = _columns(every, train), _columns(every, test)
    out_seen, out_unseen = np.zeros_like(seen), np.zeros_like(unseen)
    sizes = np.array([len(pattern) for pattern in every.patterns])
    bits = 0.0
    for f in np.lexsort((-seen.sum(axis=0), -sizes)):
        n_coded = np.count_nonzero(~out_seen[:, f])
        probability = (np.count_nonzero(seen[:, f]) + 0.5) / (n_coded + 1)
        n_true = np.count_nonzero(unseen[:, f])
        n_false = np.count_nonzero(~out_unseen[:, f]) - n_true
        bits -= n_true * np.log2(probability) + n_false * np.log2(1 - probability)
        out_seen |= np.outer(seen[:, f], excludes[f])
        out_unseen |= np.outer(unseen[:, f], excludes[f])
    return float(bits)


def exclusions(every: FeatureSet) -> Table:
    """Which features cannot be true in one row: those of different conjunctions of a merge.

    Features whose patterns overlap are among them.
    """
    n_features = len(every.features)
    below = dict(zip(every.features, np.eye(n_features, dtype=bool), strict=True))
    excludes = np.zeros((n_features, n_features), bool)
    for merge in reversed(every.merges):
        both, right, left = (below[k] for k in (merge.both, merge.right_only, merge.left_only))
        for one, other in ((both, right), (both, left), (right, left)):
            excludes |= np.outer(one, other) | np.outer(other, one)
        below[merge.left], below[merge.right] = both | left, both | right
    return excludes


def _columns(every: FeatureSet, table: Table) -> Table:
    return unpack(every.evaluate(PackedColumns.from_table(table)).bits, len(table))
