"""Render a report as one offline page.

The constants limit how much a page shows; the page says where there is more.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from conjunct.explain import MEANINGS, count, decimal, format_share, probability
from conjunct.expressions import pattern_text
from conjunct.plots import Drawing

FINDINGS = 5  # shown at first
FINDINGS_BY_ORDER = 30
ALSO = 3  # other findings about the same columns, under a finding
CHUNKS, TAGS = 500, 300  # in the vocabulary
TABLE_ROWS = 600
HEAT_MAP = 40  # lines
GRAPH_NODES = 140
MERGES = 9
COURSE = 300  # lines, one per iteration
GROUPS = 20
EXAMPLE_ROWS = 6  # images of a finding
DETAIL_ROWS = 12
THUMBNAILS = 240
STEPS = 2000  # merges of the slider
MAP_ROWS = 1500
MAP_CELLS = 4 * 10**4  # true cells in the rows of the map
COLOURS = 8  # chunks with their own colour
NETWORK_TAGS = 40
RELATIONS = 10  # per kind
SECOND_LOOK = 8  # rows that may lack a tag, and rows with a doubtful tag
SECOND_LOOK_ROWS = 20_000
NAME_LENGTH = 120
WORDED = 60  # literals of a formula that is also written in words
FORMULA = 1000  # literals of a formula that is written out when a feature is opened
FORMULAS = 3 * 10**5  # characters of all such formulas
PATH_COLUMNS = 1500
SOLUTIONS = 2000
PATH_CELLS = 5 * 10**8  # cells read while following a path, in a few seconds
SOLUTION_COLUMNS = 10**5  # columns read while following a path
RANGES = 150  # of λ on the slider
FRONT_FEATURES = 3 * 10**4  # written out for all points of a front

_SCRIPTS = ("common.js", "findings.js", "table.js", "network.js", "steps.js", "ancestry.js")
_PLANE_SCRIPT = "plane.js"  # of the paper's rules
# the colours of charts become those of the page, for light and dark themes
_INKS = {
    **dict.fromkeys(("#000", "black", "#000000"), "currentColor"),
    "white": "var(--card)",
    "#0072b2": "var(--full)",
    "#d55e00": "var(--orange)",
    "#009e73": "var(--green)",
    "#cc79a7": "var(--pink)",
    "#e69f00": "var(--yellow)",
    "#56b4e9": "var(--sky)",
    "#9a9a9a": "var(--dot)",
    "#e6e6e6": "var(--grid)",
    "#555555": "var(--soft)",
}


def render(content: dict[str, Any], data: dict[str, Any]) -> str:
    """Render the page from the content of its sections and the data of its scripts."""
    static = resources.files("conjunct.report") / "static"
    scripts = (*_SCRIPTS, *[_PLANE_SCRIPT] * (data["plane"] is not None))
    style, script = (
        "".join((static / name).read_text(encoding="utf-8") for name in names)
        for names in (["report.css"], scripts)
    )
    # the policy allows only this style, this script and embedded images
    digests = [
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    policy = (
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    ).format(*digests)
    text = (
        _environment()
        .get_template("page.html")
        .render(
            **content,
            policy=policy,
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            data=embed(data),
        )
    )
    # a name may hold a lone surrogate, which a file cannot
    return text.encode("utf-8", "replace").decode()


def anchor_of(tags: Iterable[str]) -> str:
    """Return the anchor of a chunk or tag: ``chunk-fork%20%2B%20knife``."""
    return "chunk-" + quote(pattern_text(tuple(tags)).encode("utf-8", "replace"), safe="")


def embed(data: dict[str, Any]) -> Markup:
    """Return JSON that cannot end the script element, regardless of the names in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


@cache  # keeps the compiled templates
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("conjunct.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        optimized=False,  # templates are compiled for one page: optimizing takes longer
    )
    environment.filters.update(
        count=count, share=format_share, decimal=decimal, probability=probability, anchor=anchor_of
    )
    environment.globals.update(meanings=MEANINGS)
    return environment


def draw(drawing: Drawing) -> Markup:
    """Return a drawing as an SVG element in the colours of the page."""

    def element(tag: str, attributes: Mapping[str, object], inside: Any = "") -> Markup:
        kept = {
            k: _INKS.get(str(v).lower(), v) for k, v in attributes.items() if v not in (None, "")
        }
        text = Markup("").join(Markup(' {}="{}"').format(k, v) for k, v in kept.items())
        return Markup("<{0}{1}>{2}</{0}>\n").format(tag, text, inside)

    parts = []
    # shapes of the same look form one group, which keeps the page small
    for _, alike in groupby(drawing.shapes, lambda x: (x.fill, x.stroke, x.width, x.dash)):
        shapes = list(alike)
        first = shapes[0]
        look: dict[str, object] = {"fill": first.fill or "none", "stroke": first.stroke}
        if first.stroke:
            look |= {"stroke-width": first.width, "stroke-linecap": "round"}
            look |= {"stroke-dasharray": " ".join(map(str, first.dash))}
        paths = (
            element(
                "path", {"d": x.path, "opacity": x.opacity if x.opacity < 1 else "", **x.attributes}
            )
            for x in shapes
        )
        parts.append(element("g", look, Markup("").join(paths)))
    for (anchor, size), texts in groupby(drawing.texts, lambda x: (x.anchor, x.size)):
        lines = (
            element(
                "text",
                {"x": f"{x.x:g}", "y": f"{x.y:g}", **x.attributes}
                | ({"transform": f"rotate({x.angle} {x.x:g} {x.y:g})"} if x.angle else {}),
                x.text,
            )
            for x in texts
        )
        parts.append(
            element("g", {"text-anchor": anchor, "font-size": f"{size:g}"}, Markup("").join(lines))
        )
    box = " ".join(f"{value:g}" for value in drawing.box)
    return element("svg", {"width": f"{drawing.box[2]:g}", "viewBox": box}, Markup("").join(parts))
