"""``conjunct suggest``, ``relations`` and the curation of ``tags``, on files."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conjunct import datasets, load


@pytest.fixture
def photos(tmp_path):
    """Tags with two that are the same, one that is implied, one in every row."""
    rows = ["cascade;water;fall;nature"] * 39 + ["cascade;water;nature"] + ["water;nature"] * 30
    rows += ["cascade;fall;nature"] + ["sky;sun;nature"] * 25 + ["sky;nature"] * 25
    lines = [f"p{k},{row}" for k, row in enumerate(rows)]
    (tmp_path / "photos.csv").write_text("photo,tags\n" + "\n".join(lines) + "\n")
    return ["photos.csv", "--tags", "tags", "--id", "photo"]


def accept(path, decisions):
    review = pl.read_csv(path, infer_schema=False)
    pairs = zip(review["kind"], review["from"], strict=True)
    review = review.with_columns(accept=pl.Series([decisions.get(pair, "") for pair in pairs]))
    review.write_csv(path)


def test_the_whole_curation(call, photos, tmp_path):
    done = call("tags", *photos, "--review", "r.csv")
    assert (done.code, done.err) == (0, "")
    review = pl.read_csv(tmp_path / "r.csv", infer_schema=False)
    assert review.columns == ["kind", "from", "to", "rows", "why", "examples", "accept"]
    found = review.select("kind", "from", "to", "rows", "examples").fill_null("")
    assert found.rows() == [
        ("same", "fall", "cascade", "40", "p0; p1; p2"),
        ("implies", "cascade", "water", "1", "p70"),
        ("vacuous", "nature", "", "121", "p0; p1; p2"),
    ]
    kinds = dict(zip(review["kind"], review["why"], strict=True))
    assert kinds["vacuous"] == "in all 121 rows"
    accept(tmp_path / "r.csv", {("implies", "cascade"): "yes", ("vacuous", "nature"): "no"})
    words = [*photos, "--apply", "r.csv", "--declined", "r.csv", "--out", "c.csv"]
    done = call("tags", *words, "--dry-run")
    assert done.code == 0
    assert "No files written (--dry-run)." in done.out
    assert not (tmp_path / "c.csv").exists()
    done = call("tags", *words, "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["accepted"] == 1
    proposed = {(one["kind"], one["tag"]) for one in document["proposals"]}
    assert ("vacuous", "nature") not in proposed
    assert ("implies", "cascade") not in proposed
    clean = pl.read_csv(tmp_path / "c.csv")
    assert clean["water"][70] == 1
    assert clean["water"].sum() == 71
    assert "nature" in clean.columns


def test_accepted_drops_and_merges(call, photos, tmp_path):
    review = "kind,from,to,accept\nvacuous,nature,,yes\nsame,sun,sky,yes\nempty,sky,,no\n"
    (tmp_path / "r.csv").write_text(review)
    done = call("tags", *photos, "--apply", "r.csv", "--out", "c.csv")
    assert (done.code, done.err) == (0, "")
    assert "2 proposals of r.csv accepted." in done.out
    clean = pl.read_csv(tmp_path / "c.csv")
    assert clean.columns == ["photo", "cascade", "fall", "sky", "water"]
    assert clean["sky"].sum() == 50


def test_what_is_added_may_imply_more(call, tmp_path):
    (tmp_path / "t.csv").write_text("k\n" + "duck;x\n" * 3 + "bird;y\n" * 5 + "animal\n" * 9)
    (tmp_path / "r.csv").write_text(
        "kind,from,to,accept\nimplies,bird,animal,yes\nimplies,duck,bird,yes\n"
    )
    assert call("tags", "t.csv", "--tags", "k", "--apply", "r.csv", "--out", "c.csv").code == 0
    clean = pl.read_csv(tmp_path / "c.csv")
    assert clean.select("duck", "bird", "animal").sum().row(0) == (3, 8, 17)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from,to,accept,kind\na,b,yes,odd\n", "row 1, column 'kind': 'odd' is not one of"),
        ("a,b\n1,2\n", "has no column 'from'"),
        ("from,to,accept\na,b,perhaps\n", "'perhaps' is not yes or no"),
    ],
)
@pytest.mark.parametrize("option", ["--apply", "--declined"])
def test_a_bad_review(call, photos, tmp_path, text, said, option):
    (tmp_path / "r.csv").write_text(text)
    done = call("tags", *photos, option, "r.csv")
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_suggestions_are_those_of_the_model(call, zoo_files, tmp_path):
    done = call(
        "suggest", "model.json", "zoo.csv", "--top", 2, "--min-score", 0.3, "--out", "s.csv"
    )
    assert (done.code, done.err) == (0, "")
    model, zoo = load("model.json"), datasets.load_zoo()
    frame = pd.DataFrame(zoo.values, columns=list(zoo.feature_names))
    lists = zip(model.suggest(frame, 2, min_score=0.3), model.doubtful(frame, 2), strict=True)
    expected = [
        (str(row + 1), kind, one.tag, round(one.score, 3), " + ".join(one.because))
        for row, both in enumerate(lists)
        for kind, some in zip(("missing", "doubtful"), both, strict=True)
        for one in some
    ]
    found = pl.read_csv(tmp_path / "s.csv", schema_overrides={"row": pl.String})
    assert found.with_columns(pl.col("because").fill_null("")).rows() == expected


def test_ids_name_the_rows(call, photos, tmp_path):
    assert call("fit", *photos, "--out", "m.json").code == 0
    done = call("suggest", "m.json", *photos, "--no-doubtful")
    head, first, *_ = done.out.splitlines()
    assert head == "photo,kind,tag,score,because"
    assert first.startswith("p39,missing,fall,0.9")
    assert ",doubtful," not in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("suggest model.json zoo.csv --json", "--json needs --out"),
        ("suggest model.csv zoo.csv --out model.csv", "choose another file"),
        ("suggest model.json zoo.csv --out s.xyz", "s.xyz"),
        ("suggest model.json zoo.csv --top 0", "--top"),
        ("suggest model.json zoo.csv --min-score 2", "--min-score"),
        ("relations zoo.csv --kind odd", "--kind must be one of implies, same, avoid, alike"),
        ("relations zoo.csv --out r.xyz", "r.xyz"),
    ],
)
def test_bad_options(call, zoo_files, tmp_path, words, said):
    (tmp_path / "model.csv").write_bytes((tmp_path / "model.json").read_bytes())
    done = call(*words.split())
    assert done.code == 2
    assert said in done.err


def test_hostile_names(call, tmp_path):
    names = ["<script>alert(1)</script>", "[red]x[/red]", "a\nb", "=1+1", "ü'\""]
    random = np.random.default_rng(0)
    first = random.random(200) < 0.4
    table = {name: (first & (random.random(200) < 0.6)).astype(int) for name in names}
    table["all"] = first.astype(int)
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    done = call("relations", "t.csv", "--out", "r.csv")
    assert (done.code, done.err) == (0, "")
    assert "[red]x[/red]" in done.out
    found = pl.read_csv(tmp_path / "r.csv")
    assert found.height > 3
    assert set(found["left"]) == set(names)
    assert set(found["right"]) == {"all"}
    assert call("tags", "t.csv", "--no-plurals", "--review", "v.csv").code == 0
