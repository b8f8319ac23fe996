"""Merge columns in place, one pair at a time, with the counts of all pairs.

When columns i and j are merged, a new column i ∧ j takes the next position, and i ∧ ¬j and ¬i ∧ j
stay at the positions of i and j. Only i ∧ j is counted with all columns; the other counts follow
by subtraction. So a merge costs the count of one column, regardless of the number of columns.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    LARGEST_MATRIX,
    CommonPairs,
    CompiledLists,
    Contingency,
    Counts,
    MergedBits,
    MergedColumns,
    PairCounts,
    address,
    check_counts,
    native_library,
)

Slots = NDArray[np.int32]

# initial room for pairs that may be the best
_CANDIDATES = 64


class CompleteMerging:
    """Columns without missing cells, which change with each merge, and their counts.

    ``first`` are the counts before any merge. Empty columns keep their positions.
    """

    def __init__(self, first: Any, columns: MergedColumns) -> None:
        self.first: PairCounts = first
        self.n_rows = self.observed = first.n_rows
        self.n_columns = n = len(first.supports)
        self._columns = columns
        self._room = n + max(64, n // 4)
        self._supports = np.pad(first.supports.astype(np.int64), (0, self._room - n))
        self._begin_pairs(first.to_matrix(LARGEST_MATRIX // 4))

    def _begin_pairs(self, joint: Counts | None) -> None:
        """Store the counts of pairs as a matrix, or as lists if a matrix would be too large."""
        self._pairs: MatrixPairs | ListedPairs
        if joint is None:
            self._pairs = ListedPairs(self.n_columns, self.first.pairs)  # type: ignore[attr-defined]
        else:
            self._pairs = MatrixPairs(joint, self._room)

    @property
    def supports(self) -> Counts:
        return self._supports[: self.n_columns]

    def row(self, column: int) -> Contingency:
        """Return the pairs of a column and columns with common rows; ``left`` is the column."""
        partners, joint = self._joint_row(column)
        left, supports = np.full(len(partners), column), self.supports
        own, others = supports[left], supports[partners]
        return Contingency(left, partners, self.n_rows, own, others, joint)

    def _joint_row(self, column: int) -> tuple[NDArray[np.intp], Counts]:
        return self._pairs.row(column)

    def merge(self, left: int, right: int) -> int:
        """Replace a pair by its three conjunctions; return the position of the new column."""
        n = self.n_columns
        if n == self._room:
            self._grow()
        n_both = self._merge_pairs(left, right)
        self._supports[[left, right]] -= n_both
        self._supports[n] = n_both
        self.n_columns = n + 1
        return n

    def _grow(self) -> None:
        more = self.n_columns // 2
        self._room += more
        self._supports = np.pad(self._supports, (0, more))
        self._make_room()

    def _make_room(self) -> None:
        if isinstance(self._pairs, MatrixPairs):
            if 4 * self._room**2 > LARGEST_MATRIX:
                self._pairs = ListedPairs(self.n_columns, self._pairs.to_list())
            else:
                self._pairs = MatrixPairs(self._pairs.joint, self._room)

    def _merge_pairs(self, left: int, right: int) -> int:
        joint = self._columns.merge(left, right)
        n_both = int(joint[left])
        # the new column shares no row with the rests of its parts
        joint[left] = joint[right] = 0
        self._pairs.merge(left, right, joint)
        return n_both


class MatrixPairs:
    """The joint counts of all pairs in a matrix with room for more columns."""

    def __init__(self, joint: Counts, room: int) -> None:
        self._n = len(joint)
        check_counts(room, joint.itemsize)
        self._joint = np.pad(joint, (0, room - self._n))
        np.fill_diagonal(self._joint, 0)

    @property
    def joint(self) -> Counts:
        return self._joint[: self._n, : self._n]

    def to_list(self) -> CommonPairs:
        """Return the pairs with a common row."""
        left, right = np.nonzero(np.triu(self.joint, 1))
        joint = self._joint[left, right]
        return CommonPairs(left.astype(np.int32), right.astype(np.int32), joint)

    def row(self, column: int) -> tuple[NDArray[np.intp], Counts]:
        joint = self._joint[column, : self._n]
        partners = np.flatnonzero(joint)
        return partners, joint[partners]

    def merge(self, left: int, right: int, joint: Counts) -> None:
        n = self._n
        for column in (left, right):
            self._joint[column, :n] -= joint
            self._joint[:n, column] -= joint
        self._joint[left, right] = self._joint[right, left] = 0
        self._joint[n, :n] = self._joint[:n, n] = joint
        self._n += 1


class ListedPairs:
    """The joint counts of pairs with common rows, if a matrix of all pairs would be too large."""

    def __init__(self, n_columns: int, met: CommonPairs) -> None:
        left, right, joint = met
        owner = np.concatenate([left, right])
        order = np.argsort(owner, kind="stable")
        starts = np.searchsorted(owner[order], np.arange(1, n_columns))
        partners = np.split(np.concatenate([right, left])[order], starts)
        counts = np.split(np.concatenate([joint, joint])[order], starts)
        self._rows: list[tuple[Slots, Counts]] = list(zip(partners, counts, strict=True))

    def row(self, column: int) -> tuple[NDArray[np.intp], Counts]:
        partners, joint = self._rows[column]
        return partners.astype(np.intp), joint

    def merge(self, left: int, right: int, joint: Counts) -> None:
        rows, met = self._rows, np.flatnonzero(joint).astype(np.int32)
        counts = joint[met]
        for column, other in ((left, right), (right, left)):
            partners, before = rows[column]
            kept = partners != other
            rows[column] = _apply_changes(partners[kept], before[kept], met, -counts)
        changed, signs = np.array([len(rows), left, right], np.int32), np.array([1, -1, -1])
        for column, n_both in zip(met.tolist(), counts.tolist(), strict=True):
            rows[column] = _apply_changes(*rows[column], changed, n_both * signs)
        rows.append((met, counts))


class GrowableArray:
    """An array that grows at its end and whose values may be changed in place."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._array = values.copy()
        self._n = len(values)

    def __len__(self) -> int:
        return self._n

    @property
    def values(self) -> NDArray[Any]:
        return self._array[: self._n]

    def append(self, value: Any) -> int:
        """Add one value, and return its position."""
        self.extend([value])
        return self._n - 1

    def extend(self, values: Any) -> None:
        needed = self._n + len(values)
        if needed > len(self._array):
            larger = np.empty((max(64, 2 * needed), *self._array.shape[1:]), self._array.dtype)
            larger[: self._n] = self.values
            self._array = larger
        self._array[self._n : needed] = values
        self._n = needed


def _apply_changes(
    partners: Slots, joint: Counts, more: Slots, changes: Counts
) -> tuple[Slots, Counts]:
    """Return joint counts by partner after some changes, without partners that have become 0."""
    columns = np.concatenate([partners, more])
    order = np.argsort(columns, kind="stable")
    columns, counts = columns[order], np.concatenate([joint, changes])[order]
    if not len(columns):
        return columns, counts
    starts = np.flatnonzero(np.concatenate([[True], columns[1:] != columns[:-1]]))
    totals = np.add.reduceat(counts, starts)
    some = totals > 0
    return columns[starts[some]], totals[some]


class EvidenceInC:
    """The search for the pair with the most evidence, in C."""

    _in_c: int

    def begin_evidence(
        self,
        logs: NDArray[np.float64],
        max_length: int | None,
        pattern_rows: Sequence[int],
        tags: Sequence[tuple[int, ...]],
        patterns: Any | None,
    ) -> None:
        """Start the search for the pair with the most evidence.

        ``logs`` is x·log2(x) of every possible count, ``pattern_rows`` the number of rows with all
        tags of each column's pattern, and ``tags`` the ranks of their names. With ``patterns``, C
        counts and joins the patterns.
        """
        rows = np.array(pattern_rows, np.int32)
        starts = np.cumsum([0, *map(len, tags)], dtype=np.int64)
        ranks = np.fromiter(chain.from_iterable(tags), np.int32)
        # keep these alive, because C reads them during the search
        self._held = logs, patterns
        in_c = self._in_c, None if patterns is None else patterns.pointer
        made = native_library.native_evidence_new(
            *in_c, address(logs), max_length or 0, address(rows), address(starts), address(ranks)
        )
        self._search = _check_memory(made)
        weakref.finalize(self, native_library.native_evidence_free, self._search)

    def run_evidence(self, most: int) -> list[tuple[list[int], float]] | None:
        """Make the next merges, at most ``most``, in C; none if no pair may be joined.

        A merge consists of two columns, their supports and joint count, and its evidence. The
        result is ``None`` if C does not have the columns or patterns; then Python merges.
        """
        return None

    def most_evidence(self) -> tuple[list[int], float, bool] | None:
        """Return the columns, supports and joint count of the best pair, and its evidence.

        The last value is True if the rows of its patterns are known. Otherwise the pair is the best
        only by the counts of its features.
        """
        found, value = np.empty(5, np.int32), np.empty(1, np.float64)
        state = native_library.native_evidence_best(self._search, address(found), address(value))
        _check_memory(state >= 0)
        return (found.tolist(), value.item(), state == 1) if state else None

    def cap_evidence(self, left: int, right: int, table: tuple[int, int, int, int]) -> None:
        """Limit the evidence of a pair to that of its patterns, from their table."""
        _check_memory(native_library.native_evidence_cap(self._search, left, right, *table))

    def merge_evidence(self, left: int, right: int, pattern_rows: int) -> None:
        """Record a merge; ``pattern_rows`` counts the rows with all tags of both, unless C does."""
        done = native_library.native_evidence_merged(self._search, left, right, pattern_rows)
        _check_memory(done)


class MaskedMerging:
    """Columns with missing cells: counts cannot be subtracted, so three columns are counted.

    The matrices have room for more columns. They count the rows in which i and j are both true, in
    which i is true and j is known, and in which both are known.
    """

    def __init__(self, first: Any, columns: MergedColumns) -> None:
        self.first: PairCounts = first
        self.n_rows: int = first.n_rows
        self.n_columns = len(first.true)
        self._matrices = [first.true, first.true_known, first.known]
        self._columns = columns
        self._make_room()

    def _make_room(self) -> None:
        n, room = self.n_columns, self.n_columns + max(32, self.n_columns // 4)
        check_counts(room, sum(matrix.itemsize for matrix in self._matrices))
        self._matrices = [np.pad(matrix[:n, :n], (0, room - n)) for matrix in self._matrices]

    @property
    def supports(self) -> Counts:
        return np.diagonal(self._matrices[0])[: self.n_columns]

    @property
    def observed(self) -> Counts:
        return np.diagonal(self._matrices[2])[: self.n_columns]

    def row(self, column: int) -> Contingency:
        n = self.n_columns
        true, true_known, known = self._matrices
        partners = np.flatnonzero(true[column, :n])
        partners = partners[partners != column]
        left = np.full(len(partners), column)
        supports = true_known[left, partners], true_known[partners, left]
        return Contingency(left, partners, known[left, partners], *supports, true[left, partners])

    def merge(self, left: int, right: int) -> int:
        if self.n_columns == len(self._matrices[0]):
            self._make_room()
        n = self.n_columns + 1
        changed = np.array([left, right, n - 1])
        true, true_known, known_true, known = self._columns.merge(left, right)
        sides = ((true, true), (true_known, known_true), (known, known))
        for matrix, (rows, columns) in zip(self._matrices, sides, strict=True):
            matrix[:n, changed] = columns.T
            matrix[changed, :n] = rows
        self.n_columns = n
        return n - 1


class CompiledMaskedMerging(MaskedMerging, EvidenceInC):
    """Columns with missing cells whose counts fit in 32 bits, so C can read the matrices."""

    def __init__(self, first: Any, columns: MergedColumns) -> None:
        super().__init__(first, columns)
        made = native_library.native_pairs_new(0, 1, self.n_rows, address(np.empty(0, np.int64)))
        self._in_c = _check_memory(made)
        weakref.finalize(self, native_library.native_pairs_free, self._in_c)
        self._show_matrices()

    def _show_matrices(self) -> None:
        size, places = (self.n_columns, len(self._matrices[0])), map(address, self._matrices)
        _check_memory(native_library.native_pairs_masked(self._in_c, *size, *places))

    def table(self, left: int, right: int) -> tuple[int, int, int, int]:
        """Count the rows in which both columns are known, and among these each and both columns."""
        true, across, known = self._matrices
        counts = known[left, right], across[left, right], across[right, left], true[left, right]
        return tuple(map(int, counts))  # type: ignore[return-value]

    def merge(self, left: int, right: int) -> int:
        new = super().merge(left, right)
        self._show_matrices()
        return new


class CompiledMerging(CompleteMerging, EvidenceInC):
    """Columns in C, for counts that fit in 32 bits. C also finds the best pair."""

    def _begin_pairs(self, joint: Counts | None) -> None:
        self._is_matrix = joint is not None
        size = self.n_columns, self._room, self.n_rows
        self._in_c = _check_memory(native_library.native_pairs_new(*size, address(self._supports)))
        weakref.finalize(self, native_library.native_pairs_free, self._in_c)
        if joint is None:
            listed = self.first.pairs  # type: ignore[attr-defined]
            pairs = [np.ascontiguousarray(part, np.int32) for part in listed]
            arrays = map(address, pairs)
            _check_memory(native_library.native_pairs_lists(self._in_c, len(pairs[0]), *arrays))
        else:
            check_counts(self._room, 4)
            joint = np.ascontiguousarray(joint, np.int32)
            _check_memory(native_library.native_pairs_matrix(self._in_c, address(joint)))
        # room for the results of C
        self._found = np.empty((_CANDIDATES, 5), np.int32)

    def _joint_row(self, column: int) -> tuple[NDArray[np.intp], Counts]:
        partners, joint = np.empty((2, self.n_columns), np.int32)
        n = native_library.native_pairs_row(self._in_c, column, address(partners), address(joint))
        return partners[:n].astype(np.intp), joint[:n].copy()

    def _merge_pairs(self, left: int, right: int) -> int:
        given: tuple[int | None, int | None]
        if isinstance(self._columns, CompiledLists):
            given = None, self._columns.pointer
        else:
            joint = np.ascontiguousarray(self._columns.merge(left, right), np.int32)
            given = address(joint), None
        n_both: int = native_library.native_pairs_merge(self._in_c, left, right, *given)
        _check_memory(n_both >= 0)
        return n_both

    def _make_room(self) -> None:
        is_too_large = 4 * self._room**2 > LARGEST_MATRIX
        if self._is_matrix and not is_too_large:
            check_counts(self._room, 4)
        form = native_library.native_pairs_make_room(self._in_c, self._room, is_too_large)
        self._is_matrix = _check_memory(form) == 2

    def set_order(
        self,
        total: int,
        n_used: int,
        alpha: float | None,
        max_size: int | None,
        costs: NDArray[np.float64],
        sizes: NDArray[np.int64],
    ) -> None:
        """Order pairs by the bits that they save, if they pass an exact test.

        ``total`` is S and ``n_used`` is T. Pairs whose sizes sum to more than ``max_size`` are left
        out.
        """
        costs, sizes = (
            np.ascontiguousarray(costs, np.float64),
            np.ascontiguousarray(sizes, np.int32),
        )
        rules = total, n_used, alpha or 0.0, max_size or 0, address(costs), address(sizes)
        _check_memory(native_library.native_order(self._in_c, *rules))

    def candidates(self) -> list[list[int]]:
        """Return the pairs that may be best, as two columns, their supports and joint count."""
        n: int = native_library.native_best(self._in_c, address(self._found), len(self._found))
        if n > len(self._found):
            self._found = np.empty((2 * n, 5), np.int32)
            return self.candidates()
        return self._found[:n].tolist()  # type: ignore[no-any-return]

    def forbid(self, left: int, right: int) -> None:
        """Leave a pair out until one of its columns changes."""
        _check_memory(native_library.native_forbid(self._in_c, left, right))

    def run_evidence(self, most: int) -> list[tuple[list[int], float]] | None:
        columns, patterns = self._columns, self._held[1]
        if patterns is None:
            return None
        if self.n_columns == self._room:
            self._grow()
        if isinstance(columns, CompiledLists):
            given: Any = columns.pointer, 0, None, 0, 0
        elif isinstance(columns, MergedBits) and (bits := columns.in_c()) is not None:
            given = None, *bits
        else:
            return None
        found, values = np.empty((most, 5), np.int32), np.empty(most, np.float64)
        places = address(found), address(values)
        n = native_library.native_evidence_run(self._search, *given, most, *places)
        _check_memory(n >= 0)
        if isinstance(columns, MergedBits):
            columns.n_lines += n
        joint, first = found[:n, 4], self.n_columns
        self._supports[first : first + n] = joint
        np.subtract.at(self._supports, found[:n, :2], joint[:, None])
        self.n_columns += n
        return list(zip(found[:n].tolist(), values[:n].tolist(), strict=True))


Merging = CompleteMerging | MaskedMerging


def _check_memory(result: Any) -> Any:
    """Raise an error if C returned nothing."""
    if not result:
        raise MemoryError("not enough memory for the counts of pairs")
    return result
