"""UFC on files read some rows at a time against the same files in memory."""

import numpy as np
import polars as pl
import pytest

from conjunct import UFC, datasets
from conjunct import files as io
from conjunct.files import streaming
from conjunct.files.model import model_json


def in_bytes(model):
    return model_json(model._model_file())


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    """Pages of a few rows, so that small files have many of them."""
    monkeypatch.setattr(streaming, "_PAGE_BYTES", 5000)


@pytest.mark.parametrize("missing", ["false", "pairwise"])
def test_missing_cells(missing, tmp_path):
    votes = pl.read_csv(datasets.load_house_votes_84().path)
    # some parts have no gap at all
    votes = pl.concat([votes.drop_nulls(), votes, votes.drop_nulls()])
    files = [tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "whole.csv"]
    votes.head(300).write_csv(files[0])
    votes.tail(-300).write_csv(files[1])
    votes.write_csv(files[2])
    options = {"missing": missing, "max_iter": 3}
    expected = UFC(**options).fit(io.read_boolean(files[2]))
    assert expected.n_iter_ > 0
    assert in_bytes(UFC(**options).fit(io.stream(*files[:2]))) == in_bytes(expected)


@pytest.mark.parametrize("store", ["auto", "dense", "sparse"])
def test_tags(store, tmp_path):
    rng = np.random.default_rng(0)
    tags = (rng.random((3000, 6)) ** 3 * 1200).astype(int)
    tags[:, 1] = np.where(rng.random(3000) < 0.5, tags[:, 0] + 1, tags[:, 1])
    lines = [" ".join(map(str, basket)) + "\n" for basket in tags]
    for name, some in (("a", lines[:1000]), ("b", lines[1000:]), ("whole", lines)):
        (tmp_path / f"{name}.dat").write_text("".join(some))
    options = {"stop": "never", "max_length": 4, "max_iter": 50}
    expected = UFC(**options).fit(io.read_boolean(tmp_path / "whole.dat"))
    assert expected.n_iter_ > 0
    stream = io.stream(tmp_path / "a.dat", tmp_path / "b.dat")
    assert in_bytes(UFC(**options, storage=store).fit(stream)) == in_bytes(expected)
