"""uFC for every threshold at once, as a scikit-learn transformer."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, fields
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sklearn.utils.validation import check_is_fitted

from conjunct import files, ufc
from conjunct.counting import Store
from conjunct.data import Backend, BooleanData, Missing, Variables, check_variables
from conjunct.errors import ConjunctWarning, InputError
from conjunct.estimators.invertible import FeatureNames, HandleUnknown, InvertibleConstructor
from conjunct.estimators.ufc import UFC
from conjunct.expressions import Style
from conjunct.parameters import Constraint, check, real, whole, with_parameters

_SOLUTIONS_PER_LINE = 100
_CORRELATION = real("a number, at least 0 and less than 1", lambda value: 0 <= value < 1)
_OF_PATH = ("solutions_", "front_", "closest_point_", "complete_", "covered_from_", "_path")
_ONLY_CLOSEST = "a saved path contains only its closest point: fit again for all solutions"


@with_parameters
class UFCPath(InvertibleConstructor):
    """All distinct results of uFC over a range of thresholds, and the best compromise.

    Covers every real λ in [``min_threshold``, ``max_threshold``], without a grid, and 1 to
    ``max_iter`` iterations. ``transform`` uses the closest point: the solution whose (OI, C0) is
    closest to (0, 0).

    Parameters
    ----------
    min_threshold, max_threshold : float, default=0.002 and 0.5
        The range of λ, both ends included. The defaults are the paper's.
    max_iter : int, default=20
        Maximum number of iterations.
    prune : bool, default=False
        Leave out pairs with an expected frequency below 5. The paper has figures with both.
    max_solutions : int or None, default=10_000
        Stop after this number of solutions, found from the highest λ down. ``complete_`` is then
        False, and a warning names the range of λ that was covered. None: no limit.
    max_seconds : float or None, default=600
        Stop after this number of seconds in the same way.
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    feature_names, handle_unknown, keep_columns, variables
        As in `UFC`.
    threshold, missing, formula_style, n_jobs
        As in `UFC`.
    verbose : int, default=0
        1: print one line per hundred solutions.

    Attributes
    ----------
    solutions_ : tuple of Solution
        By rising λ, then iterations: ``min_threshold``, ``max_threshold`` (each λ from the first
        up to, but not including, the second gives this solution), ``threshold`` (a short λ of this
        range), ``iterations``, ``settled_from`` (from this λ on, more iterations change nothing),
        ``n_features``, ``length``, ``oi``, ``c0``, ``rms``, ``distance``.
    front_ : tuple of Solution
        The solutions that no other solution beats in both OI and C0, by rising C0.
    closest_point_ : Solution
        The solution in use. Ties: fewer features, then the smaller λ.
    complete_ : bool
        True if the whole range was covered.
    covered_from_ : float
        The smallest λ covered: ``min_threshold`` if ``complete_``.
    features_, threshold_, n_iter_, history_, feature_set_, variables_, n_distinct_rows_
        As in `UFC`, of the closest point.

    Notes
    -----
    A model file keeps only the closest point: fit again for the table of all solutions
    (``get_solutions``). ``fit`` calls ``callback`` with each new solution, from the highest λ down.

    Examples
    --------
    >>> from conjunct import UFCPath, datasets
    >>> path = UFCPath().fit(datasets.load_spect().values)
    >>> best = path.closest_point_
    >>> best.threshold, best.iterations, best.n_features
    (0.432, 3, 36)
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "min_threshold": _CORRELATION,
        "max_threshold": _CORRELATION,
        "max_iter": whole(1),
        "max_solutions": whole(1, optional=True),
        "max_seconds": real("a number above 0", lambda value: value > 0, optional=True),
    }

    min_threshold: float = 0.002
    max_threshold: float = 0.5
    max_iter: int = 20
    prune: bool = False
    _: KW_ONLY
    max_solutions: int | None = 10_000
    max_seconds: float | None = 600
    null_feature: bool = False
    feature_names: FeatureNames = "tags"
    handle_unknown: HandleUnknown = "warn"
    keep_columns: bool = False
    variables: Variables = None
    threshold: float | None = None
    missing: Missing = "pairwise"
    formula_style: Style = "unicode"
    n_jobs: int | None = None
    verbose: int = 0

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name in _OF_PATH:
                check_is_fitted(self, "feature_set_")
                raise AttributeError(_ONLY_CLOSEST)
            super().__getattr__(name)

    def solution(self, which: int | ufc.Solution) -> UFC:
        """Return a solution, or the one at a position in ``solutions_``, as a fitted model.

        The model is fitted again, because a path keeps only the indicators of its solutions.
        """
        solutions = self.solutions_
        if not isinstance(which, ufc.Solution):
            if which not in range(len(solutions)):
                raise InputError(f"there is no solution {which}: the last is {len(solutions) - 1}")
            which = solutions[which]
        model = UFC(
            ufc.Threshold(which.threshold, prune=self.prune),
            max_iter=which.iterations,
            stop=ufc.NoStop(null_feature=self.null_feature),
            feature_names=self.feature_names,
            handle_unknown=self.handle_unknown,
            keep_columns=self.keep_columns,
            variables=self.variables,
            threshold=self.threshold,
            missing=self.missing,
            formula_style=self.formula_style,
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
        model.backend_ = self.backend_
        return model

    def result_of(self, threshold: float, max_iter: int) -> ufc.Solution:
        """Return the solution that ``UFC(threshold, max_iter=max_iter)`` gives."""
        found = self._path.result_of(threshold, max_iter)
        if found is None:
            raise InputError(
                f"uFC({threshold}, {max_iter}) is not covered: this path has λ from "
                f"{self.covered_from_} to {self.max_threshold} and 1 to {self.max_iter} iterations"
            )
        return found

    def get_solutions(self, backend: Backend | None = None) -> Any:
        """Return a table of ``solutions_``, with columns ``on_front`` and ``is_closest``.

        ``backend`` is the kind of table, as in ``get_features``.
        """
        path = self._path
        on_front = {*path.front}
        names = ("threshold", *(field.name for field in fields(ufc.Solution)), "distance")
        table: dict[str, list[Any]] = {
            name: [getattr(solution, name) for solution in path.solutions] for name in names
        }
        table["on_front"] = [k in on_front for k in range(len(path.solutions))]
        table["is_closest"] = [k == path.closest for k in range(len(path.solutions))]
        return self.make_table(table, backend)

    def _construct(
        self, store: Store, names: Sequence[str], callback: Callable[[ufc.Solution], object] | None
    ) -> None:
        self._check_parameters()
        n_found = count(1)

        def report(solution: ufc.Solution) -> None:
            number = next(n_found)
            if self.verbose and number % _SOLUTIONS_PER_LINE == 0:
                sys.stdout.write(f"{number} solutions, λ down to {solution.min_threshold:.3f}\n")
            if callback is not None:
                callback(solution)

        path = ufc.follow_path(
            store,
            names,
            ufc.Range(self.min_threshold, self.max_threshold, self.max_iter, self.prune),
            budget=ufc.Budget(self.max_solutions, self.max_seconds),
            null_feature=self.null_feature,
            watch=report,
        )
        self._path, self._training, self.solutions_ = path, store, path.solutions
        self.front_ = tuple(path.solutions[k] for k in path.front)
        self.closest_point_ = path.solutions[path.closest]
        self.complete_, self.covered_from_ = path.complete, path.covered_from
        self.n_distinct_rows_ = path.n_distinct_rows
        chosen = self.solution(path.closest)
        self.feature_set_, self.history_ = chosen.feature_set_, chosen.history_
        self.threshold_ = chosen.threshold_
        self._null_rows = chosen._null_rows
        self._ending = ufc.Ending(solutions=len(path.solutions), threshold=self.threshold_)
        self.stop_reason_ = self._write_stop_reason()
        problem = None
        if not path.complete:
            problem = (
                f"the search stopped after {len(path.solutions)} solutions and covered only λ from "
                f"{path.covered_from:.4f} to {self.max_threshold}, so its closest point may not be "
                f"the best. Raise max_solutions, max_seconds or min_threshold"
            )
        elif len(path.solutions) == 1 and not path.solutions[0].iterations:
            problem = (
                "no feature was constructed: no pair of columns exceeds min_threshold. "
                "Try a smaller min_threshold"
            )
        if problem is not None:
            warnings.warn(problem, ConjunctWarning, stacklevel=3)

    def _write_stop_reason(self) -> str:
        best, n_iter = self.history_[-1], self.n_iter_
        return (
            f"Of {self._ending.solutions} distinct solutions, λ = {self.threshold_:g} with "
            f"{n_iter} iteration{'s' * (n_iter != 1)} is the closest to (0, 0): "
            f"OI {best.oi:.3f}, C0 {best.c0:.3f}."
        )

    def _plan(self) -> ufc.Plan:
        return ufc.Plan(ufc.Threshold(self.threshold_ or 0.0, prune=self.prune), "batch")

    def _restore(self, model: files.ModelFile) -> None:
        ending = model.ending
        self.threshold_, self._ending = ending.threshold, ending
        is_right = ending == ufc.Ending(solutions=ending.solutions, threshold=ending.threshold)
        is_known = None not in (ending.solutions, ending.threshold)
        has_more = model.new_rows or model.suggestions
        ufc.check_source(
            is_right and is_known and not has_more, "its ending does not belong to a path"
        )
        stop = ufc.NoStop(self.null_feature)
        run = model.restore(self._plan(), stop, ufc.Ending(), max_iter=self.max_iter)
        self.feature_set_, self.history_ = run.feature_set, run.history
        self.n_distinct_rows_ = run.n_distinct_rows
        self.stop_reason_ = self._write_stop_reason()

    @property
    def has_path(self) -> bool:
        """Return True if all solutions are known; a model file has only the closest point."""
        return "_path" in vars(self)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_variables(self.variables)
        low, high = self.min_threshold, self.max_threshold
        check(low <= high, "max_threshold", high, f"at least min_threshold, which is {low}")
