"""uFRINGE as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from conjunct.columns import PackedColumns
from conjunct.estimators.limits import limits_of
from conjunct.estimators.tree_based import TreeBasedConstructor
from conjunct.expressions import Style
from conjunct.parameters import check_choice
from conjunct.trees import Redundant, Strategy, clustering_paths, joined_conditions
from conjunct.ufc import Indicators


class UFringe(TreeBasedConstructor):
    """Unsupervised FRINGE: join conditions that a clustering tree puts after each other.

    Each iteration grows a clustering tree on the present features and joins two conditions of
    every path from the root to a leaf. New features are added and none is removed, so the set
    grows and overlaps; `UFC` is the algorithm that does not.

    A conjunction is new unless the same two literals were joined before, in either order. The
    same formula may so be reached by two routes, ``(a ∧ b) ∧ c`` and ``a ∧ (b ∧ c)``, and a
    literal may be joined to a feature that holds it already: the doubles and repetitions that
    the paper describes. ``redundant="drop"`` leaves them out.

    Parameters
    ----------
    max_features : int, default=300
        The run ends with the iteration that reaches this number, primitives counted. All
        features of that iteration are added, so there may be more, but no more than 100 more: then
        those on which a split of all rows would gain most are added.
    strategy : {"fringe", "root", "root-fringe"}, default="fringe"
        Which two conditions of a path are joined: the last two (FRINGE), the first two, or the
        first and the last (CITRE).
    redundant : {"keep", "drop"}, default="keep"
        ``"drop"``: leave out columns that are true nowhere or equal to one that is there already,
        which doubles are, and formulas in which a literal occurs twice.
    max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, max_leaf_nodes
        Where a tree ends, as in `ClusteringTree`. The paper does not print its own; with leaves
        of at least 4 rows, the default, its figures on ``spect`` come out closely.
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false"}, default="raise"
        Missing cells (NaN, None, null) are refused, or taken as false.
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How feature names are written: ``sky ∧ ¬building`` or ``sky & ~building``.
    callback : callable, optional
        Called with the indicators of each iteration as it ends.
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line for each iteration.

    Attributes
    ----------
    features_ : tuple of Expression
        The primitives, then the constructed features in the order made.
    n_iter_ : int
        Number of iterations behind ``features_``.
    history_ : tuple of Indicators
        ``iteration, n_features, length, oi, c0, rms`` after each iteration, primitives first.
    feature_set_ : FeatureSet
        The features with all that they were made from.
    n_distinct_rows_ : int
        Number of distinct rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

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

    _passes_by = 100

    strategy: Strategy

    def __init__(
        self,
        max_features: int = 300,
        *,
        min_samples_leaf: int | float = 4,
        strategy: Strategy = "fringe",
        redundant: Redundant = "keep",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        binarize: float | None = None,
        missing: Literal["raise", "false"] = "raise",
        style: Style = "unicode",
        callback: Callable[[Indicators], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.strategy = strategy
        self.redundant = redundant
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.binarize = binarize
        self.missing = missing
        self.style = style
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _construct(self, store: PackedColumns, names: Sequence[str]) -> None:
        self._check_parameters()
        learner = clustering_paths(limits_of(self, store.n_rows), self.max_features)
        self._run(store, names, joined_conditions(learner, self.strategy))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("strategy", self.strategy, get_args(Strategy))
