"""``--variables``: given as a file, refused in one line, or none; and what ``show`` says."""

import json

import pytest

from conjunct import load
from conjunct.files import read_boolean
from conjunct.report import Report

ROWS = [
    f"{sex},{smokes},{eye}"
    for sex in ("male", "female")
    for smokes in ("yes", "no")
    for eye in ("1,0", "0,1")
    for _ in range(40 if (sex == "male") == (smokes == "yes") else 10)
]
TABLE = "\n".join(["sex,smokes,eye_blue,eye_brown", *ROWS, ""])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize("command", ["fit", "path"])
def test_what_the_command_line_says(command, call, table, tmp_path):
    given = {"odd": ["smokes", "eye_blue"]}
    (tmp_path / "v.json").write_text(json.dumps(given))
    sex, eye = ("sex = female", "sex = male"), ("eye_blue", "eye_brown")
    for options, expected in (
        ((), {"sex": sex, "eye": eye}),
        (("--variables", "none"), {}),
        (("--variables", "v.json"), {"odd": ("smokes", "eye_blue")}),
    ):
        done = call(command, table, *options, "--out", "m.json")
        assert done.code == 0
        assert load("m.json").variables_ == expected
    done = call("show", "m.json")
    assert "\n1 variable: odd (smokes, eye_blue).\n" in done.out
    document = json.loads(call("show", "m.json", "--json").out)
    assert document["variables"] == given
    assert document["parameters"]["variables"] == given


def test_stability_takes_them(call, table, tmp_path):
    (tmp_path / "v.json").write_text('{"sex": ["sex = female", "sex = male"]}')
    assert call("stability", table, "--runs", 2, "--bootstrap", "--variables", "v.json").code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": ["smokes", "hat"]}', "variable 'a' has 'hat', which is not a column"),
        ('{"a": ["smokes"]}', "variable 'a' needs at least two columns; got ['smokes']"),
        ('{"a": 1}', "v.json: not a JSON object of variables with lists of their columns"),
    ],
)
def test_one_line_says_what_is_wrong(content, message, call, table, tmp_path):
    (tmp_path / "v.json").write_text(content)
    done = call("fit", table, "--variables", "v.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("conjunct: error: ")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_file_that_is_not_there(call, table):
    done = call("fit", table, "--variables", "v.json")
    assert (done.code, done.err) == (2, "conjunct: error: v.json does not exist\n")


def test_the_report_names_them(call, table):
    call("fit", table, "--out", "m.json")
    page = Report(load("m.json"), read_boolean(table))
    assert "sex (female, male), eye (blue, brown)" in page._html
