"""Boolean columns that can count: one protocol, one file per store, one counting kernel."""

from conjunct.stores.base import Positions, Rewrite, Store
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts

__all__ = ["BitStore", "Counts", "Positions", "Rewrite", "Store"]
