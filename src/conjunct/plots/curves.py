"""Indicators as curves, by iteration, λ or noise, and shares as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    load_altair,
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

    Examples
    --------
    >>> from conjunct import plots
    >>> rows = [{"series": "a", "x": x, "y": x * x} for x in range(3)]
    >>> chart = plots.plot_curves(rows, "x", "y", title="Squares", x_title="x", y_title="y")
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


@dataclass(frozen=True)
class Panel:
    """Curves of (iteration, value) by name; one alone has no name."""

    title: str
    unit: str
    curves: Mapping[str, Sequence[tuple[int, float]]]


def history_panels(history: Sequence[Indicators], *, bits: bool, title: str) -> list[Panel]:
    """Return what each iteration did, as charts and pages show it; unknown values are left out."""
    indicators = {"OI": "oi", "C0": "c0", "RMS": "rms"}
    parts = [
        (title, "indicator", indicators),
        ("Length", "literals of a feature (mean)", {"length": "length"}),
    ]
    if bits and not math.isnan(history[0].evidence):
        parts = [(title, "bits of evidence, less costs", {"": "evidence"})]
    elif bits:
        parts = [(title, "bits that describe the data", {"": "bits"})]
    panels = []
    for name, unit, fields in parts:
        values = {
            key: [(line.iteration, float(getattr(line, field))) for line in history]
            for key, field in fields.items()
        }
        known = {key: [one for one in some if one[1] == one[1]] for key, some in values.items()}
        panels.append(Panel(name, unit, known))
    return panels


def plot_history(
    history: Sequence[Indicators],
    *,
    title: str = "What each iteration did",
    bits: bool = False,
) -> Any:
    """Draw what each iteration of a fitted model did, by its ``history_``.

    OI, C0 and RMS, and the mean length of formulas. With ``bits``, the evidence of the merges so
    far less what they cost, or by other rules the length of the description in Krimp's code.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> model = UFC("risk").fit(datasets.load_zoo().values)
    >>> chart = plots.plot_history(model.history_)
    """
    charts = []
    for panel in history_panels(history, bits=bits, title=title):
        rows = [
            {"iteration": iteration, "series": name, "value": value}
            for name, curve in panel.curves.items()
            for iteration, value in curve
        ]
        rows.sort(key=itemgetter("iteration"))
        charts.append(
            plot_curves(
                rows,
                "iteration",
                "value",
                title=panel.title,
                x_title="iteration",
                y_title=panel.unit,
                points=not bits,
                whole=True,
                named=any(panel.curves),
            )
        )
    return charts[0] if bits else beside(*charts)


def _channel(name: str, options: dict[str, Any]) -> Any:
    alt = load_altair()

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

    Examples
    --------
    >>> from conjunct import datasets, plots, stability
    >>> found = stability(datasets.load_zoo().values, noise=(0, 0.1), n_runs=2)
    >>> chart = plots.plot_stability(found)
    """
    recurring = found.plot_recurrence(limit)
    if found.kind != "noise":
        return recurring
    return above(beside(found.plot_indicators(), found.plot_features()), recurring)


def plot_bars(rows: Sequence[tuple[str, float, bool]], *, title: str, x_title: str) -> Any:
    """Draw bars of (name, share, True if the unchanged data has it), in the order given.

    Examples
    --------
    >>> from conjunct import plots
    >>> chart = plots.plot_bars([("a + b", 0.9, True)], title="Recurrence", x_title="share")
    """
    alt = load_altair()

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
