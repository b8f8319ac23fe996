"""Missing cells: pairwise-complete counts and Kleene's logic, judged by the oracle."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import naive
import naive_missing
from conjunct import (
    UFC,
    BooleanData,
    ClusteringTree,
    ConjunctWarning,
    InputError,
    UFCPath,
    UFringe,
    datasets,
    load,
)
from conjunct.expressions import canonical_text
from conjunct.files.model import model_json
from runs import rule_of
from tables import tables

pytestmark = pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")

OPTIONS = st.one_of(
    st.fixed_dictionaries({"threshold": st.sampled_from([0.0, 0.1, 0.3])}),
    st.fixed_dictionaries({"alpha": st.sampled_from([0.3, 0.05])}),
)


@st.composite
def gappy(draw, max_columns=6):
    """Arrays of 0.0, 1.0 and NaN."""
    table = draw(tables(max_columns=max_columns)).astype(float)
    gaps = draw(st.lists(st.integers(0, table.size - 1), max_size=table.size // 2, unique=True))
    table.flat[gaps] = np.nan
    return table


def as_kleene(table):
    """``{name: column}`` of True, False and None."""
    cells = [[None if v != v else bool(v) for v in column] for column in table.T]
    return {f"x{k}": tuple(column) for k, column in enumerate(cells)}


def fitted(table, max_iter=3, **options):
    of_rule = {key: options.pop(key) for key in ("alpha", "threshold", "prune") if key in options}
    model = UFC(rule_of(of_rule), max_iter=max_iter, missing="pairwise", **options)
    return model.fit(table)


@given(gappy(), OPTIONS, st.booleans(), st.sampled_from(["batch", "pairwise"]))
def test_runs_are_the_oracles(table, options, prune, search):
    expected = naive_missing.ufc(as_kleene(table), 3, prune=prune, search=search, **options)
    model = fitted(table, prune=prune, search=search, **options)
    texts = [canonical_text(feature) for feature in model.features_]
    assert texts == [naive.canonical(tree) for tree, _ in expected]
    rules = model.get_features("dict")
    assert rules["support"] == [naive_missing.support(column) for _, column in expected]
    shares = [
        naive_missing.support(x) / naive_missing.known(x) if naive_missing.known(x) else 0.0
        for _, x in expected
    ]
    assert rules["frequency"] == shares
    oi = naive_missing.overlapping_index(expected)
    assert model.history_[-1].oi == pytest.approx(oi, abs=1e-12)
    made = np.array([[np.nan if v is None else float(v) for v in x] for _, x in expected]).T
    assert np.array_equal(np.asarray(model.transform(table), float), made, equal_nan=True)


@given(tables(), OPTIONS, st.booleans())
def test_without_gaps_nothing_changes(table, options, prune):
    pairwise = fitted(table, prune=prune, **options)
    plain = clone(pairwise).set_params(missing="raise").fit(table)
    pairwise.missing = "raise"
    assert model_json(pairwise._model_file()) == model_json(plain._model_file())


@given(gappy(), OPTIONS)
def test_missing_as_false_is_what_it_says(table, options):
    options = {"criterion": rule_of(options | {"prune": False}), "max_iter": 2}
    filled = UFC(**options).fit(np.nan_to_num(table))
    model = UFC(**options, missing="false").fit(table)
    assert model.features_ == filled.features_
    assert model.feature_set_.supports == filled.feature_set_.supports
    assert np.array_equal(model.transform(table), filled.transform(np.nan_to_num(table)))


@given(gappy(), st.booleans())
def test_a_path_ends_where_ufc_does(table, prune):
    names = [f"x{k}" for k in range(table.shape[1])]
    try:
        path = UFCPath(0.05, 0.5, 3, prune, missing="pairwise").fit(table)
    except InputError as error:
        assert "distinct rows" in str(error)  # noqa: PT017 (C0 is undefined there)
        return
    for threshold in (0.05, 0.2, 0.4):
        expected = naive_missing.ufc(as_kleene(table), 2, threshold=threshold, prune=prune)
        found = path.result_of(threshold, 2)
        assert found.n_features == len(expected), names
        assert found.oi == pytest.approx(naive_missing.overlapping_index(expected), abs=1e-12)


@given(gappy(), OPTIONS)
def test_model_files_keep_what_was_known(tmp_path_factory, table, options):
    model = fitted(table, prune=False, **options)
    path = tmp_path_factory.mktemp("missing") / "model.json"
    model.save(path)
    again = load(path)
    assert model_json(again._model_file()) == path.read_bytes()
    assert again.feature_set_.known == model.feature_set_.known
    assert np.array_equal(again.transform(table), model.transform(table), equal_nan=True)


TABLE = np.array([[1, 1, 0], [1, 1, 1], [1, np.nan, 0], [0, 0, 1], [np.nan, 0, 1], [0, 0, 0]] * 9)


def test_gaps_stay_gaps_in_each_kind_of_container():
    model = fitted(TABLE, threshold=0.1, max_iter=1, prune=False)
    features = model.transform(TABLE)
    assert features.dtype == np.float64
    assert np.isnan(features).any()
    expected = [[None if v != v else bool(v) for v in row] for row in features]

    sparse = model.transform(sp.csr_array(TABLE))
    assert np.array_equal(sparse.toarray(), features, equal_nan=True)

    columns = {name: list(column) for name, column in as_kleene(TABLE).items()}
    for frame in (pl.DataFrame(columns), pa.table(columns), pd.DataFrame(columns, dtype="boolean")):
        model = UFC(0.1, max_iter=1, missing="pairwise", feature_names="formula").fit(frame)
        made = model.transform(frame)
        if isinstance(made, pd.DataFrame):
            assert set(made.dtypes) == {pd.BooleanDtype()}
            # whatever rows there are
            for row in range(len(frame)):
                alone = model.transform(frame[row : row + 1])
                assert (~alone).equals(~made[row : row + 1])
            made = {
                name: [None if value is pd.NA else bool(value) for value in made[name]]
                for name in made.columns
            }
        rows = pl.DataFrame(made).rows()
        assert [list(row) for row in rows] == expected

    table = BooleanData.from_data(pl.DataFrame(columns))
    assert [list(row) for row in model.transform(table).convert("polars").rows()] == expected


def test_refused_by_name_with_advice():
    with pytest.raises(InputError, match=r"x1.*row 2.*missing.*missing='pairwise'"):
        UFC(missing="raise").fit(TABLE)
    frame = pl.DataFrame({"a": [True, None], "b": [True, False]})
    with pytest.raises(InputError, match=r"'a'.*missing.*missing='pairwise'"):
        UFC(missing="raise").fit(BooleanData.from_data(frame))
    with pytest.raises(InputError, match=r"infinity"):
        UFC(missing="pairwise").fit(np.array([[np.inf, 0.0]]))
    with pytest.raises(InputError, match=r"missing must be"):
        UFC(missing="drop").fit(TABLE)
    for estimator in (UFringe, ClusteringTree):
        with pytest.raises(InputError, match=r"missing must be 'raise' or 'false'"):
            estimator(missing="pairwise").fit(TABLE)
        estimator(missing="false").fit(TABLE)


def test_reading_aids_know_what_is_known():
    model = fitted(TABLE, threshold=0.1, max_iter=1, prune=False)
    explanation = model.explain(0, TABLE)
    assert all(model.explain(k, TABLE).on_rows is None for k in range(len(model.features_)))
    column = model.transform(TABLE)[:, 0]
    assert explanation.frequency == np.nansum(column) / np.sum(~np.isnan(column))
    assert [n.position for n in model.similar_features(0, TABLE)] != []
    assert model.find_rows(0, TABLE).tolist() == np.flatnonzero(column == 1).tolist()
    for contrast in explanation.contrasts:
        primitive = TABLE[:, int(contrast.tags[1:])]
        inside = primitive[(column == 1) & ~np.isnan(primitive)]
        outside = primitive[(column == 0) & ~np.isnan(primitive)]
        assert (contrast.inside, contrast.outside) == (inside.mean(), outside.mean())
    with pytest.raises(InputError, match=r"^rare_conjunctions needs data without missing cells"):
        model.rare_conjunctions(TABLE)
    with pytest.raises(InputError, match=r"^X_train needs data without missing cells"):
        model.formulas(X_train=TABLE)


@given(gappy(), st.sampled_from([0.0, 0.2]))
def test_recovered_cells_are_right_where_they_are_true(table, threshold):
    model = fitted(table, threshold=threshold, prune=False)
    back = np.asarray(model.inverse_transform(model.transform(table)), float)
    # a cell that comes back true was true; one that was known may come back missing
    assert not ((back == 1) & (table != 1)).any()


def test_columns_that_are_never_known():
    table = np.array([[np.nan, 1, 1], [np.nan, 0, 0], [np.nan, 1, 1], [np.nan, 0, 0]] * 5)
    model = fitted(table, threshold=0.1, max_iter=2, prune=False)
    assert "x0" in [str(feature) for feature in model.features_]
    assert model.get_features("dict")["frequency"][0] == 0.0


@pytest.mark.parametrize("options", [{"threshold": 0.4}, {"alpha": 0.001, "prune": True}])
def test_votes_of_1984_are_the_oracles(options):
    votes = datasets.load_house_votes_84()
    table = np.where(votes.missing, np.nan, votes.values)
    expected = naive_missing.ufc(as_kleene(table), 3, **options)
    model = fitted(table, **{"prune": False} | options)
    texts = [canonical_text(feature) for feature in model.features_]
    assert texts == [naive.canonical(tree) for tree, _ in expected]
    assert model.feature_set_.supports == tuple(naive_missing.support(x) for _, x in expected)
    assert model.feature_set_.known == tuple(naive_missing.known(x) for _, x in expected)
    # the counts that decided are those of the rows in which both are known
    for merge in model.feature_set_.merges:
        assert merge.n_rows <= len(table)
        if "alpha" in options:
            bound = naive.risk_threshold(options["alpha"], merge.n_rows)
            assert merge.threshold == pytest.approx(bound)
    assert any(merge.n_rows < len(table) for merge in model.feature_set_.merges)


def test_a_table_of_nothing_but_gaps_constructs_nothing():
    with pytest.warns(ConjunctWarning, match="No chunk was found"):
        model = UFC(missing="pairwise", max_iter=1).fit(np.full((3, 2), np.nan))
    assert [str(feature) for feature in model.features_] == ["x0", "x1"]
