"""ID2-of-3, whose tree tests whether at least M of N literals hold, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.estimators.limits import limits_of
from conjunct.estimators.tree_classifier import NO_LIMIT, TreeClassifier
from conjunct.expressions import Style
from conjunct.trees import CountProposer, Redundant, best_m_of_n
from conjunct.ufc import Indicators


class ID2of3(TreeClassifier):
    """ID2-of-3: a decision tree whose tests are "at least M of these N", each of them a feature.

    At each node the test starts with the best literal. Literals are added for as long as the
    information gain rises, and with each either as many must be true as before or one more. There
    is one tree, for features are made as it grows; a test of two literals or more is a feature.

    Parameters
    ----------
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
    >>> import numpy as np
    >>> from conjunct import ID2of3
    >>> X = np.random.default_rng(0).random((400, 8)) < 0.5
    >>> y = X[:, :5].sum(axis=1) >= 3
    >>> model = ID2of3().fit(X, y)
    >>> print(*model.features_[8:])
    at least 3 of {x0, x1, x2, x3, x4}
    >>> model.score(X, y)
    1.0
    """

    max_features = NO_LIMIT
    _nothing_new = "no test of the tree has two literals. Try prune=False"

    def __init__(
        self,
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

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> CountProposer:
        limits = limits_of(self, n_rows)
        return CountProposer(codes, len(self.classes_), limits, best_m_of_n(), prune=self.prune)
