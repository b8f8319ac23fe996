"""How charts look, and how they become files: black on white, and the same bytes on every run."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from conjunct.errors import InputError
from conjunct.files import write_atomically
from conjunct.memory import available_addresses, byte_text

# distinct for people who do not see all colours, and in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 3])
GREY = "#9a9a9a"

Row = Mapping[str, Any]

_INSTALL = "pip install altair vl-convert-python"


def load_altair() -> Any:
    """Return the library of charts, which an extra installs."""
    try:
        import altair
    except ImportError:
        raise InputError(f"charts need Altair: {_INSTALL}") from None
    return altair


def chart_of(rows: Sequence[Row]) -> Any:
    """Return an empty chart that holds its rows."""
    alt = load_altair()

    # as text: Altair copies a chart deeply, again and again, and would copy every row each time
    values = json.dumps([dict(row) for row in rows], ensure_ascii=False)
    return alt.Chart(alt.InlineData(values=values, format={"type": "json"}))


def finish(
    chart: Any,
    title: str | list[str],
    *,
    width: float = 380,
    height: float = 300,
    lines_only: bool = False,
) -> Any:
    """Return the chart with its size, its title and the house style.

    ``lines_only``: the legend shows strokes. Otherwise it shows marks, without a dashed outline.
    """
    return apply_style(
        chart.properties(title=title, width=width, height=height), lines_only=lines_only
    )


def apply_style(chart: Any, *, lines_only: bool = False) -> Any:
    """Return a chart, or several in one, with the house style."""
    return (
        chart.configure(background="white", font="DejaVu Sans, Arial, sans-serif")
        .configure_title(fontSize=14, anchor="start", fontWeight="normal", offset=12)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=13,
            titleFontWeight="normal",
            gridColor="#e6e6e6",
            domainColor="#555555",
            tickColor="#555555",
            labelFlush=False,
        )
        .configure_legend(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            symbolSize=90,
            symbolOpacity=1,
            symbolStrokeWidth=2 if lines_only else 0.01,
            labelLimit=320,
        )
        .configure_view(stroke=None)
    )


def beside(*charts: Any) -> Any:
    """Put finished charts side by side, each with its legend."""
    alt = load_altair()

    return _concatenate(alt.hconcat, charts)


def above(*charts: Any) -> Any:
    """Put finished charts below each other, each with its legend."""
    alt = load_altair()

    return _concatenate(alt.vconcat, charts)


def _concatenate(join: Any, charts: Sequence[Any]) -> Any:
    alt = load_altair()

    plain = [chart.copy() for chart in charts]
    for chart in plain:  # only a whole may be configured
        chart.config = alt.Undefined
    own = dict.fromkeys(("color", "shape", "strokeDash"), "independent")
    return apply_style(join(*plain, spacing=30).resolve_scale(**own))


_PRINT_PPI = 200
# Addresses that the renderer reserves when it starts; without them, it ends the process.
_ADDRESSES = 70 * 10**9


# the renderer numbers these across charts
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

    # its parts were checked when they were made
    svg = str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False)))
    numbers: dict[str, int] = {}
    return _NUMBERED_ID.sub(
        lambda found: found[1] + str(numbers.setdefault(found[2], len(numbers))), svg
    )


def save_chart(chart: Any, *paths: str | os.PathLike[str]) -> None:
    """Write the chart as ``.svg`` or ``.png``; the endings of the paths say which.

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


@cache  # a renderer that has started has its addresses
def _check_addresses() -> None:
    left = available_addresses()
    if left < _ADDRESSES:
        raise InputError(
            f"figures need {byte_text(_ADDRESSES)} of addresses, though little memory, "
            f"and ulimit -v leaves {byte_text(left)}: raise it, or do without them"
        )


_NARROW = frozenset("fijlrtI.,:;'!|()[] ")
_BROAD = frozenset("mwMW@%+∧∨¬")


def width_of(text: str, size: float) -> float:
    """Estimate the width of a text in pixels; the browser chooses the font."""
    return size * sum(map(_width, text))


def cut_to(text: str, width: float, size: float) -> str:
    """Return the text, cut with an ellipsis where it would be wider."""
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
