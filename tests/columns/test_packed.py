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
    lines = store.raw_columns
    made = store.with_raw_columns(
        [
            store.conjunction(lines[max(i, ~i)], lines[max(j, ~j)], not_left=i < 0, not_right=j < 0)
            for i, j in zip(left.tolist(), right.tolist(), strict=True)
        ]
    )
    is_plain = (left >= 0) & (right >= 0)
    plain = store.conjunctions(left[is_plain], right[is_plain])
    assert np.array_equal(plain.bits, made.bits[is_plain])
    expected = PackedColumns.from_table((both[:, left] & both[:, right]).reshape(len(table), -1))
    assert np.array_equal(made.bits, expected.bits)
    joined = store.append_columns(made)
    assert joined.n_rows == store.n_rows
    assert np.array_equal(joined.bits, np.vstack([store.bits, made.bits]))
    assert np.array_equal(joined.select(np.arange(m)).bits, store.bits)
