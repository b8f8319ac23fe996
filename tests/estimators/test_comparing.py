"""Two data sets, and groups of one, in tags and chunks, against the oracle."""

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
    store = draw(st.sampled_from(["dense", "sparse", "masked"]))
    if store != "masked":
        rows = rows.fillna(False).astype(bool)
    model = UFC(
        draw(st.sampled_from([Bits(None), Threshold(0.1)])),
        max_iter=3,
        missing="pairwise" if store == "masked" else "raise",
        storage="dense" if store == "masked" else store,
    )
    with warnings.catch_warnings():
        # of tables in which there is nothing to construct
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(pd.DataFrame(table, columns=rows.columns)), rows


def joined(model):
    """All tags, and all sets of tags that were joined."""
    sets = [{name} for name in model.feature_names_in_]
    sets += [set(chunk.split(" + ")) for chunk in model.get_rules("dict")["chunk"]]
    return [tags for k, tags in enumerate(sets) if tags not in sets[:k]]


def columns_of(model, rows):
    """The rows with all tags of each set, as the oracle counts them."""
    cells = {
        name: [None if cell is pd.NA else bool(cell) for cell in rows[name].astype(object)]
        for name in rows
    }
    return naive_comparing.columns_with_all(cells, joined(model))


def text(tags):
    return " + ".join(sorted(tags))


def is_listed(row, alpha):
    return alpha is None or row[-1] <= alpha * (1 + 1e-9)


@given(fitted(), st.integers(1, 24), st.sampled_from(LEVELS), st.sampled_from(CORRECTIONS))
def test_two_data_sets_are_compared_as_the_oracle_does(made, cut, alpha, correction):
    model, rows = made
    cut = min(cut, len(rows) - 1)
    first, second = rows[:cut], rows[cut:]
    names = [text(tags) for tags in joined(model)]
    expected = naive_comparing.compare(
        columns_of(model, first), columns_of(model, second), alpha, correction
    )
    expected = {k: row for k, row in expected.items() if is_listed(row, alpha)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        found = compare(model, first, second, alpha=alpha, correction=correction)
    by_name = found.set_index("pattern")
    assert set(by_name.index) <= {names[k] for k in expected}
    if alpha is None:
        assert len(found) == len(expected)
    else:
        listed = [set(name.split(" + ")) for name in found["pattern"]]
        assert naive_comparing.without_supersets(listed) == listed
    for k, (a, n, b, m, p, adjusted) in expected.items():
        if names[k] not in by_name.index:
            # fewer of its tags say it, with a p-value that is no higher
            tags = set(names[k].split(" + "))
            said = [q for q in by_name.index if set(q.split(" + ")) < tags]
            assert min(by_name.p_value[said]) <= float(p) * (1 + 1e-9)
            continue
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
    names = [text(tags) for tags in joined(model)]
    expected = naive_comparing.describe(columns_of(model, rows), labels, alpha, correction)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        found = describe_groups(
            model, rows, labels, top=None, alpha=alpha, correction=correction, backend="dict"
        )
    found = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
    expected = {key: row for key, row in expected.items() if is_listed(row, alpha)}
    more_common = {key: row for key, row in expected.items() if row[0] * row[3] > row[2] * row[1]}
    listed = {(row["group"], row["pattern"]) for row in found}
    assert listed <= {(group, names[k]) for group, k in more_common}
    for group, k in more_common:
        if (group, names[k]) not in listed:
            assert alpha is not None
            said = [row for row in found if row["group"] == group]
            said = [row for row in said if {*row["pattern"].split(" + ")} < joined(model)[k]]
            assert min(row["p_value"] for row in said) <= float(more_common[group, k][4]) * 1.000001
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
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
    assert found["pattern"].tolist()[:2] == ["milk", "feathers"]
    # whatever is said is true of all rows, by one line of pandas
    types = np.array(TYPES)
    for row in describe_groups(MODEL, ANIMALS, TYPES, top=None).itertuples():
        has_all = ANIMALS[row.pattern.split(" + ")].all(axis=1)
        assert row.share == has_all[types == row.group].mean()
        assert row.share_outside == has_all[types != row.group].mean()
    for top in (1, 2, 3):
        many = describe_groups(MODEL, ANIMALS, TYPES, top=top, alpha=None)
        assert set(many["group"].value_counts()) == {top}


def test_a_chunk_is_more_than_its_tags():
    rows = [["a", "b"]] * 20 + [["c"]] * 20
    other = [["a"]] * 10 + [["b"]] * 10 + [["c"]] * 20
    found = compare(UFC().fit(rows + rows + other), rows, other, backend="dict")
    assert (found["pattern"], found["ratio"]) == (["a + b"], [0.0])


def test_circular_groups_are_warned_of():
    message = r"^milk alone determines the group of a row.*circular"
    with pytest.warns(ConjunctWarning, match=message):
        describe_groups(MODEL, ANIMALS, ANIMALS["milk"])
    with pytest.warns(ConjunctWarning, match=message):
        describe_groups(MODEL, ANIMALS, ~ANIMALS["milk"])
    milk = ANIMALS["milk"]
    with pytest.warns(ConjunctWarning, match="^milk alone determines the data set of a row"):
        compare(MODEL, ANIMALS[milk], ANIMALS[~milk])
    # of seven types, milk and feathers are the names of two only
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        describe_groups(MODEL, ANIMALS, TYPES)
        without = ANIMALS.drop(columns="milk")
        describe_groups(UFC().fit(without), without, ANIMALS["milk"])


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
@pytest.mark.filterwarnings("ignore:milk")
def test_labels_of_any_kind(one, two, shown, backend):
    labels = [one if animal == "mammal" else two for animal in TYPES]
    found = describe_groups(MODEL, ANIMALS, labels, backend=backend)
    groups = found["group"]
    groups = groups.to_pylist() if backend == "pyarrow" else list(groups)
    # the larger one first
    assert list(dict.fromkeys(groups)) == shown[::-1]


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT", "s")])
def test_rows_without_a_label_are_left_out(missing):
    labels = [missing if animal == "bird" else animal for animal in TYPES]
    with pytest.warns(ConjunctWarning, match="^leaving out 20 rows without a label$"):
        found = describe_groups(MODEL, ANIMALS, labels)
    others = np.array(TYPES) != "bird"
    assert found.equals(describe_groups(MODEL, ANIMALS[others], np.array(TYPES)[others]))


def test_labels_that_cannot_be_used():
    def refused(labels, message, **options):
        with pytest.raises(InputError, match=message):
            describe_groups(MODEL, ANIMALS, labels, **options)

    refused(TYPES[:5], "there are 5 labels for 101 rows: pass one per row")
    refused("type", "labels must contain one label per row; got a str")
    refused(dict(enumerate(TYPES)), "got a dict")
    refused(set(TYPES), "got a set")
    refused(ANIMALS[["milk"]], "got a DataFrame")
    refused(np.array(3), "got a ndarray")
    refused(7, "got a int")
    refused([[a] for a in TYPES], "each label must be a single value")
    refused([np.array([1, 2])] * 101, "each label must be a single value")
    refused(["a"] * 101, "all rows have the same label")
    refused([None] * 101, "all labels are missing")
    refused(TYPES, "top must be None or a whole number, at least 1", top=0)
    refused(TYPES, "alpha must be None or between 0 and 0.5", alpha=2)
    refused(TYPES, "correction must be", correction="no")


def test_too_many_groups(monkeypatch):
    monkeypatch.setattr("conjunct.estimators.curation._MOST_TESTS", 100)
    with pytest.raises(InputError, match=r"101 different labels .* are the labels row ids"):
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
