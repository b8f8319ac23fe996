"""Columns that are merged in place, one pair at a time, with the counts of all pairs.

When columns i and j are merged, a new column i ∧ j takes the next position, and i ∧ ¬j and ¬i ∧ j
stay at the positions of i and j. Only i ∧ j is counted with the others: all other counts follow
by subtraction. So a merge costs the count of one column, however many columns there are.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    LARGEST_MATRIX,
    CommonPairs,
    CompiledLists,
    CompiledPatterns,
    Contingency,
    Counts,
    MergedColumns,
    PairCounts,
    address,
    check_counts,
    native_library,
)

Slots = NDArray[np.int32]

# pairs that may be the best, for which there is room at first
_CANDIDATES = 64


class Merging(Protocol):
    """Columns that change with every merge, and their counts."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int:
        """Positions in use: empty columns keep theirs."""
        ...

    @property
    def supports(self) -> Counts: ...

    @property
    def observed(self) -> int | Counts: ...

    @property
    def first(self) -> PairCounts:
        """The counts before any merge."""
        ...

    def row(self, column: int) -> Contingency:
        """Return the pairs of a column with the others that it meets; ``left`` is the column."""
        ...

    def merge(self, left: int, right: int) -> int:
        """Replace a pair by its three conjunctions; return the position of the new column."""
        ...


class CompleteMerging:
    """Columns without missing cells."""

    def __init__(self, first: Any, columns: MergedColumns) -> None:
        self.first: PairCounts = first
        self.n_rows: int = first.n_rows
        self._columns = columns
        self._supports = Growing(np.asarray(first.supports, np.int64))
        self._pairs: MatrixPairs | ListedPairs
        joint = first.to_matrix(LARGEST_MATRIX // 4)
        if joint is None:
            self._pairs = ListedPairs(len(first.supports), first.pairs)
        else:
            self._pairs = MatrixPairs(joint)

    @property
    def n_columns(self) -> int:
        return len(self._supports)

    @property
    def supports(self) -> Counts:
        return self._supports.values

    @property
    def observed(self) -> int:
        return self.n_rows

    def row(self, column: int) -> Contingency:
        partners, joint = self._pairs.row(column)
        supports = self.supports
        own = np.full(len(partners), supports[column])
        left = np.full(len(partners), column)
        return Contingency(left, partners, self.n_rows, own, supports[partners], joint)

    def merge(self, left: int, right: int) -> int:
        joint = self._columns.merge(left, right)
        n_both = int(joint[left])
        # the new column shares no row with the rests of the two
        joint[left] = joint[right] = 0
        if isinstance(self._pairs, MatrixPairs) and not self._pairs.has_room():
            self._pairs = ListedPairs(self.n_columns, self._pairs.to_list())
        self._pairs.merge(left, right, joint)
        supports = self.supports
        supports[left] -= n_both
        supports[right] -= n_both
        return self._supports.append(n_both)


class MatrixPairs:
    """Joint counts of all pairs as a matrix with room to grow."""

    def __init__(self, joint: Counts) -> None:
        self._n = len(joint)
        self._joint = joint
        self._grow(self._n + max(32, self._n // 4))
        np.fill_diagonal(self._joint, 0)

    def has_room(self) -> bool:
        """Return True if a column can be added; make room if necessary."""
        if self._n < len(self._joint):
            return True
        room = self._n + self._n // 2
        if _matrix_bytes(room) > LARGEST_MATRIX:
            return False
        self._grow(room)
        return True

    def _grow(self, room: int) -> None:
        check_counts(room, self._joint.itemsize)
        self._joint = _enlarge(self._joint, self._n, room)

    def to_list(self) -> CommonPairs:
        """Return the pairs with a common row."""
        left, right = np.nonzero(np.triu(self._joint[: self._n, : self._n], 1))
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
    """Joint counts of the pairs that meet, where a matrix of all pairs would be too large.

    The changes of a merge are written to a log, and applied to the row of a column when that row
    is next needed.
    """

    def __init__(self, n_columns: int, met: CommonPairs) -> None:
        m, left, right = n_columns, met.left, met.right
        order = np.argsort(np.concatenate([left, right]), kind="stable")
        owner = np.concatenate([left, right])[order]
        self._partners = np.concatenate([right, left])[order]
        self._joint = np.concatenate([met.joint, met.joint])[order]
        self._starts = np.searchsorted(owner, np.arange(m + 1))
        self._n = m
        self._rows: dict[int, tuple[Slots, Counts]] = {}
        self._since: dict[int, int] = {}
        # one entry for each column that a new one meets: which, in how many rows, which merge
        self._met = Growing(np.empty(0, np.int32))
        self._counts = Growing(np.empty(0, np.int64))
        self._merge_of = Growing(np.empty(0, np.int32))
        # the three columns of each merge
        self._merges = Growing(np.empty((0, 3), np.int32))

    def row(self, column: int) -> tuple[NDArray[np.intp], Counts]:
        partners, joint = self._current(column)
        return partners.astype(np.intp), joint

    def merge(self, left: int, right: int, joint: Counts) -> None:
        met = np.flatnonzero(joint).astype(np.int32)
        counts = joint[met]
        own = {
            column: _apply_changes(*_drop_partner(self._current(column), other), met, -counts)
            for column, other in ((left, right), (right, left))
        }
        self._met.extend(met)
        self._counts.extend(counts)
        self._merge_of.extend(np.full(len(met), len(self._merges), np.int32))
        self._merges.append((self._n, left, right))
        self._rows.update(own)
        self._rows[self._n] = met, counts
        for column in (left, right, self._n):
            self._since[column] = len(self._met)
        self._n += 1

    def _current(self, column: int) -> tuple[Slots, Counts]:
        """Return the partners of a column and the joint counts, after all merges so far."""
        row = self._rows.get(column)
        if row is None:
            some = slice(self._starts[column], self._starts[column + 1])
            row = self._partners[some], self._joint[some]
        since = self._since.get(column, 0)
        hits = since + np.flatnonzero(self._met.values[since:] == column)
        if len(hits):
            counts = self._counts.values[hits]
            new, left, right = self._merges.values[self._merge_of.values[hits]].T
            row = _apply_changes(
                *row, np.concatenate([new, left, right]), np.concatenate([counts, -counts, -counts])
            )
            self._rows[column] = row
        if column in self._rows:
            self._since[column] = len(self._met)
        return row


class Growing:
    """An array that grows at its end; what it holds may be changed in place."""

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
        n = self._n
        if n == len(self._array):
            self._make_room(n + 1)
        self._array[n] = value
        self._n = n + 1
        return n

    def extend(self, values: NDArray[Any]) -> None:
        needed = self._n + len(values)
        if needed > len(self._array):
            self._make_room(needed)
        self._array[self._n : needed] = values
        self._n = needed

    def _make_room(self, needed: int) -> None:
        larger = np.empty((max(64, 2 * needed), *self._array.shape[1:]), self._array.dtype)
        larger[: self._n] = self.values
        self._array = larger


def _enlarge(matrix: Counts, n: int, room: int) -> Counts:
    """Return the first n rows and columns, with zeros after them."""
    larger = np.zeros((room, room), matrix.dtype)
    larger[:n, :n] = matrix[:n, :n]
    return larger


def _matrix_bytes(n_columns: int) -> int:
    return 4 * n_columns**2


def _drop_partner(row: tuple[Slots, Counts], partner: int) -> tuple[Slots, Counts]:
    kept = row[0] != partner
    return row[0][kept], row[1][kept]


def _apply_changes(
    partners: Slots, joint: Counts, more: Slots, changes: Counts
) -> tuple[Slots, Counts]:
    """Return joint counts by partner after some changes, without partners no longer met."""
    columns = np.concatenate([partners, more])
    order = np.argsort(columns, kind="stable")
    columns, counts = columns[order], np.concatenate([joint, changes])[order]
    if not len(columns):
        return columns, counts
    starts = np.flatnonzero(np.concatenate([[True], columns[1:] != columns[:-1]]))
    totals = np.add.reduceat(counts, starts)
    some = totals > 0
    return columns[starts[some]], totals[some]


class MaskedMerging:
    """Columns some of whose cells are missing: counts do not subtract, so three are counted.

    Matrices with room to grow: rows in which i and j are both true, in which i is true and j is
    known, and in which both are known.
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
        self._matrices = [_enlarge(matrix, n, room) for matrix in self._matrices]

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
        return Contingency(
            np.full(len(partners), column),
            partners,
            known[column, partners],
            true_known[column, partners],
            true_known[partners, column],
            true[column, partners],
        )

    def merge(self, left: int, right: int) -> int:
        if self.n_columns == len(self._matrices[0]):
            self._make_room()
        n = self.n_columns + 1
        changed = np.array([left, right, n - 1])
        counts = self._columns.merge(left, right)
        by_row = (counts[0], counts[1], counts[3])
        by_column = (counts[0], counts[2], counts[3])
        for matrix, rows, columns in zip(self._matrices, by_row, by_column, strict=True):
            matrix[:n, changed] = columns.T
            matrix[changed, :n] = rows
        self.n_columns = n
        return n - 1


class CompiledMerging:
    """The same in C, where counts fit in 32 bits: faster, and C looks for the best pair too."""

    def __init__(self, first: Any, columns: MergedColumns) -> None:
        self.first: PairCounts = first
        self.n_rows: int = first.n_rows
        self._columns = columns
        self._supports = Growing(np.asarray(first.supports, np.int64))
        joint = first.to_matrix(LARGEST_MATRIX // 4)
        n = self.n_columns
        self._is_matrix = joint is not None
        self._room = n + max(32, n // 4)
        supports = self._supports.values
        self._pairs = _check_memory(
            native_library.native_pairs_new(n, self._room, self.n_rows, address(supports))
        )
        weakref.finalize(self, native_library.native_pairs_free, self._pairs)
        if joint is None:
            pairs = [np.ascontiguousarray(part, np.int32) for part in first.pairs]
            arrays = map(address, pairs)
            _check_memory(native_library.native_pairs_lists(self._pairs, len(pairs[0]), *arrays))
        else:
            check_counts(self._room, 4)
            joint = np.ascontiguousarray(joint, np.int32)
            _check_memory(native_library.native_pairs_matrix(self._pairs, address(joint)))
        self._make_found_room(_CANDIDATES)

    def _make_found_room(self, room: int) -> None:
        """Make room for the pairs that C finds."""
        self._found = np.empty((room, 5), np.int32)
        self._place = address(self._found)

    @property
    def n_columns(self) -> int:
        return len(self._supports)

    @property
    def supports(self) -> Counts:
        return self._supports.values

    @property
    def observed(self) -> int:
        return self.n_rows

    def row(self, column: int) -> Contingency:
        partners, joint = np.empty((2, self.n_columns), np.int32)
        n = native_library.native_pairs_row(self._pairs, column, address(partners), address(joint))
        right = partners[:n].astype(np.intp)
        supports = self.supports
        own = np.full(n, supports[column])
        return Contingency(
            np.full(n, column), right, self.n_rows, own, supports[right], joint[:n].copy()
        )

    def merge(self, left: int, right: int) -> int:
        if self.n_columns == self._room:
            self._make_room()
        if isinstance(self._columns, CompiledLists):
            n_both = native_library.native_pairs_merge(
                self._pairs, left, right, None, self._columns.pointer
            )
        else:
            joint = np.ascontiguousarray(self._columns.merge(left, right), np.int32)
            n_both = native_library.native_pairs_merge(
                self._pairs, left, right, address(joint), None
            )
        if n_both < 0:
            raise MemoryError("no memory is left for the counts of pairs")
        supports = self._supports.values
        supports[left] -= n_both
        supports[right] -= n_both
        return self._supports.append(n_both)

    def _make_room(self) -> None:
        n = self.n_columns
        self._room = n + n // 2
        if self._is_matrix:
            self._is_matrix = _matrix_bytes(self._room) <= LARGEST_MATRIX
            if self._is_matrix:
                check_counts(self._room, 4)
        _check_memory(
            native_library.native_pairs_make_room(self._pairs, self._room, not self._is_matrix)
        )

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

        ``total`` is S and ``n_used`` is T; pairs whose sizes are above ``max_size`` together are
        left out.
        """
        sizes = np.ascontiguousarray(sizes, np.int32)
        costs = np.ascontiguousarray(costs, np.float64)
        rules = total, n_used, alpha or 0.0, max_size or 0
        _check_memory(
            native_library.native_order(self._pairs, *rules, address(costs), address(sizes))
        )

    def candidates(self) -> list[list[int]]:
        """Return the pairs that may be best: two columns, their supports and joint count."""
        n: int = native_library.native_best(self._pairs, self._place, len(self._found))
        if n > len(self._found):
            self._make_found_room(2 * n)
            return self.candidates()
        return self._found[:n].tolist()  # type: ignore[no-any-return]

    def forbid(self, left: int, right: int) -> None:
        """Leave a pair out for as long as neither column changes."""
        _check_memory(native_library.native_forbid(self._pairs, left, right))

    def begin_evidence(
        self,
        logs: NDArray[np.float64],
        max_length: int | None,
        pattern_rows: Sequence[int],
        tags: Sequence[tuple[int, ...]],
        patterns: CompiledPatterns | None,
    ) -> None:
        """Begin to look for the pair with the most evidence.

        ``logs`` is x·log2(x) of every possible count, ``pattern_rows`` the rows with all tags of
        each column's pattern, and ``tags`` the ranks of the names of these. Given ``patterns``, C
        counts and joins them.
        """
        rows = np.array(pattern_rows, np.int32)
        starts = np.cumsum([0, *map(len, tags)], dtype=np.int64)
        ranks = np.array([rank for some in tags for rank in some], np.int32)
        # C reads these for as long as it looks
        self._held = logs, patterns
        self._search = _check_memory(
            native_library.native_evidence_new(
                self._pairs,
                None if patterns is None else patterns.pointer,
                address(logs),
                max_length or 0,
                *(address(array) for array in (rows, starts, ranks)),
            )
        )
        weakref.finalize(self, native_library.native_evidence_free, self._search)
        self._value = np.empty(1, np.float64)
        self._value_place = address(self._value)

    def most_evidence(self) -> tuple[int, int, int, int, int, float, bool] | None:
        """Return the best pair: columns, supports, joint count, evidence.

        The last is whether the rows of its patterns are known. If not, the pair is the best only
        as far as its features say.
        """
        place, value_place = self._place, self._value_place
        state = native_library.native_evidence_best(self._search, place, value_place)
        if state == 0:
            return None
        _check_memory(state > 0)
        left, right, one, other, joint = self._found[0].tolist()
        return left, right, one, other, joint, self._value.item(), state == 1

    def cap_evidence(self, left: int, right: int, pattern_joint: int) -> None:
        """Bound the evidence of a pair by that of its patterns, which meet in some rows."""
        _check_memory(native_library.native_evidence_cap(self._search, left, right, pattern_joint))

    def merge_evidence(self, left: int, right: int, pattern_rows: int) -> None:
        """Take notice of a merge; ``pattern_rows`` have all tags of both, unless C counts them."""
        _check_memory(
            native_library.native_evidence_merged(self._search, left, right, pattern_rows)
        )


def _check_memory(result: Any) -> Any:
    """Raise if C has returned nothing."""
    if not result:
        raise MemoryError("no memory is left for the counts of pairs")
    return result
