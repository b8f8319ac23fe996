"""Draw the pictures of docs/learning.md from one run."""

from __future__ import annotations

from typing import Any

from benchmarks._pictures import beside, by_series, chart_of, finish, quantity
from benchmarks.quality.summary import average

_SHOWN = ("evidence", "evidence + columns", "bits", "uFCα", "uFC*", "SLIM", "factors", "PCA")
_MEASURES = {
    **{name: f"{name}, accuracy" for name in ("Naive Bayes", "logistic", "tree", "5-NN")},
    "k-means": "k-means, NMI",
    "hierarchical": "hierarchical, NMI",
}


def gains(run: dict[str, Any]) -> Any:
    """Draw the mean gain of each representation over the columns."""
    rows = []
    for what, measure in _MEASURES.items():
        bare = average(run, "columns", measure)
        for by in _SHOWN:
            value = average(run, by, measure)
            if value is not None and bare is not None:
                rows.append({"what": what, "gain": 100 * (value - bare), "series": by})
    bits = [
        {"what": by, "gain": 100 * share, "series": by}
        for by in _SHOWN
        if (share := average(run, by, "bits")) is not None and by != "evidence + columns"
    ]
    one = _points(bits, "bits of unseen rows, % of the columns'", "Shorter is better")
    other = _points(rows, "points more than the columns", "Accuracy, and agreement of clusters")
    return beside(one, other)


def _points(rows: list[dict[str, Any]], title: str, heading: str) -> Any:
    order = list(dict.fromkeys(row["what"] for row in rows))
    names = [by for by in _SHOWN if any(row["series"] == by for row in rows)]
    y = {"field": "what", "type": "nominal", "sort": order, "title": None}
    marks = chart_of(rows).mark_point(filled=True, size=80, opacity=1)
    chart = marks.encode(
        x=_channel("X", quantity("gain", title)),
        y=_channel("Y", {**y, "axis": {"grid": True}}),
        color=_channel("Color", by_series(names, None, "color")),
        shape=_channel("Shape", by_series(names, None, "shape")),
    )
    return finish(chart, heading, width=300, height=240)


def recovery(run: dict[str, Any]) -> Any:
    """Draw the share of planted patterns that are found, by noise."""
    return beside(*(_recovered(kind, found) for kind, found in run["planted"].items()))


def _recovered(kind: str, methods: dict[str, Any]) -> Any:
    rows = [
        {"noise": 100 * float(noise), "recall": 100 * level["recall"], "series": method}
        for method, levels in methods.items()
        for noise, level in levels.items()
    ]
    names = list(methods)
    base = chart_of(rows).encode(
        x=_channel("X", quantity("noise", "cells inverted, %")),
        y=_channel("Y", quantity("recall", "patterns found exactly, %", domain=[0, 100])),
        color=_channel("Color", by_series(names, None, "color")),
    )
    marks = base.mark_point(filled=True, size=60, opacity=1).encode(
        shape=_channel("Shape", by_series(names, None, "shape"))
    )
    return finish(base.mark_line(strokeWidth=1.8) + marks, kind, width=300, height=240)


def _channel(name: str, options: dict[str, Any]) -> Any:
    import altair as alt

    return getattr(alt, name).from_dict(options)
