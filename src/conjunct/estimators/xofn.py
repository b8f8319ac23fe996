"""XofN, whose tree counts how many of N literals hold, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.estimators.limits import limits_of
from conjunct.estimators.tree_classifier import NO_LIMIT, TreeClassifier
from conjunct.expressions import Style
from conjunct.parameters import check_whole
from conjunct.trees import CountProposer, Redundant, best_x_of_n
from conjunct.ufc import Indicators


class XofN(TreeClassifier):
    """XofN: a decision tree whose tests count true literals, with a branch for each number of them.

    At each node the set of literals is searched with which test and classes take the fewest bits:
    from the best literal or pair, and from the test of `ID2of3`, one literal is added or left out
    at a time. For each number that occurs at a node, "exactly k of these" is a feature. There is
    one tree, as in `ID2of3`.

    Parameters
    ----------
    prune : bool, default=True
        Cut the tree back where a leaf tells its rows in fewer bits than all that is below it.
    patience : int, default=5
        The search at a node ends after so many steps without a shorter description. Parity of
        three and more takes some, and luck: it shows nothing until all its literals are there.
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
    >>> from conjunct import XofN
    >>> X = np.random.default_rng(0).random((400, 5)) < 0.5
    >>> y = X[:, :3].sum(axis=1) == 1
    >>> model = XofN().fit(X, y)
    >>> print(*model.features_[5:], sep="\\n")
    exactly 0 of {x0, x1, x2}
    exactly 1 of {x0, x1, x2}
    exactly 2 of {x0, x1, x2}
    exactly 3 of {x0, x1, x2}
    """

    max_features = NO_LIMIT
    _nothing_new = "no test of the tree has two literals. Try prune=False"

    def __init__(
        self,
        *,
        prune: bool = True,
        patience: int = 5,
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
        self.patience = patience
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
        search, limits = best_x_of_n(self.patience), limits_of(self, n_rows)
        return CountProposer(codes, len(self.classes_), limits, search, prune=self.prune)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("patience", self.patience, 1)
