"""How every chart looks: black on white, colours of Okabe and Ito, and marks that differ too."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

# told apart by people who do not see all colours, and in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 3])
GREY = "#9a9a9a"

Row = Mapping[str, Any]


def chart_of(rows: Sequence[Row]) -> Any:
    """An empty chart on rows that are part of it."""
    import altair as alt

    # as text: Altair copies a chart deeply, again and again, and would copy every row each time
    values = json.dumps([dict(row) for row in rows], ensure_ascii=False)
    return alt.Chart(alt.InlineData(values=values, format={"type": "json"}))


def finished(
    chart: Any,
    title: str | list[str],
    *,
    width: int = 380,
    height: int = 300,
    lines_only: bool = False,
) -> Any:
    """The chart with its size, its title and the house style.

    ``lines_only``: the legend shows strokes. Otherwise it shows marks, without a dashed outline.
    """
    return styled(chart.properties(title=title, width=width, height=height), lines_only=lines_only)


def styled(chart: Any, *, lines_only: bool = False) -> Any:
    """The house style alone, for charts put together from several."""
    return (
        chart.configure(background="white", font="DejaVu Sans, Arial, sans-serif")
        .configure_title(fontSize=14, anchor="start", fontWeight="normal", offset=12)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            gridColor="#e6e6e6",
            domainColor="#555555",
            tickColor="#555555",
            labelFlush=False,
        )
        .configure_legend(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            symbolSize=90,
            symbolOpacity=1,
            symbolStrokeWidth=2 if lines_only else 0.01,
            labelLimit=320,
        )
        .configure_view(stroke=None)
    )


def legend_below(chart: Any, columns: int) -> Any:
    """A finished chart whose legend stands below it, in columns: for narrow pages."""
    chart = chart.copy()
    chart.config.legend.orient = "bottom"
    chart.config.legend.columns = columns
    return chart


def beside(*charts: Any) -> Any:
    """Finished charts side by side, each with a legend of its own."""
    import altair as alt

    return _together(alt.hconcat, charts)


def above(*charts: Any) -> Any:
    """Finished charts below each other, each with a legend of its own."""
    import altair as alt

    return _together(alt.vconcat, charts)


def _together(concatenate: Any, charts: Sequence[Any]) -> Any:
    import altair as alt

    plain = [chart.copy() for chart in charts]
    for chart in plain:  # only a whole may be configured
        chart.config = alt.Undefined
    own = dict.fromkeys(("color", "shape", "strokeDash"), "independent")
    return styled(concatenate(*plain, spacing=30).resolve_scale(**own))


def quantity(field: str, title: str, **scale: Any) -> dict[str, Any]:
    """An axis of numbers. Field names are plain words here, never names from data."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": True, **scale},
    }


def by_series(names: Sequence[str], title: str | None, channel: str) -> dict[str, Any]:
    """Colour, shape or dash by the field ``series``, in the order of ``names``."""
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
