"""Indicators as curves: by iterations, by λ, by noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from conjunct.plots.style import Row, beside, by_series, chart_of, finished, quantity
from conjunct.ufc import Indicators

_WHOLE = {"axis": {"tickMinStep": 1, "format": "d"}}


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
    """One curve for each value of ``series`` among the rows.

    ``steps``: the value holds until the next one, as an indicator does between two λ.
    ``whole``: x counts something, and only whole numbers are marked. ``named``: a legend tells
    the curves apart.
    """
    names = list(dict.fromkeys(str(row["series"]) for row in rows))

    def channel(kind: str) -> dict[str, Any]:
        return by_series(names, legend, kind) | ({} if named else {"legend": None})

    base = chart_of([{**row, "series": str(row["series"])} for row in rows]).encode(
        x=_channel("X", {**quantity(x, x_title), **(_WHOLE if whole else {})}),
        y=_channel("Y", quantity(y, y_title)),
        color=_channel("Color", channel("color")),
    )
    line = base.mark_line(
        interpolate="step-after" if steps else "linear", strokeWidth=1.8, clip=True
    ).encode(strokeDash=_channel("StrokeDash", channel("strokeDash")))
    if not points:
        return finished(line, title, lines_only=True)
    marks = base.mark_point(size=38, filled=True, opacity=1).encode(
        shape=_channel("Shape", channel("shape"))
    )
    return finished(line + marks, title)


def plot_history(
    history: Sequence[Indicators],
    *,
    title: str = "What each iteration did",
    bits: bool = False,
) -> Any:
    """What each iteration of a fitted model did, by its ``history_``.

    OI, C0 and RMS, and the mean length of formulas. With ``bits``, the evidence of the merges so
    far less what they cost, or by other rules the length of the description in Krimp's code.
    """
    if bits:
        by_evidence = not math.isnan(history[0].evidence)
        rows = [
            {
                "iteration": line.iteration,
                "series": "",
                "bits": line.evidence if by_evidence else line.bits,
            }
            for line in history
        ]
        return plot_curves(
            rows,
            "iteration",
            "bits",
            title=title,
            x_title="iteration",
            y_title="bits of evidence, less costs"
            if by_evidence
            else "bits that describe the data",
            points=False,
            whole=True,
            named=False,
        )
    return beside(
        _by_iteration(history, {"OI": "oi", "C0": "c0", "RMS": "rms"}, title, "indicator"),
        _by_iteration(history, {"length": "length"}, "Length", "literals of a feature (mean)"),
    )


def _by_iteration(
    history: Sequence[Indicators],
    fields: dict[str, str],
    title: str,
    y_title: str,
) -> Any:
    rows = [
        {"iteration": line.iteration, "series": name, "value": getattr(line, field)}
        for line in history
        for name, field in fields.items()
        if getattr(line, field) == getattr(line, field)
    ]
    return plot_curves(
        rows,
        "iteration",
        "value",
        title=title,
        x_title="iteration",
        y_title=y_title,
        whole=True,
    )


def _channel(name: str, options: dict[str, Any]) -> Any:
    import altair as alt

    return getattr(alt, name).from_dict(options)
