"""What the commands print at 80 columns, to the letter; see expected/ beside this file."""

import json
import shutil
from pathlib import Path

import pytest
import typer

from conjunct import UFC, UFringe, datasets, load
from conjunct.cli.app import application
from conjunct.files import read_boolean

EXPECTED = Path(__file__).with_name("expected")


COMMANDS = typer.main.get_command(application()).commands
PRINTED = {
    "fit.txt": "fit zoo.csv --out model.json",
    "fit-risk.txt": "fit zoo.csv --criterion risk --out model.json",
    "fit-ascii.txt": "fit zoo.csv --ascii --formulas --max-iter 2 --out model.json",
    "chunks.txt": "chunks pairwise.json few.csv",
    "chunks-long.txt": "chunks pairwise.json few.csv --layout long",
    "chunks.jsonl": "chunks pairwise.json few.csv --layout lists",
    "fringe.txt": "fringe zoo.csv --max-features 30 --out model.json",
    "path.txt": "path zoo.csv --chunks 4",
    "path-threshold.txt": "path zoo.csv --over thresholds",
    "stability.txt": "stability zoo.csv --max-noise 0.1 --runs 3",
    "stability.json": "stability zoo.csv --bootstrap --runs 2 --json",
    "transform.json": "transform pairwise.json zoo.csv --out features.csv --json",
    "suggest.txt": "suggest evidence.json few.csv --top 2",
    "relations.txt": "relations zoo.csv",
    "look.txt": "look tags.csv --tags tags",
    "look.json": "look zoo.csv --json --columns hair,feathers",
    "tags.txt": "tags tags.csv --tags tags --review review.csv",
    "tags.json": "tags tags.csv --tags tags --json",
    "show.txt": "show pairwise.json",
    "show-evidence.txt": "show evidence.json",
    "show-bits.txt": "show bits.json",
    "show-formulas.txt": "show pairwise.json --formulas",
    "show-ascii.txt": "show pairwise.json --ascii --formulas",
    "show.json": "show pairwise.json --json",
    "explained.txt": "show pairwise.json --feature 18 --rows zoo.csv",
    "explained.json": "show pairwise.json --feature 18 --rows zoo.csv --json",
    "compare.txt": "compare evidence.json few.csv rest.csv --alpha 0.4 --correction none",
    "compare-nothing.txt": "compare evidence.json few.csv rest.csv",
    "describe.txt": "describe evidence.json zoo.csv --by types.csv --top 2",
    "groups.txt": "groups zoo.csv --labels kinds.csv",
    "update.txt": "update evidence.json few.csv --out new.json",
    "datasets.txt": "datasets",
    "datasets.json": "datasets --json",
    "demo.txt": "demo",
    "help.txt": "--help",
}
TAGS = """\
photo,tags
1,Waterfalls;sky
2,waterfall;Sky
3,waterfal;sea
4,sky;sea
"""


@pytest.fixture(scope="module")
def models(made_once, tmp_path_factory):
    """The files of models by other rules than the default."""
    folder = tmp_path_factory.mktemp("models")
    data = read_boolean(made_once / "zoo.csv")
    UFC("risk", search="pairwise", max_length=3).fit(data).save(folder / "pairwise.json")
    UFC("bits").fit(data).save(folder / "bits.json")
    return folder


@pytest.fixture
def files(zoo_files, models):
    shutil.copytree(models, zoo_files, dirs_exist_ok=True)
    (zoo_files / "model.json").rename(zoo_files / "evidence.json")
    lines = (zoo_files / "zoo.csv").read_text().splitlines(keepends=True)
    (zoo_files / "few.csv").write_text("".join(lines[:9]))
    (zoo_files / "rest.csv").write_text("".join([lines[0], *lines[9:]]))
    types = datasets.load_zoo().rows["type"]
    (zoo_files / "types.csv").write_text("\n".join(["type", *types]))
    (zoo_files / "tags.csv").write_text(TAGS)


@pytest.mark.parametrize("expected", PRINTED)
def test_printed_text(expected, call, files, blank_pages):
    done = call(*PRINTED[expected].split())
    assert (done.code, done.err) == (0, "")
    assert done.out == (EXPECTED / expected).read_text(encoding="utf-8")


def test_no_expected_text_is_left_over():
    assert {path.name for path in EXPECTED.iterdir()} == set(PRINTED)


@pytest.mark.parametrize("expected", sorted(EXPECTED.glob("*.txt")), ids=lambda path: path.name)
def test_eighty_columns_suffice(expected):
    lines = expected.read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)


def test_json_says_what_the_model_says(call, zoo_files):
    shown = json.loads(call("show", "model.json", "--json").out)
    model = load("model.json")
    assert [rule["rule"] for rule in shown["features"]] == [str(f) for f in model.features_]
    assert [rule["support"] for rule in shown["features"]] == list(model.feature_set_.supports)
    assert [one["name"] for one in shown["findings"]] == [one.name for one in model.findings_]
    assert [one["chunk"] for one in shown["merges"]] == model.get_rules("dict")["chunk"]
    assert shown["threshold"] == model.threshold_
    assert shown["history"][-1]["oi"] == model.history_[-1].oi
    latex = json.loads(call("show", "model.json", "--json", "--latex").out)
    assert latex["features"][-1]["rule"].startswith("\\")


def test_summary_of_a_model_that_made_nothing(call, zoo_files):
    done = call("fit", "zoo.csv", "--max-iter", 0, "--out", "model.json")
    assert "nothing was found" in done.out
    assert "nothing was found" in call("show", "model.json").out


def test_only_the_strongest_are_printed_by_fit(call, tmp_path):
    call("datasets", "spect", "--out", "spect.csv")
    done = call("fit", "spect.csv", "--out", "model.json")
    n_findings = len(load("model.json").findings_)
    end = f"Top 5 of {n_findings} findings; conjunct show model.json lists more."
    assert end in " ".join(done.out.split())
    shown = call("show", "model.json").out
    assert sum("×" in line for line in shown.splitlines()) == n_findings


def test_demo_saves_models_of_the_chunks_it_shows(call, tmp_path):
    assert call("demo", "--out", "a/b").code == 0
    assert sorted(p.name for p in (tmp_path / "a/b").iterdir()) == [
        "coco_street.html",
        "coco_street.json",
        "coco_val2017.json",
    ]
    model = load(tmp_path / "a/b/coco_val2017.json")
    assert ("keyboard", "laptop", "mouse", "tv") in model.patterns_


def test_the_published_figures_come_out_at_the_prompt(call, tmp_path):
    call("datasets", "spect", "--out", "spect.csv")
    rule = ["--criterion", "risk", "--alpha", "0.0001", "--no-prune"]
    done = call("fit", "spect.csv", *rule, "--out", "spect.json")
    assert "after          39     2.97   0.078   0.086   0.082" in done.out
    found = load(tmp_path / "spect.json").history_[-1]
    assert (found.n_features, round(found.length, 2)) == (39, 2.97)
    assert (round(found.oi, 3), round(found.c0, 3)) == (0.078, 0.086)


def test_endless_formulas_are_not_written_out(call, tmp_path):
    """A formula that doubles sixty times: few nodes, 10¹² literals."""
    content = UFringe(max_features=8).fit([["a", "b"]] * 30 + [["a"]] * 9 + [[]] * 9).to_dict()
    m = len(content["columns"])
    first = [{"literals": [0, 1], "support": 0}], [{"literals": [m, -2], "support": 0}]
    more = [[{"literals": [m + k, ~(m + k - 1)], "support": 0}] for k in range(1, 60)]
    (tmp_path / "endless.json").write_text(json.dumps(content | {"added": [*first, *more]}))
    done = call("show", "endless.json", "--formulas")
    assert done.code == 0
    assert "literals" in done.out
    assert max(map(len, done.out.splitlines())) < 30_000


def test_fit_says_how_to_get_shorter_formulas(call, tmp_path):
    call("datasets", "spect", "--out", "spect.csv")
    words = ["fit", "spect.csv", "--criterion", "0", "--max-iter", "6"]
    done = call(*words, "--out", "m.json")
    assert done.code == 0
    assert done.err == (
        "conjunct: note: the formulas are long: use --max-length 4 for shorter ones\n"
    )
    assert call(*words, "--max-length", "4", "--out", "m.json").err == ""
    # who reads patterns does not mind
    assert call("fit", "spect.csv").err == ""


def test_long_formulas_are_cut_in_tables_only(call, tmp_path):
    name = "n" * 1000
    (tmp_path / "t.csv").write_text(f"{name},b\n" + "1,1\n0,0\n" * 30 + "1,0\n" * 5)
    assert call("fit", "t.csv", "--max-iter", 1, "--out", "m.json").code == 0
    done = call("show", "m.json")
    assert name not in done.out.replace("\n", "")
    assert "…" in done.out
    assert name in call("show", "m.json", "--json").out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_page_says_all_of_its_command(name, call):
    """Whatever the words are: the usage, the docstring, and each option with its explanation."""

    def squash(text):
        # a backspace asks click not to wrap a paragraph
        return "".join(text.replace("\b", "").split())

    command, done = COMMANDS[name], call(name, "--help")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith(f"Usage: conjunct {name} [OPTIONS]")
    assert max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)
    assert squash(command.help) in squash(done.out)
    assert "\n    $ conjunct " in done.out.partition("Examples:")[2]
    listed = {word.rstrip(",") for line in lines for word in line.split() if line[:3] == "  -"}
    for parameter in command.params:
        assert parameter.help, parameter.name
        assert squash(parameter.help) in squash(done.out), parameter.name
        names = [*parameter.opts, *parameter.secondary_opts]
        assert {option for option in names if option.startswith("-")} <= listed


@pytest.mark.parametrize("name", COMMANDS)
def test_out_has_a_short_form(name):
    for parameter in COMMANDS[name].params:
        assert ("--out" in parameter.opts) == ("-o" in parameter.opts)
