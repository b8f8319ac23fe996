"""What every estimator shares: columns and their names, from any container."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data

from conjunct.columns import Columns, StoreKind
from conjunct.counting import PartitionedColumns
from conjunct.data import (
    Baskets,
    BooleanData,
    CellRules,
    Container,
    InParts,
    Missing,
    Preparation,
    check_distinct,
    container_of,
)
from conjunct.errors import InputError
from conjunct.parameters import check_jobs


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

    def _read_to_fit(self, X: Any) -> BooleanData:
        """The columns to learn from; keeps their number and their names."""
        container = container_of(X)
        if isinstance(container, InParts) and not self._takes_parts:
            raise self._not_in_memory()
        if not container.names_itself:
            validate_data(self, container.head, reset=True, skip_check_array=True)
        data = BooleanData.read(container, self._rules(), counts=True)
        if isinstance(data.columns, PartitionedColumns) and not self._takes_parts:
            raise self._not_in_memory()
        if container.names_itself:
            self.n_features_in_ = len(data.names)
            if data.has_names:
                self.feature_names_in_ = np.array(data.names, object)
        self._backend = container.backend
        self.preparation_ = container.preparation
        return data

    def _rules(self) -> CellRules:
        check_jobs(self.n_jobs)
        return CellRules(self.binarize, self.missing, self.store, self.n_jobs)

    def _container(self, X: Any) -> Container:
        """Other rows, if they have the columns of the model."""
        container = container_of(X)
        if not container.names_itself:
            validate_data(self, container.head, reset=False, skip_check_array=True)
        elif not hasattr(self, "feature_names_in_"):
            return self._by_position(container)
        return container

    def _by_position(self, container: Container) -> Container:
        """Columns with names, for a model that was fitted without any."""
        if isinstance(container, Baskets):
            raise InputError("baskets need a model fitted on named columns; this one has no names")
        if container.n_columns != self.n_features_in_:
            raise InputError(
                f"the data has {container.n_columns} columns, and the model, which has no names, "
                f"{self.n_features_in_}"
            )
        return container.renamed(self._primitive_names())

    def _like_fitted(self) -> BooleanData:
        """What other rows are read like."""
        return BooleanData.without_rows(self._primitive_names(), self._rules())

    def _read(self, X: Any) -> Columns:
        """The columns of other rows."""
        container = self._container(X)
        if isinstance(container, InParts):
            raise InputError(container.engine.advice)
        columns = self._like_fitted().like(container).columns
        if isinstance(columns, PartitionedColumns):
            raise InputError("these rows do not fit in memory: give some of them at a time")
        read: Columns = columns
        return read

    def _not_in_memory(self) -> InputError:
        return InputError(
            f"{type(self).__name__} needs all rows in memory: call .compute() on a Dask "
            "collection, read a file with conjunct.files.read_boolean, or use UFC"
        )

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
        check_distinct(names)
        return names


def class_codes(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes of ``y``, sorted, and the position of each row's among them."""
    from sklearn.utils.multiclass import check_classification_targets

    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise InputError(f"X has {n_rows} rows and y {len(labels)}: they must be as many")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, np.asarray(codes, np.intp)


def distinct_names(names: Sequence[str]) -> list[str]:
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
