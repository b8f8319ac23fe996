"""Correlations before and after construction, as two heat maps of one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conjunct.columns import Columns
from conjunct.estimators import FeatureConstructor
from conjunct.plots.drawing import Drawing, Shape, Text, list_legend
from conjunct.plots.style import COLOURS, width_of
from conjunct.ufc import Floats, phi

_SIDE = 380
_NAME_LENGTH = 24
_SIGNS = "go together", "avoid each other"  # r above 0, below 0
_INKS = COLOURS[1], COLOURS[0]
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
    primitives = model.read_columns(X)
    features = model.feature_set_.evaluate(primitives)
    return draw_correlation(model, primitives, features, limit).to_chart()


def draw_correlation(
    model: FeatureConstructor, primitives: Columns, features: Columns, limit: int
) -> Drawing:
    """Draw r among columns, before, and among features, after: of many, the strongest."""
    shapes: list[Shape] = []
    texts: list[Text] = []
    left, lowest = 0.0, 0.0
    for what, store, numbers in (
        ("columns", primitives, range(primitives.n_columns)),
        ("features", features, model.feature_set_.features),
    ):
        found = correlations(store, limit)
        names = [model.label_feature(numbers[k], _NAME_LENGTH) for k in found.positions]
        n = len(names)
        step = max(8.0, _SIDE / max(n, 1))
        size = min(11, step)
        x = left + round(max((width_of(name, size) for name in names), default=0.0)) + 5
        shown = f"{n} of {found.n_columns:,}" if n < found.n_columns else str(n)
        texts.append(Text(left, -34, f"{shown} {what}", size=14))
        if n > 1:
            texts.append(Text(left, -18, f"largest r = {found.strongest:.2f}", size=14))
        for i, name in enumerate(names):
            texts.append(Text(x - 5, round(step * (i + 0.5) + 0.3 * size, 1), name, "end", size))
        paths: dict[float, str] = {}
        for i in range(n):
            for j, r in enumerate(found.r[i, :i].round(2).tolist()):
                # no colour where there is no correlation: the paper shows, whatever its colour is
                if r and r == r:
                    square = f"M{x + step * j:g} {step * i:g}h{step:g}v{step:g}h-{step:g}z"
                    paths[r] = paths.get(r, "") + square
        shapes += [
            Shape(paths[r], fill=_INKS[r < 0], opacity=abs(r), name=f"r = {r}")
            for r in sorted(paths)
        ]
        left = x + step * n + 24
        lowest = max(lowest, step * n)
    looks = {name: {"fill": ink} for name, ink in zip(_SIGNS, _INKS, strict=True)}
    scale = {f"r = {r}": {"fill": "black", "opacity": r} for r in (0.2, 0.4, 0.6, 0.8, 1)}
    for some, at, across in ((looks, 0, 130), (scale, 280, 75)):
        key = list_legend(some, at, lowest + 30, across=across)
        shapes, texts = shapes + key[0], texts + key[1]
    return Drawing((-5, -50, max(left - 14, 660), lowest + 90), shapes, texts)


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
