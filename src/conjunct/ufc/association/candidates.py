"""Candidates for replacement: pairs of features, their scores and p-values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, Counts, PairCounts, Positions, Which, take_if_array
from conjunct.features import Compared
from conjunct.ufc.association.measures import MEASURES, Floats, covariance, phi
from conjunct.ufc.association.significance import (
    TESTS,
    adjust_p_values,
    count_tested_pairs,
    critical_p_value,
    has_expected_frequencies,
    significant,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Cutoff:
    """The cutoff of an iteration: ``compared`` names what is compared with ``threshold``.

    A score must exceed it, r must reach it, a p-value must not exceed it. One number for all
    pairs, unless they are known in different numbers of rows.
    """

    compared: Compared
    threshold: float | Floats
    family_size: int
    n_significant: int = 0
    """Pairs that pass, where their number decides the threshold."""

    def take(self, which: Which) -> Cutoff:
        return replace(self, threshold=take_if_array(self.threshold, which))


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns with their tests; ``score`` orders them."""

    counts: Contingency
    r: Floats
    score: Floats
    p_value: Floats
    p_adjusted: Floats
    cutoff: Cutoff

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def left(self) -> Positions:
        return self.counts.left

    @property
    def right(self) -> Positions:
        return self.counts.right

    @property
    def joint(self) -> Counts:
        return self.counts.joint

    def take(self, which: Which) -> Pairs:
        return Pairs(
            self.counts.take(which),
            self.r[which],
            self.score[which],
            self.p_value[which],
            self.p_adjusted[which],
            self.cutoff.take(which),
        )


@dataclass(frozen=True)
class PairFilter:
    """The rule for candidates: which pairs pass, and what orders them.

    Given a ``threshold``, those whose measure exceeds it (§3.2). Given ``alpha`` instead, those
    that are significant at that level (§6.1), whatever the measure. Only positive association
    counts: r must be above 0.
    """

    threshold: float = 0.0
    prune: bool = False
    alpha: float | None = None
    measure: str = "phi"
    test: str = "normal"
    correction: str | None = None

    def constant_threshold(self, n_rows: int) -> float | None:
        """Return the threshold of every iteration; ``None`` where each has another one."""
        if self.alpha is None:
            return self.threshold
        if self.correction is not None:
            return None
        least = TESTS[self.test].least_r(self.alpha, n_rows)
        return None if least is None else float(least)

    def accepts(self, counts: Contingency) -> Mask:
        """Test which pairs pass, except for the correction. NaN (a constant column) never does."""
        passes = self.may_accept(counts)
        if self.needs_more_than_r:
            some = np.flatnonzero(passes)
            passes[some] = self.confirms(counts.take(some))
        return passes

    def may_accept(self, counts: Contingency) -> Mask:
        """Test which pairs pass, except for a test that needs more than r and takes longer."""
        if self.alpha is not None and not self.needs_more_than_r:
            least = TESTS[self.test].least_r(self.alpha, counts.n_rows)
            passes = np.asarray(phi(*counts.table) >= least)
        else:
            # r > 0, in integers
            passes = covariance(*counts.table) > 0
            if self.alpha is None and (self.threshold > 0 or self.measure != "phi"):
                passes &= self.score(phi(*counts.table), counts) > self.threshold
        if self.prune:
            some = np.flatnonzero(passes)
            passes[some] = has_expected_frequencies(*counts.take(some).table[:3])
        return passes

    @property
    def needs_more_than_r(self) -> bool:
        """True if pairs must pass a test that r alone does not decide."""
        return self.alpha is not None and TESTS[self.test].least_r(self.alpha, 1) is None

    def confirms(self, counts: Contingency) -> Mask:
        """Test which of the pairs that may pass do."""
        if self.alpha is None:
            return np.ones(len(counts), np.bool_)
        return TESTS[self.test].confirms(counts, self.alpha)

    def with_fixed_cutoff(self, counts: PairCounts) -> tuple[PairFilter, Cutoff]:
        """Return a filter that needs no correction, and its cutoff.

        The cutoff is that of the pairs of these columns; each pair that comes later is judged
        against it.
        """
        if self.alpha is None or self.correction is None:
            family_size = count_tested_pairs(counts, prune=self.prune)
            return self.fix_cutoff(counts.n_rows, family_size, 0)
        found = correlated_pairs(counts, self)
        n_significant = int(np.count_nonzero(significant(found.p_adjusted, self.alpha)))
        return self.fix_cutoff(counts.n_rows, found.cutoff.family_size, n_significant)

    def fix_cutoff(
        self, n_rows: int, family_size: int, n_significant: int
    ) -> tuple[PairFilter, Cutoff]:
        """Return a filter that needs no correction, and its cutoff, of a family of tests."""
        cutoff = make_cutoff(self, n_rows, family_size, n_significant)
        if self.alpha is None or self.correction is None:
            return replace(self, correction=None), cutoff
        critical = critical_p_value(self.alpha, n_significant, family_size, self.correction)
        return replace(self, alpha=critical, correction=None), cutoff

    def score(self, r: Floats, counts: Contingency) -> Floats:
        """Return the measure, which orders the pairs."""
        return r if self.measure == "phi" else MEASURES[self.measure].compute(*counts.table)

    def screen(self, n_pairs: int, family_size: int) -> PairFilter:
        """Return a filter that keeps every pair whose p-value matters, of a number of pairs."""
        if self.correction is None:
            return self
        if self.alpha is None:
            return replace(self, threshold=-math.inf)
        # no procedure ends after more steps than there are pairs; the rest is for rounding
        steps = min(n_pairs, family_size)
        highest = critical_p_value(self.alpha, steps, family_size, self.correction)
        return replace(self, alpha=min(highest * (1 + 1e-6), self.alpha))


def correlated_pairs(counts: PairCounts, criterion: PairFilter) -> Pairs:
    """Find the candidates: the paper's ``search_correlated_pairs`` on joint counts (§3.2).

    The family of the tests is every pair of columns that are not constant and, with ``prune``,
    pass the filter of expected frequencies.
    """
    family_size = count_tested_pairs(counts, prune=criterion.prune)
    screen = criterion.screen(counts.n_pairs, family_size)
    # a few pairs at a time, so that nothing of the size of all of them is allocated
    passed = [block.take(screen.accepts(block)) for block in counts.pair_blocks()]
    return with_evidence(Contingency.concat(passed, counts.n_rows), family_size, criterion)


def with_evidence(counts: Contingency, family_size: int, criterion: PairFilter) -> Pairs:
    """Return the pairs that passed the screen of a criterion, tested and corrected."""
    r = phi(*counts.table)
    score = criterion.score(r, counts)
    p = TESTS[criterion.test].p_values(counts, r)
    p_adjusted = adjust_p_values(p, family_size, criterion.correction)
    n_significant = 0
    if criterion.alpha is not None and criterion.correction is not None:
        n_significant = int(np.count_nonzero(significant(p_adjusted, criterion.alpha)))
    cutoff = make_cutoff(criterion, counts.n_rows, family_size, n_significant)
    pairs = Pairs(counts, r, score, p, p_adjusted, cutoff)
    if criterion.correction is None:
        return pairs  # the screen has decided already
    if cutoff.compared == "score":
        return pairs.take(np.asarray(score > cutoff.threshold))
    if cutoff.compared == "r":
        return pairs.take(np.asarray(r >= cutoff.threshold))
    return pairs.take(significant(p, cutoff.threshold))


def make_cutoff(
    criterion: PairFilter, n_rows: int | Counts, family_size: int, n_significant: int
) -> Cutoff:
    """Return the cutoff of a family of tests, of which some are significant."""
    if criterion.alpha is None:
        return Cutoff("score", criterion.threshold, family_size)
    if criterion.correction is None:
        n_significant = 0
    critical = critical_p_value(criterion.alpha, n_significant, family_size, criterion.correction)
    least = TESTS[criterion.test].least_r(critical, n_rows)
    if least is None:
        return Cutoff("p_value", critical, family_size, n_significant)
    return Cutoff("r", least, family_size, n_significant)
