"""Where features come from, as a graph from columns to features."""

from __future__ import annotations

from typing import Any

from conjunct.estimators import FeatureConstructor
from conjunct.explain import ancestry_graph, ancestry_roots
from conjunct.expressions import Expression
from conjunct.plots.style import COLOURS, GREY, chart_of, finished

_LEVEL_WIDTH, _PLACE_HEIGHT = 230, 22
_NAME_LENGTH = 30
_AFTER_NAME = 0.78  # where lines start, in levels: names stay free of them
ROLES = {"column": "column of the data", "step": "step on the way", "feature": "feature"}


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
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    feature : int, str or Expression, optional
        Only this feature: its position in ``features_``, its formula or the text of it.
    max_nodes : int, default=80
        Leave out features that would need more.
    """
    import altair as alt

    fitted = model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=model._by_pattern) or list(fitted.features)
    if feature is not None:
        roots = [model._number(feature)]
    graph = ancestry_graph(fitted, roots, max_nodes, by_pattern=model._by_pattern)
    at = {node.number: node for node in graph.nodes}
    nodes = [
        {
            "x": node.level,
            "y": node.place,
            "role": ROLES[node.role],
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
    colours = alt.Scale(domain=list(ROLES.values()), range=[GREY, COLOURS[4], COLOURS[0]])
    shapes = alt.Scale(domain=list(ROLES.values()), range=["circle", "diamond", "square"])
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
        color=alt.Color("role:N", title=None, scale=colours),
        shape=alt.Shape("role:N", title=None, scale=shapes),
    )
    names = drawn.mark_text(align="left", dx=8, fontSize=11).encode(x=x, y=y, text="name:N")
    first = "those that save most bits" if model._by_pattern else "the most common ones"
    layers = [lines, points, names] if edges else [points, names]
    return finished(
        alt.layer(*layers),
        [title, f"{first}; {graph.left_out} features are not shown"] if graph.left_out else title,
        width=_LEVEL_WIDTH * graph.n_levels,
        height=max(120, _PLACE_HEIGHT * (graph.n_places + 1)),
    )
