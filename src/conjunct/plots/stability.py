"""How stable features are, in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from conjunct.plots.style import COLOURS, GREY, above, beside, chart_of, finished


class StabilityFound(Protocol):
    """What :func:`conjunct.stability` gives."""

    @property
    def kind(self) -> str: ...

    def plot_indicators(self) -> Any: ...

    def plot_features(self) -> Any: ...

    def plot_recurrence(self, limit: int = 25) -> Any: ...


def plot_stability(found: StabilityFound, *, limit: int = 25) -> Any:
    """Which features came back and, under noise, the indicators by noise (the paper's figure 12).

    Parameters
    ----------
    found : Stability
        What :func:`conjunct.stability` gave.
    limit : int, default=25
        Number of features shown, those that come back most often first.
    """
    recurring = found.plot_recurrence(limit)
    if found.kind != "noise":
        return recurring
    return above(beside(found.plot_indicators(), found.plot_features()), recurring)


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
