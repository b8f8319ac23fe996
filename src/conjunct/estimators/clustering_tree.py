"""The clustering tree as a scikit-learn clusterer."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from conjunct.columns import PackedColumns
from conjunct.data import BooleanData, container_of
from conjunct.estimators.base import BooleanEstimator
from conjunct.estimators.limits import limits_of
from conjunct.estimators.tree_drawing import tree_chart, tree_text
from conjunct.expressions import And, Expression, Not, Primitive, Style
from conjunct.parameters import check_common
from conjunct.trees import Path, Tree, grow, simplest_first

EVERYTHING = "all rows"


class ClusteringTree(ClusterMixin, TransformerMixin, BooleanEstimator):
    """Clusters of rows, each described by a conjunction such as ``sky ∧ ¬building``.

    Top-down: a cluster is split in two on the column that reduces most the squared error within
    clusters, summed over all columns. Of splits that reduce it equally, that on the column whose
    name comes first in code-point order is made, so that the order of columns does not matter.

    Parameters
    ----------
    max_depth : int, optional
        Most conditions of a cluster.
    min_samples_split : int or float, default=2
        Rows that a cluster must have to be split; a number between 0 and 1 is a share of all.
    min_samples_leaf : int or float, default=0.001
        Rows that each part must have; a number between 0 and 1 is a share of all. The default is
        one row for up to 1,000 rows, and bounds a tree of many rows at 1,000 clusters.
    min_impurity_decrease : float, default=0.0
        A split must reduce the squared error, per row and column of the data, by this much.
    max_leaf_nodes : int, optional
        Number of clusters. The splits that reduce the error most are made first.
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false"}, default="raise"
        Missing cells (NaN, None, null) are refused, or taken as false.
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How descriptions are written: ``sky ∧ ¬building`` or ``sky & ~building``.
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of each row: 0, 1, … in the order of the leaves in `export_text`.
    descriptions_ : tuple of Expression
        The conjunction that is true in the rows of each cluster, and nowhere else; for the
        single cluster of a tree without a split, ``None``.
    n_leaves_ : int
        Number of clusters.
    depth_ : int
        Most conditions of a cluster.
    tree_ : Tree
        The nodes in preorder, with number of rows, split and reduction.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from conjunct import ClusteringTree
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> tree = ClusteringTree().fit(baskets)
    >>> print(tree.export_text())
    all rows: 120
    ├─ sky: 60 → cluster 0
    └─ ¬sky: 60
       ├─ cascade: 40 → cluster 1
       └─ ¬cascade: 20 → cluster 2
    >>> print(*tree.descriptions_, sep="\\n")
    sky
    ¬sky ∧ cascade
    ¬sky ∧ ¬cascade
    >>> tree.predict([["water"], ["sky"]]).tolist()
    [2, 0]
    """

    tree_: Tree
    labels_: NDArray[np.intp]

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 0.001,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        binarize: float | None = None,
        missing: Literal["raise", "false"] = "raise",
        style: Style = "unicode",
        n_jobs: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.binarize = binarize
        self.missing = missing
        self.style = style
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the tree on the rows of ``X``.

        Parameters
        ----------
        X : array, data frame, sparse matrix or list of baskets
            Boolean or 0/1 values, one individual a row.
        y : ignored
            Accepted for use in pipelines.

        Returns
        -------
        self
        """
        check_common(self)
        store = self._read_to_fit(X).columns
        ranks = simplest_first(map(Primitive, self._primitive_names()))
        self.tree_ = grow(store, ranks, limits_of(self, store.n_rows))
        self.labels_ = self._clusters(self.tree_.apply(store.bits, store.n_rows))
        return self

    def apply(self, X: Any) -> NDArray[np.intp]:
        """The leaf that each row of ``X`` comes to: its number among ``tree_.nodes``."""
        check_is_fitted(self)
        columns = self._read(X)
        return self.tree_.apply(columns.to_bits().bits, columns.n_rows)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The cluster of each row of ``X``."""
        return self._clusters(self.apply(X))

    def transform(self, X: Any) -> Any:
        """One Boolean column for each cluster, true in its rows, in a container like ``X``."""
        container = container_of(X)
        members = self.predict(container)[:, None] == np.arange(self.n_leaves_)
        names = tuple(self.get_feature_names_out())
        return BooleanData(names, PackedColumns.from_table(members)).to(container)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The descriptions of the clusters, as text.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of a tree that was fitted without any; otherwise they must be
            the names it was fitted with.
        """
        check_is_fitted(self)
        names = None if input_features is None else self._names_for(input_features)
        return np.array([self._text(e) for e in self._descriptions(names)], object)

    @property
    def descriptions_(self) -> tuple[Expression | None, ...]:
        """The conjunction that describes each cluster."""
        check_is_fitted(self)
        return self._descriptions(None)

    @property
    def n_leaves_(self) -> int:
        """Number of clusters."""
        check_is_fitted(self)
        return len(self.tree_.leaves)

    @property
    def depth_(self) -> int:
        """Most conditions of a cluster."""
        check_is_fitted(self)
        return self.tree_.depth

    def export_text(self) -> str:
        """The tree as text: a line for each node, with its condition and its number of rows."""
        check_is_fitted(self)
        return tree_text(self.tree_, self._conditions())

    def plot(self) -> Any:
        """A picture of the tree: an Altair chart, which saves itself as HTML, SVG or PNG."""
        check_is_fitted(self)
        return tree_chart(self.tree_, self._conditions())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _clusters(self, leaves: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.searchsorted(self.tree_.leaves, leaves)

    def _descriptions(self, names: tuple[str, ...] | None) -> tuple[Expression | None, ...]:
        primitives = [Primitive(name) for name in names or self._primitive_names()]
        return tuple(_conjunction(path, primitives) for path in self.tree_.paths())

    def _conditions(self) -> list[str]:
        """What each node asks of the rows of the one above it."""
        primitives = [Primitive(name) for name in self._primitive_names()]
        last = [_conjunction(node.path[-1:], primitives) for node in self.tree_.nodes]
        return [self._text(condition) for condition in last]

    def _text(self, description: Expression | None) -> str:
        return EVERYTHING if description is None else description.text(self.style)


def _conjunction(path: Path, primitives: list[Primitive]) -> Expression | None:
    literals = [primitives[c] if c >= 0 else Not(primitives[~c]) for c in path]
    if len(literals) < 2:
        return literals[0] if literals else None
    return And(*literals)
