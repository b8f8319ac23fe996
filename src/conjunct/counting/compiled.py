"""Columns that are merged in place, with the counts of all pairs in C.

The same as ``CompleteMerging``, and quicker: beside the counts, C looks for the best pair.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import (
    LARGEST_MATRIX,
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
from conjunct.counting.merging import Growing, matrix_bytes

# pairs that may be the best, for which there is room at first
_CANDIDATES = 64


class CompiledMerging:
    """Columns without missing cells, whose counts fit in 32 bits."""

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
        self._pairs = _made(
            native_library.native_pairs_new(n, self._room, self.n_rows, address(supports))
        )
        weakref.finalize(self, native_library.native_pairs_free, self._pairs)
        if joint is None:
            pairs = [np.ascontiguousarray(part, np.int32) for part in first.pairs]
            arrays = map(address, pairs)
            _made(native_library.native_pairs_lists(self._pairs, len(pairs[0]), *arrays))
        else:
            check_counts(self._room, 4)
            joint = np.ascontiguousarray(joint, np.int32)
            _made(native_library.native_pairs_matrix(self._pairs, address(joint)))
        self._make_found(_CANDIDATES)

    def _make_found(self, room: int) -> None:
        """Where C writes the pairs that may be the best."""
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
            self._is_matrix = matrix_bytes(self._room) <= LARGEST_MATRIX
            if self._is_matrix:
                check_counts(self._room, 4)
        _made(native_library.native_pairs_make_room(self._pairs, self._room, not self._is_matrix))

    def set_order(
        self,
        total: int,
        n_used: int,
        alpha: float | None,
        max_size: int | None,
        costs: NDArray[np.float64],
        sizes: NDArray[np.int64],
    ) -> None:
        """What pairs are worth: the bits that they save, if an exact test finds them real.

        ``total`` is S and ``n_used`` is T; pairs whose sizes are above ``max_size`` together are
        left out.
        """
        sizes = np.ascontiguousarray(sizes, np.int32)
        costs = np.ascontiguousarray(costs, np.float64)
        rules = total, n_used, alpha or 0.0, max_size or 0
        _made(native_library.native_order(self._pairs, *rules, address(costs), address(sizes)))

    def candidates(self) -> list[list[int]]:
        """The pairs that may be the best: two columns, their supports and their joint count."""
        n: int = native_library.native_best(self._pairs, self._place, len(self._found))
        if n > len(self._found):
            self._make_found(2 * n)
            return self.candidates()
        return self._found[:n].tolist()  # type: ignore[no-any-return]

    def forbid(self, left: int, right: int) -> None:
        """Leave a pair out for as long as neither column changes."""
        _made(native_library.native_forbid(self._pairs, left, right))

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
        self._search = _made(
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
        _made(state > 0)
        left, right, one, other, joint = self._found[0].tolist()
        return left, right, one, other, joint, self._value.item(), state == 1

    def cap_evidence(self, left: int, right: int, pattern_joint: int) -> None:
        """Bound the evidence of a pair by that of its patterns, which meet in some rows."""
        _made(native_library.native_evidence_cap(self._search, left, right, pattern_joint))

    def merge_evidence(self, left: int, right: int, pattern_rows: int) -> None:
        """Take notice of a merge; ``pattern_rows`` have all tags of both, unless C counts them."""
        _made(native_library.native_evidence_merged(self._search, left, right, pattern_rows))


def _made(done: Any) -> Any:
    if not done:
        raise MemoryError("no memory is left for the counts of pairs")
    return done
