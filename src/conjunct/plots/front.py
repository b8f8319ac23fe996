"""Solutions in the plane of OI and C0: their distribution, fronts, trajectories."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

from conjunct.plots.drawing import COLOURS, DASHES, GREY, Axis, Drawing, Panel, Shape, symbol
from conjunct.ufc import Indicators, Solution

Point = Solution | Indicators


class Points(NamedTuple):
    """Points under one name, and the area of their marks."""

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

    ``marked`` are further points to show, by name. ``magnified`` shows the region around the
    closest point only. The description of a mark is the name of its series and its position among
    them: ``solution 12``, ``Pareto front 3``.

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
    """Draw solutions up to ``far`` on both axes; ``attributes`` of marks are for a page."""
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
    """Draw runs and the front of the path; a large mark shows where each run stops.

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
    # where runs stop at the same point, the mark of the earlier one shows behind the other
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
    """Draw lines, and points on them, up to the limits of both axes; of equal points, the first.

    ``plain``: the first of the points recede behind the curves on them.
    """
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
    """Yield the parts of a line through points within the limits; points are not negative."""
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
