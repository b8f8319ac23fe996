"""Check a thousand fits in a row, sixteen at a time: no leak, the same results."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks._measure import report
from conjunct import UFC, Risk, UFringe
from conjunct.datasets import load_spect

TABLE = load_spect().values


def resident() -> float:
    """Return the present memory in megabytes (Linux)."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def fitted(seed: int) -> bytes:
    """Return the packed features of a fit on rows in a random order, which are always the same."""
    rows = np.random.default_rng(seed).permutation(len(TABLE))
    model = UFC(Risk(alpha=0.0001, prune=False)).fit(TABLE[rows])
    return np.packbits(model.transform(TABLE)).tobytes()


def growth(fit: Callable[[int], object], n_fits: int = 1000, after: int = 100) -> float:
    """Return resident memory after ``n_fits``, as a multiple of that after the first ``after``."""
    for k in range(after):
        fit(k)
    before = resident()
    for k in range(after, n_fits):
        fit(k)
    now = resident()
    print(f"  {before:.1f} MB after {after} fits, {now:.1f} MB after {n_fits}")
    return now / before


def main() -> int:
    missed = report(
        "UFC: memory after 1,000 fits / after 100", growth(fitted), 1.05, at_least=False
    )
    tree = UFringe(max_features=60)
    value = growth(lambda k: tree.fit(TABLE), 300)
    missed += report("UFringe: memory after 300 fits / after 100", value, 1.05, at_least=False)
    expected = fitted(0)
    with ThreadPoolExecutor(16) as threads:
        same = [made == expected for made in threads.map(fitted, range(64))]
    missed += report("16 threads: share of 64 fits that agree", np.mean(same), 1, at_least=True)
    with ProcessPoolExecutor(16, mp_context=get_context("spawn")) as processes:
        same = [made == expected for made in processes.map(fitted, range(64))]
    missed += report("16 processes: share of 64 fits that agree", np.mean(same), 1, at_least=True)
    return missed
