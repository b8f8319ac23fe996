"""A run on lists of rows is the run on packed bits: same features, same evidence, same history."""

from hypothesis import given
from hypothesis import strategies as st

from conjunct.columns import PackedColumns, SparseColumns
from conjunct.ufc import Bits, Risk, Threshold
from conjunct.ufc.association import CORRECTIONS, MEASURES, TESTS
from runs import planned, ran
from tables import tables

measures = st.sampled_from(sorted(MEASURES))
criteria = (
    st.builds(Threshold, st.sampled_from([0.0, 0.1, 0.4]), measures, st.booleans())
    | st.builds(
        Risk,
        st.sampled_from([0.001, 0.2]),
        st.sampled_from([*TESTS]),
        st.sampled_from([None, *CORRECTIONS]),
        st.booleans(),
        measures,
    )
    | st.builds(
        Bits, st.sampled_from([None, 0.2]), st.sampled_from([*TESTS]), st.sampled_from(["bh", None])
    )
)


@given(
    table=tables(max_rows=80),
    plan=st.builds(
        planned, criteria, st.sampled_from(["batch", "pairwise"]), st.sampled_from([None, 3])
    ),
    stop=st.sampled_from(["never", "rms", "gain", {"rule": "rms", "null_feature": True}]),
)
def test_same_run(table, plan, stop):
    names = [f"c{k}" for k in range(table.shape[1])]
    bits, rows = (
        ran(kind.from_table(table), names, plan, max_iter=4, stop=stop)
        for kind in (PackedColumns, SparseColumns)
    )
    # by text, for NaN is not equal to itself
    told = [[(step.indicators, step.merges) for step in run.tried] for run in (bits, rows)]
    assert repr(told[0]) == repr(told[1])
    assert bits.n_distinct_rows == rows.n_distinct_rows
    assert bits.feature_set.features == rows.feature_set.features
    assert bits.feature_set.supports == rows.feature_set.supports
    assert bits.feature_set.lineage.conjunctions == rows.feature_set.lineage.conjunctions
    assert repr(bits.feature_set.merges) == repr(rows.feature_set.merges)
