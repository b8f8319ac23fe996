"""What columns of text are taken for, against readings by hand; and one model from many forms."""

import datetime
import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive_binarize as naive
from conjunct import UFC, Binarizer
from conjunct.data import BooleanRule, CategoryRule, NumberRule, TagsRule, number
from conjunct.data.inference import find_tag_separator, parse_moment
from conjunct.errors import ConjunctWarning
from conjunct.files import read_boolean

N = 60
ORDER = [(7 * k) % N for k in range(N)]
COLUMNS = {
    # name: (cells, the kind, names of some features)
    "money": ([f"${(k * k * 37) % 5000 + 100:,}" for k in ORDER], "numbers", ["money < 1000"]),
    "euros": ([f"{k * 13 % 90},{k % 90 + 10} €" for k in ORDER], "numbers", []),
    "percent": ([f"{k}%" for k in ORDER], "numbers", ["percent < 15"]),
    "thousands": ([f"1,0{k + 10},721" for k in ORDER], "numbers", []),
    "short": ([f"{k / 10}k" for k in ORDER], "numbers", ["short < 1500"]),
    "rating": ([str(k % 5 + 1) for k in ORDER], "values", ["rating = 4"]),
    "children": ([k % 4 for k in ORDER], "values", ["children = 0"]),
    "clock": ([f"{k % 24}:{k:02}" for k in ORDER], "date hour", ["clock hour < 6"]),
    "month names": (
        [f"{m} {k % 28 + 1} {1990 + k % 3}" for k in ORDER for m in [("Jun", "Sep")[k % 2]]],
        "date year date month date weekday",
        ["month names month = June"],
    ),
    "digits": (
        [1975_01_03 + 10_000 * (k % 5) + 100 * (k % 11) for k in ORDER],
        "date year date month date weekday",
        ["digits year = 1976"],
    ),
    "Year": ([f"{1990 + k % 7}-01-01" for k in ORDER], "date year", ["Year = 1992"]),
    "year": ([1960 + k for k in range(N)], "numbers", ["year < 1975"]),
    "codes": ([f"00{k % 9}" for k in ORDER], "words", ["codes = 007"]),
    "currencies": ([f"{'$€'[k % 2]}{k % 6}" for k in ORDER], "words", ["currencies = $2"]),
    "rownames": ([f"Mazda {k}" for k in ORDER], "out", []),
    "Unnamed: 0": (ORDER, "out", []),
    "id": (ORDER, "out", []),
    "store_id": ([k % 12 + 1 for k in ORDER], "values", ["store_id = 12"]),
    "counter": ([1000 + 3 * k for k in range(N)], "out", []),
    "unique": ([f"word{k}" for k in ORDER], "out", []),
    "prose": ([f"this is sentence number {k} of them" for k in ORDER], "out", []),
    "names": ([f"Abreu{k % 40}, {'JKLM'[k % 4]}" for k in ORDER], "out", []),
    "towns": (
        [("Lyon, France", "Paris, France", "Rome, Italy", "Bern, CH")[k % 4] for k in ORDER],
        "words",
        ["towns = Bern, CH"],
    ),
    "tags;": (
        [";".join(sorted({"abcdef"[k % 6], "bcdefa"[k % 5]})) for k in ORDER],
        "tags",
        ["tags;: a"],
    ),
    "tags,": (
        [", ".join(sorted({"abcdef"[k % 6], "bcdefa"[k % 5], "ace"[k % 3]})) for k in ORDER],
        "tags",
        ["tags,: b"],
    ),
    "json": ([f'["a{k % 3}", "b{k % 4}"]' for k in ORDER], "tags", ["json: a0", "json: b3"]),
    "lists": ([["a", "b", "c"][: k % 4] for k in ORDER], "tags", ["lists: a"]),
    "many": ([f"w{k % 25}" for k in range(N)], "words", ["many = w0"]),
    "dicts": ([{"a": k} for k in ORDER], "out", []),
}


def kind_of(binarizer):
    kinds = ["out" for _ in binarizer.dropped_]
    for rule in binarizer.rules_:
        kind = {BooleanRule: "yes/no", TagsRule: "tags", NumberRule: "numbers"}.get(type(rule))
        if getattr(rule, "part", None):
            kind = f"date {rule.part}"
        elif isinstance(rule, CategoryRule):
            named = re.fullmatch(r"-?\d+", rule.values[0]) and rule.written != "words"
            kind = "values" if named else "words"
        kinds.append(kind)
    return " ".join(kinds)


@pytest.mark.filterwarnings("ignore:column:conjunct.ConjunctWarning")
@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_is_what_a_person_sees(name):
    cells, kind, features = COLUMNS[name]
    frame = pd.DataFrame({name: cells, "wet": ["yes", "no"] * (N // 2)})
    binarizer = Binarizer().fit(frame)
    found = kind_of(binarizer).removesuffix(" yes/no").removeprefix("yes/no")
    assert found == kind, binarizer.rules_
    assert set(features) <= set(binarizer.get_feature_names_out())


def test_a_dominant_other_makes_no_feature():
    cells = [f"w{k % 50}" for k in range(200)]
    rule = Binarizer().fit(pl.DataFrame({"a": cells})).rules_[0]
    assert (rule.other, len(rule.values), len(rule.rare)) == (None, 19, 31)
    rule = Binarizer().fit(pl.DataFrame({"a": [*cells, *["w0", "w1"] * 200]})).rules_[0]
    assert rule.other == "other"


AMOUNTS = st.from_regex(
    r"[+-]?[$€]?[0-9]{1,4}(,[0-9]{3}){0,2}(\.[0-9]{1,3})?[kM]?%?", fullmatch=True
)


@example("1,002")
@example("$1.5k")
@example("1,2345")
@given(AMOUNTS | st.text("0123456789.,$%kM-+eE ", max_size=8))
def test_numbers_are_read_as_by_hand(word):
    assert number(word.strip()) == pytest.approx(naive.amount(word.strip()), nan_ok=True)


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)))
def test_dates_are_read_in_every_spelling(day):
    midnight = datetime.datetime.combine(day, datetime.time())
    for form in ("%Y-%m-%d", "%Y/%m/%d", "%b %d %Y", "%B %d, %Y", "%d %b %Y", "%d-%b-%Y"):
        assert parse_moment(day.strftime(form), "year first") == midnight
    assert parse_moment(day.strftime("%d.%m.%Y"), "day first") == midnight
    assert parse_moment(day.strftime("%m/%d/%Y"), "month first") == midnight
    assert parse_moment(day.strftime("%Y%m%d"), "digits") == midnight
    stamp = day.strftime("%Y-%m-%dT23:05:07.25Z")
    assert parse_moment(stamp, "year first") == midnight.replace(
        hour=23, minute=5, second=7, microsecond=250_000
    )


@pytest.mark.parametrize("word", ["2024-02-30", "24:00", "31.13.2024", "Jux 1 2020", "12:60", "5"])
def test_what_is_no_date(word):
    for order in ("year first", "day first", "month first", "clock"):
        assert parse_moment(word, order) is None


baskets = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=1)


@given(baskets=baskets, separator=st.sampled_from(";|,"))
def test_tags_are_those_of_a_split(baskets, separator):
    cells = [separator.join(dict.fromkeys(basket)) for basket in baskets]
    table = pl.DataFrame({"t": cells, "wet": [k % 2 for k in range(len(cells))]})
    made = Binarizer(tags=["t"]).fit_transform(table)
    used = find_tag_separator(sorted(set(cells)), is_asked=True)
    # cells of one tag each show no separator: new rows may hold lists with semicolons
    assert used == (separator if any(separator in cell for cell in cells) else ";")
    for column in made.columns:
        if column != "wet":
            tag = column.removeprefix("t: ")
            assert made[column].to_list() == [tag in cell.split(separator) for cell in cells]


DAYS = [datetime.date(2020 + k % 4, k % 12 + 1, k % 28 + 1) for k in range(N)]
TABLE = pl.DataFrame(
    {
        "colour": [("red", "green", "blue")[k % 3] for k in range(N)],
        "size": [("big", "small", "small")[k % 3] for k in range(N)],
        "price": [None if k % 9 == 0 else k * 7 % 50 + 0.5 for k in range(N)],
        "rating": [k % 5 + 1 for k in range(N)],
        "wet": [k % 3 == 0 for k in range(N)],
        "seen": DAYS,
    }
)


def in_forms(folder):
    """Yield the same table in 20 forms."""
    words = TABLE.with_columns(pl.col("wet").cast(pl.Int8).cast(pl.String)).cast(pl.String)
    yield "polars", TABLE
    yield "polars, all text", words
    yield "polars, dates as moments", TABLE.with_columns(pl.col("seen").cast(pl.Datetime("us")))
    yield "polars, small numbers", TABLE.with_columns(pl.col("rating").cast(pl.Int8))
    yield "polars, floats", TABLE.with_columns(pl.col("rating").cast(pl.Float64))
    yield (
        "polars, yes and no",
        TABLE.with_columns(pl.when("wet").then(pl.lit("Yes")).otherwise(pl.lit("no")).alias("wet")),
    )
    yield "polars, 0 and 1", TABLE.with_columns(pl.col("wet").cast(pl.Int64))
    yield "polars, categories", TABLE.with_columns(pl.col("colour", "size").cast(pl.Categorical))
    yield "pyarrow", TABLE.to_arrow()
    yield "pandas", TABLE.to_pandas()
    yield "pandas, objects", TABLE.to_pandas().astype(object)
    yield "pandas, nullable", TABLE.to_pandas().convert_dtypes()
    yield "pandas, all text", pd.read_csv(io.StringIO(words.write_csv()), dtype=str)
    yield "pandas, as read", pd.read_csv(io.StringIO(TABLE.write_csv()))
    for ending in ("csv", "tsv", "json", "ndjson", "parquet", "arrow"):
        path = folder / f"t.{ending}"
        if ending in ("csv", "tsv"):
            TABLE.write_csv(path, separator="," if ending == "csv" else "\t")
        else:
            named = {"arrow": "ipc"}.get(ending, ending)
            getattr(TABLE, f"write_{named}")(path)
        yield ending, read_boolean(path)


def test_one_model_from_twenty_forms(tmp_path):
    models = {name: UFC().fit(data).to_json() for name, data in in_forms(tmp_path)}
    assert len(models) == 20
    expected = models["polars"]
    assert "colour = red" in expected
    assert [name for name, model in models.items() if model != expected] == []


@given(k=st.integers(0, N - 1))
def test_a_row_alone_is_read_as_among_others(k):
    binarizer = Binarizer().fit(TABLE.cast(pl.String))
    whole = binarizer.transform(TABLE.cast(pl.String))
    assert binarizer.transform(TABLE.cast(pl.String)[k : k + 1]).equals(whole[k : k + 1])
    assert np.array_equal(whole.columns, Binarizer().fit(TABLE).get_feature_names_out())


def test_the_same_guess_about_many_columns_is_one_note():
    table = pd.DataFrame(
        {f"q{k}": [*"12345"] * 8 + ["NA"] * k + ["3"] * (4 - k) for k in range(1, 5)}
    )
    with pytest.warns(ConjunctWarning) as caught:
        Binarizer().fit(table)
    (note,) = [str(one.message) for one in caught if "treating" in str(one.message)]
    assert note.startswith(
        "treating words as missing in 4 columns: 'q1' 1 × 'NA', 'q2' 2 × 'NA' and 2 more; "
    )
    with pytest.warns(ConjunctWarning) as caught:
        Binarizer(categorical=["q1", "q2"]).fit(table)
    notes = [str(one.message) for one in caught if "treating" in str(one.message)]
    assert [note.split(":")[0] for note in notes] == ["column 'q3'", "column 'q4'"]
