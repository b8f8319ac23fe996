"""Stopping rules: they consume the steps of a run. The search does not know when to end."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.parameters import check
from conjunct.ufc.rules import Rule, RuleRegistry

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step

READABLE_LENGTH = 100
"""Mean literals of a formula beyond which a run that weighs overlap against growth ends."""


class Stop(Rule):
    """Base of the stopping rules."""

    null_feature: bool = False
    """Whether the overlapping index counts the paper's artificial feature "null"."""

    @abstractmethod
    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        """The steps up to the last one that is kept. The first, the primitives, always is."""

    @abstractmethod
    def why(self, run: Run) -> str:
        """Why the last step that was tried was not kept."""

    def ends_early(self, run: Run) -> bool:
        """Whether the run ended for another reason than what the rule is about."""
        return False

    def why_nothing(self, run: Run) -> str:
        """Why nothing was kept, and what would help with these data."""
        return self.why(run)


class MayCountNull(Stop):
    """Base of the rules that can be told to count the feature "null"."""

    def __init__(self, null_feature: bool = False) -> None:
        self.null_feature = null_feature

    def check(self) -> None:
        check(isinstance(self.null_feature, bool), "null_feature", self.null_feature, "a Boolean")


STOPS: RuleRegistry[Stop] = RuleRegistry("stop", "conjunct.ufc.stops")


def until_rises(steps: Iterable[Step], value: Callable[[Step], float]) -> Iterator[Step]:
    """The steps up to the last one before a value rises (RMS: §6.2). The first always comes.

    They end, too, before formulas have more than ``READABLE_LENGTH`` literals on average: with
    many distinct rows C0 stays near 0 whatever is constructed, and RMS alone would go on until
    formulas have millions of literals.
    """
    lowest = math.inf
    for step in steps:
        present = value(step)
        if present > lowest or step.indicators.length > READABLE_LENGTH:
            return
        lowest = present
        yield step


def is_too_long(run: Run) -> bool:
    """Whether the run ended because formulas would become too long to read."""
    return len(run.tried) > len(run.kept) and run.tried[-1].indicators.length > READABLE_LENGTH


def too_long(run: Run, still: str) -> str:
    return (
        f"Iteration {run.n_iter} is the last whose formulas have {READABLE_LENGTH} literals or "
        f"fewer on average, and {still}. Set max_length (for instance max_length=4), or max_iter "
        f"to choose"
    )
