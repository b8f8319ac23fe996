"""Suggestions against regressions that are solved row by row."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_suggestions as naive
from conjunct.columns import PackedColumns, SparseColumns
from conjunct.counting import TagCounts, Tally, sample_rows
from conjunct.data import BooleanData
from conjunct.features import Suggester
from conjunct.features.suggestions import choose_ridge
from tables import tables

NAMES = "abcdefghi"


@st.composite
def tables_with_variables(draw, **limits):
    """A table whose every column is true somewhere, and the variable of each column."""
    table = draw(tables(**limits))
    table = table[:, table.any(axis=0)]
    assume(table.shape[1] > 1)
    m = table.shape[1]
    variables = draw(st.lists(st.sampled_from([None, None, "u", "v"]), min_size=m, max_size=m))
    return table, variables


def learned(table, variables=()):
    columns = BooleanData.from_data(table).columns
    return learn(columns, NAMES[: table.shape[1]], variables)


def learn(columns, names, variables=()):
    counts = TagCounts.of(names, Tally.of(columns).counts, variables)
    places = [list(names).index(tag) for tag in counts.tags]
    return Suggester.learn(counts, sample_rows(columns, 10_000, places))


def predictions(suggester, table):
    columns = BooleanData.from_data(table).columns
    return np.vstack([raw for _, _, raw in suggester.scores(columns)])


@given(tables_with_variables(max_rows=12, max_columns=5, min_rows=2))
def test_predictions_are_those_of_each_regression(case):
    table, variables = case
    suggester = learned(table, variables)
    rows = table.astype(int).tolist()
    for j in range(table.shape[1]):
        weights = naive.regression(rows, j, variables, suggester.ridge)
        expected = [naive.predict(weights, row) for row in rows]
        np.testing.assert_allclose(predictions(suggester, table)[:, j], expected, atol=1e-7)


@given(tables_with_variables(max_rows=8, max_columns=4, min_rows=2))
def test_the_curve_is_that_of_rows_left_out(case):
    table, variables = case
    suggester = learned(table, variables)
    cells = naive.left_out(table.astype(int).tolist(), variables, suggester.ridge)
    knots = [k / 40 for k in range(-10, -1)] + [k / 400 for k in range(-10, 20)]
    knots += [k / 40 for k in range(2, 51)]
    halvings = [int(-math.log2(share)) for share in table.mean(axis=0)]
    expected = [naive.calibration(cells, knots)]
    for number in sorted(set(halvings)):
        some = [cell for k, cell in enumerate(cells) if halvings[k % len(halvings)] == number]
        expected.append(naive.calibration(some, knots))
    np.testing.assert_allclose(suggester.curves, expected, atol=2e-6)


@given(tables_with_variables(max_rows=10, max_columns=4, min_rows=3))
def test_the_ridge_has_the_least_generalised_error(case):
    table, variables = case
    counts = learned(table, variables).counts
    rows = table.astype(int).tolist()
    errors = {2.0**k: naive.generalised_error(rows, variables, 2.0**k) for k in range(-4, 15)}
    assert errors[choose_ridge(counts)] <= min(errors.values()) * (1 + 1e-6)


@given(tables_with_variables(), st.integers(1, 4))
def test_suggestions_are_absent_and_of_no_second_value(case, k):
    table, variables = case
    suggester = learned(table, variables)
    columns = BooleanData.from_data(table).columns
    raw = predictions(suggester, table)
    for row, scores, found in zip(table, raw, suggester.suggest(columns, k), strict=True):
        taken = {variables[j] for j in np.flatnonzero(row)} - {None}
        free = [j for j in np.flatnonzero(~row) if variables[j] not in taken]
        best = sorted(free, key=lambda j: (-round(scores[j], 9), NAMES[j]))[:k]
        assert [one.tag for one in found] == [NAMES[j] for j in best]
        there = {NAMES[j] for j in np.flatnonzero(row)}
        for one in found:
            assert 0 <= one.score <= 1
            assert set(one.because) <= there
            assert len(one.because) <= 3


@given(tables_with_variables(), st.integers(1, 4))
def test_doubtful_tags_are_present_and_rarer_with_what_speaks_against_them(case, k):
    table, variables = case
    suggester = learned(table, variables)
    shares = table.mean(axis=0)
    found = suggester.doubt(BooleanData.from_data(table).columns, k)
    for row, some in zip(table, found, strict=True):
        assert len(some) <= k
        for one in some:
            j = NAMES.index(one.tag)
            assert row[j]
            assert one.score < shares[j]
            for tag in one.because:
                with_it = table[:, NAMES.index(tag)]
                assert row[NAMES.index(tag)]
                assert table[with_it, j].mean() < shares[j]


@given(tables_with_variables(max_rows=20), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(case, random):
    table, variables = case
    m = table.shape[1]
    rows, order = list(range(len(table))), list(range(m))
    random.shuffle(rows)
    random.shuffle(order)
    one = learned(table, variables)
    turned = BooleanData.from_data(table[rows][:, order]).columns
    names = [NAMES[j] for j in order]
    other = learn(turned, names, [variables[j] for j in order])
    assert (one.ridge, one.curves) == (other.ridge, other.curves)
    columns = BooleanData.from_data(table[rows]).columns
    turned = turned.select([names.index(name) for name in sorted(names)])
    assert one.suggest(columns, 3) == other.suggest(turned, 3)
    assert one.doubt(columns, 3) == other.doubt(turned, 3)


@pytest.mark.parametrize("layout", [PackedColumns, SparseColumns])
def test_every_layout_gives_the_same(layout):
    random = np.random.default_rng(0)
    table = random.random((300, 6)) < 0.3
    columns = layout.of(BooleanData.from_data(table[:, [5, 2, 0, 1, 4, 3]]).columns)
    counts = TagCounts.of("fcabed", Tally.of(columns).counts)
    np.testing.assert_array_equal(counts.joint, table.T.astype(int) @ table)
    assert learn(columns, "fcabed").curves == learned(table).curves


def test_the_most_frequent_tags_are_kept_in_the_order_of_names():
    table = np.array([[1, 0, 1, 0, 1], [1, 0, 1, 0, 0], [0, 1, 1, 0, 1]], bool)
    columns = BooleanData.from_data(table).columns
    counts = TagCounts.of("cbade", Tally.of(columns).counts, max_tags=2)
    assert counts.tags == ("a", "c")  # c has two rows, as e has, but an earlier name
    assert counts.n_tags == 4
    np.testing.assert_array_equal(counts.joint, [[3, 2], [2, 2]])


def test_scores_of_unseen_rows_are_probabilities():
    random = np.random.default_rng(1)
    hidden = random.random((6000, 3)) < 0.3
    chance = 0.05 + 0.7 * hidden[:, np.arange(9) // 3]
    table = random.random(chance.shape) < chance
    suggester = learned(table[:4000])
    scores = suggester.predict(predictions(suggester, table[4000:])).ravel()
    is_true = table[4000:].ravel()
    n_bins = 0
    for low in np.arange(0, 1, 0.1):
        some = (scores >= low) & (scores < low + 0.1)
        if some.sum() > 300:
            assert abs(scores[some].mean() - is_true[some].mean()) < 0.05
            n_bins += 1
    assert n_bins >= 4
