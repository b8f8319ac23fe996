"""Rows with weights: a row of weight w counts as w equal rows, exactly.

The rows are in parts by the binary digits of their weights, and what is counted in the part of
digit b counts 2ᵇ times. So a row is there as often as its weight has ones in binary, and not as
often as its weight says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    AnyRewrite,
    Columns,
    MergedColumns,
    Need,
    PairCounts,
    Positions,
    counts_dtype,
)
from conjunct.counting.partitioned import added


@dataclass(frozen=True, eq=False)
class WeightedColumns:
    """Columns whose rows have weights; ``n_rows`` is the sum of these."""

    rows: Columns
    """Each row of a weight above 0 once."""
    parts: tuple[Columns, ...]
    factors: tuple[int, ...]
    n_rows: int

    @classmethod
    def of(cls, columns: Columns, weights: NDArray[np.int64]) -> WeightedColumns:
        """``weights`` are whole numbers from 0, at least one of them above it."""
        digits = [k for k in range(int(weights.max()).bit_length()) if (weights >> k & 1).any()]
        return cls(
            columns.take_rows(np.flatnonzero(weights)),
            tuple(columns.take_rows(np.flatnonzero(weights >> k & 1)) for k in digits),
            tuple(1 << k for k in digits),
            int(weights.sum()),
        )

    @property
    def n_columns(self) -> int:
        return self.parts[0].n_columns

    @property
    def has_missing(self) -> bool:
        return self.rows.has_missing

    def total(self, count: Callable[[Any], Any], n_more: int = 0) -> Any:
        return _total(map(count, self.parts), self.factors)

    def after(self, rewrites: Sequence[AnyRewrite]) -> Self:
        return replace(self, parts=tuple(part.after(rewrites) for part in self.parts))

    def with_conjunctions(self, left: Positions, right: Positions) -> Self:
        parts = tuple(part.with_conjunctions(left, right) for part in self.parts)
        return replace(self, parts=parts)

    def in_place(self) -> MergedColumns:
        merged = [part.in_place() for part in self.parts]
        return _MergedWeighted(merged, self.factors, counts_dtype(self.n_rows))

    def need(self) -> Need:
        return self.rows.need()

    def count_ones(self) -> int:
        return self.rows.count_ones()

    def count_distinct_rows(self) -> int:
        return self.rows.count_distinct_rows()

    def begin_distinct_rows(self) -> Callable[[], int]:
        return self.count_distinct_rows

    def count_null_rows(self) -> int:
        return int(self.total(methodcaller("count_null_rows")))

    def fingerprint(self) -> int:
        return int(self.total(methodcaller("fingerprint_word"))[0])


class _MergedWeighted:
    """Parts that are merged in place, all alike."""

    def __init__(
        self, parts: Sequence[MergedColumns], factors: tuple[int, ...], dtype: type[Any]
    ) -> None:
        self._parts = parts
        self._factors = factors
        self._dtype = dtype

    def merge(self, left: int, right: int) -> Any:
        counted = (_as(self._dtype, part.merge(left, right)) for part in self._parts)
        return _total(counted, self._factors)


def _total(counted: Any, factors: tuple[int, ...]) -> Any:
    return added([_times(value, k) for value, k in zip(counted, factors, strict=True)])


def _times(value: Any, factor: int) -> Any:
    """What ``factor`` times the same rows count."""
    if isinstance(value, tuple):
        return tuple(_times(each, factor) for each in value)
    return value.times(factor) if isinstance(value, PairCounts) else value * factor


def _as(dtype: type[Any], counts: Any) -> Any:
    if isinstance(counts, tuple):
        return tuple(each.astype(dtype) for each in counts)
    return counts.astype(dtype)
