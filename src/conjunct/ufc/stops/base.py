"""Stopping rules: they consume the steps of a run. The search does not know when to end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.parameters import check
from conjunct.ufc.rules import Rule, RuleRegistry

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step


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
