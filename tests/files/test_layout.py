"""Recognition of column names and of baskets, against the rules said slowly."""

import csv
import io

from hypothesis import assume, given
from hypothesis import strategies as st

import naive_layout as naive
from conjunct.files.formats.base import ReadOptions, recognise_format
from conjunct.files.formats.text import _has_header

WORDS = ["red", "blue", "sea", "a b", "x1", "Yes", "n/a", "?", "", "no"]
NUMBERS = ["0", "1", "2", "3", "-4", "1.5", "1e3", "1990", "1991", "76", "nan", "1_000", "inf"]
DATES = ["2024-01-02", "31.12.2024", "1/2/2020"]
cells = st.sampled_from([*WORDS, *NUMBERS, *DATES])


@st.composite
def tables(draw):
    """Columns of words, of numbers or of both, under any first row; some rows are short."""
    width = draw(st.integers(1, 4))
    kinds = [
        draw(st.sampled_from([cells, st.sampled_from(NUMBERS), st.sampled_from(WORDS)]))
        for _ in range(width)
    ]
    first = [draw(cells) for _ in kinds]
    if draw(st.booleans()):
        start = draw(st.sampled_from([0, 1, 5, 1995, 2099]))
        first = [str(start + k) for k in range(width)]
    body = [
        [draw(kind) for kind in kinds][: draw(st.sampled_from([width, width, width - 1]))]
        for _ in range(draw(st.integers(0, 6)))
    ]
    return [first, *body]


@given(tables())
def test_column_names_are_recognised_as_the_rules_say(rows):
    body = [row for row in rows[1:] if row]
    assert _has_header(rows[0], body) == naive.has_header(rows)


@given(
    st.lists(
        st.lists(st.sampled_from(["sea", "sky", "bus", "tree", "7", "8", ""]), max_size=4),
        min_size=2,
        max_size=12,
    ),
    st.booleans(),
)
def test_baskets_are_recognised_as_the_rules_say(tmp_path_factory, rows, is_filled):
    width = max(map(len, rows))
    assume(width > 1)
    if is_filled:
        rows = [row + [""] * (width - len(row)) for row in rows]
    text = io.StringIO()
    # quotes around the only cell of a row would make it no blank line
    rows = [row for row in rows if row not in ([""], [])]
    assume(len(rows) > 1 and any(len(row) > 1 for row in rows))
    csv.writer(text, lineterminator="\n").writerows(rows)
    path = tmp_path_factory.mktemp("layout") / "t.csv"
    path.write_text(text.getvalue())
    # the separator is found where all lines agree, or where the first names are alone
    found = recognise_format(path, ReadOptions(separator=",")).name == "baskets"
    assume(len(rows[0]) > 1)
    assert found == naive.holds_baskets(rows)


def test_a_line_of_commas_alone_is_no_crash(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sea,sky\n,\nsky,sea\nsea,\n" * 9)
    read = recognise_format(path, ReadOptions())
    assert read.name in ("csv", "baskets")
