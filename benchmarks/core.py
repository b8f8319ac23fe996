"""Compare counting and uFC with ``np.corrcoef``, on generated data of 200,000 × 500."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import best_time, peak_memory, report
from conjunct import UFC
from conjunct.columns import PackedColumns
from conjunct.columns.kernel import kernel_name

N_ROWS, N_COLUMNS, N_JOBS = 200_000, 500, 2


def generated(n_rows: int) -> NDArray[np.bool_]:
    """Return tags in 2% of the rows each; every tenth often occurs with its neighbour."""
    rng = np.random.default_rng(0)
    table = rng.random((n_rows, N_COLUMNS), np.float32) < 0.02
    for k in range(0, N_COLUMNS, 10):
        copied = rng.random(n_rows, np.float32) < 0.5
        table[:, k] = np.where(copied, table[:, k + 1], table[:, k])
    return table


def main() -> int:
    table = generated(N_ROWS)
    store = PackedColumns.from_table(table, n_jobs=N_JOBS)
    model, three = UFC("risk", n_jobs=N_JOBS), UFC("risk", max_iter=3, n_jobs=N_JOBS)
    three.fit(table[:20_000])  # imports and first calls are not what is measured
    as_floats = table.astype(np.float32)
    corrcoef = best_time(lambda: np.corrcoef(as_floats, rowvar=False))
    counting = best_time(store.joint_counts, repeat=5)
    fit = best_time(lambda: model.fit(table))
    fit_three = best_time(lambda: three.fit(table))
    memory = peak_memory(lambda: model.fit(table))
    quadrupled = generated(4 * N_ROWS)
    fit_quadrupled = best_time(lambda: three.fit(quadrupled))

    n_pairs = N_COLUMNS * (N_COLUMNS - 1) // 2
    allowed = 3 * table.size / 8 + 40 * n_pairs
    rate = n_pairs * N_ROWS / counting / 1e12
    print(f"{N_ROWS:,} × {N_COLUMNS} Boolean, kernel {kernel_name()}, {N_JOBS} threads")
    print(f"corrcoef {corrcoef:.3f} s, counting {counting:.3f} s ({rate:.2f} tera bit pairs a")
    print(f"second), UFC('risk').fit {fit:.3f} s with {model.n_iter_} iterations kept")
    return sum(
        (
            report("one whole count / np.corrcoef", counting / corrcoef, 0.05, at_least=False),
            report("three iterations / np.corrcoef", fit_three / corrcoef, 0.3, at_least=False),
            report("UFC('risk').fit / np.corrcoef", fit / corrcoef, 1, at_least=False),
            report(
                "three iterations on 4 n rows / on n rows",
                fit_quadrupled / fit_three,
                5,
                at_least=False,
            ),
            report(
                "peak extra memory / (3 bits a cell + 40 bytes a pair)",
                memory / allowed,
                1,
                at_least=False,
            ),
        )
    )
