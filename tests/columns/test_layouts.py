"""Nothing outside columns/ asks in which layout columns are; and all layouts say the same."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conjunct.columns import (
    MaskedColumns,
    PackedColumns,
    SparseColumns,
    convert_layout,
    pack_columns,
)
from conjunct.errors import InputError
from tables import tables

SOURCE = Path(__file__).parents[2] / "src" / "conjunct"
OUTSIDE = [path for path in SOURCE.rglob("*.py") if path.parent.name != "columns"]
LAYOUTS = {"PackedColumns", "SparseColumns", "MaskedColumns"}
# what only some layouts have, and what tells one from another
TELLING = {"bits", "true", "known", "ones", "kind", "layout", "rows_matrix"}
KINDS = {"bits", "sparse", "masked"}


def questions(source):
    """The lines in which a source asks for the layout of columns."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call | ast.Compare | ast.MatchClass):
            continue
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        words = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            asks_type = node.func.id in ("isinstance", "issubclass") and names & LAYOUTS
            asks_part = node.func.id in ("hasattr", "getattr") and words & TELLING
            if asks_type or asks_part:
                yield node.lineno
        elif isinstance(node, ast.Compare):
            by_name = names & {"kind", "layout"} and words & KINDS
            if names & LAYOUTS or by_name:
                yield node.lineno
        elif isinstance(node, ast.MatchClass) and names & LAYOUTS:
            yield node.lineno


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_nobody_else_asks_for_the_layout(path):
    assert list(questions(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(store, SparseColumns)",
        "isinstance(store, columns.PackedColumns | MaskedColumns)",
        "hasattr(store, 'known')",
        "type(store) is PackedColumns",
        "store.kind == 'sparse'",
        "match store:\n    case SparseColumns():\n        pass",
    ],
)
def test_a_question_is_found(source):
    assert list(questions(source)) != []


def in_all_layouts(table):
    nowhere_missing = np.full_like(table, False)
    return [
        PackedColumns.from_table(table),
        SparseColumns.from_table(table),
        masked(table, nowhere_missing),
    ]


def masked(table, gaps):
    return MaskedColumns(PackedColumns.from_table(table & ~gaps), PackedColumns.from_table(~gaps))


@given(tables(max_rows=100), st.data())
def test_every_layout_says_the_same(table, data):
    positions = data.draw(st.lists(st.none() | st.integers(0, table.shape[1] - 1), max_size=5))
    n_rows = data.draw(st.integers(0, len(table)))
    expected = np.column_stack(
        [np.zeros(len(table), bool) if k is None else table[:, k] for k in positions]
        or [np.empty((len(table), 0), bool)]
    )
    for columns in in_all_layouts(table):
        assert np.array_equal(columns.to_dense(), table)
        assert np.array_equal(columns.to_scipy().toarray(), table)
        assert np.array_equal(columns.to_bits().to_dense(), table)
        assert np.array_equal(columns.fill_missing().to_dense(), table)
        assert np.array_equal(columns.select(positions).to_dense(), expected)
        assert np.array_equal(columns.first_rows(n_rows).to_dense(), table[:n_rows])
        assert columns.supports().tolist() == table.sum(axis=0).tolist()
        assert columns.count_known().tolist() == [len(table)] * table.shape[1]
        assert columns.count_missing() == 0
        assert columns.row_lengths().tolist() == table.sum(axis=1).tolist()
        for k, column in enumerate(table.T):
            assert np.array_equal(columns.cells(k)[0], column)
            assert columns.true_rows(k).tolist() == np.flatnonzero(column).tolist()
        for layout in (PackedColumns, SparseColumns, MaskedColumns):
            assert np.array_equal(layout.of(columns).to_dense(), table)
        again = columns.from_arrays(columns.arrays(), columns.n_rows)
        assert np.array_equal(again.to_dense(), table)


@given(tables(max_rows=100, min_rows=2), st.data(), st.sampled_from([1, 16]))
def test_some_rows_are_taken(table, data, times):
    # packed columns read few of many rows bit by bit
    table = np.tile(table, (times, 1))
    most = len(table) // times
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(table) - 1), max_size=most))), int)
    some = data.draw(st.lists(st.integers(0, table.shape[1] - 1), max_size=5))
    for columns in in_all_layouts(table):
        assert np.array_equal(columns.take_rows(rows).to_dense(), table[rows])
        of_some = columns.select(some).take_rows(rows)
        assert np.array_equal(of_some.to_dense(), table[np.ix_(rows, some)])
        assert of_some.supports().tolist() == table[np.ix_(rows, some)].sum(axis=0).tolist()


@given(tables(max_rows=100), st.data())
def test_missing_cells(table, data):
    gaps = data.draw(arrays(np.bool_, table.shape))
    columns = masked(table, gaps)
    expected = np.where(gaps, np.nan, table)
    assert np.array_equal(columns.to_dense(), expected, equal_nan=True)
    assert np.array_equal(columns.to_scipy().toarray(), expected, equal_nan=True)
    assert np.array_equal(columns.fill_missing().to_dense(), table & ~gaps)
    assert columns.count_missing() == gaps.sum()
    assert columns.count_known().tolist() == (~gaps).sum(axis=0).tolist()
    again = pack_columns(map(columns.cells, range(columns.n_columns)), len(table))
    assert np.array_equal(again.to_dense(), expected, equal_nan=True)
    with pytest.raises(InputError, match="sparse storage keeps no missing cells"):
        convert_layout(columns, "sparse")


@given(tables(max_rows=100), st.data())
def test_the_fingerprint_is_that_of_the_rows(table, data):
    order = data.draw(st.permutations(range(len(table))))
    words = {columns.fingerprint() for columns in in_all_layouts(table)}
    words.add(PackedColumns.from_table(table[order]).fingerprint())
    assert len(words) == 1
    gaps = np.zeros_like(table)
    gaps[0, 0] = True
    assert masked(table, gaps).fingerprint() not in words


@given(tables(max_rows=100, min_rows=2), st.data())
def test_counts_of_parts_add_up(table, data):
    gaps = data.draw(arrays(np.bool_, table.shape))
    cut = data.draw(st.integers(1, len(table) - 1))
    above = np.triu_indices(table.shape[1], 1)
    true, known = (table & ~gaps).astype(int), (~gaps).astype(int)
    parts = {
        PackedColumns.from_table: (table.T.astype(int) @ table, None),
        SparseColumns.from_table: (table.T.astype(int) @ table, None),
        None: (true.T @ true, known.T @ known),
    }
    for layout, (joint, rows) in parts.items():
        some = [slice(cut), slice(cut, None)]
        halves = [masked(table[k], gaps[k]) if layout is None else layout(table[k]) for k in some]
        one, other = (half.pair_counts() for half in halves)
        found = one + other
        pairs = found.for_pairs(*above)
        assert found.n_rows == len(table)
        assert found.supports.tolist() == np.diagonal(joint).tolist()
        assert pairs.joint.tolist() == joint[above].tolist()
        if rows is not None:
            assert pairs.n_rows.tolist() == rows[above].tolist()
            assert pairs.left_support.tolist() == (true.T @ known)[above].tolist()
            assert pairs.right_support.tolist() == (known.T @ true)[above].tolist()


@given(tables(max_rows=400), st.data(), st.integers(1, 500))
def test_pieces_have_all_rows_and_few_bytes(table, data, limit):
    gaps = data.draw(arrays(np.bool_, table.shape, elements=st.booleans()))
    for columns in (PackedColumns.from_table(table), masked(table, gaps)):
        pieces = list(columns.pieces(limit))
        found = np.concatenate([piece.to_dense() for piece in pieces])
        assert np.array_equal(found, columns.to_dense(), equal_nan=True)
        n_bits = 2 if columns.has_missing else 1
        for piece in pieces:
            assert piece.n_rows <= 64 or n_bits * piece.n_columns * piece.n_rows / 8 <= limit
