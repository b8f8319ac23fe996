"""Names from the data are shown as text, in a page and in a notebook; files go where told."""

import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, ClusteringTree, InputError, Report
from conjunct.files import write_atomically

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</script><script>alert(1)//",
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "\u202egnp",
    "a\u2028b",
    "</title><style>*{}",
]


class Elements(HTMLParser):
    """The elements and attributes of a page, as a browser would find them."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.attributes = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes


def model_of(names):
    rng = np.random.default_rng(0)
    one = rng.random(60) < 0.5
    columns = [one ^ (rng.random(60) < 0.1) for _ in names]
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)))
    return UFC(0.1, max_iter=1).fit(frame), frame


def shape(page):
    found = Elements(page)
    return found.tags.count("script"), {name for name, _ in found.attributes}, set(found.tags)


@pytest.fixture(scope="module")
def harmless():
    return Report(*model_of(["aa", "bb"]))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if number < 4 else pytest.mark.slow)
        for number, name in enumerate(HOSTILE)
    ],
)
def test_report_and_notebook_show_names_as_text(name, harmless):
    hostile = Report(*model_of([name, "bb"]), title=name)
    for ours, theirs in (
        (harmless.html(), hostile.html()),
        (harmless._repr_html_(), hostile._repr_html_()),
    ):
        scripts, attributes, tags = shape(theirs)
        expected_scripts, expected_attributes, expected_tags = shape(ours)
        assert scripts == expected_scripts
        assert attributes <= expected_attributes | {"open", "hidden", "title", "colspan", "rowspan"}
        assert tags <= expected_tags
        assert not [a for a in attributes if a.startswith("on")]
        # nor is anything fetched
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", theirs)


@pytest.mark.parametrize("name", HOSTILE)
def test_estimators_show_themselves_as_text(name):
    for make in (lambda model, frame: model, lambda model, frame: tree_of(frame)):
        ours = shape(make(*model_of(["aa", "bb"]))._repr_html_())
        assert shape(make(*model_of([name, "bb"]))._repr_html_()) == ours


def tree_of(frame):
    return ClusteringTree(max_depth=2).fit(frame)


def test_paths_with_dots_and_links_write_only_where_told(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    model, _ = model_of(["a", "b"])
    model.save(inside / ".." / "outside" / "m.json")
    assert sorted(p.name for p in outside.iterdir()) == ["m.json"]
    assert list(inside.iterdir()) == []
    # a link to a file is followed, as told, and stays a link; its part is beside its target
    (inside / "link.json").symlink_to(outside / "m.json")
    before = (outside / "m.json").stat().st_ino
    seen = []
    write_atomically(inside / "link.json", lambda part: seen.append(part) or part.write_text("{}"))
    assert seen[0].parent == outside
    assert (inside / "link.json").is_symlink()
    assert (outside / "m.json").stat().st_ino != before
    # a link to a folder, to itself, or into nowhere is no file
    (inside / "folder").symlink_to(outside)
    (inside / "circle").symlink_to(inside / "circle")
    (inside / "nowhere").symlink_to(tmp_path / "no" / "where")
    for name in ("folder", "nowhere"):
        with pytest.raises(InputError):
            model.save(inside / name)
    with pytest.raises((InputError, OSError)):
        model.save(inside / "circle" / "m.json")
    # a link laid where a part might be is not followed
    (outside / seen[0].name).symlink_to(tmp_path / "victim")
    (tmp_path / "victim").write_text("mine")
    model.save(outside / "m.json")
    assert (tmp_path / "victim").read_text() == "mine"


@pytest.mark.slow
@given(name=st.sampled_from(HOSTILE) | st.text(min_size=1, max_size=8))
def test_names_of_columns_are_never_paths(name, tmp_path_factory):
    """Nothing that stands in the data decides where a file goes."""
    folder = tmp_path_factory.mktemp("names")
    safe = name.encode("utf-8", "replace").decode()
    model, frame = model_of([f"../{safe}", "/tmp/b"])
    model.save(folder / "m.json")
    Report(model, frame).save(folder / "r.html")
    assert sorted(p.name for p in folder.iterdir()) == ["m.json", "r.html"]
