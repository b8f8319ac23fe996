"""The stop that goes with evidence and bits: when the next merge is not worth it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.features import DECIMALS
from conjunct.ufc.stops.base import STOPS, Stop

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step


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
