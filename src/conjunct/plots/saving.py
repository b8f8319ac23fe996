"""Charts as files: SVG and PNG, the same bytes on every run."""

from __future__ import annotations

import os
import re
from functools import cache, partial
from pathlib import Path
from typing import Any

from conjunct.errors import InputError
from conjunct.files import write_atomically
from conjunct.memory import available_addresses, byte_text

_PRINT_PPI = 200
# What the renderer reserves when it starts, of which it uses little; without, it ends the process.
_ADDRESSES = 70 * 10**9


# the renderer counts these on from one chart to the next
_COUNTED = re.compile(r'((?:id="|="url\(#)(?:clip|gradient_))(\d+)')


def svg_of(chart: Any) -> str:
    """The chart as SVG."""
    _check_addresses()
    import vl_convert

    # its parts were checked when they were made
    svg = str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False)))
    numbers: dict[str, int] = {}
    return _COUNTED.sub(
        lambda found: found[1] + str(numbers.setdefault(found[2], len(numbers))), svg
    )


def save_chart(chart: Any, *paths: str | os.PathLike[str]) -> None:
    """Write the chart as ``.svg`` or ``.png``; the endings of the paths say which."""
    import vl_convert

    svg = svg_of(chart)
    for path in paths:
        is_png = Path(path).suffix == ".png"
        content = bytes(vl_convert.svg_to_png(svg, ppi=_PRINT_PPI)) if is_png else svg.encode()
        write_atomically(path, partial(_write, content=content))


def _write(part: Path, content: bytes) -> None:
    part.write_bytes(content)


@cache  # once it has started, it has what it needs
def _check_addresses() -> None:
    left = available_addresses()
    if left < _ADDRESSES:
        raise InputError(
            f"reports and figures need {byte_text(_ADDRESSES)} of addresses, though little memory, "
            f"and ulimit -v leaves {byte_text(left)}: raise it, or do without them"
        )
