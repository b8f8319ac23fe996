"""Association against the oracle, and the paper's thresholds."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conjunct.columns import CountMatrix
from conjunct.ufc.association import has_expected_frequencies, p_value, phi, risk_threshold
from conjunct.ufc.criteria import PairFilter, correlated_pairs
from tables import tables


def counts_of(table):
    return table.T.astype(np.int64) @ table.astype(np.int64)


def r_of(joint, n, i, j):
    [r] = phi(n, joint[[i], [i]], joint[[j], [j]], joint[[i], [j]])
    return r


@given(tables(max_rows=60))
def test_r_is_the_oracles_to_the_bit(table):
    joint = counts_of(table)
    for i, j in itertools.combinations(range(table.shape[1]), 2):
        r, expected = r_of(joint, len(table), i, j), naive.pearson(table[:, i], table[:, j])
        assert math.isnan(r) if expected is None else r == expected


@given(tables(min_rows=2, max_columns=3))
def test_r_is_pearsons(table):
    joint = counts_of(table)
    for i, j in itertools.combinations(range(table.shape[1]), 2):
        r = r_of(joint, len(table), i, j)
        if not math.isnan(r):
            assert r == pytest.approx(np.corrcoef(table[:, i], table[:, j])[0, 1])


@pytest.mark.parametrize("n", [110_000, 10**9, 6 * 10**9])
def test_r_is_exact_for_many_rows(n):
    # two columns that differ in one row: Python's integers do not overflow
    s, t, c = n // 2, n // 2 + 1, n // 2
    [r] = phi(n, np.array([s]), np.array([t]), np.array([c]))
    assert r == (n * c - s * t) / math.sqrt(float(s * (n - s)) * float(t * (n - t)))


@given(tables(max_rows=60))
def test_expected_frequencies_are_the_four_cells(table):
    n, supports = len(table), table.sum(axis=0)
    for i, j in itertools.combinations(range(table.shape[1]), 2):
        [holds] = has_expected_frequencies(n, supports[[i]], supports[[j]])
        assert holds == all(e >= 5 for e in naive.expected_frequencies(table[:, i], table[:, j]))


@given(tables(), st.floats(0, 0.9), st.booleans())
def test_pairs_are_the_oracles(table, threshold, prune):
    pairs = correlated_pairs(
        CountMatrix(len(table), counts_of(table)), PairFilter(threshold, prune)
    )
    features = [(name, column) for name, column in zip("abcdefgh", table.T, strict=False)]
    expected = naive.candidates(features, threshold, prune=prune)
    found = zip(pairs.r, pairs.joint, pairs.left, pairs.right, strict=True)
    assert set(found) == {(r, c, i, j) for r, c, _, _, i, j in expected}


def test_pairs_of_many_columns_come_from_every_block():
    table = np.random.default_rng(0).random((500, 400)) < 0.5
    joint = counts_of(table)
    pairs = correlated_pairs(CountMatrix(500, joint), PairFilter(0.1))
    r = np.corrcoef(table, rowvar=False)
    expected = {(i, j) for i, j in zip(*np.nonzero(np.triu(r, 1) > 0.1), strict=True)}
    assert set(zip(pairs.left, pairs.right, strict=True)) == expected


@pytest.mark.parametrize(
    ("alpha", "n", "threshold"), [(0.001, 264, 0.190), (0.0001, 608, 0.151), (0.0001, 267, 0.228)]
)
def test_risk_thresholds_of_the_paper(alpha, n, threshold):
    assert round(risk_threshold(alpha, n), 3) == threshold
    assert risk_threshold(alpha, n) == pytest.approx(naive.risk_threshold(alpha, n), rel=1e-9)


def test_p_value_is_alpha_at_the_threshold():
    threshold = risk_threshold(0.01, 500)
    assert p_value(np.array([threshold]), 500) == pytest.approx(0.01)
    assert p_value(np.array([0.0]), 500) == pytest.approx(0.5)


def test_classic_is_strict_and_risk_is_not(monkeypatch):
    joint = np.array([[50, 38], [38, 52]])
    r = r_of(joint, 100, 0, 1)
    assert len(correlated_pairs(CountMatrix(100, joint), PairFilter(r))) == 0
    assert len(correlated_pairs(CountMatrix(100, joint), PairFilter(np.nextafter(r, 0)))) == 1
    monkeypatch.setattr("conjunct.ufc.association.risk_threshold", lambda alpha, n: r)
    assert len(correlated_pairs(CountMatrix(100, joint), PairFilter(alpha=0.001))) == 1
