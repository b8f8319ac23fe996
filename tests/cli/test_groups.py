"""``conjunct groups``: what it says is what RowGroups finds."""

import json

import polars as pl
import pytest

from conjunct import RowGroups, datasets

ZOO = datasets.load_zoo()


def test_labels_and_model_are_those_of_the_library(call, zoo_files):
    done = call("groups", "zoo.csv", "--labels", "kinds.csv", "--out", "groups.json", "--json")
    assert done.code == 0
    model = RowGroups().fit(pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names)))
    table = pl.read_csv(zoo_files / "kinds.csv")
    assert table["group"].to_list() == model.labels_.tolist()
    assert table["name"].to_list() == [model.groups_[k].name for k in model.labels_]
    assert table["probability"].min() > 1 / model.n_groups_
    read = RowGroups.load(zoo_files / "groups.json")
    assert read.groups_ == model.groups_
    found = json.loads(done.out)
    assert [group["name"] for group in found["groups"]] == [group.name for group in read.groups_]
    assert found["saved"] == {"model": "groups.json", "labels": "kinds.csv", "report": None}


def test_ids_come_first(call, zoo_files):
    table = pl.read_csv(zoo_files / "zoo.csv")
    names = [f"animal {k}" for k in range(len(table))]
    table.with_columns(id=pl.Series(names)).write_csv(zoo_files / "named.csv")
    assert call("groups", "named.csv", "--id", "id", "--labels", "l.csv").code == 0
    assert pl.read_csv(zoo_files / "l.csv")["id"].to_list() == names
    table.with_columns(name=pl.Series(names)).write_csv(zoo_files / "named.csv")
    done = call("groups", "named.csv", "--id", "name", "--labels", "l.csv")
    assert done.code == 2
    assert "'name'" in done.err


def test_raw_tables(call, zoo_files):
    """Words, numbers and gaps; one note about the gaps."""
    lines = [f"{'red' if k % 2 else 'blue'},{k % 2 * 50 + k % 5}" for k in range(200)]
    (zoo_files / "raw.csv").write_text("\n".join(["colour,size", ",7", *lines]))
    done = call("groups", "raw.csv", "--labels", "l.csv", "--out", "g.json", "--report", "p.html")
    assert done.code == 0
    assert done.err.count("1 missing cell as unknown: colour 1") == 1
    kinds = pl.read_csv(zoo_files / "l.csv")["group"].to_list()
    assert len({*kinds[1::2]} | {*kinds[2::2]}) == 2
    assert {*kinds[1::2]} != {*kinds[2::2]}
    raw = pl.read_csv(zoo_files / "raw.csv")
    assert RowGroups.load(zoo_files / "g.json").predict(raw).tolist() == kinds


def test_the_report_shows_kinds_of_rows(call, zoo_files):
    table = pl.read_csv(zoo_files / "zoo.csv").rename({"milk": "<script>alert(1)</script>"})
    table.write_csv(zoo_files / "hostile.csv")
    assert call("groups", "hostile.csv", "--report", "page.html").code == 0
    page = (zoo_files / "page.html").read_text()
    section = page.split('<section id="groups"')[1].split("</section>")[0]
    assert "feathers: 95% of this group, 0% of the rows outside it" in section
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in section
    assert "<script>" not in section
    assert section.count("<li>") == 7
    assert call("fit", "zoo.csv", "--report", "other.html").code == 0
    assert '<section id="groups"' not in (zoo_files / "other.html").read_text()


def test_fit_with_groups_says_both(call, zoo_files):
    done = call("fit", "zoo.csv", "--groups", "--report", "page.html")
    assert done.code == 0
    findings, groups = done.out.split("Groups of rows\n")
    assert findings.startswith(call("fit", "zoo.csv").out.split("Not saved")[0].rstrip())
    table = call("groups", "zoo.csv").out.split("\n\n")[1]
    assert table.strip() in groups
    assert '<section id="groups"' in (zoo_files / "page.html").read_text()
    found = json.loads(call("fit", "zoo.csv", "--groups", "--json").out)
    model = RowGroups().fit(pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names)))
    assert [group["name"] for group in found["groups"]] == [each.name for each in model.groups_]
    assert "groups" not in json.loads(call("fit", "zoo.csv", "--json").out)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit zoo.csv --groups --memory 1GB", "--groups needs one table in memory"),
        ("groups zoo.csv --groups 0", "--groups must be"),
        ("groups zoo.csv --max-groups 0", "--max-groups must be"),
        ("groups zoo.csv --max-seconds 0", "--max-seconds must be"),
        ("groups zoo.csv --labels kinds.txt", "kinds.txt"),
        ("groups zoo.csv --out zoo.csv", "zoo.csv is the data"),
        (
            "groups zoo.csv --out a.csv --labels a.csv",
            "a.csv is the model: choose another file for the labels",
        ),
        (
            "groups zoo.csv --labels zoo.csv",
            "zoo.csv is the data: choose another file for the labels",
        ),
        ("groups nothing.csv", "nothing.csv"),
    ],
)
def test_bad_options_are_refused(words, message, call, zoo_files):
    done = call(*words.split())
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1
