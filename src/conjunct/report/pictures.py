"""Charts as SVG inside the page: no address, no style, nothing but shapes and text."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from conjunct.plots import svg_of

_ELEMENTS = frozenset(
    {
        "circle",
        "clipPath",
        "defs",
        "g",
        "line",
        "linearGradient",
        "path",
        "rect",
        "stop",
        "svg",
        "text",
        "tspan",
    }
)
_ATTRIBUTES = frozenset(
    {
        "class",
        "clip-path",
        "cx",
        "cy",
        "d",
        "dx",
        "dy",
        "fill",
        "fill-opacity",
        "font-size",
        "font-style",
        "font-weight",
        "gradientUnits",
        "height",
        "id",
        "offset",
        "opacity",
        "r",
        "stop-color",
        "stroke",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-linecap",
        "stroke-miterlimit",
        "stroke-opacity",
        "stroke-width",
        "text-anchor",
        "transform",
        "viewBox",
        "width",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
        "y2",
    }
)
_REFERENCE = re.compile(r"url\(#([\w-]+)\)")
_BLACK = {"#000", "black", "#000000"}


def inline_svg(chart: Any, name: str) -> Markup:
    """The chart as an element of the page; ``name`` sets its ids apart from those of others."""
    # it was written by the renderer just now; what names from data became in it is text
    root = ElementTree.fromstring(svg_of(chart))  # noqa: S314
    _tidied(root, name)
    root.attrib.pop("height", None)
    root.set("aria-hidden", "true")  # the figure around it says what it shows
    # the first rectangle is the paper, which the page has
    if len(root) and root[0].tag == "rect":
        root.remove(root[0])
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704


def _tidied(element: ElementTree.Element, name: str) -> None:
    element.tag = element.tag.rpartition("}")[2]
    kept = {k: v for k, v in element.attrib.items() if k in _ATTRIBUTES}
    if "id" in kept:
        kept["id"] = f"{name}-{kept['id']}"
    for key, value in kept.items():
        if "url(" in value:
            kept[key] = _REFERENCE.sub(rf"url(#{name}-\1)", value)
    if kept.get("fill") in _BLACK:
        kept["fill"] = "currentColor"
    element.attrib.clear()
    element.attrib.update(kept)
    for child in list(element):
        if child.tag.rpartition("}")[2] in _ELEMENTS:
            _tidied(child, name)
        else:
            element.remove(child)
