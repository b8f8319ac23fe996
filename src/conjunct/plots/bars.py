"""Named shares as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conjunct.plots.style import COLOURS, GREY, chart_of, finished


def plot_bars(rows: Sequence[tuple[str, float, bool]], *, title: str, x_title: str) -> Any:
    """Bars of (name, share, whether it was there in the first place), longest first."""
    import altair as alt

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
    return finished(bars + names, title, width=300, height=18 * max(len(rows), 1))
