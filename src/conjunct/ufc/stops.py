"""The base of all rules of uFC, and the rules that stop a run. The search itself never ends it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import inf, isnan
from typing import TYPE_CHECKING, ClassVar, TypeVar

from sklearn.base import BaseEstimator

from conjunct.errors import InputError
from conjunct.features import DECIMALS
from conjunct.parameters import FLAG, Constraint, Registry, check_parameters

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.run_state import Step


Setting = str | int | float | bool | None


class Rule(BaseEstimator):
    """A rule of uFC that checks its parameters, which are as in scikit-learn."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """A description of the rule for the help of the command line, in one line."""

    def check(self) -> None:
        """Refuse invalid settings by name."""
        check_parameters(self)

    def record(self) -> dict[str, Setting]:
        """Return the rule in the form that files store."""
        return {"rule": self.name, **self.get_params(deep=False)}


R = TypeVar("R", bound=Rule)


class RuleRegistry(Registry[type[R]]):
    """The rules of a family; ``what`` is the name of the parameter."""

    def __init__(self, what: str, home: str) -> None:
        super().__init__(what, home)
        # a report calls this thousands of times
        self._by_name: dict[str, R] = {}

    def make(self, value: object) -> R | None:
        """Create the rule that a name, a rule or the output of ``Rule.record`` describes."""
        for rule in self.values():
            if isinstance(value, rule):
                return value
        settings = dict(value) if isinstance(value, dict) else {"rule": value}
        name = settings.pop("rule", None)
        if not isinstance(name, str) or name not in self:
            return None
        try:
            return self[name](**settings)
        except TypeError as error:
            raise InputError(f"{self.what}: {error}") from None

    def resolve(self, value: object) -> R:
        """Return the rule that a value describes, or raise an error that explains the problem.

        A name always gives the same object, which must not be changed; ``make`` creates new ones.
        """
        if isinstance(value, str) and value in self._by_name:
            return self._by_name[value]
        rule = self.make(value)
        if rule is None:
            names = ", ".join(map(repr, self))
            objects = ", ".join(f"{rule.__name__}(...)" for rule in self.values())
            raise InputError(f"{self.what} must be {names}, or one of {objects}; got {value!r}")
        rule.check()
        if isinstance(value, str):
            self._by_name[value] = rule
        return rule


class Stop(Rule):
    """Base class of the stopping rules."""

    counts_null: bool = False
    """True if the overlapping index counts the paper's artificial feature "null"."""

    @abstractmethod
    def keep_steps(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps to keep. The first step, the primitives, is always kept."""

    @abstractmethod
    def why(self, run: Run) -> str:
        """Explain why the last step was tried but not kept."""

    def ends_early(self, run: Run) -> bool:
        """Return True if the run ended for a reason other than that of the rule."""
        return False

    def why_nothing(self, run: Run) -> str:
        """Explain why nothing was kept, and name a remedy for these data."""
        return self.why(run)


class MayCountNull(Stop):
    """Base class of the rules that can count the feature "null"."""

    constraints: ClassVar[dict[str, Constraint]] = {"null_feature": FLAG}

    def __init__(self, null_feature: bool = False) -> None:
        self.null_feature = null_feature

    @property
    def counts_null(self) -> bool:  # type: ignore[override]
        return self.null_feature


STOPS: RuleRegistry[Stop] = RuleRegistry("stop", "conjunct.ufc.stops")


@STOPS.enter
class NoGainStop(Stop):
    """Keep steps while each has a gain by the criterion.

    With ``"evidence"``, the evidence must exceed the cost of the merge. With all other criteria,
    the description of the data in Krimp's code must become shorter.

    Examples
    --------
    >>> from conjunct import UFC, NoGainStop, datasets
    >>> animals = datasets.load_zoo().values
    >>> model = UFC("bits", stop=NoGainStop()).fit(animals)
    >>> model.n_iter_
    23
    """

    name = "gain"
    summary = "when the next merge costs more than it saves"

    def keep_steps(self, steps: Iterable[Step]) -> Iterator[Step]:
        for step in steps:
            if step.iteration and round(step.gain, DECIMALS) <= 0:
                return
            yield step

    def why(self, run: Run) -> str:
        return f"It stopped after {run.iterations_text}: {run.plan.criterion.why_no_gain(run)}"

    def why_nothing(self, run: Run) -> str:
        return run.plan.criterion.explain_no_gain(run)


@STOPS.enter
class NoStop(MayCountNull):
    """Keep all steps.

    Parameters
    ----------
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.

    Examples
    --------
    >>> from conjunct import UFC, NoStop, datasets
    >>> spect = datasets.load_spect().values
    >>> UFC("risk", stop=NoStop(), max_iter=3).fit(spect).n_iter_
    3
    """

    name = "never"
    summary = "only when no pair may be joined any more"

    def keep_steps(self, steps: Iterable[Step]) -> Iterator[Step]:
        yield from steps

    def why(self, run: Run) -> str:
        return run.plan.criterion.why_no_more(run)


# below this overlapping index, RMS depends almost only on complexity
_LOW_OVERLAP = 0.1
# a run ends before formulas have more literals on average
_READABLE_LENGTH = 100


@STOPS.enter
class RmsStop(MayCountNull):
    """Keep the last iteration before the RMS of OI and C0 rises.

    If C0 is undefined (not more distinct rows than columns), make one iteration, the minimum that
    constructs anything.

    Parameters
    ----------
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.

    Examples
    --------
    >>> from conjunct import UFC, RmsStop, datasets
    >>> spect = datasets.load_spect().values
    >>> UFC("risk", stop=RmsStop()).fit(spect).n_iter_
    2
    """

    name = "rms"
    summary = "the paper's: before the RMS of overlap (OI) and growth (C0) rises"

    def keep_steps(self, steps: Iterable[Step]) -> Iterator[Step]:
        # Runs also end before formulas have more than _READABLE_LENGTH literals on average. With
        # many distinct rows C0 always stays near 0, so RMS alone would continue until formulas
        # have millions of literals.
        waiting = iter(steps)
        first = next(waiting)
        if isnan(first.indicators.rms):
            yield first
            yield from islice(waiting, 1)
            return
        lowest = inf
        for step in chain([first], waiting):
            present = step.indicators.rms
            if present > lowest or step.indicators.length > _READABLE_LENGTH:
                return
            lowest = present
            yield step

    def ends_early(self, run: Run) -> bool:
        return isnan(run.kept[-1].indicators.rms) or _is_too_long(run)

    def why(self, run: Run) -> str:
        before, after = run.kept[-1].indicators, run.tried[-1].indicators
        if isnan(before.rms):
            return (
                f"C0 is undefined for {run.n_distinct_rows} distinct rows and "
                f"{run.state.n_columns} columns, so the RMS stop cannot be used: one iteration was "
                f"made. Set max_iter or criterion='evidence'"
            )
        if _is_too_long(run):
            return (
                f"RMS still falls after iteration {run.n_iter}, but the next formulas would have "
                f"more than {_READABLE_LENGTH} literals on average: with {run.n_distinct_rows} "
                f"distinct rows, C0 grows very slowly. Set max_length (for instance max_length=4) "
                f"or max_iter"
            )
        return (
            f"It stopped after {run.iterations_text}: the next would raise RMS from "
            f"{_rise_text(before.rms, after.rms)}"
        )

    def why_nothing(self, run: Run) -> str:
        first, tried = run.tried[0].indicators, run.tried[-1].indicators
        advice = "criterion='evidence', or set max_iter"
        if first.oi < _LOW_OVERLAP:
            advice = f"{advice}: many rare columns always have a low OI"
        return (
            f"No feature was constructed: the first iteration raises RMS from "
            f"{_rise_text(first.rms, tried.rms)} (OI {first.oi:.3g} → {tried.oi:.3g}, "
            f"C0 {first.c0:.3g} → {tried.c0:.3g}). Try {advice}"
        )


def _rise_text(before: float, after: float) -> str:
    """Write two numbers with three digits, or with more if needed to distinguish them."""
    texts = ((f"{before:.{n}g}", f"{after:.{n}g}") for n in range(3, 18))
    low, high = next(pair for pair in texts if pair[0] != pair[1] or before == after)
    return f"{low} to {high}"


def _is_too_long(run: Run) -> bool:
    """Return True if the run ended because formulas would become too long to read."""
    return len(run.tried) > len(run.kept) and run.tried[-1].indicators.length > _READABLE_LENGTH
