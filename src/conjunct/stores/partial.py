"""Columns some of whose cells are missing, in memory: packed values, and where they are known.

Conjunctions follow Kleene's logic: false where either part is false, otherwise missing where
either is. A pair of columns is judged in the rows in which both are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

from conjunct.stores.base import Contingency, Rewrite
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.packing import Bits, count_distinct, packed_rows
from conjunct.stores.partial_tally import PartialTally, kept_and_made


class PartialLine(NamedTuple):
    """A packed column: where it is true, and where it is known."""

    true: Bits
    known: Bits

    @property
    def false(self) -> Bits:
        return self.true ^ self.known


class PartialStore:
    """Two lines of bits per column. What is true is known."""

    def __init__(self, true: BitStore, known: BitStore) -> None:
        self.true = true
        self.known = known

    @property
    def n_rows(self) -> int:
        return self.true.n_rows

    @property
    def n_columns(self) -> int:
        return self.true.n_columns

    @property
    def lines(self) -> list[PartialLine]:
        return [PartialLine(*line) for line in zip(self.true.lines, self.known.lines, strict=True)]

    @property
    def nowhere(self) -> PartialLine:
        return PartialLine(self.true.nowhere, self.true.everywhere)

    def with_lines(self, lines: Sequence[PartialLine]) -> Self:
        true = self.true.with_lines([line.true for line in lines])
        return type(self)(true, self.true.with_lines([line.known for line in lines]))

    def conjunction(
        self, left: PartialLine, right: PartialLine, *, not_left: bool, not_right: bool
    ) -> PartialLine:
        one = negation(left) if not_left else left
        other = negation(right) if not_right else right
        true = one.true & other.true
        return PartialLine(true, true | one.false | other.false)

    def disjunction(self, left: PartialLine, right: PartialLine) -> PartialLine:
        true = left.true | right.true
        return PartialLine(true, true | left.false & right.false)

    def after(self, rewrites: Iterable[Rewrite]) -> Self:
        store = self
        for rewrite in rewrites:
            kept, made = kept_and_made(store, rewrite)
            lines = store.lines
            store = store.with_lines([*(lines[k] for k in kept), *made])
        return store

    def tally(self) -> PartialTally:
        return PartialTally.of_store(self)

    def supports(self) -> Counts:
        return self.true.supports()

    def observed(self) -> Counts:
        """Number of rows in which each column is known."""
        return self.known.supports()

    def against(self, other: Self) -> Contingency:
        first = self.with_lines(self.lines[:1])
        return Contingency(
            np.zeros(other.n_columns, np.intp),
            np.arange(other.n_columns),
            first.known.joint_counts(other.known)[0],
            first.true.joint_counts(other.known)[0],
            first.known.joint_counts(other.true)[0],
            first.true.joint_counts(other.true)[0],
        )

    def count_distinct_rows(self) -> int:
        """Number of distinct rows; a missing cell is a value of its own."""
        both = np.concatenate([self.true.bits, self.known.bits])
        return count_distinct(packed_rows(both, self.n_rows))

    def count_null_rows(self) -> int:
        """Number of rows in which every column is known to be false."""
        false = [line.false for line in self.lines]
        return int(self.true.with_lines([np.bitwise_and.reduce(false)]).supports()[0])


def negation(line: PartialLine) -> PartialLine:
    """``¬line``: missing where that is."""
    return PartialLine(line.false, line.known)
