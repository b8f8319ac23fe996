"""Raw tables in every estimator: fitted, kept, and applied to raw rows again."""

import pickle
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from conjunct import (
    UFC,
    Binarizer,
    ChunkClassifier,
    ClusteringTree,
    ConjunctWarning,
    Fringe,
    InputError,
    UFCPath,
    UFringe,
    load,
)

N = 240
RNG = np.random.default_rng(0)
COLOUR = RNG.choice(["red", "green", "blue"], N)
TABLE = pl.DataFrame(
    {
        "id": range(100, 100 + N),
        "colour": COLOUR,
        "size": np.where(COLOUR == "red", "big", "small"),
        "price": [f"${price:,.2f}" for price in RNG.gamma(2, 800, N)],
        "rating": [None if k % 8 == 0 else k % 5 + 1 for k in range(N)],
        "when": np.datetime64("2020-01-01") + RNG.integers(0, 900, N),
        "topics": [
            sorted(RNG.choice(["sea", "sky", "sun"], k % 4, replace=False).tolist())
            for k in range(N)
        ],
        "note": [f"row {k} was written by hand" for k in range(N)],
    }
)
RED = (COLOUR == "red").astype(int)
FRAMES = {
    "polars": lambda: TABLE,
    "pandas": lambda: TABLE.to_pandas(),
    "pyarrow": lambda: TABLE.to_arrow(),
}
pytestmark = pytest.mark.filterwarnings("ignore:Leaving out:conjunct.ConjunctWarning")


def as_rows(table):
    return pl.DataFrame(table) if isinstance(table, pd.DataFrame | pa.Table) else table


@pytest.mark.parametrize("kind", FRAMES)
def test_raw_rows_go_in_and_come_out_in_the_same_kind(kind):
    frame = FRAMES[kind]()
    model = UFC().fit(frame)
    made = model.transform(frame)
    assert type(made) is type(frame)
    prepared = Binarizer().fit(TABLE).transform(TABLE)
    assert list(model.feature_names_in_) == prepared.columns
    assert {"size = big", "rating = 4", "topics: sea", "price < 800"} <= set(prepared.columns)
    expected = UFC().fit(prepared)
    assert model.features_ == expected.features_
    assert np.array_equal(model.score(frame), expected.score(prepared))
    assert np.array_equal(model.log_prob(frame), expected.log_prob(prepared))
    assert model.chunks(frame) == expected.chunks(prepared)
    assert np.array_equal(model.find_rows(0, frame), expected.find_rows(0, prepared))
    assert str(model.explain(0, frame)) == str(expected.explain(0, prepared))
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(frame)):
        assert other.to_json() == model.to_json()
    assert str(model.check_drift(frame)) == str(expected.check_drift(prepared))


def test_the_index_of_pandas_stays():
    frame = TABLE.to_pandas().set_axis([f"r{k}" for k in range(N)], axis="index")
    model = UFC().fit(frame)
    assert list(model.transform(frame[5:8]).index) == ["r5", "r6", "r7"]


def test_a_row_alone_is_read_as_among_others():
    model = UFC().fit(TABLE)
    whole = model.transform(TABLE)
    for row in range(0, N, 31):
        assert model.transform(TABLE[row : row + 1]).rows() == whole[row : row + 1].rows()


def test_the_model_file_takes_raw_rows(tmp_path):
    model = UFC().fit(TABLE)
    model.save(tmp_path / "m.json")
    read = load(tmp_path / "m.json")
    assert read.transform(TABLE).equals(model.transform(TABLE))
    assert read.to_json() == model.to_json()


@pytest.mark.filterwarnings("ignore:[Nn]o (chunk|feature)")
@pytest.mark.parametrize(
    "estimator",
    [UFCPath(max_iter=6), UFringe(), ClusteringTree(), ChunkClassifier(), Fringe()],
    ids=lambda one: type(one).__name__,
)
def test_every_estimator_takes_raw_tables(estimator):
    made = []
    for kind in FRAMES:
        frame = FRAMES[kind]()
        model = clone(estimator).fit(frame, RED)
        use = model.predict if hasattr(model, "predict") else model.transform
        made.append(np.asarray(as_rows(use(frame)), float))
        assert model.preparation_.binarizer is not None
    assert np.array_equal(made[0], made[1], equal_nan=True)
    assert np.array_equal(made[0], made[2], equal_nan=True)
    with pytest.warns(ConjunctWarning, match=r"Treating 30 missing cells as \w+: rating 30\.$"):
        clone(estimator).fit(TABLE, RED)


def test_pipelines_searches_and_column_transformers():
    frame = TABLE.to_pandas().drop(columns="rating")
    pipeline = make_pipeline(UFC(), LogisticRegression()).fit(frame, RED)
    assert pipeline.score(frame, RED) == 1
    search = GridSearchCV(pipeline, {"ufc__max_iter": [1, 2]}, cv=2).fit(frame, RED)
    assert search.best_score_ == 1
    chosen = make_column_transformer((UFC(), ["colour", "size"]), ("drop", ["price"]))
    chosen.set_output(transform="pandas")
    made = chosen.fit_transform(frame)
    assert list(made.columns) == list(chosen.get_feature_names_out())
    assert "ufc__colour = red + size = big" in made.columns


def test_notes_name_what_was_left_out_and_count_what_is_missing():
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        UFC().fit(TABLE)
    assert [str(note.message) for note in noted] == [
        "Treating 30 missing cells as unknown: rating 30.",
        "Leaving out 2 columns ('id': it names the rows; 'note': free text). A Binarizer with "
        "categorical= keeps a column as words (--categorical on the command line).",
    ]
    with pytest.warns(ConjunctWarning, match=r"^Treating 2 missing cells as unknown: '\\n' 2\.$"):
        UFC().fit(pl.DataFrame({"\n": [None, None, *[1, 0] * 20], "b": [1, 1, *[1, 0] * 20]}))


def test_ready_tables_are_read_as_they_are():
    ready = pd.DataFrame({"id": [0, 1, 1, 0], "b": [1.0, 0.0, 0.0, 1.0], "c": [False] * 4})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        model = UFC().fit(ready)
    assert list(model.feature_names_in_) == ["id", "b", "c"]
    assert model.preparation_.binarizer is None
    assert set(map(str, model.transform(ready).dtypes)) == {"bool"}


def test_columns_without_names_are_numbered():
    frame = pd.DataFrame({0: COLOUR, 1: np.where(COLOUR == "red", "big", "small")})
    model = UFC().fit(frame)
    assert list(model.feature_names_in_)[:2] == ["0 = blue", "0 = green"]
    assert len(model.transform(frame[:3])) == 3


def test_a_series_of_lists_is_read_as_baskets():
    baskets = [["fork", "knife"]] * 20 + [["cup"]] * 20
    expected = UFC().fit(baskets).to_json()
    assert UFC().fit(pd.Series(baskets)).to_json() == expected
    assert UFC().fit(pl.Series(baskets)).to_json() == expected


def _lazy_tables():
    def duckdb_table(frame):
        duckdb = pytest.importorskip("duckdb")
        return duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))

    def dask_table(frame):
        return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)

    def ibis_table(frame):
        return pytest.importorskip("ibis").memtable(pl.from_pandas(frame))

    def hugging_face(frame):
        return pytest.importorskip("datasets").Dataset.from_pandas(frame, preserve_index=False)

    return {
        "polars": lambda frame: pl.from_pandas(frame).lazy(),
        "narwhals": lambda frame: nw.from_native(pl.from_pandas(frame).lazy()),
        "narwhals in memory": nw.from_native,
        "duckdb": duckdb_table,
        "dask": dask_table,
        "ibis": ibis_table,
        "hugging face": hugging_face,
    }


@pytest.mark.parametrize("kind", _lazy_tables())
@pytest.mark.parametrize("is_numeric", [False, True], ids=["words", "numbers"])
def test_a_lazy_raw_table_gives_the_model_of_the_frame_and_takes_raw_rows(kind, is_numeric):
    rng = np.random.default_rng(7)
    n_rows = 300
    sex = rng.choice(["female", "male"], n_rows)
    table = pd.DataFrame(
        {
            "age": rng.integers(10, 80, n_rows).astype(float),
            "sex": sex,
            "sport": np.where((sex == "male") & (rng.random(n_rows) < 0.7), "football", "yoga"),
            "born": pd.Timestamp("2019-03-04") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
        }
    )
    table.loc[3:9, "age"] = None
    if is_numeric:
        # nothing in the types of the columns says that they are not 0 and 1
        table = pd.DataFrame({"age": table["age"], "is_male": (sex == "male").astype(int)})
    lazy = _lazy_tables()[kind](table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        expected, model = UFC().fit(table), UFC().fit(lazy)
        assert list(model.feature_names_in_) == list(expected.feature_names_in_)
        assert model.features_ == expected.features_
        assert model.preparation_.binarizer.rules_ == expected.preparation_.binarizer.rules_
        made = model.transform(lazy)
        made = made.compute() if hasattr(made, "compute") else made
        if hasattr(made, "with_format"):
            made = made.with_format("arrow")[:]
        made = nw.from_native(made)
        made = made.collect() if isinstance(made, nw.LazyFrame) else made

        def plain(rows):
            return [[None if pd.isna(v) else bool(v) for v in row] for row in rows]

        wanted = plain(expected.transform(table).itertuples(index=False))
        assert sorted(map(str, plain(made.rows()))) == sorted(map(str, wanted))
        assert model.score(lazy) == pytest.approx(expected.score(table))


def test_a_stream_that_is_read_once_is_fitted_raw():
    table = pa.table({"colour": ["red", "blue", "red", "green"] * 10, "n": [1, 2, 3, 4] * 10})
    model = UFC().fit(table.to_reader())
    assert list(model.feature_names_in_) == list(UFC().fit(table).feature_names_in_)


def test_tables_that_are_none_say_how():
    for data, what in (({"a": [1, 0]}, "a dict"), ([{"a": 1}], "a list of dicts")):
        with pytest.raises(
            InputError, match=rf"{what} is not a table: pass pandas.DataFrame\(data\)"
        ):
            UFC().fit(data)
