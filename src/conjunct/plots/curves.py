"""Draw curves, bars, heat maps of correlations, and solutions in a plane.

Curves show indicators by iteration, λ or noise. The plane of OI and C0 shows fronts and runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from conjunct.columns import Columns
from conjunct.estimators import FeatureConstructor
from conjunct.plots.drawing import (
    COLOURS,
    DASHES,
    GREY,
    Axis,
    Drawing,
    Panel,
    Row,
    Shape,
    Text,
    beside,
    draw_panels,
    list_legend,
    symbol,
    width_of,
)
from conjunct.ufc import Floats, Indicators, Solution, phi

_WIDTH, _HEIGHT = 380, 300
_PANEL_GAP = 30
_PATH_POINTS = 2 * _WIDTH  # of one curve: two per pixel
_MARKED_POINTS = 100  # of one curve: the marks of more points would overlap


def plot_curves(
    rows: Sequence[Row],
    x: str,
    y: str,
    *,
    title: str,
    x_title: str,
    y_title: str,
    legend: str | None = None,
    steps: bool = False,
    points: bool = True,
    whole: bool = False,
    named: bool = True,
) -> Any:
    """Draw one curve for each value of ``series`` among the rows.

    With ``steps``, each value holds until the next point, as an indicator does between two λ. With
    ``whole``, only whole numbers of x are marked. With ``named``, a legend names the curves.

    Examples
    --------
    >>> from conjunct import plots
    >>> rows = [{"series": "a", "x": x, "y": x * x} for x in range(3)]
    >>> chart = plots.plot_curves(rows, "x", "y", title="Squares", x_title="x", y_title="y")
    """
    names = dict.fromkeys(str(row["series"]) for row in rows)
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for row in sorted(rows, key=lambda row: row[x]):
        curves[str(row["series"])].append((row[x], row[y]))
    look: dict[str, Any] = {"steps": steps, "points": points, "whole": whole, "named": named}
    panel = draw_curves(curves, (title, x_title, y_title), legend=legend, **look)
    return panel.drawing().to_chart()


def draw_curves(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    titles: tuple[str, str, str],
    *,
    left: float = 0.0,
    legend: str | None = None,
    steps: bool = False,
    points: bool = True,
    whole: bool = False,
    named: bool = True,
) -> Panel:
    """Draw curves by name, with titles of the panel, of x and of y."""
    every = [point for some in curves.values() for point in some]
    across = Axis.over([x for x, _ in every], _WIDTH, 8, whole=whole)
    panel = Panel(*titles, across, Axis.over([y for _, y in every], _HEIGHT, 6), left)
    if legend:
        panel.explain(legend)
    for k, (name, some) in enumerate(curves.items()):
        ink, dash = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]
        thin = -(-len(some) // _PATH_POINTS) or 1
        kept = [*some[:-1:thin], *some[-1:]]
        path = panel.path(kept, steps=steps)
        panel.shapes.append(Shape(path, stroke=ink, width=1.8, dash=dash, name=name))
        if points and len(kept) <= _MARKED_POINTS:
            marks = "".join(symbol(k, *panel.at(*point)) for point in kept)
            panel.shapes.append(Shape(marks, fill=ink))
        if named:
            look = {"fill": ink, "symbol": k} if points else {"stroke": ink, "dash": dash}
            panel.explain(name, **look)
    return panel


def plot_history(
    history: Sequence[Indicators], *, title: str = "Iterations", bits: bool = False
) -> Any:
    """Draw the ``history_`` of a fitted model by iteration: OI, C0, RMS and the length of formulas.

    With ``bits``, draw the total evidence of the merges minus their costs, or under other rules
    the description length in Krimp's code.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> model = UFC("risk").fit(datasets.load_zoo().values)
    >>> chart = plots.plot_history(model.history_)
    """
    return draw_history(history, bits=bits, title=title).to_chart()


def draw_history(
    history: Sequence[Indicators], *, bits: bool, title: str = "Iterations"
) -> Drawing:
    """Draw evidence or bits by iteration, or indicators and the length of formulas."""
    if not bits:
        indicators = {"OI": "oi", "C0": "c0", "RMS": "rms"}
        contents = [
            (title, "indicator", indicators),
            ("Length", "mean literals per feature", {"length": "length"}),
        ]
    elif math.isnan(history[0].evidence):
        contents = [(title, "description length (bits)", {"": "bits"})]
    else:
        contents = [(title, "evidence minus costs (bits)", {"": "evidence"})]
    panels: list[Panel] = []
    for head, unit, fields in contents:
        curves = {
            name: [
                (line.iteration, value)
                for line in history
                if (value := float(getattr(line, field))) == value
            ]
            for name, field in fields.items()
        }
        left = panels[-1].end + _PANEL_GAP if panels else 0.0
        titles = head, "iteration", unit
        panels.append(
            draw_curves(curves, titles, left=left, points=not bits, whole=True, named=not bits)
        )
    return draw_panels(panels)


def plot_stability(found: Any, *, limit: int = 25) -> Any:
    """Draw which features recur and, under noise, the indicators (the paper's figure 12).

    Parameters
    ----------
    found : Stability
        Result of :func:`conjunct.stability`.
    limit : int, default=25
        Number of features shown; those that recur most often come first.

    Examples
    --------
    >>> from conjunct import datasets, plots, stability
    >>> found = stability(datasets.load_zoo().values, noise=(0, 0.1), n_runs=2)
    >>> chart = plots.plot_stability(found)
    """
    *by_noise, recurring = (drawing.to_chart() for drawing in found.draw(limit))
    return beside(beside(*by_noise), recurring, join="vconcat") if by_noise else recurring


def plot_bars(rows: Sequence[tuple[str, float, bool]], *, title: str, x_title: str) -> Any:
    """Draw bars of (name, share, True if the unchanged data has it), in the order given.

    Examples
    --------
    >>> from conjunct import plots
    >>> chart = plots.plot_bars([("a + b", 0.9, True)], title="Recurrence", x_title="share")
    """
    return draw_bars(rows, title=title, x_title=x_title).to_chart()


def draw_bars(rows: Sequence[tuple[str, float, bool]], *, title: str, x_title: str) -> Drawing:
    """Draw bars of (name, share, True if the unchanged data has it)."""
    looks: dict[str, dict[str, Any]] = {
        "unchanged data": {"fill": COLOURS[0]},
        "changed data only": {"fill": GREY},
    }
    width, height = 300, 18 * max(len(rows), 1)
    x = round(max((width_of(name, 12) for name, _, _ in rows), default=0.0)) + 6
    axis = Axis(0, 1, 0.2, width)
    grid = "".join(f"M{x + at:g} 0v{height}" for at, _ in axis.marks)
    shapes, texts = list_legend(looks, x, height + 62, across=150)
    shapes.append(Shape(grid, stroke="#e6e6e6"))
    texts += [Text(x + at, height + 17, text, "middle") for at, text in axis.marks]
    texts += [
        Text(0, -15, title, size=14),
        Text(x + width / 2, height + 34, x_title, "middle", 13),
    ]
    for k, (name, share, is_original) in enumerate(rows):
        path = f"M{x} {18 * k + 4}h{share * width:.1f}v11H{x}z"
        shapes.append(
            Shape(path, **looks["unchanged data" if is_original else "changed data only"])
        )
        texts.append(Text(x - 6, 18 * k + 14, name, "end"))
    return Drawing((-5, -31, x + width + 40, height + 105), shapes, texts)


_SIDE = 380
_LABEL_LENGTH = 24
_SIGNS = "go together", "avoid each other"  # r above 0, below 0
_INKS = COLOURS[1], COLOURS[0]
_MOST_COUNTED = 1000  # columns


def plot_correlation(model: FeatureConstructor, X: Any, *, limit: int = 40) -> Any:
    """Draw Pearson's r between the columns of ``X`` (before) and between features (after).

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    X : array, data frame, sparse matrix or list of baskets
        The data of ``fit``, or other rows with the same columns.
    limit : int, default=40
        Maximum number of columns, those with the strongest correlations.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> animals = datasets.load_zoo().values
    >>> chart = plots.plot_correlation(UFC().fit(animals), animals)
    """
    primitives = model.read_columns(X)
    features = model.feature_set_.evaluate(primitives)
    return draw_correlation(model, primitives, features, limit).to_chart()


def draw_correlation(
    model: FeatureConstructor, primitives: Columns, features: Columns, limit: int
) -> Drawing:
    """Draw the strongest r among columns (before) and among features (after)."""
    shapes: list[Shape] = []
    texts: list[Text] = []
    left, lowest = 0.0, 0.0
    for what, store, numbers in (
        ("columns", primitives, range(primitives.n_columns)),
        ("features", features, model.feature_set_.features),
    ):
        found = correlations(store, limit)
        names = [model.label_feature(numbers[k], _LABEL_LENGTH) for k in found.positions]
        n = len(names)
        step = max(8.0, _SIDE / max(n, 1))
        size = min(11, step)
        x = left + round(max((width_of(name, size) for name in names), default=0.0)) + 5
        shown = f"{n} of {found.n_columns:,}" if n < found.n_columns else str(n)
        texts.append(Text(left, -34, f"{shown} {what}", size=14))
        if np.isfinite(found.r).sum() > n:  # more than the diagonal
            texts.append(Text(left, -18, f"largest r = {found.strongest:.2f}", size=14))
        for i, name in enumerate(names):
            texts.append(Text(x - 5, round(step * (i + 0.5) + 0.3 * size, 1), name, "end", size))
        paths: dict[float, str] = {}
        for i in range(n):
            for j, r in enumerate(found.r[i, :i].round(2).tolist()):
                # r = 0 has no square: the background shows
                if r and r == r:
                    square = f"M{x + step * j:g} {step * i:g}h{step:g}v{step:g}h-{step:g}z"
                    paths[r] = paths.get(r, "") + square
        shapes += [
            Shape(paths[r], fill=_INKS[r < 0], opacity=abs(r), name=f"r = {r}")
            for r in sorted(paths)
        ]
        left = x + step * n + 24
        lowest = max(lowest, step * n)
    looks = {name: {"fill": ink} for name, ink in zip(_SIGNS, _INKS, strict=True)}
    scale = {f"r = {r}": {"fill": "black", "opacity": r} for r in (0.2, 0.4, 0.6, 0.8, 1)}
    for some, at, across in ((looks, 0, 130), (scale, 280, 75)):
        key = list_legend(some, at, lowest + 30, across=across)
        shapes, texts = shapes + key[0], texts + key[1]
    return Drawing((-5, -50, max(left - 14, 660), lowest + 90), shapes, texts)


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's r among the columns at ``positions``; NaN where a column is constant."""

    positions: tuple[int, ...]
    n_columns: int
    r: Floats
    strongest: float


def correlations(store: Columns, limit: int) -> Correlations:
    """Return r among the ``limit`` columns with the strongest correlations."""
    common = np.sort(np.argsort(-store.supports(), kind="stable")[:_MOST_COUNTED])
    chosen = store.with_raw_columns([store.raw_columns[k] for k in common])
    n = chosen.n_columns
    left, right = np.triu_indices(n, 1)
    r = np.ones((n, n))
    r[left, right] = r[right, left] = phi(*chosen.pair_counts().for_pairs(left, right).table)
    strength = np.where(np.isnan(r), -1.0, np.abs(r))
    np.fill_diagonal(strength, -1.0)
    linked = strength.max(axis=1, initial=-1.0)
    shown = np.sort(np.argsort(-linked, kind="stable")[:limit])
    above = r[np.triu_indices(len(r), 1)]
    return Correlations(
        tuple(int(common[k]) for k in shown),
        store.n_columns,
        r[np.ix_(shown, shown)],
        float(np.max(above[~np.isnan(above)], initial=-1.0)),
    )


Point = Solution | Indicators


class Points(NamedTuple):
    """Points with one name, and the area of their marks."""

    name: str
    points: Sequence[Point]
    area: float
    opacity: float = 1.0


def plot_front(
    solutions: Sequence[Point],
    front: Sequence[Point],
    closest: Point,
    *,
    title: str = "Solutions, Pareto front and closest point",
    marked: Mapping[str, Sequence[Point]] | None = None,
    magnified: bool = False,
) -> Any:
    """Draw solutions with the front and the closest point (the paper's figure 7).

    ``marked`` holds more points by name. With ``magnified``, only the region around the closest
    point is shown. The description of a mark is the name of its series and its position in it:
    ``solution 12``, ``Pareto front 3``.

    Examples
    --------
    >>> from conjunct import UFCPath, datasets, plots
    >>> path = UFCPath(max_iter=2).fit(datasets.load_zoo().values)
    >>> chart = plots.plot_front(path.solutions_, path.front_, path.closest_point_)
    >>> plots.save_chart(chart, "front.svg")
    """
    far = 2.5 * max(closest.oi, closest.c0) if magnified else math.inf
    return draw_front(solutions, front, closest, marked or {}, far=far, title=title).to_chart()


def draw_front(
    solutions: Sequence[Point],
    front: Sequence[Point],
    closest: Point,
    marked: Mapping[str, Sequence[Point]],
    *,
    far: float = math.inf,
    title: str = "",
    size: tuple[int, int] = (380, 300),
    attributes: Mapping[str, Mapping[str, object]] | None = None,
) -> Drawing:
    """Draw solutions up to ``far`` on both axes; a page uses the ``attributes`` of marks."""
    points = [
        Points("solution", solutions, 18, 0.55),
        Points("Pareto front", front, 34),
        Points("closest point", [closest], 170),
        *(Points(name, some, 55) for name, some in marked.items()),
    ]
    lines = {"Pareto front": front}
    return _draw_plane(title, lines, points, (far, far), size, attributes, plain=True)


def plot_fronts(
    fronts: Mapping[str, Sequence[Point]],
    *,
    title: str = "Pareto fronts",
    magnified: bool = False,
) -> Any:
    """Draw several fronts in one plane (the paper's figure 11).

    Examples
    --------
    >>> from conjunct import UFCPath, datasets, plots
    >>> path = UFCPath(max_iter=2).fit(datasets.load_zoo().values)
    >>> chart = plots.plot_fronts({"all pairs": path.front_})
    """
    nearest = min((p for points in fronts.values() for p in points), key=_distance)
    far = 2.5 * max(nearest.oi, nearest.c0) if magnified else math.inf
    points = [Points(name, some, 22) for name, some in fronts.items()]
    return _draw_plane(title, fronts, points, (far, far)).to_chart()


def plot_trajectories(
    front: Sequence[Point],
    trajectories: Mapping[str, Sequence[Point]],
    stops: Mapping[str, Point],
    *,
    title: str,
) -> Any:
    """Draw runs and the front of the path, with a large mark where each run stops.

    Examples
    --------
    >>> from conjunct import UFC, UFCPath, datasets, plots
    >>> animals = datasets.load_zoo().values
    >>> history = UFC("risk").fit(animals).history_
    >>> front = UFCPath(max_iter=2).fit(animals).front_
    >>> ends = {"risk": history[-1]}
    >>> chart = plots.plot_trajectories(front, {"risk": history}, ends, title="Runs")
    """
    points = [*front, *(p for way in trajectories.values() for p in way)]
    nearest = min(points, key=_distance)
    start = next(iter(trajectories.values()))[0]
    far = 1.05 * max(start.oi, nearest.oi), 3.5 * max(nearest.oi, nearest.c0)
    # earlier runs have larger marks, which stay visible if runs stop at the same point
    marks = [
        Points(name, [stops[name]], max(50, 230 - 80 * k)) for k, name in enumerate(trajectories)
    ]
    lines = {"Pareto front of the path": front, **trajectories}
    return _draw_plane(title, lines, marks, far).to_chart()


def _distance(point: Point) -> float:
    return point.oi * point.oi + point.c0 * point.c0


def _draw_plane(
    title: str,
    lines: Mapping[str, Sequence[Point]],
    points: Sequence[Points],
    far: tuple[float, float],
    size: tuple[int, int] = (380, 300),
    attributes: Mapping[str, Mapping[str, object]] | None = None,
    plain: bool = False,
) -> Drawing:
    """Draw lines and points up to the limits ``far`` of both axes; ``plain`` draws solid lines."""
    names = list(dict.fromkeys([*(some.name for some in points if plain), *lines]))
    every = [*chain.from_iterable(lines.values()), *chain.from_iterable(x.points for x in points)]
    axes = []
    for length, limit, values in (
        (size[0], far[0], [p.oi for p in every]),
        (size[1], far[1], [p.c0 for p in every]),
    ):
        near = [value for value in values if value <= limit]
        axis = Axis.over([0.0, limit] if limit < math.inf else near, length, 6)
        axes.append(replace(axis, high=min(axis.high, limit)))
    panel = Panel(title, "overlapping index OI", "complexity C0", axes[0], axes[1])
    inks = (GREY, *COLOURS) if plain else COLOURS
    for name, some in lines.items():
        k = names.index(name)
        dash = () if plain else DASHES[k % len(DASHES)]
        for path in _clip([(p.oi, p.c0) for p in some], far):
            panel.shapes.append(
                Shape(panel.path(path), stroke=inks[k % len(inks)], width=1.8, dash=dash)
            )
    for one in points:
        k = names.index(one.name)
        places: dict[tuple[float, float], int] = {}
        for j, point in enumerate(one.points):
            place = round(point.oi, 6), round(point.c0, 6)
            if place[0] <= far[0] and place[1] <= far[1]:
                places.setdefault(place, j)
        for place, j in places.items():
            name = f"{one.name} {j}"
            panel.shapes.append(
                Shape(
                    symbol(k, *panel.at(*place), one.area),
                    fill=inks[k % len(inks)],
                    opacity=one.opacity,
                    name=name,
                    attributes=(attributes or {}).get(name, {}),
                )
            )
    for k, name in enumerate(names):
        panel.explain(name, fill=inks[k % len(inks)], symbol=k)
    return panel.drawing()


def _clip(
    points: Sequence[tuple[float, float]], far: tuple[float, float]
) -> Iterator[list[tuple[float, float]]]:
    """Yield the parts of a line through non-negative points that are within the limits."""
    part: list[tuple[float, float]] = []
    for (a, b), (c, d) in pairwise(points):
        # the line is (a, b) + t · (c - a, d - b); it is within from first to last
        first, last = 0.0, 1.0
        for start, end, limit in ((a, c, far[0]), (b, d, far[1])):
            if start > limit >= end:
                first = max(first, (start - limit) / (start - end))
            elif end > limit >= start:
                last = min(last, (limit - start) / (end - start))
            elif start > limit:
                first = 2.0
        if first > last:
            continue
        here, there = ((a + t * (c - a), b + t * (d - b)) for t in (first, last))
        if part and part[-1] == here:
            part.append(there)
        else:
            if part:
                yield part
            part = [here, there]
    if part:
        yield part
