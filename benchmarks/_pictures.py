"""Draw the pictures of the page of benchmarks from one run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conjunct.plots import drawing
from conjunct.plots.drawing import COLOURS, DASHES

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
_METHODS = {"dense": "UFC, bits", "sparse": "UFC, sparse", "np.corrcoef": "np.corrcoef"}
_OUTCOMES = {
    "conjunct": (COLOURS[1], "circle"),
    "another": (COLOURS[0], "circle"),
    "stopped there": (COLOURS[0], "triangle-right"),
    "refused memory": (COLOURS[6], "cross"),
}


def chart_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return an empty chart that holds its rows."""
    alt = drawing.load_altair()
    values = json.dumps([dict(row) for row in rows], ensure_ascii=False)
    return alt.Chart(alt.InlineData(values=values, format={"type": "json"}))


def finish(chart: Any, title: str | list[str], *, width: float = 380, height: float = 300) -> Any:
    """Return the chart with a size, a title and the common style."""
    return apply_style(chart.properties(title=title, width=width, height=height))


def apply_style(chart: Any) -> Any:
    """Return a chart with the style of drawings, and of axes and legends."""
    plain = {"titleFontSize": 13, "titleFontWeight": "normal"}
    lines = {"gridColor": "#e6e6e6", "domainColor": "#555555", "tickColor": "#555555"}
    legend = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    # symbols in legends have no dashed outline
    symbols = {"symbolSize": 90, "symbolOpacity": 1, "symbolStrokeWidth": 0.01}
    return (
        drawing.apply_style(chart)
        .configure_axis(labelFontSize=12, labelFlush=False, **plain, **lines)
        .configure_legend(labelLimit=320, **legend, **symbols)
    )


def beside(*charts: Any, join: str = "hconcat") -> Any:
    """Put finished charts side by side, each with its own scales."""
    own = dict.fromkeys(("color", "shape", "strokeDash"), "independent")
    return apply_style(drawing.beside(*charts, join=join).resolve_scale(**own))


def quantity(field: str, title: str, **scale: Any) -> dict[str, Any]:
    """Encode an axis of numbers. Field names are plain words, never names from data."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True, **scale},
    }


def by_series(names: Sequence[str], title: str | None, channel: str) -> dict[str, Any]:
    """Encode the field ``series`` by colour, shape or dash, in the order of ``names``."""
    marks: Mapping[str, Sequence[Any]] = {
        "color": COLOURS,
        "shape": SHAPES,
        "strokeDash": DASHES,
    }
    chosen = [marks[channel][k % len(marks[channel])] for k in range(len(names))]
    return {
        "field": "series",
        "type": "nominal",
        "title": title,
        "sort": list(names),
        "scale": {"domain": list(names), "range": chosen},
    }


def rivals(run: dict[str, Any]) -> Any:
    """Draw the CPU time of each method, with a panel for each set."""
    return beside(*(_set(data, run["limits"], first=not k) for k, data in enumerate(run["sets"])))


def _set(data: dict[str, Any], limits: dict[str, Any], *, first: bool) -> Any:
    names = [_short(line["rival"]) for line in data["rivals"]]
    outcomes = [_outcome(line, limits) for line in data["rivals"]]
    rows = [
        {"rival": name, "seconds": seconds, "series": outcome}
        for name, (seconds, outcome) in zip(names, outcomes, strict=True)
    ]
    legend = {"title": None, "orient": "bottom", "direction": "vertical"} if first else None
    colour, shape = (
        {**by_series(list(_OUTCOMES), None, channel), "legend": legend}
        for channel in ("color", "shape")
    )
    for channel, k in ((colour, 0), (shape, 1)):
        channel["scale"] = {**channel["scale"], "range": [look[k] for look in _OUTCOMES.values()]}
    seconds = quantity("seconds", "seconds", type="log", domain=[0.01, 300], nice=False)
    seconds["axis"] = {"values": [0.01, 0.1, 1, 10, 100], "format": "~g"}
    axis = {"labels": first, "ticks": first, "grid": True, "labelLimit": 260}
    rival = {"field": "rival", "type": "nominal", "sort": names, "title": None, "axis": axis}
    marks = chart_of(rows).mark_point(filled=True, size=85, opacity=1)
    chart = marks.encode(
        x=_channel("X", seconds),
        y=_channel("Y", rival),
        color=_channel("Color", colour),
        shape=_channel("Shape", shape),
    )
    return finish(chart, data["name"], width=125, height=200)


def _short(name: str) -> str:
    """Leave out the parameters that all runs have in common."""
    return name if name.startswith("UFC") else name.partition("(")[0]


def _outcome(line: dict[str, Any], limits: dict[str, Any]) -> tuple[float, str]:
    if "stopped" in line:
        return float(line["stopped"]), "stopped there"
    if "needs" in line:
        return 2.0 * limits["seconds"], "refused memory"
    return line["seconds"], "conjunct" if line["rival"].startswith("UFC") else "another"


def growth(run: dict[str, Any]) -> Any:
    """Draw time and memory against rows, columns and density, on logarithmic scales."""
    import altair as alt

    rows = [
        alt.hconcat(*(_curve(run, sweep, value) for sweep in run["sweeps"]), spacing=24)
        for value in ("seconds", "megabytes")
    ]
    return apply_style(alt.vconcat(*rows, spacing=16))


def _curve(run: dict[str, Any], sweep: str, value: str) -> Any:
    rows = [
        {
            "size": _size(point, sweep),
            "seconds": point["seconds"],
            "megabytes": (point["resident"] - point["before"]) / 1e6,
            "series": _METHODS[point["method"]],
        }
        for point in run["sweeps"][sweep]
    ]
    names = list(_METHODS.values())
    title = "density, %" if sweep == "density" else sweep
    sizes = sorted({row["size"] for row in rows})
    x = {**quantity("size", title, type="log", nice=False), "axis": {"values": sizes}}
    x["axis"]["format"] = "~g" if sweep == "density" else "~s"
    y = quantity(value, value, type="log")
    y["axis"] = {"values": [10.0**k for k in range(-3, 6)], "format": "~g"}
    base = chart_of(rows).encode(
        x=_channel("X", x),
        y=_channel("Y", y),
        color=_channel("Color", by_series(names, None, "color")),
    )
    line = base.mark_line(strokeWidth=1.8)
    marks = base.mark_point(filled=True, size=45, opacity=1).encode(
        shape=_channel("Shape", by_series(names, None, "shape"))
    )
    return (line + marks).properties(width=185, height=165)


def _size(point: dict[str, Any], sweep: str) -> float:
    rows, columns = point["shape"]
    return {"rows": rows, "columns": columns, "density": 100 * point["density"]}[sweep]


def _channel(name: str, options: dict[str, Any]) -> Any:
    import altair as alt

    return getattr(alt, name).from_dict(options)
