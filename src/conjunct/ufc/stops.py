"""Stopping rules: they consume the steps of a run. The search does not know when to end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import inf, isnan
from typing import TYPE_CHECKING

from conjunct.features import DECIMALS
from conjunct.parameters import check
from conjunct.ufc.rules import Rule, RuleRegistry

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.run_state import Step


class Stop(Rule):
    """Base of the stopping rules."""

    null_feature: bool = False
    """True if the overlapping index counts the paper's artificial feature "null"."""

    @abstractmethod
    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps up to the last one that is kept. The first, the primitives, always is."""

    @abstractmethod
    def why(self, run: Run) -> str:
        """Return why the last step that was tried was not kept."""

    def ends_early(self, run: Run) -> bool:
        """Return True if the run ended for another reason than what the rule is about."""
        return False

    def why_nothing(self, run: Run) -> str:
        """Return why nothing was kept, and what would help with these data."""
        return self.why(run)


class MayCountNull(Stop):
    """Base of the rules that can count the feature "null"."""

    def __init__(self, null_feature: bool = False) -> None:
        self.null_feature = null_feature

    def check(self) -> None:
        check(isinstance(self.null_feature, bool), "null_feature", self.null_feature, "a Boolean")


STOPS: RuleRegistry[Stop] = RuleRegistry("stop", "conjunct.ufc.stops")


@STOPS.enter
class NoGainStop(Stop):
    """Keep the steps as long as each is worth it by its criterion.

    With ``"evidence"``: more evidence than the merge costs. With all others: a shorter
    description of the data in Krimp's code.
    """

    name = "gain"
    summary = "when the next merge is not worth what it costs"

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        for step in steps:
            if step.iteration and round(step.gain, DECIMALS) <= 0:
                return
            yield step

    def why(self, run: Run) -> str:
        return f"It stopped after {run.iterations_text}: {run.criterion.why_no_gain(run)}"

    def why_nothing(self, run: Run) -> str:
        return run.criterion.why_nothing_gained(run)


@STOPS.enter
class Never(MayCountNull):
    """Keep all steps.

    Parameters
    ----------
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    """

    name = "never"
    summary = "only when no pair is left that may be joined"

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        yield from steps

    def why(self, run: Run) -> str:
        return run.criterion.why_no_more(run)


# an overlapping index below which there is little for RMS to weigh complexity against
_LOW_OVERLAP = 0.1
# mean literals of a formula beyond which a run ends
_READABLE_LENGTH = 100


@STOPS.enter
class Rms(MayCountNull):
    """Keep the last iteration before the RMS of OI and C0 rises.

    Where C0 has no meaning (no more distinct rows than columns) one iteration is made: the least
    that constructs anything.

    Parameters
    ----------
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    """

    name = "rms"
    summary = "the paper's: before the RMS of overlap (OI) and growth (C0) rises"

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        # They end, too, before formulas have more than _READABLE_LENGTH literals on average: with
        # many distinct rows C0 stays near 0 whatever is constructed, and RMS alone would go on
        # until formulas have millions of literals.
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
                f"C0 has no meaning for {run.n_distinct_rows} distinct rows and "
                f"{run.n_columns} columns, so the RMS stop cannot be used: one iteration was "
                f"made. Set max_iter or criterion='evidence'"
            )
        if _is_too_long(run):
            return (
                f"Iteration {run.n_iter} is the last whose formulas have {_READABLE_LENGTH} "
                f"literals or fewer on average, and RMS still falls: with {run.n_distinct_rows} "
                f"distinct rows C0 hardly grows. Set max_length (for instance max_length=4), or "
                f"max_iter to choose"
            )
        return (
            f"It stopped after {run.iterations_text}: the next would raise RMS from "
            f"{before.rms:.3g} to {after.rms:.3g}"
        )

    def why_nothing(self, run: Run) -> str:
        first, tried = run.tried[0].indicators, run.tried[-1].indicators
        advice = "criterion='evidence', or set max_iter"
        if first.oi < _LOW_OVERLAP:
            advice = f"{advice}: OI is low wherever columns are many and rare"
        return (
            f"No feature was constructed: the first iteration raises RMS from {first.rms:.3g} to "
            f"{tried.rms:.3g} (OI {first.oi:.3g} → {tried.oi:.3g}, C0 {first.c0:.3g} → "
            f"{tried.c0:.3g}). Try {advice}"
        )


def _is_too_long(run: Run) -> bool:
    """Return True if the run ended because formulas would become too long to read."""
    return len(run.tried) > len(run.kept) and run.tried[-1].indicators.length > _READABLE_LENGTH
