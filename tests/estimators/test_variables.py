"""The variables of a fitted model: from the data, recognised, given; kept in files and exported."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from conjunct import UFC, BooleanData, ChunkClassifier, InputError, Risk, UFCPath, files, load
from conjunct.explain import Summary

RNG = np.random.default_rng(3)
MALE = RNG.random(300) < 0.5
FOOTBALL = RNG.random(300) < np.where(MALE, 0.6, 0.1)
PEOPLE = pl.DataFrame(
    {
        "sex": np.where(MALE, "male", "female"),
        "sport": np.where(FOOTBALL, "football", RNG.choice(["none", "tennis"], 300)),
        "smokes": RNG.choice(["yes", "no"], 300),
        "age": RNG.integers(18, 80, 300),
    }
)
DATA = BooleanData.from_data(PEOPLE)
VARIABLES = {
    "sex": ("sex = female", "sex = male"),
    "sport": ("sport = football", "sport = none", "sport = tennis"),
    "age": tuple(name for name in DATA.names if name.startswith("age")),
}


@pytest.mark.parametrize("model", [UFC(), UFC(0.2), UFC("risk"), UFCPath(max_iter=2)], ids=repr)
def test_the_data_say(model):
    fitted = clone(model).fit(DATA)
    assert fitted.variables_ == VARIABLES
    assert fitted.feature_set_.variables == DATA.variables
    if isinstance(model, UFCPath):
        assert fitted.solution(0).variables_ == VARIABLES


def test_a_ready_made_table_is_recognised_whatever_holds_it():
    """By its names, which are those of a Binarizer; and the same columns without names."""
    frame = DATA.convert("polars")
    assert UFC().fit(frame).variables_ == VARIABLES
    for data in (frame.to_pandas(), frame.lazy(), frame.to_arrow(), DATA.convert("baskets")):
        found = UFC().fit(data).variables_
        assert {name: set(values) for name, values in found.items()} == {
            name: set(values) for name, values in VARIABLES.items()
        }
    table = DATA.convert("numpy")
    position = {name: f"x{k}" for k, name in enumerate(DATA.names)}
    values = {frozenset(position[column] for column in columns) for columns in VARIABLES.values()}
    for data in (table, sp.csr_array(table), pd.DataFrame(table).to_numpy(float)):
        found = UFC().fit(data).variables_
        assert set(map(frozenset, found.values())) == values
        assert all(" | " in name for name in found)


def test_weights_count_as_rows():
    """Two rows of weight 20 are 40 rows, which say that their columns exclude each other."""
    table = np.eye(2, dtype=bool)
    assert UFC(max_iter=0).fit(table).variables_ == {}
    weighted = UFC(max_iter=0).fit(table, sample_weight=[20, 20])
    assert weighted.variables_ == {"x0 | x1": ("x0", "x1")}


@pytest.mark.parametrize("store", ["dense", "sparse"])
def test_missing_cells_and_stores(store):
    table = DATA.convert("numpy").astype(float)
    found = UFC(storage=store).fit(table).variables_
    assert found
    gaps = table.copy()
    gaps[0, 0] = np.nan
    assert UFC(missing="pairwise").fit(gaps).variables_.keys() == found.keys()


def test_tags_beside_the_columns_of_a_binarizer_are_recognised():
    both = PEOPLE.with_columns(
        pl.Series("eye=blue", np.arange(300) % 2 == 0),
        pl.Series("eye=brown", np.arange(300) % 3 == 1),
    ).with_columns(pl.col("eye=brown") & ~pl.col("eye=blue"))
    found = UFC().fit(BooleanData.from_data(both)).variables_
    assert found == VARIABLES | {"eye": ("eye=blue", "eye=brown")}


def test_what_is_given_holds():
    given = {"odd": ["smokes", "sex = male"]}
    for model in (UFC(variables=given), UFCPath(max_iter=2, variables=given)):
        assert model.fit(DATA).variables_ == {"odd": ("sex = male", "smokes")}
    none = UFC(variables=False).fit(DATA)
    assert (none.variables_, none.feature_set_.variables) == ({}, ())
    assert UFC(variables={}).fit(DATA).variables_ == {}
    classifier = ChunkClassifier(UFC(variables=given)).fit(DATA, MALE)
    assert classifier.vocabulary_.variables_ == {"odd": ("sex = male", "smokes")}
    assert ChunkClassifier().fit(DATA, MALE).vocabulary_.variables_ == VARIABLES


@pytest.mark.parametrize("model", [UFC, UFCPath])
def test_what_is_refused(model):
    with pytest.raises(InputError, match="variable 'a' has 'hat', which is not a column"):
        model(variables={"a": ["smokes", "hat"]}).fit(DATA)
    with pytest.raises(InputError, match="variables must be None, False or a mapping"):
        model(variables="sex").fit(DATA)
    with pytest.raises(InputError, match="column 'smokes' is in variables 'a' and 'b'"):
        model(variables={"a": ["smokes", "hat"], "b": ["smokes", "x"]}).fit(DATA)


@pytest.mark.parametrize("given", [None, False, {"odd": ("smokes", "sex = male")}])
def test_files_keep_variables(given, tmp_path):
    for model in (UFC(variables=given), UFC(Risk(), variables=given), UFCPath(variables=given)):
        fitted = model.fit(DATA)
        fitted.save(tmp_path / "m.json")
        again = load(tmp_path / "m.json")
        assert again.feature_set_.variables == fitted.feature_set_.variables
        assert again.variables_ == fitted.variables_
        assert clone(again).fit(DATA).variables_ == fitted.variables_
    classifier = ChunkClassifier(UFC(variables=given)).fit(DATA, MALE)
    classifier.save(tmp_path / "c.json")
    loaded = ChunkClassifier.load(tmp_path / "c.json")
    assert loaded.vocabulary_.variables_ == classifier.vocabulary_.variables_


def test_a_shorter_model_keeps_variables():
    model = UFC().fit(DATA)
    assert model.n_iter_ > 0
    assert model.truncate(len(DATA.names)).variables_ == VARIABLES
    assert UFC(min_support=0.2).fit(DATA).variables_ == VARIABLES


def test_a_checkpoint_goes_on_with_variables(tmp_path):
    path = tmp_path / "run.json"
    first = UFC(max_iter=1).fit(DATA, checkpoint=path)
    assert path.exists()
    again = UFC().fit(DATA, checkpoint=path)
    assert again.n_iter_ > first.n_iter_ == 1
    assert again.variables_ == VARIABLES
    frame = DATA.convert("polars")
    UFC(max_iter=1).fit(frame, checkpoint=tmp_path / "other.json")
    assert UFC().fit(frame, checkpoint=tmp_path / "other.json").variables_ == VARIABLES


def test_what_is_shown():
    model = UFC().fit(DATA)
    text = Summary(model).variables
    assert text.startswith(
        "3 variables: sex (female, male), sport (football, none, tennis), age (< "
    )
    assert "3 variables: sex (female, male)" in model._repr_html_inner()
    assert Summary(UFC(variables=False).fit(DATA)).variables == ""
    many = {f"v{k}": [f"a{k}", f"b{k}"] for k in range(12)}
    names = tuple(name for both in many.values() for name in both)
    wide = pl.DataFrame(RNG.random((50, 24)) < 0.5, schema=list(names))
    shown = Summary(UFC(variables=many, max_iter=0).fit(wide)).variables
    assert shown.startswith("12 variables: v0 (a0, b0), v1 (a1, b1)")
    assert shown.endswith("v9 (a9, b9) and 2 more.")
    brackets = {"c": ["c[red]", "c[blue]"], "pair": ["x", "y"], "x | y": ["u", "v"]}
    said = pl.DataFrame(
        RNG.random((50, 6)) < 0.5, schema=[column for some in brackets.values() for column in some]
    )
    text = Summary(UFC(variables=brackets, max_iter=0).fit(said)).variables
    assert text == "3 variables: c (red, blue), pair (x, y), x | y (u, v)."


def test_exports_make_both_words_of_raw_rows(tmp_path):
    """Also of words that were not seen, and of missing cells."""
    model = UFC(missing="pairwise", handle_unknown="keep").fit(DATA)
    assert any("sex = " in name for name in model.get_feature_names_out())
    rows = pl.concat([PEOPLE, PEOPLE[:2].with_columns(sex=pl.Series([None, "robot"])), PEOPLE[:1]])
    with pytest.warns(match="not seen in fit"):
        data = model._row_reader().read_like(
            BooleanData.from_data(rows, binarizer=DATA.preparation.binarizer)
        )
    expected = model.transform(data).convert("polars")
    in_polars = rows.select(model.to_polars())
    assert in_polars.rows() == expected.rows()
    namespace = {}
    exec(model.to_python(), namespace)
    in_python = [tuple(namespace["features"](row).values()) for row in rows.rows(named=True)]
    assert in_python == expected.rows()
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("create table data (sex text, sport text, smokes text, age integer)")
        database.executemany("insert into data values (?, ?, ?, ?)", rows.rows())
        found = database.execute(model.to_sql("data", dialect="sqlite")).fetchall()
    as_bools = [tuple(None if cell is None else bool(cell) for cell in row) for row in found]
    assert as_bools == expected.rows()
    lazy = model.transform(rows.lazy()).collect()
    assert lazy.rows() == expected.rows()
    model.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").transform(data).convert("polars").rows() == expected.rows()


def test_a_file_of_variables(tmp_path):
    path = tmp_path / "variables.json"
    path.write_text(json.dumps({"colour": ["red", "blue"]}))
    assert files.read_variables(path) == {"colour": ["red", "blue"]}
    for content, message in {
        "[]": "not a JSON object of variables with lists of their columns",
        '{"a": "b"}': "not a JSON object of variables with lists of their columns",
        '{"a": ["b"]}': "variable 'a' needs at least two columns",
        "": "is empty: it needs a JSON object of variables",
    }.items():
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            files.read_variables(path)
