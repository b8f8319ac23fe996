"""Many rare tags are read as lists of rows, and everything about the table is the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjunct.columns import PackedColumns, SparseColumns, sizing
from conjunct.data import DataSummary
from conjunct.data.tags import TagCleaner
from conjunct.files import cells as file_cells
from conjunct.files.cells import TagPacker

TAGS = ["Sky", "sky", "sea", "a b", "¬x", "<script>", "café", "cafe\u0301"]
batches = st.lists(
    st.lists(st.tuples(st.integers(0, 199), st.sampled_from(TAGS)), min_size=1, max_size=20),
    min_size=1,
    max_size=5,
)


def collected(given_, n_rows, small_bytes, few_bytes):
    before = sizing._SMALL_BYTES, file_cells._FEW_BYTES
    sizing._SMALL_BYTES, file_cells._FEW_BYTES = small_bytes, few_bytes
    try:
        packer = TagPacker()
        for batch in given_:
            packer.add(np.array([row for row, _ in batch]), [tag for _, tag in batch])
        return packer.table(n_rows)
    finally:
        sizing._SMALL_BYTES, file_cells._FEW_BYTES = before


def cells(table):
    return {name: table.columns.cells(k)[0].tolist() for k, name in enumerate(table.names)}


@given(batches)
def test_same_table(given_):
    packed, switched, listed = (
        collected(given_, 20_000, small, few)
        for small, few in ((1 << 24, 1 << 26), (0, 0), (0, 1e9))
    )
    assert isinstance(listed.columns, SparseColumns)
    assert isinstance(packed.columns, PackedColumns)
    expected = {
        tag: [(row, tag) in {pair for batch in given_ for pair in batch} for row in range(200)]
        for tag in sorted({tag for batch in given_ for _, tag in batch})
    }
    for table in (packed, switched, listed):
        assert {name: column[:200] for name, column in cells(table).items()} == expected
        assert list(table.names) == list(expected)
    assert np.array_equal(listed.convert("numpy"), packed.convert("numpy"))
    assert listed.supports().tolist() == packed.supports().tolist()
    assert listed.columns.count_distinct_rows() == packed.columns.count_distinct_rows()
    assert listed.n_missing == 0
    listed.refuse_missing()
    one, other = DataSummary.of(listed), DataSummary.of(packed)
    assert (one.density, one.constant, one.columns) == (
        other.density,
        other.constant,
        other.columns,
    )
    wanted = ("new", *packed.names[::-1])
    assert cells(listed.align(wanted)) == cells(packed.align(wanted))
    tidied = [table.clean(table.fit_cleaner(TagCleaner())) for table in (listed, packed)]
    assert cells(tidied[0]) == cells(tidied[1])
    assert isinstance(tidied[0].columns, SparseColumns)
    frames = [table.convert("polars").sum().rows() for table in (listed, packed)]
    assert frames[0] == frames[1]
