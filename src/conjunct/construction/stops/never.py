"""No stop: a run ends where no pair is left that may be joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.construction.settings import check
from conjunct.construction.stops.base import STOPS, Stop

if TYPE_CHECKING:
    from conjunct.construction.ledger import Step
    from conjunct.construction.run import Run


@STOPS.enter
class Never(Stop):
    """Keep all steps.

    Parameters
    ----------
    null_feature : bool, default=False
        Count the paper's artificial feature "null" in the overlapping index.
    """

    name = "never"
    summary = "only when no pair is left that may be joined"

    def __init__(self, null_feature: bool = False) -> None:
        self.null_feature = null_feature

    def check(self) -> None:
        check(isinstance(self.null_feature, bool), "null_feature", self.null_feature, "a Boolean")

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        yield from steps

    def why(self, run: Run) -> str:
        return run.criterion.why_no_more(run)
