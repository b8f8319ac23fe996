"""Groups of rows: every sum and probability is that of the definition."""

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_mixture
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.counting import sample_rows
from conjunct.features import mixture as module
from conjunct.features.mixture import (
    Converged,
    Fields,
    Growth,
    Mixture,
    Rows,
    average_row,
    bits_of_groups,
    converge,
    maximise,
    maximise_one,
    normalise,
    sum_members,
)


@st.composite
def mixtures(draw):
    """Rows with variables and missing cells, groups, weights, and all of that for the oracle."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m, n, k = draw(st.integers(1, 6)), draw(st.integers(1, 30)), draw(st.integers(1, 4))
    variables = tuple(draw(st.sampled_from([None, "a", "b"])) for _ in range(m))
    table, known = rng.random((n, m)) < 0.4, rng.random((n, m)) < draw(st.sampled_from([0.8, 1.0]))
    weights = rng.integers(1, 4, n)
    fields = Fields.of(m, variables)
    columns = MaskedColumns(
        PackedColumns.from_table(table & known), PackedColumns.from_table(known)
    )
    rows = fields.read(columns, weights)
    members = rng.dirichlet(np.ones(k), n)
    prior = average_row(fields, sum_members(fields, rows, np.ones((n, 1))))
    mixture = maximise(fields, sum_members(fields, rows, members), prior)
    places = [np.flatnonzero(fields.field[:m] == j).tolist() for j in range(fields.n_fields)]
    plain = [
        [bool(cell) if there else None for cell, there in zip(*row, strict=True)]
        for row in zip(table.tolist(), known.tolist(), strict=True)
    ]
    return mixture, rows, prior, plain, weights.tolist(), places


def to_plain(mixture, places):
    """The same groups as the oracle holds them."""
    several = {
        field: k for k, field in enumerate(mixture.fields.field) if k >= mixture.fields.n_columns
    }
    groups = []
    for share, outcomes, none in zip(mixture.shares, mixture.outcomes, mixture.none, strict=True):
        tables = []
        for field, place in enumerate(places):
            table = {"none": none[field], **{k: outcomes[k] for k in place}}
            if len(place) > 1:
                table["several"] = outcomes[several[field]]
            tables.append(table)
        groups.append((share, tables))
    return groups


@given(mixtures())
def test_an_iteration_is_that_of_the_definition(drawn):
    mixture, rows, prior, plain, weights, places = drawn
    sums = mixture.expect(rows)
    after = maximise(mixture.fields, sums, prior)
    expected, likelihood = naive_mixture.step(plain, weights, places, to_plain(mixture, places))
    assert sums.log_likelihood[0] == pytest.approx(likelihood)
    for (share, tables), (share_2, tables_2) in zip(expected, to_plain(after, places), strict=True):
        assert share_2 == pytest.approx(share)
        for one, two in zip(tables, tables_2, strict=True):
            assert two == pytest.approx(one)
    given_rows = np.concatenate([normalise(mixture.log_joint(block))[0] for block in rows.blocks])
    naive = [naive_mixture.members(row, places, to_plain(mixture, places)) for row in plain]
    assert given_rows == pytest.approx(np.array(naive))


@given(mixtures())
def test_no_iteration_lowers_the_objective(drawn):
    mixture, rows, prior, *_ = drawn
    found = converge(mixture, lambda now: now.expect(rows), prior, gain=1e-9, max_iter=40)
    rises = np.diff(found.objectives)
    assert (rises > -1e-9 * np.abs(found.objectives[-1]) - 1e-9).all()
    assert len(found.objectives) > 1


@given(mixtures(), st.floats(1, 1e6))
def test_probabilities_of_all_possible_rows_sum_to_one(drawn, n_rows):
    mixture, *_ = drawn
    for each in (mixture, mixture.with_floor(n_rows)):
        m = each.fields.n_columns
        every = np.array(list(product([False, True], repeat=m)))
        for layout in (PackedColumns, SparseColumns):
            rows = each.fields.read(layout.of(PackedColumns.from_table(every)))
            logs = np.concatenate([normalise(each.log_joint(block))[1] for block in rows.blocks])
            assert np.exp(logs).sum() == pytest.approx(1)


def test_one_group_with_floor_is_the_estimate_with_half_a_row():
    table = np.array([[True, False], [False, False], [True, False]])
    fields = Fields.of(2, ())
    rows = fields.read(PackedColumns.from_table(table))
    # as if there were no prior: frequencies themselves
    mixture = Mixture(fields, np.ones(1), np.array([[2 / 3, 0.0]]), np.array([[1 / 3, 1.0]]))
    assert mixture.with_floor(3).outcomes == pytest.approx(np.array([[2.5 / 4, 0.5 / 4]]))
    assert rows.n_rows == 3


def grow(table, seed=0, **options):
    fields = Fields.of(table.shape[1], ())
    sample = sample_rows(PackedColumns.from_table(table), len(table))
    rows = fields.read(sample.rows, sample.weights)
    prior = average_row(fields, sum_members(fields, rows, np.ones((rows.n_rows, 1))))
    growth = Growth(rows, fields, prior, np.random.default_rng(seed), **options)
    return growth, growth.run()


def planted(rng, n_groups, n_rows, n_columns):
    frequencies = rng.beta(0.5, 1.0, (n_groups, n_columns))
    labels = rng.choice(n_groups, n_rows, p=rng.dirichlet(np.full(n_groups, 5)))
    return rng.random((n_rows, n_columns)) < frequencies[labels], labels


def test_each_round_makes_the_description_shorter():
    table, _ = planted(np.random.default_rng(4), 5, 900, 30)
    _, path = grow(table)
    bits = [each.bits for each in path]
    assert len(bits) > 2
    assert bits == sorted(bits, reverse=True)


@pytest.mark.parametrize("number", [1, 2, 3, 7, 12])
def test_the_number_of_groups_can_be_given(number):
    table, _ = planted(np.random.default_rng(5), 4, 400, 20)
    _, path = grow(table, n_groups=number)
    assert path[-1].mixture.n_groups == number


def test_rows_in_other_order_give_the_same_groups():
    table, _ = planted(np.random.default_rng(6), 4, 300, 20)
    _, path = grow(table)
    _, other = grow(table[::-1])
    assert (path[-1].mixture.outcomes == other[-1].mixture.outcomes).all()


@given(mixtures())
def test_the_objective_is_that_of_the_definition(drawn):
    mixture, rows, prior, plain, weights, places = drawn
    groups = to_plain(mixture, places)
    expected = sum(
        weight * math.log(sum(naive_mixture.probability(row, places, group) for group in groups))
        for row, weight in zip(plain, weights, strict=True)
    )
    # each group has one more row, which is like the average of all rows
    average = naive_mixture.average(plain, weights, places)
    for share, tables in groups:
        expected += math.log(share)
        for table, known in zip(tables, average, strict=True):
            expected += sum(part * math.log(table[each]) for each, part in known.items())
    sums = mixture.expect(rows)
    assert mixture.objective(float(sums.log_likelihood[0]), prior) == pytest.approx(expected)


def test_numbers_of_groups_cost_half_a_logarithm_each():
    # 3 frequencies of 8 rows, 3 of 32 rows, and one share of 64 rows
    assert bits_of_groups(np.array([8.0, 32.0]), 64, 3) == 0.5 * (3 * 3 + 3 * 5 + 6)
    assert bits_of_groups(np.array([8.0]), 64, 3) == 0.5 * 3 * 3
    assert bits_of_groups(np.array([4.0, 4.0, 4.0]), 16, 1) == 0.5 * (2 + 2 + 2 + 2 * 4)
    # less than two rows count as two
    assert bits_of_groups(np.array([0.5, 1.0]), 1, 4) == 0.5 * (4 + 4 + 1)


@given(mixtures())
def test_bits_are_those_of_the_rows_and_of_the_numbers_of_groups(drawn):
    mixture, rows, prior, plain, weights, places = drawn
    growth = Growth(rows, mixture.fields, prior, np.random.default_rng(0))
    n_free = 0
    for field in places:
        found = [naive_mixture.outcome(row, field) for row in plain]
        known = [each for each in found if each is not None]
        # what is never there is no number, nor is the last outcome of a field that always has one
        n_free += len({*known} - {"none"}) - (bool(known) and "none" not in known)
    groups = to_plain(mixture, places)
    bits = sum(
        -weight * math.log2(sum(naive_mixture.probability(row, places, group) for group in groups))
        for row, weight in zip(plain, weights, strict=True)
    )
    given_rows = [naive_mixture.members(row, places, groups) for row in plain]
    sizes = np.array(weights) @ np.array(given_rows)
    bits += sum(0.5 * max(n_free, 1) * math.log2(max(size, 2)) for size in sizes)
    bits += 0.5 * math.log2(max(sum(weights), 2)) * (len(groups) - 1)
    assert growth.n_free == max(n_free, 1)
    found = Converged(mixture, mixture.expect(rows), ())
    assert growth.bits(found) == pytest.approx(bits)


@pytest.mark.parametrize(
    ("table", "n_free"),
    [
        ([[1, 0], [0, 1], [0, 1]], 2),
        ([[1, 0], [0, 0], [0, 0]], 1),
        ([[1, 1], [1, 0], [1, 0]], 1),
        ([[0, 0], [0, 0]], 1),
    ],
)
def test_frequencies_that_are_numbers(table, n_free):
    assert grow(np.array(table, bool))[0].n_free == n_free


def two_groups(n_rows=120):
    """Rows of two groups that share nothing, and the group of each row."""
    rng = np.random.default_rng(8)
    labels = np.arange(n_rows) % 3 == 0
    table = np.where(labels[:, None] == (np.arange(8) < 4), 0.9, 0.05)
    return rng.random(table.shape) < table, labels


@pytest.mark.parametrize("options", [{}, {"n_groups": 2}])
def test_groups_that_share_nothing_are_found(options):
    table, labels = two_groups()
    growth, path = grow(table, **options)
    assert [each.mixture.n_groups for each in path] == [1, 2]
    rows = growth.fields.read(PackedColumns.from_table(table))
    found = path[-1].mixture.log_joint(rows).argmax(1) == 0
    assert (found == labels).mean() in (0, 1)
    assert sorted(path[-1].mixture.shares) == pytest.approx([41 / 122, 81 / 122], abs=1e-3)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_groups_that_save_less_than_their_numbers_cost_are_dropped(place):
    table, _ = two_groups()
    growth, path = grow(table)
    two = path[1].mixture
    shares = np.insert(two.shares * 0.99, place, 0.01)
    # a second copy of the first group, with next to no row
    order = np.insert([0, 1], place, 0)
    mixture = Mixture(growth.fields, shares, two.outcomes[order], two.none[order])
    growth.settled = np.arange(3) == place
    found = growth._drop(Converged(mixture, mixture.expect(growth.rows), ()))
    assert found.mixture.n_groups == 2
    assert not growth.settled.any()
    np.testing.assert_allclose(found.mixture.outcomes, two.outcomes, atol=0.02)
    again = Converged(two, two.expect(growth.rows), ())
    assert growth._drop(again) is again
    assert growth.bits(found) < growth.bits(Converged(mixture, mixture.expect(growth.rows), ()))
    # with a given number, only what no row prefers
    growth.n_groups = 3
    kept = growth._drop(Converged(mixture, mixture.expect(growth.rows), ()))
    assert kept.mixture.n_groups == 2


def test_growth_ends_at_its_limits_and_says_how_far_it_is():
    table, _ = planted(np.random.default_rng(4), 5, 900, 30)
    seen = []
    _, path = grow(table, watch=lambda *each: seen.append(each))
    assert seen == [(each.mixture.n_groups, each.bits) for each in path[1:]]
    most = path[-1].mixture.n_groups
    assert most > 3
    assert grow(table, max_groups=most - 1)[1][-1].mixture.n_groups <= most - 1
    assert len(grow(table, deadline=time.monotonic() - 1)[1]) == 1
    assert [each.mixture.n_groups for each in grow(table, n_groups=1)[1]] == [1]


def test_groups_that_are_all_alike_stay_one():
    # independent columns, and one row of a kind
    table = np.random.default_rng(9).random((300, 6)) < 0.5
    assert len(grow(table)[1]) == 1
    assert len(grow(table[:1])[1]) == 1
    growth, path = grow(table[:1], n_groups=2)
    assert path[-1].mixture.n_groups == 1
    assert growth._halve(np.array([0])) is None


@given(mixtures(), st.sampled_from([0.0, 2.0]), st.sampled_from([1, 7, 1000]))
def test_blocks_of_rows_change_no_sum(drawn, dense, n_rows):
    mixture, rows, *_ = drawn
    expected = mixture.expect(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DENSE", dense)
        patch.setattr(module, "_BLOCK_ROWS", n_rows)
        again = Rows(rows.outcomes, rows.unknown, rows.weights)
        assert len(again.blocks) == -(-rows.n_rows // n_rows)
        kinds = {isinstance(block.outcomes, np.ndarray) for block in again.blocks}
        assert kinds == {bool(rows.outcomes.nnz and not dense)}
        for one, other in zip(mixture.expect(again), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)


def test_iterations_end_where_they_are_told():
    table, _ = two_groups()
    growth, path = grow(table)
    rows, start = growth.rows, path[1].mixture
    # nearly one group: it takes many iterations to tell two
    near = Mixture(
        start.fields,
        np.array([0.5, 0.5]),
        0.499 * start.outcomes + 0.501 * start.outcomes[::-1],
        0.499 * start.none + 0.501 * start.none[::-1],
    )
    for most in (0, 1, 3):
        found = converge(near, lambda now: now.expect(rows), growth.prior, gain=0, max_iter=most)
        assert len(found.objectives) == most + 1
    late = converge(near, lambda now: now.expect(rows), growth.prior, deadline=0)
    assert len(late.objectives) == 1
    for gain in (1e-2, 1e-5):
        found = converge(near, lambda now: now.expect(rows), growth.prior, gain=gain)
        *rises, last = np.diff(found.objectives) / len(table)
        assert last <= gain
        assert all(rise > gain for rise in rises)


def test_one_group_converges_at_once():
    table, _ = two_groups()
    growth, _ = grow(table)
    one, _ = maximise_one(growth.rows, growth.fields, growth.prior)
    found = converge(one, lambda now: now.expect(growth.rows), growth.prior, gain=0)
    assert found.objectives[0] == found.objectives[1]
    assert len(found.objectives) == 2


def weighted_rows(seed, n_groups=2):
    """Distinct rows of planted groups with unequal weights, and a search in them."""
    rng = np.random.default_rng(seed)
    table = np.unique(planted(rng, n_groups, 200, 9)[0], axis=0)
    fields = Fields.of(9, ())
    rows = fields.read(PackedColumns.from_table(table), rng.integers(1, 5, len(table)))
    whole, _ = maximise_one(rows, fields, prior := np.full(9, 0.4))
    return table, rows, whole, Growth(rows, fields, prior, rng)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_split_is_along_the_direction_of_most_variance(seed):
    table, rows, whole, growth = weighted_rows(seed)
    centred = table - whole.outcomes[0]
    values, vectors = np.linalg.eigh((centred.T * rows.weights) @ centred)
    assert values[-1] > 1.25 * values[-2]
    along = centred @ vectors[:, -1]
    # the direction is approximate
    clear = np.abs(along) > 0.3
    side = growth._side(rows, whole, 0)
    assert clear.mean() > 0.5
    assert (side == (along > 0))[clear].mean() in (0, 1)


@pytest.mark.parametrize("seed", range(4))
def test_other_splits_are_by_the_nearer_of_two_rows(seed):
    table, rows, whole, growth = weighted_rows(seed)
    growth.rng = np.random.default_rng(seed)
    one, two = table[np.random.default_rng(seed).choice(len(table), 2, replace=False)]
    side = growth._side(rows, whole, 1)
    # common tags, in the nats by which they are rare; only tags of one of the two rows matter
    rarity = np.log(1 / whole.outcomes[0])
    for row, is_first in zip(table, side, strict=True):
        to_one = rarity[(row != one) & (one != two)].sum()
        to_two = rarity[(row != two) & (one != two)].sum()
        assert is_first == (to_one < to_two) or to_one == pytest.approx(to_two)
    assert side[(table == one).all(1)].all()


def test_rows_as_near_to_both_go_to_the_second():
    table = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], bool)
    growth, _ = grow(table)
    whole = Mixture(growth.fields, np.ones(1), np.full((1, 3), 0.5), np.full((1, 3), 0.5))
    rows = growth.fields.read(PackedColumns.from_table(table))
    sides = set()
    for seed in range(20):
        growth.rng = np.random.default_rng(seed)
        pair = np.random.default_rng(seed).choice(4, 2, replace=False)
        if 3 not in pair:
            assert growth._side(rows, whole, 1).tolist() == [k == pair[0] for k in range(4)]
            sides.add(tuple(pair))
    assert len(sides) > 1


@pytest.mark.parametrize("table", [np.ones((4, 3), bool), np.zeros((1, 3), bool)])
def test_equal_rows_have_no_sides(table):
    growth, _ = grow(table)
    rows = growth.fields.read(PackedColumns.from_table(table))
    whole, _ = maximise_one(rows, growth.fields, growth.prior)
    assert growth._side(rows, whole, 0) is None
    if len(table) > 1:
        assert growth._side(rows, whole, 1) is None


@pytest.mark.parametrize("seed", range(3))
def test_what_a_split_saves_are_the_bits_of_both_descriptions(seed, monkeypatch):
    _, rows, whole, growth = weighted_rows(seed)
    saved, halves = growth._halve(np.arange(rows.n_rows))
    bits = [growth.bits(Converged(each, each.expect(rows), ())) for each in (whole, halves)]
    assert saved == pytest.approx(bits[0] - bits[1], abs=1e-6)
    # the best of some starts
    tried, converge_one = [], growth._converge
    growth._converge = lambda *each: tried.append(converge_one(*each)) or tried[-1]
    growth.n_init = 6
    halves = growth._halve(np.arange(rows.n_rows))[1]
    assert len(tried) == 6
    assert halves is max(tried, key=lambda each: each.objectives[-1]).mixture
    # a part of the rows stands for all of them
    table = np.random.default_rng(seed).permutation(np.repeat(two_groups(240)[0], 5, axis=0))
    growth, _ = grow(table)
    growth.rows = growth.fields.read(PackedColumns.from_table(table))
    growth.n_rows = float(len(table))
    every = growth._halve(np.arange(len(table)))[0]
    monkeypatch.setattr(module, "_SPLIT_ROWS", 600)
    some = growth._halve(np.arange(len(table)))[0]
    assert every > 1000
    assert some == pytest.approx(every, rel=0.1)
    assert some != every


def three_groups():
    """A search in rows of three groups, two of which are alike, and these two as one group."""
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [300, 240, 260])
    chance = np.full((3, 24), 0.05)
    chance[0, :8] = chance[1:, 8:16] = 0.8
    chance[1, 16:20] = chance[2, 20:] = 0.7
    table = rng.random((800, 24)) < chance[labels]
    growth, path = grow(table)
    # the groups that are known, by what is in the rows
    dense = growth.rows.outcomes.toarray()
    members = (dense[:, :8].sum(1) > dense[:, 8:16].sum(1))[:, None] == [True, False]
    mixture = maximise(
        growth.fields, sum_members(growth.fields, growth.rows, members), growth.prior
    )
    return growth, path, mixture


def test_only_groups_that_pay_are_split():
    growth, path, mixture = three_groups()
    assert path[-1].mixture.n_groups == 3
    growth.settled = np.zeros(2, np.bool_)
    found = growth._divide(mixture)
    assert found.n_groups == 3
    # in the place of the group, with its share
    np.testing.assert_array_equal(found.outcomes[0], mixture.outcomes[0])
    np.testing.assert_array_equal(found.none[0], mixture.none[0])
    assert found.shares[0] == mixture.shares[0]
    assert found.shares[1:].sum() == pytest.approx(mixture.shares[1])
    assert sorted(found.shares[1:]) == pytest.approx([0.3, 0.325], abs=0.02)
    # a group that was not worth it is not tried again
    assert growth.settled.tolist() == [True, False, False]
    assert growth.tried == set()
    assert growth._divide(found) is None


@pytest.mark.parametrize(
    ("gains", "number", "most", "settled", "split"),
    [
        ([5.0, 7.0, -1.0], None, None, [], {0, 1}),
        # the best ones, of equal ones the first
        ([5.0, 7.0, 6.0], None, 5, [], {1, 2}),
        ([5.0, 5.0, 5.0], None, 4, [], {0}),
        ([0.0, -3.0, None], None, None, [], None),
        ([5.0, 7.0, -1.0], None, None, [1], {0}),
        # with a given number, the best of those that cost more than they save
        ([-5.0, -7.0, -5.0], 9, None, [], {0}),
        ([5.0, 7.0, -1.0], 4, None, [1], {1}),
        ([None, None, None], 9, None, [], None),
    ],
)
def test_which_groups_are_split(gains, number, most, settled, split):
    table = np.eye(3, dtype=bool).repeat(20, axis=0)
    growth, _ = grow(table, n_groups=number, max_groups=most)
    rows, prior = growth.rows, growth.prior
    # the rows of each tag are a group
    order = [0, 1, 2]
    members = rows.outcomes.toarray()[:, order] > 0
    mixture = maximise(growth.fields, sum_members(growth.fields, rows, members), prior)
    halves = maximise(growth.fields, sum_members(growth.fields, rows, members[:, :2]), prior)

    def halve(which):
        (k,) = {*np.flatnonzero(members[which].any(0)).tolist()}
        return None if gains[k] is None else (gains[k], halves)

    growth.limit = number or most or 60
    growth._halve, growth.settled, growth.tried = halve, np.isin(order, settled), set()
    found = growth._divide(mixture)
    if split is None:
        assert found is None
        return
    sizes = [2 if k in split else 1 for k in range(3)]
    assert found.n_groups == sum(sizes)
    ends = np.cumsum(sizes)
    for k, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        assert found.shares[end - size : end].sum() == pytest.approx(mixture.shares[k])
        expected = halves.outcomes if size == 2 else mixture.outcomes[[k]]
        np.testing.assert_allclose(found.outcomes[end - size : end], expected)
    assert growth.settled.tolist() == [size == 1 for size in sizes for _ in range(size)]
    assert growth.tried == (split if number else set())
    if number:
        # those that were split without effect are not split again
        growth._divide(mixture)
        assert growth.tried > split
