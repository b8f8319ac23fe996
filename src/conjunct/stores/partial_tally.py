"""Pairwise-complete counts of columns some of whose cells are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from conjunct.stores.base import Contingency, Positions, Rewrite
from conjunct.stores.counting import Counts
from conjunct.stores.matrix import row_blocks

if TYPE_CHECKING:
    from conjunct.stores.partial import PartialLine, PartialStore


@dataclass(frozen=True, eq=False)
class PartialTally:
    """A store with missing cells and three matrices of counts.

    Rows in which columns i and j are both true (``true``), in which i is true and j is known
    (``true_known``), and in which both are known (``known``).
    """

    store: PartialStore
    true: Counts
    true_known: Counts
    known: Counts

    @classmethod
    def of_store(cls, store: PartialStore) -> PartialTally:
        return cls(
            store,
            store.true.joint_counts(),
            store.true.joint_counts(store.known),
            store.known.joint_counts(),
        )

    @property
    def n_rows(self) -> int:
        return self.store.n_rows

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

    def conjoined(self, left: Positions, right: Positions) -> ConjoinedPartial:
        return ConjoinedPartial(self)

    def followed_by(self, kept: Positions, made: list[PartialLine]) -> PartialTally:
        """The kept columns, then the new ones: only these are counted."""
        old = self.store.lines
        store = self.store.with_lines([*(old[k] for k in kept), *made])
        new = store.with_lines(made)
        square = np.ix_(kept, kept)
        true_known = _bordered(
            self.true_known[square],
            new.true.joint_counts(store.known),
            new.known.joint_counts(store.true),
        )
        true, known = (
            _bordered(counts[square], border, border)
            for counts, border in (
                (self.true, new.true.joint_counts(store.true)),
                (self.known, new.known.joint_counts(store.known)),
            )
        )
        return PartialTally(store, true, true_known, known)


@dataclass(frozen=True, eq=False)
class ConjoinedPartial:
    """Counts do not subtract where cells are missing: each new column is made and counted."""

    tally: PartialTally

    def rewritten(self, rewrite: Rewrite) -> PartialTally:
        return self.tally.followed_by(*kept_and_made(self.tally.store, rewrite))


def kept_and_made(store: PartialStore, rewrite: Rewrite) -> tuple[Positions, list[PartialLine]]:
    """The columns that a rewrite keeps, and the lines of those that follow them."""
    lines, m = store.lines, store.n_columns
    is_kept = (rewrite.minus < 0) & (rewrite.plus < m)
    made = []
    for plus, minus in zip(rewrite.plus[~is_kept], rewrite.minus[~is_kept], strict=True):
        pair = (plus if minus < 0 else minus) - m
        left, right = rewrite.left[pair], rewrite.right[pair]
        made.append(
            store.conjunction(
                lines[left],
                lines[right],
                not_left=bool(plus == right),
                not_right=bool(plus == left),
            )
        )
    return rewrite.plus[is_kept], made


def _bordered(square: Counts, rows: Counts, columns: Counts) -> Counts:
    """A matrix with more rows and columns; ``columns`` gives the latter as rows."""
    m = len(square)
    counts = np.empty((rows.shape[1], rows.shape[1]), square.dtype)
    counts[:m, :m] = square
    counts[m:] = rows
    counts[:m, m:] = columns[:, :m].T
    return counts
