"""Draw in pixels, for pages and for Altair charts, and save charts in one style.

Charts are black on white, and have the same bytes on every run.
"""

from __future__ import annotations

import json
import math
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from conjunct.errors import InputError
from conjunct.files import write_atomically
from conjunct.memory import available_addresses, byte_text

# distinct for colour-blind people and in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 3])
GREY = "#9a9a9a"

Row = Mapping[str, Any]

Anchor = Literal["start", "middle", "end"]

_ALIGN: dict[Anchor, str] = {"start": "left", "middle": "center", "end": "right"}
# corners of symbols in a circle of radius 1; the first is the circle itself
SYMBOLS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1), (1, 0.8), (-1, 0.8)),
    ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    (
        *((-0.4, -1), (0.4, -1), (0.4, -0.4), (1, -0.4), (1, 0.4), (0.4, 0.4)),
        *((0.4, 1), (-0.4, 1), (-0.4, 0.4), (-1, 0.4), (-1, -0.4), (-0.4, -0.4)),
    ),
    ((0, 1), (1, -0.8), (-1, -0.8)),
    ((-1, 0), (0.8, 1), (0.8, -1)),
)


@dataclass(frozen=True)
class Shape:
    """A path as in SVG; charts use its ``name``, and scripts of pages its ``attributes``."""

    path: str
    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    dash: Sequence[int] = ()
    opacity: float = 1.0
    name: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Text:
    """A line of text at ``x``, aligned by ``anchor``; ``angle`` is in degrees, clockwise."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    size: float = 12
    angle: int = 0
    name: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawing:
    """Shapes and texts in the rectangle ``left, top, width, height``."""

    box: tuple[float, float, float, float]
    shapes: Sequence[Shape]
    texts: Sequence[Text]

    def to_chart(self, title: str | list[str] = "") -> Any:
        """Return the drawing as an Altair chart, with the names of marks as descriptions."""
        alt = load_altair()
        left, top, width, height = self.box

        def rows(marks: Sequence[Shape] | Sequence[Text]) -> Any:
            # as text, because Altair copies a chart deeply many times, with every row
            records = [{**asdict(mark), "attributes": None} for mark in marks]
            values = json.dumps(records, ensure_ascii=False)
            return alt.Chart(alt.InlineData(values=values, format={"type": "json"}))

        # Vega scales the path of a symbol by half the root of its size: 4 keeps its scale
        layers = [
            rows(self.shapes)
            .mark_point(size=4, strokeCap="round")
            .encode(
                x=alt.value(-left),
                y=alt.value(-top),
                shape=alt.Shape("path:N", scale=None),
                fill=alt.Fill("fill:N", scale=None),
                stroke=alt.Stroke("stroke:N", scale=None),
                strokeWidth=alt.StrokeWidth("width:Q", scale=None),
                strokeDash=alt.StrokeDash("dash:N", scale=None),
                opacity=alt.Opacity("opacity:Q", scale=None),
                description="name:N",
            )
        ]
        x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[left, left + width], nice=False))
        y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[top + height, top], nice=False))
        for anchor, align in _ALIGN.items():
            if some := [text for text in self.texts if text.anchor == anchor]:
                layers.append(
                    rows(some)
                    .mark_text(align=align, baseline="alphabetic")
                    .encode(
                        x=x,
                        y=y,
                        text="text:N",
                        size=alt.Size("size:Q", scale=None),
                        angle=alt.Angle("angle:Q", scale=None),
                        description="name:N",
                    )
                )
        chart = alt.layer(*layers).properties(title=title, width=width, height=height)
        return apply_style(chart)


def symbol(k: int, x: float, y: float, area: float = 38) -> str:
    """Return the path of a symbol; symbols distinguish series without colour."""
    r = math.sqrt(area) / 2
    corners = SYMBOLS[k % len(SYMBOLS)]
    if not corners:
        arc = f"a{r:.1f} {r:.1f} 0 1 1"
        return f"M{x - r:.1f} {y:.1f}{arc} {2 * r:.1f} 0{arc} {-2 * r:.1f} 0z"
    return f"M{'L'.join(f'{x + r * a:.1f} {y + r * b:.1f}' for a, b in corners)}z"


def list_legend(
    entries: Mapping[str, Mapping[str, Any]], x: float, y: float, *, across: float
) -> tuple[list[Shape], list[Text]]:
    """Draw a legend in one line: squares with the given looks, and their texts."""
    shapes, texts = [], []
    for k, (text, look) in enumerate(entries.items()):
        at = round(x + across * k, 1)
        shapes.append(Shape(f"M{at} {y - 10}h12v12h-12z", **look))
        texts.append(Text(at + 17, y, text))
    return shapes, texts


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on ``length`` pixels, with marks at round numbers."""

    low: float
    high: float
    step: float
    length: float

    @classmethod
    def over(
        cls, values: Sequence[float], length: float, n_marks: int, *, whole: bool = False
    ) -> Axis:
        """Return an axis with about ``n_marks`` marks, the first and last at its ends."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        least = ((high - low) or abs(high) or 1.0) / n_marks
        power = 10.0 ** math.floor(math.log10(least))
        # the nearest of 1, 2 and 5 times a power of ten
        digit = min((1, 2, 5, 10), key=lambda digit: abs(math.log(digit * power / least)))
        step = max(1.0, power * digit) if whole else power * digit
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, max(last, first + 1) * step, step, length)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Places and labels."""
        first = math.ceil(round(self.low / self.step, 9))
        last = math.floor(round(self.high / self.step, 9))
        digits = max(0, -math.floor(math.log10(self.step)))
        values = [k * self.step for k in range(first, last + 1)]
        return [(round(self.at(value), 1), f"{value:,.{digits}f}") for value in values]

    def at(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low) * self.length


class Panel:
    """Two axes that meet at ``x``, with titles and a legend, for ``shapes`` and ``texts``."""

    def __init__(
        self, title: str, x_title: str, y_title: str, across: Axis, up: Axis, left: float = 0.0
    ) -> None:
        self.across, self.up, self.left = across, up, left
        width, height = across.length, up.length
        labels = max(width_of(label, 12) for _, label in up.marks)
        self.x = x = left + round(labels) + 28
        grid, ticks = "", f"M{x} 0v{height}h{width}"
        self.texts = [
            Text(left, -15, title, size=14),
            Text(left + 11, height / 2, y_title, "middle", 13, -90),
            Text(x + width / 2, height + 34, x_title, "middle", 13),
        ]
        for at, text in across.marks:
            grid += f"M{x + at:g} 0v{height}"
            ticks += f"M{x + at:g} {height}v5"
            self.texts.append(Text(x + at, height + 17, text, "middle"))
        for at, text in up.marks:
            grid += f"M{x} {height - at:g}h{width}"
            ticks += f"M{x} {height - at:g}h-5"
            self.texts.append(Text(x - 7, height + 4 - at, text, "end"))
        self.shapes = [Shape(grid, stroke="#e6e6e6"), Shape(ticks, stroke="#555555")]
        self._legend: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point in pixels."""
        return self.x + self.across.at(x), self.up.length - self.up.at(y)

    def path(self, points: Sequence[tuple[float, float]], *, steps: bool = False) -> str:
        """Return a line through points; with ``steps``, values hold until the next point."""
        places = [self.at(*point) for point in points]
        path = "".join(f"L{x:.1f} {y:.1f}" for x, y in places)
        if steps:
            path = "".join(f"H{x:.1f}V{y:.1f}" for x, y in places)
            path = f"L{places[0][0]:.1f} {places[0][1]:.1f}{path}" if places else ""
        return f"M{path[1:]}" if path else ""

    def explain(self, name: str, **look: Any) -> None:
        """Add a text to the legend, with a symbol or a stroke before it if given."""
        x, y = self.x + self.across.length + 18, 6 + 16 * len(self._legend)
        if look:
            number = look.pop("symbol", None)
            path = f"M{x - 7} {y}h14" if number is None else symbol(number, x, y)
            self.shapes.append(Shape(path, **look))
        self._legend.append(name)
        self.texts.append(Text(x + 10 if look else x - 6, y + 4, name))

    @property
    def end(self) -> float:
        room = max((width_of(name, 12) + 32 for name in self._legend), default=18)
        return self.x + self.across.length + round(room)

    def drawing(self) -> Drawing:
        return draw_panels([self])


def draw_panels(panels: Sequence[Panel]) -> Drawing:
    """Return panels side by side as one drawing."""
    shapes = [shape for panel in panels for shape in panel.shapes]
    texts = [text for panel in panels for text in panel.texts]
    height = max(panel.up.length for panel in panels)
    return Drawing((-5, -31, panels[-1].end + 10, height + 74), shapes, texts)


_NARROW = frozenset("fijlrtI.,:;'!|()[] ")
_BROAD = frozenset("mwMW@%+∧∨¬")


def width_of(text: str, size: float) -> float:
    """Estimate the width of a text in pixels; the browser chooses the font."""
    return size * sum(map(_width, text))


def cut_to(text: str, width: float, size: float) -> str:
    """Cut a text that is too wide, and end it with an ellipsis."""
    room = width / size
    for k, character in enumerate(text):
        room -= _width(character)
        if room < 0:
            return text[: max(0, k - 1)].rstrip() + "…"
    return text


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.35
    if character in _BROAD or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.62


_INSTALL = "pip install altair vl-convert-python"


def load_altair() -> Any:
    """Import Altair, which is an optional dependency."""
    try:
        import altair
    except ImportError:
        raise InputError(f"charts need Altair: {_INSTALL}") from None
    return altair


def apply_style(chart: Any) -> Any:
    """Return a chart with the common style."""
    return (
        chart.configure(background="white", font="DejaVu Sans, Arial, sans-serif")
        .configure_title(fontSize=14, anchor="start", fontWeight="normal", offset=12)
        .configure_view(stroke=None)
    )


def beside(*charts: Any, join: str = "hconcat") -> Any:
    """Put finished charts side by side, or below each other with vconcat."""
    alt = load_altair()
    plain = [chart.copy() for chart in charts]
    for chart in plain:  # only the outer chart may have a configuration
        chart.config = alt.Undefined
    return apply_style(getattr(alt, join)(*plain, spacing=30))


_PRINT_PPI = 200
_ADDRESSES = 70 * 10**9  # reserved by the renderer, which ends the process without them
# the renderer numbers these ids across charts
_NUMBERED_ID = re.compile(r'((?:id="|="url\(#)(?:clip|gradient_))(\d+)')


def svg_of(chart: Any) -> str:
    """Return the chart as SVG.

    Examples
    --------
    >>> from conjunct import plots
    >>> chart = plots.plot_bars([("a + b", 0.9, True)], title="Recurrence", x_title="share")
    >>> plots.svg_of(chart)[:4]
    '<svg'
    """
    _check_addresses()
    try:
        import vl_convert
    except ImportError:
        raise InputError(f"drawing a chart needs vl-convert: {_INSTALL}") from None

    # Altair validated the parts when they were made
    svg = str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False)))
    numbers: dict[str, int] = {}
    return _NUMBERED_ID.sub(
        lambda found: found[1] + str(numbers.setdefault(found[2], len(numbers))), svg
    )


def save_chart(chart: Any, *paths: str | os.PathLike[str]) -> None:
    """Write the chart as ``.svg`` or ``.png``, by the extensions of the paths.

    Examples
    --------
    >>> from conjunct import plots
    >>> chart = plots.plot_bars([("a + b", 0.9, True)], title="Recurrence", x_title="share")
    >>> plots.save_chart(chart, "bars.svg", "bars.png")
    """
    svg = svg_of(chart)
    import vl_convert

    for path in paths:
        is_png = Path(path).suffix == ".png"
        content = bytes(vl_convert.svg_to_png(svg, ppi=_PRINT_PPI)) if is_png else svg.encode()
        write_atomically(path, partial(Path.write_bytes, data=content))


@cache  # only once: a running renderer has reserved its addresses
def _check_addresses() -> None:
    left = available_addresses()
    if left < _ADDRESSES:
        raise InputError(
            f"figures need {byte_text(_ADDRESSES)} of address space, but ulimit -v leaves "
            f"{byte_text(left)}: raise this limit"
        )
