"""What each iteration did, drawn as curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from conjunct.report.drawing import Axis, width_of
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.ufc import Indicators

_WIDTH, _HEIGHT = 380, 300
_LEGEND = 70
_GAP = 30
_PATH_POINTS = 2 * _WIDTH  # two a pixel; of more, some are left out
_MARKED_POINTS = 100  # of one curve; more would run into each other
# a circle, a square and a triangle: curves are told apart without colour too
_SHAPES = (
    "m-3.5 0a3.5 3.5 0 1 1 7 0a3.5 3.5 0 1 1-7 0z",
    "m-3 -3h6v6h-6z",
    "m0 -3.5l3.5 6h-7z",
)


@dataclass(frozen=True)
class Curve:
    """``path`` and ``points`` are paths of an SVG, and so is the ``symbol`` of the legend."""

    name: str
    path: str
    points: str
    symbol: str


@dataclass(frozen=True)
class Panel:
    """Curves on two axes. ``left`` is where it begins, and ``x`` where its axes meet."""

    title: str
    y_title: str
    curves: tuple[Curve, ...]
    across: Axis
    up: Axis
    left: float
    x: float
    has_legend: bool

    @property
    def end(self) -> float:
        return self.x + self.across.length + (_LEGEND if self.has_legend else 18)


def curves(shown: ModelOnRows) -> tuple[Panel, ...]:
    """The description's length by iteration, or the indicators and the length of formulas."""
    model = shown.model
    if not model.n_iter_:
        return ()
    if not isnan(model.history_[0].evidence):
        title, unit = "Evidence so far, less what merges cost", "bits"
        return (_panel(model.history_, {"": "evidence"}, title, unit, 0.0),)
    if shown.by_pattern:
        title, unit = "Length of the description", "bits that describe the data"
        return (_panel(model.history_, {"": "bits"}, title, unit, 0.0),)
    fields = {"OI": "oi", "C0": "c0", "RMS": "rms"}
    first = _panel(model.history_, fields, "What each iteration did", "indicator", 0.0)
    unit = "literals of a feature (mean)"
    return first, _panel(model.history_, {"length": "length"}, "Length", unit, first.end + _GAP)


def _panel(
    history: Sequence[Indicators], fields: dict[str, str], title: str, y_title: str, left: float
) -> Panel:
    values = {
        name: [
            (line.iteration, value)
            for line in history
            if (value := float(getattr(line, field))) == value
        ]
        for name, field in fields.items()
    }
    heights = [value for some in values.values() for _, value in some] or [0.0]
    across = Axis.over([line.iteration for line in history], _WIDTH, 8, whole=True)
    up = Axis.over(heights, _HEIGHT, 6, whole=False)
    labels = max(width_of(label, 12) for _, label in up.marks)
    drawn = tuple(
        _curve(name, some, _SHAPES[k], across, up) for k, (name, some) in enumerate(values.items())
    )
    x = left + round(labels) + 28
    return Panel(title, y_title, drawn, across, up, left, x, any(fields))


def _curve(
    name: str, values: Sequence[tuple[int, float]], shape: str, across: Axis, up: Axis
) -> Curve:
    every = -(-len(values) // _PATH_POINTS) or 1
    kept = [*values[:-1:every], *values[-1:]]
    places = [f"{across.at(x):.1f} {_HEIGHT - up.at(y):.1f}" for x, y in kept]
    points = ""
    if name and len(places) <= _MARKED_POINTS:
        points = "".join(f"M{place}{shape}" for place in places)
    return Curve(name, f"M{'L'.join(places)}" if places else "", points, shape)
