"""Which features are most like a given one."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from conjunct.association import phi
from conjunct.construction.feature_set import FeatureSet
from conjunct.stores import Columns


class Neighbour(NamedTuple):
    """Another feature of the model, and how like it is."""

    position: int
    feature: str
    similarity: float
    by: Literal["correlation", "shared primitives"]


def nearest_by_columns(
    feature_set: FeatureSet, number: int, primitives: Columns, texts: list[str], n: int
) -> list[Neighbour]:
    """The features whose columns are most correlated with that of one, given by its number."""
    columns = feature_set.evaluate(primitives)
    one = feature_set.evaluate(primitives, [number])
    r = phi(*one.against(columns).table)
    # a column without variation on these rows has no correlation, and comes last
    similar = np.where(np.isnan(r), -np.inf, r)
    order = np.lexsort((np.arange(len(r)), -similar))
    return [
        Neighbour(k, texts[k], float(r[k]), "correlation")
        for k in order.tolist()
        if feature_set.features[k] != number
    ][:n]


def nearest_by_primitives(
    feature_set: FeatureSet, number: int, texts: list[str], n: int
) -> list[Neighbour]:
    """The features that share most primitives with one: shared ones over all of both."""
    names = [expression.primitives for expression in feature_set.expressions]
    own = feature_set.lineage.expression(number).primitives
    found = [
        Neighbour(k, texts[k], len(own & other) / len(own | other), "shared primitives")
        for k, other in enumerate(names)
        if feature_set.features[k] != number
    ]
    return sorted(found, key=lambda neighbour: (-neighbour.similarity, neighbour.position))[:n]
