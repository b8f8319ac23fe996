"""Bad input: one line on standard error, exit code 2, nothing written."""

import polars as pl
import pytest

from conjunct import UFC, load
from conjunct.errors import one_line
from conjunct.files import read_boolean, read_table

FILES = {
    "good.csv": "a,b\n" + "1,1\n0,0\n" * 20,
    "empty.csv": "",
    "header.csv": "a,b\n",
    "ragged.csv": "a,b\n0,1,1\n",
    "short.csv": "a,b\n0\n",
    "two.csv": "a,b\n0,2\n",
    "same.csv": "a,b\nx,2\nx,2\n",
    "text.csv": "a,b\n" + "".join(f"0,the quick brown fox {k}\n" for k in range(30)),
    "missing.csv": "a,b\n0,\n1,0\n",
    "rubbish.csv": b"\x89PNG\r\n\x1a\n\0\0",
    "rubbish.parquet": b"rubbish",
    "rubbish.csv.gz": b"\x1f\x8brubbish",
    "table.xlsx": "a,b\n0,1\n",
    "line\nfeed.csv": "a,b\n0,2\n",
    "other.json": "{}",
}

BAD = [
    ("fit empty.csv --out m.json", "empty.csv is empty"),
    ("fit header.csv --out m.json", "header.csv has column names but no rows"),
    ("fit ragged.csv --out m.json", "ragged.csv, line 2: 3 cells"),
    ("fit short.csv --out m.json", "short.csv, line 2: 1 cell"),
    ("fit same.csv --out m.json", "no column makes a feature ('a': every cell is 'x'; 'b': every"),
    ("fit text.csv --columns b --out m.json", "no column makes a feature ('b': free text)"),
    ("fit good.csv --out m.json --columns z", "good.csv has no column 'z': it has 'a', 'b'"),
    ("fit good.csv --out m.json --bins 1", "--bins must be a whole number, at least 2; got 1"),
    ("fit good.csv --out m.json --edges a=x", "--edges must be like age=30,45,60; got 'a=x'"),
    ("fit good.csv --out m.json --edges z=1", "edges are given for 'z', which is not a column"),
    ("fit good.csv --out m.json --format long --id z", "good.csv has no column 'z'"),
    ("fit good.csv --out m.json --synonyms no.csv", "no.csv does not exist"),
    ("tags good.csv --synonyms other.json --out good.xls", "good.xls: not a known kind"),
    (
        "fit missing.csv --missing raise --out m.json",
        "missing.csv, line 2, column 'b': the cell has no value",
    ),
    ("fit rubbish.csv --out m.json", "rubbish.csv, line 1 is not UTF-8 text"),
    ("fit rubbish.parquet --out m.json", "rubbish.parquet is not a readable Parquet file"),
    ("fit rubbish.csv.gz --out m.json", "rubbish.csv.gz cannot be read"),
    ("fit table.xlsx --out m.json", "table.xlsx is not a readable spreadsheet"),
    ("fit no.csv --out m.json", "no.csv does not exist"),
    ("fit . --out m.json", ". is a folder: name a file to read"),
    ("fit good.csv --out good.csv", "good.csv is the data: choose another file"),
    ("fit good.csv --out .", ". is a folder: choose a file to write"),
    ("fit good.csv --out no/m.json", "no is not a folder: create it first"),
    ("fit good.csv --out -", "--out needs a file name, such as model.json"),
    ("fit good.csv --quiet --verbose", "use either --quiet or --verbose, not both"),
    ("transform model.json good.csv --json", "--json needs --out"),
    ("fit", "Missing argument 'DATA'. See conjunct fit --help"),
    ("fit good.csv --criterion bits --alpha 2", "--alpha must be between 0 and 0.5; got 2"),
    ("fit good.csv --out m.json --alpha x", "--alpha must be a number or none; got 'x'"),
    ("fit good.csv --criterion 1", "--criterion must be a number from 0 up to, but not inc"),
    ("fit good.csv --criterion nan", "--criterion must be a number from 0 up to, but not inc"),
    ("fit good.csv --criterion best", "must be bits, evidence, risk or a number; got 'best'"),
    ("fit good.csv --criterion threshold", "--criterion must be bits, evidence, risk or a number"),
    ("fit good.csv --factor 0", "--factor must be a number above 0; got 0"),
    ("fit good.csv --factor x", "Invalid value for '--factor'"),
    ("fit good.csv --alpha 0.1", "--alpha does not apply to --criterion evidence, which has --f"),
    ("fit good.csv --test exact", "--test does not apply to --criterion evidence, which has --f"),
    ("fit good.csv --correction bh", "--correction does not apply to --criterion evidence, which"),
    ("fit good.csv --prune", "--prune does not apply to --criterion evidence, which has --fact"),
    ("fit good.csv --no-prune", "--prune does not apply to --criterion evidence, which has --f"),
    ("fit good.csv --measure phi", "--measure does not apply to --criterion evidence, which has"),
    ("fit good.csv --criterion bits --factor 2", "--factor does not apply to --criterion bits, wh"),
    (
        "fit good.csv --criterion bits --prune",
        "--prune does not apply to --criterion bits, which h",
    ),
    ("fit good.csv --criterion bits --measure phi", "--measure does not apply to --criterion bits"),
    ("fit good.csv --criterion 0.1 --alpha 0.1", "--alpha does not apply to --criterion 0.1, whi"),
    ("fit good.csv --criterion 0.1 --test exact", "--test does not apply to --criterion 0.1, whi"),
    ("fit good.csv --criterion 0.1 --correction bh", "--correction does not apply to --criterion"),
    ("fit good.csv --criterion risk --alpha none", "--alpha none requires --criterion bits"),
    ("fit good.csv --criterion bits --alpha none --test exact", "--alpha none runs no test"),
    ("stability good.csv --prune", "--prune does not apply to --criterion evidence, which has"),
    ("fit good.csv --threshold 0.4", "No such option: --threshold"),
    ("fit good.csv --feature-names short", "Invalid value for '--feature-names'"),
    ("transform model.json good.csv --handle-unknown drop", "Invalid value for '--handle-unknown'"),
    ("fit good.csv --out m.json --max-iter -1", "--max-iter must be a whole number, at least 0"),
    ("fit good.csv --out m.json --max-iter x", "Invalid value for '--max-iter'"),
    ("fit good.csv --out m.json --max-length 1", "--max-length must be a whole number"),
    ("fit good.csv --out m.json --search best", "Invalid value for '--search'"),
    ("fit good.csv --out m.json --stop soon", "Invalid value for '--stop'"),
    ("fit good.csv --out m.json --jobs 0", "--jobs must be a whole number other"),
    ("fit good.csv --out m.json --nope", "No such option: --nope"),
    ("fit good.csv --dry-run", "See conjunct look FILE, which writes nothing, and conjunct fit"),
    ("transform other.json good.csv --out f.csv", "other.json: not a conjunct model file"),
    ("transform no.json good.csv --out f.csv", "no.json: cannot be read"),
    ("transform . good.csv --out f.csv", ".: cannot be read"),
    ("transform model.json two.csv --out f.csv", "two.csv, line 2, column 'b': '2' is not Boolean"),
    ("transform model.json line\nfeed.csv --out f.csv", "line\\nfeed.csv, line 2, column 'b': '2'"),
    ("transform model.json good.csv --out f.txt", "f.txt: not a known kind of table"),
    ("transform model.json good.csv --out no/f.csv", "no is not a folder: create it first"),
    ("transform model.json model.json --out f.csv", "model.json is not a JSON list of objects"),
    ("show good.csv", "good.csv: not a conjunct model file"),
    ("show model.json --ascii --latex", "use either --ascii or --latex, not both"),
    ("datasets iris", "unknown data set 'iris'"),
    ("datasets --out d.csv", "--out needs the name of a data set"),
    ("datasets zoo --out d.txt", "d.txt: not a known kind of table"),
    ("demo --out good.csv", "good.csv is a file: choose a folder"),
    ("nope", "No such command 'nope'. See conjunct --help"),
]


@pytest.fixture(scope="module")
def good_model(tmp_path_factory):
    """The file of a model of good.csv."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "good.csv").write_text(FILES["good.csv"])
    UFC(max_iter=1).fit(read_boolean(folder / "good.csv")).save(folder / "model.json")
    return (folder / "model.json").read_bytes()


@pytest.fixture
def files(good_model, tmp_path):
    for name, content in FILES.items():
        raw = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(raw)
    (tmp_path / "model.json").write_bytes(good_model)
    return {path.name: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize(("words", "message"), BAD, ids=[words for words, _ in BAD])
def test_one_line_and_nothing_written(words, message, files, call, tmp_path):
    done = call(*words.split(" "))
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert [line for line in lines if not line.startswith("conjunct: note:")] == lines[-1:]
    assert lines[-1].startswith("conjunct: error: ")
    assert message in lines[-1]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_bad_input_in_a_process(command, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,\n")
    done = command("fit", "t.csv", "--missing", "raise", "--out", "m.json")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "conjunct: error: t.csv, line 3, column 'b': the cell has no value; "
        "fill it in, drop the row, or use --missing false\n"
    )


HOSTILE_NAMES = [
    "[red]x[/red]",
    "[link=file:///x]",
    "<script>alert(1)</script>",
    ":smile:",
    'quote"d, with comma',
    "new\nline",
    "\x1b[31mred\x1b[0m",
    "a ∧ b",
    "",
    " ",
    "\u202egnp",
    "日本語",
    "x" * 300,
    "threshold",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_are_shown_as_text(name, call, tmp_path):
    rows = [True, False] * 20
    pl.DataFrame({name: rows, "other": [*rows[:-2], True, True]}).write_parquet(
        tmp_path / "t.parquet"
    )
    done = call("fit", "t.parquet", "--max-iter", 1, "--out", "m.json")
    assert (done.code, done.err) == (0, "")
    model = load("m.json")
    for words in ([], ["--formulas"]):
        shown = call("show", "m.json", *words).out
        for text in (done.out, shown):
            assert "\x1b" not in text
            assert "\u202e" not in text
        names = list(map(str, model.features_)) if words else model.feature_set_.pattern_texts
        # what wraps in the first column is compared without its spaces and line ends
        first = [line.strip().partition("  ")[0] for line in shown.splitlines()]
        text = one_line(names[0]).replace(" ", "")[:150]
        assert text in "".join(first).replace(" ", "")
    done = call("transform", "m.json", "t.parquet", "--out", "f.csv")
    assert done.code == 0
    written = read_table(tmp_path / "f.csv")
    assert written.columns == list(model.feature_set_.pattern_texts)
    done = call("chunks", "m.json", "t.parquet", "--layout", "lists", "--out", "c.parquet")
    assert done.code == 0
    assert pl.read_parquet("c.parquet")["chunks"][0].to_list() == [sorted([name, "other"])]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_stay_on_the_line_of_the_error(name, call, tmp_path):
    pl.DataFrame({name: [True, None]}).write_parquet(tmp_path / "t.parquet")
    done = call("fit", "t.parquet", "--missing", "raise", "--out", "m.json")
    assert done.code == 2
    assert done.err == (
        f"conjunct: error: t.parquet, row 2, column {name!r}: the cell has no value; "
        "fill it in, drop the row, or use --missing false\n"
    )
