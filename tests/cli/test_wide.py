"""Files with very many tags, at a prompt."""

import json
import re

import numpy as np
import pytest

from conjunct import UFC
from conjunct.columns import SparseColumns, sizing
from conjunct.files import read_boolean


@pytest.fixture
def wide_file(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "baskets.dat"
    lines = []
    for _ in range(3000):
        tags = set((rng.random(8) ** 3 * 30_000).astype(int).tolist())
        lines.append(" ".join(map(str, sorted(tags))))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_same_model_whatever_the_store(call, wide_file, tmp_path):
    assert isinstance(UFC()._read_to_fit(read_boolean(wide_file)).columns, SparseColumns)
    for store in ("auto", "sparse"):
        out = tmp_path / f"{store}.json"
        words = ("--criterion", "risk", "--no-prune", "--max-iter", 1, "--storage", store)
        done = call("fit", wide_file, *words, "--out", out)
        assert (done.code, done.err) == (0, "")
    assert (tmp_path / "auto.json").read_bytes() == (tmp_path / "sparse.json").read_bytes()
    assert "store" not in json.loads((tmp_path / "auto.json").read_text())["parameters"]


def test_a_stop_that_cannot_be_used_names_what_can(call, wide_file, tmp_path):
    rule = ("--criterion", "risk", "--no-prune")
    done = call("fit", wide_file, *rule, "--out", tmp_path / "model.json")
    assert done.code == 0
    assert "Set --max-iter or --criterion evidence" in done.err


def test_what_a_long_fit_takes_is_told(call, wide_file, tmp_path, monkeypatch):
    monkeypatch.setattr(sizing, "_MEETING_SECONDS", 1e-3)
    out = tmp_path / "model.json"
    done = call("fit", wide_file, "--storage", "sparse", "--max-iter", 0, "--out", out)
    assert done.code == 0
    assert re.search(r"takes about \d+ minutes and .* of memory, more", done.err)
    assert "--search" not in done.err
    # a pass over rows on disk takes long
    stream = ("fit", wide_file, wide_file, "--max-iter", 0, "--out", out)
    assert "--search batch needs fewer passes over the rows" in call(*stream).err
    assert "needs fewer passes" not in call(*stream, "--search", "batch").err


def test_too_little_memory(call, wide_file, tmp_path, monkeypatch):
    monkeypatch.setattr(sizing, "_SMALL_BYTES", 0)
    monkeypatch.setattr(sizing, "available_bytes", lambda: 10**6)
    out = tmp_path / "model.json"
    done = call("fit", wide_file, "--out", out)
    assert done.code == 2
    assert "of memory" in done.err
    assert not out.exists()
