"""Draw the imports between the folders of conjunct into CONTRIBUTING.md.

    python tools/map.py          draw it
    python tools/map.py --check  check that the picture matches the code

Every import counts: at the top of a file, in a function, for types only.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "conjunct"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- imports: python tools/map.py -->\n", "<!-- end of imports -->\n"

Graph = dict[str, set[str]]


def parts() -> list[str]:
    """Return the folders, and the files next to them."""
    found = [
        path for path in SOURCE.iterdir() if path.name[0] not in "_." and path.suffix != ".typed"
    ]
    return sorted(path.stem for path in found)


def imports() -> Graph:
    """Return the imports of each part from other parts."""
    known = parts()
    doors = _homes_of_public_names()
    graph: Graph = {part: set() for part in known}
    for part in known:
        place = SOURCE / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
            for name in _imported(ast.parse(file.read_text(encoding="utf-8"))):
                other = doors.get(name, name)
                if other in graph and other != part:
                    graph[part].add(other)
    return graph


def _imported(tree: ast.AST) -> Iterator[str]:
    """Return the parts, or the public names, that a file imports from conjunct."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
            yield from (names[1] for names in dotted if names[0] == "conjunct" and len(names) > 1)
        elif isinstance(node, ast.ImportFrom) and node.module == "conjunct":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("conjunct."):
            yield (node.module or "").split(".")[1]


def _homes_of_public_names() -> dict[str, str]:
    door = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in door.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def levels(graph: Graph) -> list[list[str]]:
    """Return rows of parts that import only from later rows; empty if imports form a circle."""
    users = {part: {user for user in graph if part in graph[user]} for part in graph}
    order, rows = TopologicalSorter(users), []
    order.prepare()
    while order.is_active():
        rows.append(sorted(order.get_ready()))
        order.done(*rows[-1])
    return rows


def without_shortcuts(graph: Graph) -> Graph:
    """Return the arrows that do not follow from others."""

    def reached(start: str) -> set[str]:
        found = set(graph[start])
        for part in graph[start]:
            found |= reached(part)
        return found

    below = {part: reached(part) for part in graph}
    return {
        part: {
            other for other in graph[part] if all(other not in below[via] for via in graph[part])
        }
        for part in graph
    }


def drawn(graph: Graph) -> str:
    """Return the picture in the format that GitHub draws."""
    rows = levels(graph)
    arrows = without_shortcuts(graph)
    lines = [
        f"    {part} --> {other}" for row in rows for part in row for other in sorted(arrows[part])
    ]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```", ""])


def main() -> int:
    try:
        picture = drawn(imports())
    except CycleError as error:
        sys.stdout.write(f"a circle of imports: {' → '.join(error.args[1])}\n")
        return 1
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    _, tail = rest.split(END)
    now = f"{head}{BEGIN}{picture}{END}{tail}"
    if "--check" in sys.argv:
        if now != page:
            sys.stdout.write("the picture in CONTRIBUTING.md is old: run python tools/map.py\n")
        return int(now != page)
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
