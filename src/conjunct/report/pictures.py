"""Pictures of a page: what `conjunct.plots` lays out, with texts and axes for an SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from conjunct.explain import ancestry_roots, count, decimal, takes_one_pair
from conjunct.plots import (
    Ancestry,
    HeatMap,
    Network,
    Panel,
    cut_to,
    draw_ancestry,
    heat_maps,
    history_panels,
    width_of,
)
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on ``length`` pixels; marks stand at round numbers."""

    low: float
    high: float
    step: float
    length: float

    @classmethod
    def over(cls, values: Sequence[float], length: float, n_marks: int, *, whole: bool) -> Axis:
        """Return an axis with about ``n_marks`` marks that begins and ends with one."""
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        step = _round_step(span / n_marks)
        if whole:
            step = max(1.0, step)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, max(last, first + 1) * step, step, length)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Places and labels."""
        n = round((self.high - self.low) / self.step)
        digits = max(0, -math.floor(math.log10(self.step)))
        values = [self.low + k * self.step for k in range(n + 1)]
        return [(round(self.at(value), 1), f"{value:,.{digits}f}") for value in values]

    def at(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) * self.length


def _round_step(least: float) -> float:
    """Return 1, 2 or 5, times a power of ten: the one nearest to ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * min((1, 2, 5, 10), key=lambda digit: abs(math.log(digit * power / least)))


_FORMULA_LENGTH = 300
_TEXT_WIDTH, _TEXT_SIZE = 200, 12


@dataclass(frozen=True)
class AncestryPicture:
    """``texts``: of each box its name, as it fits, its formula and a remark.

    ``kept`` columns are features and parents of none.
    """

    drawn: Ancestry
    texts: dict[int, tuple[str, str, str]]
    kept: int


def picture_ancestry(shown: ModelOnRows) -> AncestryPicture | None:
    """Draw how columns became features, without columns that were kept as they are."""
    model, fitted = shown.model, shown.model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=shown.by_pattern)
    if not roots:
        return None
    drawn, origins = draw_ancestry(model, roots, limits.GRAPH_NODES), fitted.origins()
    step = "merge" if takes_one_pair(model) else "iteration"
    texts = {}
    for number in (box.number for box in drawn.boxes):
        formula = model.label_feature(number, _FORMULA_LENGTH, whole=True)
        remarks = ["a column of the data"]
        if iteration := fitted.iteration(number):
            remarks = [f"{'joined' if shown.by_pattern else 'made'} in {step} {iteration}"]
        if number in origins:
            remarks.append(f"r = {decimal(origins[number].r, 2)}")
            if shown.by_pattern:
                remarks.append(f"gain {decimal(origins[number].saved, 1)} bits")
        if number in shown.lineage_supports:
            remarks.append(count(shown.lineage_supports[number], "row"))
        texts[number] = cut_to(formula, _TEXT_WIDTH, _TEXT_SIZE), formula, ", ".join(remarks)
    kept = sum(not fitted.iteration(number) and number not in texts for number in fitted.features)
    return AncestryPicture(drawn, texts, kept)


_NEIGHBOURS_SHOWN = 6  # tags in one chunk with a tag


def describe_tags(network: Network) -> dict[int, str]:
    """Return for each tag a sentence about the tags that are in one chunk with it."""
    near: dict[int, list[tuple[int, str]]] = {tag: [] for tag in network.tags}
    for link in network.links:
        for tag, other in (link.tags, link.tags[::-1]):
            near[tag].append((-link.rows, network.tags[other].name))
    texts = {}
    for tag, others in near.items():
        some = sorted(others)[:_NEIGHBOURS_SHOWN]
        with_most = ", ".join(f"{other} ({count(-rows, 'row')})" for rows, other in some)
        more = f" and {len(others) - len(some)} more" if len(others) > len(some) else ""
        texts[tag] = f"{network.tags[tag].name} is in one chunk with {with_most}{more}"
    return texts


_WIDTH, _HEIGHT = 380, 300
_LEGEND = 70
_PANEL_GAP = 30
_PATH_POINTS = 2 * _WIDTH  # two a pixel; of more, some are left out
_MARKED_POINTS = 100  # of one curve; more would run into each other
# a circle, a square and a triangle: curves differ without colour too
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
class PanelPicture:
    """Curves on two axes. ``left`` is where it begins, and ``x`` where its axes meet."""

    panel: Panel
    curves: tuple[Curve, ...]
    across: Axis
    up: Axis
    left: float
    x: float

    @property
    def has_legend(self) -> bool:
        return any(self.panel.curves)

    @property
    def end(self) -> float:
        return self.x + self.across.length + (_LEGEND if self.has_legend else 18)


def picture_curves(shown: ModelOnRows) -> list[PanelPicture]:
    """Draw evidence or bits by iteration, or the indicators and the length of formulas."""
    history = shown.model.history_
    if not shown.model.n_iter_:
        return []
    bits = shown.by_pattern or not math.isnan(history[0].evidence)
    pictures: list[PanelPicture] = []
    for panel in history_panels(history, bits=bits, title="What each iteration did"):
        heights = [value for some in panel.curves.values() for _, value in some] or [0.0]
        across = Axis.over([line.iteration for line in history], _WIDTH, 8, whole=True)
        up = Axis.over(heights, _HEIGHT, 6, whole=False)
        curves = []
        for (name, values), shape in zip(panel.curves.items(), _SHAPES, strict=False):
            every = -(-len(values) // _PATH_POINTS) or 1
            kept = [*values[:-1:every], *values[-1:]]
            places = [f"{across.at(x):.1f} {_HEIGHT - up.at(y):.1f}" for x, y in kept]
            points = "".join(f"M{place}{shape}" for place in places)
            has_points = name and len(places) <= _MARKED_POINTS
            path = f"M{'L'.join(places)}" if places else ""
            curves.append(Curve(name, path, points if has_points else "", shape))
        labels = max(width_of(label, 12) for _, label in up.marks)
        left = pictures[-1].end + _PANEL_GAP if pictures else 0.0
        x = left + round(labels) + 28
        pictures.append(PanelPicture(panel, tuple(curves), across, up, left, x))
    return pictures


_MAP_GAP = 24.0


@dataclass(frozen=True)
class HeatMapPicture:
    """Squares by their r: on a grid of whole numbers from ``x`` on, as paths of an SVG."""

    drawn: HeatMap
    paths: dict[float, str]
    left: float
    x: float

    @property
    def side(self) -> float:
        return self.drawn.step * len(self.drawn.names)


def picture_correlation(shown: ModelOnRows) -> list[HeatMapPicture]:
    """Draw Pearson's r between columns and between features: of many, the strongest."""
    pictures: list[HeatMapPicture] = []
    for found in heat_maps(shown.model, shown.primitives, shown.features, limits.HEAT_MAP):
        paths: dict[float, str] = {}
        for i, j, r in sorted(found.cells, key=itemgetter(2)):
            paths[r] = paths.get(r, "") + f"M{j} {i}h1v1h-1z"
        room = max((width_of(name, min(11, found.step)) for name in found.names), default=0.0)
        left = pictures[-1].x + pictures[-1].side + _MAP_GAP if pictures else 0.0
        pictures.append(HeatMapPicture(found, paths, left, left + round(room) + 5))
    return pictures
