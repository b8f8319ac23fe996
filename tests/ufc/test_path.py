"""The exact path against running each λ on its own."""

import gc
import math
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conjunct.ufc.path
import naive
import naive_path
from conjunct import datasets
from conjunct.columns import MaskedColumns, PackedColumns
from conjunct.columns.counts import CountMatrix
from conjunct.errors import InputError
from conjunct.expressions import And, Not, Primitive, canonical_text
from conjunct.features.lineage import Lineage
from conjunct.ufc import Threshold
from conjunct.ufc.batch import Stage
from conjunct.ufc.criteria import PairFilter, correlated_pairs
from conjunct.ufc.path import (
    Budget,
    JoinedRows,
    Range,
    RowStage,
    Solution,
    batches,
    first_stage,
    follow_path,
    readable_threshold,
)
from runs import planned, ran, with_null
from tables import named, tables

NAMES = "abcdefghijklmnopqrstuvwxyz"


def walked(table, names, covered, first=first_stage):
    """[(low, high, settled_from, iterations, features)] for every state."""
    lineage = Lineage(names)
    found = []
    for batch in batches(first(PackedColumns.from_table(table)), lineage, covered):
        for state in batch.states:
            features = lineage.expressions(state.stage.features)
            interval = (state.low, state.high, state.settled_from)
            found.append((*interval, state.stage.iteration, features))
    return found


def result_of(found, threshold, limit_iter):
    """The features of uFC(threshold, limit_iter) according to the path: exactly one state."""
    (features,) = [
        features
        for low, high, settled_from, iterations, features in found
        if Solution(low, high, settled_from, iterations, 0, 0, 0, 0, 0).is_result_of(
            threshold, limit_iter
        )
    ]
    return features


def naive_value(expression, primitives):
    """The column of a formula."""
    if isinstance(expression, Primitive):
        return primitives[expression.name]
    if isinstance(expression, Not):
        return ~naive_value(expression.operand, primitives)
    return np.logical_and.reduce([naive_value(x, primitives) for x in expression.operands])


thresholds = st.floats(0, 0.95)


@given(
    tables(max_rows=25, max_columns=6),
    st.tuples(thresholds, thresholds).map(sorted),
    st.floats(0, 1),
    st.integers(1, 4),
    st.booleans(),
)
def test_agrees_with_the_oracle_at_any_threshold(table, ends, share, max_iter, prune):
    lowest, highest = ends
    found = walked(table, NAMES[: table.shape[1]], Range(lowest, highest, max_iter, prune))
    # ends of intervals are where an inexact comparison would show
    chosen = {lowest, highest, min(highest, lowest + share * (highest - lowest))}
    chosen |= {low for low, *_ in found if low <= highest}
    for threshold in chosen:
        sets = naive.ufc(named(table), max_iter, threshold, prune=prune)
        for limit_iter in range(1, max_iter + 1):
            expected = naive.texts(sets[min(limit_iter, len(sets) - 1)])
            assert set(map(canonical_text, result_of(found, threshold, limit_iter))) == expected


@given(tables(max_rows=25, max_columns=6), thresholds, st.booleans())
def test_the_grid_oracle_agrees_with_the_slow_one(table, threshold, prune):
    formulas = naive_path.Formulas()
    names = NAMES[: table.shape[1]]
    sets = naive_path.run(formulas, table, names, threshold, 4, prune)
    expected = naive.ufc(named(table), 4, threshold, prune=prune)
    assert [set(map(formulas.text, features)) for features in sets] == [
        naive.texts(features) for features in expected
    ]


def in_oracle(formulas, expression, known):
    """The oracle's number of a formula of conjunct."""
    pending = [expression]
    while pending:
        node = pending[-1]
        parts = node.operands if isinstance(node, And) else node.children
        missing = [part for part in parts if part.digest not in known]
        if missing:
            pending += missing
            continue
        pending.pop()
        if isinstance(node, Primitive):
            known[node.digest] = formulas.primitive(node.name)
        elif isinstance(node, Not):
            known[node.digest] = formulas.negation(known[node.operand.digest])
        else:
            known[node.digest] = formulas.conjunction(*(known[part.digest] for part in parts))
    return known[expression.digest]


def check_against_grid(name, grid, prune):
    data = datasets.load(name)
    formulas, known = naive_path.Formulas(), {}
    found = [
        (*numbers, frozenset(in_oracle(formulas, feature, known) for feature in features))
        for *numbers, features in walked(
            data.values, data.feature_names, Range(0.002, 0.5, 20, prune)
        )
    ]
    for threshold in grid:
        sets = naive_path.run(formulas, data.values, data.feature_names, threshold, 20, prune)
        for limit_iter in range(1, 21):
            expected = frozenset(sets[min(limit_iter, len(sets) - 1)])
            assert result_of(found, threshold, limit_iter) == expected, (threshold, limit_iter)


@pytest.mark.parametrize("prune", [False, True])
def test_agrees_with_the_oracle_at_random_thresholds_on_spect(prune):
    grid = np.random.default_rng(0).uniform(0.002, 0.5, 6)
    check_against_grid("spect", grid.tolist(), prune)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["spect", "coco_street"])
@pytest.mark.parametrize("prune", [False, True])
def test_agrees_with_the_oracle_on_the_whole_grid(name, prune):
    check_against_grid(name, [round(0.002 * k, 3) for k in range(1, 251)], prune)


def test_published_closest_point():
    spect = datasets.load_spect()
    path = follow_path(
        PackedColumns.from_table(spect.values), spect.feature_names, Range(0.002, 0.5, 20)
    )
    best = path.solutions[path.closest]
    assert (best.threshold, best.iterations, best.n_features) == (0.432, 3, 36)
    assert f"{best.length:.2f} {best.oi:.3f} {best.c0:.3f}" == "2.83 0.086 0.071"
    assert path.complete
    assert path.covered_from == 0.002


@given(tables(min_rows=12, max_columns=5), st.integers(1, 6), st.booleans())
def test_a_budget_keeps_what_the_highest_thresholds_give(table, most, prune):
    store, names = PackedColumns.from_table(table), NAMES[: table.shape[1]]
    if store.count_distinct_rows() <= len(names):
        return
    covered = Range(0.0, 0.5, 4, prune)
    whole = follow_path(store, names, covered)
    part = follow_path(store, names, covered, budget=Budget(solutions=most))
    assert len(part.solutions) == min(most, len(whole.solutions))
    assert part.complete == (len(whole.solutions) <= most)
    assert set(part.solutions) <= set(whole.solutions)
    above = [s for s in whole.solutions if s.min_threshold >= part.covered_from]
    assert set(above) <= set(part.solutions)
    if not part.complete:
        assert part.covered_from > covered.lowest


def test_no_seconds_leave_one_solution():
    spect = datasets.load_spect()
    store = PackedColumns.from_table(spect.values)
    part = follow_path(
        store, spect.feature_names, Range(0.002, 0.5, 20), budget=Budget(seconds=0.0)
    )
    assert len(part.solutions) == 1
    assert not part.complete


def test_a_budget_of_seconds_ends_an_endless_run():
    coco = datasets.load_coco_val2017()
    store = PackedColumns.from_table(coco.values)
    part = follow_path(store, coco.feature_names, Range(0.002, 0.5, 20), budget=Budget(seconds=0.5))
    assert not part.complete
    assert part.covered_from > 0.002


@given(tables(min_rows=12, max_columns=6), st.booleans(), st.booleans(), st.sampled_from([0.8, 1]))
def test_indicators_are_those_of_a_run_of_its_own(table, prune, null, part):
    store, names = PackedColumns.from_table(table), NAMES[: table.shape[1]]
    if part < 1:
        known = np.random.default_rng(0).random(table.shape) < part
        store = MaskedColumns(
            PackedColumns.from_table(table & known), PackedColumns.from_table(known)
        )
    if store.count_distinct_rows() <= len(names):
        return
    covered, stop = Range(0.0, 0.5, 3, prune), with_null("never") if null else "never"
    for solution in follow_path(store, names, covered, null_feature=null).solutions:
        plan = planned(Threshold(solution.threshold, prune=prune))
        run = ran(store, names, plan, max_iter=solution.iterations, stop=stop)
        shown = run.history[-1]
        assert run.n_iter == solution.iterations
        assert shown.oi == pytest.approx(solution.oi, abs=1e-12)
        if part < 1:
            continue
        assert (shown.n_features, shown.length, shown.oi, shown.c0, shown.rms) == (
            solution.n_features,
            solution.length,
            solution.oi,
            solution.c0,
            solution.rms,
        )


@given(tables(min_rows=12, max_columns=5), thresholds, st.booleans())
def test_the_result_of_a_threshold_is_that_of_a_run_of_its_own(table, threshold, prune):
    store, names = PackedColumns.from_table(table), NAMES[: table.shape[1]]
    if store.count_distinct_rows() <= len(names):
        return
    path = follow_path(store, names, Range(threshold, threshold, 3, prune))
    for limit_iter in range(1, 4):
        run = ran(store, names, planned(Threshold(threshold, prune=prune)), max_iter=limit_iter)
        found = path.result_of(threshold, limit_iter)
        assert found is not None
        assert (found.iterations, found.n_features) == (run.n_iter, run.history[-1].n_features)
        assert (found.oi, found.c0) == (run.history[-1].oi, run.history[-1].c0)


@given(tables(max_rows=25, max_columns=6), st.booleans(), st.sampled_from([0, 40, 1 << 16]))
def test_rows_and_matrices_give_the_same_states(table, prune, at_once):
    names, covered = NAMES[: table.shape[1]], Range(0.0, 0.6, 4, prune)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjunct.ufc.path, "_MAX_AT_ONCE", at_once)
        by_rows = walked(table, names, covered, RowStage.first)
    by_matrix = walked(table, names, covered, Stage.first)
    # features of tied pairs may come in another order
    assert {(*numbers, frozenset(features)) for *numbers, features in by_rows} == {
        (*numbers, frozenset(features)) for *numbers, features in by_matrix
    }
    assert len(by_rows) == len(by_matrix)


@given(tables(max_rows=25, max_columns=6), st.booleans())
def test_rows_count_what_a_table_counts(table, prune):
    lineage = Lineage(NAMES[: table.shape[1]])
    primitives = dict(zip(lineage.primitives, table.T, strict=True))
    first = RowStage.first(PackedColumns.from_table(table))
    for batch in batches(first, lineage, Range(0.0, 0.5, 3, prune)):
        for state in batch.states:
            stage = state.stage
            expressions = lineage.expressions(stage.features)
            columns = [naive_value(expression, primitives) for expression in expressions]
            joint = np.array([[np.sum(x & y) for y in columns] for x in columns])
            assert stage.supports.tolist() == np.diagonal(joint).tolist()
            criterion = PairFilter(state.low, prune=prune)
            expected = correlated_pairs(CountMatrix(len(table), joint), criterion)
            found = JoinedRows([stage, stage]).candidates([state.low, math.inf], prune)
            for column in ("left", "right", "joint", "r"):
                assert getattr(found, column).tolist() == getattr(expected, column).tolist()


def test_too_many_meetings_are_counted_in_a_matrix(monkeypatch):
    store = PackedColumns.from_table(np.ones((3, 3), bool))
    assert isinstance(first_stage(store), RowStage)
    for limit in ("_MAX_MEETINGS", "_MAX_CELLS"):
        with monkeypatch.context() as patch:
            patch.setattr(conjunct.ufc.path, limit, 8)
            assert isinstance(first_stage(store), Stage)


def test_garbage_is_collected_again_afterwards():
    spect = datasets.load_spect()
    store = PackedColumns.from_table(spect.values)
    seen = []
    covered, budget = Range(0.3, 0.5, 2), Budget(solutions=2)
    watch = lambda solution: seen.append(gc.isenabled())  # noqa: E731
    follow_path(store, spect.feature_names, covered, budget=budget, watch=watch)
    assert seen == [False, False]
    assert gc.isenabled()


def test_states_of_a_path_are_not_all_kept(monkeypatch):
    monkeypatch.setattr(conjunct.ufc.path, "_MAX_REMEMBERED", 100)
    monkeypatch.setattr(conjunct.ufc.path, "_MAX_AT_ONCE", 0)
    spect = datasets.load_spect()
    lineage = Lineage(spect.feature_names)
    most, alive = 0, []
    first = first_stage(PackedColumns.from_table(spect.values))
    for batch in batches(first, lineage, Range(0.002, 0.5, 20)):
        alive += [weakref.ref(state.stage) for state in batch.states]
        del batch
        alive = [stage for stage in alive if stage() is not None]
        most = max(most, len(alive))
    assert most <= 21
    # those of the last states; some thirty thousand were made
    assert len(lineage) <= 2000


def test_states_are_followed_many_at_once_within_bounds():
    spect = datasets.load_spect()
    first = first_stage(PackedColumns.from_table(spect.values))
    found = batches(first, Lineage(spect.feature_names), Range(0.002, 0.5, 20))
    sizes = [[len(state.stage.one) for state in batch.states] for batch in found]
    assert len(sizes) < sum(map(len, sizes)) / 20
    # a state has fewer meetings than the one that it follows from
    assert max(map(sum, sizes)) <= conjunct.ufc.path._MAX_AT_ONCE


@given(tables(min_rows=12, max_columns=6), st.booleans(), st.sampled_from([0, 40, 1 << 16]))
def test_solutions_come_from_the_highest_threshold_down(table, prune, at_once):
    store, names = PackedColumns.from_table(table), NAMES[: table.shape[1]]
    if store.count_distinct_rows() <= len(names):
        return
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conjunct.ufc.path, "_MAX_AT_ONCE", at_once)
        path = follow_path(store, names, Range(0.0, 0.5, 4, prune), watch=seen.append)
    assert seen == sorted(seen, key=lambda s: (-s.max_threshold, s.iterations))
    assert sorted(seen, key=lambda s: (s.min_threshold, s.iterations)) == list(path.solutions)


def test_without_complexity_there_is_no_path():
    table = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool)
    with pytest.raises(InputError, match="2 distinct rows and 3 columns"):
        follow_path(PackedColumns.from_table(table), "abc", Range(0.0, 0.5, 3))


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_readable_threshold_lies_in_its_interval(one, other):
    low, high = sorted((one, other))
    if low < high:
        assert low <= readable_threshold(low, high) < high


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.4302761875326519, 0.44015940567336725, 0.432),
        (0.43, 0.44, 0.43),
        (0.4301, 0.4319, 0.431),
        (0.43001, 0.43019, 0.4301),
        (0.4305, 0.431, 0.4305),
        (0.0, 0.001, 0.0),
        (0.3, math.nextafter(0.3, 1), 0.3),
    ],
)
def test_a_readable_threshold_is_on_the_papers_grid_if_it_can_be(low, high, expected):
    assert readable_threshold(low, high) == expected
