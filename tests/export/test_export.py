"""Exported features, run where they go, against Kleene's logic and against transform."""

import ast
import itertools
import json
import re
import sqlite3
import subprocess
import sys
from math import inf
from pathlib import Path
from unittest.mock import patch

import duckdb
import jsonschema
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import sqlglot
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_formulas
from conjunct import UFC, ConjunctWarning, InputError, Risk, UFringe, datasets
from conjunct.export.dialects import DIALECTS
from conjunct.export.formulas import best_plan
from conjunct.export.frames import to_polars
from conjunct.export.programs import to_python
from conjunct.export.sql import to_sql
from conjunct.expressions import And, Constant, Not, Or, Primitive
from conjunct.files.model import model_schema
from expressions.strategies import Formula, build, formulas, names

ROOT = Path(__file__).parents[2]

hostile = st.sampled_from(
    [
        "sky", 'say "hi"', "it's", "a`b", "]", "x; DROP TABLE data --", "^a.*$", "*", "r", "c0",
        "∧", "a & b", "\\", "\\n", "line\nbreak", "<script>", "select", "NULL", "é", "😀", "$1",
        "?", ":name", "{x}", "%s", "step0", " ", "data", "true",
    ]
) | names  # fmt: skip


def can_be_a_name(name: str) -> bool:
    return name != "" and "\0" not in name and not any("\ud800" <= c <= "\udfff" for c in name)


@st.composite
def exports(draw, some_names=hostile):  # type: ignore[no-untyped-def]
    """Formulas by alias, and a table with missing cells that has all their columns."""
    columns = draw(
        st.lists(some_names, min_size=1, max_size=5, unique_by=lambda name: name.casefold())
    )
    drawn = draw(st.lists(formulas(st.sampled_from(columns)), min_size=1, max_size=4))
    cell = st.sampled_from([True, False, None])
    rows = draw(st.lists(st.tuples(*[cell] * len(columns)), min_size=1, max_size=6))
    return {f"f{k}": formula for k, formula in enumerate(drawn)}, columns, rows


def expected(drawn: dict[str, Formula], columns: list[str], rows: list[tuple]) -> list[tuple]:
    return [
        tuple(
            naive_formulas.kleene(f, dict(zip(columns, row, strict=True))) for f in drawn.values()
        )
        for row in rows
    ]


SPELLED = {
    True: ["1", "true", " YES", "1.0"],
    False: ["0", "False", "no ", "0.00"],
    None: ["", " "],
}


def table_of(columns: list[str], rows: list[tuple], source: str = "boolean") -> pl.DataFrame:
    """Rows as a frame of Booleans, of 0 and 1, or of texts as people spell them."""
    if source == "text":
        rows = [
            tuple(SPELLED[cell][(j + k) % len(SPELLED[cell])] for k, cell in enumerate(row))
            for j, row in enumerate(rows)
        ]
    kind = {"boolean": pl.Boolean, "integer": pl.Int64, "text": pl.String}[source]
    cells = zip(*rows, strict=True)
    # named afterwards: polars takes "^a.*$" for a pattern even here
    series = [
        pl.Series("", column).cast(kind).rename(n) for n, column in zip(columns, cells, strict=True)
    ]
    return pl.DataFrame(series)


@pytest.mark.parametrize("source", ["boolean", "integer", "text", None])
@given(exports())
def test_sql_follows_kleenes_logic(database, source, drawn) -> None:  # type: ignore[no-untyped-def]
    features, columns, rows = drawn
    assume(all(map(database.can_call, columns)))
    sql = to_sql(
        {name: build(formula) for name, formula in features.items()},
        "data",
        dialect=database.name,
        column_type=source,
        keep=["row_number_"],
    )
    # what is not said may be text where any text is taken for false
    held = source or ("text" if database.name in ("sqlite", "mysql") else "boolean")
    table = table_of(columns, rows, held)
    assert database.run(sql, table) == expected(features, columns, rows)


@given(exports(), st.integers(1, 4))
def test_sql_in_steps_follows_kleenes_logic(database, drawn, stride) -> None:  # type: ignore[no-untyped-def]
    features, columns, rows = drawn
    assume(all(map(database.can_call, columns)))
    # long enough for steps, and of the same truth value
    long = {name: And(*[build(formula)] * 101) for name, formula in features.items()}
    long |= {"long": And(*[Primitive(columns[0])] * 101)}
    with patch("conjunct.export.formulas.STRIDES", (stride,)):
        sql = to_sql(
            long, "data", dialect=database.name, column_type="boolean", keep=["row_number_"]
        )
    assert "step0" in sql
    features = {**features, "long": ("name", columns[0])}
    assert database.run(sql, table_of(columns, rows)) == expected(features, columns, rows)


def merged(n_columns: int, n_merges: int, longest: int):  # type: ignore[no-untyped-def]
    """Features as uFC makes them, of pairs chosen at random, with rows and what they are there."""
    rng = np.random.default_rng(0)
    rows = rng.random((5, n_columns)) < 0.5
    features = [(Primitive(f"a{k}"), rows[:, k]) for k in range(n_columns)]
    while len(features) < n_columns + n_merges:
        i, j = sorted(rng.choice(len(features), 2, replace=False))
        if features[i][0].length + features[j][0].length > longest:
            continue
        (b, in_b), (a, in_a) = features.pop(j), features.pop(i)
        features += [(And(a, b), in_a & in_b), (And(a, Not(b)), in_a & ~in_b)]
        features += [(And(Not(a), b), ~in_a & in_b)]
    wanted = np.column_stack([values for _, values in features])
    named = {f"f{k}": feature for k, (feature, _) in enumerate(features)}
    return named, rows, list(map(tuple, wanted.tolist()))


@pytest.mark.slow
def test_no_step_is_wider_than_the_features(database) -> None:  # type: ignore[no-untyped-def]
    """SQLite takes 2,000 columns and PostgreSQL 1,664; all parts together are 3,600 here."""
    features, rows, wanted = merged(300, 1100, 1000)
    assert max(feature.length for feature in features.values()) > 100
    sql = to_sql(
        features, "data", dialect=database.name, column_type="boolean", keep=["row_number_"]
    )
    steps = sqlglot.parse_one(sql, dialect=database.name).ctes
    assert len(steps) > 2
    assert max(len(step.this.selects) for step in steps) <= len(features) + 1
    columns = [f"a{k}" for k in range(rows.shape[1])]
    assert database.run(sql, table_of(columns, rows.tolist())) == wanted


def test_formulas_that_share_parts(database) -> None:  # type: ignore[no-untyped-def]
    features, rows, wanted = merged(120, 272, 64)
    sql = to_sql(
        features, "data", dialect=database.name, column_type="boolean", keep=["row_number_"]
    )
    assert "step1" in sql
    columns = [f"a{k}" for k in range(rows.shape[1])]
    assert database.run(sql, table_of(columns, rows.tolist())) == wanted


def chained(n_merges: int):  # type: ignore[no-untyped-def]
    """What is left of a common tag, merged with one tag after the other; as ``merged``."""
    rows = np.zeros((6, n_merges + 1), bool)
    rows[:4, 0] = True
    for row, tag in enumerate((1, n_merges // 2, n_merges, n_merges, 3)):
        rows[row, tag] = row != 3
    left, in_left, named, values = Primitive("a0"), rows[:, 0], {}, []
    for k in range(1, n_merges + 1):
        tag, in_tag = Primitive(f"a{k}"), rows[:, k]
        named |= {f"both{k}": And(left, tag), f"rest{k}": And(Not(left), tag)}
        values += [in_left & in_tag, ~in_left & in_tag]
        left, in_left = And(left, Not(tag)), in_left & ~in_tag
    named["left"] = left
    wanted = np.column_stack([*values, in_left])
    return named, rows, list(map(tuple, wanted.tolist()))


def test_a_chain_of_merges(database) -> None:  # type: ignore[no-untyped-def]
    """Each is within the next: as deep as there are merges, and SQL is not longer for that."""
    features, rows, wanted = chained(200)
    sql = to_sql(
        features, "data", dialect=database.name, column_type="boolean", keep=["row_number_"]
    )
    half = to_sql(chained(100)[0], "data", dialect=database.name, column_type="boolean")
    assert len(sql) < 2.5 * len(half)
    columns = [f"a{k}" for k in range(rows.shape[1])]
    assert database.run(sql, table_of(columns, rows.tolist())) == wanted


def test_a_plan_that_fits_into_the_columns_of_a_database() -> None:
    features = list(chained(60)[0].values())
    best = best_plan(features, inf)
    narrower = best_plan(features, best.widest - 1)
    assert narrower.widest < best.widest
    assert narrower.size > best.size


def test_steps_wherever_the_statement_is_shorter() -> None:
    """Formulas of few literals share parts too."""
    features, _, _ = merged(120, 272, 64)
    assert max(feature.length for feature in features.values()) == 64
    sql = to_sql(features, "data")
    assert len(sql) < 300 * 272  # by the number of merges, not by the length of formulas
    with patch("conjunct.export.sql.is_shorter_inline", lambda *of: True):
        inline = to_sql(features, "data")
    assert len(sql) < len(inline) / 2


@given(exports(hostile.filter(can_be_a_name)))
def test_polars_follows_kleenes_logic(drawn) -> None:  # type: ignore[no-untyped-def]
    features, columns, rows = drawn
    built = to_polars({name: build(formula) for name, formula in features.items()})
    for kind in (pl.Boolean, pl.Int8):
        frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Boolean), orient="row")
        frame = frame.cast(kind).with_row_index("row_number_ of the test")
        assert frame.with_columns(built).select(*features).rows() == expected(
            features, columns, rows
        )


@given(exports())
def test_python_follows_kleenes_logic(drawn) -> None:  # type: ignore[no-untyped-def]
    features, columns, rows = drawn
    source = to_python({name: build(formula) for name, formula in features.items()})
    function = compiled(source)
    for row, truths in zip(rows, expected(features, columns, rows), strict=True):
        assert function(dict(zip(columns, row, strict=True))) == dict(
            zip(features, truths, strict=True)
        )


def compiled(source: str):  # type: ignore[no-untyped-def]
    assert not any(
        isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(ast.parse(source))
    )
    namespace: dict[str, object] = {}
    exec(compile(source, "features.py", "exec"), namespace)
    return namespace["features"]


def fitted(name: str, **parameters: object) -> tuple[UFC, pl.DataFrame]:
    data = datasets.load(name)
    frame = pl.DataFrame(data.values, schema=list(data.feature_names))
    return UFC(**parameters).fit(frame), frame


MODELS = [
    ("spect", {"criterion": 0.218, "max_iter": 4, "feature_names": "formula"}),
    (
        "spect",
        {"criterion": 0.1, "max_iter": 9, "feature_names": "formula"},
    ),  # thousands of literals
    ("zoo", {"criterion": "risk", "search": "pairwise"}),
    ("house_votes_84", {}),
    ("house_votes_84", {"criterion": "risk", "max_iter": 3}),
    ("coco_street", {"criterion": Risk(prune=False), "max_iter": 5}),
    ("zoo", {"handle_unknown": "keep"}),
]


@pytest.mark.parametrize(("name", "parameters"), MODELS)
def test_exports_give_the_columns_of_transform(name: str, parameters: dict[str, object]) -> None:
    model, frame = fitted(name, **parameters)
    wanted = model.transform(frame)
    assert duckdb.sql(model.to_sql("frame")).columns == wanted.columns
    if max(feature.length for feature in model.features_) <= 10_000:
        assert frame.select(model.to_polars()).equals(wanted)
    function = compiled(model.to_python())
    assert [function(row) for row in frame.iter_rows(named=True)] == wanted.to_dicts()


@pytest.mark.parametrize(("name", "parameters"), MODELS)
def test_sql_gives_the_columns_of_transform(database, name, parameters) -> None:  # type: ignore[no-untyped-def]
    model, frame = fitted(name, **parameters)
    sql = model.to_sql(dialect=database.name, feature_names="number", keep=["row_number_"])
    assert database.run(sql, frame) == model.transform(frame).rows()


@pytest.mark.parametrize("name", ["zoo", "house_votes_84", "coco_street"])
def test_sql_of_findings_selects_the_rows_that_have_all_tags(database, name) -> None:  # type: ignore[no-untyped-def]
    model, frame = fitted(name)
    options = {"dialect": database.name, "keep": ["row_number_"], "findings": True}
    found = database.run(model.to_sql(feature_names="number", **options), frame)
    wanted = [frame.select(pl.all_horizontal(list(one.tags))) for one in model.findings_]
    assert (
        found
        == pl.concat(
            [column.to_series().rename(str(k)).to_frame() for k, column in enumerate(wanted)],
            how="horizontal",
        ).rows()
    )
    if not any(column.null_count() for column in frame):
        sums = [sum(map(bool, column)) for column in zip(*found, strict=True)]
        assert sums == [one.rows for one in model.findings_]


def test_sql_of_findings_has_their_names() -> None:
    model, frame = fitted("zoo")
    names = [one.name for one in model.findings_]
    assert duckdb.sql(model.to_sql("frame", findings=True)).columns == names
    with pytest.warns(ConjunctWarning):
        nothing = UFC().fit(frame[:3])
    with pytest.raises(InputError, match="no findings to export"):
        nothing.to_sql(findings=True)


@pytest.mark.parametrize("form", ["nested", "dnf", "simplified"])
def test_other_forms_give_the_same_on_whole_rows(in_duckdb, form: str) -> None:  # type: ignore[no-untyped-def]
    model, frame = fitted("zoo", criterion=Risk(prune=False), max_iter=3)
    wanted = model.transform(frame)
    assert frame.select(model.to_polars(form=form)).equals(wanted)
    sql = model.to_sql(form=form, keep=["row_number_"])
    assert in_duckdb.run(sql, frame) == wanted.rows()


def test_ufringe_exports_negative_features_and_equal_formulas(in_duckdb) -> None:  # type: ignore[no-untyped-def]
    zoo = datasets.load_zoo()
    frame = pl.DataFrame(zoo.values, schema=list(zoo.feature_names))
    model = UFringe(max_features=60).fit(frame)
    wanted = model.transform(frame)
    assert frame.select(model.to_polars()).equals(wanted)
    sql = model.to_sql(keep=["row_number_"])
    assert in_duckdb.run(sql, frame) == wanted.rows()
    function = compiled(model.to_python())
    assert [function(row) for row in frame.iter_rows(named=True)] == wanted.to_dicts()


@pytest.mark.parametrize("kind", ["tags", "formula"])
def test_features_are_named_alike_in_transform_and_in_exports(kind: str) -> None:
    model, frame = fitted("zoo", max_iter=1)
    named, _ = fitted("zoo", max_iter=1, feature_names=kind)
    names = named.get_feature_names_out().tolist()
    assert ("∧" in "".join(names)) == (kind == "formula")
    for exported in (model.to_polars(feature_names=kind), named.to_polars()):
        assert frame.select(exported).columns == names
    assert list(compiled(model.to_python(feature_names=kind))(frame.to_dicts()[0])) == names
    assert model.to_sql(feature_names=kind) == named.to_sql()


def test_other_names_of_features_are_refused() -> None:
    model, frame = fitted("zoo", max_iter=1)
    with pytest.raises(InputError, match="feature_names must be 'tags', 'formula' or 'number'"):
        model.to_sql(feature_names="pattern")
    with pytest.raises(InputError, match="feature_names must be 'formula', 'number' or None; got"):
        UFringe(max_features=20).fit(frame).to_sql(feature_names="tags")


def test_numbered_columns() -> None:
    model, frame = fitted("zoo", max_iter=1)
    numbered = [f"f{k}" for k in range(len(model.features_))]
    assert frame.select(model.to_polars(feature_names="number")).columns == numbered
    assert list(compiled(model.to_python(feature_names="number"))(frame.to_dicts()[0])) == numbered
    with pytest.raises(
        InputError, match="feature_names must be 'tags', 'formula' or 'number'; got 'id'"
    ):
        model.to_polars(feature_names="id")  # type: ignore[arg-type]


def test_a_model_with_a_cut_exports_it(database) -> None:  # type: ignore[no-untyped-def]
    criterion = Risk(prune=False)
    model, frame = fitted("zoo", criterion=criterion, max_iter=2)
    numbers = frame.select(pl.all().cast(pl.Float64) * 2.5)
    cut = UFC(criterion, max_iter=2, threshold=1.5).fit(numbers)
    wanted = model.transform(frame)
    assert numbers.select(cut.to_polars()).equals(wanted)
    function = compiled(cut.to_python())
    assert [function(row) for row in numbers.iter_rows(named=True)] == wanted.to_dicts()
    sql = cut.to_sql(dialect=database.name, feature_names="number", keep=["row_number_"])
    assert database.run(sql, numbers) == wanted.rows()
    texts = numbers.cast(pl.String).with_columns(pl.lit(" ").alias("hair"))
    sql = cut.to_sql(
        dialect=database.name, feature_names="number", keep=["row_number_"], column_type="text"
    )
    nulls = numbers.with_columns(pl.lit(None, pl.Float64).alias("hair"))
    assert database.run(sql, texts) == nulls.select(cut.to_polars()).rows()


NOT_ALLOWED = {
    # a dot in a quoted name separates names there; these cannot be names of columns anyway
    "bigquery": r"[^\w %&=+:'<>#|-]",
    "mysql": "[\U00010000-\U0010ffff]|\\s$",
    "oracle": '"',
}


@pytest.mark.parametrize("dialect", DIALECTS)
@given(hostile.filter(can_be_a_name), hostile.filter(can_be_a_name))
def test_names_are_quoted_in_every_dialect(dialect, column, table) -> None:  # type: ignore[no-untyped-def]
    features = {"f0": Not(Primitive(column))}
    if any(re.search(NOT_ALLOWED.get(dialect, "\0"), name) for name in (column, table)):
        with pytest.raises(InputError, match=f"{dialect} does not allow"):
            to_sql(features, ("schema", table), dialect=dialect)
        return
    sql = to_sql(features, ("schema", table), dialect=dialect, column_type="boolean")
    select = sqlglot.parse_one(sql, read=dialect)
    assert {found.name for found in select.find_all(sqlglot.exp.Column)} == {column}
    (found,) = select.find_all(sqlglot.exp.Table)
    # the parser takes #name for a temporary table of T-SQL, quoted or not
    shown = table.lstrip("#") if dialect == "tsql" else table
    assert (found.db, found.name) == ("schema", shown)
    assert len(sqlglot.parse(sql, read=dialect)) == 1


def test_the_statement_as_written() -> None:
    a, b, c = map(Primitive, "abc")
    features = {"f0": And(a, Not(Or(b, c))), "f1": Constant(True)}
    assert to_sql(
        features, ("my schema", "t"), dialect="sqlite", column_type="boolean", keep=["id"]
    ) == (
        "SELECT\n"
        '  "r"."id" AS "id",\n'
        '  "r"."a" AND NOT (\n'
        '    "r"."b" OR "r"."c"\n'
        '  ) AS "f0",\n'
        '  1 = 1 AS "f1"\n'
        'FROM "my schema"."t" AS "r"\n'
    )


@pytest.mark.parametrize("source", ["boolean", "text"])
def test_sqlite_does_not_take_a_missing_column_for_text(in_sqlite, source) -> None:  # type: ignore[no-untyped-def]
    options = {"dialect": "sqlite", "keep": ["row_number_"], "column_type": source}
    sql = to_sql({"f0": Primitive("nope")}, "data", **options)
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        in_sqlite.run(sql, table_of(["a"], [(True,)]))


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        (
            {"f": Primitive("a")},
            {"dialect": "cobol"},
            "unknown dialect 'cobol': choose one of big",
        ),
        (
            {"f": Primitive("a")},
            {"column_type": "words"},
            "column_type must be 'boolean', 'integer', 'text' or",
        ),
        ({"f": Primitive("a\0")}, {}, "cannot be written in SQL: it contains a NUL"),
        ({"f0": Primitive("a")}, {"keep": ["id", "f0"]}, "keep: a feature has the same name, 'f0'"),
        ({"f": Primitive("\ud800")}, {}, "cannot be written in SQL"),
        ({"f": Primitive("")}, {}, "duckdb has no columns with an empty name"),
        ({"f" * 64: Primitive("a")}, {"dialect": "postgres"}, "longer than 63 bytes: number the"),
        ({"a ∧ b": Primitive("a")}, {"dialect": "bigquery"}, "has forbidden characters"),
    ],
)
def test_what_a_database_cannot_do_is_refused(features, options, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message) as refusal:
        to_sql(features, "data", **options)
    assert "\n" not in str(refusal.value)


def test_a_python_export_refuses_what_is_not_boolean() -> None:
    function = compiled(to_python({"f": Not(Primitive("a"))}))
    assert function({"a": 0.0}) == {"f": True}
    assert function({"a": float("nan")}) == {"f": None}
    with pytest.raises(ValueError, match="'a': 2 is not Boolean"):
        function({"a": 2})


def test_a_formula_too_long_for_polars_is_refused() -> None:
    a = Primitive("a")
    with pytest.raises(
        InputError, match="10,001 literals, but a Polars expression may have at most 10,000"
    ):
        to_polars({"f": And(*[a] * 10_001)})


def test_python_shares_what_the_formula_shares() -> None:
    shared = And(Primitive("a"), Primitive("b"))
    for _ in range(200):
        shared = And(Not(shared), Not(And(shared, Primitive("a"))))
    source = to_python({"f": shared})
    assert len(source) < 100_000
    truths = itertools.product([True, False, None], repeat=2)
    assert {compiled(source)({"a": a, "b": b})["f"] for a, b in truths} <= {True, False, None}


def test_json_is_the_model_file(tmp_path: Path) -> None:
    model, _ = fitted("zoo", max_iter=2)
    model.save(tmp_path / "model.json")
    assert model.to_json().encode() == (tmp_path / "model.json").read_bytes()
    assert model.to_dict() == json.loads(model.to_json())
    assert model.to_dict()["columns"] == list(datasets.load_zoo().feature_names)


def test_the_published_schema_is_current_and_describes_models() -> None:
    published = (ROOT / "docs" / "model-schema.json").read_bytes()

    def in_one_order(part: dict[str, object]) -> dict[str, object]:
        """Alternatives have another order in older versions of msgspec."""
        if isinstance(choices := part.get("anyOf"), list):
            part["anyOf"] = sorted(choices, key=json.dumps)
        return part

    ours, theirs = (
        json.loads(text, object_hook=in_one_order) for text in (model_schema(), published)
    )
    assert ours == theirs, "run: conjunct export --to schema --out docs/model-schema.json"
    model, _ = fitted("zoo", max_iter=2)
    schema = json.loads(published)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(model.to_dict(), schema)
    damaged = model.to_dict() | {"n_rows": "many"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(damaged, schema)


def test_only_sql_needs_sqlglot() -> None:
    code = (
        "import sys; sys.modules['sqlglot'] = None\n"
        "from conjunct import UFC\n"
        "model = UFC(max_iter=1).fit([['a', 'b']] * 40 + [['a']] * 9 + [[]] * 40)\n"
        "model.to_python(), model.to_polars(), model.to_json()\n"
        "try:\n    model.to_sql()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "SQL needs sqlglot: pip install sqlglot\n"


NAN = float("nan")


def check_exports(model, frame) -> None:  # type: ignore[no-untyped-def]
    """Polars, SQL in DuckDB and Python find what transform does, in the same table."""
    expected = model.transform(frame).rows()
    assert frame.select(model.to_polars(feature_names="number")).rows() == expected
    for source in ("integer", "boolean"):
        sql = model.to_sql("frame", column_type=source, feature_names="number")
        assert duckdb.sql(sql).fetchall() == expected
    function = compiled(model.to_python(feature_names="number"))
    assert [tuple(function(row).values()) for row in frame.rows(named=True)] == expected


@pytest.mark.parametrize("missing", ["false", "pairwise"])
@pytest.mark.parametrize("threshold", [None, 0.5])
@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32])
def test_nan_is_missing_in_every_export(missing, threshold, kind) -> None:  # type: ignore[no-untyped-def]
    rows = [(1, 1), (0, 0), (NAN, 1), (0, NAN), (NAN, NAN), (1, 1), (0, 1), (1, 0)] * 10
    rows = [tuple(map(float, row)) for row in rows]
    frame = pl.DataFrame(rows, schema={"a": kind, "b": kind}, orient="row")
    model = UFC(
        0.01, max_iter=1, missing=missing, threshold=threshold, feature_names="formula"
    ).fit(frame)
    assert len(model.features_) == 3
    check_exports(model, frame)


@pytest.mark.parametrize("cut", [0.1, 0.7, 1 / 3])
def test_a_cut_is_the_same_in_every_precision(cut) -> None:  # type: ignore[no-untyped-def]
    cells = pl.Series([cut, 0.0, 1.0, cut, 0.0, 1.0], dtype=pl.Float32)
    frame = pl.DataFrame({"a": cells, "b": cells})
    model = UFC(0.01, max_iter=1, threshold=cut, feature_names="formula").fit(frame)
    check_exports(model, frame)
    # a float32 that was rounded up is above the number it stands for
    wide = frame.cast(pl.Float64)
    assert model.transform(wide).rows() == model.transform(frame).rows()
    array = frame.to_numpy()
    nameless = UFC(0.01, max_iter=1, threshold=cut, feature_names="formula").fit(array)
    sparse = nameless.transform(sp.csr_array(array))
    assert sparse.toarray().tolist() == model.transform(wide).to_numpy().tolist()
