"""Where features come from, as a graph from columns to features."""

from __future__ import annotations

from typing import Any

from conjunct.estimators import FeatureConstructor
from conjunct.explain import AncestryGraph, ancestry_graph, ancestry_roots
from conjunct.expressions import Expression
from conjunct.plots.style import COLOURS, GREY, chart_of, finished

_BOX_WIDTH, _BOX_HEIGHT = 216, 26
_LEVEL_WIDTH, _PLACE_HEIGHT = 292, 34
_BEND = 24  # of a line, before it leaves the height of its box
_MARGIN = 8
_NAME_LENGTH = 40
ROLES = {"column": "column of the data", "step": "step on the way", "feature": "feature"}


def plot_ancestry(
    model: FeatureConstructor,
    feature: int | str | Expression | None = None,
    *,
    max_nodes: int = 80,
    title: str = "How columns became features (dashed: negated)",
) -> Any:
    """How the columns of the data became features, from left to right.

    A dashed line is a negation. Of many features, the most common ones are shown. A model by
    evidence or bits is shown by patterns: which tags were joined, the most evidence first.

    Parameters
    ----------
    model : UFC, UFCPath, UFringe, Fringe, CAT, ID2of3 or XofN
        Fitted.
    feature : int, str or Expression, optional
        Only this feature: its position in ``features_``, its formula or the text of it.
    max_nodes : int, default=80
        Leave out features that would need more.
    """
    fitted = model.feature_set_
    roots = ancestry_roots(fitted, by_pattern=model._by_pattern) or list(fitted.features)
    if feature is not None:
        roots = [model._number(feature)]
    graph = ancestry_graph(fitted, roots, max_nodes, by_pattern=model._by_pattern)
    first = "the strongest ones" if model._by_pattern else "the most common ones"
    left_out = f"{first}; {graph.left_out} features are not shown"
    return ancestry_of(model, graph, [title, left_out] if graph.left_out else title)


def ancestry_of(model: FeatureConstructor, graph: AncestryGraph, title: str | list[str]) -> Any:
    """The picture of a graph of ancestry.

    The descriptions of marks say which they are: ``node 5`` for a box, ``name 5`` for the name in
    it, ``edge 3 5`` for the line from the box of feature 3 to that of feature 5.
    """
    import altair as alt

    corner = {
        node.number: (_LEVEL_WIDTH * node.level, _PLACE_HEIGHT * node.place) for node in graph.nodes
    }
    width = _LEVEL_WIDTH * (graph.n_levels - 1) + _BOX_WIDTH
    height = _PLACE_HEIGHT * (graph.n_places - 1) + _BOX_HEIGHT
    nodes = [
        {
            "mark": f"node {node.number}",
            "text": f"name {node.number}",
            "x": corner[node.number][0],
            "y": corner[node.number][1],
            "right": corner[node.number][0] + _BOX_WIDTH,
            "bottom": corner[node.number][1] + _BOX_HEIGHT,
            "middle": corner[node.number][1] + _BOX_HEIGHT / 2,
            "role": ROLES[node.role],
            "name": model._label(node.number, _NAME_LENGTH, whole=True),
        }
        for node in graph.nodes
    ]
    lines = [
        {
            "mark": f"edge {edge.parent} {edge.child}",
            "x": x,
            "y": y + _BOX_HEIGHT / 2,
            "step": step,
            "sign": "negated" if edge.negated else "as it is",
        }
        for edge in graph.edges
        for step, (x, y) in enumerate(_way(corner[edge.parent], corner[edge.child]))
    ]
    roles = list(ROLES.values())
    across, down = [-_MARGIN, width + _MARGIN], [height + _MARGIN, -_MARGIN]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=across, nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=down, nice=False))
    key = alt.Legend(title=None, orient="top")
    drawn = chart_of(nodes)
    layers = [
        drawn.mark_bar(cornerRadius=6, fill="white", strokeWidth=1.6).encode(
            x=x,
            y=y,
            x2="right:Q",
            y2="bottom:Q",
            description="mark:N",
            stroke=alt.Stroke(
                "role:N",
                legend=key,
                scale=alt.Scale(domain=roles, range=[GREY, COLOURS[4], COLOURS[0]]),
            ),
            strokeDash=alt.StrokeDash(
                "role:N", legend=key, scale=alt.Scale(domain=roles, range=[[1, 0], [6, 3], [1, 0]])
            ),
        ),
        drawn.mark_text(align="left", dx=9, fontSize=12, limit=_BOX_WIDTH - 16).encode(
            x=x, y="middle:Q", text="name:N", description="text:N"
        ),
    ]
    if lines:
        curves = chart_of(lines).mark_line(
            interpolate="monotone", color=GREY, strokeWidth=1.3, opacity=0.7
        )
        dashes = alt.Scale(domain=["as it is", "negated"], range=[[1, 0], [5, 4]])
        layers.insert(
            0,
            curves.encode(
                x=x,
                y=y,
                order="step:Q",
                detail="mark:N",
                description="mark:N",
                strokeDash=alt.StrokeDash("sign:N", scale=dashes, legend=None),
            ),
        )
    chart = alt.layer(*layers).resolve_scale(strokeDash="independent")
    return finished(
        chart, title, width=width + 2 * _MARGIN, height=height + 2 * _MARGIN, lines_only=True
    )


def _way(parent: tuple[float, float], child: tuple[float, float]) -> list[tuple[float, float]]:
    """From the right end of one box to the left end of the other; level at both ends."""
    start, end = parent[0] + _BOX_WIDTH, child[0]
    return [
        (start, parent[1]),
        (start + _BEND, parent[1]),
        (end - _BEND, child[1]),
        (end, child[1]),
    ]
