"""A stop for wide data, which columns that go with no other do not upset (docs/scale.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from conjunct.ufc.stops.base import STOPS, Stop, is_too_long, too_long, until_rises

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step


@STOPS.enter
class Relative(Stop):
    """Keep the last iteration before what is left to replace and what was added together rise.

    The first is a share of what there was to replace, the second of the correlated columns.
    """

    name = "relative"
    summary = "before what is left to replace and what was added together rise"

    def kept(self, steps: Iterable[Step]) -> Iterator[Step]:
        yield from until_rises(steps, lambda step: step.balance().distance)

    def ends_early(self, run: Run) -> bool:
        return is_too_long(run)

    def why(self, run: Run) -> str:
        if is_too_long(run):
            return too_long(run, "the balance still improves")
        before, after = run.kept[-1].balance(), run.tried[-1].balance()
        return (
            f"It stopped after {run.iterations_text}: {before.redundancy:.0%} of what there was to "
            f"replace is left, and one more would leave {after.redundancy:.0%} for "
            f"{after.growth:.0%} more features than there were correlated columns"
        )

    def why_nothing(self, run: Run) -> str:
        after = run.tried[-1].balance()
        return (
            f"No feature was constructed: the first iteration would leave {after.redundancy:.0%} "
            f"of what there is to replace, for {after.growth:.0%} more features than there are "
            f"correlated columns. Try criterion='bits', or set max_iter"
        )
