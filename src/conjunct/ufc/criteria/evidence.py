"""Evidence: join what the rows show to go together, as long as it is worth its price."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from conjunct.columns import Contingency
from conjunct.parameters import check, is_number
from conjunct.ufc.association import PairFilter, Pairs, evidence
from conjunct.ufc.criteria.base import CRITERIA, Criterion, Judge, Search
from conjunct.ufc.search.best import ByJointCount

if TYPE_CHECKING:
    from conjunct.counting import Merging
    from conjunct.features import Merge
    from conjunct.ufc.run import Run
    from conjunct.ufc.search.ledger import Ledger
    from conjunct.ufc.search.stage import Stage


@CRITERIA.enter
class Evidence(Criterion):
    """Pairs that the data show to go together: the default (docs/evidence.md).

    The evidence of a pair is n times the mutual information of its 2 × 2 table, in bits, if the
    two are together more often than by chance. It is taken from two tables, that of the features
    as they are now and that of the rows that have all their tags, and the smaller one counts. So
    every chunk is a true statement about the rows. The pair with the most evidence is joined, as
    long as that is worth more than the merge costs: no test, no threshold.

    Parameters
    ----------
    factor : float, default=1.0
        How much evidence a chunk must bring, as a multiple of what it costs. It only says where
        the run ends: less gives the same chunks and more of them, more a part of them.
    """

    name = "evidence"
    summary = "join what the rows show to go together"
    search: Search = "pairwise"  # type: ignore[misc]
    searches: tuple[Search, ...] = ("pairwise",)  # type: ignore[misc]
    stop = "gain"
    counts_tags = True
    draws_once = True
    needs_patterns = True
    ending = ("factor",)

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def check(self) -> None:
        is_valid = is_number(self.factor) and 0 < self.factor < float("inf")
        check(is_valid, "factor", self.factor, "a number above 0")

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(0.0, test="exact")

    def fixed_threshold(self, n_rows: int) -> None:
        return None

    def order(
        self, merging: Merging, ledger: Ledger, judge: Judge, features: list[int]
    ) -> ByJointCount:
        raise TypeError("pairs are ordered by find_most_evidence")

    def candidates(self, stage: Stage, ledger: Ledger, judge: Judge) -> Pairs:
        needed = self.factor * ledger.merge_cost(1)
        found = [
            block.take(np.flatnonzero(evidence(*block.table) > needed))
            for block in stage.counts.pair_blocks()
        ]
        counts = Contingency.joined(found, stage.counts.n_rows)
        return judge.evidence(counts, evidence(*counts.table))

    def gain(self, saved: float, cost: float) -> float:
        return saved + (1 - self.factor) * cost

    def why_no_gain(self, run: Run) -> str:
        merge = run.tried[-1].merges[0]
        return f"the next strongest pair, {run.pair_text(merge)}, has {self._lack(merge)}"

    def _lack(self, merge: Merge) -> str:
        """Return what a pair has, and what it needs, with as many digits as tell the two."""
        needed = self.factor * merge.threshold
        digits = 1 if f"{merge.score:.1f}" != f"{needed:.1f}" else 3
        return (
            f"{merge.score:,.{digits}f} bits of evidence and needs more than {needed:,.{digits}f}"
        )

    def why_nothing_gained(self, run: Run) -> str:
        merge = run.tried[-1].merges[0]
        enough = merge.score / merge.threshold
        return (
            f"No chunk was found: the strongest pair, {run.pair_text(merge)}, has "
            f"{self._lack(merge)}. More rows would help; "
            f"criterion=Evidence(factor={math.floor(enough * 100) / 100:g}) asks for less"
        )

    def why_nothing(self, run: Run) -> str:
        nothing = "No chunk was found"
        if run.count_tested_pairs() == 0:
            return f"{nothing}: fewer than two columns are true in some rows and false in others"
        return f"{nothing}: no two columns are true together more often than by chance"

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left that is together more often "
            f"than by chance{run.bound_text}"
        )
