"""Suggestions against regressions that are solved row by row."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_suggestions as naive
from conjunct import UFC
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
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


@given(tables_with_variables(max_rows=14, max_columns=6, min_rows=2))
def test_what_speaks_for_a_tag_are_the_largest_weights_of_its_regression(case):
    table, variables = case
    suggester, rows = learned(table, variables), table.astype(int).tolist()
    weights = [naive.regression(rows, j, variables, suggester.ridge) for j in range(table.shape[1])]
    found = suggester.suggest(BooleanData.from_data(table).columns, 6)
    for row, some in zip(rows, found, strict=True):
        for one in some:
            own = weights[NAMES.index(one.tag)]
            speak = sorted((x for k, x in own.items() if row[k] and x > 1e-6), reverse=True)[:3]
            given_ = [own[NAMES.index(tag)] for tag in one.because]
            assert given_[: len(speak)] == pytest.approx(speak, abs=1e-7)
            assert all(0 < x < 1e-5 for x in given_[len(speak) :])


@given(tables_with_variables(max_rows=10, max_columns=5, min_rows=3), st.integers(0, 4))
def test_doubts_are_the_least_probable_by_rows_left_out(case, k):
    table, variables = case
    suggester, rows = learned(table, variables), table.astype(int).tolist()
    m, shares = table.shape[1], table.mean(axis=0)
    halvings = [int(-math.log2(share)) for share in shares]
    curves = [suggester.curves[1 + sorted(set(halvings)).index(number)] for number in halvings]
    knots = [n / 40 for n in range(-10, -1)] + [n / 400 for n in range(-10, 20)]
    knots += [n / 40 for n in range(2, 51)]
    cells = naive.left_out(rows, variables, suggester.ridge)
    found = suggester.doubt(BooleanData.from_data(table).columns, k)
    for i, (row, some) in enumerate(zip(rows, found, strict=True)):
        scores = [np.interp(cells[i * m + j][0], knots, curves[j]) for j in range(m)]
        doubtful = sorted(scores[j] for j in range(m) if row[j] and scores[j] < shares[j] - 1e-6)
        nearly = sum(row[j] and abs(scores[j] - shares[j]) <= 1e-6 for j in range(m))
        assert len(some) - len(doubtful[:k]) in range(nearly + 1)
        assert [one.score for one in some][: len(doubtful)] == pytest.approx(doubtful[:k], abs=2e-6)
        for one in some:
            assert one.score == pytest.approx(scores[NAMES.index(one.tag)], abs=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_what_speaks_against_a_tag_is_where_it_is_rarer_the_surest_first(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((80, 8)) < rng.uniform(0.1, 0.7, 8)
    n_reasons = 0
    doubts = learned(table).doubt(BooleanData.from_data(table).columns, 8)
    for row, some in zip(table, doubts, strict=True):
        for one in some:
            own = table[:, NAMES.index(one.tag)]
            # by how many standard deviations it is rarer, but for a factor of the tag
            surprise = {
                NAMES[k]: math.sqrt(n) * (own.mean() - own[table[:, k]].mean())
                for k, n in enumerate(table.sum(axis=0))
                if row[k] and NAMES[k] != one.tag
            }
            against = sorted(surprise, key=lambda tag: (-round(surprise[tag], 9), tag))[:3]
            assert one.because == tuple(tag for tag in against if surprise[tag] > 1e-9)
            n_reasons += len(one.because)
    assert n_reasons > 50


def gappy(table, known):
    return MaskedColumns(PackedColumns.from_table(table & known), PackedColumns.from_table(known))


@given(tables_with_variables(max_rows=14, max_columns=5, min_rows=3), st.integers(0, 99))
def test_missing_cells_count_as_the_share_of_all_rows(case, seed):
    table, variables = case
    known = np.random.default_rng(seed).random(table.shape) < 0.8
    assume((table & known).any(axis=0).all())
    columns, m = gappy(table, known), table.shape[1]
    suggester = learn(columns, NAMES[:m], variables)
    here, n_rows = (table & known).astype(int), len(table)
    together = known.T.astype(int) @ known
    gram = here.T @ here * (n_rows / np.maximum(together, 1))
    shares = here.sum(axis=0) / known.sum(axis=0)
    np.testing.assert_allclose(suggester.counts.shares, shares)
    # counts of different rows may be those of no table: the nearest that are those of one
    values, vectors = np.linalg.eigh(gram)
    gram = (vectors * np.maximum(values, 0)) @ vectors.T
    filled = np.where(known, here, shares)
    raw = np.vstack([raw for _, _, raw in suggester.scores(columns)])
    for j in range(m):
        used = naive.others(j, variables)
        square = gram[np.ix_(used, used)] + suggester.ridge * np.eye(len(used))
        weights = np.linalg.solve(square, gram[used, j]) if used else np.zeros(0)
        np.testing.assert_allclose(raw[:, j], filled[:, used] @ weights, atol=1e-6)


@given(tables_with_variables(max_rows=14, max_columns=5, min_rows=3), st.integers(0, 99))
def test_every_known_cell_is_counted_once_for_the_curves(case, seed):
    table, variables = case
    rng = np.random.default_rng(seed)
    known = rng.random(table.shape) < 0.8
    assume((table & known).any(axis=0).all())
    columns, names = gappy(table, known), NAMES[: table.shape[1]]
    counts = TagCounts.of(names, Tally.of(columns).counts, variables)
    sample = sample_rows(columns, 10_000, counts.places)
    cells, true = learn(columns, names, variables)._count_cells(sample)
    strata = counts.strata
    for found, there in ((cells, known), (true, table & known)):
        assert found.shape == (max(strata) + 1, 88)
        expected = np.bincount(strata, there.sum(axis=0))
        np.testing.assert_allclose(found.sum(axis=1), expected)


def test_a_score_is_enough_or_not():
    rng = np.random.default_rng(2)
    table = rng.random((60, 5)) < 0.4
    table[:, 1] |= table[:, 0]
    suggester, columns = learned(table), BooleanData.from_data(table).columns
    every = suggester.suggest(columns, 5)
    least = sorted(one.score for row in every for one in row)[40]
    some = suggester.suggest(columns, 5, least)
    assert some == [[one for one in row if one.score >= least] for row in every]
    assert suggester.suggest(columns, 0) == [[]] * 60


@pytest.mark.parametrize("cells", [1, 5 * 64])
def test_rows_are_taken_in_blocks(cells, monkeypatch):
    rng = np.random.default_rng(3)
    table = rng.random((300, 5)) < 0.4
    columns = BooleanData.from_data(table).columns
    whole = learned(table)
    expected = whole.suggest(columns, 2), whole.doubt(columns, 2)
    monkeypatch.setattr("conjunct.features.suggestions._CELLS_AT_ONCE", cells)
    parts = learned(table)
    assert parts.curves == whole.curves
    assert [start for start, *_ in parts.scores(columns)] == [0, 64, 128, 192, 256]
    assert (parts.suggest(columns, 2), parts.doubt(columns, 2)) == expected


@pytest.mark.filterwarnings("ignore::conjunct.ConjunctWarning")
@given(tables_with_variables(max_rows=14, max_columns=6, min_rows=3), st.integers(0, 2))
def test_a_record_gives_the_same_back(case, seed):
    table, _ = case
    rng = np.random.default_rng(seed)
    cells = np.c_[table, np.zeros(len(table)), np.arange(len(table)) == 1].astype(float)
    cells[rng.random(cells.shape) < 0.2 * seed] = np.nan
    model = UFC(missing="pairwise").fit(cells)
    learned = model.learn_suggestions()
    found = Suggester.from_record(learned.record(), model.feature_set_)
    assert (found.ridge, found.curves) == (learned.ridge, learned.curves)
    for name, value in vars(learned.counts).items():
        np.testing.assert_equal(getattr(found.counts, name), value, name)
    assert found.counts.n_tags == (np.nansum(cells, axis=0) > 0).sum()
