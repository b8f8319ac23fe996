"""What uFRINGE and FRINGE share: the parameters of Algorithm 1's schema with a tree in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import ClassVar, get_args

from conjunct.columns import PackedColumns
from conjunct.errors import ConjunctWarning
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.estimators.limits import limits_of
from conjunct.parameters import check_choice, check_common, check_whole
from conjunct.trees import Learner, Redundant, Strategy, run_fringe


class TreeBasedConstructor(FeatureConstructor):
    """Base of the estimators that join conditions on the paths of a tree."""

    _only_adds: ClassVar[bool] = True

    max_features: int
    strategy: Strategy
    redundant: Redundant

    n_distinct_rows_: int

    def _check_parameters(self) -> None:
        check_whole("max_features", self.max_features, 1)
        check_choice("strategy", self.strategy, get_args(Strategy))
        check_choice("redundant", self.redundant, get_args(Redundant))
        limits_of(self, n_rows=1)
        check_common(self)

    def _run(self, store: PackedColumns, names: Sequence[str], learner: Learner) -> None:
        run = run_fringe(
            store,
            names,
            learner,
            strategy=self.strategy,
            redundant=self.redundant,
            max_features=self.max_features,
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
        return (
            "no feature was constructed: no path of the tree has two conditions whose "
            "conjunction is new. Try a smaller min_samples_leaf"
        )
