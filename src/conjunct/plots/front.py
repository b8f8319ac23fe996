"""Solutions in the plane of OI and C0: their distribution, fronts, trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from conjunct.plots.style import (
    COLOURS,
    GREY,
    Row,
    by_series,
    chart_of,
    finish,
    load_altair,
    quantity,
)

_OI = "overlapping index OI"
_C0 = "complexity C0"


class Point(Protocol):
    """Anything with the two coordinates of the plane: a solution, a line of a history."""

    @property
    def oi(self) -> float: ...

    @property
    def c0(self) -> float: ...


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
    names = ["solution", "Pareto front", "closest point", *(marked or {})]
    far = 2.5 * max(closest.oi, closest.c0) if magnified else None
    on_front = _rows("Pareto front", front)
    points = [
        *_marks(_rows("solution", solutions), 18, opacity=0.55),
        *_marks(on_front, 34),
        *_marks(_rows("closest point", [closest]), 170),
    ]
    for name, some in (marked or {}).items():
        points += _marks(_rows(name, some), 55)
    return finish(_plane(names, on_front, points, far, far, plain=True), title)


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
    names = list(fronts)
    nearest = min((p for points in fronts.values() for p in points), key=_distance)
    far = 2.5 * max(nearest.oi, nearest.c0) if magnified else None
    rows = [row for name, points in fronts.items() for row in _rows(name, points)]
    return finish(_plane(names, rows, _marks(rows, 22), far, far), title)


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
    names = ["Pareto front of the path", *trajectories]
    points = [*front, *(p for way in trajectories.values() for p in way)]
    nearest = min(points, key=_distance)
    start = next(iter(trajectories.values()))[0]
    far_oi = 1.05 * max(start.oi, nearest.oi)
    far_c0 = 3.5 * max(nearest.oi, nearest.c0)
    lines, marks = _rows(names[0], front), []
    for k, (name, way) in enumerate(trajectories.items()):
        lines += _rows(name, way)
        # where runs stop at the same point, the mark of the earlier one shows behind the other
        marks += _marks(_rows(name, [stops[name]]), max(50, 230 - 80 * k))
    return finish(_plane(names, lines, marks, far_c0, far_oi), title)


def _distance(point: Point) -> float:
    return point.oi * point.oi + point.c0 * point.c0


def _rows(name: str, points: Sequence[Point]) -> list[Row]:
    """Return each place once, with the number of the first point there."""
    places: dict[tuple[float, float], int] = {}
    for k, point in enumerate(points):
        places.setdefault((round(point.oi, 6), round(point.c0, 6)), k)
    return [
        {"mark": f"{name} {k}", "series": name, "oi": oi, "c0": c0}
        for (oi, c0), k in places.items()
    ]


def _marks(rows: Sequence[Row], size: int, opacity: float = 1.0) -> list[Row]:
    return [{**row, "size": size, "opacity": opacity} for row in rows]


def _plane(
    names: Sequence[str],
    lines: Sequence[Row],
    points: Sequence[Row],
    far_c0: float | None,
    far_oi: float | None,
    *,
    plain: bool = False,
) -> Any:
    """Draw lines, and points on them, up to the limits of the axes."""
    alt = load_altair()

    def limits(far: float | None) -> dict[str, Any]:
        return {} if far is None else {"domain": [0, far], "nice": False}

    def is_near(row: Row) -> bool:
        return (far_c0 is None or row["c0"] <= far_c0) and (far_oi is None or row["oi"] <= far_oi)

    colours, dashes = by_series(names, None, "color"), by_series(names, None, "strokeDash")
    if plain:  # the many solutions recede behind what is curves on them
        colours["scale"]["range"] = [GREY, *COLOURS[: len(names) - 1]]
        dashes["scale"]["range"] = [[1, 0] for _ in names]
    axes = {
        "x": alt.X.from_dict(quantity("oi", _OI, **limits(far_oi))),
        "y": alt.Y.from_dict(quantity("c0", _C0, **limits(far_c0))),
        "color": alt.Color.from_dict(colours),
    }
    curves = (
        chart_of([{**row, "step": k} for k, row in enumerate(lines)])
        .mark_line(strokeWidth=1.8, clip=True)
        .encode(
            **axes,
            order="step:Q",
            strokeDash=alt.StrokeDash.from_dict(dashes),
        )
    )
    marks = (
        chart_of(list(filter(is_near, points)))
        .mark_point(filled=True, clip=True)
        .encode(
            **axes,
            description="mark:N",
            shape=alt.Shape.from_dict(by_series(names, None, "shape")),
            size=alt.Size("size:Q", scale=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
        )
    )
    return alt.layer(curves, marks)
