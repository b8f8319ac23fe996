"""Solutions in the plane of OI and C0: their distribution, fronts, trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from conjunct.plots.style import COLOURS, GREY, Row, by_series, chart_of, finished, quantity

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
    """The distribution of solutions with the front and the closest point (the paper's figure 7).

    ``marked`` are further points to show, by name. ``magnified`` shows the region around the
    closest point only. The description of a mark is the name of its series and its position among
    them: ``solution 12``, ``Pareto front 3``.
    """
    names = ["solution", "Pareto front", "closest point", *(marked or {})]
    far = 2.5 * max(closest.oi, closest.c0) if magnified else None
    layers = [
        _points(_rows("solution", solutions), names, far, size=18, opacity=0.55),
        _line(_rows("Pareto front", front), names, far),
        _points(_rows("Pareto front", front), names, far, size=34),
        _points(_rows("closest point", [closest]), names, far, size=170),
    ]
    layers += [
        _points(_rows(name, points), names, far, size=55) for name, points in (marked or {}).items()
    ]
    return finished(_layered(layers), title)


def plot_fronts(
    fronts: Mapping[str, Sequence[Point]],
    *,
    title: str = "Pareto fronts",
    magnified: bool = False,
) -> Any:
    """Several fronts beside each other (the paper's figure 11)."""
    names = list(fronts)
    nearest = min((p for points in fronts.values() for p in points), key=_distance)
    far = 2.5 * max(nearest.oi, nearest.c0) if magnified else None
    layers = [
        layer
        for name, points in fronts.items()
        for layer in (
            _line(_rows(name, points), names, far, plain=False),
            _points(_rows(name, points), names, far, size=22, plain=False),
        )
    ]
    return finished(_layered(layers), title)


def plot_trajectories(
    front: Sequence[Point],
    trajectories: Mapping[str, Sequence[Point]],
    stops: Mapping[str, Point],
    *,
    title: str,
) -> Any:
    """Ways through the plane beside the front of the path; a large mark where each one stops."""
    names = ["Pareto front of the path", *trajectories]
    points = [*front, *(p for way in trajectories.values() for p in way)]
    nearest = min(points, key=_distance)
    start = next(iter(trajectories.values()))[0]
    far_oi = 1.05 * max(start.oi, nearest.oi)
    far_c0 = 3.5 * max(nearest.oi, nearest.c0)
    layers = [_line(_rows(names[0], front), names, far_c0, far_oi, plain=False)]
    for k, (name, way) in enumerate(trajectories.items()):
        # where runs stop at the same point, the mark of the earlier one shows behind the other
        size = max(50, 230 - 80 * k)
        layers.append(_line(_rows(name, way), names, far_c0, far_oi, plain=False))
        layers.append(_points(_rows(name, [stops[name]]), names, far_c0, far_oi, size, plain=False))
    return finished(_layered(layers), title)


def _distance(point: Point) -> float:
    return point.oi * point.oi + point.c0 * point.c0


def _rows(name: str, points: Sequence[Point]) -> list[Row]:
    """Each place once, under the first of the points there."""
    places: dict[tuple[float, float], int] = {}
    for k, point in enumerate(points):
        places.setdefault((round(point.oi, 6), round(point.c0, 6)), k)
    return [
        {"mark": f"{name} {k}", "series": name, "oi": oi, "c0": c0}
        for (oi, c0), k in places.items()
    ]


def _layered(layers: Sequence[Any]) -> Any:
    import altair as alt

    return alt.layer(*layers)


def _axes(far_c0: float | None, far_oi: float | None) -> dict[str, Any]:
    import altair as alt

    def limits(far: float | None) -> dict[str, Any]:
        return {} if far is None else {"domain": [0, far], "nice": False}

    return {
        "x": alt.X.from_dict(quantity("oi", _OI, **limits(far_oi))),
        "y": alt.Y.from_dict(quantity("c0", _C0, **limits(far_c0))),
    }


def _points(
    rows: Sequence[Row],
    names: Sequence[str],
    far_c0: float | None,
    far_oi: float | None = None,
    size: int = 30,
    *,
    opacity: float = 1.0,
    plain: bool = True,
) -> Any:
    import altair as alt

    far_oi = far_c0 if far_oi is None else far_oi
    shown = [
        row
        for row in rows
        if (far_c0 is None or row["c0"] <= far_c0) and (far_oi is None or row["oi"] <= far_oi)
    ]
    return (
        chart_of(shown)
        .mark_point(size=size, filled=True, opacity=opacity, clip=True)
        .encode(
            **_axes(far_c0, far_oi),
            description="mark:N",
            color=alt.Color.from_dict(_coloured(names, plain)),
            shape=alt.Shape.from_dict(by_series(names, None, "shape")),
        )
    )


def _line(
    rows: Sequence[Row],
    names: Sequence[str],
    far_c0: float | None,
    far_oi: float | None = None,
    *,
    plain: bool = True,
) -> Any:
    import altair as alt

    numbered = [{**row, "step": k} for k, row in enumerate(rows)]
    return (
        chart_of(numbered)
        .mark_line(strokeWidth=1.8, clip=True)
        .encode(
            **_axes(far_c0, far_c0 if far_oi is None else far_oi),
            order=alt.Order.from_dict({"field": "step", "type": "quantitative"}),
            color=alt.Color.from_dict(_coloured(names, plain)),
            strokeDash=alt.StrokeDash.from_dict(_dashed(names, plain)),
        )
    )


def _dashed(names: Sequence[str], plain: bool) -> dict[str, Any]:
    encoding = by_series(names, None, "strokeDash")
    if plain:
        encoding["scale"]["range"] = [[1, 0] for _ in names]
    return encoding


def _coloured(names: Sequence[str], plain: bool) -> dict[str, Any]:
    encoding = by_series(names, None, "color")
    if plain:  # the many solutions recede behind what is drawn on them
        encoding["scale"]["range"] = [GREY, *COLOURS[: len(names) - 1]]
    return encoding
