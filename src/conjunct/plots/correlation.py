"""Correlations before and after construction, as two heat maps of one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjunct.columns import Columns
from conjunct.estimators import FeatureConstructor
from conjunct.plots.style import COLOURS, apply_style, chart_of, load_altair
from conjunct.ufc import Floats, phi

_SIDE = 380
_NAME_LENGTH = 24
_SIGNS = "go together", "avoid each other"  # r above 0, below 0
# of more columns only the most common ones are counted
_MOST_COUNTED = 1000


def plot_correlation(model: FeatureConstructor, X: Any, *, limit: int = 40) -> Any:
    """Draw Pearson's r between the columns of ``X`` (before) and between features (after).

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    X : array, data frame, sparse matrix or list of baskets
        The data of ``fit``, or other rows with the same columns.
    limit : int, default=40
        Of more columns, those with the strongest correlations are shown, and the title says so.

    Examples
    --------
    >>> from conjunct import UFC, datasets, plots
    >>> animals = datasets.load_zoo().values
    >>> chart = plots.plot_correlation(UFC().fit(animals), animals)
    """
    alt = load_altair()

    primitives = model.read_columns(X)
    features = model.feature_set_.evaluate(primitives)
    maps = map(_draw, heat_maps(model, primitives, features, limit))
    return apply_style(alt.hconcat(*maps, spacing=24))


@dataclass(frozen=True)
class HeatMap:
    """Correlations to draw: ``cells`` are (line, column, r) below the diagonal, r not 0.

    ``step`` is the width of a cell in pixels.
    """

    title: tuple[str, str]
    names: tuple[str, ...]
    cells: tuple[tuple[int, int, float], ...]
    step: float


def heat_maps(
    model: FeatureConstructor, primitives: Columns, features: Columns, limit: int
) -> tuple[HeatMap, HeatMap]:
    """Return the heat maps of columns, before, and of features, after: of many, the strongest."""
    fitted = model.feature_set_
    return (
        _heat_map(model, "columns", primitives, range(primitives.n_columns), limit),
        _heat_map(model, "features", features, fitted.features, limit),
    )


def _heat_map(
    model: FeatureConstructor, what: str, store: Columns, numbers: Sequence[int], limit: int
) -> HeatMap:
    found = correlations(store, limit)
    names = tuple(model.label_feature(numbers[k], _NAME_LENGTH) for k in found.positions)
    n = len(names)
    shown = f"{n} of {found.n_columns:,}" if n < found.n_columns else str(n)
    title = f"{shown} {what}", f"largest r = {found.strongest:.2f}" if n > 1 else ""
    cells = tuple(
        (i, j, r)
        for i in range(n)
        for j, r in enumerate(found.r[i, :i].round(2).tolist())
        if r and r == r
    )
    return HeatMap(title, names, cells, max(8.0, _SIDE / max(n, 1)))


def _draw(found: HeatMap) -> Any:
    alt = load_altair()

    n, step = len(found.names), found.step
    # lines go by number, because names may be anything
    cells = [
        {"line": i, "column": j, "r": abs(r), "sign": _SIGNS[r < 0]} for i, j, r in found.cells
    ]
    side = step * max(n, 1)
    line = alt.Y("line:O", axis=None, scale=alt.Scale(domain=list(range(n)), padding=0))
    squares = (
        chart_of(cells)
        .mark_rect(aria=False)
        .encode(
            x=alt.X("column:O", axis=None, scale=alt.Scale(domain=list(range(n)), padding=0)),
            y=line,
            # no colour where there is no correlation: the paper shows, whatever its colour is
            color=alt.Color(
                "sign:N",
                title=None,
                scale=alt.Scale(domain=list(_SIGNS), range=[COLOURS[1], COLOURS[0]]),
                legend=alt.Legend(orient="bottom"),
            ),
            opacity=alt.Opacity(
                "r:Q",
                title="r",
                scale=alt.Scale(domain=[0, 1], range=[0, 1]),
                legend=alt.Legend(
                    orient="bottom", values=[0.2, 0.4, 0.6, 0.8, 1], symbolType="square"
                ),
            ),
        )
    )
    lines = [{"line": k, "name": name} for k, name in enumerate(found.names)]
    texts = (
        chart_of(lines)
        .mark_text(align="right", dx=-5, fontSize=min(11, step), aria=False)
        .encode(x=alt.value(0), y=line, text="name:N")
    )
    return alt.layer(squares, texts).properties(title=list(found.title), width=side, height=side)


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's r among some columns: 1 on the diagonal, NaN where one of two does not vary.

    ``positions`` are those shown, of ``n_columns``; ``strongest`` is the largest r between two.
    """

    positions: tuple[int, ...]
    n_columns: int
    r: Floats
    strongest: float


def correlations(store: Columns, limit: int) -> Correlations:
    """Return r among the ``limit`` columns with the strongest correlations, in their order."""
    common = np.sort(np.argsort(-store.supports(), kind="stable")[:_MOST_COUNTED])
    chosen = store.with_raw_columns([store.raw_columns[k] for k in common])
    n = chosen.n_columns
    left, right = np.triu_indices(n, 1)
    r = np.ones((n, n))
    r[left, right] = r[right, left] = phi(*chosen.pair_counts().for_pairs(left, right).table)
    strength = np.where(np.isnan(r), -1.0, np.abs(r))
    np.fill_diagonal(strength, -1.0)
    linked = strength.max(axis=1, initial=-1.0)
    shown = np.sort(np.argsort(-linked, kind="stable")[:limit])
    above = r[np.triu_indices(len(r), 1)]
    return Correlations(
        tuple(int(common[k]) for k in shown),
        store.n_columns,
        r[np.ix_(shown, shown)],
        float(np.max(above[~np.isnan(above)], initial=-1.0)),
    )
