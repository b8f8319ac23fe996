"""Reading in batches: the same table whatever the batches, and what is said of bad files."""

import gzip
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, Binarizer, ConjunctWarning, InputError, TagCleaner, Threshold
from conjunct.data.column_rules import Dropped
from conjunct.files import cells, raw, read_boolean, read_synonyms, reading, stream
from conjunct.files.formats import tags as tag_formats

TEXT = [
    st.lists(st.sampled_from(cells), min_size=1, max_size=40)
    for cells in (
        ["0", "1"],
        ["0", "1", ""],
        ["true", "False", "1", ""],
        ["yes", "no", ""],
        ["red", "green", "blue", ""],
        ["1.5", "2.5", "3", "-4", ""],
        ["2024-01-31", "2025-06-01", ""],
        ["0", "1", "2", "y"],
    )
]
columns = st.lists(st.one_of(*TEXT), min_size=1, max_size=4)


@given(columns=columns, batch=st.integers(1, 17))
def test_batches_make_no_difference(columns, batch, tmp_path_factory):
    n_rows = min(map(len, columns))
    path = tmp_path_factory.mktemp("batches") / "t.csv"
    # the first column is never empty: a blank line would be a row to nobody
    cells = {f"c{k}": column[:n_rows] for k, column in enumerate(columns)}
    table = pl.DataFrame({"first": ["0"] * n_rows} | cells)
    table.write_csv(path, quote_style="never")
    whole = read_boolean(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw, "BATCH_ROWS", batch)
        patch.setattr(reading, "_GROUP_BYTES", 1)
        parts = read_boolean(path)
    assert parts.names == whole.names
    assert parts.n_missing == whole.n_missing
    assert np.array_equal(parts.convert("numpy"), whole.convert("numpy"), equal_nan=True)
    # and 0 and 1 are what they were
    for name, column in cells.items():
        if name in whole.names and set(column) <= {"0", "1", ""}:
            assert whole.convert("polars")[name].to_list() == [
                {"0": False, "1": True, "": None}[cell] for cell in column
            ]


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 63, 64, 65, 200])
def test_tags_in_small_batches_and_blocks(n_rows, tmp_path, monkeypatch):
    rng = np.random.default_rng(n_rows)
    bits = rng.random((n_rows, 20)) < np.linspace(0.02, 0.5, 20)
    bits[0, 0] = True
    text = "".join(" ".join(str(k) for k in np.flatnonzero(row)) + "\n" for row in bits)
    (tmp_path / "t.dat").write_text(text)
    whole = read_boolean(tmp_path / "t.dat")
    monkeypatch.setattr(raw, "BATCH_ROWS", 10)
    monkeypatch.setattr(cells, "_BLOCK_ROWS", 16)
    monkeypatch.setattr(cells, "_BLOCK_BYTES", 2)
    parts = read_boolean(tmp_path / "t.dat")
    assert (
        parts.names == whole.names == tuple(sorted(str(k) for k in range(20) if bits[:, k].any()))
    )
    assert np.array_equal(parts.convert("numpy"), whole.convert("numpy"), equal_nan=True)
    for k, name in enumerate(parts.names):
        assert np.array_equal(parts.columns.cells(k)[0], bits[:, int(name)])


def test_svmlight_in_parts(tmp_path, monkeypatch):
    lines = [f"1 {k % 7}:1 {7 + k % 3}:1\n" for k in range(100)]
    (tmp_path / "t.svm").write_text("".join(lines))
    whole = read_boolean(tmp_path / "t.svm")
    monkeypatch.setattr(tag_formats, "_SVMLIGHT_BYTES", 50)
    parts = read_boolean(tmp_path / "t.svm")
    assert (parts.n_rows, parts.names) == (100, tuple("0123456789"))
    assert np.array_equal(parts.convert("numpy"), whole.convert("numpy"), equal_nan=True)


def test_progress_tells_rows_and_about_how_many(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BATCH_ROWS", 1000)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 2500)
    calls = []
    read_boolean(path, progress=lambda rows, total: calls.append((rows, total)))
    assert [rows for rows, _ in calls] == [1000, 2000, 3000, 4000, 5000]
    assert all(total == pytest.approx(5000, rel=0.01) for _, total in calls)


@pytest.mark.parametrize("read", [read_boolean, stream])
def test_a_late_surprise_is_no_surprise(read, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 2500 + "maybe,1\n")
    match = "'a': 5,000 numbers, but 1 × 'maybe', so the column becomes"
    with pytest.warns(ConjunctWarning, match=match):
        table = read(path)
    assert table.names == ("a = 0", "a = 1", "a = maybe", "b")
    if read is read_boolean:
        assert table.columns.cells(2)[0].sum() == 1
    # nor in a column of which the cuts are given
    path.write_text("a,b\n" + "0,1\n1,0\n" * 2500 + "300,1\n")
    assert read(path, binarizer=Binarizer(edges={"a": [200]})).names == ("a < 200", "a ≥ 200", "b")


def test_columns_exclude_and_id(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,a,b,c\nann,1,0,1\nbob,0,1,x\n")
    table = read_boolean(path, id="who", exclude=["c"])
    assert (table.names, table.ids.values) == (("a", "b"), ("ann", "bob"))
    assert read_boolean(path, columns=["b,a"]).names == ("b", "a")
    with pytest.raises(InputError, match="has no column 'z': it has 'who', 'a', 'b', 'c'"):
        read_boolean(path, exclude=["z"])
    with pytest.raises(InputError, match="no column is left"):
        read_boolean(path, columns=["a"], exclude=["a"])
    (tmp_path / "t.dat").write_text("a b\nb c\n")
    assert read_boolean(tmp_path / "t.dat", exclude=["b"]).names == ("a", "c")


def test_words_for_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,?\n0,1\nNA,0\n")
    table = read_boolean(path, null_values=["?", "NA"])
    assert table.convert("polars").to_dict(as_series=False) == {
        "a": [True, False, None],
        "b": [None, True, False],
    }


@pytest.mark.parametrize("name", ["*", "^a.*$", "", " ", "a,b", "∧", "<script>", "x\ny"])
def test_hostile_names(name, tmp_path):
    frame = pl.DataFrame({"ab": [True, False], name: ["u", "v"], "n": [1.5, 2.5]})
    for file in ("t.csv", "t.parquet", "t.jsonl"):
        path = tmp_path / file
        {"t.csv": frame.write_csv, "t.parquet": frame.write_parquet, "t.jsonl": frame.write_ndjson}[
            file
        ](path)
        assert read_boolean(path).names == (
            "ab",
            f"{name} = u",
            f"{name} = v",
            "n = 1.5",
            "n = 2.5",
        )
        assert read_boolean(path, columns=[name]).names == (f"{name} = u", f"{name} = v")


def test_as_a_model_wants_it(tmp_path):
    path, baskets_path = tmp_path / "t.csv", tmp_path / "t.dat"
    path.write_text("z,b,a\nfree text,yes,1\nmore,no,0\n")
    with pytest.warns(ConjunctWarning, match=r"t.csv that the model does not use: 'z'"):
        table = read_boolean(path, names=["a", "b"])
    assert table.convert("polars").rows() == [(True, True), (False, False)]
    with pytest.raises(InputError, match="lacks columns of the model: 'c'"):
        read_boolean(path, names=["a", "c"])
    with pytest.raises(InputError, match="line 2, column 'z': 'free text' is not Boolean"):
        read_boolean(path, names=["z"], columns=["z"])
    baskets_path.write_text("a q\nb\n")
    with pytest.warns(ConjunctWarning, match=r"tags of .*t.dat that the model does not use: 'q'"):
        table = read_boolean(baskets_path, names=["b", "a", "c"])
    assert table.convert("polars").rows() == [(False, True, False), (True, False, False)]


def test_cells_that_a_fitted_binarizer_cannot_use_are_located(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,born\n1.5,2024-01-31\n2.5,2025-02-28\n3.5,2024-03-01\n4,2025-03-01\n5,\n")
    binarizer = read_boolean(path).preparation.binarizer
    path.write_text("age,born\n1,2024-01-31\ntall,2024-01-31\n")
    with pytest.raises(InputError, match=r"t.csv, line 3, column 'age': 'tall' is not a number"):
        read_boolean(path, binarizer=binarizer)
    path.write_text("age,born\n1,2024-01-31\n2,soon\n")
    with pytest.raises(InputError, match=r"t.csv, line 3, column 'born': 'soon' is not a date"):
        read_boolean(path, binarizer=binarizer)


@pytest.mark.parametrize("blank", ['""', '" "', '"\t"', "  "])
def test_missing_is_missing_however_quoted(blank, tmp_path):
    rows = [
        f"{k % 2},{k % 3},{k * 1.5},2024-0{k % 4 + 1}-01,{'no' if k % 5 else 'yes'},{'abc'[k % 3]}"
        for k in range(40)
    ]
    head = "bit,few,number,day,answer,word\n"
    whole, quoted = tmp_path / "whole.csv", tmp_path / "quoted.csv"
    whole.write_text(head + "".join(f"{row}\n" for row in [*rows, ",,,,,"]))
    every = ['"' + row.replace(",", '","') + '"' for row in rows]
    quoted.write_text(head + "".join(f"{row}\n" for row in [*every, ",".join([blank] * 6)]))
    expected, found = read_boolean(whole), read_boolean(quoted)
    assert found.names == expected.names
    assert found.convert("polars").equals(expected.convert("polars"))
    assert expected.n_missing == len(expected.names)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Int64, pl.Float64, pl.String, pl.Null])
def test_columns_of_nothing_are_left_out(kind, dtype, tmp_path):
    path = tmp_path / f"t.{kind}"
    frame = pl.DataFrame({"a": [0, 1] * 20, "void": pl.Series([None] * 40, dtype=dtype)})
    frame = frame.with_columns(b=pl.col("a") == 0)
    write = {"csv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc"}
    getattr(frame, write.get(kind, "write_ndjson"))(path)
    for table in (read_boolean(path), stream(path)):
        assert tuple(table.names) == ("a", "b")
        assert table.preparation.binarizer.dropped_ == (Dropped("void", "every cell is empty"),)
    UFC(max_iter=0).fit(read_boolean(path))


@pytest.mark.parametrize("what", ["decimal256", "two of one name"])
def test_rows_that_polars_loses_are_not_passed_over(what, tmp_path, capfd):
    wide = pa.array([Decimal(1), Decimal(0), None], pa.decimal256(50, 2))
    names = ["a", "b"] if what == "decimal256" else ["a", "a"]
    table = pa.table([wide if what == "decimal256" else [1, 2, 3], [1, 0, 1]], names=names)
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    for read in (read_boolean, stream):
        with pytest.raises(InputError, match=r"t.arrow: only 0 of 3 rows can be read; a column"):
            read(path)


def test_numbers_with_decimal_commas(tmp_path):
    points, commas = tmp_path / "points.csv", tmp_path / "commas.csv"
    rows = [f"{k % 2};{k * 1.25};{k % 3 / 2}" for k in range(40)]
    points.write_text("a;b;c\n" + "\n".join(rows) + "\n")
    commas.write_text(points.read_text().replace(".", ","))
    expected, found = (read_boolean(path, separator=";") for path in (points, commas))
    assert found.convert("polars").equals(expected.convert("polars"))
    # the model knows: a row of which the comma could part thousands is read as the others
    commas.write_text("a;b;c\n1;12,375;1,000\n")
    row = read_boolean(commas, separator=";", binarizer=found.preparation.binarizer)
    points.write_text("a;b;c\n1;12.375;1\n")
    same = read_boolean(points, separator=";", binarizer=expected.preparation.binarizer)
    assert row.convert("polars").equals(same.convert("polars"))


def test_an_underscore_is_no_part_of_a_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "0,1_000\n1,2.5\n0,3\n" * 20)
    for table in (read_boolean(path), stream(path)):
        assert tuple(table.names) == ("a", "b = 1_000", "b = 2.5", "b = 3")
    path.write_text("a,b\n" + "0,1000\n1,2.5\n0,3\n" * 20)
    binarizer = read_boolean(path).preparation.binarizer
    path.write_text("a,b\n0,1_000\n")
    with pytest.warns(ConjunctWarning, match=r"word not seen in fit \('1_000'\)"):
        assert not any(read_boolean(path, binarizer=binarizer).convert("polars").row(0))


def test_commas_between_thousands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{k % 2};{k * 7 % 40 + 1},{k + 100}\n" for k in range(40)))
    assert read_boolean(path, separator=";").names[1] == "b < 10000"


def test_moments_with_an_offset_are_those_written(tmp_path):
    path = tmp_path / "t.csv"
    hours = [f"2024-05-{k % 28 + 1:02}T{k % 24:02}:30:00" for k in range(40)]
    path.write_text("at\n" + "\n".join(hours) + "\n")
    expected = read_boolean(path)
    assert any("hour" in name for name in expected.names)
    for offset in ("Z", "+02:00", "-0530", ".250Z"):
        path.write_text("at\n" + "\n".join(hour + offset for hour in hours) + "\n")
        found = read_boolean(path)
        assert found.names == expected.names
        assert found.convert("polars").equals(expected.convert("polars"))


def test_words_that_a_file_takes_for_dates(tmp_path):
    """A binarizer that was fitted on text finds its words again, by day and by minute."""
    days = ["2024-01-31", "2024-02-01", "2024-01-31 12:30:00"] * 3
    frame = pl.DataFrame({"day": days})
    binarizer = Binarizer().fit(frame)
    expected = binarizer.transform(frame)
    path = tmp_path / "t.csv"
    for kept in (days[:2], [days[2]]):
        path.write_text("day\n" + "".join(f"{day}\n" for day in kept))
        rows = [expected.row(days.index(day)) for day in kept]
        assert read_boolean(path, binarizer=binarizer).convert("polars").rows() == rows


def test_tags_are_cleaned_and_the_mapping_saved(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("keywords\n" + "Sky;sea\nsky\nskies; SEA\nauto\ncar;sea\n" * 30)
    cleaner = TagCleaner(synonyms={"auto": "car"})
    table = read_boolean(path, tags="keywords", cleaner=cleaner)
    assert table.names == ("sea", "sky", "car")
    model = UFC(Threshold(0.01, prune=True), max_iter=1, feature_names="formula").fit(table)
    model.save(tmp_path / "m.json")
    loaded = UFC.load(tmp_path / "m.json")
    assert loaded.preparation_.cleaner.mapping_["skies"] == "sky"
    path.write_text("keywords\nSKIES;Auto\n")
    again = read_boolean(
        path, tags="keywords", cleaner=loaded.preparation_.cleaner, names=loaded.feature_names_in_
    )
    assert [name for k, name in enumerate(again.names) if again.columns.cells(k)[0][0]] == [
        "sky",
        "car",
    ]


def test_synonym_files(tmp_path):
    (tmp_path / "s.json").write_text('{"auto": "car"}')
    (tmp_path / "s.csv").write_text("from,to\nauto,car\n")
    (tmp_path / "r.csv").write_text(
        "from,to,similarity,accept\nauto,car,90,yes\na,b,80,\nc,d,80,no\n"
    )
    for file in ("s.json", "s.csv", "r.csv"):
        assert read_synonyms(tmp_path / file) == {"auto": "car"}
    for file, text, message in (
        ("x.json", "[1]", "not a JSON object of tags"),
        ("x.csv", "a,b\n1,2\n", "has no column 'from'"),
        (
            "y.csv",
            "from,to,accept\na,b,maybe\n",
            "row 1, column 'accept': 'maybe' is not yes or no",
        ),
        ("z.csv", "from,to\na,b\na,c\n", "row 2: 'a' has two names: 'b' and 'c'"),
    ):
        (tmp_path / file).write_text(text)
        with pytest.raises(InputError, match=message):
            read_synonyms(tmp_path / file)


ARFF = "@relation r\n@attribute a {0,1}\n@attribute b numeric\n@data\n"
BAD = {
    "t.csv": [
        (b"", "t.csv is empty: it needs a line of column names, then rows"),
        (b"a,b\n", "t.csv has column names but no rows"),
        (b'a,b\n0,"1\n', "t.csv, line 2: wrongly quoted"),
        (b"a,b\n0,1\n\x81,1\n", "t.csv, line 3 is not UTF-8 text"),
        (b"a,b\n0,\xc3\xa9\n\xe9t\xe9,1\n", "t.csv, line 3 is not UTF-8 text"),
        (b"a,b\n0,1\n0\n", "t.csv, line 3: 1 cell, but the first line has 2 names"),
        (b"a,b\n0,1,1\n", "t.csv, line 2: 3 cells, but the first line has 2 names"),
        (b"\x89PNG\r\n\x1a\n\0\0", "t.csv, line 1 is not UTF-8 text"),
        (b"a,b\n0,\0\n", "t.csv, line 2 contains zero bytes: not a text file"),
    ],
    "t.csv.gz": [
        (gzip.compress(b"a,b\n0,1\n" * 999, mtime=0)[:-9], "t.csv.gz cannot be read: "),
        (gzip.compress(b"a,b\n0,1\n\x81,1\n", mtime=0), "t.csv.gz, line 3 is not UTF-8 text"),
    ],
    "t.csv.zst": [(b"\x28\xb5\x2f\xfdrubbish", "t.csv.zst cannot be read: ")],
    "t.parquet": [
        (b"", "t.parquet is empty"),
        (b"PAR1rubbish", "t.parquet is not a readable Parquet file"),
    ],
    "t.arrow": [(b"ARROW1rubbish", "t.arrow is not a readable Arrow file")],
    "t.feather": [(b"rubbish", "t.feather is not a readable Arrow file")],
    "t.jsonl": [
        (b'{"a": 1}\n{"a": \n', "t.jsonl, line 2: not a JSON object"),
        (b'{"a": 1}\n[1]\n', "t.jsonl, line 2: not a JSON object"),
        (b'{"a": 1}\n{"a": "\x81"}\n', "t.jsonl, line 2 is not UTF-8 text"),
    ],
    "t.arff": [
        (b"", "t.arff is empty"),
        (ARFF.encode(), "t.arff has attributes but no rows"),
        (b"a,b\n1,2\n", "t.arff, line 1: expected @attribute or @data: 'a,b'"),
        (
            b"@relation r\n@attribute a numeric\n",
            "t.arff has no @data: the ARFF file is incomplete",
        ),
        (b"@attribute a colour\n@data\n1\n", "t.arff, line 1: not an attribute"),
        (b"@data\n1\n", "t.arff, line 1: no @attribute before @data"),
        ((ARFF + "1\n").encode(), "t.arff, line 5: 1 values, but the header has 2 attributes"),
        ((ARFF + "1,2\n2,3\n").encode(), "t.arff, line 6, column 'a': '2' is not one of its"),
        ((ARFF + "1,'2\n").encode(), "t.arff, line 5: unexpected end of data"),
        ((ARFF + "{0 1, 5 2}\n").encode(), "t.arff, line 5: there is no attribute 5"),
        ((ARFF + "{0 1\n").encode(), "t.arff, line 5: the sparse row has no closing brace"),
        ((ARFF + "{x}\n").encode(), "t.arff, line 5: expected a number and a value: 'x'"),
        ((ARFF + "1,tall\n").encode(), "t.arff, line 5, column 'b': 'tall' is not a number"),
        (ARFF.encode() + b"1,\x81\n", "t.arff, line 5 is not UTF-8 text"),
    ],
    "t.dat": [
        (b"", "t.dat is empty: it needs one transaction per line"),
        (b"\n\n", "t.dat contains no tags"),
        (b"a b\n\x81\n", "t.dat, line 2 is not UTF-8 text"),
        (b"a\n\0\0\n", "t.dat, line 2 contains zero bytes: not a text file"),
    ],
    "t.svm": [
        (b"1 3:1\n1 x:1\n", "t.svm, line 2: not a row of SVMlight"),
        (b"1\n0\n", "t.svm contains no values other than zero"),
    ],
}


@pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name, cases in BAD.items() for k in range(len(cases))]
)
@pytest.mark.parametrize("read", [read_boolean, stream])
def test_bad_files_in_one_clear_line(name, k, read, tmp_path):
    content, message = BAD[name][k]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read(path)
    assert message in str(raised.value)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        (
            "t.csv",
            't\n"[""a"", ""b""]"\n"[""a"""\n',
            {"tags": "t"},
            "line 3, column 't': not a list",
        ),
        ("t.csv", "t\na;b\n", {"tags": "x"}, "has no column 'x'"),
        ("t.csv", "t\n", {"tags": "t"}, "has column names but no rows"),
        ("t.csv", "t\n;\n", {"tags": "t"}, "contains no tags"),
        (
            "t.csv",
            "a\n1\n",
            {"format": "long"},
            "has one column: a long table needs a column of ids",
        ),
        ("t.csv", "i,t\n1,a\n2,\n", {"format": "long"}, "column 't': the cell has no value"),
        ("t.csv", 'i,t\n1,a\n2," "\n', {"format": "long"}, "column 't': the cell has no value"),
        ("t.dat", "a b\n", {"tags": "t"}, "baskets files have no column of tags"),
        ("t.dat", "a b\n", {"id": "t"}, "baskets have no column 't'"),
        ("t.csv", "a,b\n1,0\n", {"separator": "::"}, "separator must be one character"),
        ("t.csv", "a\nb c d e f\n" + "x y z u v w\n" * 3, {"names": ["a"]}, "is not Boolean"),
    ],
)
def test_bad_use(name, content, options, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as raised:
        read_boolean(tmp_path / name, **options)
    assert message in str(raised.value)


def test_binarizer_is_fitted_by_its_parameters(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "\n".join(str(k * 1.5) for k in range(40)) + "\n")
    table = read_boolean(path, binarizer=Binarizer(edges={"age": [10, 30]}, cumulative=True))
    assert table.names == ("age ≥ 10", "age ≥ 30")
    assert table.preparation.binarizer.get_params()["cumulative"]
