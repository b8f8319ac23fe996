"""One offline page: templates filled in, style and script inside, a policy against all else."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from conjunct.report import ancestry, numbers, plane

_SCRIPTS = ("common.js", "table.js", "plane.js", "ancestry.js")


def render(content: dict[str, Any], data: dict[str, Any]) -> str:
    """The page for the content of its sections, and the data that its scripts read."""
    style = _static("report.css")
    script = "".join(map(_static, _SCRIPTS))
    page = _environment().get_template("page.html")
    text = page.render(
        **content,
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        data=embedded(data),
    )
    # a name may hold a lone surrogate, which a file cannot
    return text.encode("utf-8", "replace").decode()


def policy(style: str, script: str) -> str:
    """Nothing from anywhere, but this style, this script and images within the page."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'"
    )


def embedded(data: dict[str, Any]) -> Markup:
    """JSON that no name can end or escape from, whatever it holds."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _static(name: str) -> str:
    return (resources.files("conjunct.report") / "static" / name).read_text(encoding="utf-8")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("conjunct.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=numbers.count,
        share=numbers.share,
        decimal=numbers.decimal,
        probability=numbers.probability,
    )
    environment.globals.update(
        plane_size=(plane.WIDTH, plane.HEIGHT),
        node_size=(ancestry.NODE_WIDTH, ancestry.NODE_HEIGHT),
    )
    return environment
