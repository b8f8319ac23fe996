"""uFC against the oracle and its invariants, on small awkward tables."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from conjunct.columns import MaskedColumns, PackedColumns
from conjunct.columns.kernel import unpack
from conjunct.expressions import canonical_text
from conjunct.features.lineage import Lineage
from conjunct.ufc import Bits, Evidence, Risk, Threshold
from conjunct.ufc.batch import Replacement, Stage, choose_pairs, write_replaced
from conjunct.ufc.criteria import correlated_pairs
from runs import planned, ran, with_null
from tables import named, tables

NAMES = "abcdefgh"

criteria = st.builds(
    Threshold, st.sampled_from([0.0, 0.1, 0.3, 0.6]), prune=st.booleans()
) | st.builds(Risk, st.sampled_from([0.001, 0.1, 0.4]), prune=st.booleans())
plans = st.builds(
    planned,
    criteria,
    st.sampled_from(["batch", "pairwise"]),
    st.sampled_from([None, 2, 3, 5]),
)


def run(table, plan, **options):
    return ran(PackedColumns.from_table(table), NAMES[: table.shape[1]], plan, **options)


def naive_run(table, plan, max_iter):
    return naive.ufc(
        named(table, NAMES),
        max_iter,
        plan.criterion.constant_threshold(len(table)),
        strict=isinstance(plan.criterion, Threshold),
        prune=plan.criterion.prune,
        max_length=plan.max_length,
        search=plan.search,
    )


@given(tables(), plans, st.integers(0, 4))
def test_features_are_the_oracles(table, plan, max_iter):
    expected = naive_run(table, plan, max_iter)
    actual = run(table, plan, max_iter=max_iter)
    assert actual.n_iter == len(expected) - 1
    texts = [canonical_text(e) for e in actual.feature_set.expressions]
    assert texts == [naive.canonical(tree) for tree, _ in expected[-1]]
    assert list(actual.feature_set.supports) == [sum(column) for _, column in expected[-1]]


@given(tables(max_rows=30), plans)
def test_indicators_are_the_oracles(table, plan):
    expected = naive_run(table, plan, 3)
    actual = run(table, plan, max_iter=3)
    for line, features in zip(actual.history, expected, strict=True):
        assert line.n_features == len(features)
        assert line.length == pytest.approx(naive.mean_length(features))
        assert line.oi == pytest.approx(naive.overlapping_index(features), abs=1e-12)
        if naive.distinct_rows(expected[0]) > len(expected[0]):
            assert line.c0 == pytest.approx(naive.complexity(features, expected[0]))
            assert line.rms == pytest.approx(naive.rms(features, expected[0]))
        else:
            assert math.isnan(line.c0)
            assert math.isnan(line.rms)


@given(tables(max_rows=60, max_columns=5), plans)
def test_rms_stop_is_the_oracles(table, plan):
    expected = naive_run(table, plan, 6)
    if naive.distinct_rows(expected[0]) <= len(expected[0]):
        return
    kept = naive.until_rms_rises(expected)
    if kept < 6:  # the oracle looked far enough
        assert run(table, plan, stop="rms").n_iter == kept


@given(tables(), criteria)
def test_a_pair_gives_way_to_three_disjoint_parts_of_its_union(table, criterion):
    lineage = Lineage(NAMES[: table.shape[1]])
    stage = Stage.first(PackedColumns.from_table(table))
    for _ in range(3):
        found = correlated_pairs(stage.counts, criterion.pair_filter)
        pairs = choose_pairs(found, stage.features, lineage)
        replacement = Replacement(stage, pairs, lineage)
        after = replacement.of_first(len(pairs))
        made, saved = replacement.made, [0.0] * len(pairs)
        merges = write_replaced(stage.features, pairs, made, saved, after.iteration)
        columns = dict(
            zip(stage.features, unpack(stage.tally.store.bits, len(table)).T, strict=True)
        )
        made = dict(zip(after.features, unpack(after.tally.store.bits, len(table)).T, strict=True))
        for merge in merges:
            parts = [made[number] for number in merge.made]
            left, right = columns[merge.left], columns[merge.right]
            assert np.array_equal(np.sum(parts, axis=0) > 0, left | right)
            assert np.sum(parts, axis=0).max() == 1
            assert all(part.any() for part in parts)
        fallen = stage.supports.sum() - after.supports.sum()
        assert fallen == sum(merge.joint for merge in merges)
        stage = after


@given(tables(), criteria)
def test_counts_carried_along_are_those_counted_anew(table, criterion):
    lineage = Lineage(NAMES[: table.shape[1]])
    stage = Stage.first(PackedColumns.from_table(table))
    for _ in range(4):
        pairs = correlated_pairs(stage.counts, criterion.pair_filter)
        pairs = choose_pairs(pairs, stage.features, lineage)
        stage = Replacement(stage, pairs, lineage).of_first(len(pairs))
        assert np.array_equal(stage.tally.counts.joint, stage.tally.store.joint_counts())


@given(tables(), plans, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_changes_nothing(table, plan, random):
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    names = [NAMES[k] for k in columns]
    shuffled = PackedColumns.from_table(table[np.ix_(rows, columns)])
    actual = ran(shuffled, names, plan, max_iter=3).feature_set
    expected = run(table, plan, max_iter=3).feature_set
    supports = dict(zip(expected.expressions, expected.supports, strict=True))
    assert dict(zip(actual.expressions, actual.supports, strict=True)) == supports


@given(tables(), plans, st.integers(1, 4))
def test_recover_undoes_evaluate(table, plan, max_iter):
    feature_set = run(table, plan, max_iter=max_iter).feature_set
    features = feature_set.evaluate(PackedColumns.from_table(table))
    assert features.supports().tolist() == list(feature_set.supports)
    recovered = unpack(feature_set.recover(features).bits, len(table))
    assert np.array_equal(recovered, table)


PARTLY_TOGETHER = np.array([[1, 1]] * 3 + [[1, 0], [0, 1]] + [[0, 0]] * 3, bool)


@given(tables(), plans, st.integers(0, 5))
@example(PARTLY_TOGETHER, planned(Threshold(0.1)), 0)
def test_max_features_keeps_the_beginning_of_a_run_and_says_how_much(table, plan, more):
    most = table.shape[1] + more
    whole, part = run(table, plan, max_iter=4), run(table, plan, max_iter=4, max_features=most)
    sizes = [line.n_features for line in whole.history]
    assert part.n_iter == max(k for k, size in enumerate(sizes) if size <= most)
    assert len(part.feature_set.expressions) == sizes[part.n_iter]
    if part.n_iter < whole.n_iter:
        step = "iteration" if plan.search == "batch" else "merge"
        assert part.stop_reason.startswith(f"Of {whole.n_iter} {step}")
    else:
        assert part.stop_reason == whole.stop_reason


@given(tables(max_rows=60, max_columns=5), plans)
def test_a_feature_set_holds_only_what_its_merges_made(table, plan):
    # the RMS stop looks one iteration further before it decides; nothing of that is kept
    feature_set = run(table, plan, stop="rms").feature_set
    made = [number for merge in feature_set.merges for number in merge.made]
    assert made == list(range(len(feature_set.lineage.primitives), len(feature_set.lineage)))


def test_ties_follow_joint_count_then_text():
    # a∧b and c∧d have r = 1; c∧d has the larger joint count and comes first
    table = np.array([[1, 1, 1, 1]] + [[0, 0, 1, 1]] * 2 + [[0, 0, 0, 0]] * 3, bool)
    merges = run(table, planned(Threshold(0.5)), max_iter=1).feature_set.merges
    assert [(merge.left, merge.right) for merge in merges] == [(2, 3), (0, 1)]
    # four equal columns: all pairs tie, texts decide
    table = np.repeat([[True], [False]], 4, axis=1)
    lineage = ran(PackedColumns.from_table(table), "dcba", planned(Threshold(0.5)), max_iter=1)
    texts = {canonical_text(e) for e in lineage.feature_set.expressions}
    assert texts == {"a & b", "c & d"}


def test_null_feature_counts_rows_without_any():
    table = np.array([[1, 1], [0, 0], [0, 0], [1, 0]], bool)
    plan = planned(Threshold(0.0))
    assert run(table, plan, max_iter=0).history[0].oi == -0.25
    assert run(table, plan, max_iter=0, stop=with_null("never")).history[0].oi == 0.125


@pytest.mark.parametrize(
    ("stop", "order"), [("never", ["columns", "rows"]), ("rms", ["rows", "columns"])]
)
def test_distinct_rows_are_waited_for_when_c0_is_asked_for(stop, order, monkeypatch):
    """On a cluster they are told apart meanwhile, and the next counts need not wait."""
    table = np.random.default_rng(0).random((300, 6)) < 0.4
    table[:, 1] |= table[:, 0]
    asked = []
    make_next = PackedColumns.with_conjunctions
    tell = PackedColumns.count_distinct_rows

    def made(*arguments):
        asked.append("columns")
        return make_next(*arguments)

    def told(store):
        asked.append("rows")
        return tell(store)

    monkeypatch.setattr(PackedColumns, "with_conjunctions", made)
    monkeypatch.setattr(PackedColumns, "count_distinct_rows", told)
    ran(PackedColumns.from_table(table), "abcdef", planned(Threshold(0.1)), stop=stop, max_iter=1)
    assert asked == order


@st.composite
def gappy(draw):
    """A table of any cells, and which of them are known."""
    table = draw(tables(max_rows=30, max_columns=6))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return table, rng.random(table.shape) < draw(st.sampled_from([0.6, 0.9, 1]))


def masked(table, known):
    return MaskedColumns(PackedColumns.from_table(table & known), PackedColumns.from_table(known))


any_rule = criteria | st.sampled_from([Bits(None), Bits(0.3), Evidence(0.2)])


@given(gappy(), any_rule, st.sampled_from(["batch", "pairwise"]), st.booleans())
def test_indicators_with_missing_cells_are_those_of_the_features(cells, criterion, search, null):
    table, known = cells
    store, names = masked(table, known), NAMES[: table.shape[1]]
    plan = planned(criterion, search)
    stop = with_null("never") if null else "never"
    whole = ran(store, names, plan, stop=stop, max_iter=3)
    n_null = (known & ~table).all(axis=1).sum()
    n_distinct = len({tuple(row) for row in np.where(known, table, 2).tolist()})
    for line in whole.history:
        made = ran(store, names, plan, max_iter=line.iteration).feature_set
        columns, m = made.evaluate(store), len(made.features) + null
        true, n = columns.supports(), columns.count_known()
        assert (made.supports, made.known or tuple(n)) == (tuple(true), tuple(n))
        shares = true / np.maximum(n, 1)
        expected = (shares.sum() + null * n_null / len(table) - 1) / (m - 1) if m > 1 else 0
        assert line.oi == pytest.approx(expected, abs=1e-12)
        assert line.n_features == len(made.features)
        assert line.length == pytest.approx(np.mean(made.lineage.lengths(made.features)))
        c0 = math.nan
        if n_distinct > len(names):
            c0 = (len(made.features) - len(names)) / (n_distinct - len(names))
        assert line.c0 == pytest.approx(c0, nan_ok=True)
        assert line.rms == pytest.approx(math.sqrt((line.oi**2 + c0**2) / 2), nan_ok=True)
        if isinstance(criterion, Bits) and search == "pairwise":
            assert line.bits == pytest.approx(made.krimp_length())


@given(gappy(), criteria, st.sampled_from(["batch", "pairwise"]))
def test_rows_of_which_nothing_is_known_change_no_digit(cells, criterion, search):
    table, known = cells
    plan, names = planned(criterion, search), NAMES[: table.shape[1]]
    for some in (known, np.ones_like(known)):
        more = np.concatenate([table, table]), np.concatenate([some, np.zeros_like(some)])
        one = ran(masked(table, some), names, plan, max_iter=3)
        other = ran(masked(*more), names, plan, max_iter=3)
        assert one.feature_set.supports == other.feature_set.supports
        for line, again in zip(one.history, other.history, strict=True):
            assert (line.n_features, line.length) == (again.n_features, again.length)
            if some.all():
                assert line.oi == again.oi
            assert line.oi == pytest.approx(again.oi, abs=1e-12)
