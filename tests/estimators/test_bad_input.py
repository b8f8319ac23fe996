"""Bad input: one clear line for each, or a right answer."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from conjunct import (
    UFC,
    Bits,
    BooleanData,
    CellError,
    ChunkClassifier,
    ClusteringTree,
    ConjunctWarning,
    InputError,
    UFCPath,
    UFringe,
    datasets,
)

REFUSED = {
    "no rows": (np.zeros((0, 3), bool), r"0 sample\(s\)"),
    "no columns": (np.zeros((3, 0), bool), r"0 feature\(s\)"),
    "table without rows": (pd.DataFrame({"a": []}), "no rows"),
    "table without columns": (pd.DataFrame(index=[1, 2]), "no columns"),
    "one dimension": (np.array([True, False]), "Expected 2D array, got 1D array"),
    "three dimensions": (np.zeros((2, 2, 2), bool), "dim 3"),
    "NaN": (np.array([[0.0, 1], [np.nan, 1]]), r"column 'x0', row 1: .*missing \(NaN\)"),
    "infinity": (np.array([[0.0, np.inf]]), "column 'x1', row 0: .*inf"),
    "two": (np.array([[0, 1], [1, 2]]), "column 'x1', row 1: 2 is not Boolean"),
    "minus one": (np.array([[0, -1]]), "column 'x1', row 0: -1 is not Boolean"),
    "half": (np.array([[0.5]]), "column 'x0', row 0: 0.5 is not Boolean"),
    "text array": (np.array([["yes"], ["no"]]), "column 'x0', row 0: 'yes' is not Boolean"),
    "text in objects": (np.array([[True], ["maybe"]], object), "row 1: 'maybe' is not Boolean"),
    "complex": (np.array([[1j, 0]]), "Complex data not supported"),
    "None": (pl.DataFrame({"a": [True, None]}), "column 'a', row 1: .*missing"),
    "pandas NA": (pd.DataFrame({"a": [True, pd.NA]}, dtype="boolean"), "column 'a', row 1"),
    "one date": (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "no column makes a feature"),
    "sparse two": (sp.csr_array(np.array([[0, 2]])), "column 'x1', row 0: 2 is not Boolean"),
    "lazy": (pl.LazyFrame({"a": [True, None]}), "column 'a', row 1: the value is missing"),
    "lazy words": (pl.LazyFrame({"a": ["x"]}), "no column makes a feature"),
    "lazy without rows": (pl.LazyFrame({"a": []}, {"a": pl.Boolean}), "no rows"),
    "a column": (pl.Series([True, False]), r"a Series is not a table: pass s.to_frame\(\)"),
    "a column of text": (pd.Series(["a,b", "b"]), r"a list of tags per row, as s.str.split"),
    "dicts": ([{"a": 1}, {"a": 0}], r"a list of dicts is not a table: pass pandas.DataFrame"),
    "equal names": (pd.DataFrame([[1, 0]], columns=["a", "a"]), "two columns are called 'a'"),
    "ragged": ([[0, 1], [1]], "differ in length"),
    "a string for a basket": ([{"a"}, "b"], "a basket must be a set or a list"),
    "nothing but empty lists": ([[], []], r"the baskets have no items \(0 feature\(s\)\)"),
    "nothing but empty sets": ([set(), set()], "the baskets have no items"),
    "None in a basket": ([["a", None]], "a basket holds None"),
}


@pytest.mark.parametrize("estimator", [UFC(), UFringe(), ClusteringTree()], ids=repr)
@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_one_line(case, estimator):
    data, message = REFUSED[case]
    with pytest.raises(ValueError, match=message) as raised:
        clone(estimator).set_params(missing="raise").fit(data)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "data",
    [
        np.ones((1, 1), bool),
        np.ones((1, 4), bool),
        np.ones((5, 1), bool),
        np.zeros((5, 3), bool),
        np.eye(3, dtype=bool),
        pd.DataFrame({"": [1, 0, 1]}),
        pd.DataFrame({0: [True, False], 1: [False, True]}),
        [["a"], []],
    ],
    ids=[
        "cell",
        "row",
        "column",
        "all false",
        "exclusive",
        "empty name",
        "numbers as names",
        "basket",
    ],
)
def test_small_tables_come_back_as_they_are(data):
    with pytest.warns(ConjunctWarning, match="No chunk was found"):
        model = UFC().fit(data)
    assert model.n_iter_ == 0
    assert len(model.features_) == model.n_features_in_
    restored = model.inverse_transform(model.transform(data))
    assert restored == data if isinstance(data, list) else np.array_equal(restored, data)


PARAMETERS = {
    "criterion": ["auto", None, True, ["bits"], UFC(), {"rule": "entropy"}],
    "max_iter": [-1, 1.5, "two", True],
    "max_length": [1, 0, 2.5],
    "stop": ["oi", 3, Bits(), True],
    "search": ["greedy", 1],
    "feature_names": ["text", "pattern", None],
    "handle_unknown": ["drop", None],
    "min_support": [0, 1.01, -0.1, "1%", True],
    "threshold": ["yes", True],
    "n_jobs": [0, 1.5, "two", True],
    "formula_style": ["html", None],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARAMETERS.items() for value in values]
)
def test_parameters_are_checked_by_name(name, value):
    with pytest.raises(InputError, match=f"^{name} must be .*; got "):
        UFC(**{"criterion": "risk", name: value}).fit(np.eye(4, dtype=bool))


@pytest.mark.parametrize("threshold", [1, 1.5, -0.1, float("nan")])
def test_a_number_for_a_criterion_is_a_threshold(threshold):
    with pytest.raises(InputError, match=r"^threshold must be a number from 0 up to, .*; got "):
        UFC(threshold).fit(np.eye(4, dtype=bool))


def test_first_iteration_that_does_not_help_is_explained():
    # three columns that never change together: replacing them costs more than it saves
    rng = np.random.default_rng(3)
    table = rng.random((400, 6)) < 0.02
    table[:, 1] |= table[:, 0] & (rng.random(400) < 0.5)
    with pytest.warns(
        ConjunctWarning, match="first iteration raises RMS from .* criterion='evidence'"
    ):
        model = UFC(0.2).fit(table)
    assert model.n_iter_ == 0


def test_rms_without_complexity_is_explained():
    table = np.repeat(np.eye(3, dtype=bool), 20, axis=0)[:, [0, 0, 1, 1]]
    with pytest.warns(ConjunctWarning, match="C0 is undefined for 3 distinct rows and 4 columns"):
        model = UFC("risk").fit(table)
    assert model.n_iter_ == 1
    assert len(UFC("risk", max_iter=1).fit(table).features_) == len(model.features_) == 2


def test_transform_wants_the_columns_of_fit():
    model = UFC(max_iter=1).fit(datasets.load_zoo().values)
    with pytest.raises(ValueError, match="X has 3 features, but UFC is expecting 15"):
        model.transform(np.zeros((2, 3), bool))
    with pytest.raises(InputError, match="X has 3 columns, but the model"):
        model.inverse_transform(np.zeros((2, 3), bool))


def test_rms_that_never_rises_ends_while_formulas_can_be_read():
    # independent columns and as many distinct rows as rows: C0 hardly grows
    table = np.random.default_rng(0).random((20_000, 40)) < 0.3
    with pytest.warns(
        ConjunctWarning, match="RMS still falls after iteration [0-9]+, but the next"
    ):
        model = UFC(0.001, feature_names="formula").fit(table)
    assert model.n_iter_ > 3
    assert model.history_[-1].length <= 100
    assert len(
        UFC(0.001, max_iter=model.n_iter_ + 1, feature_names="formula").fit(table).history_
    ) == (model.n_iter_ + 2)


def test_words_and_numbers_of_arrays_get_advice():
    with pytest.raises(
        CellError, match=r"'x0', row 0: .*; pass a data frame: its columns of words"
    ):
        UFC().fit(np.array([["red"], ["green"]]))
    with pytest.raises(CellError, match=r", pass threshold= .* or pass a data frame"):
        UFC().fit(np.array([[0], [7]]))


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_threshold_is_a_number_and_not_a_boolean(value):
    message = r"^threshold must be None or a finite number; got"
    for kind in (UFC, UFCPath, UFringe):
        with pytest.raises(InputError, match=message):
            kind(threshold=value).fit(np.array([[0.2, 3], [2, 0]]))
    with pytest.raises(InputError, match=message):
        BooleanData.from_data(np.array([[0.2, 3], [2, 0]]), threshold=value)


def test_advice_about_cells_names_what_the_estimator_takes():
    table, y = np.array([[1.0, np.nan], [0, 1], [1, 1]]), [0, 1, 1]
    with pytest.raises(CellError, match=r"or pass missing='pairwise' or 'false'"):
        UFC(missing="raise").fit(table)
    with pytest.raises(CellError, match=r"or pass missing='false'"):
        UFringe(missing="raise").fit(table)
    with pytest.raises(CellError, match=r"or pass constructor=UFC\(missing='pairwise'\)$"):
        ChunkClassifier(UFC(missing="raise")).fit(table, y)
    ChunkClassifier(UFC(missing="pairwise")).fit(table, y)
    with pytest.raises(CellError, match=r", pass constructor=UFC\(threshold=…\) to split"):
        ChunkClassifier().fit(np.array([[0, 7], [1, 0], [1, 1]]), y)
    strict = ChunkClassifier(UFC(missing="raise"))
    fitted = strict.fit(np.array([[0, 1], [1, 0], [1, 1]]), y)
    with pytest.raises(CellError, match=r"or pass constructor=UFC\(missing='pairwise'\)$"):
        fitted.predict(table)
