"""Columns some of whose cells are missing, in memory: packed values, and where they are known.

Conjunctions follow Kleene's logic: false where either part is false, otherwise missing where
either is. A pair of columns is judged in the rows in which both are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from conjunct.stores.base import (
    AnyRewrite,
    Arrays,
    Contingency,
    Positions,
    after_rewrites,
)
from conjunct.stores.bits import BitStore
from conjunct.stores.counting import Counts
from conjunct.stores.packing import Bits
from conjunct.stores.partial_tally import Borders, PartialCounts, PartialTally, rewritten_lines
from conjunct.stores.sizing import Need

# counted: true with true, true with known, known with true, known with known
_MATRICES = 4


class PartialLine(NamedTuple):
    """A packed column: where it is true, and where it is known."""

    true: Bits
    known: Bits

    @property
    def false(self) -> Bits:
        return self.true ^ self.known


class PartialStore:
    """Two lines of bits per column. What is true is known."""

    kind: Final = "partial"

    def __init__(self, true: BitStore, known: BitStore) -> None:
        self.true = true
        self.known = known

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        true, known = (BitStore(bits, n_rows, n_jobs) for bits in arrays)
        return cls(true, known)

    def arrays(self) -> Arrays:
        return self.true.bits, self.known.bits

    @classmethod
    def complete(cls, store: BitStore) -> Self:
        """Columns without a missing cell."""
        return cls(store, store.with_lines([store.everywhere] * store.n_columns))

    def __sizeof__(self) -> int:
        return self.true.__sizeof__() + self.known.__sizeof__()

    @property
    def n_rows(self) -> int:
        return self.true.n_rows

    @property
    def n_jobs(self) -> int | None:
        return self.true.n_jobs

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

    def after(self, rewrites: Iterable[AnyRewrite]) -> Self:
        return after_rewrites(
            self,
            rewrites,
            lambda store, rewrite: store.with_lines(rewritten_lines(store, rewrite)),
        )

    def tally(self) -> PartialTally:
        true, true_known, _, known = self.borders()
        return PartialTally(self, PartialCounts(self.n_rows, true, true_known, known))

    def borders(self, columns: Positions | None = None) -> Borders:
        """The counts of some columns with all; by default of all."""
        if columns is None:
            across = self.true.joint_counts(self.known)
            return self.true.joint_counts(), across, across.T, self.known.joint_counts()
        lines = self.lines
        new = self.with_lines([lines[k] for k in columns.tolist()])
        return (
            new.true.joint_counts(self.true),
            new.true.joint_counts(self.known),
            new.known.joint_counts(self.true),
            new.known.joint_counts(self.known),
        )

    def need(self) -> Need:
        """What an iteration takes: four matrices are counted where bits alone have one."""
        need = self.true.need()
        return Need(_MATRICES * need.n_bytes, _MATRICES * need.seconds)

    def count_ones(self) -> int:
        return self.true.count_ones()

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
        return self._planes().count_distinct_rows()

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        return self._planes().row_buckets(n_buckets)

    def fingerprints(self) -> NDArray[np.uint64]:
        return self._planes().fingerprints()

    @staticmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        return BitStore.count_united(buckets)

    def _planes(self) -> BitStore:
        """Values and known cells as columns side by side: two rows are equal if these are."""
        return self.true.joined(self.known)

    def count_null_rows(self) -> int:
        """Number of rows in which every column is known to be false."""
        false = [line.false for line in self.lines]
        return int(self.true.with_lines([np.bitwise_and.reduce(false)]).supports()[0])


def negation(line: PartialLine) -> PartialLine:
    """``¬line``: missing where that is."""
    return PartialLine(line.false, line.known)


def known_true(store: Any) -> Any:
    """The columns as they are where they are known to be true: missing cells are false."""
    return store.true if isinstance(store, PartialStore) else store
