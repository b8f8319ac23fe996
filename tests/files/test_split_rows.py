"""A row of a raw file is transformed the same whatever rows stand beside it."""

import csv
import io as text_io
import json
import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from conjunct import ConjunctWarning, InputError
from conjunct import files as io
from conjunct.data import inference
from conjunct.files import raw

# what the cells of a column may be; each list holds what its column was seldom or never fitted on
KINDS = [
    ["0", "1", "2", "4", "01", "1.0", "+4", " 2 ", "X9"],
    ["01", "02", "X9", "1", "2", "1.0"],
    ["0", "1", "unknown", "true"],
    ["0", "1"],
    ["0", "1", "1.0", "0.0", "nan", "true"],
    ["yes", "no", "Yes ", "1", "false"],
    ["true", "false", "maybe"],
    ["1", "0", "30", "44.5", "1e3", "-7", "inf", "nan"],
    ["0.5", "1", "1.50", "-0", "2.25", "100", "7", "9", "11"],
    ["1,5", "2", "0,25", "12,375", "3,75", "8", "1,0"],
    ["2024-01-02", "2023/05/06", "2022-03-04", "2024-12-31 18:30", "2024-01-02T03:04:05"],
    ["2024-01-02T03:04:05Z", "2023-07-08T09:10:11.5+02:00", "2022-03-04 05:06:07-05:00"],
    ["red", "green", "blue", "nan", "NULL", "0", "2024-01-02", "true", "1,5"],
    ["male", "female", "1", "0"],
    ["30", "44.5", "7", "n/a", "-", "NA", "?", "12", "many"],
    ["1,5", "2,25", "3", "n/a", "#DIV/0!"],
    ["yes", "no", "n/a", "-", "unknown"],
    ["0", "1", "?", "N/A"],
    ["31.12.2024", "1.2.2023", "5.6.2022 18:30", "n/a", "soon", "31.02.2024"],
    ["12/31/2024", "1/25/2023", "02/03/2022 6:30 PM", "?", "31/12/2024"],
    ["2024-01-02", "2023-05-06", "2022-03-04", "soon", "n/a", "2024-02-30"],
]
BLANK = ["", " ", "\t"]


@st.composite
def raw_files(draw, choices=KINDS, blank=BLANK):
    """Rows to fit on, and rows to transform, of the same columns."""
    kinds = draw(st.lists(st.sampled_from(choices), min_size=1, max_size=4))

    def rows(least, most):
        n_rows = draw(st.integers(least, most))
        columns = [
            # most columns have no blank cell
            draw(
                st.lists(
                    st.sampled_from(draw(st.sampled_from([kind, kind[:3], kind + blank]))),
                    min_size=n_rows,
                    max_size=n_rows,
                )
            )
            for kind in kinds
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    return rows(3, 20), rows(1, 8)


def as_csv(rows, quoting=csv.QUOTE_MINIMAL):
    content = text_io.StringIO()
    writer = csv.writer(content, quoting=quoting, lineterminator="\n")
    # a first column that is never blank: a blank line is no row
    writer.writerow(["id", *(f"c{k}" for k in range(len(rows[0])))])
    writer.writerows([str(k), *row] for k, row in enumerate(rows))
    return content.getvalue()


LEFT_OUT = "left out"
JSON_KINDS = [
    [0, 1, 2, 4, LEFT_OUT],
    [1, "X9", "1", 1.5, True, "true"],
    [True, False, None],
    [True, "unknown", "false"],
    [0.5, 1, 30, -7, 1e22, 1e300, LEFT_OUT, None],
    ["red", "green", "blue", "", " ", None],
    ["yes", "no", LEFT_OUT],
    ["2024-01-02", "2023-05-06", "soon"],
]


def as_jsonl(rows):
    # a file with no column of the model at all is another file
    lines = (
        {"id": str(k), "always": True}
        | {f"c{i}": cell for i, cell in enumerate(row) if cell != LEFT_OUT}
        for k, row in enumerate(rows)
    )
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def as_svmlight(rows):
    return "".join(
        " ".join(["1", *(f"{k}:{cell}" for k, cell in enumerate(row) if cell)]) + "\n"
        for row in rows
    )


def cells(table):
    return table.convert("polars").drop("id", strict=False).rows()


def read(file, content, id="id", **options):
    """The cells of a file, or None if it is refused."""
    file.write_text(content, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        try:
            return cells(io.read_boolean(file, id=id, **options))
        except InputError:
            return None


def streamed(file, binarizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return [
            row for table in io.stream(file, id="id", binarizer=binarizer) for row in cells(table)
        ]


@pytest.fixture
def few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(raw, "BATCH_ROWS", 8)
    # a few odd dates among some are no reason to take them for words
    monkeypatch.setattr(inference, "FEW", 5)


TRAINED = [
    [legs, code, smoker, age]
    for legs, code, smoker, age in zip(
        ["0", "1", "2", "4"] * 5,
        ["01", "02", "X9", "X9"] * 5,
        ["0", "1", "unknown", "1"] * 5,
        [str(k * 7 % 90) for k in range(20)],
        strict=True,
    )
]


def check_any_split(file, write, train, rows):
    file.write_text(write(train), encoding="utf-8")
    with warnings.catch_warnings():
        # what is guessed is said
        warnings.simplefilter("ignore", ConjunctWarning)
        try:
            fitted = io.read_boolean(file, id="id")
        except InputError:
            assume(False)
    binarizer = fitted.preparation.binarizer
    assume(binarizer is not None)
    # as it was when the model was fitted
    assert read(file, write(train), binarizer=binarizer) == cells(fitted)
    assert streamed(file, binarizer) == cells(fitted)
    whole = read(file, write(rows), binarizer=binarizer)
    check_same(whole, [read(file, write([row]), binarizer=binarizer) for row in rows])
    if whole is not None:
        read(file, write(rows), binarizer=binarizer)
        assert streamed(file, binarizer) == whole


def check_same(whole, each):
    """Rows one by one are those of the whole file, which is refused if one of them is."""
    if whole is None or None in each:
        assert whole is None
        assert None in each
        return
    assert [row for part in each for row in part] == whole


@pytest.mark.usefixtures("few_rows_at_a_time")
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@given(drawn=raw_files())
@example(drawn=(TRAINED, [["1", "01", "1", "30"], ["2", "X9", "unknown", "0"]]))
@example(drawn=(TRAINED, [["1", "01", "1", "0"], ["1", "02", "0", "1"]]))
def test_any_split_of_a_csv_is_transformed_the_same(quoting, drawn, tmp_path_factory):
    file = tmp_path_factory.mktemp("split") / "t.csv"
    check_any_split(file, lambda rows: as_csv(rows, quoting), *drawn)


@pytest.mark.usefixtures("few_rows_at_a_time")
@given(drawn=raw_files(JSON_KINDS, [None, LEFT_OUT]))
@example(drawn=([[1], ["X9"], [2.5]] * 4, [[2.5], [1e22], [True], ["X9"]]))
@example(drawn=([[1, 2], [LEFT_OUT, 4], [3, 6]] * 4, [[LEFT_OUT, 2], [1, 2]]))
def test_any_split_of_json_lines_is_transformed_the_same(drawn, tmp_path_factory):
    check_any_split(tmp_path_factory.mktemp("split") / "t.jsonl", as_jsonl, *drawn)


@given(drawn=raw_files([[0, 1], [0, 1, 2, 4], [0, 0.5, -1, 30, 7]], [0]))
@example(drawn=([[1, 0.5], [0, 2.5], [1, 3.5]] * 4, [[1, 2.5], [1, 1], [0, 0]]))
def test_any_split_of_svmlight_is_transformed_the_same(drawn, tmp_path_factory):
    train, rows = drawn
    file = tmp_path_factory.mktemp("split") / "t.svm"
    file.write_text(as_svmlight(train))
    try:
        binarizer = io.read_boolean(file).preparation.binarizer
    except InputError:
        assume(False)
    assume(binarizer is not None)
    whole = read(file, as_svmlight(rows), id=None, binarizer=binarizer)
    each = [read(file, as_svmlight([row]), id=None, binarizer=binarizer) for row in rows]
    check_same(whole, each)
