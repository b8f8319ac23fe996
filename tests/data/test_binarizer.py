"""The Binarizer against what its names say, in every kind of table."""

import datetime
import math
import zoneinfo
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_binarize as naive
from conjunct import UFC, Binarizer, ConjunctWarning, InputError
from conjunct.errors import CellError

FRAMES = {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.table}

DATA = {
    "wet": ["Yes", "no", None, "YES", "no", "no"],
    "sex": ["male", "female", "female", "male", "female", None],
    "colour": ["red", "green", "blue", "red", None, "green"],
    "legs": [2, 4, 4, 2, 6, 2],
    "weight (kg)": [61.5, 70.25, 80.75, 55.0, 91.125, 66.5],
    "known": [True, False, None, True, True, False],
}
EXPECTED = {
    "wet": [True, False, None, True, False, False],
    "sex = female": [False, True, True, False, True, None],
    "sex = male": [True, False, False, True, False, None],
    "colour = blue": [False, False, True, False, None, False],
    "colour = green": [False, True, False, False, None, True],
    "colour = red": [True, False, False, True, None, False],
    "legs = 2": [True, False, False, True, False, True],
    "legs = 4": [False, True, True, False, False, False],
    "legs = 6": [False, False, False, False, True, False],
    "weight (kg) < 65": [True, False, False, True, False, False],
    "weight (kg) in [65, 80)": [False, True, False, False, False, True],
    "weight (kg) ≥ 80": [False, False, True, False, True, False],
    "known": [True, False, None, True, True, False],
}


def as_columns(frame):
    """A frame as {name: list}, whatever its library's null."""
    table = frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame
    table = (
        pa.Table.from_pandas(table, preserve_index=False)
        if isinstance(table, pd.DataFrame)
        else table
    )
    return table.to_pydict()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_column_in_every_kind_of_frame(kind):
    frame = FRAMES[kind](DATA)
    binarizer = Binarizer(n_bins=3).fit(frame)
    made = binarizer.transform(frame)
    assert type(made) is type(frame)
    assert as_columns(made) == EXPECTED
    assert list(binarizer.get_feature_names_out()) == list(EXPECTED)


def test_array():
    binarizer = Binarizer(n_bins=2)
    made = binarizer.fit_transform(np.array([[1.0, 5], [2, 6], [3, np.nan], [4, 8]]))
    assert binarizer.get_feature_names_out().tolist() == ["x0 < 3", "x0 ≥ 3", "x1 < 8", "x1 ≥ 8"]
    nan = math.nan
    expected = [[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, nan, nan], [0, 1, 0, 1]]
    assert np.array_equal(made, expected, equal_nan=True)
    assert binarizer.get_feature_names_out(["a", "b"]).tolist()[0] == "a < 3"


numbers = st.one_of(
    st.integers(-50, 50), st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)
)
words = st.sampled_from(["red", "green", "blue", "Red", "other", "naïve", "a = b", "0.5x"])
columns = st.one_of(
    st.lists(st.one_of(st.none(), numbers), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), words), min_size=1, max_size=30),
    st.lists(st.sampled_from(["yes", "no", None]), min_size=1, max_size=30),
)


@given(
    values=columns,
    binning=st.sampled_from(["quantile", "width", "kmeans"]),
    n_bins=st.integers(2, 5),
    cumulative=st.booleans(),
)
def test_a_feature_is_what_its_name_says(values, binning, n_bins, cumulative):
    as_floats = any(isinstance(v, float) for v in values)
    cells = [None if v is None else float(v) if as_floats else v for v in values]
    frame = pl.DataFrame({"c": cells}, strict=False)
    binarizer = Binarizer(binning, n_bins=n_bins, cumulative=cumulative)
    distinct = {value for value in cells if value is not None}
    if (len(distinct) < 2 and not distinct <= {0, 1, "yes", "no"}) or not distinct:
        with pytest.raises(InputError, match="no column makes a feature"):
            binarizer.fit(frame)
        return
    binarizer.fit(frame)
    for name, made in binarizer.transform(frame).to_dict(as_series=False).items():
        assert made == [naive.says(name, "c", value) for value in cells]
        # a cut leaves rows on both sides, a word occurs
        assert any(made) or name == "c"


@pytest.mark.parametrize("binning", ["quantile", "width", "kmeans"])
def test_the_highest_value_alone_is_cut_off_if_most_rows_have_it(binning):
    frame = pl.DataFrame({"c": [0.0, -1, 1, 1, 1]})
    binarizer = Binarizer(binning, n_bins=2).fit(frame)
    made = binarizer.transform(frame)
    assert all(0 < column.sum() < 5 for column in made)


@given(values=st.lists(st.integers(0, 1000), min_size=12, max_size=60), n_bins=st.integers(2, 6))
def test_quantiles_share_the_rows(values, n_bins):
    frame = pl.DataFrame({"c": values})
    try:
        made = Binarizer(n_bins=n_bins).fit_transform(frame)
    except InputError:
        return
    sizes = [column.sum() for column in made]
    most_frequent = max(values.count(v) for v in values)
    # rows of one value stay together, so an interval may be larger by one value's rows, and a fifth
    # of its rows may change sides at each of its edges for the sake of round numbers
    assert max(sizes) <= math.ceil(1.4 * len(values) / n_bins) + most_frequent
    if len(set(values)) > 2:
        assert sum(sizes) == len(values)


def test_given_edges_and_steps():
    frame = pl.DataFrame({"age": [20, 30, 44, 45, 80], "x": [1.5, 2.5, 3.5, 4.5, 5.5]})
    binarizer = Binarizer(edges={"age": [30, 45]}, n_bins=2).fit(frame)
    names = binarizer.get_feature_names_out().tolist()
    assert names[:3] == ["age < 30", "age in [30, 45)", "age ≥ 45"]
    assert binarizer.transform(frame)["age in [30, 45)"].to_list() == [
        False,
        True,
        True,
        False,
        False,
    ]
    steps = Binarizer(edges={"age": [30, 45]}, cumulative=True, n_bins=2).fit_transform(frame)
    assert steps["age ≥ 30"].to_list() == [False, True, True, True, True]
    assert steps["age ≥ 45"].to_list() == [False, False, False, True, True]
    # beyond the training data the outer intervals are open
    new = binarizer.transform(pl.DataFrame({"age": [-5, 200], "x": [0.0, 9.0]}))
    assert new["age < 30"].to_list() == [True, False]
    assert new["age ≥ 45"].to_list() == [False, True]


def test_rare_words_together_or_left_out():
    words = ["a"] * 5 + ["b"] * 4 + ["c"] * 2 + ["d"]
    frame = pl.DataFrame({"w": words})
    grouped = Binarizer(min_frequency=3).fit(frame)
    assert grouped.get_feature_names_out().tolist() == ["w = a", "w = b", "w = other"]
    assert grouped.transform(frame)["w = other"].sum() == 3
    assert grouped.rules_[0].describe() == "2 words, 2 rare ones grouped as 'other'"
    dropped = Binarizer(min_frequency=0.3, rare_categories="drop").fit(frame)
    assert dropped.get_feature_names_out().tolist() == ["w = a", "w = b"]
    assert dropped.rules_[0].describe() == "2 words, 2 rare ones left out"
    most = Binarizer(max_categories=3).fit(frame)
    assert most.get_feature_names_out().tolist() == ["w = a", "w = b", "w = other"]
    taken = Binarizer(min_frequency=2).fit(pl.DataFrame({"w": ["other"] * 3 + ["x", "y"]}))
    assert taken.get_feature_names_out().tolist() == ["w = other", "w = other values"]


def test_unknown_words_are_false_with_a_warning():
    binarizer = Binarizer().fit(pl.DataFrame({"w": ["a", "b", "c"], "s": ["x", "y", "x"]}))
    with pytest.warns(ConjunctWarning) as warned:
        made = binarizer.transform(pl.DataFrame({"w": ["a", "zebra"], "s": ["new", "y"]}))
    assert made.to_dict(as_series=False) == {
        "w = a": [True, False],
        "w = b": [False, False],
        "w = c": [False, False],
        "s = x": [False, False],
        "s = y": [False, True],
    }
    assert [str(w.message) for w in warned] == [
        f"column {column!r} holds 1 word not seen in fit ({word!r}): "
        "its features are false in these rows"
        for column, word in (("w", "zebra"), ("s", "new"))
    ]


def test_dates_in_parts():
    moments = [datetime.datetime(2020 + k % 2, 1 + k % 3, 1 + k, 4 * k) for k in range(6)]
    frame = pl.DataFrame({"born": [*moments, None]})
    made = Binarizer().fit_transform(frame)
    for name in made.columns:
        part, _, value = name.removeprefix("born ").partition(" = ")
        told = [
            None
            if moment is None
            else {
                "year": str(moment.year),
                "month": moment.strftime("%B"),
                "weekday": moment.strftime("%A"),
            }.get(part, "hour")
            for moment in [*moments, None]
        ]
        if part.startswith("hour"):
            hours = [None if m is None else m.hour for m in [*moments, None]]
            assert made[name].to_list() == [naive.says(name, "born hour", h) for h in hours]
        else:
            assert made[name].to_list() == [None if t is None else t == value for t in told]
    assert "born year = 2021" in made.columns
    assert "born hour in [6, 12)" in made.columns
    assert "born month = January" in made.columns
    whole_days = Binarizer().fit_transform(pl.DataFrame({"d": [m.date() for m in moments]}))
    assert not [name for name in whole_days.columns if "hour" in name]


ZONES = ["UTC", "Asia/Tokyo", "America/New_York", "Europe/London", "+05:30"]
WITH_ZONE = {
    "polars": lambda instants, zone: pl.DataFrame({"at": instants}).with_columns(
        pl.col("at").dt.convert_time_zone(zone)
    ),
    "pandas": lambda instants, zone: pd.DataFrame({"at": pd.Series(instants).dt.tz_convert(zone)}),
    "pandas ns": lambda instants, zone: pd.DataFrame(
        {"at": pd.Series(instants).dt.tz_convert(zone).astype(f"datetime64[ns, {zone}]")}
    ),
    "pandas of arrow": lambda instants, zone: pd.DataFrame(
        {"at": pd.Series(instants).astype(pd.ArrowDtype(pa.timestamp("us", zone)))}
    ),
    "pandas objects": lambda instants, zone: pd.DataFrame(
        {"at": [instant.astimezone(as_zone(zone)) for instant in instants]}, dtype=object
    ),
    "pyarrow": lambda instants, zone: pa.table(
        {"at": pa.array(instants, pa.timestamp("us", zone))}
    ),
}


def as_zone(zone):
    if zone == "+05:30":
        return datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    return zoneinfo.ZoneInfo(zone)


@pytest.mark.parametrize("container", WITH_ZONE)
@pytest.mark.parametrize("zone", ZONES)
def test_moments_are_those_of_the_clock_on_the_wall_there(container, zone):
    if zone == "+05:30" and container == "polars":
        pytest.skip("polars has named zones only")
    start = datetime.datetime(2024, 3, 1, tzinfo=datetime.UTC)
    instants = [start + datetime.timedelta(hours=7 * k) for k in range(192)]
    there = [instant.astimezone(as_zone(zone)).replace(tzinfo=None) for instant in instants]
    expected = Binarizer().fit_transform(pl.DataFrame({"at": there}))
    made = Binarizer().fit_transform(WITH_ZONE[container](instants, zone))
    assert as_columns(made) == as_columns(expected)


def test_pandas_categories_of_numbers_with_a_missing_cell():
    """pandas writes 1 as 1.0 there: every word would be unknown."""
    whole = pd.DataFrame({"c": pd.Categorical([1, 2, 4, 1])})
    some = pd.DataFrame({"c": pd.Categorical([4, None, 1])})
    made = Binarizer().fit(whole).transform(some)
    assert as_columns(made) == {
        "c = 1": [False, None, True],
        "c = 2": [False, None, False],
        "c = 4": [True, None, False],
    }
    assert Binarizer().fit(some.iloc[[0, 1, 2, 2]]).get_feature_names_out().tolist() == [
        "c = 1",
        "c = 4",
    ]


def test_pandas_types_do_not_depend_on_the_rows():
    table = pd.DataFrame(
        {"w": ["a", "b", "c", None], "n": [1.5, 2.5, None, 3.5], "b": [0, 1, 0, 1]}
    )
    binarizer = Binarizer(n_bins=2).fit(table)
    whole = binarizer.transform(table)
    for row in range(len(table)):
        alone = binarizer.transform(table[row : row + 1])
        assert alone.dtypes.equals(whole.dtypes)
        assert (~alone).equals(~whole[row : row + 1])


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_two_columns_of_one_name(kind):
    table = pa.table([[1, 0, 1], [0, 1, 1]], names=["a", "a"])
    table = table if kind == "pyarrow" else pd.DataFrame([[1, 0], [0, 1]], columns=["a", "a"])
    for estimator in (Binarizer(), UFC()):
        with pytest.raises(InputError, match="two columns are called 'a': names must be distinct"):
            estimator.fit(table)


def test_numbers_of_any_size():
    table = pd.DataFrame({"a": [10**400, 1, 2, 3, 5, -(10**400)]}, dtype=object)
    made = Binarizer(n_bins=2).fit_transform(table)
    assert as_columns(made) == {
        "a < 3": [False, True, True, False, False, True],
        "a ≥ 3": [True, False, False, True, True, False],
    }
    with pytest.raises(InputError, match="threshold must be None or a finite number"):
        UFC(threshold=10**400).fit([[0.5, 1], [1, 0]])
    far = pl.DataFrame({"a": [1e300, 2e300, -1e300, 5e299, 1.0, 7e300, 1.7e308, -1.7e308]})
    for binning in ("quantile", "width", "kmeans"):
        assert all(Binarizer(binning, n_bins=3).fit_transform(far).sum().row(0))
    wide = pa.table({"a": pa.array([Decimal(1), Decimal(0), None], pa.decimal256(50, 2))})
    assert as_columns(Binarizer().fit_transform(wide)) == {"a": [True, False, None]}


def test_what_makes_no_feature_is_said():
    frame = pl.DataFrame(
        {
            "row": range(30),
            "code": [f"c{k}" for k in range(30)],
            "same": ["x"] * 30,
            "seven": [7] * 30,
            "void": pl.Series([None] * 30, dtype=pl.String),
            "ok": ["yes", "no"] * 15,
        }
    )
    binarizer = Binarizer().fit(frame)
    assert binarizer.get_feature_names_out().tolist() == ["ok"]
    assert {d.column: d.reason for d in binarizer.dropped_} == {
        "row": "it numbers the rows",
        "code": "30 different words in 30 cells",
        "same": "every cell is 'x'",
        "seven": "every cell is 7",
        "void": "every cell is empty",
    }


@pytest.mark.filterwarnings("ignore:column 'kw'")
def test_free_text_is_left_out_and_lists_are_tags():
    prose = [f"the quick brown fox number {k} jumps" for k in range(30)]
    binarizer = Binarizer().fit(pl.DataFrame({"review": prose, "wet": ["yes", "no"] * 15}))
    assert binarizer.get_feature_names_out().tolist() == ["wet"]
    assert binarizer.describe_dropped().startswith("Leaving out 1 column ('review': free text). ")
    with pytest.raises(InputError, match=r"no column makes a feature \('review': free text\)"):
        Binarizer().fit(pl.DataFrame({"review": prose}))
    tags = [f"water;t{k // 2}" for k in range(30)]
    with pytest.warns(ConjunctWarning, match=r"'kw': cells such as 'water;t0' are read as tags"):
        binarizer = Binarizer().fit(pl.DataFrame({"kw": tags}))
    assert binarizer.get_feature_names_out().tolist()[-2:] == ["kw: t9", "kw: water"]
    # few different lists, as often as categories
    few = ["sky,water", "sky", "dog", "sky,dog", "sky,water,dog", "chair,dog", "chair,sky"] * 20
    made = Binarizer().fit_transform(pl.DataFrame({"kw": few}))
    assert made.columns == ["kw: chair", "kw: dog", "kw: sky", "kw: water"]
    assert made.row(4) == (False, True, True, True)
    as_words = Binarizer(categorical=["kw"]).fit(pl.DataFrame({"kw": few}))
    assert len(as_words.get_feature_names_out()) == 7
    # two parts each: towns and countries, which stay categories
    towns = [
        "Lyon, France",
        "Paris, France",
        "Rome, Italy",
        "Milan, Italy",
        "Bern, CH",
        "Basel, CH",
    ]
    binarizer = Binarizer().fit(pl.DataFrame({"town": towns * 20}))
    assert len(binarizer.get_feature_names_out()) == 6


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"a": [1, 0]}), None),
        (pl.DataFrame({"a": ["1", "no"]}), None),
        (pl.DataFrame({"a": [2, 0]}), "'2' is not Boolean"),
        (pl.DataFrame({"a": ["yes", "maybe"]}), "'maybe' is not Boolean"),
    ],
)
def test_boolean_columns_take_any_spelling_later_but_nothing_else(frame, message):
    binarizer = Binarizer().fit(pl.DataFrame({"a": [True, False]}))
    if message is None:
        assert binarizer.transform(frame)["a"].to_list() == [True, False]
        return
    with pytest.raises(CellError, match=message):
        binarizer.transform(frame)


def test_numbers_that_are_not():
    binarizer = Binarizer(n_bins=2).fit(pl.DataFrame({"a": [1.5, 2.5, 3.5]}))
    assert binarizer.transform(pl.DataFrame({"a": ["1.5", "3"]})).row(0) == (True, False)
    with pytest.raises(CellError, match="column 'a', row 1: 'tall' is not a number"):
        binarizer.transform(pl.DataFrame({"a": ["1.5", "tall"]}))


@pytest.mark.parametrize("kind", FRAMES)
def test_an_underscore_is_no_part_of_a_number(kind):
    """Python's float reads 1_000, and no reader of files does."""
    words = Binarizer().fit(FRAMES[kind]({"a": ["1_000", "2", "3"] * 4}))
    assert words.get_feature_names_out().tolist() == ["a = 1_000", "a = 2", "a = 3"]
    numbers = Binarizer(n_bins=2).fit(FRAMES[kind]({"a": [1.5, 2.5, 1000.0]}))
    with pytest.raises(CellError, match="column 'a', row 1: '1_000' is not a number"):
        numbers.transform(FRAMES[kind]({"a": ["1000", "1_000"]}))


def test_objects_are_read_as_what_the_column_was_fitted_as():
    """Truth is a number among numbers, whatever else is in the rows."""
    table = pd.DataFrame(
        {"few": [True, 2, 3, 2], "many": [True, 2.5, 7, 9], "words": ["a", True, 1, "b"]},
        dtype=object,
    )
    binarizer = Binarizer(n_bins=3).fit(table)
    whole = binarizer.transform(table)
    for row in range(len(table)):
        assert binarizer.transform(table[row : row + 1]).equals(whole[row : row + 1])


def test_text_of_numbers_is_read_as_numbers_and_codes_as_words():
    numbers = Binarizer().fit(pl.DataFrame({"a": [1, 2, 4]}))
    assert numbers.transform(pl.DataFrame({"a": ["01", "2.0", "nan"]})).rows() == [
        (True, False, False),
        (False, True, False),
        (None, None, None),
    ]
    codes = Binarizer(categorical=["a"]).fit(pl.DataFrame({"a": ["1", "2", "4"]}))
    with pytest.warns(ConjunctWarning, match=r"2 words not seen in fit \('01', '2.0'\)"):
        assert not any(codes.transform(pl.DataFrame({"a": ["01", "2.0"]})).row(0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"binning": "mean"}, "binning must be 'quantile' or 'width' or 'kmeans'; got 'mean'"),
        ({"n_bins": 1}, "n_bins must be a whole number, at least 2; got 1"),
        ({"max_categories": 2.5}, "max_categories must be a whole number"),
        ({"min_frequency": 0}, "min_frequency must be a whole number of rows, or a share"),
        ({"rare_categories": "keep"}, "rare_categories must be 'group' or 'drop'"),
        ({"cumulative": "no"}, "cumulative must be True or False"),
        ({"date_parts": ["decade"]}, "date_parts must be some of year, month, weekday, hour"),
        ({"edges": {"a": [3, 1]}}, "edges of 'a' must be rising, finite numbers"),
        ({"edges": {"a": [1, math.inf]}}, "edges of 'a' must be rising, finite numbers"),
        ({"edges": {"a": [math.nan]}}, "edges of 'a' must be rising, finite numbers"),
        ({"edges": {"a": [10**400]}}, "edges of 'a' must be rising, finite numbers"),
        ({"edges": {"zz": [3]}}, "edges are given for 'zz', which is not a column"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=message):
        Binarizer(**parameters).fit(pl.DataFrame({"a": [1, 2, 3]}))


def test_two_features_of_one_name():
    frame = pl.DataFrame({"c = red": [True, False, True], "c": ["red", "green", "blue"]})
    with pytest.raises(InputError, match="columns 'c = red' and 'c' both make a feature 'c = red'"):
        Binarizer().fit(frame)


def test_in_a_pipeline():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green"], 200)
    frame = pd.DataFrame(
        {"colour": colour, "hot": colour == "red", "age": rng.integers(0, 90, 200)}
    )
    pipeline = make_pipeline(Binarizer(), UFC(max_iter=1)).fit(frame)
    features = pipeline.transform(frame)
    assert list(features.columns) == list(pipeline.get_feature_names_out())
    assert any("colour = " in name and "hot" in name for name in features.columns)


def test_categories_of_one_column_are_never_paired():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 4, 400)
    frame = pl.DataFrame(
        {
            name: [
                words[(h + noise) % 4]
                for h, noise in zip(hidden, rng.random(400) < 0.2, strict=True)
            ]
            for name, words in (("cap", ["bell", "flat", "cone", "bump"]), ("smell", list("abcd")))
        }
    )
    made = Binarizer().fit_transform(frame)
    model = UFC(0.0, max_iter=1, feature_names="formula").fit(made)
    columns = [name.partition(" = ")[0] for name in made.columns]
    assert len(model.feature_set_.merges) == 4
    assert all(columns[m.left] != columns[m.right] for m in model.feature_set_.merges)


@parametrize_with_checks([Binarizer(), Binarizer("width", cumulative=True), Binarizer("kmeans")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["categorical", "tags"])
@pytest.mark.parametrize("names", ["color2", 5, None])
def test_column_names_are_a_list(name, names):
    """A word would be taken as its letters, and "color" is a part of "color2"."""
    frame = pl.DataFrame({"color": ["a;b", "a", "b"], "color2": ["x", "y", "x"]})
    with pytest.raises(ValueError, match=f"{name} must be a list of column names"):
        Binarizer(**{name: names}).fit(frame)
