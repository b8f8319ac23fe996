"""uFC for every threshold at once, as a scikit-learn transformer."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from conjunct.counting import Store
from conjunct.data import Backend, BooleanData, Missing, Variables, check_variables
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.invertible import InvertibleConstructor
from conjunct.estimators.ufc import UFC
from conjunct.expressions import Style
from conjunct.parameters import check, check_common, check_whole, is_number
from conjunct.ufc import Budget, Never, Path, Range, Solution, Threshold, follow_path

_SOLUTIONS_PER_LINE = 100
_ONLY_CLOSEST = (
    "a path read from a file has its closest point only: fit it again for the other solutions"
)


class UFCPath(InvertibleConstructor):
    """All distinct results of uFC over a range of thresholds, and the best compromise.

    Covers every real λ in [``min_threshold``, ``max_threshold``] and 1 to ``max_iter`` iterations,
    not a grid. The estimator transforms with the closest point: the solution with the smallest
    distance of (OI, C0) from (0, 0).

    Parameters
    ----------
    min_threshold, max_threshold : float, default=0.002 and 0.5
        The range of λ, both ends included. The defaults are the paper's.
    max_iter : int, default=20
        The largest number of iterations.
    prune : bool, default=False
        Leave out pairs with an expected frequency below 5. The paper's figures use both.
    max_solutions : int or None, default=10_000
        Stop after this number of solutions. Those found, from the highest λ down, are kept,
        ``complete_`` is False, and a warning says which λ were covered. None: no limit.
    max_seconds : float or None, default=600
        Stop after this number of seconds, likewise.
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    keep_columns : bool, default=False
        ``transform`` returns the columns first, and then the features of two tags or more.
    variables : dict of str to list of str, or False, optional
        Which columns exclude each other, as values of one variable: ``{"colour": ["red",
        "blue"]}`` names all of them, ``False`` means that there are none. ``None``: those of the
        Binarizer, and among other columns those that are recognised (docs/data-in.md).
    binarize : float, optional
        Values above it are true. ``None``: values must be Boolean or 0/1.
    missing : {"raise", "false", "pairwise"}, default="raise"
        Missing cells (NaN, None, null) are refused; are treated as false; or stay missing: pairs
        are judged in the rows in which both are known, and conjunctions follow Kleene's logic
        (docs/missing-values.md).
    style : {"unicode", "ascii", "latex"}, default="unicode"
        How feature names are written.
    callback : callable, optional
        Called with each solution as it is found, from the highest λ down.
    n_jobs : int, optional
        Threads for counting; −1 for all processors. The result does not depend on it.
    verbose : int, default=0
        1: a line for every hundred solutions.

    Attributes
    ----------
    solutions_ : tuple of Solution
        By rising λ, then iterations: ``min_threshold``, ``max_threshold`` (every λ from the first
        up to, but not including, the second gives the solution), ``threshold`` (a readable one of
        them), ``iterations``, ``settled_from`` (from this λ on, further iterations change
        nothing), ``n_features``, ``length``, ``oi``, ``c0``, ``rms``, ``distance``.
    front_ : tuple of Solution
        Those that no other beats in both OI and C0, by rising C0.
    closest_point_ : Solution
        The one whose features are used. Ties: fewer features, then the smaller λ.
    complete_ : bool
        True if the whole range was covered.
    covered_from_ : float
        Every λ from here up to ``max_threshold`` was covered: ``min_threshold`` if complete.
    features_, threshold_, n_iter_, history_, feature_set_, variables_, n_distinct_rows_
        As in :class:`UFC`, of the closest point.

    Notes
    -----
    A model file keeps the closest point, and not the other solutions: fit again for their table
    (``get_solutions``).

    Examples
    --------
    >>> from conjunct import UFCPath, datasets
    >>> path = UFCPath().fit(datasets.load_spect().values)
    >>> best = path.closest_point_
    >>> best.threshold, best.iterations, best.n_features
    (0.432, 3, 36)
    """

    n_distinct_rows_: int
    _path: Path | None = None
    _training: Store | None = None

    def __init__(
        self,
        min_threshold: float = 0.002,
        max_threshold: float = 0.5,
        max_iter: int = 20,
        prune: bool = False,
        *,
        max_solutions: int | None = 10_000,
        max_seconds: float | None = 600,
        null_feature: bool = False,
        keep_columns: bool = False,
        variables: Variables = None,
        binarize: float | None = None,
        missing: Missing = "raise",
        style: Style = "unicode",
        callback: Callable[[Solution], object] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.min_threshold = min_threshold
        self.max_threshold = max_threshold
        self.max_iter = max_iter
        self.prune = prune
        self.max_solutions = max_solutions
        self.max_seconds = max_seconds
        self.null_feature = null_feature
        self.keep_columns = keep_columns
        self.variables = variables
        self.binarize = binarize
        self.missing = missing
        self.style = style
        self.callback = callback  # type: ignore[assignment]
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def solutions_(self) -> tuple[Solution, ...]:
        return self._fitted_path().solutions

    @property
    def front_(self) -> tuple[Solution, ...]:
        path = self._fitted_path()
        return tuple(path.solutions[k] for k in path.front)

    @property
    def closest_point_(self) -> Solution:
        path = self._fitted_path()
        return path.solutions[path.closest]

    @property
    def complete_(self) -> bool:
        return self._fitted_path().complete

    @property
    def covered_from_(self) -> float:
        return self._fitted_path().covered_from

    def solution(self, which: int | Solution) -> UFC:
        """Return a solution, given by its position in ``solutions_`` or itself, as a fitted model.

        It is constructed again from the training data, because only the indicators of each
        solution are kept.
        """
        solutions = self._fitted_path().solutions
        if not isinstance(which, Solution):
            if which not in range(len(solutions)):
                raise InputError(f"there is no solution {which}: there are {len(solutions)}")
            which = solutions[which]
        if self._training is None:
            raise AttributeError(_ONLY_CLOSEST)
        model = UFC(
            Threshold(which.threshold, prune=self.prune),
            max_iter=which.iterations,
            stop=Never(null_feature=self.null_feature),
            names="formula",
            keep_columns=self.keep_columns,
            variables=self.variables,
            binarize=self.binarize,
            missing=self.missing,
            style=self.style,
            n_jobs=self.n_jobs,
        )
        model.fit(
            BooleanData(
                self._primitive_names(),
                self._training,
                preparation=self.preparation_,
                has_names=hasattr(self, "feature_names_in_"),
            )
        )
        model._backend = self._backend
        return model

    def result_of(self, threshold: float, max_iter: int) -> Solution:
        """Return the one of ``solutions_`` that ``UFC(threshold, max_iter=max_iter)`` gives."""
        found = self._fitted_path().result_of(threshold, max_iter)
        if found is None:
            raise InputError(
                f"uFC({threshold}, {max_iter}) is not covered: λ goes from {self.covered_from_} to "
                f"{self.max_threshold} here, and iterations from 1 to {self.max_iter}"
            )
        return found

    def get_solutions(self, backend: Backend | None = None) -> Any:
        """Return a table of ``solutions_``, with ``on_front`` and ``is_closest`` marked.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "dict"}, optional
            Kind of table. By default the kind the model was fitted on, and pandas otherwise.
        """
        path = self._fitted_path()
        on_front = set(path.front)
        fields = (
            "threshold",
            "min_threshold",
            "max_threshold",
            "settled_from",
            "iterations",
            "n_features",
            "length",
            "oi",
            "c0",
            "rms",
            "distance",
        )
        columns: dict[str, list[Any]] = {
            field: [getattr(solution, field) for solution in path.solutions] for field in fields
        }
        columns["on_front"] = [k in on_front for k in range(len(path.solutions))]
        columns["is_closest"] = [k == path.closest for k in range(len(path.solutions))]
        return self._make_table(columns, backend)

    def _construct(self, store: Store, names: Sequence[str]) -> None:
        self._check_parameters()
        path = follow_path(
            store,
            names,
            Range(self.min_threshold, self.max_threshold, self.max_iter, self.prune),
            budget=Budget(self.max_solutions, self.max_seconds),
            null_feature=self.null_feature,
            watch=self._make_reporter(),
        )
        self._path, self._training = path, store
        self.n_distinct_rows_ = path.n_distinct_rows
        chosen = self.solution(path.closest)
        self.feature_set_ = chosen.feature_set_
        self.history_ = chosen.history_
        self.threshold_ = chosen.threshold_
        best = path.solutions[path.closest]
        self.outcome_ = (
            f"Of {len(path.solutions)} distinct solutions, λ = {best.threshold:g} with "
            f"{best.iterations} iteration{'s' * (best.iterations != 1)} is the closest to (0, 0): "
            f"OI {best.oi:.3f}, C0 {best.c0:.3f}."
        )
        problem = None
        if not path.complete:
            problem = (
                f"the budget was spent after {len(path.solutions)} solutions: only λ from "
                f"{path.covered_from:.4f} to {self.max_threshold} is covered, and the closest "
                f"point is that of this part. Raise max_solutions or max_seconds, or raise "
                f"min_threshold"
            )
        elif len(path.solutions) == 1 and not path.solutions[0].iterations:
            problem = (
                "no feature was constructed: no pair of columns exceeds min_threshold. "
                "Try a smaller min_threshold"
            )
        if problem is not None:
            warnings.warn(problem, ConjunctWarning, stacklevel=3)

    def _make_reporter(self) -> Callable[[Solution], None]:
        """Return the function to call with each solution as it is found."""
        n_found = 0

        def report(solution: Solution) -> None:
            nonlocal n_found
            n_found += 1
            if self.verbose and n_found % _SOLUTIONS_PER_LINE == 0:
                sys.stdout.write(f"{n_found} solutions, λ down to {solution.min_threshold:.3f}\n")
            if self.callback is not None:
                self.callback(solution)  # type: ignore[arg-type]

        return report

    def _fitted_path(self) -> Path:
        if self._path is not None:
            return self._path
        check_is_fitted(self, "feature_set_")
        raise AttributeError(_ONLY_CLOSEST)

    def _check_parameters(self) -> None:
        low, high = self.min_threshold, self.max_threshold
        wanted = "a number from 0 up to, but not including, 1"
        for name, value in (("min_threshold", low), ("max_threshold", high)):
            check(is_number(value) and 0 <= value < 1, name, value, wanted)
        check(low <= high, "max_threshold", high, f"at least min_threshold, which is {low}")
        check_whole("max_iter", self.max_iter, 1)
        check_whole("max_solutions", self.max_solutions, 1, optional=True)
        seconds = self.max_seconds
        check(
            seconds is None or (is_number(seconds) and seconds > 0),
            "max_seconds",
            seconds,
            "None or a number above 0",
        )
        check(isinstance(self.keep_columns, bool), "keep_columns", self.keep_columns, "a Boolean")
        check_variables(self.variables)
        check_common(self)
