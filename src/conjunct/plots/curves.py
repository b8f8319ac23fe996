"""Indicators as curves, by iteration, λ or noise, and shares as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from conjunct.plots.drawing import SYMBOLS, Drawing, Shape, Text
from conjunct.plots.style import (
    COLOURS,
    DASHES,
    GREY,
    Row,
    above,
    beside,
    by_series,
    chart_of,
    finish,
    load_altair,
    quantity,
    width_of,
)
from conjunct.ufc import Indicators

_WIDTH, _HEIGHT = 380, 300
_LEGEND = 70
_PANEL_GAP = 30
_PATH_POINTS = 2 * _WIDTH  # two a pixel; of more, some are left out
_MARKED_POINTS = 100  # of one curve; more would run into each other
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
    return draw_history(history, bits=bits, title=title).to_chart()


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on ``length`` pixels; marks stand at round numbers."""

    low: float
    high: float
    step: float
    length: float

    @classmethod
    def over(cls, values: Sequence[float], length: float, n_marks: int, *, whole: bool) -> Axis:
        """Return an axis with about ``n_marks`` marks that begins and ends with one."""
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        step = _round_step(span / n_marks)
        if whole:
            step = max(1.0, step)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, max(last, first + 1) * step, step, length)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Places and labels."""
        n = round((self.high - self.low) / self.step)
        digits = max(0, -math.floor(math.log10(self.step)))
        values = [self.low + k * self.step for k in range(n + 1)]
        return [(round(self.at(value), 1), f"{value:,.{digits}f}") for value in values]

    def at(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) * self.length


def _round_step(least: float) -> float:
    """Return 1, 2 or 5, times a power of ten: the one nearest to ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * min((1, 2, 5, 10), key=lambda digit: abs(math.log(digit * power / least)))


def draw_history(history: Sequence[Indicators], *, bits: bool, title: str) -> Drawing:
    """Draw the evidence or the bits by iteration, or the indicators and the length of formulas.

    Unknown values are left out.
    """
    indicators = {"OI": "oi", "C0": "c0", "RMS": "rms"}
    panels = [
        (title, "indicator", indicators),
        ("Length", "literals of a feature (mean)", {"length": "length"}),
    ]
    if bits and not math.isnan(history[0].evidence):
        panels = [(title, "bits of evidence, less costs", {"": "evidence"})]
    elif bits:
        panels = [(title, "bits that describe the data", {"": "bits"})]
    shapes: list[Shape] = []
    texts: list[Text] = []
    left = 0.0
    for head, unit, fields in panels:
        curves = {
            name: [
                (line.iteration, value)
                for line in history
                if (value := float(getattr(line, field))) == value
            ]
            for name, field in fields.items()
        }
        heights = [value for some in curves.values() for _, value in some] or [0.0]
        across = Axis.over([line.iteration for line in history], _WIDTH, 8, whole=True)
        up = Axis.over(heights, _HEIGHT, 6, whole=False)
        x = left + round(max(width_of(label, 12) for _, label in up.marks)) + 28
        grid, ticks = "", f"M{x} 0v{_HEIGHT}h{_WIDTH}"
        for at, text in across.marks:
            grid += f"M{x + at:g} 0v{_HEIGHT}"
            ticks += f"M{x + at:g} {_HEIGHT}v5"
            texts.append(Text(x + at, _HEIGHT + 17, text, "middle"))
        for at, text in up.marks:
            grid += f"M{x} {_HEIGHT - at:g}h{_WIDTH}"
            ticks += f"M{x} {_HEIGHT - at:g}h-5"
            texts.append(Text(x - 7, _HEIGHT + 4 - at, text, "end"))
        texts += [
            Text(left, -15, head, size=14),
            Text(left + 11, _HEIGHT / 2, unit, "middle", 13, -90),
            Text(x + _WIDTH / 2, _HEIGHT + 34, "iteration", "middle", 13),
        ]
        shapes += [Shape(grid, stroke="#e6e6e6"), Shape(ticks, stroke="#555555")]
        for k, (name, values) in enumerate(curves.items()):
            every = -(-len(values) // _PATH_POINTS) or 1
            kept = [*values[:-1:every], *values[-1:]]
            places = [f"{x + across.at(a):.1f} {_HEIGHT - up.at(b):.1f}" for a, b in kept]
            path = f"M{'L'.join(places)}" if places else ""
            shapes.append(Shape(path, stroke=COLOURS[k], width=1.8, dash=DASHES[k], name=name))
            if name:
                marked = places if len(places) <= _MARKED_POINTS else []
                key = f"{x + _WIDTH + 18} {6 + 16 * k}"
                points = "".join(f"M{place}{SYMBOLS[k]}" for place in [*marked, key])
                shapes.append(Shape(points, fill=COLOURS[k]))
                texts.append(Text(x + _WIDTH + 28, 10 + 16 * k, name))
        left = x + _WIDTH + (_LEGEND if any(curves) else 18) + _PANEL_GAP
    return Drawing((-5, -31, left - _PANEL_GAP + 10, _HEIGHT + 74), shapes, texts)


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
