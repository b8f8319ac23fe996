"""``--keep-columns``: in the model, and for one table."""

import polars as pl
import pytest

KEPT = ["a", "b", "c", "a + b"]
MADE = ["c", "a + b", "a (rest)"]


@pytest.fixture
def data(tmp_path):
    rows = [(1, 1, 0)] * 40 + [(1, 0, 0)] * 20 + [(0, 0, 1)] * 60 + [(0, 0, 0)]
    pl.DataFrame(rows, schema=["a", "b", "c"], orient="row").write_csv(tmp_path / "data.csv")


def columns(call, *words):
    done = call("transform", "m.json", "data.csv", *words)
    assert (done.code, done.err) == (0, "")
    return pl.read_csv(done.out.encode()).columns


def test_the_model_keeps_it(call, data):
    assert call("fit", "data.csv", "--keep-columns", "--out", "m.json").code == 0
    assert columns(call) == KEPT
    assert columns(call, "--no-keep-columns") == MADE
    exported = call("export", "m.json")
    assert exported.out.count(" AS ") == len(KEPT) + 1
    assert call("show", "m.json").out.startswith("UFC(keep_columns=True)\n")


def test_for_one_table(call, data):
    assert call("fit", "data.csv", "--out", "m.json").code == 0
    assert columns(call) == MADE
    assert columns(call, "--keep-columns") == KEPT


def test_path(call, data):
    assert call("path", "data.csv", "--keep-columns", "--out", "m.json").code == 0
    assert columns(call)[:3] == ["a", "b", "c"]


def test_a_model_that_adds_features_is_refused(call, data):
    assert call("fringe", "data.csv", "--out", "m.json").code == 0
    done = call("transform", "m.json", "data.csv", "--keep-columns")
    assert (done.code, done.out) == (2, "")
    assert "--keep-columns does not apply to a UFringe model" in done.err
