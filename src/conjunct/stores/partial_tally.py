"""Pairwise-complete counts of columns some of whose cells are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from conjunct.stores.base import Contingency, MergeRewrite, Positions, Rewrite
from conjunct.stores.counted import Counted
from conjunct.stores.counting import Counts
from conjunct.stores.matrix import row_blocks
from conjunct.stores.merging import MaskedMerging
from conjunct.stores.sizing import check_counts

if TYPE_CHECKING:
    from conjunct.stores.partial import PartialLine, PartialStore

_MATRICES = 3

Borders = tuple[Counts, Counts, Counts, Counts]
"""Counts of some columns with all: true with true, true with known, known with true, known."""


@dataclass(frozen=True, eq=False)
class PartialCounts:
    """Three matrices of counts.

    Rows in which columns i and j are both true (``true``), in which i is true and j is known
    (``true_known``), and in which both are known (``known``).
    """

    n_rows: int
    true: Counts
    true_known: Counts
    known: Counts

    @property
    def supports(self) -> Counts:
        return np.diagonal(self.true)

    @property
    def observed(self) -> Counts:
        return np.diagonal(self.known)

    def met(self) -> Iterator[Contingency]:
        m = len(self.true)
        for start, stop in row_blocks(m):
            left, right = np.divmod(np.arange(start * m, stop * m), m)
            above = right > left
            yield self.of(left[above], right[above])

    def of(self, left: Positions, right: Positions) -> Contingency:
        return Contingency(
            left,
            right,
            self.known[left, right],
            self.true_known[left, right],
            self.true_known[right, left],
            self.true[left, right],
        )

    def followed_by(self, kept: Positions, new: Borders) -> PartialCounts:
        """The counts of the kept columns, then those of new ones with all."""
        check_counts(new[0].shape[1], _MATRICES * self.true.itemsize)
        square = np.ix_(kept, kept)
        true, true_known, known_true, known = new
        return PartialCounts(
            self.n_rows,
            _bordered(self.true[square], true, true),
            _bordered(self.true_known[square], true_known, known_true),
            _bordered(self.known[square], known, known),
        )


@dataclass(frozen=True, eq=False)
class PartialTally(Counted[PartialCounts]):
    """A store with missing cells and its counts."""

    store: PartialStore
    counts: PartialCounts

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedPartial:
        return ConjoinedPartial(self)

    def merging(self) -> MaskedMerging:
        store = self.store

        def merge(left: int, right: int) -> Borders:
            nonlocal store
            store = store.after([MergeRewrite(left, right, store.n_columns)])
            return store.borders(np.array([left, right, store.n_columns - 1]))

        return MaskedMerging(self.counts, merge)


@dataclass(frozen=True, eq=False)
class ConjoinedPartial:
    """Counts do not subtract where cells are missing: each new column is made and counted."""

    tally: PartialTally

    def rewritten(self, rewrite: Rewrite) -> PartialTally:
        store = self.tally.store.after([rewrite])
        kept = rewrite.plus[rewrite.kept(self.tally.store.n_columns)]
        new = np.arange(len(kept), store.n_columns)
        counts = self.tally.counts.followed_by(kept, store.borders(new))
        return PartialTally(store, counts)


def rewritten_lines(store: PartialStore, rewrite: Rewrite) -> list[PartialLine]:
    """The lines of the next columns."""
    lines, m = store.lines, store.n_columns
    following = []
    for plus, minus in zip(rewrite.plus.tolist(), rewrite.minus.tolist(), strict=True):
        if plus < m and minus < 0:
            following.append(lines[plus])
            continue
        pair = (plus if minus < 0 else minus) - m
        left, right = rewrite.left[pair], rewrite.right[pair]
        following.append(
            store.conjunction(
                lines[left],
                lines[right],
                not_left=bool(plus == right),
                not_right=bool(plus == left),
            )
        )
    return following


def _bordered(square: Counts, rows: Counts, columns: Counts) -> Counts:
    """A matrix with more rows and columns; ``columns`` gives the latter as rows."""
    m = len(square)
    counts = np.empty((rows.shape[1], rows.shape[1]), square.dtype)
    counts[:m, :m] = square
    counts[m:] = rows
    counts[:m, m:] = columns[:, :m].T
    return counts
