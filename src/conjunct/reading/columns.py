"""The columns of a feature set on some rows."""

from __future__ import annotations

from collections.abc import Iterable

from conjunct.construction.feature_set import FeatureSet
from conjunct.stores import BitStore
from conjunct.stores.packing import without_padding


def feature_columns(
    feature_set: FeatureSet, primitives: BitStore, numbers: Iterable[int] | None = None
) -> BitStore:
    """The features' columns, ready to be counted, given those of the primitives.

    ``numbers`` asks for other features of the lineage instead.
    """
    bits = feature_set.evaluate(primitives.bits, numbers)
    return BitStore(without_padding(bits, primitives.n_rows), primitives.n_rows, primitives.n_jobs)
