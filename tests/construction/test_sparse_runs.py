"""A run on lists of rows is the run on packed bits: same features, same evidence, same history."""

from hypothesis import given
from hypothesis import strategies as st

from conjunct.association import CORRECTIONS, MEASURES, TESTS, PairFilter
from conjunct.construction.run import run_ufc
from conjunct.construction.batch import Rule
from conjunct.stores import BitStore, SparseStore
from tables import tables

criteria = st.builds(
    PairFilter,
    threshold=st.sampled_from([0.0, 0.1, 0.4]),
    prune=st.booleans(),
    alpha=st.sampled_from([None, 0.001, 0.2]),
    measure=st.sampled_from(sorted(MEASURES)),
    test=st.sampled_from(TESTS),
    correction=st.sampled_from([None, *CORRECTIONS]),
)


@given(
    table=tables(max_rows=80),
    criterion=criteria,
    search=st.sampled_from(["batch", "pairwise"]),
    max_length=st.sampled_from([None, 3]),
    stop=st.sampled_from([None, "rms"]),
    null_feature=st.booleans(),
)
def test_same_run(table, criterion, search, max_length, stop, null_feature):
    rule = Rule(criterion, search, max_length)
    names = [f"c{k}" for k in range(table.shape[1])]
    bits, rows = (
        run_ufc(
            kind.from_table(table), names, rule, max_iter=4, stop=stop, null_feature=null_feature
        )
        for kind in (BitStore, SparseStore)
    )
    # by text, for NaN is not equal to itself
    assert repr(bits.tried) == repr(rows.tried)
    assert bits.n_distinct_rows == rows.n_distinct_rows
    assert bits.feature_set.features == rows.feature_set.features
    assert bits.feature_set.supports == rows.feature_set.supports
    assert bits.feature_set.lineage.conjunctions == rows.feature_set.lineage.conjunctions
    assert repr(bits.feature_set.merges) == repr(rows.feature_set.merges)
