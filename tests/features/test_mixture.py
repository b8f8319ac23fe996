"""Groups of rows: every sum and probability is that of the definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_mixture
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.counting import sample_rows
from conjunct.features.mixture import (
    Fields,
    Growth,
    Mixture,
    average_row,
    converge,
    maximise,
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
