"""The store changes nothing but time and memory, whatever the container."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conjunct import UFC, Bits, BooleanData, Risk, Threshold, correlated_pairs
from conjunct.columns import PackedColumns, SparseColumns, sizing
from conjunct.errors import ConjunctWarning, InputError
from conjunct.memory import byte_text
from tables import tables

measures = st.sampled_from(["phi", "jaccard"])
options = st.fixed_dictionaries(
    {
        "criterion": st.one_of(
            st.builds(Risk, alpha=st.just(0.1), prune=st.booleans(), measure=measures),
            st.builds(Threshold, st.just(0.1), prune=st.booleans(), measure=measures),
            st.builds(Bits, alpha=st.sampled_from([0.1, None])),
        ),
        "max_iter": st.sampled_from([1, 3]),
        "search": st.sampled_from(["batch", "pairwise"]),
        "min_support": st.sampled_from([None, 0.01]),
    }
)


def containers(table, names):
    baskets = [[name for name, value in zip(names, row, strict=True) if value] for row in table]
    frame = pl.DataFrame(table, schema=list(names))
    yield table
    yield frame
    yield pd.DataFrame(table, columns=names)
    yield sp.csr_array(table)
    yield sp.coo_matrix(table.astype(float))
    if all(name in {item for basket in baskets for item in basket} for name in names):
        yield baskets
    yield BooleanData.from_data(frame)
    yield listed(table, names)


def listed(table, names):
    return BooleanData(tuple(names), SparseColumns.from_table(table), tags=True)


def as_array(data, names):
    if sp.issparse(data):
        return data.toarray()
    if isinstance(data, BooleanData):
        return np.column_stack([data.columns.cells(k)[0] for k in range(len(names))])
    if isinstance(data, list):
        return np.array([[name in basket for name in names] for basket in data])
    return np.asarray(data)


@pytest.mark.filterwarnings("ignore::conjunct.errors.ConjunctWarning")
@given(table=tables(max_rows=60, max_columns=5, min_rows=2), chosen=options)
def test_same_model_and_same_columns(table, chosen, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    names = [f"c{k}" for k in range(table.shape[1])]
    for data in containers(table, names):
        try:
            fitted = {kind: UFC(**chosen, storage=kind).fit(data) for kind in ("dense", "sparse")}
        except InputError as error:
            if "min_support" not in str(error):
                raise
            continue
        texts = list(fitted["dense"].get_feature_names_out())
        written = {}
        for kind, model in fitted.items():
            model.save(folder / kind)
            features = model.transform(data)
            written[kind] = (
                (folder / kind).read_bytes(),
                type(features),
                as_array(features, texts).tolist(),
                as_array(model.inverse_transform(features), names).tolist(),
                [model.find_rows(k, data).tolist() for k in range(len(texts))],
                model.explain(0, data),
                model.similar_features(0, data),
                model.formulas(X_train=data).texts(),
                model.rare_conjunctions(data, backend="dict", alpha=0.4, min_lift=1, max_support=1),
                correlated_pairs(data, Threshold(0.1, prune=True), storage=kind, backend="dict"),
            )
        for bits, rows in zip(written["dense"], written["sparse"], strict=True):
            assert repr(bits) == repr(rows)


def wide(n_rows=4000, n_columns=40_000, n_ones=30_000):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, n_rows, n_ones), (rng.random(n_ones) ** 3 * n_columns).astype(int)
    table = sp.csr_array((np.ones(n_ones, bool), cells), shape=(n_rows, n_columns))
    table.sum_duplicates()  # some versions of SciPy keep cells drawn twice
    return table


def test_wide_data_is_held_as_lists():
    data = wide(8000, 20_000, 15_000)
    assert data.shape[0] * data.shape[1] / 8 > 1 << 24
    assert isinstance(UFC()._read_to_fit(data).columns, SparseColumns)


@pytest.mark.slow
def test_wide_data_never_becomes_bits():
    data = wide(8000, 20_000, 15_000)
    model = UFC(Risk(prune=False), max_iter=1, feature_names="formula")
    tracemalloc.start()
    model.fit(data)
    features = model.transform(data)
    back = model.inverse_transform(features)
    model.find_rows(0, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # a matrix of counts alone would take 1.6 GB
    assert model.n_iter_ == 1
    assert (back != data).nnz == 0


@pytest.mark.parametrize("density", [0.5, 0.05])
def test_dense_data_becomes_bits(density):
    table = np.random.default_rng(0).random((500, 30)) < density
    for data in (table, sp.csr_array(table)):
        assert isinstance(UFC()._read_to_fit(data).columns, PackedColumns)


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ([0.0, 1.0, 1.0], {}),
        ([2, 0, 3], {"threshold": 1.5}),
        ([2.0, 0.5, 3.0], {"threshold": -1.0}),
        ([1.0, np.nan, 1.0], {"missing": "false"}),
        ([1.0, np.nan, 1.0], {"missing": "pairwise"}),
        ([1, 7, 1], {}),
        ([1.0, np.nan, 1.0], {}),
        ([1.0, np.inf, 1.0], {"threshold": 0.5}),
        ([1j, 1, 1], {}),
    ],
)
def test_stored_cells_mean_what_cells_mean(cells, options):
    matrix = sp.csr_array((np.array(cells), ([0, 1, 2], [0, 1, 1])), shape=(4, 2))

    def read(data):
        try:
            store = UFC(storage="dense", **options)._read_to_fit(data).columns
        except InputError as error:
            return str(error)
        return repr(store.raw_columns)

    assert read(matrix) == read(matrix.toarray())


def test_no_sparse_store_with_missing_cells():
    table = np.array([[1, np.nan], [0, 1]])
    with pytest.raises(InputError, match="storage='auto'"):
        UFC(storage="sparse", missing="pairwise").fit(table)


def test_unknown_store():
    with pytest.raises(InputError, match="storage must be 'auto', 'dense' or 'sparse'; got 'rows'"):
        UFC(storage="rows").fit(np.eye(4, dtype=bool))


def test_too_little_memory_is_told(monkeypatch):
    data = wide()
    monkeypatch.setattr(sizing, "available_bytes", lambda: 10**9)
    with pytest.raises(InputError) as told:
        UFC(storage="dense").fit(data)
    need = UFC("risk").estimate_cost(data)
    assert str(told.value) == (
        f"4000 rows and 40000 columns with {data.nnz} ones need about 35.3 GB of memory "
        f"(storage='dense'), but only 1 GB is available: storage='sparse' takes "
        f"{byte_text(need.n_bytes)}"
    )
    assert need.n_bytes < 10**8
    monkeypatch.setattr(sizing, "_SMALL_BYTES", 0)
    monkeypatch.setattr(sizing, "available_bytes", lambda: 10**6)
    with pytest.raises(InputError, match=r"1 MB is available: leave out rare columns, or .* Dask"):
        UFC().fit(data)
    with pytest.raises(InputError, match="1 MB is available"):
        UFC().fit(np.ones((200_000, 50), bool))


def test_reading_alone_needs_less_than_counting(monkeypatch):
    table = np.random.default_rng(0).random((300, 200)) < 0.1
    model = UFC(Risk(prune=False), max_iter=1, storage="dense", feature_names="formula").fit(table)
    monkeypatch.setattr(sizing, "_SMALL_BYTES", 0)
    monkeypatch.setattr(sizing, "available_bytes", lambda: 300 * 200)
    with pytest.raises(InputError, match="storage='dense'"):
        UFC(max_iter=1, storage="dense").fit(table)
    assert model.transform(table).shape[0] == 300


def test_features_that_outgrow_memory_are_refused_in_time(monkeypatch):
    """Noise without end: each iteration has half as many features again."""
    table = np.random.default_rng(0).random((500, 60)) < 0.3
    left = iter([10**9, *[15 * 10**4] * 100])
    monkeypatch.setattr(sizing, "_SMALL_BYTES", 0)
    monkeypatch.setattr(sizing, "available_bytes", lambda: next(left))
    with pytest.raises(InputError, match=r"the counts of \d+ columns need .* only 150 kB is left"):
        UFC(0.0, stop="never", storage="dense", feature_names="formula").fit(table)


def test_what_missing_cells_cost():
    cells = np.ones((1000, 100))
    complete = UFC("risk", missing="pairwise").estimate_cost(cells)
    cells[0, 0] = np.nan
    assert UFC("risk", missing="pairwise").estimate_cost(cells).n_bytes == 4 * complete.n_bytes


def test_cost_grows_with_the_data():
    small = UFC().estimate_cost(np.ones((1000, 100), bool))
    large = UFC().estimate_cost(np.ones((100_000, 200), bool))
    assert large.seconds > small.seconds
    assert large.n_bytes > small.n_bytes
    more = "more if many features are made"
    assert (
        str(sizing.CostEstimate(2_000_000_000, 7300)) == f"about 2 hours and 2 GB of memory, {more}"
    )
    assert str(sizing.CostEstimate(1, 130)) == f"about 2 minutes and 1 MB of memory, {more}"
    assert str(sizing.CostEstimate(1, 0.1)) == f"about 1 s and 1 MB of memory, {more}"


def test_memory_that_is_left_is_known():
    assert 0 < sizing.available_bytes() < 1 << 50


def test_where_rms_stops_at_once_what_would_help_is_named():
    rng = np.random.default_rng(0)
    rare = rng.random((2000, 400)) < 0.002
    base = rng.random((2000, 20)) < 0.05
    copied = (base & (rng.random((2000, 20)) < 0.8)) | (rng.random((2000, 20)) < 0.02)
    table = np.column_stack([rare, base, copied])
    with pytest.warns(
        ConjunctWarning, match="No feature was constructed.*criterion='evidence'.*low OI"
    ):
        UFC("risk").fit(table)
    for options in ({}, {"criterion": "risk", "max_iter": 1}):
        model = UFC(**options).fit(table)
        assert model.n_iter_ >= 1
        assert UFC(**options, storage="sparse").fit(table).features_ == model.features_
    with pytest.raises(InputError, match="stop must be 'gain', 'never', 'rms', or"):
        UFC("risk", stop="oi").fit(table)
