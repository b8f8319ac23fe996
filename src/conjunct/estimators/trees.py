"""The clustering tree as a clusterer, and uFRINGE as a transformer."""

from __future__ import annotations

import math
import re
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin

from conjunct import files, trees
from conjunct.columns import PackedColumns
from conjunct.data import BooleanData, container_of
from conjunct.errors import ConjunctWarning
from conjunct.estimators.base import BooleanEstimator, BooleanTransformerMixin
from conjunct.estimators.constructor import FeatureConstructor
from conjunct.expressions import And, Expression, Not, Primitive, Style
from conjunct.parameters import FLAG, Constraint, is_whole, one_of, real, whole, with_parameters
from conjunct.ufc import Indicators


def _rows(least: int) -> Constraint:
    """Allow a number of rows, or a share of all rows."""
    return real(
        f"a whole number, at least {least}, or a share of the rows between 0 and 1",
        lambda value: value >= least if is_whole(value) else 0 < value < 1,
    )


SAMPLE_LIMITS = {
    "max_depth": whole(1, optional=True),
    "min_samples_split": _rows(2),
    "min_samples_leaf": _rows(1),
}
SPLIT_LIMITS = {
    "min_impurity_decrease": real("a number, at least 0", lambda value: value >= 0),
    "max_leaf_nodes": whole(2, optional=True),
}


@with_parameters
class ClusteringTree(ClusterMixin, BooleanTransformerMixin, BooleanEstimator):
    """Clusters of rows, each described by a conjunction such as ``sky ∧ ¬building``.

    The tree splits a cluster on the column that most reduces the squared error within clusters,
    summed over all columns. Ties go to the first name in code-point order, so the order of
    columns does not matter.

    Parameters
    ----------
    max_depth : int, optional
        Maximum number of conditions of a cluster.
    min_samples_split : int or float, default=2
        Minimum number of rows to split a cluster; a number between 0 and 1 is a share of all rows.
    min_samples_leaf : int or float, default=0.001
        Minimum number of rows of a cluster; a number between 0 and 1 is a share of all rows. The
        default allows clusters of one row in up to 1,000 rows, and at most 1,000 clusters.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the squared error by a split, per row and column of the data.
    max_leaf_nodes : int, optional
        Maximum number of clusters. The splits that reduce the error most come first.
    threshold, missing, formula_style, n_jobs
        As in `UFringe`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The cluster of each row: 0, 1, … in the order of the leaves in `export_text`.
    descriptions_ : tuple of Expression
        The conjunction that is true exactly in the rows of each cluster, or ``None`` if there is
        only one cluster.
    n_leaves_ : int
        Number of clusters.
    depth_ : int
        Largest number of conditions of a cluster.
    tree_ : Tree
        The nodes in preorder, with their numbers of rows, splits and gains.

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

    constraints: ClassVar[dict[str, Constraint]] = {
        **SAMPLE_LIMITS,
        **SPLIT_LIMITS,
        "formula_style": one_of(get_args(Style)),
    }

    _: KW_ONLY
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 0.001
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    threshold: float | None = None
    missing: Literal["raise", "false"] = "false"
    formula_style: Style = "unicode"
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the tree on the rows of ``X`` (see `UFringe`); ``y`` is ignored."""
        self._check_parameters()
        store = self._read_to_fit(X).columns
        ranks = trees.simplest_first(map(Primitive, self._primitive_names()))
        self.tree_ = trees.grow(store, ranks, tree_limits(self, store.n_rows))
        self.labels_ = self._clusters(self.tree_.apply(store.bits, store.n_rows))
        return self

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf of each row of ``X``, as its position in ``tree_.nodes``."""
        columns = self.read_columns(X)
        return self.tree_.apply(columns.to_bits().bits, columns.n_rows)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of each row of ``X``."""
        return self._clusters(self.apply(X))

    def transform(self, X: Any) -> Any:
        """Return one Boolean column per cluster, true in its rows, in a container like ``X``."""
        container = container_of(X)
        members = self.predict(container)[:, None] == np.arange(self.n_leaves_)
        names = tuple(self.get_feature_names_out())
        return BooleanData(names, PackedColumns.from_table(members)).convert(container)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the descriptions of the clusters as text.

        ``input_features`` are names for the columns of a tree that was fitted without names;
        otherwise they must equal the names of the training data.
        """
        names = None if input_features is None else self._check_names(input_features)
        return np.array([self._text(e) for e in self._descriptions(names)], object)

    @property
    def descriptions_(self) -> tuple[Expression | None, ...]:
        """Return the conjunction that describes each cluster."""
        return self._descriptions(None)

    @property
    def n_leaves_(self) -> int:
        """Return the number of clusters."""
        return len(self.tree_.leaves)

    @property
    def depth_(self) -> int:
        """Return the largest number of conditions of a cluster."""
        return self.tree_.depth

    def export_text(self) -> str:
        """Return the tree as text, with one line per node: its condition and number of rows."""
        nodes, conditions = self.tree_.nodes, self._conditions()
        cluster = {leaf: k for k, leaf in enumerate(self.tree_.leaves)}
        lines = []
        pending = [(0, "", "")]
        while pending:
            k, stem, below = pending.pop()
            line = f"{stem}{conditions[k]}: {nodes[k].n_rows}"
            lines.append(f"{line} → cluster {cluster[k]}" if k in cluster else line)
            if k not in cluster:
                pending.append((nodes[k].no, f"{below}└─ ", f"{below}   "))
                pending.append((nodes[k].yes, f"{below}├─ ", f"{below}│  "))
        return "\n".join(lines)

    def plot(self) -> Any:
        """Draw the tree as an Altair chart, which can be saved as HTML, SVG or PNG."""
        return draw_tree(self.tree_, self._conditions())

    def _clusters(self, leaves: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.searchsorted(self.tree_.leaves, leaves)

    def _descriptions(self, names: tuple[str, ...] | None) -> tuple[Expression | None, ...]:
        primitives = [Primitive(name) for name in names or self._primitive_names()]
        return tuple(_conjunction(path, primitives) for path in self.tree_.paths())

    def _conditions(self) -> list[str]:
        """Return the condition by which each node selects rows of its parent."""
        primitives = [Primitive(name) for name in self._primitive_names()]
        return [self._text(_conjunction(each.path[-1:], primitives)) for each in self.tree_.nodes]

    def _text(self, description: Expression | None) -> str:
        return "all rows" if description is None else description.text(self.formula_style)


def _conjunction(path: trees.Path, primitives: list[Primitive]) -> Expression | None:
    literals = [primitives[c] if c >= 0 else Not(primitives[~c]) for c in path]
    if len(literals) < 2:
        return literals[0] if literals else None
    return And(*literals)


def draw_tree(tree: trees.Tree, conditions: Sequence[str]) -> Any:
    """Return an Altair chart of nodes, sized by their rows, with leaves on the right."""
    try:
        import altair as alt
    except ImportError:
        raise ImportError("drawing the tree needs Altair: pip install altair") from None
    cluster = {leaf: k for k, leaf in enumerate(tree.leaves)}
    # leaves stand below each other, and a split between its two children
    heights: dict[int, float] = {leaf: float(k) for leaf, k in cluster.items()}
    for k, node in reversed([*enumerate(tree.nodes)]):
        if k not in cluster:
            heights[k] = (heights[node.yes] + heights[node.no]) / 2
    nodes, links = [], []
    for k, node in enumerate(tree.nodes):
        x, y, is_leaf = len(node.path), heights[k], k in cluster
        # Altair does not escape names in the script of a page, and "</script>" would end it
        condition = re.sub("<(?=[/!])", "‹", conditions[k])
        place = f" → cluster {cluster[k]}" if is_leaf else ""
        nodes.append(
            {
                "x": x,
                "y": y,
                "condition": condition,
                "rows": node.n_rows,
                "gain": None if is_leaf else round(node.gain, 3),
                "kind": "cluster" if is_leaf else "split",
                "cluster": cluster.get(k),
                "label": f"{condition} ({node.n_rows}){place}",
            }
        )
        children = () if is_leaf else (node.yes, node.no)
        links += [{"x": x, "y": y, "x2": x + 1, "y2": heights[child]} for child in children]
    across = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, tree.depth + 1]))
    down = alt.Y("y:Q", axis=None, scale=alt.Scale(reverse=True))
    base = alt.Chart(alt.InlineData(values=nodes)).encode(x=across, y=down)
    rules = alt.Chart(alt.InlineData(values=links)).mark_rule(color="#bbb")
    dots = base.mark_circle(opacity=1).encode(
        size=alt.Size("rows:Q", legend=None, scale=alt.Scale(range=[20, 400])),
        color=alt.Color("kind:N", legend=None),
        tooltip=[alt.Tooltip(f"{field}:N") for field in ("condition", "rows", "gain", "cluster")],
    )
    leaves = base.transform_filter("datum.kind === 'cluster'").encode(text="label:N")
    splits = base.transform_filter("datum.kind === 'split'").encode(text="label:N")
    return (
        alt.layer(
            rules.encode(across, down, x2="x2", y2="y2"),
            dots,
            leaves.mark_text(align="left", dx=10, limit=220),
            splits.mark_text(dy=-16, limit=160),
        )
        .properties(width=170 * (tree.depth + 1), height=max(60, 24 * len(tree.leaves)))
        .configure_view(stroke=None)
    )


@with_parameters
class TreeBasedConstructor(FeatureConstructor):
    """Base of the estimators that construct features from the tests of a tree (Algorithm 1)."""

    # features that the last iteration may add beyond max_features; None: no limit
    _excess: ClassVar[int | None] = None
    _nothing_new: ClassVar[str] = (
        "no path of the tree has two conditions with a new conjunction. "
        "Try a smaller min_samples_leaf"
    )

    constraints: ClassVar[dict[str, Constraint]] = {
        "drop_redundant": FLAG,
        **SAMPLE_LIMITS,
    }

    _: KW_ONLY
    drop_redundant: bool = False
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    threshold: float | None = None
    missing: Literal["raise", "false"] = "false"
    formula_style: Style = "unicode"
    n_jobs: int | None = None
    verbose: int = 0

    @abstractmethod
    def _proposer(self, codes: Any, n_rows: int) -> trees.Proposer:
        """Return the proposer of features; ``codes`` are the classes of rows, if any."""

    def _restore(self, model: files.ModelFile) -> None:
        self.feature_set_, self.history_ = model.restore_growth()
        self.n_distinct_rows_ = model.n_distinct_rows

    def _construct(
        self,
        store: PackedColumns,
        names: Sequence[str],
        callback: Callable[[Indicators], object] | None,
        codes: NDArray[np.intp] | None = None,
    ) -> None:
        self._check_parameters()
        propose = self._proposer(codes, store.n_rows)
        # estimators that grow one tree have no such limit
        most = getattr(self, "max_features", sys.maxsize)
        self.feature_set_, self.history_, self.n_distinct_rows_ = trees.run_schema(
            store,
            names,
            propose,
            drop_redundant=self.drop_redundant,
            max_features=most,
            at_most=None if self._excess is None else most + self._excess,
            watch=partial(self._watch, callback),
        )
        tree = getattr(propose, "tree", None)
        if tree is not None:
            self.tree_: trees.CountTree = tree
        if len(self.history_) == 1:
            why = self._nothing_new
            if len(self.feature_set_.features) >= most:
                why = (
                    f"max_features is {most}, but there are already {store.n_columns} columns. "
                    f"Set a larger max_features"
                )
            message = f"no feature was constructed: {why}"
            warnings.warn(message, ConjunctWarning, stacklevel=3)


@with_parameters
class UFringe(TreeBasedConstructor):
    """Unsupervised FRINGE: join successive conditions of a clustering tree.

    Each iteration grows a clustering tree on the current features and joins two conditions of
    each path from the root to a leaf. It never removes features, so the set grows and overlaps,
    unlike that of `UFC`.

    A conjunction is new unless the same two literals were joined before, in either order. Two
    features may therefore have the same formula, ``(a ∧ b) ∧ c`` and ``a ∧ (b ∧ c)``, or repeat a
    literal, as the paper describes. ``drop_redundant=True`` drops such features.

    Parameters
    ----------
    max_features : int, default=300
        Stop after the iteration that reaches this number, including primitives. That iteration
        may add up to 100 more: the features with the largest gain from a split of all rows.
    strategy : {"fringe", "root", "root-fringe"}, default="fringe"
        Join the last two conditions of a path (FRINGE), the first two, or the first and the last
        (CITRE).
    drop_redundant : bool, default=False
        Drop columns that are always false or equal to an earlier one, and formulas that repeat a
        literal.
    max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, max_leaf_nodes
        Limits of a tree, as in `ClusteringTree`. The paper does not state its limits; the default,
        leaves of at least 4 rows, nearly reproduces its figures on ``spect``.
    threshold : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false"}, default="false"
        Refuse missing cells (NaN, None, null), or treat them as false.
    formula_style : {"unicode", "ascii", "latex"}, default="unicode"
        Style of feature names: ``sky ∧ ¬building`` or ``sky & ~building``.
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: print one line per iteration.

    Attributes
    ----------
    features_ : tuple of Expression
        The primitives, then the constructed features in the order of construction.
    n_iter_ : int
        Number of iterations behind ``features_``.
    history_ : tuple of Indicators
        ``iteration, n_features, length, oi, c0, rms`` after each iteration, primitives first.
    feature_set_ : FeatureSet
        The features and their lineage.
    n_distinct_rows_ : int
        Number of distinct rows.

    Examples
    --------
    >>> from conjunct import UFringe
    >>> baskets = [["water", "cascade"]] * 40 + [["water"]] * 20 + [["sky"]] * 60
    >>> model = UFringe(max_features=4).fit(baskets)
    >>> print(*model.features_, sep="\\n")
    cascade
    sky
    water
    ¬sky ∧ cascade
    ¬sky ∧ ¬cascade
    """

    _excess = 100

    constraints: ClassVar[dict[str, Constraint]] = {
        "max_features": whole(1),
        "strategy": one_of(get_args(trees.Strategy)),
        **SPLIT_LIMITS,
    }

    max_features: int = 300
    _: KW_ONLY
    min_samples_leaf: int | float = 4
    strategy: trees.Strategy = "fringe"
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None

    def _proposer(self, codes: Any, n_rows: int) -> trees.Proposer:
        learner = trees.clustering_paths(tree_limits(self, n_rows), self.max_features)
        return trees.join_conditions(learner, self.strategy)


def tree_limits(estimator: Any, n_rows: int) -> trees.Limits:
    """Return the limits of a tree from an estimator's parameters."""

    def count_rows(name: str, least: int) -> int:
        """Return a number of rows, given as a number or as a share of all rows."""
        value = getattr(estimator, name)
        return int(value) if is_whole(value) else max(least, math.ceil(value * n_rows))

    return trees.Limits(
        max_depth=estimator.max_depth,
        min_samples_split=count_rows("min_samples_split", 2),
        min_samples_leaf=count_rows("min_samples_leaf", 1),
        # only some estimators have these
        min_impurity_decrease=float(getattr(estimator, "min_impurity_decrease", 0.0)),
        max_leaf_nodes=getattr(estimator, "max_leaf_nodes", None),
    )
