"""Thorough search: pairwise search, after which merges are undone that do not pay in the end.

A merge that was the best at its time may stand in the way of better ones. Each is left out once,
all that follows is made again without it, and what describes the data in fewer bits is kept. What
is left out is known by the patterns of its two features, so that the outcome is again a sequence
of merges, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conjunct.features import DECIMALS
from conjunct.ufc.search.pairwise import LeftOut, PairwiseSearch

# how often all merges are looked at again
_SWEEPS = 2


@dataclass(frozen=True)
class _Trial:
    """A run without some merges: those it made, by their patterns, and what it came to."""

    left_out: LeftOut
    made: tuple[frozenset[tuple[str, ...]], ...]
    saved: float


def merges_to_leave_out(search_without: Callable[[LeftOut], PairwiseSearch]) -> LeftOut:
    """The merges without which the description of the data becomes shortest, as far as is seen."""
    best = _tried(search_without, frozenset())
    for _ in range(_SWEEPS):
        before = best
        looked_at: set[frozenset[tuple[str, ...]]] = set()
        while (merge := _next(best.made, looked_at)) is not None:
            looked_at.add(merge)
            other = _tried(search_without, best.left_out | {merge})
            if round(other.saved - best.saved, DECIMALS) > 0:
                best = other
        if best is before:
            break
    return best.left_out


def _next(
    made: tuple[frozenset[tuple[str, ...]], ...], looked_at: set[frozenset[tuple[str, ...]]]
) -> frozenset[tuple[str, ...]] | None:
    return next((merge for merge in made if merge not in looked_at), None)


def _tried(search_without: Callable[[LeftOut], PairwiseSearch], left_out: LeftOut) -> _Trial:
    search = search_without(left_out)
    steps = list(_while_shorter(search))
    return _Trial(left_out, tuple(pair for pair, _ in steps), sum(saved for _, saved in steps))


def _while_shorter(search: PairwiseSearch) -> Iterator[tuple[frozenset[tuple[str, ...]], float]]:
    for step in search.steps():
        if round(step.saved, DECIMALS) <= 0:
            return
        merge = step.merges[0]
        yield frozenset(map(search.lineage.pattern, (merge.left, merge.right))), step.saved
