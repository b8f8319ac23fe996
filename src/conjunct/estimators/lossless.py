"""What uFC's estimators share: nothing is lost, so that features can be turned back."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.utils.validation import check_is_fitted

from conjunct.construction.feature_set import FeatureSet
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators import containers
from conjunct.estimators.base import FeatureConstructor
from conjunct.estimators.container_reading import Reading
from conjunct.estimators.container_writing import write_like
from conjunct.estimators.values import MISSING


class LosslessConstructor(FeatureConstructor):
    """Base of the estimators that replace each pair by what it can be recovered from."""

    _ways_with_missing = MISSING

    def inverse_transform(self, X: Any) -> Any:
        """The original columns of rows given by their constructed features.

        Undoes ``transform`` exactly for every row of the training data, and for a new row unless
        it has a combination that never occurred in training. Features below ``min_support`` are
        taken as false, with a warning that says how much that loses. With missing cells it is not
        exact: a cell may come back missing where that of a partner was.
        """
        check_is_fitted(self)
        if self.feature_set_.suppressed:
            warnings.warn(_what_was_lost(self.feature_set_), ConjunctWarning, stacklevel=2)
        texts = self._column_names()
        data = containers.checked(X)
        names = containers.column_names(data)
        if names is not None and not containers.is_baskets(data) and list(names) != texts:
            raise InputError("the columns are not the features of this model, in their order")
        store = Reading(None, self.missing, self.n_jobs, self.store).read(data, texts)
        if store.n_columns != len(texts):
            raise InputError(f"X has {store.n_columns} columns, the model {len(texts)} features")
        recovered = self.feature_set_.recover(store)
        return write_like(data, recovered, self._primitive_names(), self.missing == "pairwise")


def _what_was_lost(feature_set: FeatureSet) -> str:
    return (
        f"{len(feature_set.suppressed)} features below min_support are taken as false: "
        f"{sum(feature_set.lost_cells())} true cells of the training data come back false"
    )
