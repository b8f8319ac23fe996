"""Columns some of whose cells are missing: packed values, and where they are known.

Conjunctions follow Kleene's logic: false where either part is false, otherwise missing where
either is. A pair of columns is judged in the rows in which both are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike

from conjunct.columns import packing
from conjunct.columns.base import Arrays, Columns, Mask, Words
from conjunct.columns.counts import Borders, Contingency, MaskedCounts, as_dtype
from conjunct.columns.in_place import MergedColumns, MergeRewrite, Positions, Rewrite
from conjunct.columns.kernel import Bits, Counts
from conjunct.columns.packed import PackedColumns
from conjunct.columns.sizing import Need, Size

# counted: true with true, true with known, known with true, known with known; held: three of them
_COUNTED = 4
_HELD = 3


class MaskedLine(NamedTuple):
    """A packed column: where it is true, and where it is known."""

    true: Bits
    known: Bits

    @property
    def false(self) -> Bits:
        return self.true ^ self.known


class MaskedColumns(Columns):
    """Two lines of bits per column. What is true is known."""

    has_missing: ClassVar[bool] = True

    def __init__(self, true: PackedColumns, known: PackedColumns) -> None:
        self.true = true
        self.known = known
        self.n_rows = true.n_rows
        self.n_jobs = true.n_jobs

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, n_jobs: int | None = None) -> Self:
        true, known = (PackedColumns(bits, n_rows, n_jobs) for bits in arrays)
        return cls(true, known)

    @classmethod
    def of(cls, columns: Columns) -> Self:
        if isinstance(columns, cls):
            return columns
        bits = columns.to_bits()
        return cls(bits, bits.with_lines([bits.everywhere] * bits.n_columns))

    def arrays(self) -> Arrays:
        return self.true.bits, self.known.bits

    def with_jobs(self, n_jobs: int | None) -> Self:
        return type(self)(self.true.with_jobs(n_jobs), self.known.with_jobs(n_jobs))

    @property
    def nbytes(self) -> int:
        return self.true.nbytes + self.known.nbytes

    @property
    def n_columns(self) -> int:
        return self.true.n_columns

    @property
    def lines(self) -> list[MaskedLine]:
        return [MaskedLine(*line) for line in zip(self.true.lines, self.known.lines, strict=True)]

    @property
    def nowhere(self) -> MaskedLine:
        return MaskedLine(self.true.nowhere, self.true.everywhere)

    def with_lines(self, lines: Sequence[MaskedLine]) -> Self:
        true = self.true.with_lines([line.true for line in lines])
        return type(self)(true, self.true.with_lines([line.known for line in lines]))

    def filled(self) -> PackedColumns:
        return self.true

    def to_bits(self) -> PackedColumns:
        return self.true

    def cells(self, position: int) -> tuple[Mask, Mask]:
        return self.true.cells(position)[0], ~self.known.cells(position)[0]

    def row_block(self, start: int, stop: int) -> tuple[Mask, Mask]:
        return self.true.row_block(start, stop)[0], self.known.row_block(start, stop)[0]

    def first_rows(self, n_rows: int) -> Self:
        return type(self)(self.true.first_rows(n_rows), self.known.first_rows(n_rows))

    def take_rows(self, rows: Positions) -> Self:
        return type(self)(self.true.take_rows(rows), self.known.take_rows(rows))

    def conjunction(
        self, left: MaskedLine, right: MaskedLine, *, not_left: bool, not_right: bool
    ) -> MaskedLine:
        one = MaskedLine(left.false, left.known) if not_left else left
        other = MaskedLine(right.false, right.known) if not_right else right
        true = one.true & other.true
        return MaskedLine(true, true | one.false | other.false)

    def disjunction(self, left: MaskedLine, right: MaskedLine) -> MaskedLine:
        true = left.true | right.true
        return MaskedLine(true, true | left.false & right.false)

    def rewritten(self, rewrite: Rewrite) -> Self:
        lines, m = self.lines, self.n_columns
        following = []
        for plus, minus in zip(rewrite.plus.tolist(), rewrite.minus.tolist(), strict=True):
            if plus < m and minus < 0:
                following.append(lines[plus])
                continue
            pair = (plus if minus < 0 else minus) - m
            i, j = rewrite.left[pair], rewrite.right[pair]
            line = self.conjunction(
                lines[i], lines[j], not_left=bool(plus == j), not_right=bool(plus == i)
            )
            following.append(line)
        return self.with_lines(following)

    def in_place(self) -> MergedColumns:
        return _MergedMasked(self)

    def supports(self) -> Counts:
        return self.true.supports()

    def count_known(self) -> Counts:
        return self.known.supports()

    def pair_counts(self, dtype: DTypeLike | None = None) -> MaskedCounts:
        across = self.true.joint_counts(self.known)
        counts = self.true.joint_counts(), across, self.known.joint_counts()
        return MaskedCounts(self.n_rows, *as_dtype(dtype, *counts))

    def border_counts(self, columns: Positions, dtype: DTypeLike | None = None) -> Borders:
        """Count some columns with all, among the cells that are known."""
        new = self.select(columns.tolist())
        true, true_known, known_true, known = as_dtype(
            dtype,
            new.true.joint_counts(self.true),
            new.true.joint_counts(self.known),
            new.known.joint_counts(self.true),
            new.known.joint_counts(self.known),
        )
        return true, true_known, known_true, known

    def count_table(self, left: MaskedLine, right: MaskedLine) -> tuple[int, int, int, int]:
        known = left.known & right.known
        one, other = left.true & known, right.true & known
        lines = known, one, other, one & other
        n_rows, *counts = (int(np.bitwise_count(line).sum()) for line in lines)
        return (n_rows, *counts)  # type: ignore[return-value]

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
        return self._side_by_side().count_distinct_rows()

    def count_null_rows(self) -> int:
        """Count the rows in which every column is known to be false."""
        false = [line.false for line in self.lines]
        return int(self.true.with_lines([np.bitwise_and.reduce(false)]).supports()[0])

    def row_buckets(self, n_buckets: int) -> list[Arrays]:
        return self._side_by_side().row_buckets(n_buckets)

    @staticmethod
    def count_united(buckets: Sequence[Arrays]) -> int:
        return PackedColumns.count_united(buckets)

    def row_words(self) -> Words:
        return self._side_by_side().row_words()

    def _side_by_side(self) -> PackedColumns:
        """Return values and known cells as columns: two rows are equal if these are."""
        return self.true.joined(self.known)

    def size(self) -> Size:
        return self.true.size()

    def need(self) -> Need:
        need = self.true.need()
        return Need(_COUNTED * need.n_bytes, _COUNTED * need.seconds, n_pairs=need.n_pairs)

    @classmethod
    def size_in_parts(cls, n_rows: int, n_columns: int, survey: Callable[[], Size]) -> Size:
        return PackedColumns.size_in_parts(n_rows, n_columns, survey)

    @classmethod
    def need_in_parts(cls, size: Size) -> Need:
        return PackedColumns.need_in_parts(size)

    @classmethod
    def bytes_of_counts(cls, size: Size, itemsize: int) -> int:
        return PackedColumns.bytes_of_counts(size, _HELD * itemsize)

    def row_lengths(self) -> Counts:
        return self.true.row_lengths()

    def sharing_rows(self, columns: Positions) -> Any:
        return self.true.sharing_rows(columns)

    @property
    def fills_words(self) -> bool:
        return self.true.fills_words

    @classmethod
    def united(cls, parts: Sequence[Self]) -> Self:
        true, known = ([each[k] for each in (part.arrays() for part in parts)] for k in range(2))
        n_rows = [part.n_rows for part in parts]
        bits = packing.concat_rows(true, n_rows), packing.concat_rows(known, n_rows)
        return cls.from_arrays(bits, sum(n_rows))

    def pieces(self, limit: int) -> Iterator[Self]:
        halves = self.true.pieces(limit // 2), self.known.pieces(limit // 2)
        for true, known in zip(*halves, strict=True):
            yield type(self)(true, known)


class _MergedMasked:
    """Counts do not subtract where cells are missing: three columns are counted for each merge."""

    def __init__(self, columns: MaskedColumns) -> None:
        self._columns = columns

    def merge(self, left: int, right: int) -> Borders:
        n = self._columns.n_columns
        self._columns = self._columns.after([MergeRewrite(left, right, n)])
        return self._columns.border_counts(np.array([left, right, n]))
