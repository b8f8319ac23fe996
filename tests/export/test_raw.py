"""Exported features of models fitted on raw tables, run where they go, against the Binarizer."""

import datetime
import math
import warnings
from decimal import Decimal
from pathlib import Path

import jinja2
import polars as pl
import pytest
import sqlglot
from hypothesis import assume, given
from hypothesis import strategies as st

from conjunct import UFC, Binarizer, BooleanData
from conjunct.data.column_rules import CategoryRule, NumberRule, TagsRule
from conjunct.errors import ConjunctWarning, InputError
from conjunct.export.dialects import DIALECTS
from conjunct.export.formulas import checks_of
from conjunct.export.frames import to_polars
from conjunct.export.programs import to_python
from conjunct.export.sql import to_sql
from conjunct.expressions import Constant, Not, Primitive

NAMES = [
    "sky", 'say "hi"', "it's", "a`b", "x; DROP TABLE data --", "^a.*$", "*", "r", "∧",
    "line\nbreak", "<script>", "NULL", "é", "true", "%s", "{x}", "\\",
]  # fmt: skip
WORDS = [
    "red", "it's", '"; DROP TABLE data; --', "\\", "\\n", "a\nb", "é", "", "  ", "\u00a0red\t",
    "NULL", "∧", "%s", "{x}", "Red", "nan", "1e3", "\u3000", "😀", "?", ":a", "$1",
]  # fmt: skip

KINDS = {
    "flag": (pl.Boolean, st.booleans()),
    "bit": (pl.Int64, st.integers(0, 1)),
    "real bit": (pl.Float64, st.sampled_from([0.0, 1.0, math.nan])),
    "yes": (pl.String, st.sampled_from(["Yes", "no", " YES ", "No", ""])),
    "words": (pl.String, st.sampled_from(WORDS)),
    "two": (pl.String, st.sampled_from(["male", "female", " male"])),
    "few": (pl.Int64, st.sampled_from([2, 4, 1000])),
    "whole": (pl.Int64, st.integers(-50, 10**6)),
    "real": (pl.Float64, st.floats(-1e6, 1e6) | st.sampled_from([0.1, 1e-7, math.nan, 2.5])),
    "few reals": (pl.Float64, st.sampled_from([1.0, 2.0, math.inf, -math.inf])),
    "decimal bit": (pl.Decimal(10, 2), st.sampled_from([Decimal("1.00"), Decimal("0.00")])),
    "codes": (pl.String, st.sampled_from(["1", "2", "4"])),
    "single": (pl.Float32, st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.5, 7.0])),
    "date": (pl.Date, st.dates(datetime.date(1899, 1, 1), datetime.date(2100, 1, 1))),
    "moment": (
        pl.Datetime("us"),
        st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2030, 1, 1)),
    ),
}


@st.composite
def raw_tables(draw):
    """A table to fit on, and one of the same columns to transform."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique_by=str.casefold))
    kinds = [KINDS[draw(st.sampled_from(sorted(KINDS)))] for _ in names]

    def column(name, dtype, cells, n_rows):
        drawn = draw(st.lists(st.none() | cells, min_size=n_rows, max_size=n_rows))
        # named afterwards: polars takes "^a.*$" for a pattern even here
        return pl.Series("", drawn, dtype=dtype).rename(name)

    def table(n_rows):
        columns = zip(names, kinds, strict=True)
        return pl.DataFrame([column(name, *kind, n_rows) for name, kind in columns])

    return table(draw(st.integers(4, 25))), table(draw(st.integers(1, 8)))


def fitted(draw_from, **settings):
    try:
        return Binarizer(**settings).fit(draw_from)
    except InputError:
        assume(False)


settings = st.fixed_dictionaries(
    {
        "n_bins": st.integers(2, 4),
        "cumulative": st.booleans(),
        "max_categories": st.integers(2, 6),
        "rare_categories": st.sampled_from(["group", "drop"]),
    }
)


def wanted(binarizer, table):
    """What transform gives, and the primitives and a negation as features."""
    names = [str(name) for name in binarizer.get_feature_names_out()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        try:
            made = binarizer.transform(table)
        except InputError:
            assume(False)
    features = {f"f{k}": Primitive(name) for k, name in enumerate(names)}
    features["negated"] = Not(Primitive(names[0]))
    rows = [(*row, None if row[0] is None else not row[0]) for row in made.rows()]
    return features, rows


def has_infinity(table):
    return any(isinstance(v, float) and math.isinf(v) for row in table.rows() for v in row)


@given(raw_tables(), settings)
def test_sql_takes_raw_tables(database, drawn, chosen):
    train, table = drawn
    assume(database.name != "mysql" or not has_infinity(table))  # it has none
    binarizer = fitted(train, **chosen)
    features, expected = wanted(binarizer, table)
    raw = checks_of(binarizer.rules_)
    sql = to_sql(features, "data", dialect=database.name, keep=["row_number_"], raw=raw)
    assert database.run(sql, table) == expected


@given(raw_tables(), settings)
def test_sql_takes_raw_tables_as_text(database, drawn, chosen):
    """As sqlite's .import makes them: every cell is text, and a missing one is empty."""
    train, table = drawn
    assume(database.name in ("duckdb", "postgres") or not has_infinity(table))  # inf is no number
    binarizer = fitted(train, **chosen)
    features, expected = wanted(binarizer, table)
    cells = [["" if v is None else str(v) for v in column] for column in table.iter_columns()]
    names = zip(table.columns, cells, strict=True)
    texts = pl.DataFrame([pl.Series("", c, pl.String).rename(name) for name, c in names])
    # SQLite needs not be told, but for dates, which are texts there anyway
    source = None if database.name == "sqlite" else "text"
    options = {"keep": ["row_number_"], "raw": checks_of(binarizer.rules_), "column_type": source}
    sql = to_sql(features, "data", dialect=database.name, **options)
    assert database.run(sql, texts) == expected


@given(raw_tables(), settings)
def test_polars_takes_raw_tables(drawn, chosen):
    train, table = drawn
    binarizer = fitted(train, **chosen)
    features, expected = wanted(binarizer, table)
    made = table.lazy().select(to_polars(features, raw=checks_of(binarizer.rules_))).collect()
    assert made.rows() == expected
    assert set(made.dtypes) == {pl.Boolean}


@given(raw_tables(), settings)
def test_python_takes_raw_tables(drawn, chosen):
    train, table = drawn
    binarizer = fitted(train, **chosen)
    features, expected = wanted(binarizer, table)
    namespace = {}
    exec(to_python(features, raw=checks_of(binarizer.rules_)), namespace)
    made = [tuple(namespace["features"](row).values()) for row in table.rows(named=True)]
    assert made == expected


def raw_animals():
    """A hundred rows with every kind of column."""
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=31 * k) for k in range(100)]
    return pl.DataFrame(
        {
            "wet": [["Yes", "no"][k % 3 == 0] for k in range(100)],
            "colour": [["red", "it's", "blue"][k % 4 % 3] for k in range(100)],
            "weight": [(k * 37 % 100) / 3 for k in range(100)],
            "legs": [[2, 4][k % 3 == 0] for k in range(100)],
            "seen": days,
        }
    )


def fitted_model():
    table = BooleanData.from_data(raw_animals())
    return UFC(0.1, max_iter=2, feature_names="formula").fit(table), table


def test_a_model_fitted_on_raw_data_takes_raw_data_everywhere(database):
    model, table = fitted_model()
    expected = model.transform(table).convert("polars").rows()
    assert any("weight" in name for name in model.get_feature_names_out())
    raw = raw_animals()
    assert raw.select(model.to_polars()).rows() == expected
    sql = model.to_sql(dialect=database.name, feature_names="number", keep=["row_number_"])
    assert database.run(sql, raw) == expected
    namespace = {}
    exec(model.to_python(), namespace)
    assert [tuple(namespace["features"](row).values()) for row in raw.rows(named=True)] == expected


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("source", [None, "text"])
@pytest.mark.parametrize("kind", ["select", "view", "table"])
def test_every_dialect_reads_its_own_sql_of_raw_tables(dialect, kind, source):
    model, _ = fitted_model()
    sql = model.to_sql(dialect=dialect, feature_names="number", kind=kind, column_type=source)
    (read,) = filter(None, sqlglot.parse(sql, dialect=dialect))
    assert read.sql(dialect=dialect, pretty=True) == sql.rstrip(";\n")


@pytest.mark.parametrize(
    ("dialect", "day", "monday"),
    [
        ("duckdb", 'EXTRACT(ISODOW FROM "r"."d")', 1),
        ("postgres", 'EXTRACT(ISODOW FROM "r"."d")', 1),
        ("sqlite", 'CAST(STRFTIME(\'%w\', "r"."d") AS INTEGER)', 1),
        ("mysql", "WEEKDAY(`r`.`d`)", 0),
        ("bigquery", "EXTRACT(DAYOFWEEK FROM `r`.`d`)", 2),
        ("snowflake", 'DAYOFWEEKISO("r"."d")', 1),
        ("spark", "DAYOFWEEK(`r`.`d`)", 2),
        ("databricks", "DAYOFWEEK(`r`.`d`)", 2),
        ("redshift", 'EXTRACT(DOW FROM "r"."d")', 1),
        ("trino", 'DAY_OF_WEEK("r"."d")', 1),
        ("clickhouse", 'toDayOfWeek("r"."d")', 1),
        ("oracle", 'TRUNC("r"."d", \'DD\') - TRUNC("r"."d", \'IW\')', 0),
        ("tsql", "CAST('17530101' AS DATETIME2), CAST([r].[d] AS DATETIME2)) % 7", 0),
    ],
)
def test_mondays(dialect, day, monday):
    rule = CategoryRule("d", part="weekday", values=["Monday"])
    raw = checks_of([rule])
    sql = to_sql({"f": Primitive(*raw)}, "data", dialect=dialect, raw=raw)
    left, right = ("[", "]") if dialect == "tsql" else (sql.split("step0")[0][-1],) * 2
    assert f"{day} AS {left}v0{right}\n" in sql
    assert f"{left}v0{right} = {monday}" in sql


def test_what_cannot_be_exported_is_said():
    raw = checks_of([CategoryRule("colour", values=["re\0d"])])
    with pytest.raises(InputError, match=r"'colour': the word 're\\x00d' cannot be written"):
        to_sql({"f": Primitive(*raw)}, "data", raw=raw)
    with pytest.raises(InputError, match="use whole hours"):
        checks_of([NumberRule("seen", part="hour", edges=[6.5])])
    model, _ = fitted_model()
    with pytest.raises(InputError, match="column_type='integer' is for Boolean columns"):
        model.to_sql(column_type="integer")


def test_python_names_a_word_that_is_not_boolean():
    model, _ = fitted_model()
    namespace = {}
    exec(model.to_python(), namespace)
    row = raw_animals().row(0, named=True)
    with pytest.raises(ValueError, match="'wet': 'maybe' is not Boolean"):
        namespace["features"]({**row, "wet": "maybe"})


def test_a_group_of_no_words_is_false(database):
    raw = checks_of([CategoryRule("c", values=["a"], rare=[], other="other")])
    features = {"f": Primitive("c = other")}
    table = pl.DataFrame({"c": ["a", None]})
    sql = to_sql(features, "data", dialect=database.name, keep=["row_number_"], raw=raw)
    assert database.run(sql, table) == [(False,), (None,)]
    assert table.select(to_polars(features, raw=raw)).rows() == [(False,), (None,)]


@pytest.mark.parametrize("missing", ["false", "pairwise"])
def test_missing_cells_are_what_transform_makes_of_them(database, missing):
    raw = raw_animals().with_columns(
        pl.when(pl.int_range(100) % 7 == column).then(None).otherwise(pl.col(name)).alias(name)
        for column, name in enumerate(raw_animals().columns)
    )
    table = BooleanData.from_data(raw)
    model = UFC(0.1, max_iter=2, missing=missing, feature_names="formula").fit(table)
    expected = model.transform(table).convert("polars").rows()
    assert raw.select(model.to_polars()).rows() == expected
    sql = model.to_sql(dialect=database.name, feature_names="number", keep=["row_number_"])
    assert database.run(sql, raw) == expected
    namespace = {}
    exec(model.to_python(), namespace)
    assert [tuple(namespace["features"](row).values()) for row in raw.rows(named=True)] == expected


def test_text_of_no_number_is_missing_everywhere():
    """The text nan is no number, and so in no interval."""
    binarizer = Binarizer(n_bins=2).fit(pl.DataFrame({"x": [1.5, 2.5, 3.5]}))
    table = pl.DataFrame({"x": ["1.5", "nan", "NaN", " ", "3.5"]})
    features, expected = wanted(binarizer, table)
    assert [row[0] for row in expected] == [True, None, None, None, False]
    raw = checks_of(binarizer.rules_)
    namespace = {}
    exec(to_python(features, raw=raw), namespace)
    assert [
        tuple(namespace["features"](row).values()) for row in table.rows(named=True)
    ] == expected
    made = table.with_columns(x=pl.col("x").replace(" ", None)).select(to_polars(features, raw=raw))
    assert made.rows() == expected


def test_python_reads_no_number_with_an_underscore():
    """As transform does, though float reads 1_000."""
    raw = checks_of(
        [
            CategoryRule("few", values=["2", "1000"], written="numbers"),
            NumberRule("many", edges=[2.0]),
        ]
    )
    namespace = {}
    exec(to_python({"f": Primitive("few = 1000"), "g": Primitive("many ≥ 2")}, raw=raw), namespace)
    made = namespace["features"]
    assert made({"few": "1000", "many": "1000"}) == {"f": True, "g": True}
    assert made({"few": "1_000", "many": "1"}) == {"f": False, "g": False}
    with pytest.raises(ValueError, match="'1_000' is not a number"):
        made({"few": "1000", "many": "1_000"})


def test_words_of_numbers_are_no_code():
    rule = CategoryRule("c", values=["1", "inf"], written="numbers")
    source = to_python({"f": Primitive("c = 1")}, raw=checks_of([rule]))
    assert "float('1')" in source
    for word in ("__import__('os')", "nan", "01", "1.0"):
        with pytest.raises(ValueError, match="not a number in its shortest spelling"):
            CategoryRule("c", values=[word], written="numbers")


def test_what_sqlite_imports_from_csv(in_sqlite):
    """Its .import makes text of everything: a blank is missing, and not below every cut."""
    train = pl.DataFrame({"age": [20.0, 30, 40, 50] * 10, "wet": [True, False] * 20})
    binarizer = Binarizer(n_bins=2).fit(train)
    features = {
        f"f{k}": Primitive(name) for k, name in enumerate(binarizer.get_feature_names_out())
    }
    raw = checks_of(binarizer.rules_)
    sql = to_sql(features, "data", dialect="sqlite", keep=["row_number_"], raw=raw)
    cells = ["20", " 50 ", "", "n/a", "1e1", "2024-01-01", "12 years", "9007199254740993"]
    flags = ["1", "true", "", "maybe", "No", "0", "FALSE", "t"]
    found = in_sqlite.run(sql, pl.DataFrame({"age": cells, "wet": flags}))
    low = [True, False, None, None, True, None, None, False]
    wet = [True, True, None, None, False, False, False, True]
    high = [None if value is None else not value for value in low]
    assert found == list(zip(low, high, wet, strict=True))


@pytest.mark.parametrize("kind", ["view", "table"])
def test_a_view_and_a_table_hold_the_features(database, kind):
    model, table = fitted_model()
    options = {"dialect": database.name, "feature_names": "number", "keep": ["row_number_"]}
    made = model.to_sql(**options, kind=kind, into="my features")
    name = database.quoted("my features")
    statements = [made, f"SELECT * FROM {name}"]
    try:
        found = database.run(statements, raw_animals())
    finally:
        database.execute(f"DROP {kind.upper()} IF EXISTS {name}")
    assert found == model.transform(table).convert("polars").rows()


HOSTILE_TO_JINJA = [
    "{{ x }}",
    "{% raw %}",
    "{# no #}",
    "{{{%",
    "}}",
    "it's",
    "{",
    "\\",
    "{%endraw%}",
]


@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "mysql"])
def test_a_dbt_model_is_the_query_with_a_reference(dialect):
    names = ["a", "b"] if dialect == "bigquery" else HOSTILE_TO_JINJA
    features = {f"f{k}": Primitive(name) for k, name in enumerate(names)}
    table = "it's {{ mine }}" if dialect == "duckdb" else "mine"
    options = {"dialect": dialect, "column_type": "boolean"}
    model = jinja2.Template(to_sql(features, table, kind="dbt", **options))
    quoted = to_sql({"f": Constant(True)}, table, **options).split("FROM ")[1].split(" AS")[0]

    def ref(name):
        assert name == table
        return quoted

    assert model.render(ref=ref) == to_sql(features, table, **options).rstrip("\n")
    two = to_sql(features, ("shop", "orders"), kind="dbt", **options)
    assert "FROM {{ source('shop', 'orders') }} AS" in two


def test_what_a_table_cannot_hold_is_refused():
    a = Primitive("a")
    with pytest.raises(
        InputError, match="sqlite ignores case, so 'A' and 'a' are the same: number the"
    ):
        to_sql({"A": a, "a": a}, "data", dialect="sqlite", kind="view")
    to_sql({"A": a, "a": a}, "data", dialect="postgres", kind="view")
    many = {f"f{k}": a for k in range(1610)}
    to_sql(many, "data", dialect="postgres")
    with pytest.raises(
        InputError, match="postgres allows at most 1,600 columns, but this needs 1,6"
    ):
        to_sql(many, "data", dialect="postgres", kind="table")
    with pytest.raises(InputError, match="one part \\(ref\\) or two \\(source\\)"):
        to_sql({"f": a}, ("x", "y", "z"), kind="dbt")
    with pytest.raises(InputError, match="kind must be 'select', 'view', 'table' or 'dbt'; got"):
        to_sql({"f": a}, "data", kind="index")
    with pytest.raises(InputError, match="into must be a name of one to three parts"):
        to_sql({"f": a}, "data", kind="view", into=[])


def test_the_page_says_which_dialects_are_run():
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    table = page.partition("| dialect |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    told = {name.strip(" `"): "run" in checked for name, _, checked in rows}
    assert told == {name: dialect.is_run for name, dialect in DIALECTS.items()}


TAGS = ["sea", "New York", "it's", "100%", "a_b", "sky", "[x]", "a.b", "\\"]


def tags_and_digits(cells, days):
    return pl.DataFrame(
        {"topics": cells, "day": days}, schema={"topics": pl.String, "day": pl.Int64}
    )


@st.composite
def tagged_tables(draw):
    """Cells of tags with blanks around them, and dates such as 20241231, some missing."""
    separator = draw(st.sampled_from([";", "|", ","]))
    rows = draw(st.lists(st.lists(st.sampled_from(TAGS), max_size=4), min_size=2, max_size=20))
    blanks = st.sampled_from(["", " ", "  ", "   "])
    between = st.builds(lambda left, right: left + separator + right, blanks, blanks)
    cells = []
    for tags in rows:
        cell = "".join(tag + draw(between) for tag in tags[:-1]) + "".join(tags[-1:])
        cells.append(draw(st.sampled_from([None, "", cell, cell, cell])))
    dates = draw(
        st.lists(
            st.none() | st.dates(datetime.date(1990, 1, 1), datetime.date(2030, 1, 1)),
            min_size=len(cells),
            max_size=len(cells),
        )
    )
    days = [None if date is None else int(f"{date:%Y%m%d}") for date in dates]
    return separator, tags_and_digits(cells, days)


def tag_checks(separator):
    rules = [
        TagsRule("topics", values=sorted(TAGS), separator=separator),
        NumberRule("day", part="year", edges=[2000.0, 2010.0], order="digits"),
        CategoryRule("day", part="month", values=["May", "June"], order="digits"),
        CategoryRule("day", part="weekday", values=["Monday", "Sunday"], order="digits"),
    ]
    return Binarizer.from_rules({"tags": ["topics"]}, [("topics", rules[:1]), ("day", rules[1:])])


@given(tagged_tables())
def test_sql_finds_tags_and_dates_of_digits(database, drawn):
    separator, table = drawn
    binarizer = tag_checks(separator)
    features, expected = wanted(binarizer, table)
    raw = checks_of(binarizer.rules_)
    sql = to_sql(features, "data", dialect=database.name, keep=["row_number_"], raw=raw)
    assert database.run(sql, table) == expected


@given(tagged_tables())
def test_polars_and_python_find_tags_and_dates_of_digits(drawn):
    separator, table = drawn
    binarizer = tag_checks(separator)
    features, expected = wanted(binarizer, table)
    raw = checks_of(binarizer.rules_)
    assert table.select(to_polars(features, raw=raw)).rows() == expected
    namespace = {}
    exec(to_python(features, raw=raw), namespace)
    made = [tuple(namespace["features"](row).values()) for row in table.rows(named=True)]
    assert made == expected


def test_lists_are_found_by_polars_and_python_and_refused_by_sql():
    table = pl.DataFrame({"topics": [["sea", " sky "], [], None, ["sky"]] * 5})
    binarizer = Binarizer().fit(table)
    features, expected = wanted(binarizer, table)
    raw = checks_of(binarizer.rules_)
    assert table.select(to_polars(features, raw=raw)).rows() == expected
    namespace = {}
    exec(to_python(features, raw=raw), namespace)
    made = [tuple(namespace["features"](row).values()) for row in table.rows(named=True)]
    assert made == expected
    with pytest.raises(InputError, match="'topics' holds lists, which SQL cannot read"):
        to_sql(features, "data", raw=raw)
    written = pl.DataFrame({"topics": ['["sea", "sky"]', "[]", None, '["sky"]'] * 5})
    binarizer = Binarizer(tags=["topics"]).fit(written)
    features, expected = wanted(binarizer, written)
    raw = checks_of(binarizer.rules_)
    exec(to_python(features, raw=raw), namespace)
    made = [tuple(namespace["features"](row).values()) for row in written.rows(named=True)]
    assert made == expected
    with pytest.raises(InputError, match="lists in brackets, which an expression cannot read"):
        to_polars(features, raw=raw)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_own_sql_of_tags(dialect):
    binarizer = tag_checks(";")
    features = {f"f{k}": Primitive(n) for k, n in enumerate(binarizer.get_feature_names_out())}
    sql = to_sql(features, "data", dialect=dialect, raw=checks_of(binarizer.rules_))
    (read,) = filter(None, sqlglot.parse(sql, dialect=dialect))
    assert read.sql(dialect=dialect, pretty=True) == sql.rstrip(";\n")
