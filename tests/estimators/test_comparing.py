"""Two data sets, and groups of one, in chunks: against the oracle, in every layout and label."""

import datetime
import math
import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import naive_comparing
from conjunct import (
    UFC,
    Bits,
    ConjunctWarning,
    InputError,
    Threshold,
    UFringe,
    compare,
    datasets,
    describe_groups,
)
from tables import tables

CORRECTIONS = ["bonferroni", "holm", "bh", "by", None]
LEVELS = [None, 0.05, 0.2, 0.4]
ZOO = datasets.load_zoo()
ANIMALS = pd.DataFrame(ZOO.values, columns=list(ZOO.feature_names))
TYPES = list(ZOO.rows["type"])
MODEL = UFC().fit(ANIMALS)


@st.composite
def fitted(draw):
    """A model, and rows with the same columns and other combinations, some cells missing."""
    table = draw(tables(max_columns=6))
    n, m = draw(st.integers(2, 25)), table.shape[1]
    cells = st.lists(st.sampled_from([True, False, None]), min_size=n * m, max_size=n * m)
    rows = pd.DataFrame(np.array(draw(cells), object).reshape(n, m)).astype("boolean")
    rows.columns = [f"x{k}" for k in range(m)]
    store = draw(st.sampled_from(["bits", "sparse", "masked"]))
    if store != "masked":
        rows = rows.fillna(False).astype(bool)
    model = UFC(
        draw(st.sampled_from([Bits(None), Threshold(0.1)])),
        max_iter=3,
        unseen="keep",
        missing="pairwise" if store == "masked" else "raise",
        store="bits" if store == "masked" else store,
    )
    with warnings.catch_warnings():
        # of tables in which there is nothing to construct
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(pd.DataFrame(table, columns=rows.columns)), rows


def columns_of(model, rows):
    """The chunks of rows as the oracle takes them: by ``transform``."""
    made = model.transform(rows).astype(object)
    return [[None if cell is pd.NA else bool(cell) for cell in made[name]] for name in made]


def is_listed(row, alpha):
    return alpha is None or row[-1] <= alpha * (1 + 1e-9)


@given(fitted(), st.integers(1, 24), st.sampled_from(LEVELS), st.sampled_from(CORRECTIONS))
def test_two_data_sets_are_compared_as_the_oracle_does(made, cut, alpha, correction):
    model, rows = made
    cut = min(cut, len(rows) - 1)
    first, second = rows[:cut], rows[cut:]
    names = model.get_feature_names_out()
    expected = naive_comparing.compare(
        columns_of(model, first), columns_of(model, second), alpha, correction
    )
    expected = {k: row for k, row in expected.items() if is_listed(row, alpha)}
    found = compare(model, first, second, alpha=alpha, correction=correction)
    assert {names[k] for k in expected} == set(found["pattern"])
    by_name = found.set_index("pattern")
    for k, (a, n, b, m, p, adjusted) in expected.items():
        row = by_name.loc[names[k]]
        assert (row.rows_x, row.n_x, row.rows_y, row.n_y) == (a, n, b, m)
        assert (row.share_x, row.share_y) == (a / n, b / m)
        assert row.ratio == pytest.approx((b / m) / (a / n) if a else math.inf)
        assert row.difference == pytest.approx(b / m - a / n)
        assert row.more_common_in == ("Y" if b * n > a * m else "X" if b * n < a * m else "")
        assert row.p_value == pytest.approx(float(p))
        assert row.p_adjusted == pytest.approx(float(adjusted))
    assert found["p_value"].is_monotonic_increasing


@given(fitted(), st.data(), st.sampled_from(LEVELS), st.sampled_from(CORRECTIONS))
def test_groups_are_described_as_the_oracle_does(made, data, alpha, correction):
    model, rows = made
    some = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=len(rows), max_size=len(rows))
    labels = data.draw(some.filter(lambda labels: len({*labels} - {None}) > 1))
    names = model.get_feature_names_out()
    expected = naive_comparing.describe(columns_of(model, rows), labels, alpha, correction)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        found = describe_groups(
            model, rows, labels, top=None, alpha=alpha, correction=correction, backend="dict"
        )
    found = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    expected = {key: row for key, row in expected.items() if is_listed(row, alpha)}
    more_common = {key: row for key, row in expected.items() if row[0] * row[3] > row[2] * row[1]}
    assert {(row["group"], row["pattern"]) for row in found} == {
        (group, names[k]) for group, k in more_common
    }
    position = {name: k for k, name in enumerate(names)}
    for row in found:
        a, n, b, m, p, adjusted = expected[row["group"], position[row["pattern"]]]
        assert (row["rows"], row["n"], row["rows_outside"], row["n_outside"]) == (a, n, b, m)
        assert (row["share"], row["share_outside"]) == (a / n, b / m)
        assert row["lift"] == pytest.approx(a / n / ((a + b) / (n + m)))
        assert row["p_value"] == pytest.approx(float(p))
        assert row["p_adjusted"] == pytest.approx(float(adjusted))


@given(fitted(), st.integers(1, 24))
def test_exchanging_the_data_sets_exchanges_the_columns(made, cut):
    model, rows = made
    cut = min(cut, len(rows) - 1)
    one = compare(model, rows[:cut], rows[cut:], alpha=None).sort_values("pattern")
    two = compare(model, rows[cut:], rows[:cut], alpha=None).sort_values("pattern")
    for x, y in [("share_x", "share_y"), ("rows_x", "rows_y"), ("n_x", "n_y")]:
        assert one[x].tolist() == two[y].tolist()
    assert one["p_adjusted"].tolist() == pytest.approx(two["p_adjusted"].tolist())


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(len(TYPES))
    found = describe_groups(MODEL, ANIMALS, TYPES)
    again = describe_groups(MODEL, ANIMALS.iloc[order], np.array(TYPES)[order])
    assert found.equals(again)


def test_groups_of_the_zoo():
    found = describe_groups(MODEL, ANIMALS, TYPES, top=1)
    assert found["group"].tolist()[:3] == ["mammal", "bird", "fish"]
    fish = found[found["group"] == "fish"].iloc[0]
    assert fish["pattern"] == "aquatic + fins + toothed"
    assert (fish["rows"], fish["n"], fish["rows_outside"]) == (13, 13, 2)
    for top in (1, 2, 3):
        many = describe_groups(MODEL, ANIMALS, TYPES, top=top, alpha=None)
        assert set(many["group"].value_counts()) == {top}


def test_a_chunk_that_training_never_saw_is_found():
    model = UFC().fit([["a", "b"]] * 40 + [["c"]] * 40)
    found = compare(model, [["a", "b"]] * 30, [["a"]] * 30, backend="dict")
    assert found["pattern"] == ["a (rest)", "a + b"]
    assert found["ratio"] == [math.inf, 0.0]


def test_equal_data_sets_do_not_differ():
    assert not len(compare(MODEL, ANIMALS, ANIMALS))
    everything = compare(MODEL, ANIMALS, ANIMALS, alpha=None)
    assert set(everything["more_common_in"]) == {""}
    assert set(everything["p_value"]) == {1.0}


LABELS = {
    "array": np.array(TYPES),
    "objects": np.array(TYPES, object),
    "pandas": pd.Series(TYPES, index=range(500, 500 + len(TYPES))),
    "categories": pd.Series(TYPES, dtype="category"),
    "polars": pl.Series(TYPES),
    "arrow": pa.chunked_array([TYPES]),
    "tuple": tuple(TYPES),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_container(kind):
    expected = describe_groups(MODEL, ANIMALS, TYPES)
    assert describe_groups(MODEL, ANIMALS, LABELS[kind]).equals(expected)


@pytest.mark.parametrize(
    ("one", "two", "shown"),
    [
        (1, 2, [1, 2]),
        (True, False, [True, False]),
        (1, "1", ["1", "'1'"]),
        (np.int64(3), np.int64(-1), [3, -1]),
        ((1, 2), (2, 1), ["(1, 2)", "(2, 1)"]),
        (datetime.date(2020, 1, 1), "x", ["2020-01-01", "x"]),
        ("\x1b[31m", "[b]a[/b]", ["\x1b[31m", "[b]a[/b]"]),
    ],
)
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "dict"])
def test_labels_of_any_kind(one, two, shown, backend):
    labels = [one if animal == "mammal" else two for animal in TYPES]
    found = describe_groups(MODEL, ANIMALS, labels, backend=backend)
    groups = found["group"]
    groups = groups.to_pylist() if backend == "pyarrow" else list(groups)
    # the larger one first
    assert list(dict.fromkeys(groups)) == shown[::-1]


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT")])
def test_rows_without_a_label_are_left_out(missing):
    labels = [missing if animal == "bird" else animal for animal in TYPES]
    with pytest.warns(ConjunctWarning, match="^20 rows have no label and are left out$"):
        found = describe_groups(MODEL, ANIMALS, labels)
    others = np.array(TYPES) != "bird"
    assert found.equals(describe_groups(MODEL, ANIMALS[others], np.array(TYPES)[others]))


def test_labels_that_cannot_be_used():
    def refused(labels, message, **options):
        with pytest.raises(InputError, match=message):
            describe_groups(MODEL, ANIMALS, labels, **options)

    refused(TYPES[:5], "there are 5 labels and 101 rows: give one a row")
    refused("type", "labels must be one label a row; got a str")
    refused(dict(enumerate(TYPES)), "got a dict")
    refused(set(TYPES), "got a set")
    refused(ANIMALS[["milk"]], "got a DataFrame")
    refused(np.array(3), "got a ndarray")
    refused(7, "got a int")
    refused([[a] for a in TYPES], "each label must be one value")
    refused([np.array([1, 2])] * 101, "each label must be one value")
    refused(["a"] * 101, "all rows have the same label")
    refused([None] * 101, "every label is missing")
    refused(TYPES, "top must be None or a whole number, at least 1", top=0)
    refused(TYPES, "alpha must be None or between 0 and 0.5", alpha=2)
    refused(TYPES, "correction must be", correction="no")


def test_too_many_groups(monkeypatch):
    monkeypatch.setattr("conjunct.estimators.comparing._MOST_TESTS", 100)
    with pytest.raises(InputError, match=r"101 different labels .* are the labels names of rows"):
        describe_groups(MODEL, ANIMALS, range(101))


def test_models_that_cannot_be_used():
    with pytest.raises(InputError, match="model must be a fitted UFC or UFCPath; got UFringe"):
        compare(UFringe(max_features=20).fit(ANIMALS), ANIMALS, ANIMALS)
    with pytest.raises(Exception, match="not fitted"):
        compare(UFC(), ANIMALS, ANIMALS)
    with pytest.raises(ValueError, match="feature names"):
        compare(MODEL, ANIMALS, ANIMALS.drop(columns="milk"))
    with pytest.raises(InputError, match="compute"):
        compare(MODEL, ANIMALS, dd.from_pandas(ANIMALS, npartitions=2))


def test_other_containers():
    model = UFC().fit(ZOO.values)
    expected = compare(model, ZOO.values[:60], ZOO.values[60:], alpha=None, backend="dict")
    sparse = sp.csr_array(ZOO.values)
    found = compare(model, sparse[:60], sparse[60:], alpha=None, backend="dict")
    assert found == expected
    baskets = [[name for name in ANIMALS if row[name]] for _, row in ANIMALS.iterrows()]
    found = compare(MODEL, baskets[:60], baskets[60:], alpha=None, backend="polars")
    assert isinstance(found, pl.DataFrame)
    assert found["p_value"].to_list() == expected["p_value"]


def test_suppressed_chunks_are_compared_too():
    model = UFC(min_support=0.2).fit(ANIMALS)
    expected = describe_groups(MODEL, ANIMALS, TYPES)
    assert describe_groups(model, ANIMALS, TYPES).equals(expected)
