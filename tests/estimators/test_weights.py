"""``sample_weight``: a row of weight w is w equal rows, to the bit, in every layout and search."""

import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_bits
from conjunct import UFC, Bits, ConjunctWarning, InputError, Risk, Threshold, datasets
from conjunct.columns import MaskedColumns, PackedColumns
from conjunct.columns.sparse import SparseColumns
from conjunct.counting import WeightedColumns
from conjunct.expressions import canonical_text
from conjunct.ufc import NoStop, RmsStop
from tables import named, tables

ZOO = datasets.load_zoo().values
MODELS = [
    UFC(),
    UFC(Bits(None), stop="never", max_iter=8),
    UFC(Bits(0.2), search="batch"),
    UFC(Risk(0.2, prune=False, test="exact", correction="bh")),
    UFC(Risk(0.2), stop=RmsStop(null_feature=True)),
    UFC(Threshold(0.1), search="pairwise", stop=NoStop(null_feature=True), max_iter=6),
    UFC(Threshold(0.2, measure="npmi"), max_iter=2, min_support=0.01, max_features=20),
]


def fitted(model, *data, **more):
    """That nothing was constructed is not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(*data, **more)


def whole(model):
    """All that a fit finds."""
    return model.to_json(), model.n_distinct_rows_, repr(model.history_), model.stop_reason_


@st.composite
def weighted_tables(draw, **limits):
    table = draw(tables(**limits))
    n = len(table)
    weights = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any))
    return table, np.array(weights)


@given(weighted_tables(max_columns=6), st.sampled_from([None, 0.4]))
def test_the_oracle_on_repeated_rows(pair, alpha):
    table, weights = pair
    stages = naive_bits.run(named(np.repeat(table, weights, axis=0)), alpha, max_iter=8)
    frame = pl.DataFrame(table, schema=list(named(table)))
    model = fitted(UFC(Bits(alpha), max_iter=8), frame, sample_weight=weights)
    found = zip(model.features_, model.feature_set_.supports, strict=True)
    assert {(canonical_text(feature), support) for feature, support in found} == {
        (naive.canonical(tree), naive_bits.support(column)) for tree, _, column in stages[-1][0]
    }
    assert model.feature_set_.n_rows == weights.sum()
    assert model.krimp_length_ == pytest.approx(naive_bits.final_length(stages))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("store", ["dense", "sparse", "missing"])
@given(pair=weighted_tables(max_columns=6, min_rows=6), data=st.data())
def test_every_rule_and_layout(model, store, pair, data):
    table, weights = pair
    model = UFC(**model.get_params(deep=False))
    if store == "missing":
        gone = data.draw(st.lists(st.booleans(), min_size=table.size, max_size=table.size))
        table = np.where(np.array(gone).reshape(table.shape), np.nan, table)
        model.set_params(missing="pairwise")
    else:
        model.set_params(storage=store)
    repeated = np.repeat(table, weights, axis=0)
    try:
        expected = whole(fitted(model, repeated))
    except InputError as error:
        with pytest.raises(InputError, match=str(error)[:20]):
            fitted(model, table, sample_weight=weights)
        return
    assert whole(fitted(model, table, sample_weight=weights)) == expected
    score = model.score(repeated)
    assert model.score(table, sample_weight=weights) == pytest.approx(score, rel=1e-12)


@given(weighted_tables())
def test_counts_of_the_columns(pair):
    table, weights = pair
    repeated = np.repeat(table, weights, axis=0)
    bits = PackedColumns.from_table
    for make in (bits, SparseColumns.from_table, lambda cells: MaskedColumns.of(bits(cells))):
        actual, expected = WeightedColumns.of(make(table), weights), make(repeated)
        for count in ("count_distinct_rows", "count_null_rows", "fingerprint"):
            assert getattr(actual, count)() == getattr(expected, count)()
        assert actual.n_rows == expected.n_rows
        assert sum(part.n_rows for part in actual.parts) == sum(
            map(int.bit_count, weights.tolist())
        )


def test_large_weights_take_no_more_memory():
    weights = np.full(len(ZOO), 1 << 24)
    model = UFC().fit(ZOO, sample_weight=weights)
    assert model.feature_set_.n_rows == 101 << 24
    assert model.feature_set_.primitive_supports[0] == int(ZOO[:, 0].sum()) << 24


def test_containers():
    weights = np.arange(len(ZOO)) % 4
    expected = whole(UFC().fit(ZOO, sample_weight=weights))
    assert whole(UFC().fit(sp.csr_array(ZOO), sample_weight=pd.Series(weights))) == expected
    assert whole(UFC().fit(ZOO, sample_weight=weights.astype(float).tolist())) == expected
    once = UFC().fit(ZOO)
    assert whole(UFC().fit(ZOO, sample_weight=np.ones(len(ZOO)))) == whole(once)


def test_baskets():
    rows = [["water", "cascade"], ["water"], ["sky"]]
    repeated = [rows[0]] * 40 + [rows[1]] * 20 + [rows[2]] * 60
    expected = whole(UFC().fit(repeated))
    assert whole(UFC().fit(rows, sample_weight=[40, 20, 60])) == expected


def test_checkpoints_know_the_weights(tmp_path):
    file, weights = tmp_path / "run.json", np.arange(len(ZOO)) % 3
    first = UFC().fit(ZOO, sample_weight=weights, checkpoint=file)
    again = UFC().fit(np.repeat(ZOO, weights, axis=0), checkpoint=file)
    assert whole(again) == whole(first)
    with pytest.raises(InputError):
        UFC().fit(ZOO, checkpoint=file)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1, 2],
            r"sample_weight has shape \(2,\), but must have one weight for each of the 3 rows",
        ),
        ([[1], [1], [1]], r"sample_weight has shape \(3, 1\)"),
        ([1, 0.5, 1], "sample_weight of row 1 is 0.5, but weights must be whole numbers from 0"),
        ([1, 1, -1], "sample_weight of row 2 is -1, but weights must"),
        ([np.nan, 1, 1], "sample_weight of row 0 is nan"),
        ([1, np.inf, 1], "sample_weight of row 1 is inf"),
        ([0, 0, 0], "at least one non-zero number: all are 0"),
        ([2.0**31, 1, 1], "the sum of sample_weight exceeds 2,147,483,648: divide"),
        (["a", "b", "c"], "sample_weight must contain one number per row"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    rows = np.eye(3)
    with pytest.raises(InputError, match=message):
        UFC().fit(rows, sample_weight=weights)
    with pytest.raises(InputError, match=message):
        UFC(max_iter=0).fit(rows).score(rows, sample_weight=weights)


def test_rows_in_parts_are_refused():
    frame = dd.from_pandas(pd.DataFrame(ZOO), npartitions=2)
    with pytest.raises(InputError, match="sample_weight needs all rows in memory"):
        UFC().fit(frame, sample_weight=np.ones(len(ZOO)))


@pytest.mark.parametrize("missing", ["pairwise", "raise", "false"])
def test_a_row_of_weight_0_counts_nothing_that_is_missing_either(missing):
    rows = np.vstack([ZOO.astype(float), np.full((2, ZOO.shape[1]), np.nan)])
    weights = [2] * 50 + [1] * (len(ZOO) - 50) + [0, 0]
    with_gaps = fitted(UFC(missing=missing), rows, sample_weight=weights)
    alone = fitted(UFC(missing=missing), ZOO.astype(float), sample_weight=weights[:-2])
    assert whole(with_gaps) == whole(alone)
    with_gaps.truncate(20)
    rows[3, 1] = np.nan
    if missing == "raise":
        with pytest.raises(InputError, match="column 'x1', row 3"):
            UFC(missing=missing).fit(rows, sample_weight=weights)
