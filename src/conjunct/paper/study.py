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
from conjunct.ufc import Indicators, Risk, Solution

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One table or figure of the paper, or of what goes past it.

    ``name`` is that of its files; ``charts`` are made when asked for, by the ending of their name
    (an empty one for the only chart).

    Examples
    --------
    >>> from conjunct.paper import Study, outcomes
    >>> print(next(outcomes(Study.of_bundled("zoo"))).columns[:3])
    ['strategy', 'features', 'length']
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


# table 3
INDICATORS: dict[str, dict[str, Any]] = {
    "primitives": {"features": 22, "length": 1.00, "oi": 0.28, "c0": 0.00},
    "uFC*(0.432, 3)": {"features": 36, "length": 2.83, "oi": 0.09, "c0": 0.07},
    "uFC(0.218, 4)": {"features": 62, "length": 8.81, "oi": 0.03, "c0": 0.20},
    "uFRINGE": {"features": 307, "length": 2.90, "oi": 0.25, "c0": 1.45},
}
# table 4
_RISK = ("threshold", "iterations", "features", "common", "length", "oi", "c0")
RISK_BASED: dict[str, dict[str, Any]] = {
    "primitives": {"features": 22, "length": 1.00, "oi": 0.279, "c0": 0.000},
    "uFC*(0.432, 3)": dict(zip(_RISK, (0.432, 3, 36, 19, 2.83, 0.086, 0.071), strict=True)),
    "uFCα(0.0001)": dict(zip(_RISK, (0.228, 2, 39, 19, 2.97, 0.078, 0.086), strict=True)),
}

# §5.4: the order of magnitude of the p-value, for every λ and every data set
KENDALL_P_VALUE = 1e-9


def paper_values(table: Mapping[str, Row], name: str, strategy: str) -> dict[str, Any]:
    """Return a line of a published table, as columns; empty where the paper has none."""
    found = table.get(strategy, {}) if name == "spect" else {}
    return {f"published_{column}": value for column, value in found.items()}


def indicators_of(line: Indicators | Solution) -> dict[str, Any]:
    """Return the numbers that most tables have, as columns."""
    return {"features": line.n_features, "length": line.length, "oi": line.oi, "c0": line.c0}


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

    Examples
    --------
    >>> from conjunct.paper import Study
    >>> len(Study.of_bundled("zoo", max_solutions=50).path.solutions_)
    50
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
        data = BooleanData.read(X, CellRules(missing="raise", storage="dense"), counts=True)
        return cls(name, data.columns, data.names, max_solutions)

    @cached_property
    def path(self) -> UFCPath:
        """Every λ from 0.002 to 0.5, up to 20 iterations (§5.3)."""
        return self.fit(UFCPath(max_solutions=self.max_solutions, max_seconds=None))

    @cached_property
    def path_with_pruning(self) -> UFCPath:
        return self.fit(UFCPath(prune=True, max_solutions=self.max_solutions, max_seconds=None))

    def fit_risk(self, alpha: float, *, prune: bool = False, **options: Any) -> UFC:
        """Return the run for a risk α (§6): by default the paper's, without pruning."""
        return self.fit(UFC(Risk(alpha, prune=prune), **options))

    def fit(self, model: Model) -> Model:
        """Fit the model; its results show what it would warn about."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConjunctWarning)
            return model.fit(BooleanData(self.names, self.store))

    def outcome(
        self,
        name: str,
        title: str,
        text: str,
        rows: Sequence[Row],
        charts: Mapping[str, Callable[[], Any]] | None = None,
    ) -> Outcome:
        """Return an outcome on this data, with a note where not every λ is covered."""
        return Outcome(name, f"{title} on {self.name}", text + self.coverage, rows, charts or {})

    @property
    def primitives(self) -> Indicators:
        return self.path.solution(self.path.closest_point_).history_[0]

    @property
    def coverage(self) -> str:
        """Return a sentence about the λ that the paths cover, if not all."""
        partial = [path for path in (self.path, self.path_with_pruning) if not path.complete_]
        if not partial:
            return ""
        lowest = max(path.covered_from_ for path in partial)
        return (
            f" Only λ from {lowest:.3f} up are covered: the paths stop after {self.max_solutions} "
            f"solutions."
        )
