"""What the documentation site is made of: navigation, links, pictures, names."""

import ast
import importlib
import inspect
import re
import runpy
import tomllib
import typing
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import conjunct
from conjunct.cli.app import application

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")
API = re.compile(r"^(?:\.\. currentmodule:: |   )(\w\S+)$", re.MULTILINE)


def entries():
    """The pages that the navigation names, in its order."""
    for tree in TOCTREE.findall((DOCS / "index.md").read_text(encoding="utf-8")):
        for line in tree.splitlines():
            if line and not line.startswith(":"):
                yield re.sub(r".*<(.*)>", r"\1", line)


def test_navigation_names_every_page_once():
    assert sorted(entries()) == sorted(page.stem for page in PAGES if page.stem != "index")


def anchors(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for picture, link in LINK.findall(text):
        if link.startswith("https://"):
            assert not picture, f"{link} is shown from another host"
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        if target.parent == DOCS / "gallery":
            assert f'"{target.name}")' in (DOCS / "report.md").read_text(encoding="utf-8")
        else:
            assert target.exists(), link
        if anchor:
            assert anchor in set(anchors(target)), link


@pytest.mark.slow
def test_picture_of_two_ways_is_what_the_gallery_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    drawing = page.partition("\n## Gallery\n")[2].partition("### What is stable")[0]
    exec("\n".join(re.findall(r"^```python\n(.*?)^```$", drawing, re.MULTILINE | re.DOTALL)), {})
    assert (tmp_path / "ways.svg").read_bytes() == (DOCS / "images" / "ways.svg").read_bytes()


def for_users(folder):
    """The names a folder's door offers above those that are for other folders."""
    for part in ast.parse(Path(folder.__file__).with_suffix(".pyi").read_text()).body:
        if isinstance(part, ast.Expr) and "other folders" in part.value.value:
            return
        for name in (alias.name for alias in getattr(part, "names", ())):
            found = getattr(folder, name)
            # documented where people import it from; constants and types of choices are not
            elsewhere = getattr(conjunct, name, None) is found
            if not elsewhere and callable(found) and typing.get_origin(found) is None:
                yield f"{folder.__name__}.{name}"


def test_every_public_name_is_documented():
    module, documented = "", set()
    for found in API.findall((DOCS / "api.md").read_text(encoding="utf-8")):
        if found.startswith("conjunct"):
            module = found
        else:
            documented.add(f"{module}.{found}")
    for name in documented:
        home, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(home), last), name
    public = set()
    for name in conjunct.__all__:
        found = getattr(conjunct, name)
        if not inspect.ismodule(found):
            public.add(f"conjunct.{name}")
        elif found.__name__ == f"conjunct.{name}" and hasattr(found, "__path__"):
            public.update(for_users(found))
    assert documented == public


def test_every_command_has_its_place():
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    for command in application().registered_commands:
        name = command.callback.__name__
        assert f"| `conjunct {name}" in page
        assert f"```{{literalinclude}} helps/{name}.txt\n" in page


def test_programs_find_every_page_in_markdown(tmp_path):
    made = runpy.run_path(str(DOCS / "conf.py"))
    site = SimpleNamespace(outdir=str(tmp_path), builder=SimpleNamespace(format="html"))
    made["write_markdown"](site, None)
    listed = re.findall(r"^- \[\w.+\]\((.+)\)$", (tmp_path / "llms.txt").read_text(), re.MULTILINE)
    assert listed == [f"{name}.md" for name in entries()]
    for name in listed:
        source = ROOT / "CHANGELOG.md" if name == "changelog.md" else DOCS / name
        assert (tmp_path / name).read_bytes() == source.read_bytes()


def test_the_citation_is_the_one_that_the_readme_asks_for():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["title"], cited["license"]) == (project["name"], project["license"])
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").replace(">", "").split())
    paper = cited["preferred-citation"]
    asked = (paper["title"], paper["journal"], paper["year"], *paper["authors"])
    for part in asked:
        name = (
            part if not isinstance(part, dict) else f"{part['given-names']} {part['family-names']}"
        )
        assert str(name) in readme
