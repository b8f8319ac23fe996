"""The pages show what was measured, and nothing else."""

import json
import re

import pytest
from benchmarks import _page
from benchmarks.quality import page as quality_page

MEASURED = json.loads(_page.DATA.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", _page.PAGES, ids=lambda page: page.name)
def test_tables_are_those_of_the_data(page) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<!-- end -->" in text
    assert _page.filled(text, _page.tables_of(MEASURED)) == text


def test_every_place_is_filled_by_a_benchmark() -> None:
    run = json.loads(quality_page.DATA.read_text(encoding="utf-8"))
    known = {*_page.tables_of(MEASURED), *quality_page.tables_of(run)}
    pages = [page.read_text(encoding="utf-8") for page in _page.DOCS.glob("*.md")]
    places = [name for text in pages for name in re.findall(r"<!-- (\w+) -->\n", text)]
    assert set(places) - {"end"} == known
    assert sum(name == "end" for name in places) == len(known)


def test_a_table_has_its_place() -> None:
    page = "a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n"
    filled = _page.filled(page, {"one": "1", "two": "2"})
    assert filled == "a\n<!-- one -->\n1\n<!-- end -->\nb\n<!-- two -->\n2\n<!-- end -->\n"


def test_what_did_not_finish_is_not_a_number() -> None:
    stopped = _page._rival({"rival": "x()", "stopped": 120}, 0.5)
    assert stopped == ["`x()`", "stopped at 120 s", "> 240", "", ""]
    refused = _page._rival({"rival": "x()", "needs": 11.6e9}, 0.5)
    assert refused == ["`x()`", "refused", "", "needs 11.6 GB or more", ""]


def test_exponents_are_slopes_of_the_last_points() -> None:
    sizes = [1.0, 10.0, 20.0, 40.0]
    assert _page.exponent(sizes, [7.0, *(3 * size**2 for size in sizes[1:])]) == pytest.approx(2)
