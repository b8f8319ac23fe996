"""The network of tags that are in one chunk, drawn so that one can choose a tag."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from conjunct.explain import count
from conjunct.plots import Network, network_chart, network_of
from conjunct.report import limits, page
from conjunct.report.model_on_rows import ModelOnRows


@dataclass(frozen=True)
class DrawnNetwork:
    graph: Network
    picture: Markup


def network(shown: ModelOnRows) -> DrawnNetwork | None:
    """The tags that share chunks in most rows; ``None`` if none does."""
    graph = network_of(shown.model.feature_set_, limits.NETWORK_TAGS)
    if not graph.tags:
        return None
    return DrawnNetwork(graph, page.inline_svg(network_chart(graph, ""), "network", _marks(graph)))


def _marks(graph: Network) -> dict[str, dict[str, str]]:
    """What the script finds the tags and lines of the picture by."""
    names = {tag: name for tag, name, _ in graph.tags}
    near: dict[int, list[tuple[int, str]]] = {tag: [] for tag in names}
    marks = {}
    for one, other, rows in graph.links:
        near[one].append((rows, names[other]))
        near[other].append((rows, names[one]))
        marks[f"link {one} {other}"] = {"class": "link", "data-a": str(one), "data-b": str(other)}
    for k, (tag, name) in enumerate(names.items()):
        others = sorted(near[tag], key=lambda link: (-link[0], link[1]))
        with_most = ", ".join(f"{other} ({count(rows, 'row')})" for rows, other in others[:6])
        more = f" and {len(others) - 6} more" if len(others) > 6 else ""
        said = f"{name} is in one chunk with {with_most}{more}"
        marks[f"tag {tag}"] = {
            "class": "tagged",
            "data-t": str(tag),
            "data-said": said,
            "role": "button",
            "tabindex": "-1" if k else "0",
            "aria-label": said,
        }
        marks[f"name {tag}"] = {"class": "tag-name", "data-t": str(tag)}
    return marks
