"""One data set under study: what several experiments need of it is computed once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from conjunct import datasets
from conjunct.columns import PackedColumns
from conjunct.data import BooleanData, CellRules
from conjunct.errors import ConjunctWarning
from conjunct.estimators import UFC, FeatureConstructor, UFCPath
from conjunct.ufc import Indicators, Risk

Model = TypeVar("Model", bound=FeatureConstructor)

# λ and limit_iter of the paper's third row of table 3, on spect
OTHER_RUN = (0.218, 4)
# §7.1
ALPHAS = (0.05, 0.01, 0.005, 0.001, 0.0008, 0.0005, 0.0003, 0.0001, 0.00005, 0.00001)
# table 4: 0.0001 on spect and street
ALPHA = 0.0001


@dataclass(frozen=True, eq=False)
class Study:
    """Boolean data with a name, and the paths through it.

    ``max_solutions`` bounds a path: on wide data there is no end to them.
    """

    name: str
    store: PackedColumns
    names: tuple[str, ...]
    max_solutions: int | None = None

    @classmethod
    def of_bundled(cls, name: str, max_solutions: int | None = None) -> Study:
        data = datasets.load(name)
        return cls(name, PackedColumns.from_table(data.values), data.feature_names, max_solutions)

    @classmethod
    def of(cls, X: Any, name: str, max_solutions: int | None = None) -> Study:
        """Of any container that estimators take."""
        data = BooleanData.read(X, CellRules(missing="raise", store="bits"), counts=True)
        return cls(name, data.columns, data.names, max_solutions)

    @cached_property
    def path(self) -> UFCPath:
        """Every λ from 0.002 to 0.5, up to 20 iterations (§5.3)."""
        return self.fitted(UFCPath(max_solutions=self.max_solutions, max_seconds=None))

    @cached_property
    def pruned_path(self) -> UFCPath:
        return self.fitted(UFCPath(prune=True, max_solutions=self.max_solutions, max_seconds=None))

    def risk_based(self, alpha: float, *, prune: bool = False, **options: Any) -> UFC:
        """The risk-based run for a risk α (§6): by default the paper's, without pruning."""
        return self.fitted(UFC(Risk(alpha, prune=prune), **options))

    def fitted(self, model: Model) -> Model:
        """The model fitted; that it constructed nothing, or not all, shows in its results."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjunctWarning)
            return model.fit(BooleanData(self.names, self.store))

    @property
    def primitives(self) -> Indicators:
        return self.path.solution(self.path.closest_point_).history_[0]

    @property
    def coverage(self) -> str:
        """What of λ the paths cover, where it is not all."""
        partial = [path for path in (self.path, self.pruned_path) if not path.complete_]
        if not partial:
            return ""
        lowest = max(path.covered_from_ for path in partial)
        return (
            f" Only λ from {lowest:.3f} up is covered: the paths end after {self.max_solutions} "
            f"solutions."
        )
