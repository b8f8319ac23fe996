"""The columns of a feature set on some rows."""

from __future__ import annotations

from conjunct.construction.feature_set import FeatureSet
from conjunct.stores import BitStore
from conjunct.stores.packing import without_padding


def feature_columns(feature_set: FeatureSet, primitives: BitStore) -> BitStore:
    """The features' columns, ready to be counted, given those of the primitives."""
    bits = feature_set.evaluate(primitives.bits)
    return BitStore(without_padding(bits, primitives.n_rows), primitives.n_rows, primitives.n_jobs)
