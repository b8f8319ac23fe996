"""Define studies, outcomes of experiments, the paper's published values, and stability.

Stability is measured under noise (§7.3, figure 12) and in bootstrap samples.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from conjunct import datasets
from conjunct.columns import PackedColumns, unpack
from conjunct.data import Backend, BooleanData, CellRules, as_table
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators import UFC, FeatureConstructor, UFCPath
from conjunct.expressions import Expression, pattern_text
from conjunct.parameters import check, is_number, whole
from conjunct.plots import Drawing, draw_bars, draw_curves
from conjunct.ufc import CRITERIA, Indicators, Risk, Solution

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One table or figure of the paper, or of an experiment beyond it.

    Its files are called ``name``. ``charts`` maps suffixes of that name, which may be empty, to
    functions that draw the charts.

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

# §5.4: the order of magnitude of the p-value, for every λ and data set
KENDALL_P_VALUE = 1e-9


def paper_values(table: Mapping[str, Row], name: str, strategy: str) -> dict[str, Any]:
    """Return a row of a published table as columns, if the paper has one."""
    found = table.get(strategy, {}) if name == "spect" else {}
    return {f"published_{column}": value for column, value in found.items()}


def indicators_of(line: Indicators | Solution) -> dict[str, Any]:
    """Return the columns that most tables have."""
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
    """Boolean data with a name, and its paths of solutions.

    ``max_solutions`` limits a path, because wide data has very many solutions.

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
        """Return a study of any data that estimators accept."""
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
        """Fit with a risk α (§6), by default without pruning, as in the paper."""
        return self.fit(UFC(Risk(alpha, prune=prune), **options))

    def fit(self, model: Model) -> Model:
        """Fit the model without warnings."""
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
        """Return an outcome on this data, with a note if not every λ is covered."""
        return Outcome(name, f"{title} on {self.name}", text + self.coverage, rows, charts or {})

    @property
    def primitives(self) -> Indicators:
        return self.path.solution(self.path.closest_point_).history_[0]

    @property
    def coverage(self) -> str:
        """A sentence about the λ that the paths cover, if not all."""
        partial = [path for path in (self.path, self.path_with_pruning) if not path.complete_]
        if not partial:
            return ""
        lowest = max(path.covered_from_ for path in partial)
        return (
            f" Only λ ≥ {lowest:.3f} is covered: the paths stop after {self.max_solutions} "
            "solutions."
        )


NOISE = tuple(round(0.02 * k, 2) for k in range(16))  # §7.3: from 0% to 30%
N_RUNS = 10  # §7.3

_PAPER_MODEL = UFC(Risk(0.001, prune=False))  # §7.3

Perturbation = Literal["noise", "bootstrap"]
# formulas, or patterns where the rule is about chunks
Feature = Expression | tuple[str, ...]
Features = frozenset[Feature]


@dataclass(frozen=True)
class Level:
    """The five indicators of §7.3, averaged over the runs of one noise level."""

    noise: float
    n_runs: int
    oi: float
    c0: float
    n_features: float
    common_with_original: float
    common_between_runs: float


@dataclass(frozen=True)
class Recurrence:
    """A feature, and the ``share`` of the runs on changed data in which it recurs.

    With ``criterion="evidence"`` or ``"bits"``, a feature is its chunk, regardless of the tags that
    it denies.
    """

    feature: str
    original: bool
    share: float


@dataclass(frozen=True)
class Stability:
    """The result of :func:`stability`.

    ``levels`` has one entry per noise level, or only one for bootstrap samples. ``features`` lists
    the features of all runs; those that recur most often come first.

    Examples
    --------
    >>> from conjunct import datasets, stability
    >>> found = stability(datasets.load_zoo().values, noise=(0, 0.1), n_runs=2)
    >>> len(found.levels)
    2
    """

    kind: Perturbation
    levels: tuple[Level, ...]
    features: tuple[Recurrence, ...]

    def get_levels(self, backend: Backend = "pandas") -> Any:
        """Return a table of ``levels``."""
        return _table(self.levels, backend)

    def get_features(self, backend: Backend = "pandas") -> Any:
        """Return a table of ``features``."""
        return _table(self.features, backend)

    def shares_of(self, model: FeatureConstructor) -> tuple[float | None, ...]:
        """Return how often each feature of a model recurs, in the order of ``features_``.

        None means that neither the unchanged data nor any run had the feature.
        """
        shares = {found.feature: found.share for found in self.features}
        return tuple(shares.get(_text(feature)) for feature in _comparable_features(model))

    def plot_indicators(self) -> Any:
        """Draw OI and C0 by noise (the paper's figure 12a)."""
        self._check_noise()
        return self.draw()[0].to_chart()

    def plot_features(self) -> Any:
        """Draw numbers of features by noise (the paper's figure 12b)."""
        self._check_noise()
        return self.draw()[1].to_chart()

    def plot_recurrence(self, limit: int = 25) -> Any:
        """Draw how often the first ``limit`` features recur, as bars."""
        return self.draw(limit)[-1].to_chart()

    def draw(self, limit: int = 25) -> list[Drawing]:
        """Draw indicators and numbers of features by noise, if any, and the recurrence."""
        rows = [
            (f.feature if len(f.feature) <= 60 else f.feature[:59] + "…", f.share, f.original)
            for f in self.features[:limit]
        ]
        bars = draw_bars(rows, title="How often features recur", x_title="share of runs")
        numbers = {
            "features": "n_features",
            "common with zero noise": "common_with_original",
            "common between runs": "common_between_runs",
        }
        contents = (
            ("Indicators by noise", "indicator", {"OI": "oi", "C0": "c0"}),
            ("Features by noise", "number of features", numbers),
        )
        drawings = []
        for title, y_title, fields in contents if self.kind == "noise" else ():
            curves = {
                name: [
                    (100 * level.noise, value)
                    for level in self.levels
                    if (value := float(getattr(level, field))) == value
                ]
                for name, field in fields.items()
            }
            drawings.append(draw_curves(curves, (title, "noise (%)", y_title)).drawing())
        return [*drawings, bars]

    def _check_noise(self) -> None:
        if self.kind != "noise":
            raise InputError("bootstrap samples have no noise levels to plot: see plot_recurrence")


def stability(
    X: Any,
    estimator: FeatureConstructor | None = None,
    *,
    kind: Perturbation = "noise",
    noise: Sequence[float] = NOISE,
    n_runs: int = N_RUNS,
    random_state: int | np.random.RandomState | None = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Stability:
    """Construct features repeatedly on changed data, and count how often each recurs.

    Parameters
    ----------
    X : array, data frame, sparse matrix or list of baskets
        Boolean or 0/1 values.
    estimator : UFC or another feature constructor, optional
        By default ``UFC()``. The paper's experiment uses ``UFC(Risk(0.001, prune=False))``.
    kind : {"noise", "bootstrap"}, default="noise"
        ``"noise"``: invert a random share of the cells in each run, exactly ``round(x · k · n)``.
        ``"bootstrap"``: draw rows with replacement.
    noise : sequence of float, default=0, 0.02, …, 0.3
        Shares of cells to invert.
    n_runs : int, default=10
        Number of changed data sets for each noise level, or of bootstrap samples.
    random_state : int, RandomState or None, default=0
        The same number gives the same result.
    progress : callable, optional
        Called after each run with the number of finished runs and the number of all runs.

    Returns
    -------
    Stability

    Examples
    --------
    >>> from conjunct import datasets, stability
    >>> found = stability(datasets.load_zoo().values, noise=(0, 0.1), n_runs=3)
    >>> [level.n_runs for level in found.levels]
    [3, 3]
    """
    check(kind in ("noise", "bootstrap"), "kind", kind, "'noise' or 'bootstrap'")
    whole(1).check("n_runs", n_runs)
    for share in noise:
        check(is_number(share) and 0 <= share <= 1, "noise", share, "shares from 0 to 1")
    model = UFC() if estimator is None else clone(estimator)
    data = BooleanData.read(X, model.reading_rules(), counts=True)
    random = check_random_state(random_state)
    if data.columns.has_missing:
        raise InputError("stability needs data without missing cells: fill or drop them first")
    names, table = data.names, unpack(data.columns.to_bits().bits, data.columns.n_rows)
    original = _features_of(_fit(model, table, names))
    n_all = n_runs * len(noise) if kind == "noise" else n_runs
    n_done = 0

    def run(changed: NDArray[np.bool_]) -> FeatureConstructor:
        nonlocal n_done
        again = _fit(model, changed, names)
        n_done += 1
        if progress is not None:
            progress(n_done, n_all)
        return again

    changed: list[tuple[float, list[FeatureConstructor]]] = []
    for share in noise if kind == "noise" else (0.0,):
        tables = (_change(table, kind, share, random) for _ in range(n_runs))
        changed.append((share, list(map(run, tables))))
    levels = tuple(_average(share, runs, original) for share, runs in changed)
    runs = [run for share, runs in changed if share or kind == "bootstrap" for run in runs]
    return Stability(kind, levels, _count_recurrences(runs, original))


def _fit(
    model: FeatureConstructor, table: NDArray[np.bool_], names: Sequence[str]
) -> FeatureConstructor:
    with warnings.catch_warnings():
        # with much noise nothing is constructed, and the indicators show it
        warnings.simplefilter("ignore", ConjunctWarning)
        again: FeatureConstructor = clone(model)
        return again.fit(BooleanData(tuple(names), PackedColumns.from_table(table, model.n_jobs)))


def _change(
    table: NDArray[np.bool_], kind: Perturbation, share: float, random: np.random.RandomState
) -> NDArray[np.bool_]:
    if kind == "bootstrap":
        return table[random.randint(len(table), size=len(table))]
    changed = table.copy()
    changed.flat[random.choice(table.size, round(share * table.size), replace=False)] ^= True
    return changed


def _average(share: float, runs: Sequence[FeatureConstructor], original: Features) -> Level:
    ends = [run.history_[-1] for run in runs]
    sets = list(map(_features_of, runs))
    pairs = [len(one & other) for one, other in combinations(sets, 2)] or [len(sets[0])]
    return Level(
        noise=share,
        n_runs=len(runs),
        oi=fmean(end.oi for end in ends),
        c0=fmean(end.c0 for end in ends),
        n_features=fmean(end.n_features for end in ends),
        common_with_original=fmean(len(features & original) for features in sets),
        common_between_runs=fmean(pairs),
    )


def _count_recurrences(
    runs: Sequence[FeatureConstructor], original: Features
) -> tuple[Recurrence, ...]:
    times_found: Counter[Feature] = Counter(dict.fromkeys(original, 0))
    for run in runs:
        times_found.update(_features_of(run))
    found = [
        Recurrence(_text(feature), feature in original, times / len(runs) if runs else 0.0)
        for feature, times in times_found.items()
    ]
    return tuple(sorted(found, key=lambda f: (-f.share, not f.original, len(f.feature), f.feature)))


def _features_of(run: FeatureConstructor) -> Features:
    return frozenset(_comparable_features(run))


def _comparable_features(run: FeatureConstructor) -> tuple[Feature, ...]:
    """Return formulas, or chunks if the rule makes chunks, whose formulas also deny others."""
    criterion = CRITERIA.make(getattr(run, "criterion", None))
    by_chunks = criterion is not None and criterion.counts_tags
    return run.feature_set_.patterns if by_chunks else run.features_


def _text(feature: Feature) -> str:
    return pattern_text(feature) if isinstance(feature, tuple) else str(feature)


def _table(lines: Sequence[Any], backend: Backend) -> Any:
    rows = [asdict(line) for line in lines]
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    return as_table(columns, backend)


def noise_stability(study: Study) -> Outcome:
    """Make figure 12: uFCα(0.001) without pruning, on ten noisy data sets for each level."""
    found = stability(BooleanData(study.names, study.store), _PAPER_MODEL)
    rows = [asdict(level) for level in found.levels]
    first, last = found.levels[0], found.levels[-1]
    text = (
        f"Averages of {N_RUNS} runs. With {last.noise:.0%} noise, OI changes from {first.oi:.3f} "
        f"to {last.oi:.3f}, C0 from {first.c0:.3f} to {last.c0:.3f}, and the number of features "
        f"from {first.n_features:.1f} to {last.n_features:.1f}. Of these, "
        f"{last.common_with_original:.1f} are also features of the data without noise."
    )
    return Outcome(
        "figure-12-noise",
        f"Stability under noise on {study.name}",
        text,
        rows,
        {"-a-indicators": found.plot_indicators, "-b-features": found.plot_features},
    )


def bootstrap_stability(study: Study) -> Outcome:
    """List the features of bootstrap samples by how often they recur."""
    found = stability(BooleanData(study.names, study.store), _PAPER_MODEL, kind="bootstrap")
    level = found.levels[0]
    text = (
        f"{N_RUNS} samples of the rows have {level.n_features:.1f} features on average. "
        f"{level.common_with_original:.1f} of them are features of the unchanged data, and two "
        f"samples share {level.common_between_runs:.1f}."
    )
    return Outcome(
        "stability-bootstrap",
        f"Features of bootstrap samples on {study.name}",
        text,
        [asdict(feature) for feature in found.features],
        {"": found.plot_recurrence},
    )
