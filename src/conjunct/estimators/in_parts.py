"""What is made of rows in parts, wherever they are: features and chunks of each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjunct.data import BooleanData, InParts, unchecked
from conjunct.features import FeatureSet


def sendable(feature_set: FeatureSet, *, merges: bool = False) -> FeatureSet:
    """The same features, without what is deep for pickle; expressions are made where wanted."""
    lineage = feature_set.lineage.renamed(feature_set.lineage.primitives)
    return replace(feature_set, lineage=lineage, merges=feature_set.merges if merges else ())


@dataclass(frozen=True)
class PartMaker:
    """Makes other columns of those of a part, which is read like other data."""

    like: BooleanData
    make: Callable[[Any], Any]
    names: tuple[str, ...]

    def __call__(self, data: Any) -> Any:
        container = unchecked(data)
        made = self.make(self.like.like(container).columns)
        return BooleanData(self.names, made).to(container, nullable=self._nullable)

    def over(self, container: InParts) -> Any:
        """What is made of all parts, when it is used."""
        dtype = np.float64 if self._nullable else np.bool_
        return container.engine.mapped(container.data, self, len(self.names), dtype)

    @property
    def _nullable(self) -> bool:
        return self.like.rules.missing == "pairwise"
