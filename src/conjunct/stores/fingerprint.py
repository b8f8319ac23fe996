"""A fingerprint of the rows of a table: the same for every layout, order of rows and split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.stores.bits import BitStore
from conjunct.stores.partial import PartialStore
from conjunct.stores.partitioned import PartitionedStore
from conjunct.stores.sparse import SparseStore

Words = NDArray[np.uint64]


def fingerprint(store: Any) -> int:
    """A number that other rows would hardly have."""
    if isinstance(store, PartitionedStore):
        return int(store.total(_of_part)[0])
    return int(_of_part(store)[0])


def _of_part(part: BitStore | SparseStore | PartialStore) -> Words:
    """One word, which adds up over parts."""
    if isinstance(part, PartialStore):
        missing = part.true.with_lines([part.true.everywhere ^ line for line in part.known.lines])
        sums = _sums(part.true, seed=0) + _sums(missing, seed=1)
    else:
        sums = _sums(part, seed=0)
    return np.array([_mixed(sums).sum(dtype=np.uint64)])


def _sums(part: BitStore | SparseStore, seed: int) -> Words:
    """The sum of a random word for each column that is true in a row."""
    words = np.random.default_rng(seed).integers(0, 1 << 64, part.n_columns, np.uint64)
    sums = np.zeros(part.n_rows, np.uint64)
    for line, word in zip(part.lines, words, strict=True):
        rows: Any = line
        if isinstance(part, BitStore):
            rows = np.unpackbits(line, count=part.n_rows, bitorder="little").view(np.bool_)
        sums[rows] += word
    return sums


def _mixed(words: Words) -> Words:
    """Words that say nothing about each other any more, so that a sum of them tells rows apart."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))
