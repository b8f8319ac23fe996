"""``conjunct show --form/--feature/--rows`` and ``conjunct export``."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import onnx
import polars as pl
import pytest

from conjunct import UFC, load, parse
from conjunct.files.model import model_schema


@pytest.fixture
def spect(call):
    assert call("datasets", "spect", "--out", "spect.csv").code == 0
    options = ["--criterion", "0.218", "--max-iter", "4", "--no-prune"]
    assert call("fit", "spect.csv", *options, "--out", "model.json").code == 0


def test_forms_report_c1_before_and_after(call, spect, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    simplified = call("show", "model.json", "--form", "simplified").out
    assert "Form: simplified. Mean length (C1) 8.81 as built, 5.06 in this form." in simplified
    assert "  F22 ∧ ¬(F13 ∧ F3 ∧ F21)\n" in simplified
    dnf = call("show", "model.json", "--form", "dnf", "--ascii").out
    assert "(~F13 & F22) | (~F3 & F22) | (~F21 & F22)\n" in dnf
    usual = call("show", "model.json").out
    assert "Mean length" not in usual
    assert "F22 (rest) " in usual
    assert "∧" not in usual.partition("\nfeature ")[2]
    built = call("show", "model.json", "--formulas").out
    assert "F22 (rest) " in built
    assert "  F16 ∧ ¬F20\n" in built
    assert call("show", "model.json", "--form", "built").out == built
    assert r"\wedge" in call("show", "model.json", "--latex", "--formulas").out


def test_given_the_training_data_is_said_to_be_so(call, spect):
    done = call("show", "model.json", "--form", "simplified", "--train", "spect.csv")
    said = " ".join(done.out.split())
    assert "Form: simplified; equivalent on the training data only. Mean length (C1) 8.81" in said


def test_json_holds_the_form(call, spect):
    done = call("show", "model.json", "--form", "simplified", "--json")
    features = json.loads(done.out)["features"]
    assert sum(feature["simplified_length"] for feature in features) == 314
    assert {feature["equivalent"] for feature in features} == {"always"}
    for feature in features:
        assert parse(feature["rule"]).simplify() == parse(feature["simplified"])


def test_one_feature_with_its_rows(call, spect):
    done = call("show", "model.json", "--feature", "F16 & ~F20", "--rows", "spect.csv")
    model, data = load("model.json"), pl.read_csv("spect.csv")
    behind = [k + 1 for k in model.find_rows("F16 & ~F20", data)]
    assert str(model.explain("F16 & ~F20", data)) in done.out
    assert model.ancestry("F16 & ~F20") in done.out
    assert f"Rows of spect.csv ({len(behind)}): {', '.join(map(str, behind))}\n" in done.out
    assert "Most similar, by correlation:\n" in done.out
    position = list(map(str, model.features_)).index("F16 ∧ ¬F20")
    name = model.feature_set_.pattern_texts[position]
    assert name == "F16 (rest)"
    by_name = ["--rows", "spect.csv", "--feature"]
    assert call("show", "model.json", *by_name, name).out == done.out
    whole = call("show", "model.json", *by_name, "F16").out
    assert str(model.explain("F16", data)) in whole
    assert f"support: {data['F16'].sum()} rows" in whole
    number = call("show", "model.json", "--feature", position)
    assert number.out.startswith("F16 (rest)\n  formula: F16 ∧ ¬F20\n")
    assert "Most similar, by shared primitives:\n" in number.out
    for graph in ("text", "mermaid", "dot"):
        shown = call("show", "model.json", "--feature", position, "--graph", graph)
        assert shown.out == model.ancestry(position, graph)


def test_sql_of_findings(call, spect):
    sql = call("export", "model.json", "--findings", "--table", "spect", "--dialect", "sqlite")
    assert sql.out == load("model.json").to_sql("spect", dialect="sqlite", findings=True)
    done = call("export", "model.json", "--findings", "--to", "python")
    assert (done.code, "--findings needs SQL" in done.err) == (2, True)


def test_names_of_findings_are_found_again(call, tmp_path):
    """Whatever the names are, in any order."""
    names = ["<b>", "fork + knife", 'a "b"', "fork", "knife", "7"]
    rows = [[*names[:3]]] * 30 + [[*names[3:]]] * 25 + [[name] for name in names * 12]
    model = UFC().fit(rows)
    model.save(tmp_path / "odd.json")
    assert model.findings_
    for finding in model.findings_:
        for one in (finding, *finding.folded):
            shown = call("show", "odd.json", "--feature", one.name)
            assert shown.code == 0, shown.err
            assert f"support: {one.rows} rows" in shown.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "model.json", "--rows", "spect.csv"], "--rows and --graph need --feature"),
        (["show", "model.json", "--feature", "F1 & nope"], "there is no feature F1 ∧ nope in this"),
        (["show", "model.json", "--feature", "99"], "there is no feature 99: there are 62"),
        (["show", "model.json", "--feature", "F1 &"], "column 5: expected a name"),
        (
            ["show", "model.json", "--form", "dnf", "--train", "spect.csv"],
            "must be 'simplified'; got 'dnf'",
        ),
        (
            ["show", "model.json", "--form", "simplified", "--train", "few.csv"],
            "the data differs from the training data",
        ),
        (["export"], "MODEL is missing"),
        (
            ["export", "model.json", "--dialect", "postgres", "--feature-names", "formula"],
            "(--feature-names number)",
        ),
        (["export", "model.json", "--dialect", "cobol"], "'cobol' is not one of"),
    ],
)
def test_bad_input_is_one_line(call, spect, words, message):
    pl.read_csv("spect.csv").head(50).write_csv("few.csv")
    done = call(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_export_runs_where_it_goes(call, spect):
    model, data = load("model.json"), pl.read_csv("spect.csv")
    wanted = model.transform(data).rows()
    words = ["--dialect", "sqlite", "--table", "data", "--column-type", "integer", "--keep", "n"]
    sql = call("export", "model.json", *words).out
    with sqlite3.connect(":memory:") as connection:
        columns = ", ".join(f'"{name}" INTEGER' for name in data.columns)
        connection.execute(f"CREATE TABLE data (n INTEGER, {columns})")
        marks = ", ".join("?" * (data.width + 1))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", data.with_row_index().rows())
        assert [row[1:] for row in sorted(connection.execute(sql))] == wanted
    connection.close()
    assert call("export", "model.json", "--to", "python", "--out", "features.py").code == 0
    namespace = {}
    exec(Path("features.py").read_text(encoding="utf-8"), namespace)
    rows = [tuple(namespace["features"](row).values()) for row in data.iter_rows(named=True)]
    assert rows == wanted


def test_export_calls_columns_as_transform_does(call, spect):
    model = load("model.json")
    patterns, formulas = model.get_feature_names_out(), list(map(str, model.features_))
    for words, names in (
        ([], patterns),
        (["--feature-names", "tags"], patterns),
        (["--feature-names", "formula"], formulas),
    ):
        # what formulas share is computed in steps before
        last = call("export", "model.json", *words).out.rpartition("SELECT")[2]
        assert re.findall(r' AS "([^"]+)"', last)[: len(names)] == list(names)


def test_export_of_a_model_that_keeps_what_training_never_saw(call):
    rows = [["a", "b"]] * 40 + [["a"]] * 5 + [["c"]] * 40
    model = UFC(handle_unknown="keep").fit(rows)
    model.save("model.json")
    call("export", "model.json", "--to", "python", "--out", "features.py")
    namespace = {}
    exec(Path("features.py").read_text(encoding="utf-8"), namespace)
    made = namespace["features"]({"a": False, "b": True, "c": True})
    assert made == {"c": True, "a + b": False, "a (rest)": False, "b (rest)": True}


def test_export_json_and_schema(call, spect):
    saved = Path("model.json").read_text(encoding="utf-8")
    assert call("export", "model.json", "--to", "json").out == saved
    assert call("export", "--to", "schema").out == model_schema().decode()
    numbered = call("export", "model.json", "--feature-names", "number", "--form", "simplified").out
    assert numbered.count(" AS ") == 62 + 1
    assert 'AS "f61"\nFROM "data" AS "r"\n' in numbered


def test_export_of_raw_data_takes_the_raw_file(call):
    days = [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(60)]
    lines = [
        f"{k},{['Yes', 'no'][k % 2]},{['red', 'blue', 'green'][k * k % 5 % 3]},{k * 37 % 60},{day}"
        for k, day in enumerate(days)
    ]
    raw = "\n".join(["key,wet,colour,weight,seen", *lines])
    Path("raw.csv").write_text(raw, encoding="utf-8")
    assert call("fit", "raw.csv", "--id", "key", "--criterion", "0.1", "--max-iter", "2",
                "--no-prune", "--out", "model.json").code == 0  # fmt: skip
    out = ["--id", "key", "--out", "features.parquet"]
    assert call("transform", "model.json", "raw.csv", *out).code == 0
    expected = pl.read_parquet("features.parquet").drop("key", strict=False)
    for column in ("wet", "colour", "weight", "seen"):
        assert any(column in name for name in expected.columns)
    rows = expected.rows()

    sql = call("export", "model.json", "--table", "raw", "--keep", "key").out
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE raw AS SELECT * FROM read_csv('raw.csv')")
        found = sorted(connection.execute(sql).fetchall())
    assert [row[1:] for row in found] == rows

    sql = call("export", "model.json", "--dialect", "sqlite", "--table", "raw", "--keep", "key").out
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE raw (key INTEGER, wet, colour, weight REAL, seen)")
        cells = [line.split(",") for line in lines]
        connection.executemany("INSERT INTO raw VALUES (?, ?, ?, ?, ?)", cells)
        found = sorted(connection.execute(sql).fetchall())
    assert [tuple(map(bool, row[1:])) for row in found] == rows


def test_export_to_onnx_view_and_dbt(call, spect, tmp_path):
    done = call("export", "model.json", "--to", "onnx")
    assert (done.code, done.err) == (
        2,
        "conjunct: error: ONNX is not text: use --out to write a file\n",
    )
    assert call("export", "model.json", "--to", "onnx", "--out", "m.onnx").code == 0
    assert onnx.load(tmp_path / "m.onnx").producer_name == "conjunct"
    made = call("export", "model.json", "--to", "table", "--into", "my", "--into", "t").out
    assert made.startswith('CREATE TABLE "my"."t" AS\n')
    assert made.endswith(";\n")
    dbt = call("export", "model.json", "--to", "dbt", "--table", "hearts").out
    assert "FROM {{ ref('hearts') }} AS" in dbt
    done = call("export", "model.json", "--into", "t")
    assert done.err == "conjunct: error: --into needs --to view or --to table\n"


def test_update_keeps_counts_with_the_model(call, spect):
    first = call("update", "model.json", "spect.csv", "--out", "model.json")
    assert first.out.startswith("The chunks still help: ")
    assert load("model.json").new_rows_.n_rows == 267
    assert call("update", "model.json", "spect.csv", "--out", "model.json").code == 0
    assert load("model.json").new_rows_.n_rows == 534
    call("fringe", "spect.csv", "--max-features", "30", "--out", "fringe.json")
    done = call("update", "fringe.json", "spect.csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a UFringe model cannot be updated" in done.err
