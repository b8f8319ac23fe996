"""ID2-of-3 (Murphy and Pazzani 1991): an M-of-N test is grown at each node of a decision tree.

It starts with the literal of the largest information gain. A literal is added and either as many
must be true as before (more rows pass) or one more (fewer do), whichever gains most, for as long as
the gain rises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conjunct.trees.class_bits import DECIMALS, entropy_bits
from conjunct.trees.count_tree import CountTest, Labelled, Search


def best_m_of_n(max_literals: int | None = None) -> Search:
    """Greedy search for the M-of-N test of the largest information gain; none if nothing gains."""

    def search(data: Labelled, min_samples_leaf: int) -> CountTest | None:
        literals: tuple[int, ...] = ()
        number, gain = 0, 0.0
        n_true = np.zeros(len(data.table), np.intp)
        free = np.ones(data.table.shape[1], bool)
        while free.any() and (max_literals is None or len(literals) < max_literals):
            gains = _gains(data, n_true, number, min_samples_leaf)
            gains[..., ~free] = -1.0
            if gains.max() <= gain:
                break
            # of equal ones the first: as many before one more, a literal before its negation
            one_more, negated, column = np.unravel_index(int(gains.argmax()), gains.shape)
            gain = float(gains.max())
            number += int(one_more)
            literals = (*literals, ~int(column) if negated else int(column))
            n_true += data.table[:, column] ^ bool(negated)
            free[column] = False
        return CountTest(literals, number) if literals else None

    return search


def _gains(
    data: Labelled, n_true: NDArray[np.intp], number: int, min_samples_leaf: int
) -> NDArray[np.float64]:
    """The information gain of each test with one literal more.

    Of shape (as many or one more must be true, the literal or its negation, columns).
    """
    # rows that one more literal cannot help, those it makes pass if as many must be true, those
    # it keeps passing if one more must be, and those that pass in any case
    groups = np.clip(n_true - number + 2, 0, 3)
    totals, true = data.totals_by(groups, 4), data.true_by(groups, 4)
    signed = np.stack([true, totals[:, None] - true])
    yes = np.stack([totals[2] + totals[3] + signed[:, 1], totals[3] + signed[:, 2]])
    total = data.counts
    no = total - yes
    gains = entropy_bits(total) - entropy_bits(yes) - entropy_bits(no)
    smaller = np.minimum(yes.sum(axis=-1), no.sum(axis=-1))
    return np.where(smaller < min_samples_leaf, -1.0, np.round(gains, DECIMALS))
