"""``get_path`` and ``truncate(max_chunks=…)``: every vocabulary of one run."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, InputError, datasets
from tables import tables

ZOO = datasets.load_zoo().values


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(table=tables(max_columns=6), factor=st.sampled_from([0.05, 0.5, 1.0]))
def test_each_size_is_a_fit_that_ends_there(table, factor):
    model = UFC().set_params(criterion__factor=factor).fit(table)
    path = model.get_path(table, backend="dict")
    assert path["chunks"] == list(range(model.n_iter_ + 1))
    for k, (n_features, length) in enumerate(
        zip(path["features"], path["description_length"], strict=True)
    ):
        alone = UFC(max_iter=k).set_params(criterion__factor=factor).fit(table)
        shorter = model.truncate(max_chunks=k, X_train=table)
        assert shorter.features_ == alone.features_
        assert len(alone.features_) == n_features
        assert math.isclose(length, alone.description_length_, rel_tol=1e-12)
        assert math.isclose(shorter.description_length_, length, rel_tol=1e-12)


def test_evidence_adds_up():
    model = UFC().fit(ZOO)
    path = model.get_path()
    assert path["newest"].isna().tolist() == [True] + [False] * 10
    costs = [merge.threshold for merge in model.feature_set_.merges]
    gains = path["evidence"][1:] - costs
    np.testing.assert_allclose(path["total_evidence"], [0, *np.cumsum(gains)])
    assert path["description_length"][:-1].isna().all()
    assert path["description_length"].iloc[-1] == model.description_length_


def test_some_sizes_in_a_table_of_any_kind():
    model = UFC().fit(pd.DataFrame(ZOO, columns=[f"c{k}" for k in range(ZOO.shape[1])]))
    path = model.get_path(sizes=[99, 3, 3, 0])
    assert isinstance(path, pd.DataFrame)
    assert path["chunks"].tolist() == [0, 3]
    with pytest.raises(InputError, match="sizes must be a whole number, at least 0; got -1"):
        model.get_path(sizes=[-1])


def test_iterations_of_many_merges_are_not_split():
    model = UFC("risk", stop="never", max_iter=3).fit(ZOO)
    path = model.get_path(backend="dict")
    sizes = path["chunks"]
    assert len(sizes) == 4
    assert sizes[-1] == len(model.feature_set_.merges) > 3
    assert all(map(math.isnan, path["evidence"]))
    assert model.truncate(max_chunks=sizes[2] - 1).n_iter_ == 1
    assert model.truncate(max_chunks=sizes[2]).n_iter_ == 2
    assert model.truncate(max_chunks=10**6).n_iter_ == 3


def test_one_limit_is_given():
    model = UFC().fit(ZOO)
    for limits in ({}, {"max_features": 18, "max_chunks": 2}):
        with pytest.raises(InputError, match="truncate needs either max_features or max_chunks"):
            model.truncate(**limits)
    with pytest.raises(InputError, match="max_chunks must be None or a whole number, at least 0"):
        model.truncate(max_chunks=-1)
    with pytest.raises(InputError, match="X_train differs from the data of fit"):
        model.get_path(ZOO[1:])


def test_a_model_after_some_chunks_can_be_saved(tmp_path):
    shorter = UFC().fit(ZOO).truncate(max_chunks=4, X_train=ZOO)
    assert shorter.stop_reason_ == "Of 10 merges the first 4 are kept."
    shorter.save(tmp_path / "model.json")
    assert UFC.load(tmp_path / "model.json").features_ == shorter.features_


def test_missing_cells_leave_the_lengths_out():
    table = ZOO.astype(float)
    table[0, 0] = np.nan
    with pytest.warns(UserWarning, match="missing cell"):
        model = UFC().fit(table)
    lengths = model.get_path(table, backend="dict")["description_length"]
    assert all(map(math.isnan, lengths[:-1]))
    assert lengths[-1] == model.description_length_
    with pytest.raises(InputError, match="fit again with max_iter=2"):
        model.truncate(max_chunks=2)
