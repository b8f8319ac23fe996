"""Correlations before and after construction, drawn as two heat maps of one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conjunct.columns import Columns
from conjunct.plots import correlations
from conjunct.report import limits
from conjunct.report.drawing import width_of
from conjunct.report.model_on_rows import ModelOnRows

_SIDE = 380
_NAME_LENGTH = 24
_GAP = 24


@dataclass(frozen=True)
class Cells:
    """Squares with one r: on a grid of whole numbers, as the path of an SVG."""

    kind: str
    r: float
    path: str


@dataclass(frozen=True)
class HeatMap:
    """``x`` is where its squares begin; ``step`` is the width of one."""

    title: tuple[str, str]
    names: tuple[str, ...]
    cells: tuple[Cells, ...]
    left: float
    x: float
    step: float


@dataclass(frozen=True)
class Correlation:
    maps: tuple[HeatMap, HeatMap]
    width: float
    height: float


def correlation(shown: ModelOnRows) -> Correlation:
    """Pearson's r between columns and between features: of many, the strongest."""
    numbers = shown.model.feature_set_.features
    columns = range(shown.primitives.n_columns)
    before = _heat_map(shown, "columns", shown.primitives, columns, 0.0)
    after = _heat_map(shown, "features", shown.features, numbers, _end(before) + _GAP)
    return Correlation(
        (before, after), _end(after), max(one.step * len(one.names) for one in (before, after))
    )


def _heat_map(
    shown: ModelOnRows, what: str, store: Columns, numbers: Sequence[int], left: float
) -> HeatMap:
    found = correlations(store, limits.HEAT_MAP)
    names = tuple(shown.model._label(numbers[k], _NAME_LENGTH) for k in found.positions)
    n = len(names)
    step = max(8.0, _SIDE / max(n, 1))
    of_all = f"{n} of {found.n_columns:,}" if n < found.n_columns else str(n)
    largest = f"largest r = {found.strongest:.2f}" if n > 1 else ""
    room = max((width_of(name, min(11, step)) for name in names), default=0.0)
    # the lower half: the other one says the same
    paths: dict[float, list[str]] = {}
    for i in range(n):
        for j, r in enumerate(found.r[i, :i].round(2).tolist()):
            if r and r == r:
                paths.setdefault(r, []).append(f"M{j} {i}h1v1h-1z")
    cells = tuple(
        Cells("apart" if r < 0 else "together", abs(r), "".join(paths[r])) for r in sorted(paths)
    )
    return HeatMap((f"{of_all} {what}", largest), names, cells, left, left + round(room) + 5, step)


def _end(heat_map: HeatMap) -> float:
    return heat_map.x + heat_map.step * len(heat_map.names)
