"""Boolean columns that can count: one protocol, one file per store, one counting kernel."""

from conjunct.stores.base import (
    AnyRewrite,
    Columns,
    Conjoined,
    Contingency,
    MergeRewrite,
    PairCounts,
    Positions,
    Rewrite,
    Store,
    Tally,
)
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.matrix import CountMatrix
from conjunct.stores.merging import Merging
from conjunct.stores.partial import PartialStore
from conjunct.stores.partitioned import PartitionedStore, Partitions
from conjunct.stores.sparse import SparseStore

__all__ = [
    "AnyRewrite",
    "BitStore",
    "Columns",
    "Conjoined",
    "Contingency",
    "CountMatrix",
    "Counts",
    "MergeRewrite",
    "Merging",
    "PairCounts",
    "PartialStore",
    "PartitionedStore",
    "Partitions",
    "Positions",
    "Rewrite",
    "SparseStore",
    "Store",
    "Tally",
]
