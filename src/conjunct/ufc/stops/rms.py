"""The paper's stop: before the root mean square of overlap and complexity rises (§6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING

from conjunct.ufc.stops.base import STOPS, MayCountNull, is_too_long, too_long, until_rises

if TYPE_CHECKING:
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Step

# an overlapping index below which there is little for RMS to weigh complexity against
_LOW_OVERLAP = 0.1


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

        yield from until_rises(all_steps(), lambda step: step.indicators.rms)

    def ends_early(self, run: Run) -> bool:
        return isnan(run.kept[-1].indicators.rms) or is_too_long(run)

    def why(self, run: Run) -> str:
        before, after = run.kept[-1].indicators, run.tried[-1].indicators
        if isnan(before.rms):
            return (
                f"C0 has no meaning for {run.n_distinct_rows} distinct rows and "
                f"{run.n_columns} columns, so the RMS stop cannot be used: one iteration was "
                f"made. Set max_iter or stop='relative'"
            )
        if is_too_long(run):
            hardly = f"with {run.n_distinct_rows} distinct rows C0 hardly grows"
            return too_long(run, f"RMS still falls: {hardly}")
        return (
            f"It stopped after {run.iterations_text}: the next would raise RMS from "
            f"{before.rms:.3g} to {after.rms:.3g}"
        )

    def why_nothing(self, run: Run) -> str:
        first, tried = run.tried[0].indicators, run.tried[-1].indicators
        advice = "criterion='bits', or set max_iter"
        if first.oi < _LOW_OVERLAP:
            advice = f"{advice}: OI is low wherever columns are many and rare"
        return (
            f"No feature was constructed: the first iteration raises RMS from {first.rms:.3g} to "
            f"{tried.rms:.3g} (OI {first.oi:.3g} → {tried.oi:.3g}, C0 {first.c0:.3g} → "
            f"{tried.c0:.3g}). Try {advice}"
        )
