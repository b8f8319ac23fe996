"""Many fits: memory stays flat, and threads and processes find the same."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from conjunct import load
from estimators import fitting
from estimators.fitting import MODELS, TABLE, fitted, found

AT_ONCE = 16
every = pytest.mark.parametrize("name", MODELS)


@pytest.mark.slow
def test_memory_stays_flat():
    """`python -m benchmarks load` says the same of a thousand fits.

    In a process of its own: what other tests have left in memory would hide a leak.
    """
    run = [sys.executable, fitting.__file__, "10", "30"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    early, late = map(int, done.stdout.split())
    assert late < 1.05 * early


@every
def test_fits_in_threads_agree(name):
    expected = found(name)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert all(each == expected for each in threads.map(found, [name] * AT_ONCE))


@pytest.mark.slow
def test_fits_in_processes_agree(monkeypatch):
    expected = {name: found(name) for name in MODELS}
    names = list(MODELS) * AT_ONCE
    # one process imports, and the others begin as copies of it
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    context = get_context("forkserver")
    context.set_forkserver_preload([fitting.__name__])
    with ProcessPoolExecutor(AT_ONCE, mp_context=context) as processes:
        for name, each in zip(names, processes.map(found, names), strict=True):
            assert each == expected[name]


@every
def test_one_model_transforms_in_many_threads(name, tmp_path):
    """Whatever a model makes when first asked for, it makes it for all threads alike."""
    model = fitted(name)
    if name != "ClusteringTree":
        # a model from a file has made nothing yet
        model.save(tmp_path / "m.json")
        model = load(tmp_path / "m.json")

    def apply(part):
        if name == "ClusteringTree":
            return model.predict(part)
        model.get_feature_names_out()
        return np.asarray(model.transform(part))

    rng = np.random.default_rng(0)
    parts = [TABLE[rng.integers(0, len(TABLE), 50)] for _ in range(2 * AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        made = list(threads.map(apply, parts))
    for part, each in zip(parts, made, strict=True):
        assert (each == apply(part)).all()
