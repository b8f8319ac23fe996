"""How stable features are, in one picture."""

from __future__ import annotations

from typing import Any, Protocol

from conjunct.plots.style import above, beside


class Found(Protocol):
    """What :func:`conjunct.stability` gives."""

    @property
    def kind(self) -> str: ...

    def plot_indicators(self) -> Any: ...

    def plot_features(self) -> Any: ...

    def plot_recurrence(self, limit: int = 25) -> Any: ...


def plot_stability(found: Found, *, limit: int = 25) -> Any:
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
