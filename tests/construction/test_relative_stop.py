"""The stop that wide data does not upset."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjunct.association import PairFilter
from conjunct.construction.run import run_ufc
from conjunct.construction.indicators import READABLE_LENGTH
from conjunct.construction.batch import Rule
from conjunct.stores import BitStore
from tables import tables

rules = st.builds(
    Rule,
    st.builds(PairFilter, st.sampled_from([0.0, 0.3]), st.booleans()),
    st.sampled_from(["batch", "pairwise"]),
    st.sampled_from([None, 3]),
)


@given(tables(max_rows=60), rules, st.integers(1, 30))
def test_columns_that_go_with_no_other_change_nothing(table, rule, n_more):
    more = np.zeros((len(table), n_more), bool)
    more[:, ::2] = True
    names = [f"c{k}" for k in range(table.shape[1] + n_more)]
    narrow, wide = (
        run_ufc(BitStore.from_table(some), names[: some.shape[1]], rule, stop="relative")
        for some in (table, np.column_stack([table, more]))
    )
    assert narrow.balances == wide.balances
    assert narrow.n_iter == wide.n_iter or narrow.tried[-1].length > READABLE_LENGTH


def test_wide_data_where_the_paper_s_rule_stops_at_once():
    rng = np.random.default_rng(0)
    rare = rng.random((2000, 400)) < 0.002
    base = rng.random((2000, 20)) < 0.05
    copied = (base & (rng.random((2000, 20)) < 0.8)) | (rng.random((2000, 20)) < 0.02)
    store = BitStore.from_table(np.column_stack([rare, base, copied]))
    names = [f"c{k}" for k in range(440)]
    rule = Rule(PairFilter(alpha=0.001, prune=True))
    assert run_ufc(store, names, rule, stop="rms").n_iter == 0
    assert run_ufc(store, names, rule, stop="relative").n_iter >= 1
