"""CAT, ID2-of-3 and XofN as estimators: the concepts they are for, files, exports, decisions."""

import itertools

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import conjunct
from conjunct import (
    CAT,
    ConjunctWarning,
    Fringe,
    ID2of3,
    InputError,
    ModelFileError,
    Report,
    XofN,
    datasets,
    parse,
)
from conjunct.expressions import AtLeast, Exactly, Primitive

FAMILY = {"CAT": CAT(60), "ID2of3": ID2of3(), "XofN": XofN()}
NAMES = [f"x{k}" for k in range(15)]
x = [Primitive(name) for name in NAMES]


def rows(n_rows, n_columns=15, seed=0):
    table = np.random.default_rng(seed).random((n_rows, n_columns)) < 0.5
    return pd.DataFrame(table, columns=NAMES[:n_columns])


def three_of_seven(table, noise=0.1, seed=1):
    flipped = np.random.default_rng(seed).random(len(table)) < noise
    return (table.iloc[:, :7].sum(axis=1).to_numpy() >= 3) ^ flipped


def made(model):
    return [e for e in model.features_ if e.length > 1]


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2])
def test_id2of3_finds_three_of_seven_where_fringe_needs_many_times_the_features(noise):
    train, test = rows(1000), rows(4000, seed=2)
    concept = three_of_seven(test, noise=0)
    model = ID2of3().fit(train, three_of_seven(train, noise))
    assert made(model) == [AtLeast(3, x[:7])]
    assert model.score(test, concept) == 1.0
    if noise:
        return
    fringe = Fringe(300).fit(train, three_of_seven(train, noise))
    assert len(made(fringe)) > 100
    assert AtLeast(3, x[:7]) not in fringe.features_


def test_xofn_finds_parity_and_exact_numbers():
    train, test = rows(800, 6), rows(2000, 6, seed=2)

    def exclusive(table):
        return table["x0"] ^ table["x4"]

    model = XofN().fit(train, exclusive(train))
    assert made(model) == [Exactly(k, [x[0], x[4]]) for k in range(3)]
    assert model.score(test, exclusive(test)) == 1.0

    def two_of_five(table):
        return table.iloc[:, :5].sum(axis=1) == 2

    model = XofN().fit(train, two_of_five(train))
    assert made(model) == [Exactly(k, x[:5]) for k in range(6)]
    assert model.score(test, two_of_five(test)) == 1.0


def test_cat_joins_as_many_conditions_as_tell_most():
    table = pd.DataFrame(itertools.product([False, True], repeat=6), columns=NAMES[:6])
    train = pd.concat([table] * 4, ignore_index=True)
    y = train["x0"] & train["x1"] | train["x2"] & train["x3"] & train["x4"]
    model = CAT().fit(train, y)
    assert {parse("x0 & x1"), parse("x2 & x3 & x4")} <= set(model.features_)
    assert model.score(train, y) == 1.0
    # FRINGE gets there by joining two at a time
    assert len(made(model)) < len(made(Fringe().fit(train, y)))


@pytest.mark.parametrize("name", FAMILY)
def test_nothing_is_made_of_noise(name):
    train = rows(200)
    y = np.random.default_rng(3).random(200) < 0.5
    with pytest.warns(ConjunctWarning, match="no feature was constructed"):
        model = clone(FAMILY[name]).fit(train, y)
    assert made(model) == []
    # the tree is cut back to its root; without pruning it grows until each leaf has one class
    assert len(model.tree_.nodes) == 1
    grown = clone(FAMILY[name]).set_params(prune=False).fit(train, y)
    assert len(grown.tree_.nodes) > 50
    assert made(grown)
    assert grown.score(train, y) > 0.99


@pytest.mark.parametrize("name", FAMILY)
def test_order_of_rows_and_columns_does_not_matter(name):
    zoo = datasets.load_zoo()
    table = pd.DataFrame(zoo.values, columns=zoo.feature_names)
    y = np.array(zoo.rows["type"])
    rng = np.random.default_rng(0)
    order = rng.permutation(len(table))
    one = clone(FAMILY[name]).fit(table, y)
    columns = rng.permutation(table.columns)
    other = clone(FAMILY[name]).fit(table.iloc[order][columns], y[order])
    assert set(one.features_) == set(other.features_)
    assert one.predict(table).tolist() == other.predict(table[columns]).tolist()


@pytest.mark.parametrize("name", FAMILY)
def test_files_exports_and_pages(name, tmp_path):
    votes = datasets.load_house_votes_84()
    table = pd.DataFrame(votes.values, columns=votes.feature_names).fillna(0).astype(bool)
    party = votes.rows["party"]
    model = clone(FAMILY[name]).fit(table, party)
    assert made(model), "this data has something to find"
    expected = model.transform(table)
    model.save(tmp_path / "model.json")
    loaded = conjunct.load(tmp_path / "model.json")
    assert type(loaded) is type(model)
    assert loaded.features_ == model.features_
    pd.testing.assert_frame_equal(loaded.transform(table), expected)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    with pytest.raises(InputError, match="a model file has no tree: to predict, fit again"):
        loaded.predict(table)
    connection = duckdb.connect()
    connection.register("data", table)
    selected = connection.execute(model.to_sql("data", dialect="duckdb")).df()
    assert selected.to_numpy().tolist() == expected.to_numpy().tolist()
    frame = pl.DataFrame(table).select(model.to_polars())
    assert frame.to_numpy().tolist() == expected.to_numpy().tolist()
    namespace = {}
    exec(model.to_python(), namespace)
    first = namespace["features"](table.iloc[0].to_dict())
    assert list(first.values()) == expected.iloc[0].tolist()
    for feature, support in zip(made(model)[:3], model.get_features()["support"], strict=False):
        assert len(model.find_rows(feature, table)) == expected[str(feature)].sum()
        assert model.explain(feature, table).support == expected[str(feature)].sum()
        assert model.ancestry(feature) is not None
        assert support >= 0


def test_a_report_says_how():
    train = rows(60, 8)
    page = Report(ID2of3().fit(train, three_of_seven(train, 0)), train).html()
    assert "at least m of some literals are true" in page


def test_damaged_counts_in_a_model_file_are_refused(tmp_path):
    train = rows(300, 8)
    model = ID2of3().fit(train, three_of_seven(train, 0))
    content = model.to_dict()
    tally = content["added"][0][0]
    assert tally["literals"] == list(range(7))
    for change, message in (
        ({"literals": [0]}, "a count has fewer than two literals"),
        ({"literals": [0, 0, 1]}, "a literal is counted twice"),
        ({"literals": [0, 1, 99]}, "a feature refers to later ones"),
        ({"number": 0}, "the threshold of a count is out of range"),
        ({"number": 8}, "the threshold of a count is out of range"),
    ):
        content["added"] = [[tally | change]]
        path = tmp_path / "damaged.json"
        path.write_text(pd.io.json.ujson_dumps(content), encoding="utf-8")
        with pytest.raises(ModelFileError, match=message):
            conjunct.load(path)


def test_a_boolean_class_is_told_by_its_true_leaves_and_others_by_all():
    train = rows(400, 4)
    y = train["x0"] & train["x1"]
    assert made(CAT().fit(train, y)) == [parse("x0 & x1")]
    named = CAT().fit(train, np.where(y, "yes", "no"))
    assert parse("x0 & x1") in named.features_
    assert len(made(named)) > 1


def test_cat_ends_when_the_tree_gets_no_shorter():
    zoo = datasets.load_zoo()
    model = CAT().fit(zoo.values, zoo.rows["type"])
    again = CAT(max_features=10_000).fit(zoo.values, zoo.rows["type"])
    assert model.features_ == again.features_
    assert len(model.features_) < 100
    with pytest.warns(ConjunctWarning, match="Set a larger max_features"):
        CAT(max_features=3).fit(zoo.values, zoo.rows["type"])


def test_patience_is_what_parity_takes():
    train = rows(300, 3)
    y = train.sum(axis=1) % 2
    patient = XofN(patience=5, max_depth=1, prune=False).fit(train, y)
    with pytest.warns(ConjunctWarning, match="no test of the tree has two literals"):
        impatient = XofN(patience=1, max_depth=1, prune=False).fit(train, y)
    assert patient.score(train, y) == 1.0
    assert {e.length for e in made(patient)} == {3}
    assert impatient.score(train, y) < 0.7


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CAT(max_features=0), "max_features must be a whole number"),
        (CAT(prune="yes"), "prune must be True or False"),
        (XofN(patience=0), "patience must be a whole number"),
        (ID2of3(min_samples_leaf=0), "min_samples_leaf must be"),
        (ID2of3(drop_redundant="drop"), "drop_redundant must be"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(rows(20, 3), np.arange(20) % 2)


@pytest.mark.parametrize("name", FAMILY)
def test_classes_are_needed(name):
    with pytest.raises(InputError, match=f"{name} requires y to be passed"):
        clone(FAMILY[name]).fit(rows(20, 3))


def test_limits_of_the_tree():
    train = rows(1000)
    y = three_of_seven(train)
    stump = ID2of3(max_depth=1, prune=False).fit(train, y)
    assert len(stump.tree_.nodes) == 3
    large = XofN(min_samples_leaf=100, prune=False).fit(train, y)
    assert all(sum(node.counts) >= 1 for node in large.tree_.nodes)
    assert len(large.tree_.nodes) < len(XofN(prune=False).fit(train, y).tree_.nodes)


@pytest.mark.parametrize("name", FAMILY)
def test_constant_columns_and_one_class(name):
    table = np.zeros((6, 3), bool)
    with pytest.warns(ConjunctWarning):
        model = clone(FAMILY[name]).fit(table, np.arange(6) % 2)
    assert model.predict(table).tolist() == [0] * 6
    with pytest.warns(ConjunctWarning):
        model = clone(FAMILY[name]).fit(rows(10, 3), ["a"] * 10)
    assert model.predict_proba(rows(4, 3)).tolist() == [[1.0]] * 4
