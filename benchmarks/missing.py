"""Measure the cost of ``missing="pairwise"``: none without missing cells, otherwise little."""

from __future__ import annotations

import numpy as np

from benchmarks._measure import best_time, report
from conjunct import UFC


def main() -> int:
    rng = np.random.default_rng(0)
    missed = 0
    for n_rows, n_columns in ((200_000, 200), (5_000, 500)):
        table = (rng.random((n_rows, n_columns), np.float32) < 0.05).astype(np.float64)
        table[:, 1::2] = np.where(rng.random((n_rows, 1)) < 0.7, table[:, ::2], table[:, 1::2])
        plain, pairwise = (UFC("risk", max_iter=2, missing=way) for way in ("raise", "pairwise"))
        plain_time, pairwise_time = [], []
        for _ in range(5):  # in turn, so that a busy machine slows down both
            plain_time.append(best_time(lambda: plain.fit(table), repeat=1))  # noqa: B023
            pairwise_time.append(best_time(lambda: pairwise.fit(table), repeat=1))  # noqa: B023
        what = f"{n_rows:,} × {n_columns} floats without gaps: pairwise / raise"
        missed += report(what, min(pairwise_time) / min(plain_time), 1.05, at_least=False)
        assert plain.features_ == pairwise.features_
        gaps = np.where(rng.random(table.shape, np.float32) < 0.05, np.nan, table)
        gap_time = best_time(lambda: pairwise.fit(gaps), repeat=1)  # noqa: B023
        print(
            f"  with 5% of the cells missing {gap_time:.2f} s, without {min(pairwise_time):.2f} s"
        )
    # every merge counts three columns and not one, each where it is true and where it is known
    causes = rng.random((20_000, 20)) < 0.3
    table = (causes[:, rng.integers(0, 20, 140)] ^ (rng.random((20_000, 140)) < 0.05)).astype(float)
    gaps = np.where(rng.random(table.shape) < 0.01, np.nan, table)
    model = UFC(max_iter=500)
    times = [best_time(lambda: model.fit(some), repeat=3) for some in (table, gaps)]  # noqa: B023
    what = f"500 merges of 20,000 × 140, 1% of the cells missing / none ({times[0]:.2f} s)"
    missed += report(what, times[1] / times[0], 8, at_least=False)
    return missed
