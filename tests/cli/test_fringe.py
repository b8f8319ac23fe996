"""The command ``conjunct fringe``."""

import json

import pytest

import conjunct
from conjunct.cli.app import run


@pytest.fixture
def zoo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["datasets", "zoo", "--out", "zoo.csv"]) == 0
    capsys.readouterr()
    return tmp_path / "zoo.csv"


def test_from_a_table_to_a_model_and_back_to_columns(zoo, tmp_path, capsys):
    assert run(["fringe", "zoo.csv", "--max-features", "40", "--out", "model.json"]) == 0
    shown = capsys.readouterr().out
    assert "34 features were constructed in 3 iterations and\nadded to the columns." in shown
    assert "nan" not in shown
    model = conjunct.load("model.json")
    assert type(model) is conjunct.UFringe
    assert len(model.features_) == 49
    assert run(["show", "model.json"]) == 0
    assert "UFringe(max_features=40)" in capsys.readouterr().out
    assert run(["show", "model.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "UFringe"
    assert run(["transform", "model.json", "zoo.csv", "--out", "features.csv"]) == 0
    header = (tmp_path / "features.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == ",".join(model.get_feature_names_out())


def test_options_reach_the_model(zoo):
    options = {
        "max_features": 30,
        "min_samples_leaf": 6,
        "max_depth": 3,
        "strategy": "root-fringe",
        "redundant": "drop",
    }
    words = [w for k, v in options.items() for w in ("--" + k.replace("_", "-"), str(v))]
    assert run(["fringe", "zoo.csv", "--out", "model.json", "--ascii", *words]) == 0
    model = conjunct.load("model.json")
    assert {name: model.get_params()[name] for name in options} == options
    expected = conjunct.UFringe(**options).fit(conjunct.datasets.load_zoo().values)
    assert len(model.features_) == len(expected.features_)
    assert any("&" in name for name in model.get_feature_names_out())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-features", "0"], "--max-features must be a whole number, at least 1; got 0"),
        (["--min-samples-leaf", "0"], "--min-samples-leaf must be"),
        (["--strategy", "leaf"], "strategy"),
        (["--out", "zoo.csv"], "zoo.csv is the data"),
    ],
)
def test_bad_options_are_one_line(zoo, capsys, words, message):
    before = zoo.read_bytes()
    assert run(["fringe", "zoo.csv", "--out", "model.json", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert zoo.read_bytes() == before
    assert not zoo.with_name("model.json").exists()


def test_nothing_constructed_is_a_note(zoo, capsys):
    assert run(["fringe", "zoo.csv", "--min-samples-leaf", "90", "--out", "model.json"]) == 0
    captured = capsys.readouterr()
    assert "Try a smaller --min-samples-leaf" in captured.err
    assert "From 101 rows and 15 columns, nothing was constructed" in captured.out
