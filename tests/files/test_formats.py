"""Each format as another tool writes it, read to the same features; and formats there and back."""

import csv
import gzip
import io
import json
import re
import sqlite3
import time
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.io.arff
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

import naive_tags as naive
from conjunct import BooleanData, ConjunctWarning, InputError
from conjunct.files import read_boolean, read_table, stream
from conjunct.files.formats.base import make_series

RAW = {
    "wet": ["yes", "no", None, "yes", "no", "no", "yes"],
    "colour": ["red", "dark green", "blue", "red", None, "dark green", "it's; blue"],
    "weight (kg)": [61.5, 70.25, None, 55.0, 91.125, 66.5, 48.0],
    "legs": [2, 4, 4, 2, 6, 2, 4],
    "tame": [True, False, True, True, False, False, True],
}
FEATURES = {
    "wet": [True, False, None, True, False, False, True],
    "colour = blue": [False, False, True, False, None, False, False],
    "colour = dark green": [False, True, False, False, None, True, False],
    "colour = it's; blue": [False, False, False, False, None, False, True],
    "colour = red": [True, False, False, True, None, False, False],
    "weight (kg) < 60": [False, False, None, True, False, False, True],
    "weight (kg) in [60, 65)": [True, False, None, False, False, False, False],
    "weight (kg) in [65, 80)": [False, True, None, False, False, True, False],
    "weight (kg) ≥ 80": [False, False, None, False, True, False, False],
    "legs = 2": [True, False, False, True, False, True, False],
    "legs = 4": [False, True, True, False, False, False, True],
    "legs = 6": [False, False, False, False, True, False, False],
    "tame": [True, False, True, True, False, False, True],
}
ARFF = """% a comment
@RELATION 'seven animals'
@ATTRIBUTE wet {no, yes}
@attribute colour {red,'dark green',blue,'it\\'s; blue'}
@ATTRIBUTE 'weight (kg)' REAL
@ATTRIBUTE legs INTEGER
@ATTRIBUTE tame {0,1}

@DATA
yes,red,61.5,2,1
no, 'dark green', 70.25,4,0
% another
?,blue,?,4,1
yes,red,55,2,1
no,?,91.125,6,0
no,'dark green',66.5,2,0
yes,'it\\'s; blue',48,4,1
"""


def frame():
    return pl.DataFrame(RAW)


def pandas():
    return pd.DataFrame(RAW)


def polars_gzip(path):
    frame().write_csv(path, compression="gzip", check_extension=False)


def polars_zstd(path):
    frame().write_csv(path, compression="zstd", check_extension=False)


WRITERS = {
    "polars.csv": lambda p: frame().write_csv(p),
    "pandas.csv": lambda p: pandas().to_csv(p, index=False),
    "bom.csv": lambda p: frame().write_csv(p, include_bom=True),
    "crlf.csv": lambda p: frame().write_csv(p, line_terminator="\r\n"),
    "polars.csv.gz": polars_gzip,
    "pandas.csv.gz": lambda p: pandas().to_csv(p, index=False),
    "polars.csv.zst": polars_zstd,
    "polars.tsv": lambda p: frame().write_csv(p, separator="\t"),
    "pandas.tsv": lambda p: pandas().to_csv(p, index=False, sep="\t"),
    "polars.parquet": lambda p: frame().write_parquet(p),
    "pandas.parquet": lambda p: pandas().to_parquet(p),
    "pyarrow.parquet": lambda p: pa.parquet.write_table(pa.table(RAW), p),
    "polars.arrow": lambda p: frame().write_ipc(p),
    "stream.arrow": lambda p: frame().write_ipc_stream(p),
    "pandas.feather": lambda p: pandas().to_feather(p),
    "pyarrow.feather": lambda p: pa.feather.write_feather(pa.table(RAW), p),
    "polars.jsonl": lambda p: frame().write_ndjson(p),
    "pandas.jsonl": lambda p: pandas().to_json(p, orient="records", lines=True),
    "gzip.jsonl.gz": lambda p: pandas().to_json(p, orient="records", lines=True),
    "dense.arff": lambda p: p.write_text(ARFF),
    "dense.arff.gz": lambda p: p.write_bytes(gzip.compress(ARFF.encode(), mtime=0)),
}


@pytest.mark.parametrize("name", WRITERS)
def test_wide_tables_of_other_tools(name, tmp_path):
    path = tmp_path / name
    WRITERS[name](path)
    table = read_boolean(path)
    assert table.convert("polars").to_dict(as_series=False) == FEATURES
    # the fitted Binarizer makes the same features of new rows in any other file
    other = tmp_path / "other.csv"
    frame().write_csv(other)
    again = read_boolean(other, binarizer=table.preparation.binarizer, names=table.names)
    assert again.convert("polars").to_dict(as_series=False) == FEATURES


def test_format_is_said_where_the_name_does_not(tmp_path):
    path = tmp_path / "data.old"
    frame().write_csv(path, separator=";")
    with pytest.raises(InputError, match="not a known kind of table"):
        read_boolean(path)
    table = read_boolean(path, format="csv", separator=";")
    assert table.names == tuple(FEATURES)
    assert read_table(path, format="csv", separator=";")["legs"].to_list() == RAW["legs"]
    with pytest.raises(InputError, match=r"format must be one of csv, tsv, .*, long; got 'xls'"):
        read_boolean(path, format="xls")


def test_arff_as_scipy_reads_it(tmp_path):
    text = ARFF.replace("'it\\'s; blue'", "odd").replace(" 'dark green', ", "dark,")
    text = text.replace("'dark green'", "dark")
    found, meta = scipy.io.arff.loadarff(io.StringIO(text))
    (tmp_path / "a.arff").write_text(text)
    ours = read_table(tmp_path / "a.arff")
    assert ours.columns == meta.names()
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        column = found[name]
        if kind == "numeric":
            expected = [None if np.isnan(v) else v for v in column.tolist()]
        else:
            expected = [None if v == b"?" else v.decode() for v in column]
        mine = ours[name].to_list()
        assert [
            v if v is None or kind == "numeric" else {True: "1", False: "0"}.get(v, v) for v in mine
        ] == expected


def test_sparse_arff(tmp_path):
    head = (
        "@relation t\n@attribute a {0,1}\n@attribute 'b c' numeric\n@attribute d {x,y,z}\n@data\n"
    )
    sparse, dense = tmp_path / "s.arff", tmp_path / "d.arff"
    sparse.write_text(head + "{0 1, 2 y}\n{}\n{1 2.5,2 'z'}\n{1 ?}\n")
    dense.write_text(head + "1,0,y\n0,0,x\n0,2.5,z\n0,?,x\n")
    assert read_table(sparse).equals(read_table(dense))
    table = read_boolean(sparse)
    assert table.convert("polars").to_dict(as_series=False) == {
        "a": [True, False, False, False],
        "b c = 0": [True, True, False, None],
        "b c = 2.5": [False, False, True, None],
        "d = x": [False, True, False, True],
        "d = y": [True, False, False, False],
        "d = z": [False, False, True, False],
    }


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
def test_svmlight_as_scikit_learn_writes_it(zero_based, zipped, tmp_path):
    rng = np.random.default_rng(0)
    bits = rng.random((40, 6)) < 0.4
    plain = tmp_path / "t.svm"
    dump_svmlight_file(
        sp.csr_array(bits.astype(float)), rng.integers(0, 2, 40), str(plain), zero_based=zero_based
    )
    path = plain
    if zipped:
        path = tmp_path / "t.svmlight.gz"
        path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    table = read_boolean(path)
    first = 0 if zero_based else 1
    assert table.convert("polars").to_dict(as_series=False) == {
        str(k + first): bits[:, k].tolist() for k in range(6)
    }


def test_svmlight_of_numbers(tmp_path):
    numbers = np.array([[0.5, 0, 3], [0, 0, 2], [1.5, 0, 0], [2.5, 0, 9], [0, 0, 1]])
    dump_svmlight_file(numbers, [0, 1, 0, 1, 1], str(tmp_path / "t.svm"))
    table = read_boolean(tmp_path / "t.svm")
    expected = read_boolean_of(pl.DataFrame({"0": numbers[:, 0], "2": numbers[:, 2]}), tmp_path)
    assert table.convert("polars").equals(expected.convert("polars"))


def read_boolean_of(table, folder):
    table.write_parquet(folder / "expected.parquet")
    return read_boolean(folder / "expected.parquet")


# no separator that the reader looks for, no blank ends, nothing that ends a line elsewhere
item = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["C", "Z"], exclude_characters=";|,[\ufeff\x85"
    ),
    min_size=1,
    max_size=5,
)
rows = st.lists(st.lists(item, max_size=4, unique=True), min_size=1, max_size=12).filter(
    lambda rows: any(rows)
)


def written(path, rows, kind):
    """The same baskets in one of the ways in which tags come; the options to read them with."""
    if kind == "space":
        path.write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8", newline="")
        return {}
    if kind == "comma":
        path.write_text(
            "".join(", ".join(row) + "\r\n" for row in rows), encoding="utf-8", newline=""
        )
        return {"separator": ","}
    if kind == "column":
        pl.DataFrame({"the row": range(len(rows)), "t": [";".join(row) for row in rows]}).write_csv(
            path
        )
        return {"tags": "t", "id": "the row", "tag_separator": ";"}
    if kind == "json":
        # no tag is that long: a name that is excluded excludes tags, too
        pl.DataFrame({"t": [json.dumps(row) for row in rows], "another": 3.5}).write_csv(path)
        return {"tags": "t", "exclude": ["another"]}
    if kind == "list":
        pl.DataFrame({"t": rows}, schema={"t": pl.List(pl.String)}).write_parquet(path)
        return {"tags": "t"}
    pairs = [(f"row {k}", tag) for k, row in enumerate(rows) for tag in row]
    pl.DataFrame(pairs, schema=["who", "what"], orient="row").write_csv(path)
    return {"format": "long"}


KINDS = {
    "space": "t.dat",
    "comma": "t.basket",
    "column": "t.csv",
    "json": "t.csv",
    "list": "t.parquet",
    "long": "t.csv",
}


@pytest.mark.parametrize("kind", KINDS)
@given(rows=rows)
def test_tags_there_and_back(kind, rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("tags") / KINDS[kind]
    options = written(path, rows, kind)
    table = read_boolean(path, **options)
    # a long table knows nothing of rows without tags
    kept = [row for row in rows if row] if kind == "long" else rows
    assert table.convert("polars").drop(table.ids.name if table.ids else []).to_dict(
        as_series=False
    ) == naive.incidence([set(row) for row in kept])
    assert table.tags
    if kind == "column":
        assert table.ids.values == tuple(str(k) for k in range(len(rows)))


@pytest.mark.parametrize("separator", [None, ";", "|", ",", "\t", " "])
def test_separators_are_found_or_told(separator, tmp_path):
    between = separator or ";"
    (tmp_path / "t.dat").write_text(between.join("abc") + "\n\n" + between.join("bd") + "\n")
    for told in (None, separator):
        table = read_boolean(tmp_path / "t.dat", separator=told)
        assert (table.names, table.n_rows) == (("a", "b", "c", "d"), 3)


def test_a_tag_of_two_words_stays_one(tmp_path):
    (tmp_path / "t.csv").write_text("t\nblue sky\nsea\n")
    assert read_boolean(tmp_path / "t.csv", tags="t").names == ("blue sky", "sea")


def test_fimi(tmp_path):
    path = tmp_path / "t.dat.gz"
    path.write_bytes(gzip.compress(b"1 2 3 \n2 3\n\n10 1\n", mtime=0))
    table = read_boolean(path)
    assert table.convert("polars").to_dict(as_series=False) == naive.incidence(
        [{"1", "2", "3"}, {"2", "3"}, set(), {"10", "1"}]
    )


def test_long_form_in_any_order_and_by_name(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"n": [1, 2, 3], "tag": ["a", "b", "a"], "photo": [7, 9, 7]}).write_parquet(path)
    table = read_boolean(path, format="long", id="photo", tags="tag")
    assert table.convert("polars").to_dict(as_series=False) == {
        "photo": ["7", "9"],
        "a": [True, False],
        "b": [False, True],
    }


def test_one_word_a_row_in_a_table_of_categories(tmp_path):
    rng = np.random.default_rng(0)
    kinds = {"cap": "bell flat knobbed", "odour": "none foul anise musty", "size": "broad narrow"}
    frame = pl.DataFrame({name: rng.choice(words.split(), 800) for name, words in kinds.items()})
    frame.write_csv(tmp_path / "mushrooms.csv")
    table = read_boolean(tmp_path / "mushrooms.csv")
    assert len(table.names) == 9
    for rule in table.preparation.binarizer.rules_:
        made = [table.columns.cells(table.names.index(name))[0] for name in rule.names()]
        if len(made) > 1:
            assert (sum(column.astype(int) for column in made) == 1).all()


SEPARATORS = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'"}
CELLS = [["a", "b, net", "c"], *[[str(k % 2), f"{k},5", "x"[k % 3 :]] for k in range(150)]]


def separated(separator):
    lines = io.StringIO()
    csv.writer(lines, delimiter=separator, lineterminator="\n").writerows(CELLS)
    return lines.getvalue()


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_what_separates_cells_is_found_and_said(separator, ending, tmp_path):
    path = tmp_path / f"t.{ending}"
    content = separated(separator).encode()
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    usual = "\t" if ending == "tsv" else ","
    expected = read_table(path, separator=separator)
    assert expected.columns == CELLS[0]
    if separator == usual:
        assert read_table(path).equals(expected)
        return
    said = rf"cells of .*t\.{ending} seem to be separated by {re.escape(SEPARATORS[separator])}; if"
    with pytest.warns(ConjunctWarning, match=rf"{said}.* \(--separator on the command line\)"):
        assert read_table(path).equals(expected)
    for read in (read_boolean, stream):
        with pytest.warns(ConjunctWarning, match=said):
            table = read(path)
        assert [d.column for d in table.preparation.binarizer.dropped_] == ["c"]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_separator_that_excel_names(separator, end, tmp_path):
    path = tmp_path / "t.csv"
    content = f"sep={separator}\n{separated(separator)}".replace("\n", end)
    path.write_bytes(b"\xef\xbb\xbf" + content.encode())
    expected = tmp_path / "plain.csv"
    expected.write_text(separated(separator))
    found = read_table(path)
    assert found.equals(read_table(expected, separator=separator))
    assert found.equals(read_table(path, separator=separator))
    with path.open("ab") as file:
        file.write(f"1{separator}2{end}".encode())
    with pytest.raises(InputError, match="line 153: 2 cells, but the first line has 3 names"):
        read_boolean(path)


@pytest.mark.parametrize(
    "content",
    ["tags\nwater;tree\nsky\n", "a;b\n1\n0\n", "a,b;c\n1,0\n0,1\n", "a|b,c\n0,1\n", "a\n0;1\n"],
)
def test_what_is_no_separator_is_none(content, tmp_path):
    """Some lines have it and others have not."""
    path = tmp_path / "t.csv"
    path.write_text(content)
    assert read_table(path).columns == content.partition("\n")[0].split(",")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.dat.gz", "t.txt.gz", "t.jsonl.gz"])
def test_a_bomb_of_blank_lines_is_refused_at_once(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a,b\n1,0\n0,1\n" + b"\n" * 30_000_000))
    assert path.stat().st_size < 40_000
    start = time.process_time()
    with pytest.raises(InputError, match="MB of blank lines; if this is intended, decompress"):
        read_boolean(path)
    assert time.process_time() - start < 3


def test_a_compressed_file_is_decompressed_once(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b,c\n" + b"1,0,7\n0,1,\n1,1,9\n" * 50))
    opened = []
    usual = gzip.open
    monkeypatch.setattr(gzip, "open", lambda *args: opened.append(args) or usual(*args))
    first = read_boolean(path)
    assert read_boolean(path).names == first.names
    assert len(opened) == 1
    # another content under the same name
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,0\n0,1\n" * 50))
    assert read_boolean(path).names == ("a", "b")
    assert len(opened) == 2


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2, None], pl.Int64),
        ([1, 2.5, None], pl.Float64),
        ([1, 2**63], pl.Float64),
        ([-(2**62), 2**63 - 1], pl.Int64),
        ([1, "x", True, None], pl.String),
        ([True, None], pl.Boolean),
        ([b"x", None], pl.Binary),
        ([[1, None], "x", None], pl.List(pl.String)),
    ],
)
def test_values_of_any_type_are_a_column(cells, kind):
    column = make_series("x", cells)
    assert column.dtype == kind
    assert column.is_null().to_list() == [cell is None for cell in cells]
    if kind == pl.String:
        assert column.to_list() == ["1", "x", "true", None]
    elif isinstance(cells[0], list):
        assert column.to_list() == [["1"], ["x"], None]
    elif kind != pl.Binary:
        assert column.to_list() == cells


@pytest.mark.parametrize("first", ["01", "11", "00"])
@pytest.mark.parametrize("last", ["", "0", "1", "2"])
def test_columns_are_boolean_only_if_all_cells_are_0_or_1(first, last, tmp_path):
    # the last cell comes after those by which the type is guessed
    cells = [*(first * 3000), *last]
    path = tmp_path / "digits.csv"
    path.write_text("".join(f"{line}\n" for line in ["a,b", *(f"{c},1" for c in cells)]))
    found = read_table(path).get_column("a")
    assert (found.dtype == pl.Boolean) == (last != "2")
    assert found.cast(pl.Int64).to_list() == [*map(int, cells)]


def test_a_column_of_bytes_in_a_database_is_left_out_as_in_a_frame(tmp_path):
    path = tmp_path / "bytes.db"
    cells = [(k % 2, b"\0" if k % 3 else None) for k in range(30)]
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE t (a INTEGER, b BLOB)")
        base.executemany("INSERT INTO t VALUES (?, ?)", cells)
        base.commit()
    frame = pl.DataFrame(cells, schema=["a", "b"], orient="row")
    assert frame.schema["b"] == pl.Binary
    assert read_boolean(path).names == BooleanData.from_data(frame).names == ("a",)
