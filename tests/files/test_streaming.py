"""Files some rows at a time against the same rows read at once."""

import numpy as np
import polars as pl
import pytest

from conjunct import UFC, Binarizer, TagCleaner
from conjunct import files as io
from conjunct.counting import PartitionedColumns, Tally
from conjunct.errors import CellError, InputError
from conjunct.files import raw, reading, streaming

N_ROWS = 400


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Batches of a few rows, so that small files have many of them."""
    monkeypatch.setattr(raw, "BATCH_ROWS", 48)
    monkeypatch.setattr(streaming, "_PAGE_BYTES", 64)


def boolean_frame(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    return pl.DataFrame({name: rng.random(n_rows) < 0.3 for name in ["sky", "a*", "^x.*$", ""]})


def raw_frame():
    rng = np.random.default_rng(1)
    count = rng.integers(0, 9, N_ROWS)
    return pl.DataFrame(
        {
            # whole numbers but for one fraction, words but for most, which are numbers
            "size": [float(k) + (0.5 if row == 350 else 0) for row, k in enumerate(count)],
            "code": ["x" if row % 9 == 3 else str(k % 3) for row, k in enumerate(count)],
            "wet": ["yes" if k > 4 else "no" for k in count],
            "seen": [None if k == 8 else k > 2 for k in count],
            "day": [f"2024-0{1 + k}-11" for k in count],
        }
    )


WRITERS = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}


def as_bits(table):
    """Comparable whatever the padding."""
    cells = table.convert("numpy")
    known = ~np.isnan(cells.astype(float))
    return (cells == 1) & known, known


def assert_same(stream, expected):
    assert stream.names == expected.names
    assert stream.shape == expected.shape
    tables = list(stream)
    assert len(tables) > 1
    for actual, wanted in zip(
        zip(*map(as_bits, tables), strict=True), as_bits(expected), strict=True
    ):
        assert np.array_equal(np.concatenate(actual), wanted)
    mine, theirs = stream.preparation, expected.preparation
    assert (mine.binarizer is None) == (theirs.binarizer is None)
    if mine.binarizer is not None:
        assert mine.binarizer.record() == theirs.binarizer.record()
    if mine.cleaner is not None:
        assert mine.cleaner.record() == theirs.cleaner.record()


@pytest.mark.parametrize("frame", [boolean_frame(), raw_frame()], ids=["Boolean", "raw"])
@pytest.mark.parametrize("kind", WRITERS)
def test_rows_are_those_read_at_once(kind, frame, tmp_path):
    whole = tmp_path / f"whole.{kind}"
    WRITERS[kind](frame, whole)
    expected = io.read_boolean(whole)
    assert_same(io.stream(whole), expected)
    parts = [tmp_path / f"{k}.{kind}" for k in range(3)]
    for part, some in zip(parts, [(0, 100), (100, 7), (107, N_ROWS)], strict=True):
        WRITERS[kind](frame.slice(*some), part)
    assert_same(io.stream(*parts), expected)


@pytest.mark.filterwarnings("ignore:column 'flag'.*treating .* as missing")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_column_that_is_words_in_one_file_only(kind, tmp_path):
    """Files together are read as one file with all rows."""
    numbers = pl.DataFrame({"code": [1, 2, 4, 0] * 30, "flag": [0, 1] * 60})
    words = pl.DataFrame({"code": ["X9", "1", "2", "7"] * 30, "flag": ["0", "1", "1", "?"] * 30})
    parts = [tmp_path / f"{k}.{kind}" for k in range(2)]
    WRITERS[kind](numbers, parts[0])
    WRITERS[kind](words, parts[1])
    whole = tmp_path / f"whole.{kind}"
    WRITERS[kind](pl.concat([numbers.cast(pl.String), words]), whole)
    assert_same(io.stream(*parts), io.read_boolean(whole))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_numbers_are_spelled_as_in_their_file_if_another_file_has_words(kind, tmp_path):
    form = "{}" if kind == "csv" else '{{"code": {}}}'
    numbers, words = ["1.50", "2.00", "10", "2.00"] * 30, ['"X9"', "1.50", "2.00", '"X9"'] * 30
    parts = [tmp_path / f"{k}.{kind}" for k in range(3)]
    for part, cells in zip(parts, (numbers, words, numbers + words), strict=True):
        write_lines(part, ["code"] * (kind == "csv") + [form.format(cell) for cell in cells])
    assert_same(io.stream(*parts[:2]), io.read_boolean(parts[2]))
    assert "code = X9" in io.stream(*parts[:2]).names


BASKETS = [f"t{k % 7} t{k % 3} T{k % 3}s" if k % 5 else "" for k in range(N_ROWS)]


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize("cleaner", [None, TagCleaner()])
def test_baskets(cleaner, tmp_path):
    whole = write_lines(tmp_path / "whole.dat", BASKETS)
    parts = [
        write_lines(tmp_path / "a.dat", BASKETS[:90]),
        write_lines(tmp_path / "b.dat", BASKETS[90:]),
    ]
    expected = io.read_boolean(whole, cleaner=cleaner)
    assert_same(io.stream(whole, cleaner=cleaner), expected)
    assert_same(io.stream(*parts, cleaner=cleaner), expected)
    some = {"columns": ["t1", "t5"]}
    assert_same(io.stream(*parts, **some), io.read_boolean(whole, **some))


def test_a_column_of_tags(tmp_path):
    cells = [basket.replace(" ", ";") for basket in BASKETS]
    file = tmp_path / "tags.csv"
    pl.DataFrame({"id": range(N_ROWS), "tags": cells}).write_csv(file)
    assert_same(io.stream(file, tags="tags"), io.read_boolean(file, tags="tags"))


def test_svmlight(tmp_path, monkeypatch):
    monkeypatch.setattr("conjunct.files.formats.tags._SVMLIGHT_BYTES", 500)
    file = write_lines(tmp_path / "a.svm", [f"1 {k % 4}:1 {k % 3 + 4}:1" for k in range(N_ROWS)])
    assert_same(io.stream(file), io.read_boolean(file))
    numbers = write_lines(tmp_path / "b.svm", ["1 1:2.5"])
    with pytest.raises(
        InputError, match="values other than 0 and 1, so it cannot be read in batches"
    ):
        io.stream(numbers)
    write_lines(numbers, [f"1 1:{k}" for k in range(1, 9)])
    binarizer = io.read_boolean(numbers).preparation.binarizer
    with pytest.raises(InputError, match="a fitted Binarizer is for tables"):
        io.stream(file, binarizer=binarizer)


@pytest.mark.parametrize("kind", ["csv", "dat"])
@pytest.mark.parametrize("rows_at_a_time", [1, 50, 48, 1000])
def test_rows_of_a_part(kind, rows_at_a_time, tmp_path):
    file = tmp_path / f"whole.{kind}"
    if kind == "csv":
        raw_frame().write_csv(file)
    else:
        write_lines(file, BASKETS)
    stream = io.stream(file)
    (rows,) = stream.rows
    parts = [part for part in rows.split(rows_at_a_time) if part.start < 120]
    for part in parts:
        found = np.concatenate([as_bits(table)[0] for table in part.tables()])
        expected = as_bits(io.read_boolean(file))[0][part.start : part.stop]
        assert np.array_equal(found, expected)


def read(table):
    table.refuse_missing()
    return table.columns


def test_pages_count_what_all_rows_count(tmp_path):
    file = tmp_path / "a.parquet"
    boolean_frame().write_parquet(file)
    stream = io.stream(file, memory="4GB")
    parts = stream.partitions(read)
    assert len(parts._source.parts) > 1
    expected = read(io.read_boolean(file)).joint_counts()
    assert np.array_equal(Tally.of(PartitionedColumns(parts)).counts.joint, expected)


def test_a_fitted_binarizer_needs_no_whole_column(tmp_path, monkeypatch):
    file = tmp_path / "raw.csv"
    raw_frame().write_csv(file)
    binarizer = Binarizer().fit(io.read_table(file))
    expected = io.read_boolean(file, binarizer=binarizer)
    monkeypatch.setattr(reading.Survey, "_read_whole", None)
    assert_same(io.stream(file, binarizer=binarizer), expected)


def test_a_column_too_long_for_memory_is_refused(tmp_path):
    file = tmp_path / "raw.csv"
    raw_frame().write_csv(file)
    with pytest.raises(InputError, match="column 'size' is not Boolean, and converting it needs"):
        io.stream(file, memory=1000)


def test_memory_that_python_has_already_is_refused(tmp_path):
    file = tmp_path / "a.parquet"
    boolean_frame().write_parquet(file)
    with pytest.raises(
        InputError, match=r"memory of 1 MB is too little, because Python and its libraries"
    ):
        io.stream(file, memory="1MB").partitions(read)
    with pytest.raises(InputError, match="memory must be a size such as 500MB or 2GiB; got 'much'"):
        io.stream(file, memory="much")


def test_a_missing_cell_is_said_with_its_line(tmp_path):
    file = write_lines(tmp_path / "a.csv", ["a,b", *["0,1"] * 99, "1,", "0,0"])
    with pytest.raises(InputError, match=r"a.csv, line 101, column 'b': the value is missing"):
        io.stream(file).partitions(read)
    assert not issubclass(InputError, CellError)


def test_blank_lines_at_the_end_are_no_rows(tmp_path):
    file = write_lines(tmp_path / "a.csv", ["a,b", *["0,1", "1,0"] * 60, "", ""])
    assert_same(io.stream(file), io.read_boolean(file))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "x,y\n0,1\n", "b.csv": "x\n0\n"}, "b.csv lacks column 'y' of .*a.csv"),
        ({"a.csv": "x\n0\n", "b.csv": "x,y\n0,1\n"}, "a.csv lacks column 'y' of .*b.csv"),
        ({"a.csv": "x\n0\n", "b.dat": "x y\n"}, "b.dat contains tags, and .*a.csv does not"),
        ({"a.csv": "x\n0\n", "b.csv": ""}, "b.csv is empty"),
        ({"a.csv": "x\n0\n", "b.csv": "x\n"}, "b.csv has column names but no rows"),
        ({"a.csv": "x,y\n0,1\n", "b.csv": "x,y\n0\n"}, "b.csv, line 2: 1 cell, but"),
        ({"a.dat": "\n\n"}, "a.dat contains no tags"),
        ({"a.xyz": "x"}, "not a known kind of table"),
        ({}, "name a file to read"),
    ],
)
def test_files_that_do_not_go_together(files, message, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        io.stream(*(tmp_path / name for name in files))


def test_long_tables_are_read_as_a_whole(tmp_path):
    file = write_lines(tmp_path / "a.csv", ["id,tag", "1,x", "2,y"])
    with pytest.raises(InputError, match="a long table cannot be read in batches"):
        io.stream(file, format="long")


def test_the_file_that_cannot_be_read_is_named(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\n1,1\n0,0\n")
    found = io.stream(tmp_path / "a.csv", tmp_path / "b.csv")
    (tmp_path / "b.csv").unlink()
    with pytest.raises(InputError, match=r"b\.csv cannot be read"):
        UFC().fit(found)


@pytest.mark.parametrize("read", [io.read_boolean, io.stream])
def test_options_without_a_meaning_are_refused(read, tmp_path):
    (tmp_path / "a.dat").write_text("sky sea\nsky\n")
    with pytest.raises(InputError, match="baskets have no column 'name'"):
        read(tmp_path / "a.dat", id="name")
    (tmp_path / "a.svm").write_text("0 1:1\n0 2:1\n")
    with pytest.raises(InputError, match="svmlight files have no column of tags"):
        read(tmp_path / "a.svm", tags="name")
