"""Hypothesis strategies for small Boolean tables of the awkward kind."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def tables(draw, max_rows=40, max_columns=8, min_rows=1):
    """Boolean arrays with constant, duplicate, complementary and nested columns among others."""
    n = draw(st.integers(min_rows, max_rows))
    column = st.integers(0, 2**n - 1).map(
        lambda bits: np.array([bits >> k & 1 for k in range(n)], bool)
    )
    columns = [draw(column)]
    for _ in range(draw(st.integers(0, max_columns - 1))):
        earlier = columns[draw(st.integers(0, len(columns) - 1))]
        kind = draw(st.sampled_from(["free", "constant", "copy", "complement", "inside", "noisy"]))
        if kind == "free":
            columns.append(draw(column))
        elif kind == "constant":
            columns.append(np.full(n, draw(st.booleans())))
        elif kind == "copy":
            columns.append(earlier.copy())
        elif kind == "complement":
            columns.append(~earlier)
        elif kind == "inside":
            columns.append(earlier & draw(column))
        else:
            columns.append(earlier ^ (draw(column) & draw(column) & draw(column)))
    return np.column_stack(columns)


def named(table, names="abcdefghijklmnopqrstuvwxyz"):
    """A table as the oracle takes it: {name: column}."""
    return {name: tuple(column) for name, column in zip(names, table.T.tolist(), strict=False)}
