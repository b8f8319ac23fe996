"""Compare the speed of the counting kernel with the limits of a thread.

There are two limits: the processor's instruction for population counts, and the fastest of a few
ways to count the ones of ``a & b``. Both are in C for this processor, on two lines that stay in the
first-level cache. Times are CPU times.
"""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._apart import timed
from benchmarks._measure import report
from benchmarks._results import save
from conjunct.columns import PackedColumns
from conjunct.columns.kernel import kernel_name

WAYS = {
    "words": "`popcnt`, a word at a time",
    "tables": "AVX2, look-up tables",
    "adders": "AVX2, adders first (Harley and Seal)",
    "wide_words": "AVX-512 `vpopcntq`, eight words at a time",
}
N_ROWS, N_COLUMNS = 1_000_000, 1000
BOUND = 70
ROUNDS = 5
LARGE = 1 << 29
"""Bytes: more than any cache holds."""


def main() -> int:
    if shutil.which("cc") is None:
        print("no C compiler (cc): the limit cannot be measured")
        return 0
    # in turn, so that what disturbs one disturbs the other
    tried = [(popcount_limits(), kernel_rates()) for _ in range(ROUNDS)]
    limits, kernel = (
        {k: max(one[k] for one in some) for k in some[0]} for some in zip(*tried, strict=True)
    )
    read, copy = bandwidth()
    best = max(limits.values())
    for way, rate in limits.items():
        print(f"{WAYS[way]:<58} {rate / 1e12:8.3f} tera bit pairs a second")
    print(f"kernel {kernel_name()}, {N_ROWS:,} × {N_COLUMNS:,}: {kernel['table'] / 1e12:.3f},")
    print(f"128 lines that stay in the cache: {kernel['cache'] / 1e12:.3f}")
    print(f"memory: read {read / 1e9:.1f} GB a second, copy {copy / 1e9:.1f}")
    save(
        "limit",
        {
            "limits": limits,
            "kernel": kernel,
            "kernel_name": kernel_name(),
            "shape": [N_ROWS, N_COLUMNS],
            "read": read,
            "copy": copy,
        },
    )
    share = 100 * kernel["table"] / best
    return report("kernel / the quickest way in C", share, BOUND, at_least=True, unit="%")


def instruction_rate(limits: dict[str, float]) -> float:
    """Return the speed of the processor's instruction for population counts."""
    return limits.get("wide_words", limits["words"])


def popcount_limits() -> dict[str, float]:
    """Return the bit pairs per second of each way of counting, after checking the way."""
    lines = np.random.default_rng(0).integers(0, 1 << 63, (2, 1024), np.uint64)
    expected = int(np.bitwise_count(lines[0] & lines[1]).sum())
    found = {}
    with _compiled() as library:
        for way in WAYS:
            if not hasattr(library, way):
                continue
            count = getattr(library, way)
            count.restype = ctypes.c_uint64
            one, other = (ctypes.c_void_p(line.ctypes.data) for line in lines)

            def counted(times: int, count: Any = count, one: Any = one, other: Any = other) -> int:
                return int(count(one, other, ctypes.c_size_t(1024), ctypes.c_size_t(times)))

            if counted(3) != 3 * expected:
                raise RuntimeError(f"{way} counts wrongly")
            seconds = timed(lambda counted=counted: counted(20_000), repeat=3)["seconds"]
            found[way] = 64 * 1024 * 20_000 / seconds
    return found


def bandwidth() -> tuple[float, float]:
    """Return the bytes per second that a thread reads, and copies (reads and writes)."""
    large, other = np.ones(LARGE // 8, np.uint64), np.ones(LARGE // 8, np.uint64)
    with _compiled() as library:
        start, n_words = ctypes.c_void_p(large.ctypes.data), ctypes.c_size_t(large.size)
        read = timed(lambda: library.read_once(start, n_words), repeat=5)["seconds"]
    copy = timed(lambda: np.copyto(other, large), repeat=5)["seconds"]
    return LARGE / read, LARGE / copy


def kernel_rates() -> dict[str, float]:
    """Measure lines in memory, and lines in the cache."""
    return {"table": _kernel_rate(N_COLUMNS, N_ROWS), "cache": _kernel_rate(128, 1 << 15)}


def _kernel_rate(n_columns: int, n_rows: int) -> float:
    """Return the bit pairs that conjunct counts per second."""
    n_bytes = math.ceil(n_rows / 512) * 64
    lines = np.random.default_rng(0).integers(0, 256, (n_columns, n_bytes), np.uint8)
    store = PackedColumns(lines, 8 * n_bytes)
    pairs = n_columns * (n_columns + 1) / 2 * store.n_rows
    times = max(1, round(5e10 / pairs))
    seconds = timed(lambda: [store.joint_counts() for _ in range(times)], repeat=2)["seconds"]
    return times * pairs / float(seconds)


@contextmanager
def _compiled() -> Iterator[Any]:
    """Load the functions of ``_limit.c``, compiled for this processor."""
    source = Path(__file__).with_name("_limit.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "limit.so"
        options = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["cc", *options, "-o", library, source], check=True)
        yield ctypes.CDLL(str(library))
