"""What the estimators of Algorithm 1's schema share: parameters, and classes if they need any."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import PackedColumns
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.base import class_codes
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.estimators.limits import limits_of
from conjunct.parameters import check_choice, check_common, check_whole
from conjunct.trees import Proposer, Redundant, run_schema


class TreeBasedConstructor(FeatureConstructor):
    """Base of the estimators that make features of what a tree tests."""

    _only_adds: ClassVar[bool] = True
    # by how many features a last iteration may pass max_features; None: by all of its own
    _passes_by: ClassVar[int | None] = None

    max_features: int
    redundant: Redundant
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None

    n_distinct_rows_: int

    def _check_parameters(self) -> None:
        check_whole("max_features", self.max_features, 1)
        check_choice("redundant", self.redundant, get_args(Redundant))
        limits_of(self, n_rows=1)
        check_common(self)

    def _run(self, store: PackedColumns, names: Sequence[str], propose: Proposer) -> None:
        run = run_schema(
            store,
            names,
            propose,
            redundant=self.redundant,
            max_features=self.max_features,
            at_most=None if self._passes_by is None else self.max_features + self._passes_by,
            watch=self._watch,
        )
        self.feature_set_ = run.feature_set
        self.history_ = run.history
        self.n_distinct_rows_ = run.n_distinct_rows
        if len(run.history) == 1:
            warnings.warn(self._why_nothing(store.n_columns), ConjunctWarning, stacklevel=4)

    def _why_nothing(self, n_columns: int) -> str:
        if len(self.feature_set_.features) >= self.max_features:
            return (
                f"no feature was constructed: there are {n_columns} columns already and "
                f"max_features is {self.max_features}. Set a larger max_features"
            )
        return f"no feature was constructed: {self._nothing_new}"

    _nothing_new: ClassVar[str] = (
        "no path of the tree has two conditions whose conjunction is new. "
        "Try a smaller min_samples_leaf"
    )


class SupervisedConstructor(TreeBasedConstructor):
    """Base of those that need to know the class of each row."""

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Construct features that help to tell the classes ``y`` of the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual a row.
        y : array of shape (n_rows,)
            The class of each row.

        Returns
        -------
        self
        """
        data = self._read_to_fit(X)
        codes = self._classes_of(y, data.n_rows)
        self._check_parameters()
        self._run(data.columns, data.names, self._proposer(codes, data.n_rows))
        return self

    @abstractmethod
    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> Proposer:
        """What to make of a stage, given the position of each row's class in ``classes_``."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _classes_of(self, y: Any, n_rows: int) -> NDArray[np.intp]:
        """The position of each row's class in ``classes_``."""
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give the class of each row, or use UFringe, which needs none"
            )
        self.classes_, codes = class_codes(y, n_rows)
        return codes

    @property
    def _positive(self) -> int | None:
        """The class that is true, where the two are False and True, or 0 and 1."""
        is_boolean = not isinstance(self.classes_[0], str) and self.classes_.tolist() == [0, 1]
        return 1 if is_boolean else None
