"""Where features come from, as a graph from columns to features."""

from __future__ import annotations

from typing import Any

from conjunct.estimators.base import FeatureConstructor
from conjunct.expressions import Expression
from conjunct.plots.style import COLOURS, GREY, chart_of, finished
from conjunct.reading import ancestry_graph, made_features

_LEVEL_WIDTH, _PLACE_HEIGHT = 230, 22
_NAME_LENGTH = 30
_AFTER_NAME = 0.78  # where lines start, in levels: names stay free of them
KINDS = {"column": "column of the data", "step": "step on the way", "feature": "feature"}


def plot_ancestry(
    model: FeatureConstructor,
    feature: int | str | Expression | None = None,
    *,
    max_nodes: int = 80,
    title: str = "How columns became features (dashed: negated)",
) -> Any:
    """How the columns of the data became features, from left to right.

    A dashed line is a negation. Of many features, the most common ones are shown. A model by bits
    is shown by patterns: which tags were joined, what saved most bits first.

    Parameters
    ----------
    model : UFC, UFCPath, UFringe or Fringe
        Fitted.
    feature : int, str or Expression, optional
        Only this feature: its position in ``features_``, its formula or the text of it.
    max_nodes : int, default=80
        Leave out features that would need more.
    """
    import altair as alt

    fitted = model.feature_set_
    roots = _roots(model, feature)
    graph = ancestry_graph(fitted, roots, max_nodes, by_pattern=model._by_pattern)
    at = {node.number: node for node in graph.nodes}
    nodes = [
        {
            "x": node.level,
            "y": node.place,
            "kind": KINDS[node.kind],
            "name": model._label(node.number, _NAME_LENGTH, whole=True),
        }
        for node in graph.nodes
    ]
    edges = [
        {
            "x": at[edge.parent].level + _AFTER_NAME,
            "y": at[edge.parent].place,
            "x2": at[edge.child].level,
            "y2": at[edge.child].place,
            "sign": "negated" if edge.negated else "as it is",
        }
        for edge in graph.edges
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.05, graph.n_levels - 0.2], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[graph.n_places, -1], nice=False))
    kinds = alt.Scale(domain=list(KINDS.values()), range=[GREY, COLOURS[4], COLOURS[0]])
    shapes = alt.Scale(domain=list(KINDS.values()), range=["circle", "diamond", "square"])
    dashes = alt.Scale(domain=["as it is", "negated"], range=[[1, 0], [4, 3]])
    lines = (
        chart_of(edges)
        .mark_rule(color=GREY, opacity=0.7)
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            strokeDash=alt.StrokeDash("sign:N", scale=dashes, legend=None),
        )
    )
    drawn = chart_of(nodes)
    points = drawn.mark_point(size=60, filled=True, opacity=1).encode(
        x=x,
        y=y,
        color=alt.Color("kind:N", title=None, scale=kinds),
        shape=alt.Shape("kind:N", title=None, scale=shapes),
    )
    names = drawn.mark_text(align="left", dx=8, fontSize=11).encode(x=x, y=y, text="name:N")
    layers = [lines, points, names] if edges else [points, names]
    return finished(
        alt.layer(*layers),
        _noted(title, graph.left_out),
        width=_LEVEL_WIDTH * graph.n_levels,
        height=max(120, _PLACE_HEIGHT * (graph.n_places + 1)),
    )


def _roots(model: FeatureConstructor, feature: int | str | Expression | None) -> list[int]:
    fitted = model.feature_set_
    if feature is not None:
        return [(fitted.features + fitted.suppressed)[fitted.position(feature)]]
    return made_features(fitted, by_pattern=model._by_pattern) or list(fitted.features)


def _noted(title: str, left_out: int) -> str | list[str]:
    if not left_out:
        return title
    return [title, f"the most common ones; {left_out} features are not shown"]
