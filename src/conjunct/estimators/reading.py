"""What every estimator shares: columns and their names, from any container."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from conjunct.binarize.preparation import Preparation
from conjunct.errors import InputError
from conjunct.estimators import containers, partitioned
from conjunct.estimators.container_reading import Reading
from conjunct.estimators.values import Missing
from conjunct.stores.sizing import StoreKind


class BooleanEstimator(BaseEstimator):
    """Base of the estimators that read Boolean columns."""

    # whether rows may lie apart, on disk or on a cluster
    _takes_parts: ClassVar[bool] = False
    _ways_with_missing: ClassVar[tuple[Missing, ...]] = ("raise", "false")

    binarize: float | None
    missing: Missing
    n_jobs: int | None
    # only uFC works on lists of rows
    store: StoreKind = "bits"

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    preparation_: Preparation = Preparation()
    """How the columns came from raw data, if they did; saved with the model."""
    _backend: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def _read_to_fit(self, X: Any) -> Any:
        """The columns to learn from, as a store; keeps their number and their names."""
        in_parts = partitioned.is_partitioned(X)
        if in_parts and not self._takes_parts:
            raise InputError(
                f"{type(self).__name__} needs all rows in memory: call .compute() on a Dask "
                "collection, read a file with conjunct.io.read_boolean, or use UFC"
            )
        data = partitioned.template(X) if in_parts else containers.checked(X)
        names = containers.column_names(data)
        containers.check_distinct(names or ())
        if containers.names_its_columns(data):
            if not names:
                raise InputError("no basket has an item (0 feature(s)): at least 1 is needed")
            self.n_features_in_ = len(names or ())
            self.feature_names_in_ = np.array(names, object)
        else:
            validate_data(self, data, reset=True, skip_check_array=True)
        self._backend = containers.frame_backend(data)
        self.preparation_ = containers.preparation(data)
        if in_parts:
            return partitioned.partitioned_store(X, self._primitive_names(), self._reading())
        return self._read(data, counts=True)

    def _read(self, data: Any, *, counts: bool = False) -> Any:
        """A store; ``counts`` says that pairs of columns will be counted."""
        return replace(self._reading(), counts=counts).read(data, self._primitive_names())

    def _reading(self) -> Reading:
        return Reading(self.binarize, self.missing, self.n_jobs, self.store)

    def _checked_as_fitted(self, X: Any) -> Any:
        return self._as_fitted(containers.checked(X))

    def _as_fitted(self, data: Any) -> Any:
        if not containers.names_its_columns(data):
            validate_data(self, data, reset=False, skip_check_array=True)
        elif not hasattr(self, "feature_names_in_"):
            raise InputError("baskets need a model fitted on named columns; this one has no names")
        return data

    def _primitive_names(self) -> tuple[str, ...]:
        if hasattr(self, "feature_names_in_"):
            return tuple(self.feature_names_in_)
        return tuple(f"x{k}" for k in range(self.n_features_in_))

    def _names_for(self, input_features: Any) -> tuple[str, ...]:
        """Names of the columns, as ``get_feature_names_out`` is given them."""
        names = tuple(str(name) for name in input_features)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        if hasattr(self, "feature_names_in_") and names != tuple(self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_")
        containers.check_distinct(names)
        return names


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, with ``[2]``, ``[3]`` … after those that came before: columns need their own."""
    taken = set(names)
    used: set[str] = set()
    distinct = []
    for name in names:
        own, k = name, 1
        while own in used or (k > 1 and own in taken):
            k += 1
            own = f"{name} [{k}]"
        used.add(own)
        distinct.append(own)
    return distinct
