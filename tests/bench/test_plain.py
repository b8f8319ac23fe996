"""The opponents of the benchmarks construct what uFC constructs."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import _plain
from hypothesis import assume, given
from hypothesis import strategies as st

import naive

ALPHA, MAX_ITER = 0.01, 3


def table_of(seed: int) -> np.ndarray:
    """Columns that go together more or less, in many rows so that ties are rare."""
    rng = np.random.default_rng(seed)
    topics = rng.random((150, 2)) < 0.5
    shares = rng.random((2, 5))
    return (
        rng.random((150, 5)) < 0.1 + 0.6 * np.where(topics @ shares > 0.6, shares.max(0), 0)
    ) > 0


@given(st.integers(0, 10**6))
@pytest.mark.parametrize("way", ["dense", "sparse"])
def test_the_same_columns_as_the_oracle(way: str, seed: int) -> None:
    table = table_of(seed)
    names = [f"c{k}" for k in range(table.shape[1])]
    options = {"strict": False, "prune": True}
    threshold = naive.risk_threshold(ALPHA, len(table))
    sets = naive.ufc(
        dict(zip(names, table.T.tolist(), strict=True)), MAX_ITER, threshold, **options
    )
    for features in sets[:-1]:
        strengths = [found[:2] for found in naive.candidates(features, threshold, **options)]
        assume(len(set(strengths)) == len(strengths))
    expected = np.array([column for _, column in sets[-1]]).T
    given_as = sp.csr_array(table) if way == "sparse" else table
    columns, history = getattr(_plain, way)(given_as, MAX_ITER, ALPHA)
    columns = columns.toarray() if way == "sparse" else columns
    assert len(history) == len(sets) - 1
    np.testing.assert_array_equal(columns.astype(bool), expected)
