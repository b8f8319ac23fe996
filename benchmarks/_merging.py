"""Measure the cost of a merge, including the choice of the pair, by number of columns."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks._apart import Measurement, answer, measured_apart, peak_resident
from benchmarks._data import zipf
from conjunct.columns import PackedColumns, SparseColumns, native_library
from conjunct.columns.packed import MergedBits, merge_lists
from conjunct.counting import CompiledMerging
from conjunct.features import primitive_costs

N_ROWS, N_TAGS, DENSITY, MERGES = 20_000, 12, 0.04, 300
TAGS = (500, 2_000, 8_000, 32_000)
SHAPES: dict[str, tuple[int, ...]] = {
    f"bits, {N_TAGS} tags a row": TAGS,
    f"lists, {N_TAGS} tags a row": TAGS,
    # the counts of pairs are what limits the columns here: all of them meet
    f"bits, {DENSITY:.0%} of all cells": TAGS[:-1],
}


def grown() -> list[Measurement]:
    """Measure every shape with more and more columns, each in a separate process."""
    if native_library is None:
        print("conjunct was installed without a C compiler: what a merge costs is not measured")
        return []
    return [
        {"shape": shape, "columns": m, **measured_apart("benchmarks._merging", shape, m)}
        for shape, columns in SHAPES.items()
        for m in columns
    ]


def merge_exponent(points: list[Measurement]) -> float:
    """Return the growth of the cost of a merge with the columns: the log-log slope."""
    sizes, seconds = ([point[what] for point in points] for what in ("columns", "seconds"))
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def alone(shape: str, n_columns: str) -> Measurement:
    merging = _merging(shape, int(n_columns))
    supports = np.asarray(merging.supports)
    costs, sizes = primitive_costs(supports), np.ones(len(supports), np.int64)
    merging.set_order(int(supports.sum()), len(supports), None, None, costs, sizes)
    _merge(merging)  # the first one looks at all columns
    taken = []
    for _ in range(MERGES):
        begun = time.process_time()
        _merge(merging)
        taken.append(time.process_time() - begun)
    return {"seconds": float(np.mean(taken)), "resident": peak_resident()}


def _merging(shape: str, m: int) -> CompiledMerging:
    if shape.endswith("cells"):
        table = np.random.default_rng(0).random((N_ROWS, m), np.float32) < DENSITY
        packed = PackedColumns.from_table(table)
        return CompiledMerging(packed.pair_counts(np.int32), MergedBits(packed.bits, 1))
    listed = SparseColumns.from_matrix(zipf(N_ROWS, m, N_TAGS))
    columns: Any = merge_lists(listed.ones)
    if shape.startswith("bits"):
        columns = MergedBits(listed.to_bits().bits, 1)
    return CompiledMerging(listed.pair_counts(np.int32), columns)


def _merge(merging: CompiledMerging) -> None:
    left, right, *_ = merging.candidates()[0]
    merging.merge(left, right)


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
