"""A data set under study, the outcome of an experiment, and the paper's published values."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from conjunct import datasets
from conjunct.columns import PackedColumns
from conjunct.data import BooleanData, CellRules
from conjunct.errors import ConjunctWarning
from conjunct.estimators import UFC, FeatureConstructor, UFCPath
from conjunct.ufc import Indicators, Risk

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One table or figure of the paper, or of what goes past it.

    ``name`` is that of its files; ``charts`` are made when asked for, by the ending of their name
    (an empty one for the only chart).
    """

    name: str
    title: str
    text: str
    rows: Sequence[Row]
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)

    @cached_property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(column for row in self.rows for column in row))

    def csv(self) -> str:
        """Return the rows as CSV; numbers have six decimals, and unknown ones are empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([format_cell(row.get(column)) for column in self.columns])
        return text.getvalue()


def format_cell(value: Any) -> str:
    """Return a cell of a table as text."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if 0 < abs(value) < 1e-4:
            return f"{value:.3g}"
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return str(value)


# strategy → features, length, OI, C0
INDICATORS: dict[str, tuple[int, float, float, float]] = {
    "primitives": (22, 1.00, 0.28, 0.00),
    "uFC*(0.432, 3)": (36, 2.83, 0.09, 0.07),
    "uFC(0.218, 4)": (62, 8.81, 0.03, 0.20),
    "uFRINGE": (307, 2.90, 0.25, 1.45),
}

RISK_BASED: dict[str, dict[str, Any]] = {
    "primitives": {"features": 22, "length": 1.00, "oi": 0.279, "c0": 0.000},
    "uFC*(0.432, 3)": {
        "threshold": 0.432,
        "iterations": 3,
        "features": 36,
        "common": 19,
        "length": 2.83,
        "oi": 0.086,
        "c0": 0.071,
    },
    "uFCα(0.0001)": {
        "threshold": 0.228,
        "iterations": 2,
        "features": 39,
        "common": 19,
        "length": 2.97,
        "oi": 0.078,
        "c0": 0.086,
    },
}

# §5.4: the order of magnitude of the p-value, for every λ and every data set
KENDALL_P_VALUE = 1e-9


def published_indicators(name: str, strategy: str) -> dict[str, Any]:
    """Return the published line of table 3, as columns; empty where the paper has none."""
    found = INDICATORS.get(strategy) if name == "spect" else None
    if found is None:
        return {}
    columns = ("published_features", "published_length", "published_oi", "published_c0")
    return dict(zip(columns, found, strict=True))


def published_risk(name: str, strategy: str) -> dict[str, Any]:
    """Return the published line of table 4, as columns; empty where the paper has none."""
    found = RISK_BASED.get(strategy, {}) if name == "spect" else {}
    return {f"published_{column}": value for column, value in found.items()}


Model = TypeVar("Model", bound=FeatureConstructor)

# λ and limit_iter of the third row of the paper's table 3, on spect
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
        """Return a study of any container that estimators take."""
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
        """Return the run for a risk α (§6): by default the paper's, without pruning."""
        return self.fitted(UFC(Risk(alpha, prune=prune), **options))

    def fitted(self, model: Model) -> Model:
        """Fit the model; its results show what it would warn about."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjunctWarning)
            return model.fit(BooleanData(self.names, self.store))

    @property
    def primitives(self) -> Indicators:
        return self.path.solution(self.path.closest_point_).history_[0]

    @property
    def coverage(self) -> str:
        """A sentence about the λ that the paths cover, where it is not all."""
        partial = [path for path in (self.path, self.pruned_path) if not path.complete_]
        if not partial:
            return ""
        lowest = max(path.covered_from_ for path in partial)
        return (
            f" Only λ from {lowest:.3f} up is covered: the paths end after {self.max_solutions} "
            f"solutions."
        )
