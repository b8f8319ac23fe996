"""Pictures of a page, as shapes on a plane: ancestry, network, curves and heat maps."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from conjunct.explain import (
    ancestry_graph,
    ancestry_roots,
    count,
    decimal,
    takes_one_pair,
)
from conjunct.features import Merge
from conjunct.plots import (
    ANCESTRY_BEND,
    ANCESTRY_BOX,
    NETWORK_SIZE,
    ancestry_corners,
    heat_maps,
    history_curves,
    network_of,
    network_places,
    network_widths,
)
from conjunct.report import limits
from conjunct.report.model_on_rows import ModelOnRows
from conjunct.ufc import Indicators

_NARROW = frozenset("fijlrtI.,:;'!|()[] ")
_BROAD = frozenset("mwMW@%+∧∨¬")


def width_of(text: str, size: float) -> float:
    """Estimate the width of a text in pixels; the browser chooses the font."""
    return size * sum(map(_width, text))


def cut_to(text: str, width: float, size: float) -> str:
    """Return the text, cut with an ellipsis where it would be wider."""
    room = width / size
    for k, character in enumerate(text):
        room -= _width(character)
        if room < 0:
            return text[: max(0, k - 1)].rstrip() + "…"
    return text


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.35
    if character in _BROAD or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.62


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
class Box:
    """A feature; ``name`` is what fits into its box, ``x`` and ``y`` are its upper left corner."""

    number: int
    role: str
    x: int
    y: int
    name: str
    formula: str
    remark: str


@dataclass(frozen=True)
class Line:
    """From one box to another, as the path of an SVG."""

    parent: int
    child: int
    path: str
    is_negated: bool


@dataclass(frozen=True)
class Ancestry:
    """``left_out`` features are too many; ``kept`` columns are features and parents of none."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: int
    height: int
    left_out: int
    kept: int


def draw_ancestry(shown: ModelOnRows) -> Ancestry | None:
    """Draw how columns became features, without columns that were kept as they are."""
    fitted = shown.model.feature_set_
    by_pattern = shown.by_pattern
    roots = ancestry_roots(fitted, by_pattern=by_pattern)
    if not roots:
        return None
    graph = ancestry_graph(fitted, roots, limits.GRAPH_NODES, by_pattern=by_pattern)
    numbers = {node.number for node in graph.nodes}
    kept = sum(not fitted.iteration(number) and number not in numbers for number in fitted.features)
    corners, origins = ancestry_corners(graph), fitted.origins()
    width, height = ANCESTRY_BOX
    boxes = {}
    for node in graph.nodes:
        formula = shown.model._label(node.number, _FORMULA_LENGTH, whole=True)
        name = cut_to(formula, _TEXT_WIDTH, _TEXT_SIZE)
        x, y = corners[node.number]
        remark = _remark(shown, node.number, origins.get(node.number))
        boxes[node.number] = Box(node.number, node.role, x, round(y), name, formula, remark)
    lines = []
    for edge in graph.edges:
        # from the right end of one box to the left end of the other; level at both ends
        parent, child = boxes[edge.parent], boxes[edge.child]
        start = parent.x + width
        across, down = child.x - start - 2 * ANCESTRY_BEND, child.y - parent.y
        curve = f"c{across // 3} 0 {across - across // 3} {down} {across} {down}"
        path = f"M{start} {parent.y + height // 2}h{ANCESTRY_BEND}{curve}h{ANCESTRY_BEND}"
        lines.append(Line(edge.parent, edge.child, path, edge.negated))
    return Ancestry(
        tuple(boxes.values()),
        tuple(lines),
        max(box.x for box in boxes.values()) + width,
        max(box.y for box in boxes.values()) + height,
        graph.left_out,
        kept,
    )


def _remark(shown: ModelOnRows, number: int, merge: Merge | None) -> str:
    """Return when a feature was made, why, and in how many rows it is."""
    iteration = shown.model.feature_set_.iteration(number)
    step = "merge" if takes_one_pair(shown.model) else "iteration"
    made = "joined" if shown.by_pattern else "made"
    remarks = [f"{made} in {step} {iteration}" if iteration else "a column of the data"]
    if merge is not None:
        remarks.append(f"r = {decimal(merge.r, 2)}")
        if shown.by_pattern:
            remarks.append(f"gain {decimal(merge.saved, 1)} bits")
    if number in shown.lineage_supports:
        remarks.append(count(shown.lineage_supports[number], "row"))
    return ", ".join(remarks)


_NEIGHBOURS_SHOWN = 6  # tags in one chunk with a tag


@dataclass(frozen=True)
class Tag:
    number: int
    name: str
    place: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Link:
    """A line between two tags, from ``start`` to ``end``."""

    tags: tuple[int, int]
    start: tuple[int, int]
    end: tuple[int, int]
    width: float


@dataclass(frozen=True)
class DrawnNetwork:
    tags: tuple[Tag, ...]
    links: tuple[Link, ...]
    left_out: int
    size: tuple[int, int] = NETWORK_SIZE


def draw_network(shown: ModelOnRows) -> DrawnNetwork | None:
    """Draw the tags that share chunks in most rows; ``None`` if none does."""
    graph = network_of(shown.model.feature_set_, limits.NETWORK_TAGS)
    if not graph.tags:
        return None
    height = NETWORK_SIZE[1]
    places = {tag: (x, height - y) for tag, (x, y) in network_places(graph).items()}
    names = {tag: name for tag, name, _ in graph.tags}
    near: dict[int, list[tuple[int, str]]] = {tag: [] for tag in names}
    links = []
    for (one, other, rows), width in zip(graph.links, network_widths(graph), strict=True):
        near[one].append((rows, names[other]))
        near[other].append((rows, names[one]))
        links.append(Link((one, other), places[one], places[other], width))
    tags = []
    for tag, name in names.items():
        others = sorted(near[tag], key=lambda link: (-link[0], link[1]))
        some = others[:_NEIGHBOURS_SHOWN]
        with_most = ", ".join(f"{other} ({count(rows, 'row')})" for rows, other in some)
        more = f" and {len(others) - len(some)} more" if len(others) > len(some) else ""
        text = f"{name} is in one chunk with {with_most}{more}"
        tags.append(Tag(tag, name, places[tag], text))
    return DrawnNetwork(tuple(tags), tuple(links), graph.left_out)


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


def draw_curves(shown: ModelOnRows) -> tuple[Panel, ...]:
    """Draw evidence or bits by iteration, or the indicators and the length of formulas."""
    model = shown.model
    if not model.n_iter_:
        return ()
    if not isnan(model.history_[0].evidence):
        title, unit = "Evidence so far, less what merges cost", "bits"
        return (_draw_panel(model.history_, {"": "evidence"}, title, unit, 0.0),)
    if shown.by_pattern:
        title, unit = "Length of the description", "bits that describe the data"
        return (_draw_panel(model.history_, {"": "bits"}, title, unit, 0.0),)
    fields = {"OI": "oi", "C0": "c0", "RMS": "rms"}
    first = _draw_panel(model.history_, fields, "What each iteration did", "indicator", 0.0)
    unit = "literals of a feature (mean)"
    return first, _draw_panel(
        model.history_, {"length": "length"}, "Length", unit, first.end + _PANEL_GAP
    )


def _draw_panel(
    history: Sequence[Indicators], fields: dict[str, str], title: str, y_title: str, left: float
) -> Panel:
    values = history_curves(history, fields)
    heights = [value for some in values.values() for _, value in some] or [0.0]
    across = Axis.over([line.iteration for line in history], _WIDTH, 8, whole=True)
    up = Axis.over(heights, _HEIGHT, 6, whole=False)
    labels = max(width_of(label, 12) for _, label in up.marks)
    curves = tuple(
        _draw_curve(name, some, _SHAPES[k], across, up)
        for k, (name, some) in enumerate(values.items())
    )
    x = left + round(labels) + 28
    return Panel(title, y_title, curves, across, up, left, x, any(fields))


def _draw_curve(
    name: str, values: Sequence[tuple[int, float]], shape: str, across: Axis, up: Axis
) -> Curve:
    every = -(-len(values) // _PATH_POINTS) or 1
    kept = [*values[:-1:every], *values[-1:]]
    places = [f"{across.at(x):.1f} {_HEIGHT - up.at(y):.1f}" for x, y in kept]
    points = ""
    if name and len(places) <= _MARKED_POINTS:
        points = "".join(f"M{place}{shape}" for place in places)
    return Curve(name, f"M{'L'.join(places)}" if places else "", points, shape)


_MAP_GAP = 24.0


@dataclass(frozen=True)
class Cells:
    """Squares with one r: on a grid of whole numbers, as the path of an SVG."""

    kind: str
    r: float
    path: str


@dataclass(frozen=True)
class DrawnHeatMap:
    """``x`` is where its squares begin; ``step`` is the width of one."""

    title: tuple[str, str]
    names: tuple[str, ...]
    cells: tuple[Cells, ...]
    left: float
    x: float
    step: float


@dataclass(frozen=True)
class Correlation:
    maps: tuple[DrawnHeatMap, ...]
    width: float
    height: float


def draw_correlation(shown: ModelOnRows) -> Correlation:
    """Draw Pearson's r between columns and between features: of many, the strongest."""
    maps: list[DrawnHeatMap] = []
    end = -_MAP_GAP
    for found in heat_maps(shown.model, shown.primitives, shown.features, limits.HEAT_MAP):
        paths: dict[float, list[str]] = {}
        for i, j, r in found.cells:
            paths.setdefault(r, []).append(f"M{j} {i}h1v1h-1z")
        cells = tuple(
            Cells("apart" if r < 0 else "together", abs(r), "".join(paths[r]))
            for r in sorted(paths)
        )
        room = max((width_of(name, min(11, found.step)) for name in found.names), default=0.0)
        left = end + _MAP_GAP
        x = left + round(room) + 5
        maps.append(DrawnHeatMap(found.title, found.names, cells, left, x, found.step))
        end = x + found.step * len(found.names)
    return Correlation(tuple(maps), end, max(one.step * len(one.names) for one in maps))
