"""The stop that goes with bits: when nothing makes the description shorter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.features import DECIMALS
from conjunct.ufc.stops.base import STOPS, Stop

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step


@STOPS.enter
class ShorterBits(Stop):
    """Keep the steps for as long as each makes the description of the data shorter."""

    name = "bits"
    summary = "when no pair makes the description of the data shorter"

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        for step in steps:
            if step.iteration and round(step.saved, DECIMALS) <= 0:
                return
            yield step

    def why(self, run: Run) -> str:
        return f"It stopped after {run.iterations_text}: {self._next(run)}"

    def why_nothing(self, run: Run) -> str:
        return (
            f"No feature was constructed: {run.count_open_pairs()} pairs of columns go together "
            f"more than chance may explain, but {self._next(run)}. "
            f"More rows would help; criterion='risk' joins such pairs all the same"
        )

    def _next(self, run: Run) -> str:
        last = run.tried[-1]
        longer = f"{-last.saved:.1f} bits longer" if -last.saved >= 0.05 else "no shorter"
        pair = run.pair_text(last.merges[0])
        return f"the next best pair, {pair}, would make the description {longer}"
