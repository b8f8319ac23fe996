"""FRINGE and CITRE, the supervised ancestors of uFRINGE, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from conjunct.estimators.limits import limits_of
from conjunct.estimators.tree_based import SupervisedConstructor
from conjunct.expressions import Expression, Style
from conjunct.parameters import check_choice, check_whole
from conjunct.trees import (
    Learner,
    PackedStage,
    Path,
    Proposer,
    Redundant,
    Strategy,
    joined_conditions,
    telling_columns,
)
from conjunct.ufc import Indicators

Purity = Literal["gini", "entropy", "log_loss"]


class Fringe(SupervisedConstructor):
    """FRINGE: join conditions that a decision tree for ``y`` puts after each other.

    Each iteration grows scikit-learn's decision tree on the present features and joins two
    conditions of its paths; the tree of the next iteration can test at once what this one had to
    test again and again (the replication problem). For a Boolean ``y`` (True and False, or 1 and
    0) only the paths to leaves that say true are used; otherwise the paths of every class.

    Parameters
    ----------
    max_features : int, default=300
        The run ends with the iteration that reaches this number, primitives counted. All
        features of that iteration are added, so there may be more.
    strategy : {"fringe", "root", "root-fringe"}, default="fringe"
        Which two conditions of a path are joined: the last two (FRINGE), the first two, or the
        first and the last (CITRE).
    redundant : {"keep", "drop"}, default="keep"
        ``"drop"``: leave out columns that are true nowhere or equal to one that is there already,
        which doubles are, and formulas in which a literal occurs twice.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        What the decision tree's splits reduce.
    max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, max_leaf_nodes
        Where a tree ends, as in scikit-learn.
    random_state : int, default=0
        Seed of the decision tree, which breaks ties between splits at random. Columns are given
        to it in the order of their names, so that the result does not depend on theirs.
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
    classes_ : ndarray
        The values of ``y``; not kept in a model file.
    n_iter_, history_, feature_set_, n_distinct_rows_, n_features_in_, feature_names_in_
        As in `UFringe`.

    Examples
    --------
    >>> import itertools
    >>> import numpy as np
    >>> from conjunct import Fringe, parse
    >>> X = np.array(list(itertools.product([False, True], repeat=4)))
    >>> y = X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3]
    >>> model = Fringe().fit(X, y)
    >>> parse("x0 & x1") in model.features_, parse("x2 & x3") in model.features_
    (True, True)
    """

    strategy: Strategy

    def __init__(
        self,
        max_features: int = 300,
        *,
        strategy: Strategy = "fringe",
        redundant: Redundant = "keep",
        criterion: Purity = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        random_state: int = 0,
        binarize: float | None = None,
        missing: Literal["raise", "false"] = "raise",
        style: Style = "unicode",
        callback: Callable[[Indicators], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_features = max_features
        self.strategy = strategy
        self.redundant = redundant
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.random_state = random_state
        self.binarize = binarize
        self.missing = missing
        self.style = style
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> Proposer:
        tree = DecisionTreeClassifier(
            criterion=self.criterion,
            random_state=self.random_state,
            **asdict(limits_of(self, n_rows)),
        )
        learner = _decision_paths(tree, codes, self._positive)
        return joined_conditions(learner, self.strategy)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("strategy", self.strategy, get_args(Strategy))
        check_choice("criterion", self.criterion, get_args(Purity))
        check_whole("random_state", self.random_state, 0)


def _decision_paths(
    tree: DecisionTreeClassifier, codes: NDArray[np.intp], positive: int | None
) -> Learner:
    """The paths of a decision tree for ``codes``: to leaves that say ``positive``, or all."""

    def learn(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Path]:
        columns = telling_columns(stage, expressions)
        if not len(columns):
            return []
        table = stage.store.select(columns).to_dense()
        fitted = tree.fit(table.astype(np.float32), codes).tree_
        return list(_paths(fitted, columns.tolist(), positive))

    return learn


def _paths(tree: Any, columns: list[int], positive: int | None) -> Iterator[Path]:
    pending: list[tuple[int, Path]] = [(0, ())]
    while pending:
        node, path = pending.pop()
        false_child, true_child = int(tree.children_left[node]), int(tree.children_right[node])
        if false_child != true_child:
            column = columns[tree.feature[node]]
            pending += [(false_child, (*path, ~column)), (true_child, (*path, column))]
        elif positive is None or int(tree.value[node][0].argmax()) == positive:
            yield path
