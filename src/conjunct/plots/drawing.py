"""Drawings in pixels: each picture is drawn once, for Altair charts and for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from conjunct.plots.style import COLOURS, GREY, chart_of, finish, load_altair

Anchor = Literal["start", "middle", "end"]

_ALIGN: dict[Anchor, str] = {"start": "left", "middle": "center", "end": "right"}
# curves differ without colour too: a circle, a square and a triangle
SYMBOLS = (
    "m-3.5 0a3.5 3.5 0 1 1 7 0a3.5 3.5 0 1 1-7 0z",
    "m-3 -3h6v6h-6z",
    "m0 -3.5l3.5 6h-7z",
)


@dataclass(frozen=True)
class Shape:
    """A path, as in SVG.

    ``name`` is what a chart calls it. ``attributes`` are what the script of a page needs.
    """

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
    """A line of text from ``x`` on, to it or around it; ``angle`` in degrees, clockwise."""

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
    """Shapes with texts on them, in the rectangle ``left, top, width, height``."""

    box: tuple[float, float, float, float]
    shapes: Sequence[Shape]
    texts: Sequence[Text]

    def to_chart(self, title: str | list[str] = "") -> Any:
        """Return the drawing as an Altair chart, with the names of marks as descriptions."""
        alt = load_altair()
        left, top, width, height = self.box

        def rows(marks: Sequence[Shape] | Sequence[Text]) -> Any:
            return chart_of([{**asdict(mark), "attributes": None} for mark in marks])

        # Vega multiplies the path of a symbol by half of the root of its size: 4 keeps it
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
        return finish(alt.layer(*layers), title, width=width, height=height)


def list_legend(
    entries: Mapping[str, Mapping[str, Any]], x: float, y: float, *, across: float
) -> tuple[list[Shape], list[Text]]:
    """Return a line of squares with their meanings; the keys are texts, the values are looks."""
    shapes, texts = [], []
    for k, (text, look) in enumerate(entries.items()):
        at = round(x + across * k, 1)
        shapes.append(Shape(f"M{at} {y - 10}h12v12h-12z", **look))
        texts.append(Text(at + 17, y, text))
    return shapes, texts


ROLES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "column": ("column of the data", {"stroke": GREY}),
    "step": ("step on the way", {"stroke": COLOURS[4], "dash": (6, 3)}),
    "feature": ("feature", {"stroke": COLOURS[0]}),
}
