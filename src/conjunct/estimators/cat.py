"""CAT, which chooses the conditions of a path by search, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.estimators.limits import limits_of
from conjunct.estimators.tree_classifier import TreeClassifier
from conjunct.expressions import Style
from conjunct.trees import CatProposer, Redundant
from conjunct.ufc import Indicators


class CAT(TreeClassifier):
    """CAT: join those conditions of each path of a pruned tree that tell most about its class.

    Each iteration grows a decision tree on the present features by information gain and prunes it.
    FRINGE joins the last two conditions of a path; CAT looks at all subsets of two or more, leaves
    out those that cannot be better than the best so far, and joins the best: the conjunction with
    the largest information gain about the class of the leaf. For a Boolean ``y`` (True and False,
    or 1 and 0) only the paths to leaves that say true are used, as in `Fringe`. The run ends when
    the tree and the classes it tells take no fewer bits than before.

    Parameters
    ----------
    max_features : int, default=300
        The run ends with the iteration that reaches this number, primitives counted. All
        features of that iteration are added, so there may be more.
    prune : bool, default=True
        Cut the tree back where a leaf tells its rows in fewer bits than all that is below it.
    redundant : {"keep", "drop"}, default="keep"
        ``"drop"``: leave out columns that are true nowhere or equal to one that is there already,
        and formulas in which a literal occurs twice.
    max_depth, min_samples_split, min_samples_leaf
        Where a tree ends, as in scikit-learn.
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false"}, default="raise"
        Missing cells (NaN, None, null) are refused, or taken as false.
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How feature names are written.
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
    classes_ : ndarray
        The values of ``y``; not kept in a model file.
    tree_ : CountTree
        The tree that ``predict`` uses; not kept in a model file.
    n_iter_, history_, feature_set_, n_distinct_rows_, n_features_in_, feature_names_in_
        As in `UFringe`.

    Examples
    --------
    >>> import itertools
    >>> import numpy as np
    >>> from conjunct import CAT
    >>> X = np.array(list(itertools.product([False, True], repeat=6)) * 4)
    >>> y = X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3] & X[:, 4]
    >>> model = CAT().fit(X, y)
    >>> print(*model.features_[6:], sep="\\n")
    x0 ∧ x1
    x2 ∧ x3 ∧ x4
    ¬(x0 ∧ x1) ∧ x2 ∧ x3 ∧ x4
    """

    def __init__(
        self,
        max_features: int = 300,
        *,
        prune: bool = True,
        redundant: Redundant = "keep",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        binarize: float | None = None,
        missing: Literal["raise", "false"] = "raise",
        style: Style = "unicode",
        callback: Callable[[Indicators], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_features = max_features
        self.prune = prune
        self.redundant = redundant
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.binarize = binarize
        self.missing = missing
        self.style = style
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> CatProposer:
        limits = limits_of(self, n_rows)
        return CatProposer(codes, len(self.classes_), self._positive, limits, prune=self.prune)
