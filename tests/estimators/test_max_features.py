"""``max_features``: the longest beginning of a run that is not too large; ``truncate``: at once."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_bits
from conjunct import (
    UFC,
    Bits,
    ConjunctWarning,
    Evidence,
    InputError,
    Risk,
    Threshold,
    datasets,
    load,
)
from conjunct.expressions import canonical_text
from tables import named, tables

ZOO = datasets.load_zoo().values
RULES = [Evidence(0.2), Bits(), Bits(None), Threshold(0.1), Risk(0.2, prune=False)]


def fitted(model, data):
    """That nothing was constructed is not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(data)


def texts(expressions):
    return {canonical_text(expression) for expression in expressions}


@pytest.mark.parametrize("stop", ["gain", "never"])
@given(table=tables(max_columns=6), alpha=st.sampled_from([None, 0.4]), data=st.data())
def test_the_last_step_that_is_not_too_large(stop, table, alpha, data):
    stages = naive_bits.run(named(table), alpha, max_iter=8, stop=stop)
    sizes = [len(features) for features, _ in stages]
    k = data.draw(st.integers(max(1, min(sizes) - 1), max(sizes)))
    model = UFC(Bits(alpha), stop=stop, max_iter=8, max_features=k)
    frame = pl.DataFrame(table, schema=list(named(table)))
    expected = naive_bits.last_within(stages, k)
    if expected is None:
        with pytest.raises(InputError, match=f"choose at least {min(sizes)}$"):
            model.fit(frame)
        return
    fitted(model, frame)
    assert texts(model.features_) == {naive.canonical(tree) for tree, _, _ in expected[-1][0]}
    assert [line.n_features for line in model.history_] == [len(f) for f, _ in expected]


@given(table=tables(max_columns=6), data=st.data())
def test_missing_cells(table, data):
    gone = data.draw(st.lists(st.booleans(), min_size=table.size, max_size=table.size))
    cells = np.where(np.array(gone).reshape(table.shape), np.nan, table)
    columns = {
        name: [None if np.isnan(cell) else bool(cell) for cell in column]
        for name, column in zip("abcdef", cells.T, strict=False)
    }
    stages = naive_bits.run(columns, None, max_iter=6, stop="never")
    k = data.draw(st.integers(min(len(f) for f, _ in stages), max(len(f) for f, _ in stages)))
    model = UFC(Bits(None), stop="never", max_iter=6, max_features=k, missing="pairwise")
    fitted(model, pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Boolean)))
    expected = naive_bits.last_within(stages, k)
    assert texts(model.features_) == {naive.canonical(tree) for tree, _, _ in expected[-1][0]}
    if model.feature_set_.known is not None:
        with pytest.raises(InputError, match="cells were missing: fit again with max_features=9"):
            model.truncate(9)


@given(
    table=tables(max_columns=6),
    rule=st.sampled_from(RULES),
    search=st.sampled_from(["pairwise", "batch"]),
    k=st.integers(1, 12),
)
def test_all_rules_against_a_fit_for_each_number_of_iterations(table, rule, search, k):
    n_iter = fitted(UFC(rule, search=search, stop="never", max_iter=4), table).n_iter_
    runs = [
        fitted(UFC(rule, search=search, stop="never", max_iter=j), table) for j in range(n_iter + 1)
    ]
    fits = [run for run in runs if len(run.features_) <= k]
    model = UFC(rule, search=search, stop="never", max_iter=4, max_features=k)
    if not fits:
        with pytest.raises(InputError, match="max_features is"):
            model.fit(table)
        return
    expected = max(fits, key=lambda run: run.n_iter_)
    fitted(model, table)
    assert model.features_ == expected.features_
    assert model.feature_set_.supports == expected.feature_set_.supports
    assert repr(model.history_) == repr(expected.history_)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "more", [{}, {"min_support": 0.1}, {"storage": "sparse", "feature_names": "formula"}]
)
def test_to_cut_is_to_fit_again(rule, more, tmp_path):
    model = fitted(UFC(rule, stop="never", max_iter=6, **more), ZOO)
    model.save(tmp_path / "model.json")
    before, sizes = model.to_json(), [line.n_features for line in model.history_]
    for k in sorted({15, *sizes[:5], max(sizes) - 1, max(sizes) + 1}):
        again = fitted(UFC(rule, stop="never", max_iter=6, max_features=k, **more), ZOO)
        for one in (model, load(tmp_path / "model.json")):
            cut = one.truncate(k, X_train=ZOO)
            assert cut.to_json() == again.to_json()
            assert (cut.transform(ZOO) == again.transform(ZOO)).all()
    assert model.to_json() == before


def test_what_was_cut_off_is_gone():
    model = UFC().fit(ZOO)
    assert model.truncate(18).truncate(30).to_json() == model.truncate(18).to_json()


def test_why_it_ended_is_told():
    assert UFC(max_features=18).fit(ZOO).stop_reason_ == (
        "Of 10 merges the first 4 are kept: the next would leave more than 18 features, which is "
        "max_features."
    )
    assert UFC(max_features=99).fit(ZOO).stop_reason_ == UFC().fit(ZOO).stop_reason_
    with pytest.warns(ConjunctWarning, match="Of 10 merges none is kept: the next"):
        assert UFC(max_features=15).fit(ZOO).n_iter_ == 0


def test_numbers_that_cannot_be_had():
    message = (
        "max_features is 14, but no step of the run has fewer than 15 features, because rows must "
        "stay recoverable from 15 columns: choose at least 15"
    )
    with pytest.raises(InputError, match=message):
        UFC(max_features=14).fit(ZOO)
    with pytest.raises(InputError, match=message):
        UFC().fit(ZOO).truncate(14)
    for wrong in (0, 2.5, "many", True):
        with pytest.raises(InputError, match="max_features must be"):
            UFC(max_features=wrong).fit(ZOO)
        with pytest.raises(InputError, match="max_features must be"):
            UFC().fit(ZOO).truncate(wrong)


def test_fewer_than_columns_where_columns_are_equal():
    twice = np.repeat(ZOO[:, :4], 2, axis=1)
    assert len(UFC(max_features=6).fit(twice).features_) <= 6
