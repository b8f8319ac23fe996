"""No stop: a run ends where no pair is left that may be joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.ufc.stops.base import STOPS, MayCountNull

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step


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
