"""Which columns are values of one variable, against the oracle and by hand."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_variables as naive
from conjunct import Binarizer, BooleanData
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.counting import (
    DiskPartitions,
    PartitionedColumns,
    ScratchFile,
    Tally,
    WeightedColumns,
)
from conjunct.data import (
    check_variables,
    group_by_variable,
    recognise_variables,
    variables,
    variables_by_column,
)
from conjunct.errors import InputError
from tables import tables


def with_gaps(table, missing):
    return MaskedColumns(
        PackedColumns.from_table(table & ~missing), PackedColumns.from_table(~missing)
    )


def on_disk(table):
    scratch = ScratchFile()
    middle = len(table) // 2
    for part in (table[:middle], table[middle:]):
        if len(part):
            scratch.append(PackedColumns.from_table(part))
    return PartitionedColumns(DiskPartitions(scratch, 1 << 20, None, "auto"))


def with_weights(table):
    """Each distinct row once."""
    rows, weights = np.unique(table, axis=0, return_counts=True)
    return WeightedColumns.of(PackedColumns.from_table(rows), weights.astype(np.int64))


LAYOUTS = {
    "packed": PackedColumns.from_table,
    "sparse": SparseColumns.from_table,
    "masked": lambda table: with_gaps(table, np.zeros_like(table)),
    "disk": on_disk,
    "weighted": with_weights,
}


def recognised(names, store):
    found = recognise_variables(names, Tally.of(store).counts)
    assert len(found) in (0, len(names))
    return group_by_variable(zip(names, found, strict=False))


def as_sets(grouped):
    return {frozenset(columns) for columns in grouped.values()}


@st.composite
def one_hot(draw):
    """A table of many equal rows with values that exclude each other, and names with stems."""
    rows = draw(tables(max_rows=8, max_columns=5))
    n_values = draw(st.integers(0, 4))
    answers = draw(st.lists(st.integers(0, n_values), min_size=len(rows), max_size=len(rows)))
    values = np.array([[answer == k for k in range(n_values)] for answer in answers], bool)
    table = np.hstack([rows, values.reshape(len(rows), n_values)])
    times = draw(st.lists(st.integers(1, 40), min_size=len(rows), max_size=len(rows)))
    word = st.text("ab =:_.[]<≥", min_size=1, max_size=6) | st.builds(
        "{}{}{}".format,
        st.sampled_from(["a", "a_b", "a b"]),
        st.sampled_from(["=", " = ", "_", ".", ":", ": ", "__", " < ", " ≥ ", " in [0, ", "["]),
        st.sampled_from(["1", "2", "3)", "4)", "5]", "6]", "a_b", "a=b"]),
    )
    m = table.shape[1]
    names = draw(st.lists(word, min_size=m, max_size=m, unique=True))
    return names, np.repeat(table, times, axis=0)


@given(one_hot(), st.sampled_from(sorted(LAYOUTS)), st.randoms(use_true_random=False))
def test_recognition_is_the_oracles(case, layout, random):
    names, table = case
    expected = naive.variables(names, table.tolist())
    found = recognised(names, LAYOUTS[layout](table))
    assert as_sets(found) == expected
    rows, columns = list(range(len(table))), list(range(len(names)))
    random.shuffle(rows)
    random.shuffle(columns)
    mixed = LAYOUTS[layout](table[rows][:, columns])
    again = recognised([names[k] for k in columns], mixed)
    assert {n: frozenset(v) for n, v in again.items()} == {
        n: frozenset(v) for n, v in found.items()
    }


@given(one_hot(), st.data())
def test_recognition_with_missing_cells_is_the_oracles(case, data):
    names, table = case
    bits = data.draw(st.integers(0, 2 ** min(table.size, 60) - 1))
    missing = np.resize([bool(bits >> k & 1) for k in range(61)], table.shape)
    rows = [
        [None if gap else bool(cell) for cell, gap in zip(*both, strict=True)]
        for both in zip(table, missing, strict=True)
    ]
    store = with_gaps(table, missing)
    assert as_sets(recognised(names, store)) == naive.variables(names, rows)


def test_pairs_that_are_looked_at_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(variables, "_PAIRS_AT_ONCE", 3)
    random = np.random.default_rng(0)
    answers = random.integers(0, 5, 400)
    table = np.column_stack([answers[:, None] == range(5), random.random((400, 6)) < 0.1])
    names = [*"abcde", *"uvwxyz"]
    found = recognised(names, SparseColumns.from_table(table))
    assert as_sets(found) == naive.variables(names, table.tolist()) == {frozenset("abcde")}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_many_columns_need_more_rows(layout):
    """Of 4,950 pairs one or two that are expected in 8 rows never meet by chance."""
    random = np.random.default_rng(5)
    table = random.random((500, 100)) < 0.13
    answers = random.integers(0, 5, 500)
    table[:, :5] = answers[:, None] == range(5)
    names = [f"c{k}" for k in range(100)]
    found = as_sets(recognised(names, LAYOUTS[layout](table)))
    assert found == naive.variables(names, table.tolist()) == {frozenset(names[:5])}


def columns(*answers):
    """Columns of n equal rows for each answer: which columns it has."""
    m = 1 + max(max(answer, default=0) for answer in answers)
    return np.array([[k in answer for k in range(m)] for answer in answers], bool)


def variables_of(names, *answers):
    return recognised(names, PackedColumns.from_table(columns(*answers)))


@pytest.mark.parametrize(
    ("one", "other", "stem"),
    [
        ("colour=red", "colour=blue", "colour"),
        ("colour = red", "colour = dark_blue", "colour"),
        ("colour: red", "colour: blue", "colour"),
        ("colour[red]", "colour[blue]", "colour"),
        ("colour_red", "colour_dark_blue", "colour"),
        ("colour.red", "colour.blue", "colour"),
        ("eye_colour_red", "eye_colour_blue", "eye"),
        ("eye_colour=red", "eye_colour=blue", "eye_colour"),
        ("age < 30", "age ≥ 30", "age"),
        ("age in [20, 30)", "age ≥ 30", "age"),
    ],
)
def test_names_with_a_stem(one, other, stem):
    assert variables_of([one, other], {0}, {1}) == {stem: (one, other)}
    assert variables_of([one, other], {0}, {1}, {0, 1}) == {}


def test_stems_in_stems():
    """Values that hold separators; and where two questions begin alike, each is its own."""
    status = ["status_never_married", "status_never_asked", "status_divorced"]
    assert variables_of(status, {0}, {1}, {2}) == {"status": tuple(status)}
    survey = ["survey_sex_f", "survey_sex_m", "survey_age_old", "survey_age_young"]
    found = variables_of(survey, {0, 2}, {0, 3}, {1, 2}, {1, 3})
    assert found == {"survey_sex": tuple(survey[:2]), "survey_age": tuple(survey[2:])}


def test_a_separator_that_stands_in_many_names_needs_rows():
    """``new_york`` and ``new_year`` are rare, and never meet by chance."""
    names = ["new_york", "new_year", "x"]
    assert variables_of(names, {0}, {1}, *[{2}] * 50) == {}
    assert variables_of(names, *[{0}] * 20, *[{1}] * 20, *[{2}] * 10) == {
        "new": ("new_york", "new_year")
    }
    # one row of each answer is enough for a name that says it
    names = ["new=york", "new=year", "x"]
    assert variables_of(names, {0}, {1}, *[{2}] * 50) == {"new": ("new=york", "new=year")}


def test_different_separators_are_different_stems():
    assert variables_of(["a=1", "a_2", "a: 3"], {0}, {1}, {2}) == {}


def test_columns_that_exclude_each_other_without_names():
    rows = [{k % 3} for k in range(90)]
    assert variables_of(["red", "green", "blue"], *rows) == {
        "blue | green | …": ("red", "green", "blue")
    }
    # by support, then by name
    assert variables_of(["red", "green"], *[{0}] * 30, *[{1}] * 20) == {
        "red | green": ("red", "green")
    }
    # one row with both
    assert variables_of(["red", "green"], *[{0}] * 30, *[{1}] * 20, {0, 1}) == {}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_a_rare_value_joins_the_variable_that_it_never_meets(layout):
    """3 of 300 rows are too few to be expected with one value, but not with all of them."""
    colours = np.repeat([0, 1, 2, 3], [120, 100, 77, 3])
    table = np.column_stack([colours == k for k in range(4)])
    other = np.random.default_rng(0).random(300) < 0.5
    names = ["p", "q", "r", "s", "t"]
    rows = np.column_stack([table, other])
    assert as_sets(recognised(names, LAYOUTS[layout](rows))) == {frozenset("pqrs")}
    assert naive.variables(names, rows.tolist()) == {frozenset("pqrs")}


def test_two_frequent_values_and_rare_ones_have_every_row():
    answers = np.repeat([0, 1, 2, 3], [160, 130, 6, 4])
    other = np.random.default_rng(0).random(300) < 0.5
    rows = np.column_stack([*(answers == k for k in range(4)), other])
    names = ["p", "q", "r", "s", "t"]
    assert as_sets(recognised(names, PackedColumns.from_table(rows))) == {frozenset("pqrs")}
    # two tags that avoid each other are no variable as long as some rows have neither
    rows[answers == 3, 3] = False
    assert recognised(names, PackedColumns.from_table(rows)) == {}
    assert naive.variables(names, rows.tolist()) == set()


def test_rare_columns_are_not_recognised():
    """Of 16 + 16 among 32 rows chance would have 8 meet, and of 16 + 15 among 31 fewer."""
    assert variables_of(["a", "b"], *[{0}] * 16, *[{1}] * 16)
    assert variables_of(["a", "b"], *[{0}] * 16, *[{1}] * 15) == {}
    random = np.random.default_rng(1)
    table = random.random((500, 30)) < 0.05
    assert recognised([f"c{k}" for k in range(30)], PackedColumns.from_table(table)) == {}


def test_columns_that_are_never_known_together():
    table = np.zeros((200, 2), bool)
    table[::2, 0], table[1::2, 1] = True, True
    missing = ~table
    store = with_gaps(table, missing)
    assert recognised(["a", "b"], store) == {}


def test_names_of_variables_are_distinct():
    names = ["a=1", "a=2", "a: 1", "a: 2", "u", "v"]
    answers = [{k % 2, 2 + k // 2 % 2, 4 + k // 4 % 2} for k in range(80)]
    assert variables_of(names, *answers) == {
        "a": ("a: 1", "a: 2"),
        "a [2]": ("a=1", "a=2"),
        "u | v": ("u", "v"),
    }


def test_what_is_known_stays():
    table = columns(*[{k % 2, 2 + k // 2 % 2} for k in range(80)])
    counts = Tally.of(PackedColumns.from_table(table)).counts
    names = ["sex=f", "sex=m", "a", "b"]
    known = [None, None, "sex", "sex"]
    assert recognise_variables(names, counts, known) == ("sex [2]", "sex [2]", "sex", "sex")


def test_variables_that_are_given():
    given = {"colour": ["red", "blue"], "size": ("big", "small")}
    check_variables(given)
    names = ["blue", "big", "x", "red", "small"]
    assert variables_by_column(given, names) == ("colour", "size", None, "colour", "size")
    assert variables_by_column({}, names) == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (True, "variables must be None, False or a mapping of names to lists of columns; got True"),
        ({"a": "bc"}, "variables must map names to lists of columns; got 'a': 'bc'"),
        ({"a": [1, 2]}, "variables must map names to lists of columns; got 'a': [1, 2]"),
        ({1: ["b", "c"]}, "variables must map names to lists of columns; got 1: ['b', 'c']"),
        ({"a": ["b"]}, "variable 'a' needs at least two columns; got ['b']"),
        (
            {"a": ["b", "c"], "d": ["c", "e"]},
            "column 'c' is in variables 'a' and 'd': name it once",
        ),
        ({"a": ["b", "b"]}, "column 'b' is twice in variable 'a': name it once"),
    ],
)
def test_variables_that_cannot_be(given, message):
    with pytest.raises(InputError) as error:
        check_variables(given)
    assert str(error.value) == message


def test_a_variable_of_no_column():
    with pytest.raises(InputError, match=r"^variable 'a' has 'z', which is not a column$"):
        variables_by_column({"a": ["b", "z"]}, ["b", "c"])


TABLE = pl.DataFrame(
    {
        "sex": ["female", "male", "male", None] * 10,
        "smokes": ["yes", "no", "no", "no"] * 10,
        "legs": [2, 4, 2, 4] * 10,
        "sport": ["none", "tennis", "chess", "none"] * 10,
        "age": [20.5, 30.5, 40.5, 50.5, 60.5] * 8,
        "born": [date(1990 + k, 1 + k % 3, 1 + k % 28) for k in range(40)],
    }
)


def test_a_binarizer_says_which_features_exclude_each_other():
    binarizer = Binarizer().fit(TABLE)
    found = binarizer.get_variables()
    assert found["sex"] == ("sex = female", "sex = male")
    assert found["legs"] == ("legs = 2", "legs = 4")
    assert found["sport"] == ("sport = chess", "sport = none", "sport = tennis")
    assert found["born month"] == tuple(
        f"born month = {month}" for month in ("January", "February", "March")
    )
    assert list(found) == [
        *("sex", "legs", "sport", "age"),
        *("born year", "born month", "born weekday"),
    ]
    assert "smokes" in binarizer.get_feature_names_out()
    features = binarizer.transform(TABLE)
    known = TABLE.with_columns(pl.all().is_not_null())
    for variable, values in found.items():
        source = variable.split(" ")[0]
        assert (features[values].sum_horizontal() == known[source].cast(int)).all()


def test_variables_of_boolean_data():
    data = BooleanData.from_data(TABLE)
    of = dict(zip(data.names, data.variables, strict=True))
    assert (of["sex = male"], of["smokes"]) == ("sex", None)
    some = data.align(["smokes", "sex = male"])
    assert some.variables == (None, "sex")
    assert (
        BooleanData.from_data(pl.DataFrame({"a=1": [True, False], "a=2": [False, True]})).variables
        == ()
    )


def test_steps_and_single_values_exclude_nothing():
    steps = Binarizer(cumulative=True).fit(pl.DataFrame({"age": np.arange(0.5, 40)}))
    assert steps.get_variables() == {}
    single = Binarizer(min_frequency=3, rare_categories="drop").fit(
        pl.DataFrame({"w": ["a"] * 5 + ["b", "c"]})
    )
    assert single.get_feature_names_out().tolist() == ["w = a"]
    assert single.get_variables() == {}
    assert (
        BooleanData.from_data(pl.DataFrame({"age": np.arange(0.5, 40)}), binarizer=steps).variables
        == ()
    )


def test_two_words_are_both_kept_however_rare():
    table = pl.DataFrame({"sex": ["f"] * 99 + ["m"]})
    for binarizer in (
        Binarizer(min_frequency=0.1, rare_categories="drop"),
        Binarizer(max_categories=2),
    ):
        assert binarizer.fit(table).get_feature_names_out().tolist() == ["sex = f", "sex = m"]


def test_a_column_that_is_called_as_a_part_of_a_date_is():
    table = pl.DataFrame(
        {
            "born": [date(2000, 1 + k % 3, 1 + 7 * (k % 4)) for k in range(12)],
            "born month": ["early", "late", "never"] * 4,
        }
    )
    found = Binarizer(date_parts=["month"]).fit(table).get_variables()
    assert list(found) == ["born month", "born month [2]"]
    assert found["born month [2]"] == tuple(
        f"born month = {word}" for word in ("early", "late", "never")
    )
