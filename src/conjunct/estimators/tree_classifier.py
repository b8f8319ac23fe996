"""What CAT, ID2-of-3 and XofN share: they make features, and their tree is a classifier."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from conjunct.columns import PackedColumns
from conjunct.errors import InputError
from conjunct.estimators.tree_based import SupervisedConstructor
from conjunct.parameters import check
from conjunct.trees import CatProposer, CountProposer, CountTree, Proposer

NO_LIMIT = sys.maxsize
"""Features that one tree may make."""


class TreeClassifier(ClassifierMixin, SupervisedConstructor):
    """Base of the estimators that are transformers and classifiers."""

    prune: bool

    tree_: CountTree

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: the most common one in its leaf, the first of equals."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class among the training rows in the leaf of each row."""
        check_is_fitted(self)
        if not hasattr(self, "tree_"):
            raise InputError(
                "the tree is not kept in a model file, which holds features: "
                "fit again to predict, or give what transform makes to a classifier of your own"
            )
        table = self.feature_set_.evaluate(self._read(X)).to_dense()
        counts = self.tree_.class_counts(table)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _run(self, store: PackedColumns, names: Sequence[str], propose: Proposer) -> None:
        super()._run(store, names, propose)
        if isinstance(propose, CatProposer | CountProposer) and propose.tree is not None:
            self.tree_ = propose.tree

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check(isinstance(self.prune, bool), "prune", self.prune, "True or False")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # columns are Boolean: numbers cut in two tell less than numbers
        tags.classifier_tags.poor_score = True
        return tags
