"""Raw data through the commands: what is read, said, saved and applied again."""

import gzip

import numpy as np
import polars as pl
import pytest

from conjunct import UFC, BooleanData, load
from conjunct.files import read_boolean

HEAD = """\
data
──────────────────────────────────────────
rows       200 (8 distinct)
columns    1 Boolean, 1 category, 1 number
tags       8
left out   same (every cell is 'x')
missing    0 cells
density    0.294
memory     256 bytes

column        made Boolean
───────────────────────────────
colour        3 words
weight (kg)   cut at 48, 55, 88
"""


def test_a_long_line_about_the_data_keeps_its_label(tmp_path, call):
    names = {f"name {k}": [f"{k} {row}" for row in range(30)] for k in range(8)}
    pl.DataFrame(names | {"size": ["s", "m"] * 15}).write_csv(tmp_path / "long.csv")
    out = call("fit", tmp_path / "long.csv").out
    assert "\nleft out   name 0 (30 different words in 30 cells), name 1 (30 different" in out
    assert "\nrows       30 (2 distinct)\n" in out


@pytest.fixture
def raw(tmp_path):
    """200 animals in words, numbers, dates and yes or no; wet ones are mostly blue and heavy."""
    rng = np.random.default_rng(0)
    wet = rng.random(200) < 0.4
    frame = pl.DataFrame(
        {
            "name": [f"n{k}" for k in range(200)],
            "wet": np.where(wet, "yes", "no"),
            "colour": np.where(wet, "blue", rng.choice(["red", "grey"], 200)),
            "weight (kg)": np.round(rng.normal(50, 5, 200) + 40 * wet, 1),
            "same": "x",
        }
    )
    frame.write_csv(tmp_path / "raw.csv")
    return frame


def test_fit_says_what_it_did_and_transform_takes_raw_data(call, raw, tmp_path):
    done = call("fit", "raw.csv", "--id", "name", "--max-iter", 1, "--out", "m.json")
    assert (done.code, done.err) == (0, "")
    assert HEAD in done.out
    model = load("m.json")
    expected = model.transform(
        BooleanData.from_data(raw.drop("name"), binarizer=model.preparation_.binarizer)
    )
    raw.drop("same").reverse().write_parquet(tmp_path / "new.parquet")
    done = call("transform", "m.json", "new.parquet", "--id", "name", "--out", "f.parquet")
    assert (done.code, done.err) == (0, "")
    written = pl.read_parquet(tmp_path / "f.parquet")
    assert written["name"].to_list() == raw["name"].to_list()[::-1]
    assert written.drop("name").reverse().equals(expected.convert("polars"))
    assert "colour        3 words" in call("show", "m.json").out


def test_options_of_the_binarizer(call, raw):
    words = ["--edges", "weight (kg)=60,80", "--cumulative", "--exclude", "name,colour"]
    assert call("fit", "raw.csv", *words, "--max-iter", 1, "--out", "m.json").code == 0
    model = load("m.json")
    assert model.feature_names_in_.tolist() == ["wet", "weight (kg) ≥ 60", "weight (kg) ≥ 80"]
    words = ["--binning", "width", "--bins", 2, "--min-frequency", 0.4, "--rare-categories", "drop"]
    assert call("fit", "raw.csv", *words, "--max-iter", 1, "--out", "m.json").code == 0
    names = load("m.json").feature_names_in_.tolist()
    assert len([name for name in names if name.startswith("weight")]) == 2
    assert "colour = other" not in names


def test_unknown_words_are_noted(call, raw, tmp_path):
    call("fit", "raw.csv", "--id", "name", "--max-iter", 1, "--out", "m.json")
    raw.with_columns(colour=pl.lit("pink")).write_csv(tmp_path / "new.csv")
    done = call("transform", "m.json", "new.csv", "--exclude", "name", "--out", "f.csv")
    assert done.code == 0
    assert "note: column 'colour' holds 1 word not seen in fit ('pink')" in done.err


@pytest.mark.parametrize("kind", ["baskets", "tags", "long"])
def test_tags_in_every_form_give_the_same_model(kind, call, tmp_path):
    rng = np.random.default_rng(1)
    choices = [["sky"], ["car"], ["sky", "sea"]]
    rows = [choices[k] for k in rng.integers(0, 3, 200)]
    words = []
    if kind == "baskets":
        path = tmp_path / "t.dat.gz"
        path.write_bytes(gzip.compress("".join(" ".join(r) + "\n" for r in rows).encode()))
    elif kind == "tags":
        path = tmp_path / "t.csv"
        pl.DataFrame({"k": [";".join(row) for row in rows]}).write_csv(path)
        words = ["--tags", "k"]
    else:
        path = tmp_path / "t.csv"
        pairs = [(k, tag) for k, row in enumerate(rows) for tag in row]
        pl.DataFrame(pairs, schema=["photo", "tag"], orient="row").write_csv(path)
        words = ["--format", "long"]
    assert call("fit", path.name, *words, "--max-iter", 1, "--out", "m.json").code == 0
    expected = UFC(max_iter=1).fit(rows)
    assert load("m.json").features_ == expected.features_
    done = call("transform", "m.json", path.name, *words, "--out", "f.csv")
    assert done.code == 0
    names = expected.get_feature_names_out()
    made = pl.read_csv(tmp_path / "f.csv").select(names).cast(pl.Boolean)
    for k, basket in enumerate(expected.transform(rows)):
        assert {name for name in made.columns if made[k, name]} == set(basket)


def test_tags_are_reviewed_and_merged_only_then(call, tmp_path):
    rows = ["Waterfalls;sky", "waterfall;sky", "waterfal;sky", "Sky ;sea"] * 20
    (tmp_path / "t.csv").write_text("k\n" + "\n".join(rows) + "\n")
    done = call("tags", "t.csv", "--tags", "k", "--review", "r.csv", "--out", "c.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("80 rows, 6 spellings of 4 tags.\n")
    assert "Waterfalls   waterfall     20\n" in done.out
    assert pl.read_csv(tmp_path / "c.csv").columns == ["sky", "waterfall", "sea", "waterfal"]
    review = pl.read_csv(tmp_path / "r.csv")
    why = "spelled alike (94 of 100)"
    assert review.rows() == [
        ("spelling", "waterfal", "waterfall", 20, why, "3; 7; 11", ""),
        ("vacuous", "sky", "", 80, "in all 80 rows", "1; 2; 3", ""),
    ]
    review.with_columns(accept=pl.lit("yes")).write_csv(tmp_path / "r.csv")
    done = call("tags", "t.csv", "--tags", "k", "--synonyms", "r.csv")
    assert "6 spellings of 3 tags." in done.out
    assert "spelled alike" not in done.out
    words = ["--tags", "k", "--synonyms", "r.csv", "--max-iter", 1, "--out", "m.json"]
    assert call("fit", "t.csv", *words).code == 0
    model = load("m.json")
    assert sorted(model.feature_names_in_) == ["sea", "sky", "waterfall"]
    assert model.preparation_.cleaner.mapping_["waterfal"] == "waterfall"
    (tmp_path / "new.csv").write_text("k\nWATERFAL;Sky\n")
    done = call("transform", "m.json", "new.csv", "--tags", "k", "--out", "f.csv")
    assert (done.code, done.err) == (0, "")
    table = read_boolean(
        tmp_path / "new.csv",
        tags="k",
        cleaner=model.preparation_.cleaner,
        names=model.feature_names_in_.tolist(),
    )
    expected = model.transform(table).convert("polars").rows()
    assert pl.read_csv(tmp_path / "f.csv").cast(pl.Boolean).rows() == expected


def test_missing_cells_are_counted_or_refused(call, tmp_path):
    (tmp_path / "t.csv").write_text("colour,b\nred,1\n,0\nblue,1\ngreen,1\n,1\n")
    done = call("fit", "t.csv", "--out", "m.json")
    assert done.code == 0
    assert "conjunct: note: Treating 2 missing cells as unknown: colour 2.\n" in done.err
    done = call("fit", "t.csv", "--missing", "raise", "--out", "m.json")
    assert done.code == 2
    assert "t.csv, line 3, column 'colour': the cell has no value" in done.err
