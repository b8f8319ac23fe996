"""``conjunct fit --weights``: a column that says how often each row counts."""

import polars as pl
import pytest

ROWS = [("a;b", 40), ("a", 20), ("c", 60), ("d", 0)]


@pytest.fixture
def files(tmp_path):
    weighted = pl.DataFrame(ROWS, schema=["items", "count"], orient="row")
    weighted.write_csv(tmp_path / "weighted.csv")
    repeated = [items for items, count in ROWS for _ in range(count)]
    pl.DataFrame({"items": repeated}).write_csv(tmp_path / "repeated.csv")
    cells = [[int(tag in items) for tag in "abcd"] + [count] for items, count in ROWS]
    pl.DataFrame(cells, schema=[*"abcd", "n"], orient="row").write_csv(tmp_path / "table.csv")


def merges(path):
    model = pl.read_json(path)
    return model.select("n_rows", "supports", "merges", "ending").to_dicts()


def test_rows_count_as_often_as_the_column_says(call, files, tmp_path):
    assert call("fit", "repeated.csv", "--tags", "items", "--out", "r.json").code == 0
    words = ["--tags", "items", "--exclude", "d", "--weights", "count"]
    done = call("fit", "weighted.csv", *words, "--out", "w.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("120 rows and 3 columns: 1 finding.")
    assert merges(tmp_path / "w.json") == merges(tmp_path / "r.json")


def test_a_table(call, files, tmp_path):
    assert call("fit", "table.csv", "--weights", "n", "--out", "m.json").code == 0
    assert pl.read_json(tmp_path / "m.json")["columns"].to_list() == [["a", "b", "c", "d"]]
    assert merges(tmp_path / "m.json")[0]["n_rows"] == 120


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--weights", "items"], "column 'items', row 0: 'a;b' is not a number: --weights"),
        (["--weights", "count", "--id", "count"], "use either --id or --weights"),
        (["--weights", "count", "--memory", "1GB"], "--weights needs one table in memory"),
        (["--weights", "count", "--report", "r.html"], "use either --report or --weights"),
        (["--weights", "nowhere"], "nowhere"),
    ],
)
def test_what_does_not_go_together(words, message, call, files):
    done = call("fit", "weighted.csv", "--tags", "items", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_an_underscore_is_no_part_of_a_number(call, files, tmp_path):
    (tmp_path / "long.csv").write_text("items,count\na;b,1_000\nc,1\n")
    done = call("fit", "long.csv", "--tags", "items", "--weights", "count")
    assert done.code == 2
    assert "column 'count', row 0: '1_000' is not a number" in done.err


def test_parts_of_rows_are_refused(call, files, tmp_path):
    (tmp_path / "half.csv").write_text("items,count\na;b,0.5\nc,1\n")
    done = call("fit", "half.csv", "--tags", "items", "--weights", "count")
    assert done.code == 2
    assert "sample_weight of row 0 is 0.5, but weights must be whole numbers from 0" in done.err


@pytest.mark.parametrize(
    ("rows", "is_noted"),
    [
        ([("a", "x", 40), ("a", "y", 3), ("b", "x", 12), ("b", "y", 70)], True),
        # equal rows: a column of numbers that only happens to be called so
        ([("a", "x", 40), ("a", "x", 3), ("b", "x", 12), ("b", "y", 70)], False),
        # yes or no
        ([("a", "x", 1), ("a", "y", 0), ("b", "x", 1), ("b", "y", 0)], False),
    ],
)
def test_a_column_that_seems_to_count_rows_is_noted(call, tmp_path, rows, is_noted):
    pl.DataFrame(rows, schema=["sex", "answer", "Freq"], orient="row").write_csv(
        tmp_path / "counts.csv"
    )
    done = call("fit", "counts.csv")
    assert done.code == 0
    assert ("use --weights Freq" in done.err) is is_noted
    for words in (["--weights", "Freq"], ["--id", "answer"]):
        assert "use --weights" not in call("fit", "counts.csv", *words).err
