"""The complete code of rows: every count and probability is that of the definition."""

import math
import warnings
from contextlib import contextmanager
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_code
from conjunct import UFC, Bits
from conjunct.columns import MaskedColumns, PackedColumns, SparseColumns
from conjunct.counting import WeightedColumns
from conjunct.features import RowCode, code

CRITERIA = [
    {"criterion": Bits(alpha=None)},
    {"criterion": 0.1, "max_iter": 4},
    {"criterion": "risk", "max_iter": 3},
]


def merges_of(fitted):
    return [(m.left, m.right, m.both, m.right_only, m.left_only) for m in fitted.merges]


def rows_of(table, known=None):
    """Plain rows; None where a cell is missing."""
    known = np.ones_like(table) if known is None else known
    return [
        [bool(cell) if there else None for cell, there in zip(*row, strict=True)]
        for row in zip(table.tolist(), known.tolist(), strict=True)
    ]


def masked(table, known):
    return MaskedColumns(PackedColumns.from_table(table & known), PackedColumns.from_table(known))


@st.composite
def fitted_sets(draw, most=7):
    """A feature set with or without variables, its training rows, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m, n = draw(st.integers(2, most)), draw(st.integers(5, 70))
    causes = rng.random((n, 3)) < 0.5
    table = causes[:, rng.integers(0, 3, m)] ^ (rng.random((n, m)) < 0.15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UFC(**draw(st.sampled_from(CRITERIA))).fit(table)
    fitted = model.feature_set_
    if draw(st.booleans()):
        names = [None, None, "u", "v"]
        fitted = replace(fitted, variables=tuple(names[k] for k in rng.integers(0, 4, m)))
    return fitted, table, rng


def oracle(fitted, table):
    """The features in their order, and the variable of each column."""
    names = fitted.lineage.primitives
    features = naive_code.features_of(merges_of(fitted), len(names))
    variables = fitted.variables or (None,) * len(names)
    return naive_code.in_order(features, table.tolist(), names), variables


def by_columns(code, counts):
    """Counts as the oracle has them."""
    position = {patterns[0]: k for k, patterns in enumerate(code.patterns[: code.n_primitives])}
    found = {}
    for pattern, (n, k, n2, k2) in zip(code.patterns, counts.T.tolist(), strict=True):
        columns = frozenset(position[name] for name in pattern)
        found |= {(columns, "first"): [n, k], (columns, "second"): [n2, k2]}
    return found


@pytest.mark.parametrize("compiled", [True, False])
@given(given_set=fitted_sets())
def test_counts_are_those_of_the_definition(given_set, compiled):
    with in_c(compiled):
        check_counts(*given_set)


@contextmanager
def in_c(compiled):
    """With the compiled part, or by NumPy alone."""
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(code, "native_library", None)
        yield


def check_counts(fitted, table, rng):
    features, variables = oracle(fitted, table)
    bare = replace(fitted, merges=())
    columns, _ = oracle(bare, table)
    known = rng.random(table.shape) < 0.8
    weights = rng.integers(0, 4, len(table))
    weights[0] = 1
    packed = PackedColumns.from_table(table)
    repeated = np.repeat(table, weights, axis=0)
    for store, rows in (
        (packed, rows_of(table)),
        (packed.with_raw_columns(list(packed.raw_columns)), rows_of(table)),
        (SparseColumns.from_table(table), rows_of(table)),
        (masked(table, known), rows_of(table, known)),
        (WeightedColumns.of(packed, weights), rows_of(repeated)),
    ):
        counts = fitted.with_code_counts(store).code_counts
        expected = naive_code.counts(rows, features, variables)
        assert by_columns(fitted.row_code, counts.features) == expected
        expected = naive_code.counts(rows, columns, variables)
        assert by_columns(RowCode.of(fitted, has_merges=False), counts.columns) == expected
        tables = naive_code.pattern_tables(merges_of(fitted), rows, table.shape[1])
        assert counts.patterns.T.tolist() == tables


@pytest.mark.parametrize("compiled", [True, False])
@given(given_set=fitted_sets())
def test_probabilities_are_those_of_the_definition(given_set, compiled):
    with in_c(compiled):
        check_probabilities(*given_set)


def check_probabilities(fitted, table, rng):
    features, variables = oracle(fitted, table)
    counted = fitted.with_code_counts(PackedColumns.from_table(table))
    known_counts = naive_code.counts(rows_of(table), features, variables)
    new = rng.random((20, table.shape[1])) < 0.4
    known = rng.random(new.shape) < 0.8
    for store, rows in (
        (PackedColumns.from_table(new), rows_of(new)),
        (SparseColumns.from_table(new), rows_of(new)),
        (masked(new, known), rows_of(new, known)),
    ):
        found = fitted.row_code.log_probs(store, counted.code_counts.features)
        bits = [naive_code.row_bits(row, features, variables, known_counts) for row in rows]
        assert found == pytest.approx([-each * math.log(2) for each in bits], abs=1e-9)
    total = sum(
        naive_code.row_bits(row, features, variables, known_counts) for row in rows_of(table)
    )
    model = naive_code.model_bits(len(fitted.merges), *table.shape, table.any(axis=0).sum())
    assert counted.description_length() == pytest.approx(total + model)


@given(fitted_sets(most=8))
def test_probabilities_of_all_rows_sum_to_one(given_set):
    fitted, table, _ = given_set
    counted = fitted.with_code_counts(PackedColumns.from_table(table))
    every = np.array([*product([False, True], repeat=table.shape[1])])
    logs = fitted.row_code.log_probs(PackedColumns.from_table(every), counted.code_counts.features)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-9)


@given(fitted_sets())
def test_probabilities_are_the_same_with_and_without_c(given_set):
    fitted, table, rng = given_set
    counted = fitted.with_code_counts(PackedColumns.from_table(table))
    new = rng.random((200, table.shape[1])) < 0.4
    found = []
    # in C with the instructions of this processor and with those that every one has
    for compiled, way in ((True, code.counting_way()), (True, 0), (False, 0)):
        with in_c(compiled), pytest.MonkeyPatch.context() as patch:
            patch.setattr(code, "counting_way", lambda way=way: way)
            again = fitted.with_code_counts(PackedColumns.from_table(table)).code_counts
            assert all(map(np.array_equal, again, counted.code_counts))
            for columns in (PackedColumns.from_table(new), SparseColumns.from_table(new)):
                logs = fitted.row_code.log_probs(columns, counted.code_counts.features)
                found.append(logs.tolist())
    assert all(logs == found[0] for logs in found)


def test_many_rows_are_counted_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.random((1000, 6)) < 0.5
    table[:, 1] |= table[:, 0]
    fitted = UFC().fit(table).feature_set_
    whole = fitted.with_code_counts(PackedColumns.from_table(table)).code_counts
    monkeypatch.setattr("conjunct.features.code._BLOCK_ROWS", 64)
    for columns in (
        PackedColumns.from_table(table),
        SparseColumns.from_table(table),
        masked(table, np.ones_like(table)),
    ):
        parts = fitted.with_code_counts(columns).code_counts
        assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


@pytest.mark.parametrize("layout", [PackedColumns, SparseColumns])
@pytest.mark.parametrize("n_rows", [63, 64, 65, 200, 1000])
def test_rows_are_counted_on_threads(layout, n_rows, monkeypatch):
    rng = np.random.default_rng(n_rows)
    table = rng.random((n_rows, 7)) < 0.4
    table[:, 1] |= table[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = UFC(0.05, max_iter=2, stop="never").fit(table).feature_set_
    columns = layout.from_table(table)
    whole = fitted.with_code_counts(columns).code_counts
    logs = fitted.row_code.log_probs(columns, whole.features)
    monkeypatch.setattr(code, "_CELLS_PER_THREAD", 1)
    parts = []
    alone = code.run_threads
    monkeypatch.setattr(
        code, "run_threads", lambda edges, work: (parts.append(edges), alone(edges, work))
    )
    for n_jobs in (1, 2, 3, 8):
        some = columns.with_jobs(n_jobs)
        again = fitted.with_code_counts(some).code_counts
        assert all(map(np.array_equal, again, whole))
        assert fitted.row_code.log_probs(some, whole.features).tolist() == logs.tolist()
    if code.native_library is not None:
        assert max(len(set(edges)) for edges in parts) == min(8, -(-n_rows // 64)) + 1
        assert all(edges[0] == 0 and edges[-1] == n_rows for edges in parts)


def test_columns_that_take_no_part_are_counted_too():
    # of six columns two are merged, one has a variable with them, and the others are alone
    rng = np.random.default_rng(3)
    table = rng.random((90, 6)) < 0.4
    table[:, 4] = table[:, 1] | (rng.random(90) < 0.1)
    fitted = UFC(0.6, max_iter=1, stop="never").fit(table).feature_set_
    assert len(fitted.merges) == 1
    for variables in ((), (None, "u", None, "u", None, None), ("u", "u", None, None, None, "v")):
        check_counts(replace(fitted, variables=variables), table, rng)
        check_probabilities(replace(fitted, variables=variables), table, rng)
        with in_c(compiled=False):
            check_counts(replace(fitted, variables=variables), table, rng)
            check_probabilities(replace(fitted, variables=variables), table, rng)
