"""``conjunct transform`` writes sparse files that hold what the tables hold."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from conjunct import datasets


@pytest.fixture
def model(call, tmp_path):
    (tmp_path / "zoo.csv").write_bytes(datasets.find("zoo").path.read_bytes())
    assert call("fit", "zoo.csv", "--max-iter", "2", "--out", "model.json").code == 0
    assert call("transform", "model.json", "zoo.csv", "--out", "dense.parquet").code == 0
    return pl.read_parquet(tmp_path / "dense.parquet").to_numpy()


@pytest.mark.parametrize("out", ["out.npz", "out.NPZ", "out.svmlight", "out.svm", "out.libsvm"])
def test_sparse_files_hold_what_tables_hold(out, call, model, tmp_path):
    done = call("transform", "model.json", "zoo.csv", "--out", out)
    assert done.code == 0, done.err
    assert done.out == f"Saved {model.shape[1]} features of {len(model)} rows as {out}.\n"
    if out.lower().endswith("npz"):
        written = sp.load_npz(tmp_path / out)
        assert written.dtype == np.bool_
    else:
        written, labels = load_svmlight_file(
            tmp_path / out, zero_based=True, n_features=model.shape[1]
        )
        assert not labels.any()
    assert (written.toarray() == model).all()


def test_rare_tags_stay_lists(call, tmp_path):
    rng = np.random.default_rng(0)
    ones = rng.integers(0, 3000, (4000, 3))
    (tmp_path / "t.dat").write_text(
        "".join(" ".join(f"t{k:04}" for k in {*row, row[0] ^ 1}) + "\n" for row in ones.tolist())
    )
    assert call("fit", "t.dat", "--max-iter", "1", "--out", "m.json").code == 0
    for out in ("out.npz", "out.csv"):
        done = call("transform", "m.json", "t.dat", "--out", out)
        assert done.code == 0, done.err
    written = sp.load_npz(tmp_path / "out.npz")
    assert (written.toarray() == pl.read_csv(tmp_path / "out.csv").to_numpy()).all()


def test_what_sparse_files_cannot_hold(call, model, tmp_path):
    lines = (tmp_path / "zoo.csv").read_text().splitlines()
    named = "".join(f"{'name' if k == 0 else k},{line}\n" for k, line in enumerate(lines))
    (tmp_path / "named.csv").write_text(named)
    done = call("transform", "model.json", "named.csv", "--id", "name", "--out", "out.npz")
    assert done.code == 2
    assert done.err == (
        "conjunct: error: out.npz: a sparse file cannot have ids: leave --id out, or use .parquet\n"
    )
    (tmp_path / "t.csv").write_text("a,b\n" + "1,1\n0,0\n,1\n" * 20)
    fit = ("fit", "t.csv", "--missing", "pairwise", "--out", "m.json")
    assert call(*fit).code == 0
    done = call("transform", "m.json", "t.csv", "--out", "out.svm")
    assert done.code == 2
    assert done.err == (
        "conjunct: error: out.svm: a sparse file cannot have missing cells: use .csv or .parquet\n"
    )
    assert not {"out.npz", "out.svm"} & {p.name for p in tmp_path.iterdir()}
