"""A Chow–Liu tree: a density model of Boolean columns, each of which depends on one other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import xlogy

Table = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChowLiuTree:
    """The parent of each column (for the root, itself), and the probability that it is true."""

    parents: NDArray[np.intp]
    chances: Floats
    """Two lines: where the parent is false, and where it is true; of the root, both the same."""

    @classmethod
    def of(cls, table: Table) -> ChowLiuTree:
        """Return the tree of the most mutual information; probabilities are smoothed by ½."""
        n_rows, n_columns = table.shape
        cells = table.astype(float)
        together, supports = cells.T @ cells, cells.sum(axis=0)
        information = mutual_information(n_rows, supports, together)
        # the least sum of what is positive everywhere: an edge of 0 is none for SciPy
        tree = minimum_spanning_tree(information.max() + 1 - information)
        _, parents = breadth_first_order(tree, 0, directed=False)
        parents = np.where(parents < 0, np.arange(n_columns), parents)
        with_parent = together[np.arange(n_columns), parents]
        yes = np.stack([supports - with_parent, with_parent])
        asked = np.stack([n_rows - supports[parents], supports[parents]])
        yes[:, 0], asked[:, 0] = supports[0], n_rows
        return cls(parents, (yes + 0.5) / (asked + 1))

    def log_probs(self, table: Table) -> Floats:
        """Return the natural logarithm of the probability of each row."""
        columns = np.arange(table.shape[1])
        true = self.chances[table[:, self.parents].astype(int), columns]
        return np.asarray(np.log(np.where(table, true, 1 - true)).sum(axis=1))


def mutual_information(n_rows: int, supports: Floats, together: Floats) -> Floats:
    """Return n times the mutual information of each two columns, in nats."""
    s, t, c = supports[:, None], supports[None, :], together
    cells = ((c, s, t), (s - c, s, n_rows - t), (t - c, n_rows - s, t))
    last = (n_rows - s - t + c, n_rows - s, n_rows - t)
    return np.asarray(
        sum(xlogy(x, x * n_rows / np.maximum(a * b, 1)) for x, a, b in (*cells, last))
    )
