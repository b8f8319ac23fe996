"""A tree as text and as a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from conjunct.trees import Tree


def tree_text(tree: Tree, conditions: Sequence[str]) -> str:
    """A line for each node: its condition, its number of rows and, for a leaf, its cluster."""
    cluster = {leaf: k for k, leaf in enumerate(tree.leaves)}
    lines = []
    pending = [(0, "", "")]
    while pending:
        number, stem, below = pending.pop()
        node = tree.nodes[number]
        line = f"{stem}{conditions[number]}: {node.n_rows}"
        lines.append(f"{line} → cluster {cluster[number]}" if number in cluster else line)
        if node.column is not None:
            pending.append((node.no, f"{below}└─ ", f"{below}   "))
            pending.append((node.yes, f"{below}├─ ", f"{below}│  "))
    return "\n".join(lines)


def tree_chart(tree: Tree, conditions: Sequence[str]) -> Any:
    """An Altair chart: nodes as dots as large as their share of rows, leaves on the right."""
    try:
        import altair as alt
    except ImportError:
        raise ImportError("a picture of the tree needs Altair: pip install altair") from None
    heights = _heights(tree)
    nodes = [_drawn(tree, number, conditions, heights) for number in range(len(tree.nodes))]
    links = [
        {"x": len(node.path), "y": heights[k], "x2": len(node.path) + 1, "y2": heights[child]}
        for k, node in enumerate(tree.nodes)
        if node.column is not None
        for child in (node.yes, node.no)
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, tree.depth + 1]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(reverse=True))
    base = alt.Chart(alt.InlineData(values=nodes)).encode(x=x, y=y)
    rules = (
        alt.Chart(alt.InlineData(values=links))
        .mark_rule(color="#bbb")
        .encode(x, y, x2="x2", y2="y2")
    )
    dots = base.mark_circle(opacity=1).encode(
        size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[20, 400])),
        color=alt.Color("kind:N", legend=None),
        tooltip=[alt.Tooltip(f"{field}:N") for field in ("condition", "rows", "gain", "cluster")],
    )
    leaf_labels = _labels(base, "cluster").mark_text(align="left", dx=10, limit=220)
    split_labels = _labels(base, "split").mark_text(dy=-16, limit=160)
    return (
        alt.layer(rules, dots, leaf_labels, split_labels)
        .properties(width=170 * (tree.depth + 1), height=max(60, 24 * len(tree.leaves)))
        .configure_view(stroke=None)
    )


def _labels(base: Any, kind: str) -> Any:
    return base.transform_filter(f"datum.kind === '{kind}'").encode(text="label:N")


def _heights(tree: Tree) -> list[float]:
    """Leaves one below the other; every other node between its two children."""
    heights = [0.0] * len(tree.nodes)
    for k, leaf in enumerate(tree.leaves):
        heights[leaf] = float(k)
    for number in reversed(range(len(tree.nodes))):
        node = tree.nodes[number]
        if node.column is not None:
            heights[number] = (heights[node.yes] + heights[node.no]) / 2
    return heights


def _drawn(
    tree: Tree, number: int, conditions: Sequence[str], heights: Sequence[float]
) -> dict[str, Any]:
    node = tree.nodes[number]
    is_leaf = node.column is None
    condition = _harmless(conditions[number])
    label = f"{condition} ({node.n_rows})"
    cluster = tree.leaves.index(number) if is_leaf else None
    return {
        "x": len(node.path),
        "y": heights[number],
        "condition": condition,
        "rows": node.n_rows,
        "gain": None if is_leaf else round(node.gain, 3),
        "kind": "cluster" if is_leaf else "split",
        "cluster": cluster,
        "label": f"{label} → cluster {cluster}" if is_leaf else label,
    }


def _harmless(text: str) -> str:
    # Altair writes names as they are into the script of a page, which "</script>" would end
    return re.sub("<(?=[/!])", "‹", text)
