"""Measure the cost of a merge on large sets, in runs that end by themselves.

A merge counts one new column with all others. Its whole time, including the search for the best
pair, is compared with the time to count one column of median support after half of the merges, in
the layout of the merges: bits or lists of rows. Bits are counted in C, as merges count them; lists
of rows with SciPy and NumPy, which takes longer than in C. Each set is measured in a separate
process, on one thread; both figures are medians of CPU time. Then follows the cost of a merge for
generated tags, with more and more columns.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._apart import Measurement, answer, measured_apart, timed
from benchmarks._data import benchmark_set, zipf
from benchmarks._measure import report
from benchmarks._merging import SHAPES, grown, merge_exponent
from benchmarks._results import save
from conjunct import UFC
from conjunct.columns import PackedColumns, SparseColumns
from conjunct.columns.kernel import count_pairs
from conjunct.columns.sizing import merge_seconds

SETS = ("nuswide81", "accidents_15k", "delicious", "t10i4d100k", "retail")
BOUND, EXPONENT = 3, 1.1
REPEAT = 500


def main() -> int:
    missed, lines = 0, []
    for name in SETS:
        line = measured_apart("benchmarks.merges", name)
        lines.append(line)
        n_rows, n_columns = line["shape"]
        print(
            f"{line['name']}, {n_rows:,} × {n_columns:,}, as {line['layout']}: "
            f"{line['seconds']:.1f} s, {line['merges']:,} merges, "
            f"{line['resident'] / 1e6:.0f} MB, L% {line['percent']:.1f}\n"
            f"  a merge {line['merge'] * 1e3:.3f} ms, at most {line['slowest'] * 1e3:.1f} ms; the "
            f"count of one of {line['columns']:,} columns, true in {line['support']:,} rows, "
            f"{line['count'] * 1e3:.3f} ms\n  {line['stop_reason']}",
            flush=True,
        )
        missed += report(
            f"{name}: a merge / the count of one column",
            line["merge"] / line["count"],
            BOUND,
            at_least=False,
        )
    points = grown()
    for shape in SHAPES if points else ():
        found = [point for point in points if point["shape"] == shape]
        print(f"{shape}: " + ", ".join(f"{point['seconds'] * 1e3:.3f} ms" for point in found))
        slope = merge_exponent(found)
        missed += report(f"{shape}: exponent in columns", slope, EXPONENT, at_least=False, unit="")
    save("merges", {"bound": BOUND, "sets": lines, "grown": points})
    return missed


def alone(name: str) -> Measurement:
    """Measure one set in this process."""
    warnings.simplefilter("ignore")
    UFC().fit(zipf(500, 50, 8))  # imports are not what is measured
    title, data = benchmark_set(name)
    ends: list[float] = []
    model = UFC()
    fitted = timed(lambda: model.fit(data, callback=lambda _: ends.append(time.process_time())))
    found = {"name": title, "shape": data.shape, **fitted}
    merges, last = np.diff(ends), model.feature_set_.merges
    halfway = UFC(max_iter=len(last) // 2).fit(data).feature_set_
    store = model.read_columns(data)
    of_dense, of_lists = merge_seconds(*data.shape, int(data.nnz))
    as_lists = isinstance(store, SparseColumns) or of_lists < of_dense
    store = halfway.evaluate(store)
    if as_lists and isinstance(store, PackedColumns):
        store = SparseColumns.of(store)
    supports = store.supports()
    median = int(np.abs(supports - np.median(supports)).argmin())
    return {
        **found,
        "layout": "lists" if as_lists else "bits",
        "merges": len(last),
        "percent": 100 * model.krimp_length_ / model.krimp_baseline_,
        "stop_reason": model.stop_reason_,
        "merge": float(np.median(merges)),
        "slowest": float(merges.max(initial=0)),
        "support": int(supports[median]),
        "columns": store.n_columns,
        "count": _median_time(_counting(store, median)),
    }


def _median_time(function: Callable[[], Any]) -> float:
    ends = [time.process_time()]
    for _ in range(REPEAT):
        function()
        ends.append(time.process_time())
    return float(np.median(np.diff(ends)))


def _counting(store: PackedColumns | SparseColumns, column: int) -> Callable[[], Any]:
    """Return a function that counts one column with all others, in the layout of a store."""
    if isinstance(store, PackedColumns):
        lines = store.bits
        return lambda: count_pairs(lines, lines[[column]], 1)
    rows, cells, n_columns = store.raw_columns[column], store.rows_matrix, store.n_columns
    return lambda: np.bincount(cells[rows].indices, minlength=n_columns)


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
