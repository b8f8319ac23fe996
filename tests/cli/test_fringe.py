"""The command ``conjunct fringe``."""

import json

import pytest

import conjunct


@pytest.fixture
def zoo(call, tmp_path):
    assert call("datasets", "zoo", "--out", "zoo.csv").code == 0
    return tmp_path / "zoo.csv"


def test_from_a_table_to_a_model_and_back_to_columns(zoo, tmp_path, call):
    done = call("fringe", "zoo.csv", "--max-features", 40, "--out", "model.json")
    assert done.code == 0
    assert "34 features were constructed in 3 iterations and\nadded to the columns." in done.out
    model = conjunct.load("model.json")
    assert type(model) is conjunct.UFringe
    assert len(model.features_) == 49
    shown = call("show", "model.json").out
    assert "UFringe(max_features=40)" in shown
    assert "nan" not in shown
    assert json.loads(call("show", "model.json", "--json").out)["kind"] == "UFringe"
    assert call("transform", "model.json", "zoo.csv", "--out", "features.csv").code == 0
    header = (tmp_path / "features.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == ",".join(model.get_feature_names_out())


def test_options_reach_the_model(zoo, call):
    options = {
        "max_features": 30,
        "min_samples_leaf": 6,
        "max_depth": 3,
        "strategy": "root-fringe",
    }
    words = [word for k, v in options.items() for word in ("--" + k.replace("_", "-"), v)]
    words += ["--drop-redundant", "--ascii"]
    assert call("fringe", "zoo.csv", "--out", "model.json", *words).code == 0
    model = conjunct.load("model.json")
    assert {name: model.get_params()[name] for name in options} == options
    assert model.drop_redundant is True
    assert any("&" in name for name in model.get_feature_names_out())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-features", "0"], "--max-features must be a whole number, at least 1; got 0"),
        (["--min-samples-leaf", "0"], "--min-samples-leaf must be"),
        (["--strategy", "leaf"], "--strategy"),
        (["--out", "zoo.csv"], "zoo.csv is the data"),
    ],
)
def test_bad_options_are_one_line(zoo, call, words, message):
    before = zoo.read_bytes()
    done = call("fringe", "zoo.csv", "--out", "model.json", *words)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert zoo.read_bytes() == before
    assert not zoo.with_name("model.json").exists()


def test_nothing_constructed_is_a_note(zoo, call):
    done = call("fringe", "zoo.csv", "--min-samples-leaf", 90, "--out", "model.json")
    assert done.code == 0
    assert "Try a smaller --min-samples-leaf" in done.err
    assert "From 101 rows and 15 columns, nothing was constructed" in done.out
