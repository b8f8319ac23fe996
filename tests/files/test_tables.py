"""Tables in files: what is read, what is refused and in which words, what is written."""

import datetime
import gzip
import stat

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conjunct.data import BooleanData, CellRules
from conjunct.errors import CellError, InputError
from conjunct.files import as_csv, naming_cells_of, read_table, write_table

ADVICE = "write 0/1 or true/false, or leave the column out"

READ = {
    "0 and 1": (b"a,b\n0,1\n1,0\n", {"a": [False, True], "b": [True, False]}),
    "spelled": (b"a,b\ntrue,False\n0,TRUE\n", {"a": [True, False], "b": [False, True]}),
    "no last line feed": (b"a\n1\n0", {"a": [True, False]}),
    "blank lines at the end": (b"a,b\n0,1\n\n\n", {"a": [False], "b": [True]}),
    "CRLF and BOM": (b"\xef\xbb\xbfa,b\r\n0,1\r\n", {"a": [False], "b": [True]}),
    "spaces around": (b"a,b\n 0, 1\n", {"a": [False], "b": [True]}),
    "quotes": (b'"a ""x"", y","b\nc"\n"0","1\n"\n', {'a "x", y': [False], "b\nc": [True]}),
    "empty name": (b"a,\n0,1\n", {"a": [False], "": [True]}),
    "missing": (b"a,b\n0,1\n,0\n", {"a": [False, None], "b": [True, False]}),
    "all missing": (b"a,b\n,1\n,0\n", {"a": [None, None], "b": [True, False]}),
    "whole numbers": (b"a,b\n0,1\n1,300\n", {"a": [False, True], "b": [1, 300]}),
    "numbers": (b"a,b\n0,1.0\n1,-2.5\n", {"a": [False, True], "b": [1.0, -2.5]}),
    "words": (b"a,b\n0,yes\n1,no\n", {"a": [False, True], "b": ["yes", "no"]}),
}


@pytest.mark.parametrize("case", READ)
def test_columns_are_boolean_where_they_can_be(case, tmp_path):
    content, expected = READ[case]
    (tmp_path / "t.csv").write_bytes(content)
    assert read_table(tmp_path / "t.csv").to_dict(as_series=False) == expected


BAD = {
    "empty file": (b"", " is empty: it needs a line of column names, then rows"),
    "header only": (b"a,b\n", " has column names but no rows"),
    "header without line feed": (b"a,b", " has column names but no rows"),
    "long row": (b"a,b\n0,1\n0,1,1\n", ", line 3: 3 cells, but the first line has 2 names"),
    "short row": (b"a,b\n0,1\n0\n", ", line 3: 1 cell, but the first line has 2 names"),
    "open quote": (b'a,b\n0,"1\n1,0\n', ", line 2: wrongly quoted (unexpected end of data)"),
    "quote too early": (b'a,b\n0,"1"x\n', ", line 2: wrongly quoted (',' expected after '\"')"),
    "not UTF-8": (b"a,b\n0,1\n\x81,1\n", ", line 3 is not UTF-8 text: save the file as UTF-8"),
    "name not UTF-8": (b"a,\x81\n0,1\n", ", line 1 is not UTF-8 text: save the file as UTF-8"),
    "picture": (b"\x89PNG\r\n\x1a\n", ", line 1 is not UTF-8 text: save the file as UTF-8"),
    "zero bytes": (b"a,b\n0,\0\n", ", line 2 contains zero bytes: not a text file"),
    "zero bytes first": (b"\0\0\0\0\n\0\n", ", line 1 contains zero bytes: not a text file"),
    "two": (b"a,b\n0,1\n1,2\n", f", line 3, column 'b': 2 is not Boolean; {ADVICE}"),
    "three hundred": (b"a,b\n0,1\n1,300\n", f", line 3, column 'b': 300 is not Boolean; {ADVICE}"),
    "minus one": (b"a,b\n0,1\n1,-1\n", f", line 3, column 'b': -1 is not Boolean; {ADVICE}"),
    "half": (b"a,b\n0,1\n1,0.5\n", f", line 3, column 'b': 0.5 is not Boolean; {ADVICE}"),
    "infinity": (b"a\n1\ninf\n", f", line 3, column 'a': the value is infinity (inf); {ADVICE}"),
    "yes": (b"a,b\n0,1\n1,yes\n", f", line 3, column 'b': 'yes' is not Boolean; {ADVICE}"),
    "question mark": (b"a,b\n0,?\n1,0\n", f", line 2, column 'b': '?' is not Boolean; {ADVICE}"),
    "odd separator": (b"a:b\n0:1\n", f", line 2, column 'a:b': '0:1' is not Boolean; {ADVICE}"),
    "line in quotes": (
        b'a,"b\nc"\n0,"1\n"\n0,yes\n',
        f", line 5, column 'b\\nc': 'yes' is not Boolean; {ADVICE}",
    ),
    "missing": (
        b"a,b\n0,1\n,0\n",
        ", line 3, column 'a': the cell has no value; fill it in, or drop the row",
    ),
    "missing at the end": (
        b"a,b\n0,1\n1,\n",
        ", line 3, column 'b': the cell has no value; fill it in, or drop the row",
    ),
    "NaN": (
        b"a,b\n0,1\n1,nan\n",
        ", line 3, column 'b': the cell has no value; fill it in, or drop the row",
    ),
}


@pytest.mark.parametrize(
    ("case", "zipped"),
    [(case, False) for case in BAD] + [(case, True) for case in BAD if case != "empty file"],
)
def test_refused_by_file_line_and_column(case, zipped, tmp_path):
    content, message = BAD[case]
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    with pytest.raises(InputError) as raised, naming_cells_of(path):
        BooleanData.read(read_table(path), CellRules(missing="raise"))
    assert str(raised.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.xlsx", b"a", "is not a readable spreadsheet: "),
        ("t.docx", b"a", "not a known kind of table; the name must end in .csv, .tsv, "),
        ("t", b"a", "not a known kind of table"),
        ("t.parquet", b"rubbish", "is not a readable Parquet file: "),
        ("t.csv.gz", gzip.compress(b"a,b\n0,1\n" * 999, mtime=0)[:-9], "cannot be read: "),
        ("t.csv.gz", b"\x1f\x8brubbish", "cannot be read: "),
        ("folder.csv", None, "is a folder: name a file to read"),
    ],
)
def test_not_a_table_at_all(name, content, message, tmp_path):
    path = tmp_path / name
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_table(path)
    assert str(raised.value).startswith(str(path))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match=r"no\.csv does not exist$"):
        read_table(tmp_path / "no.csv")


def test_name_is_not_a_pattern(tmp_path):
    (tmp_path / "[ab].csv").write_text("x\n1\n")
    (tmp_path / "a.csv").write_text("y\n0\n")
    assert read_table(tmp_path / "[ab].csv").columns == ["x"]
    with pytest.raises(InputError, match="does not exist"):
        read_table(tmp_path / "*.csv")


def test_cell_of_parquet_is_named_by_row(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [True, None]}).write_parquet(path)
    with pytest.raises(InputError) as raised, naming_cells_of(path):
        BooleanData.read(read_table(path), CellRules(missing="raise"))
    assert str(raised.value) == (
        f"{path}, row 2, column 'a': the cell has no value; fill it in, or drop the row"
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([datetime.timedelta(1)], "Duration.*"),
        ([datetime.time(1)], "Time"),
        ([{"x": 1}], r"Struct\(.*\)"),
        ([b"1"], "Binary"),
    ],
)
def test_column_of_parquet_that_can_never_do(values, kind, tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"ok": [True], "a": values}).write_parquet(path)
    with pytest.raises(InputError, match=rf"column 'a': {kind} is not Boolean; leave the column"):
        read_table(path)


def test_parquet_without_columns_or_rows(tmp_path):
    pl.DataFrame({"a": []}, schema={"a": pl.Boolean}).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="no rows"):
        read_table(tmp_path / "rows.parquet")
    pl.DataFrame().write_parquet(tmp_path / "columns.parquet")
    with pytest.raises(InputError, match="has no columns"):
        read_table(tmp_path / "columns.parquet")


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)
EXTENSIONS = [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"]


@given(
    columns=st.integers(1, 5).flatmap(
        lambda n: st.dictionaries(
            NAMES,
            st.lists(st.sampled_from([True, False, None]), min_size=n, max_size=n),
            min_size=1,
            max_size=4,
        )
    ),
    extension=st.sampled_from(EXTENSIONS),
)
def test_what_is_written_is_read(columns, extension, tmp_path_factory):
    # a blank first line is above the table
    assume(any(name.strip() for name in columns) or "" in columns)
    path = tmp_path_factory.mktemp("tables") / f"t{extension}"
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Boolean))
    write_table(path, frame)
    # without header=True, names such as 0 and 1 may be taken for cells
    assert read_table(path, header=True).to_dict(as_series=False) == columns


def test_text_holds_numbers_and_parquet_booleans(tmp_path):
    frame = pl.DataFrame({"a": [True, False], "b": [None, True]})
    assert as_csv(frame) == "a,b\n1,\n0,1\n"
    write_table(tmp_path / "t.tsv", frame)
    assert (tmp_path / "t.tsv").read_text() == "a\tb\n1\t\n0\t1\n"
    write_table(tmp_path / "t.csv.gz", frame)
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == b"a,b\n1,\n0,1\n"
    write_table(tmp_path / "t.parquet", frame)
    assert set(pl.read_parquet(tmp_path / "t.parquet").dtypes) == {pl.Boolean}
    assert stat.S_IMODE((tmp_path / "t.tsv").stat().st_mode) & 0o600 == 0o600


def test_unknown_extension_is_not_written(tmp_path):
    with pytest.raises(InputError, match="not a known kind of table"):
        write_table(tmp_path / "t.docx", pl.DataFrame({"a": [True]}))
    assert list(tmp_path.iterdir()) == []


def test_cell_error_knows_its_cell_and_travels():
    import pickle

    with pytest.raises(CellError) as raised:
        BooleanData.read(pl.DataFrame({"a": [0, 1, 7]}), CellRules())
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
        assert (error.column, error.row, error.value) == ("a", 2, 7)
        assert str(error).startswith("column 'a', row 2: 7 is not Boolean; use True/False")


def test_the_word_is_blamed_and_not_the_digit_beside_it():
    with pytest.raises(CellError) as raised:
        BooleanData.read(pl.DataFrame({"a": ["0", "1", "yes"]}), CellRules())
    assert (raised.value.row, raised.value.value) == (2, "yes")
    with pytest.raises(CellError) as raised:
        BooleanData.read(pl.DataFrame({"a": ["0", "1"]}), CellRules())
    assert (raised.value.row, raised.value.value) == (0, "0")
