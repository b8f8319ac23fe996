"""The supervised relatives of uFRINGE: FRINGE and CITRE, CAT, ID2-of-3 and XofN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, asdict
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from conjunct import trees
from conjunct.errors import InputError
from conjunct.estimators.base import class_codes
from conjunct.estimators.trees import SPLIT_LIMITS, TreeBasedConstructor, tree_limits
from conjunct.expressions import Expression
from conjunct.parameters import FLAG, Constraint, one_of, whole, with_parameters
from conjunct.ufc import Indicators


class SupervisedConstructor(TreeBasedConstructor):
    """Base of the constructors that need the class of each row."""

    classes_: NDArray[Any]

    def fit(
        self, X: Any, y: Any = None, *, callback: Callable[[Indicators], object] | None = None
    ) -> Self:
        """Construct features that help to predict ``y``, the class of each row of ``X``.

        ``X`` and ``callback`` are as in `UFringe`.
        """
        data = self._read_to_fit(X)
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "pass the class of each row, or use UFringe, which needs none"
            )
        self.classes_, codes = class_codes(y, data.n_rows)
        self._construct(data.columns, data.names, callback, codes)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _positive(self) -> int | None:
        """Return the number of the class that means true, if the classes are Boolean or 0 and 1."""
        is_boolean = not isinstance(self.classes_[0], str) and self.classes_.tolist() == [0, 1]
        return 1 if is_boolean else None


@with_parameters
class TreeClassifier(ClassifierMixin, SupervisedConstructor):
    """Base of the estimators that are transformers and classifiers."""

    constraints: ClassVar[dict[str, Constraint]] = {"prune": FLAG}

    _: KW_ONLY
    prune: bool = True

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most common class in the leaf of each row; ties go to the first class."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class among the training rows in the leaf of each row."""
        check_is_fitted(self)
        if not hasattr(self, "tree_"):
            raise InputError(
                "a model file has no tree: to predict, fit again, or train a classifier on the "
                "output of transform"
            )
        table = self.feature_set_.evaluate(self.read_columns(X)).to_dense()
        counts = self.tree_.class_counts(table)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Boolean columns predict less than the numbers behind them
        tags.classifier_tags.poor_score = True
        return tags


Purity = Literal["gini", "entropy", "log_loss"]


@with_parameters
class Fringe(SupervisedConstructor):
    """FRINGE: join successive conditions of a decision tree for ``y``.

    Each iteration grows scikit-learn's decision tree on the current features and joins two
    conditions of its paths. The next tree can then replace repeated subtrees by a single node
    (the replication problem). For a Boolean ``y`` (True and False, or 1 and 0) only paths to
    leaves that predict true are used; otherwise the paths of all classes.

    Parameters
    ----------
    max_features : int, default=300
        As in `UFringe`, but the last iteration adds all of its features.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity that the decision tree's splits reduce.
    max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, max_leaf_nodes
        Limits of a tree, as in scikit-learn.
    random_state : int, default=0
        Seed of the decision tree, which breaks ties between splits at random. The result does
        not depend on the order of columns.
    strategy, drop_redundant, threshold, missing, formula_style, n_jobs, verbose
        As in `UFringe`.

    Attributes
    ----------
    classes_ : ndarray
        The values of ``y``; not kept in a model file.
    features_, n_iter_, history_, feature_set_, n_distinct_rows_
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

    constraints: ClassVar[dict[str, Constraint]] = {
        "max_features": whole(1),
        "strategy": one_of(get_args(trees.Strategy)),
        "criterion": one_of(get_args(Purity)),
        "random_state": whole(0),
        **SPLIT_LIMITS,
    }

    max_features: int = 300
    _: KW_ONLY
    strategy: trees.Strategy = "fringe"
    criterion: Purity = "gini"
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    random_state: int = 0

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> trees.Proposer:
        tree = DecisionTreeClassifier(
            criterion=self.criterion,
            random_state=self.random_state,
            **asdict(tree_limits(self, n_rows)),
        )

        def learn(
            stage: trees.PackedStage, expressions: tuple[Expression, ...]
        ) -> Iterable[trees.Path]:
            columns = trees.telling_columns(stage, expressions)
            if not len(columns):
                return []
            table = stage.store.select(columns).to_dense()
            fitted = tree.fit(table.astype(np.float32), codes).tree_
            return _paths(fitted, columns.tolist(), self._positive)

        return trees.join_conditions(learn, self.strategy)


def _paths(tree: Any, columns: list[int], positive: int | None) -> Iterator[trees.Path]:
    """Yield the paths to leaves of class ``positive``, or to all leaves."""
    pending: list[tuple[int, trees.Path]] = [(0, ())]
    while pending:
        node, path = pending.pop()
        false_child, true_child = int(tree.children_left[node]), int(tree.children_right[node])
        if false_child != true_child:
            column = columns[tree.feature[node]]
            pending += [(false_child, (*path, ~column)), (true_child, (*path, column))]
        elif positive is None or int(tree.value[node][0].argmax()) == positive:
            yield path


@with_parameters
class CAT(TreeClassifier):
    """CAT: join the conditions of each path of a pruned tree that best predict its class.

    Each iteration grows a decision tree on the current features by information gain and prunes it.
    FRINGE joins the last two conditions of a path, but CAT searches all subsets of two or more for
    the conjunction with the largest information gain about the class of the leaf. For a Boolean
    ``y`` (True and False, or 1 and 0) only paths to leaves that predict true are used, as in
    `Fringe`. The run ends when the tree and the classes given the tree take no fewer bits than
    before.

    Parameters
    ----------
    max_features : int, default=300
        As in `UFringe`, but the last iteration adds all of its features.
    prune : bool, default=True
        Replace a subtree by a leaf if that describes its rows in fewer bits.
    max_depth, min_samples_split, min_samples_leaf
        Limits of a tree, as in scikit-learn.
    drop_redundant, threshold, missing, formula_style, n_jobs, verbose
        As in `UFringe`.

    Attributes
    ----------
    classes_ : ndarray
        The values of ``y``; not kept in a model file.
    tree_ : CountTree
        The tree behind ``predict``; not kept in a model file.
    features_, n_iter_, history_, feature_set_, n_distinct_rows_
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

    constraints: ClassVar[dict[str, Constraint]] = {"max_features": whole(1)}

    max_features: int = 300

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> trees.CatProposer:
        limits = tree_limits(self, n_rows)
        return trees.CatProposer(codes, len(self.classes_), limits, self.prune, self._positive)


class ID2of3(TreeClassifier):
    """ID2-of-3: a decision tree with tests "at least M of these N", which become features.

    The test of a node starts with the best literal. Literals are added while the information
    gain rises, and each either keeps M or raises it by one. There is only one tree, because
    features are constructed as it grows: each test of two literals or more is a feature.

    Parameters
    ----------
    prune, drop_redundant, max_depth, min_samples_split, min_samples_leaf
        As in `CAT`, which has the same attributes.
    threshold, missing, formula_style, n_jobs, verbose
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

    _nothing_new = "no test of the tree has two literals. Try prune=False"

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> trees.CountProposer:
        limits = tree_limits(self, n_rows)
        return trees.CountProposer(
            codes, len(self.classes_), limits, self.prune, trees.best_m_of_n()
        )


@with_parameters
class XofN(TreeClassifier):
    """XofN: a decision tree whose tests count true literals, with one branch per count.

    At each node, a search finds the set of literals for which the test and the classes take the
    fewest bits. It starts from the best literal or pair, and from the test of `ID2of3`, and adds
    or removes one literal at a time. Each count k at a node gives a feature, "exactly k of these".
    There is one tree, as in `ID2of3`.

    Parameters
    ----------
    patience : int, default=5
        End the search at a node after this many steps without a shorter description. Parity of
        three or more literals needs several steps, because it only helps when it is complete.
    prune, drop_redundant, max_depth, min_samples_split, min_samples_leaf
        As in `CAT`, which has the same attributes.
    threshold, missing, formula_style, n_jobs, verbose
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

    constraints: ClassVar[dict[str, Constraint]] = {"patience": whole(1)}

    _nothing_new = "no test of the tree has two literals. Try prune=False"

    _: KW_ONLY
    patience: int = 5

    def _proposer(self, codes: NDArray[np.intp], n_rows: int) -> trees.CountProposer:
        search, limits = trees.best_x_of_n(self.patience), tree_limits(self, n_rows)
        return trees.CountProposer(codes, len(self.classes_), limits, self.prune, search)
