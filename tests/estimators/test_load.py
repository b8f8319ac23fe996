"""Many fits: memory stays flat, and threads and processes find the same."""

import gc
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from conjunct import UFC, ClusteringTree, UFCPath, UFringe, load
from conjunct.datasets import load_spect, load_zoo

TABLE = load_zoo().values
MODELS = {
    "UFC": lambda: UFC(0.2, prune=False),
    "pairwise": lambda: UFC(search="pairwise", max_length=3),
    "UFCPath": lambda: UFCPath(max_iter=2),
    "UFringe": lambda: UFringe(max_features=30),
    "ClusteringTree": lambda: ClusteringTree(max_depth=4),
}
N_THREADS = 16


def resident():
    gc.collect()
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


def fingerprint(name):
    """What a fit finds, in a form that goes from one process to another."""
    model = MODELS[name]().fit(TABLE)
    return list(map(str, getattr(model, "features_", None) or model.descriptions_))


def fit_many(send):
    """In a process of its own: what other tests have left in memory would hide a leak."""
    table = load_spect().values
    sizes = {}
    for k in range(1, 301):
        UFC(alpha=0.0001, prune=False).fit(table).transform(table)
        if k in (100, 300):
            sizes[k] = resident()
    send.send(sizes)


def test_memory_stays_flat():
    """`python -m benchmarks load` says the same of a thousand fits."""
    context = get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=fit_many, args=(send,))
    process.start()
    sizes = receive.recv()
    process.join(60)
    assert sizes[300] < 1.05 * sizes[100]


@pytest.mark.parametrize("name", MODELS)
def test_fits_in_threads_agree(name):
    expected = fingerprint(name)
    with ThreadPoolExecutor(N_THREADS) as threads:
        assert all(found == expected for found in threads.map(fingerprint, [name] * N_THREADS))


def test_fits_in_processes_agree():
    expected = {name: fingerprint(name) for name in MODELS}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        names = list(MODELS) * 4
        for name, found in zip(names, processes.map(fingerprint, names), strict=True):
            assert found == expected[name]


@pytest.mark.parametrize("name", MODELS)
def test_one_model_transforms_in_many_threads(name, tmp_path):
    """Whatever a model makes when first asked for, it makes it for all threads alike."""
    fitted = MODELS[name]().fit(TABLE)
    if name == "ClusteringTree":

        def apply(part):
            return fitted.predict(part)
    else:
        # a model from a file has made nothing yet
        fitted.save(tmp_path / "m.json")
        fitted = load(tmp_path / "m.json")

        def apply(part):
            fitted.get_feature_names_out()
            return np.asarray(fitted.transform(part))

    rng = np.random.default_rng(0)
    parts = [TABLE[rng.integers(0, len(TABLE), 50)] for _ in range(8 * N_THREADS)]
    with warnings.catch_warnings(), ThreadPoolExecutor(N_THREADS) as threads:
        found = list(threads.map(apply, parts))
    for part, made in zip(parts, found, strict=True):
        assert (made == apply(part)).all()
