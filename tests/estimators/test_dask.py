"""UFC on collections of Dask against the same rows in memory."""

import os
import pickle
import signal
import sys
import warnings

import cloudpickle
import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st

from conjunct import (
    UFC,
    ClusteringTree,
    ConjunctWarning,
    InputError,
    Risk,
    RowGroups,
    Threshold,
    UFCPath,
    UFringe,
    datasets,
)
from conjunct.columns import PackedColumns
from conjunct.counting import PartitionedColumns, Tally
from conjunct.counting import dask as cluster
from conjunct.counting import dask as dask_store
from conjunct.files.model import model_json
from conjunct.ufc import NoStop, RmsStop
from tables import tables

BUNDLED = [
    pytest.param(dataset.name, marks=() if dataset.name == "spect" else pytest.mark.slow)
    for dataset in datasets.DATASETS
]


def in_bytes(model):
    return model_json(model._model_file())


def fitted(model, data):
    with warnings.catch_warnings():
        # that RMS has no meaning, or that nothing was constructed, is not what is tested
        warnings.simplefilter("ignore", ConjunctWarning)
        return model.fit(data)


@pytest.fixture(scope="module")
def client():
    """Two workers, each in a process of its own."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def zoo():
    found = datasets.load_zoo()
    return pd.DataFrame(found.values, columns=list(found.feature_names))


def test_a_part_is_read_once(client, zoo, tmp_path):
    """Also those that are looked at to guess what all of them take."""

    def read(number):
        with (tmp_path / f"{number}").open("a") as file:
            file.write("once ")
        return zoo.to_numpy()[number::8]

    shapes = [zoo.to_numpy()[number::8].shape for number in range(8)]
    parts = [dask.delayed(read)(number) for number in range(8)]
    blocks = [da.from_delayed(p, s, bool) for p, s in zip(parts, shapes, strict=True)]
    fitted(UFC(max_iter=2), da.concatenate(blocks))
    assert [(tmp_path / f"{number}").read_text() for number in range(8)] == ["once "] * 8


def test_parts_of_known_size_are_not_looked_at(client, monkeypatch):
    """Which would be a wait more; a data frame does not know how many rows its parts have."""
    looked = []
    look = dask_store._probe_sizes
    monkeypatch.setattr(
        dask_store, "_probe_sizes", lambda parts: looked.append(parts) or look(parts)
    )
    table = np.random.default_rng(0).random((300, 7)) < 0.5
    known = da.from_array(table, chunks=(50, 7))
    expected = in_bytes(fitted(UFC(), table))
    assert in_bytes(fitted(UFC(), known)) == expected
    assert not looked
    assert in_bytes(fitted(UFC(), known[known.any(axis=1)])) == in_bytes(
        fitted(UFC(), table[table.any(axis=1)])
    )
    assert len(looked) == 1


def test_parts_that_cannot_stay_are_counted_one_after_the_other(client, monkeypatch):
    """Dask would keep what two graphs make until the second had it."""
    monkeypatch.setattr(dask_store, "total_memory", lambda client: 1)
    table = np.random.default_rng(0).random((300, 7)) < 0.5
    make = dask_store.task(PackedColumns.from_table)
    parts = dask_store.DaskPartitions([make(part) for part in np.array_split(table, 4)], 7)
    with monkeypatch.context() as patch:
        patch.setattr(dask_store, "persist", None)
        counted = parts.begin_distinct_rows()
    assert counted() == len(np.unique(table, axis=0))


@pytest.mark.parametrize("limit", [0, 1 << 30])
def test_values_of_any_size_reach_the_tasks(client, limit, monkeypatch):
    """With each of them if they are small, or once."""
    monkeypatch.setattr(dask_store, "_WITH_TASKS", limit)
    table = np.random.default_rng(0).random((300, 7)) < [0.5, 0.5, 0.4, 0.3, 0.3, 0.2, 0.2]
    table[:, 1] |= table[:, 0]
    model = fitted(UFC("risk", max_iter=2), da.from_array(table, chunks=(50, 7)))
    assert in_bytes(model) == in_bytes(fitted(UFC("risk", max_iter=2), table))


@given(tables(max_rows=60), st.data())
def test_any_split_gives_the_same_counts(table, data):
    n = len(table)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=10)))
    m = table.shape[1]
    store = PackedColumns.from_table(table)
    with dask.config.set(scheduler="synchronous"):
        make = dask_store.task(PackedColumns.from_table)
        parts = dask_store.DaskPartitions([make(part) for part in np.split(table, cuts)], m)
        assert parts.n_rows == n
        assert parts.count_distinct_rows() == store.count_distinct_rows()
        assert PartitionedColumns(parts).count_null_rows() == store.count_null_rows()
        assert np.array_equal(
            Tally.of(PartitionedColumns(parts)).counts.joint, store.joint_counts()
        )


def test_rows_are_told_apart_in_buckets(monkeypatch):
    monkeypatch.setattr(dask_store, "_DISTINCT_BYTES", 100)
    monkeypatch.setattr(dask_store, "_BUCKET_ROWS", 2)
    table = np.random.default_rng(0).random((300, 7)) < 0.5
    with dask.config.set(scheduler="synchronous"):
        make = dask_store.task(PackedColumns.from_table)
        parts = dask_store.DaskPartitions([make(part) for part in np.array_split(table, 20)], 7)
        assert parts.count_distinct_rows() == len(np.unique(table, axis=0))


def test_the_parts_of_a_worker_are_counted_together(client, monkeypatch):
    table = np.random.default_rng(0).random((300, 7)) < 0.5
    expected = PackedColumns.from_table(table).joint_counts()

    def partitions():
        make = dask_store.task(PackedColumns.from_table)
        made = dask_store.DaskPartitions([make(part) for part in np.array_split(table, 24)], 7)
        assert made.n_rows == 300
        assert made.count_distinct_rows() == len(np.unique(table, axis=0))
        counts = Tally.of(PartitionedColumns(made)).counts
        assert np.array_equal(counts.joint, expected)
        return made

    n_threads = sum(client.nthreads().values())
    assert len(partitions()._source) <= n_threads < 24
    # large ones are not, so that a task does not take too much memory
    monkeypatch.setattr(dask_store, "_TASK_BYTES", 1)
    assert len(partitions()._source) == 24


@pytest.mark.parametrize("name", BUNDLED)
def test_workers_make_the_same_model_file(client, name):
    found = datasets.load(name)
    frame = pd.DataFrame(found.values, columns=list(found.feature_names))
    expected = fitted(UFC(Risk(alpha=0.01), max_iter=3, feature_names="formula"), frame)
    actual = fitted(
        UFC(Risk(alpha=0.01), max_iter=3, feature_names="formula"),
        dd.from_pandas(frame, npartitions=5),
    )
    assert in_bytes(actual) == in_bytes(expected)
    assert actual.n_distinct_rows_ == expected.n_distinct_rows_


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_workers_count_a_round_at_once(client, storage, monkeypatch):
    """All of its merges and their patterns, in each part; cells may be missing."""
    random = np.random.default_rng(0)
    table = np.repeat(random.random((400, 8)) < 0.3, 3, axis=1) & (random.random((400, 24)) < 0.9)
    frame = pd.DataFrame(table, columns=[f"c{k:02}" for k in range(24)])
    if storage == "dense":
        frame = frame.astype("boolean").mask(random.random(table.shape) < 0.05)
    options = {"search": "batch", "storage": storage}
    expected = fitted(UFC(**options), frame)
    passes, count = [], dask_store.DaskPartitions.total
    monkeypatch.setattr(
        dask_store.DaskPartitions,
        "total",
        lambda self, *what: passes.append(what[0]) or count(self, *what),
    )
    actual = fitted(UFC(**options), dd.from_pandas(frame, npartitions=5))
    assert in_bytes(actual) == in_bytes(expected)
    # and one for the pair that is not worth its cost
    n_passes = len({len(rewrites) for rewrites in passes if rewrites})
    assert n_passes == expected.n_iter_ + 1
    assert len(expected.feature_set_.merges) > 3 * expected.n_iter_


@pytest.mark.slow
def test_a_worker_killed_during_the_second_iteration_changes_nothing(client, zoo):
    killed = []

    def kill(line):
        if line.iteration == 1:
            pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    expected = fitted(UFC(0.1, max_iter=4, feature_names="formula"), zoo)
    assert expected.n_iter_ > 2
    model = UFC(0.1, max_iter=4, feature_names="formula")
    actual = model.fit(dd.from_pandas(zoo, npartitions=4), callback=kill)
    assert killed
    assert in_bytes(actual) == in_bytes(expected)


@pytest.mark.parametrize("criterion", [0.3, "risk", "evidence", "bits"])
@pytest.mark.parametrize("stop", [RmsStop(null_feature=True), NoStop(null_feature=True), "gain"])
@pytest.mark.parametrize("search", ["batch", "pairwise"])
def test_arrays_and_frames_without_a_cluster(zoo, criterion, stop, search):
    options = {"criterion": criterion, "stop": stop, "search": search, "max_length": 4}
    with dask.config.set(scheduler="synchronous"):
        frame = fitted(UFC(**options), dd.from_pandas(zoo, npartitions=3))
        assert in_bytes(frame) == in_bytes(fitted(UFC(**options), zoo))
        array = da.from_array(zoo.to_numpy(), chunks=(40, 6))
        assert in_bytes(fitted(UFC(**options), array)) == in_bytes(
            fitted(UFC(**options), zoo.to_numpy())
        )


def test_transform_is_lazy_and_of_the_same_kind(zoo):
    model = fitted(UFC(Threshold(0.3, prune=True), max_iter=2, feature_names="formula"), zoo)
    features = model.transform(dd.from_pandas(zoo, npartitions=3))
    assert isinstance(features, dd.DataFrame)
    assert list(features.columns) == list(model.get_feature_names_out())
    with dask.config.set(scheduler="synchronous"):
        pd.testing.assert_frame_equal(features.compute(), model.transform(zoo))
    array = da.from_array(zoo.to_numpy(), chunks=(40, 6))
    nameless = fitted(
        UFC(Threshold(0.3, prune=True), max_iter=2, feature_names="formula"), zoo.to_numpy()
    )
    features = nameless.transform(array)
    assert isinstance(features, da.Array)
    assert features.shape == (len(zoo), len(nameless.features_))
    assert features.dtype == bool
    with dask.config.set(scheduler="synchronous"):
        assert np.array_equal(features.compute(), nameless.transform(zoo.to_numpy()))


def test_transform_of_missing_cells(zoo):
    cells = zoo.to_numpy().astype(float)
    cells[3, 2] = np.nan
    model = fitted(
        UFC(Threshold(0.3, prune=True), max_iter=2, missing="pairwise", feature_names="formula"),
        zoo.to_numpy(),
    )
    features = model.transform(da.from_array(cells, chunks=(40, 15)))
    with dask.config.set(scheduler="synchronous"):
        actual = features.compute()
    assert features.dtype == actual.dtype == float
    assert np.array_equal(actual, model.transform(cells), equal_nan=True)


def test_other_names_are_refused_as_in_memory(zoo):
    model = fitted(UFC(Threshold(0.3, prune=True), max_iter=1, feature_names="formula"), zoo)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(dd.from_pandas(zoo.rename(columns={"hair": "fur"}), npartitions=2))


@pytest.mark.parametrize("estimator", [UFCPath(), UFringe(), ClusteringTree()])
def test_the_others_stay_local_and_say_so(zoo, estimator):
    with pytest.raises(InputError, match=r"needs all rows in memory: call \.compute\(\) on a Dask"):
        estimator.fit(dd.from_pandas(zoo, npartitions=2))
    model = fitted(UFC(Threshold(0.3, prune=True), max_iter=1, feature_names="formula"), zoo)
    with pytest.raises(InputError, match=r"only fit and transform take a Dask collection"):
        model.find_rows(0, dd.from_pandas(zoo, npartitions=2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: da.from_array(t[0], chunks=5), "a Dask Array has no columns"),
        (lambda t: dask.bag.from_sequence([{"a"}]), "a Dask Bag has no columns"),
        (lambda t: da.from_array(t[:0], chunks=5), r"the table has no rows \(0 sample"),
        (
            lambda t: da.from_array(
                np.where(np.arange(len(t))[:, None] == 50, 7, t), chunks=(20, 3)
            ),
            r"partition 2, column 'x0', row 10: 7 is not Boolean",
        ),
    ],
)
def test_bad_input(zoo, make, message):
    data = make(zoo.to_numpy())
    with dask.config.set(scheduler="synchronous"), pytest.raises(InputError, match=message):
        UFC().fit(data)


def test_missing_cells(zoo):
    cells = zoo.to_numpy().astype(float)
    cells[3, 2] = np.nan
    data = da.from_array(cells, chunks=(40, 15))
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(InputError, match=r"partition 0, column 'x2', row 3: the value is miss"):
            UFC(missing="raise").fit(data)
        for way in ("false", "pairwise"):
            options = {"missing": way, "criterion": Threshold(0.3, prune=True), "max_iter": 3}
            assert in_bytes(fitted(UFC(**options), data)) == in_bytes(fitted(UFC(**options), cells))


@pytest.mark.parametrize(
    "store",
    ["auto", *(pytest.param(store, marks=pytest.mark.slow) for store in ("dense", "sparse"))],
)
def test_lists_and_bits_give_the_same_model_file(client, store):
    """Chunks may be sparse matrices, which stay lists on the workers."""
    rng = np.random.default_rng(0)
    table = rng.random((6000, 1500)) < 0.004
    table[:, 1] = table[:, 0]
    rows = sp.csr_array(table)
    options = {"criterion": 0.1, "max_iter": 3}
    expected = fitted(UFC(**options), rows)
    assert expected.n_iter_ > 0
    parts = [da.from_array(rows[k : k + 2000], chunks=(2000, 1500)) for k in (0, 2000, 4000)]
    data = da.concatenate(parts)
    actual = fitted(UFC(**options, storage=store), data)
    assert actual.to_json() == expected.to_json()
    features = actual.transform(data)
    assert (features.compute() != expected.transform(rows)).nnz == 0


def test_parts_that_workers_cannot_hold_are_made_again(client, zoo, monkeypatch):
    monkeypatch.setattr(dask_store, "total_memory", lambda client: 10)
    expected = fitted(UFC(0.1, max_iter=4, feature_names="formula"), zoo)
    actual = fitted(
        UFC(0.1, max_iter=4, feature_names="formula"), dd.from_pandas(zoo, npartitions=4)
    )
    assert in_bytes(actual) == in_bytes(expected)


def test_the_memory_of_workers(client):
    limits = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    assert cluster.total_memory(cluster.check_workers(client)) == sum(limits) > 10**8


def test_estimate_cost_of_parts(zoo):
    with dask.config.set(scheduler="synchronous"):
        parts, m = dd.from_pandas(zoo, npartitions=2), zoo.shape[1]
        assert UFC("risk").estimate_cost(parts).n_bytes == 22 * m**2
        # without batches, and with room for the columns that merges add; what columns, merges and
        # tags take
        counts = 4 * m**2 + int(4 * (1.25 * m) ** 2) + 60 * m**2
        assert UFC().estimate_cost(parts).n_bytes == counts + 700 * m + 8000 * 5 * m


def test_workers_with_other_versions_are_refused():
    here, _ = cluster._make_probe()(cluster._CHECKED, ())
    other = here | {"conjunct": "0.0.1"}
    with pytest.raises(InputError, match=r"worker tcp://w:1 has conjunct 0\.0\.1, but this"):
        cluster.check_versions({"tcp://v:1": here, "tcp://w:1": other})


def test_a_worker_without_conjunct_is_refused(monkeypatch):
    """Dask asks it all the same: what is asked is sent as it is."""
    look = pickle.loads(cloudpickle.dumps(cluster._make_probe()))
    monkeypatch.setitem(sys.modules, "conjunct", None)
    for name in [name for name in sys.modules if name.startswith("conjunct.")]:
        monkeypatch.setitem(sys.modules, name, None)
    versions, resident = look(["numpy", "no such package"], ["conjunct.estimators"])
    assert versions["numpy"] == np.__version__
    assert versions["no such package"] == "none"
    assert resident == 0


def test_without_dask_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(InputError, match=r"Dask is not installed: pip install"):
        dask_store.task(len)


def test_groups_of_rows(client, zoo):
    """Sums over parts are those over all rows, up to rounding."""
    here = RowGroups(within="columns").fit(zoo)
    there = RowGroups(within="columns").fit(dd.from_pandas(zoo, npartitions=3))
    assert [(g.name, g.rows, g.marks) for g in there.groups_] == [
        (g.name, g.rows, g.marks) for g in here.groups_
    ]
    assert there.log_prob(zoo) == pytest.approx(here.log_prob(zoo))
