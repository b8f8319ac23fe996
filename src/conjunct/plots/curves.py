"""Indicators as curves, by iteration, λ or noise, and shares as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Protocol

from conjunct.plots.style import (
    COLOURS,
    GREY,
    Row,
    above,
    beside,
    by_series,
    chart_of,
    finish,
    quantity,
)
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
    """Draw one curve for each value of ``series`` among the rows.

    ``steps``: the value holds until the next one, as an indicator does between two λ.
    ``whole``: x counts something, and only whole numbers are marked. ``named``: a legend names
    the curves.
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
        return finish(line, title, lines_only=True)
    marks = base.mark_point(size=38, filled=True, opacity=1).encode(
        shape=_channel("Shape", channel("shape"))
    )
    return finish(line + marks, title)


def plot_history(
    history: Sequence[Indicators],
    *,
    title: str = "What each iteration did",
    bits: bool = False,
) -> Any:
    """Draw what each iteration of a fitted model did, by its ``history_``.

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


def history_curves(
    history: Sequence[Indicators], fields: Mapping[str, str]
) -> dict[str, list[tuple[int, float]]]:
    """Return a curve of (iteration, value) for each field of a history, by the name given to it.

    Iterations at which a value is unknown are left out.
    """
    return {
        name: [
            (line.iteration, value)
            for line in history
            if (value := float(getattr(line, field))) == value
        ]
        for name, field in fields.items()
    }


def _by_iteration(
    history: Sequence[Indicators], fields: Mapping[str, str], title: str, y_title: str
) -> Any:
    points = [
        (iteration, name, value)
        for name, curve in history_curves(history, fields).items()
        for iteration, value in curve
    ]
    points.sort(key=itemgetter(0))
    rows = [{"iteration": k, "series": name, "value": value} for k, name, value in points]
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


class StabilityFound(Protocol):
    """The result of :func:`conjunct.stability`."""

    @property
    def kind(self) -> str: ...

    def plot_indicators(self) -> Any: ...

    def plot_features(self) -> Any: ...

    def plot_recurrence(self, limit: int = 25) -> Any: ...


def plot_stability(found: StabilityFound, *, limit: int = 25) -> Any:
    """Draw which features came back and, under noise, the indicators (the paper's figure 12).

    Parameters
    ----------
    found : Stability
        What :func:`conjunct.stability` gave.
    limit : int, default=25
        Number of features shown, those that come back most often first.
    """
    recurring = found.plot_recurrence(limit)
    if found.kind != "noise":
        return recurring
    return above(beside(found.plot_indicators(), found.plot_features()), recurring)


def plot_bars(rows: Sequence[tuple[str, float, bool]], *, title: str, x_title: str) -> Any:
    """Draw bars of (name, share, True if the unchanged data has it), in the order given."""
    import altair as alt

    kinds = ("of the data as it is", "of changed data only")
    # names may repeat after shortening, and may be anything: lines go by their number
    numbered = [
        {"line": k, "name": name, "share": share, "kind": kinds[0 if first else 1]}
        for k, (name, share, first) in enumerate(rows)
    ]
    line = alt.Y("line:O", axis=None)
    bars = (
        chart_of(numbered)
        .mark_bar(height=11)
        .encode(
            y=line,
            x=alt.X("share:Q", title=x_title, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=list(kinds), range=[COLOURS[0], GREY]),
                legend=alt.Legend(orient="bottom"),
            ),
        )
    )
    names = (
        chart_of(numbered)
        .mark_text(align="right", dx=-6, fontSize=12)
        .encode(y=line, x=alt.value(0), text="name:N")
    )
    return finish(bars + names, title, width=300, height=18 * max(len(rows), 1))
