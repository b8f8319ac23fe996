"""Joint counts of all pairs of columns as one matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conjunct.stores.base import Contingency, Positions, Rewrite
from conjunct.stores.counting import Counts
from conjunct.stores.sizing import check_counts

# Cells of the matrix that are looked at together: their temporaries stay in the cache.
_CELLS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class CountMatrix:
    """A symmetric matrix of joint counts, supports on the diagonal, over rows that are complete."""

    n_rows: int
    joint: Counts

    @property
    def supports(self) -> Counts:
        return np.diagonal(self.joint)

    @property
    def observed(self) -> int:
        return self.n_rows

    def met(self) -> Iterator[Contingency]:
        for start, stop in row_blocks(len(self.joint)):
            # below the diagonal each pair stands a second time
            row, right = np.divmod(np.flatnonzero(self.joint[start:stop]), len(self.joint))
            above = right > row + start
            yield self.of(row[above] + start, right[above])

    def of(self, left: Positions, right: Positions) -> Contingency:
        supports = self.supports
        joint = self.joint[left, right]
        return Contingency(left, right, self.n_rows, supports[left], supports[right], joint)

    def extended(self, across: Counts, new: Counts) -> CountMatrix:
        """With the counts of more columns after the present ones."""
        m, p = len(self.joint), len(new)
        check_counts(m + p, self.joint.itemsize)
        joint = np.empty((m + p, m + p), self.joint.dtype)
        joint[:m, :m] = self.joint
        joint[:m, m:] = across
        joint[m:, :m] = across.T
        joint[m:, m:] = new
        return CountMatrix(self.n_rows, joint)

    def taken(self, columns: Positions) -> CountMatrix:
        """The counts of some of the columns, in the order given."""
        return CountMatrix(self.n_rows, self.joint[np.ix_(columns, columns)])

    def rewritten(self, rewrite: Rewrite) -> CountMatrix:
        """The counts after a rewrite of the columns of this extended matrix."""
        # a column is one indicator less another, so its counts subtract
        counts = self.joint[np.ix_(rewrite.plus, rewrite.plus)]
        less = np.flatnonzero(rewrite.minus >= 0)
        taken = rewrite.minus[less]
        across = self.joint[np.ix_(taken, rewrite.plus)]
        counts[less] -= across
        counts[:, less] -= across.T
        counts[np.ix_(less, less)] += self.joint[np.ix_(taken, taken)]
        return CountMatrix(self.n_rows, counts)


def row_blocks(n_columns: int) -> Iterator[tuple[int, int]]:
    """Rows of a square matrix that has pairs above its diagonal, a few at a time."""
    step = max(1, _CELLS_AT_ONCE // max(n_columns, 1))
    for start in range(0, n_columns - 1, step):
        yield start, min(start + step, n_columns - 1)
