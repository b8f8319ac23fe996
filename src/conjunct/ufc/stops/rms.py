"""The paper's stop: before the root mean square of overlap and complexity rises (§6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import inf, isnan
from typing import TYPE_CHECKING

from conjunct.ufc.stops.base import STOPS, MayCountNull

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step

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
        waiting = iter(steps)
        first = next(waiting)
        if isnan(first.indicators.rms):
            yield first
            yield from islice(waiting, 1)
            return

        def all_steps() -> Iterator[Step]:
            yield first
            yield from waiting

        yield from _until_rms_rises(all_steps())

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


def _until_rms_rises(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps up to the last one before RMS rises (§6.2). The first always comes.

    They end, too, before formulas have more than ``_READABLE_LENGTH`` literals on average: with
    many distinct rows C0 stays near 0 whatever is constructed, and RMS alone would go on until
    formulas have millions of literals.
    """
    lowest = inf
    for step in steps:
        present = step.indicators.rms
        if present > lowest or step.indicators.length > _READABLE_LENGTH:
            return
        lowest = present
        yield step


def _is_too_long(run: Run) -> bool:
    """Whether the run ended because formulas would become too long to read."""
    return len(run.tried) > len(run.kept) and run.tried[-1].indicators.length > _READABLE_LENGTH
