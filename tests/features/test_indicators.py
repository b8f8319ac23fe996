"""OI, C0, C1, RMS, the front and the closest point."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from conjunct.features import (
    closest_point,
    complexity,
    mean_length,
    overlapping_index,
    pareto_front,
    rms,
)
from tables import tables


@given(tables(), st.booleans())
def test_overlapping_index_is_the_oracles(table, null):
    features = [(str(k), tuple(column)) for k, column in enumerate(table.T)]
    null_support = int((~table.any(axis=1)).sum()) if null else None
    oi = overlapping_index(table.sum(axis=0), len(table), null_support=null_support)
    assert oi == pytest.approx(naive.overlapping_index(features, null), abs=1e-12)
    if null:
        assert 0 <= oi <= 1


def test_overlapping_index_at_its_ends():
    assert overlapping_index([3, 1], 4) == 0
    assert overlapping_index([4, 4, 4], 4) == 1
    assert overlapping_index([2], 4) == 0
    assert overlapping_index([1, 1], 4) == -0.5
    assert overlapping_index([1, 1], 4, null_support=2) == 0


def test_complexity_of_the_papers_rows():
    assert round(complexity(36, 22, 219), 3) == 0.071
    assert round(complexity(307, 22, 219), 2) == 1.45
    assert complexity(10, 22, 219) < 0


@pytest.mark.parametrize("n_distinct", [22, 21, 1])
def test_complexity_says_where_it_has_no_meaning(n_distinct):
    with pytest.raises(ValueError, match=f"{n_distinct} distinct rows and 22 primitives"):
        complexity(30, 22, n_distinct)


def test_mean_length_and_rms():
    assert mean_length([1, 2, 6]) == 3
    assert rms(3, 4) == math.sqrt(12.5)


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(points)
def test_front_is_the_oracles(points):
    oi, c0 = zip(*points, strict=True)
    assert pareto_front(oi, c0) == naive.pareto_front(points)


@given(points)
def test_closest_point_is_on_the_front_and_nearest(points):
    oi, c0 = zip(*points, strict=True)
    k = closest_point(oi, c0)
    distances = np.hypot(oi, c0)
    assert distances[k] == distances.min()
    assert k == list(distances).index(distances.min())


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="no solution"):
        closest_point([], [])
