"""The exact test and the size of a family, against the oracle."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import hypergeom

import naive_statistics as naive
from conjunct import UFC, ConjunctWarning, Threshold
from conjunct.columns import PackedColumns
from conjunct.ufc.association import (
    count_tested_pairs,
    exact_p_value,
    has_expected_frequencies,
    is_exactly_significant,
)
from tables import tables

cells = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


def exact(a, b, c, d):
    [p] = exact_p_value(a + b + c + d, *(np.array([count]) for count in (a + b, a + c, a)))
    return p


@given(cells)
@example((40, 0, 0, 40))  # 1e-23: 1 less the other tail is nothing but rounding
def test_exact_p_values_are_the_oracles(table):
    assert exact(*table) == pytest.approx(float(naive.exact_p(*table)), rel=1e-9, abs=0)


@given(
    st.integers(1, 10**6).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n), st.floats(-9, 9))
    )
)
def test_exact_p_values_of_many_rows_are_scipys(drawn):
    n, s, t, z = drawn
    spread = math.sqrt(s * t * (n - s) * (n - t) / n**3)
    c = min(max(round(s * t / n + z * spread), s + t - n, 0), s, t)
    [p] = exact_p_value(n, np.array([s]), np.array([t]), np.array([c]))
    assert p == pytest.approx(hypergeom.sf(c - 1, n, s, t), rel=1e-7)


@given(cells)
def test_only_positive_association_is_significant(table):
    # a median of a hypergeometric distribution is next to its mean (Jogdeo and Samuels, 1968)
    a, b, c, d = table
    if a * d <= b * c:
        assert naive.exact_p(*table) >= 1 / 2
        assert exact(*table) >= 0.5 - 1e-12


@given(tables(max_rows=60), st.booleans())
def test_family_is_every_pair_tested(table, prune):
    features = [(str(k), tuple(column)) for k, column in enumerate(table.T.tolist())]
    size = count_tested_pairs(PackedColumns.from_table(table).pair_counts(), prune=prune)
    assert size == len(list(naive.family(features, prune)))


@pytest.mark.parametrize(
    ("n_rows", "left", "right"), [(20, 10, 10), (45, 15, 15), (45, 30, 15), (100, 20, 25)]
)
def test_an_expected_frequency_of_exactly_5_is_enough(n_rows, left, right):
    """One row less on the rarer side is too few."""

    def passes(left, right):
        [is_enough] = has_expected_frequencies(n_rows, np.array([left]), np.array([right]))
        supports = np.array([left, right])
        counts = SimpleNamespace(n_rows=n_rows, observed=n_rows, supports=supports)
        assert count_tested_pairs(counts, prune=True) == is_enough
        return is_enough

    assert passes(left, right)
    assert passes(right, left)
    fewer = left - 1 if 2 * left <= n_rows else left + 1
    assert not passes(fewer, right)
    assert not passes(left, right - 1)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("n_true", "n_merges"), [(10, 1), (9, 0)])
def test_a_pair_with_an_expected_frequency_of_exactly_5_is_joined(n_true, n_merges, missing):
    column = np.arange(20) < n_true
    table = np.column_stack([column, column]).astype(float)
    if missing:
        # rows that say nothing about the pair
        table = np.vstack([table, [[np.nan, 1]] * 30])
    model = UFC(Threshold(0.1, prune=True), missing="pairwise", max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        model.fit(table)
    assert len(model.feature_set_.merges) == n_merges


@given(cells, st.sampled_from([0.4, 0.05, 0.01, 1e-4, 1e-9]) | st.floats(1e-12, 0.49))
def test_bounds_decide_as_the_sum_does(table, alpha):
    a, b, c, d = table
    if a * d > b * c:
        counts = (np.array([count]) for count in (a + b, a + c, a))
        [is_significant] = is_exactly_significant(a + b + c + d, *counts, alpha)
        assert is_significant == (naive.exact_p(*table) <= alpha * (1 + 1e-9))
