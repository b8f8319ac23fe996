"""Tallies: columns beside their counts, to which questions about counts are passed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from conjunct.stores.base import Contingency, PairCounts, Positions
from conjunct.stores.counting import Counts

C = TypeVar("C", bound=PairCounts)


class Counted(Generic[C]):
    """Base of the tallies."""

    counts: C

    @property
    def n_rows(self) -> int:
        return self.counts.n_rows

    @property
    def supports(self) -> Counts:
        return self.counts.supports

    @property
    def observed(self) -> int | Counts:
        return self.counts.observed

    def met(self) -> Iterator[Contingency]:
        return self.counts.met()

    def of(self, left: Positions, right: Positions) -> Contingency:
        return self.counts.of(left, right)
