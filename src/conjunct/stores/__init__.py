"""Boolean columns that can count: one protocol, one file per store, one counting kernel."""

from conjunct.stores.base import (
    Conjoined,
    Contingency,
    PairCounts,
    Positions,
    Rewrite,
    Store,
    Tally,
)
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.matrix import CountMatrix
from conjunct.stores.partitioned import PartitionedStore, Partitions

__all__ = [
    "BitStore",
    "Conjoined",
    "Contingency",
    "CountMatrix",
    "Counts",
    "PairCounts",
    "PartitionedStore",
    "Partitions",
    "Positions",
    "Rewrite",
    "Store",
    "Tally",
]
