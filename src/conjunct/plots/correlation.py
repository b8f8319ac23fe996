"""Correlations before and after construction, as two heat maps of one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjunct.columns import Columns
from conjunct.estimators import FeatureConstructor
from conjunct.plots.style import COLOURS, chart_of, styled
from conjunct.ufc import Floats, phi

_SIDE = 380
_NAME_LENGTH = 24
_SIGNS = "go together", "avoid each other"  # r above 0, below 0
# of very many columns only the most common ones are looked at
_MOST_COUNTED = 1000


def plot_correlation(model: FeatureConstructor, X: Any, *, limit: int = 40) -> Any:
    """Pearson's r between the columns of ``X`` (before) and between the features (after).

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    X : array, data frame, sparse matrix or list of baskets
        The data of ``fit``, or other rows with the same columns.
    limit : int, default=40
        Of more columns, those with the strongest correlations are shown, and it is said so.
    """
    store = model._read(X)
    return correlation_of(model, store, model.feature_set_.evaluate(store), limit)


def correlation_of(
    model: FeatureConstructor, primitives: Columns, features: Columns, limit: int
) -> Any:
    """As :func:`plot_correlation`, on columns that are packed already."""
    import altair as alt

    fitted = model.feature_set_
    before = correlations(primitives, limit)
    after = correlations(features, limit)
    maps = (
        _heat_map("columns", before, _names(model, before.positions)),
        _heat_map("features", after, _names(model, [fitted.features[k] for k in after.positions])),
    )
    return styled(alt.hconcat(*maps, spacing=24))


def _names(model: FeatureConstructor, numbers: Sequence[int]) -> list[str]:
    return [model._label(number, _NAME_LENGTH) for number in numbers]


def _heat_map(what: str, found: Correlations, names: Sequence[str]) -> Any:
    import altair as alt

    n = len(names)
    # the lower half: the other one says the same. Lines go by number, for names may be anything
    cells = [
        {"line": i, "column": j, "r": abs(r), "sign": _SIGNS[r < 0]}
        for i in range(n)
        for j in range(i)
        if found.r[i, j] == found.r[i, j]
        if (r := round(float(found.r[i, j]), 2))
    ]
    step = max(8.0, _SIDE / max(n, 1))
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
    labelled = [{"line": k, "name": name} for k, name in enumerate(names)]
    texts = (
        chart_of(labelled)
        .mark_text(align="right", dx=-5, fontSize=min(11, step), aria=False)
        .encode(x=alt.value(0), y=line, text="name:N")
    )
    shown = f"{n} of {found.n_columns}" if n < found.n_columns else str(n)
    title = [f"{shown} {what}", f"largest r = {found.strongest:.2f}" if n > 1 else ""]
    return alt.layer(squares, texts).properties(title=title, width=side, height=side)


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
    """Among the ``limit`` columns with the strongest correlations, in the order of the store."""
    common = np.sort(np.argsort(-store.supports(), kind="stable")[:_MOST_COUNTED])
    r = _matrix(store.with_lines([store.lines[k] for k in common]))
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


def _matrix(store: Columns) -> Floats:
    n = store.n_columns
    left, right = np.triu_indices(n, 1)
    between = phi(*store.pair_counts().for_pairs(left, right).table)
    r = np.ones((n, n))
    r[left, right] = r[right, left] = between
    return r
