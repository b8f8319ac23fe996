"""Charts as files: SVG and PNG, the same bytes on every run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from conjunct.io.atomic import write_atomically

_PRINT_PPI = 200


def svg_of(chart: Any) -> str:
    """The chart as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_specification(chart)))


def save_chart(chart: Any, path: str | os.PathLike[str]) -> None:
    """Write the chart as ``.svg`` or ``.png``; the ending of the path says which."""
    import vl_convert

    target = Path(path)
    if target.suffix == ".png":
        content = bytes(vl_convert.vegalite_to_png(_specification(chart), ppi=_PRINT_PPI))
    else:
        content = svg_of(chart).encode()
    write_atomically(target, lambda part: part.write_bytes(content))


def _specification(chart: Any) -> dict[str, Any]:
    specification: dict[str, Any] = chart.to_dict()
    return specification
