"""The columns that trees make of a store."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjunct.columns import PackedColumns
from tables import tables


@given(tables(max_rows=140), st.data())
def test_conjunctions_of_literals(table, data):
    store = PackedColumns.from_table(table)
    m = table.shape[1]
    literals = st.lists(st.integers(-m, m - 1), max_size=5)
    left = np.array(data.draw(literals), np.intp)
    right = np.array(data.draw(st.permutations(left.tolist())), np.intp)
    both = np.column_stack([table, ~table[:, ::-1]])  # column ~k is the negation of column k
    made = store.conjunctions(left, right)
    expected = PackedColumns.from_table((both[:, left] & both[:, right]).reshape(len(table), -1))
    assert np.array_equal(made.bits, expected.bits)
    joined = store.append_columns(made)
    assert joined.n_rows == store.n_rows
    assert np.array_equal(joined.bits, np.vstack([store.bits, made.bits]))
    assert np.array_equal(joined.select(np.arange(m)).bits, store.bits)
