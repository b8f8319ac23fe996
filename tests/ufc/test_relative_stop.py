"""The stop that wide data does not upset."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjunct.columns import PackedColumns
from conjunct.ufc import READABLE_LENGTH, Risk, Threshold
from runs import planned, ran
from tables import tables

plans = st.builds(
    planned,
    st.builds(Threshold, st.sampled_from([0.0, 0.3]), prune=st.booleans()),
    st.sampled_from(["batch", "pairwise"]),
    st.sampled_from([None, 3]),
)


@given(tables(max_rows=60), plans, st.integers(1, 30))
def test_columns_that_go_with_no_other_change_nothing(table, plan, n_more):
    more = np.zeros((len(table), n_more), bool)
    more[:, ::2] = True
    names = [f"c{k}" for k in range(table.shape[1] + n_more)]
    narrow, wide = (
        ran(PackedColumns.from_table(some), names[: some.shape[1]], plan, stop="relative")
        for some in (table, np.column_stack([table, more]))
    )
    balances = [[step.balance() for step in run.tried] for run in (narrow, wide)]
    if narrow.tried[-1].indicators.length <= READABLE_LENGTH:
        assert balances[0] == balances[1]
        assert narrow.n_iter == wide.n_iter


def test_wide_data_where_the_paper_s_rule_stops_at_once():
    rng = np.random.default_rng(0)
    rare = rng.random((2000, 400)) < 0.002
    base = rng.random((2000, 20)) < 0.05
    copied = (base & (rng.random((2000, 20)) < 0.8)) | (rng.random((2000, 20)) < 0.02)
    store = PackedColumns.from_table(np.column_stack([rare, base, copied]))
    names = [f"c{k}" for k in range(440)]
    plan = planned(Risk(0.001))
    assert ran(store, names, plan, stop="rms").n_iter == 0
    assert ran(store, names, plan, stop="relative").n_iter >= 1
