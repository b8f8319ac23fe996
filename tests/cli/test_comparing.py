"""``conjunct compare`` and ``conjunct describe``: where labels come from, and what is refused."""

import json
import re
import shlex

import numpy as np
import polars as pl
import pytest

from conjunct import compare, datasets, describe_groups, load

ZOO = datasets.load_zoo()
TYPES = list(ZOO.rows["type"])
ZOO_FRAME = pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names))
BY_ID = shlex.split("describe model.json zoo.csv --by ids.csv --id id --exclude type")


@pytest.fixture
def folder(call, tmp_path):
    animals = pl.DataFrame(ZOO.values, schema=list(ZOO.feature_names)).cast(pl.Int8)
    ids = [f"animal {k}" for k in range(len(TYPES))]
    animals.with_columns(id=pl.Series(ids), type=pl.Series(TYPES)).write_csv(tmp_path / "zoo.csv")
    animals[:60].write_csv(tmp_path / "old.csv")
    animals[60:].write_csv(tmp_path / "new.csv")
    labels = pl.DataFrame({"type": TYPES, "id": ids})
    labels.select("type").write_csv(tmp_path / "types.csv")
    labels[::-1].write_csv(tmp_path / "ids.csv")
    assert call("fit", "zoo.csv", "--exclude", "id,type", "--out", "model.json").code == 0
    return tmp_path


def expected(labels):
    model = load("model.json")
    return describe_groups(model, ZOO_FRAME, labels, backend="polars").rows(named=True)


@pytest.mark.parametrize(
    "words",
    ["--by type --exclude id", "--by types.csv --exclude id,type", "--by ids.csv --id id"],
)
def test_labels_are_a_column_a_file_or_found_by_id(words, call, folder):
    done = call("describe", "model.json", "zoo.csv", *words.split(), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["chunks"] == expected(TYPES)


def test_the_column_of_the_groups_in_the_model(call, folder):
    done = call("describe", "model.json", "zoo.csv", "--by", "milk", "--exclude", "id,type")
    assert done.code == 0
    assert done.err == (
        "conjunct: note: the model contains 'milk', the column that defines the groups: fit the "
        "model with --exclude milk\n"
    )


def test_rows_without_label_are_said(call, folder):
    lines = (folder / "ids.csv").read_text().splitlines(keepends=True)
    (folder / "ids.csv").write_text("".join(lines[:-20]))
    done = call(*BY_ID, "--json")
    assert done.err == "conjunct: note: leaving out 20 rows without a label\n"
    with pytest.warns(match="20 rows"):
        assert json.loads(done.out)["chunks"] == expected([None] * 20 + TYPES[20:])


def test_tables_are_written_as_they_are_found(call, folder):
    words = "compare model.json old.csv new.csv --alpha none --out d.parquet"
    assert call(*words.split()).code == 0
    model = load("model.json")
    found = compare(model, ZOO_FRAME[:60], ZOO_FRAME[60:], alpha=None, backend="polars")
    assert pl.read_parquet("d.parquet").equals(found)
    assert call("describe", "model.json", "zoo.csv", "--by", "type", "--out", "g.csv").code == 0
    assert pl.read_csv("g.csv")["pattern"].to_list() == [row["pattern"] for row in expected(TYPES)]


def test_groups_without_chunks_are_named(call, folder):
    done = call("describe", "model.json", "zoo.csv", "--by", "type", "--alpha", "1e-9")
    text = " ".join(done.out.split())
    assert "No tag or chunk is significantly more common in " in text
    assert "amphibian" in text


def test_hostile_names_are_shown_as_text(call, tmp_path):
    rows = ['"[red]a","\x1b[31mb",t'] + ["1,1,\x1b[5mx"] * 30 + ["0,0,[bold]y"] * 30
    (tmp_path / "t.csv").write_text("\n".join([*rows, "1,0,[bold]y", ""]))
    assert call("fit", "t.csv", "--exclude", "t", "--out", "m.json").code == 0
    done = call("describe", "m.json", "t.csv", "--by", "t")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert "[red]a" in done.out
    assert "\\x1b[5mx" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("describe model.json zoo.csv --by nothing", "zoo.csv has no column 'nothing'"),
        (
            "describe model.json zoo.csv --by old.csv",
            "old.csv has 15 columns: keep only the labels",
        ),
        ("describe model.json old.csv --by types.csv", "there are 101 labels for 60 rows"),
        ("describe model.json zoo.csv --by type --top 0", "--top must be a whole number"),
        ("describe model.json zoo.csv --by type --alpha 2", "--alpha must be between 0 and 0.5"),
        ("describe model.json zoo.csv --by type --alpha x", "--alpha must be a number or none"),
        ("describe model.json zoo.csv --by type --out model.json", "model.json"),
        ("compare model.json - -", "X and Y cannot both be standard input"),
        (
            "compare strict.json old.csv gaps.csv",
            "gaps.csv, line 2, column 'hair': the cell has no",
        ),
        ("compare model.json old.csv types.csv", "types.csv lacks columns of the model: 'hair'"),
        ("compare trees.json old.csv new.csv", "a UFringe model has no chunks"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words, message, call, folder):
    names, first, *rest = (folder / "new.csv").read_text().splitlines()
    (folder / "gaps.csv").write_text("\n".join([names, first[1:], *rest]))
    assert call("fringe", "old.csv", "--max-features", 20, "--out", "trees.json").code == 0
    strict = ("fit", "zoo.csv", "--exclude", "id,type", "--missing", "raise", "--out")
    assert call(*strict, "strict.json").code == 0
    done = call(*words.split())
    last = done.err.splitlines()[-1]
    assert (done.code, last.startswith("conjunct: error: ")) == (2, True)
    assert message in last


def test_two_ids_are_refused(call, folder):
    (folder / "ids.csv").write_text("id,type\nanimal 1,a\nanimal 1,b\n")
    assert "the values of 'id' must be unique" in call(*BY_ID).err
    (folder / "ids.csv").write_text("id,type\nother,a\n")
    assert "ids.csv: no value of 'id' occurs in the data" in call(*BY_ID).err


def test_changes_are_those_of_all_rows(call, tmp_path):
    """No leftover of a feature is named, and of two values one is enough."""
    rng = np.random.default_rng(3)

    def survey(n, women):
        sex = np.where(rng.random(n) < women, "female", "male")
        sport = np.where(rng.random(n) < np.where(sex == "male", 0.7, 0.1), "football", "yoga")
        return pl.DataFrame({"sex": sex, "sport": sport, "age": rng.choice(["old", "young"], n)})

    before, after = survey(600, 0.5), survey(400, 0.8)
    before.write_csv(tmp_path / "before.csv")
    after.write_csv(tmp_path / "after.csv")
    assert call("fit", "before.csv", "--out", "m.json").code == 0
    changed = call("update", "m.json", "after.csv").out.partition("Changed most:")[2]
    lines = re.findall(r"  (.+): in (.+)% of these rows, (.+)% in training", changed)
    assert lines
    assert "(rest)" not in changed
    for name, now, then in lines:
        has = [tag.split(" = ") for tag in name.split(" + ")]
        for table, share in ((after, now), (before, then)):
            rows = table.filter(*(pl.col(column) == value for column, value in has))
            assert abs(100 * rows.height / table.height - float(share)) <= 0.5
    single = [name.split(" = ")[0] for name, *_ in lines if " + " not in name]
    assert len(set(single)) == len(single)
    found = json.loads(call("compare", "m.json", "before.csv", "after.csv", "--json").out)
    named = [one["pattern"] for one in found["chunks"]]
    assert len({"sex = female", "sex = male"} & set(named)) == 1
    every = call("compare", "m.json", "before.csv", "after.csv", "--alpha", "none", "--json").out
    named = [one["pattern"] for one in json.loads(every)["chunks"]]
    assert {"sex = female", "sex = male"} <= set(named)


def test_other_values_of_a_variable_are_no_contrast(call, tmp_path):
    rows = "red,yes\n" * 40 + "red,no\n" * 5 + "blue,no\n" * 40 + "green,no\n" * 30
    (tmp_path / "t.csv").write_text("colour,ripe\n" + rows)
    assert call("fit", "t.csv", "--out", "m.json").code == 0
    shown = call("show", "m.json", "--feature", "colour = red + ripe", "--rows", "t.csv").out
    assert "colour = red + ripe" in shown
    assert "colour = blue is in" not in shown
