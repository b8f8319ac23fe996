"""``conjunct chunks``: rows as chunks, from every kind of file to every kind of file."""

import json

import polars as pl
import pytest

from conjunct import load

SEEN = [("p1", "a;b"), ("p2", "a"), ("p3", "c"), ("p4", "")]
NEW = [("x", "b;c"), ("y", "a;b;c"), ("z", "")]
LISTS = [[["b"], ["c"]], [["a", "b"], ["c"]], []]
TEXTS = ["b · c", "a + b · c", ""]


@pytest.fixture
def model(call, tmp_path):
    rows = SEEN[:1] * 40 + SEEN[1:2] * 5 + SEEN[2:3] * 40 + SEEN[3:] * 5
    pl.DataFrame(rows, schema=["photo", "tags"], orient="row").write_csv(tmp_path / "seen.csv")
    assert call("fit", "seen.csv", "--tags", "tags", "--id", "photo", "--out", "m.json").code == 0
    cells = [[photo, *(int(tag in tags.split(";")) for tag in "abc")] for photo, tags in NEW]
    pl.DataFrame(cells, schema=["photo", *"abc"], orient="row").write_csv(tmp_path / "new.csv")
    return load(tmp_path / "m.json")


def chunks(call, *words, file="new.csv"):
    done = call("chunks", "m.json", file, *words)
    assert (done.code, done.err) == (0, "")
    return done.out


def test_a_text_a_row_is_printed(call, model):
    out = chunks(call, "--exclude", "photo")
    assert pl.read_csv(out.encode())["chunks"].to_list() == TEXTS
    assert out.splitlines() == ["chunks", "b · c", "a + b · c", '""']
    assert chunks(call, "--exclude", "photo", "--out", "-") == out


def test_a_line_a_chunk(call, model):
    out = chunks(call, "--exclude", "photo", "--layout", "long")
    assert out.splitlines() == ["row,chunk", "1,b", "1,c", "2,a + b", "2,c"]


def test_lists_are_json_lines(call, model):
    out = chunks(call, "--exclude", "photo", "--layout", "lists")
    assert [json.loads(line) for line in out.splitlines()] == [{"chunks": row} for row in LISTS]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("text", [{"photo": p, "chunks": t} for (p, _), t in zip(NEW, TEXTS, strict=True)]),
        ("lists", [{"photo": p, "chunks": row} for (p, _), row in zip(NEW, LISTS, strict=True)]),
        (
            "long",
            [
                {"photo": photo, "chunk": " + ".join(chunk)}
                for (photo, _), row in zip(NEW, LISTS, strict=True)
                for chunk in row
            ],
        ),
    ],
)
def test_names_of_rows_are_kept(form, expected, call, model, tmp_path):
    for out in ("c.jsonl", "c.parquet"):
        chunks(call, "--id", "photo", "--layout", form, "--out", out)
    lines = (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(json.loads, lines)) == expected
    assert pl.read_parquet(tmp_path / "c.parquet").to_dicts() == expected


@pytest.mark.parametrize("out", ["c.csv", "c.tsv", "c.csv.gz"])
def test_text_files(out, call, model, tmp_path):
    done = call("chunks", "m.json", "new.csv", "--id", "photo", "--out", out)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"Saved the chunks of 3 rows as {out}.\n"
    separator = "\t" if ".tsv" in out else ","
    written = pl.read_csv(tmp_path / out, separator=separator)
    assert written.rows() == [(p, text) for (p, _), text in zip(NEW, TEXTS, strict=True)]


@pytest.mark.parametrize("kind", ["tags", "baskets", "long", "parquet"])
def test_every_kind_of_file_that_transform_reads(kind, call, model, tmp_path):
    table = pl.read_csv(tmp_path / "new.csv").drop("photo").cast(pl.Boolean)
    words = []
    if kind == "parquet":
        table.write_parquet(tmp_path / "other.parquet")
    elif kind == "tags":
        pl.DataFrame({"t": [tags for _, tags in NEW]}).write_csv(tmp_path / "other.tags")
        words = ["--format", "csv", "--tags", "t"]
    elif kind == "baskets":
        text = "".join(tags.replace(";", " ") + "\n" for _, tags in NEW)
        (tmp_path / "other.baskets").write_text(text)
        words = ["--format", "baskets"]
    else:
        pairs = [(photo, tag) for photo, tags in NEW for tag in tags.split(";") if tag]
        pl.DataFrame(pairs, schema=["photo", "tag"], orient="row").write_csv(tmp_path / "other.csv")
        words = ["--format", "long"]
    out = chunks(
        call, *words, "--layout", "lists", file="other.csv" if kind == "long" else f"other.{kind}"
    )
    found = [json.loads(line)["chunks"] for line in out.splitlines()]
    # long form names rows only where they have a tag
    assert found == (LISTS[:2] if kind == "long" else LISTS)


def test_as_the_library_reads_them(call, model, tmp_path):
    call("datasets", "zoo", "--out", "zoo.csv")
    assert call("fit", "zoo.csv", "--out", "m.json").code == 0
    zoo = pl.read_csv(tmp_path / "zoo.csv")
    out = chunks(call, file="zoo.csv")
    texts = load(tmp_path / "m.json").chunks(zoo, "text")["chunks"]
    assert out.splitlines()[1:] == texts.to_list()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "m.json new.csv --layout lists --out c.csv",
            "c.csv: a file with lists must end in .parquet, ",
        ),
        ("m.json new.csv --out m.json", "m.json: not a known kind of table"),
        ("m.json new.csv --json", "--json needs --out"),
        ("m.json new.csv --layout words", "'words' is not one of"),
        ("m.json named.csv --id chunks", "the output has its own column 'chunks'"),
        ("fringe.json new.csv --exclude photo", "a UFringe model has no chunks"),
        ("m.json less.csv", "less.csv lacks columns of the model: 'b', 'c'"),
    ],
)
def test_bad_input_is_one_line(words, message, call, model, tmp_path):
    table = pl.read_csv(tmp_path / "new.csv")
    table.select("a").write_csv(tmp_path / "less.csv")
    table.rename({"photo": "chunks"}).write_csv(tmp_path / "named.csv")
    call("datasets", "zoo", "--out", "zoo.csv")
    call("fringe", "zoo.csv", "--max-features", "20", "--out", "fringe.json")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = call("chunks", *words.split())
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before
