"""``--json``: one document and nothing else, with the keys that docs/commands.md lists."""

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
SECTION = re.compile(r"^### (.+)\n\n((?:\|.*\n)+)", re.MULTILINE)
KEYS = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \|", re.MULTILINE)

EXAMPLES = {
    "fit": ["fit zoo.csv", "fit zoo.csv --out m.json", "fringe zoo.csv --max-features 20"],
    "show": ["show model.json", "show model.json --form simplified --train zoo.csv"],
    "show --feature": [
        "show model.json --feature 5",
        "show model.json --feature 5 --rows zoo.csv --graph dot",
    ],
    "path": ["path zoo.csv", "path zoo.csv --chunks 3 --solutions s.csv"],
    "path --over thresholds": [
        "path zoo.csv --over thresholds --max-iter 2",
        "path zoo.csv --over thresholds --max-iter 2 --solutions s.csv",
    ],
    "stability": ["stability zoo.csv --max-noise 0.02 --runs 2"],
    "chunks": ["chunks model.json zoo.csv --out c.csv"],
    "compare": ["compare model.json zoo.csv zoo.csv --out d.csv --alpha none"],
    "describe": ["describe model.json zoo.csv --by milk"],
    "groups": ["groups zoo.csv", "groups zoo.csv --groups 2 --labels l.csv --out g.json"],
    "transform": ["transform model.json zoo.csv --out f.csv"],
    "suggest": ["suggest model.json zoo.csv --out s.csv"],
    "relations": ["relations zoo.csv", "relations zoo.csv --kind avoid --out r.csv"],
    "tags": ["tags zoo.csv", "tags zoo.csv --review r.csv --out t.csv"],
    "export": [
        "export model.json",
        "export --to schema --out s.json",
        "export model.json --to onnx --out m.onnx",
    ],
    "update": ["update model.json zoo.csv", "update model.json zoo.csv --out m2.json"],
    "report": ["report model.json zoo.csv --out r.html"],
    "reproduce": ["reproduce --data zoo.csv --out all"],
    "demo": ["demo"],
    "datasets": ["datasets"],
    "look": ["look zoo.csv"],
    "datasets NAME": ["datasets zoo --out z.csv"],
}


def documented():
    """The keys of each document, in their order."""
    page = PAGE.read_text(encoding="utf-8")
    return {
        title.split(",")[0]: re.findall(r"\w+", " ".join(KEYS.findall(table)))
        for title, table in SECTION.findall(page)
    }


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


@pytest.mark.parametrize(
    ("section", "words"), [(s, words) for s, examples in EXAMPLES.items() for words in examples]
)
def test_one_document_with_the_documented_keys(
    section, words, call, zoo_files, few_experiments, blank_pages
):
    done = call(*words.split(), "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out, parse_constant=no_constant)
    assert list(document) == documented()[section]
    assert done.out.endswith("}\n")
    # the same again, to the byte
    again = call(*words.split(), "--json")
    assert (again.out, again.err) == (done.out, done.err)
    assert all(line.startswith("conjunct: note: ") for line in done.err.splitlines())


def test_every_document_is_documented():
    assert documented().keys() == EXAMPLES.keys()


def test_files_that_were_not_asked_for_are_null(call, zoo_files):
    saved = json.loads(call("path", "zoo.csv", "--out", "p.json", "--json").out)
    files = {"model": "p.json", "solutions": None, "figure": None, "report": None}
    assert saved["saved"] == files
    assert json.loads(call("fit", "zoo.csv", "--json").out)["saved"] == {
        "model": None,
        "report": None,
    }


def test_what_is_undefined_is_null(call, tmp_path):
    (tmp_path / "few.csv").write_text("a,b,c\n" + "1,1,0\n0,0,1\n" * 20)
    done = call("fit", "few.csv", "--max-iter", 1, "--json")
    assert json.loads(done.out)["history"][-1]["rms"] is None
    assert json.loads(done.out)["features"][0]["parents"] == []
    fringe = json.loads(call("fringe", "few.csv", "--json").out)
    assert fringe["description_length"] is None


def test_data_is_told_in_numbers(call, zoo_files):
    data = json.loads(call("fit", "zoo.csv", "--json").out)["data"]
    assert (data["n_rows"], data["n_distinct_rows"], data["n_features"]) == (101, 53, 15)


def test_names_survive_a_terminal_that_knows_ascii_only(command):
    Path("t.csv").write_text("é,日\n" + "1,1\n0,0\n" * 20, encoding="utf-8")
    done = command("fit", "t.csv", "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.code == 0
    assert done.out.isascii()
    assert json.loads(done.out)["columns"] == ["é", "日"]
