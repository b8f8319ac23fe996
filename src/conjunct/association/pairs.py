"""Which pairs of features are candidates for replacement, and on what evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.association.corrections import Correction, adjusted, critical_p_value, significant
from conjunct.association.measures import MEASURES, Floats, Measure, covariance, phi
from conjunct.association.significance import (
    Test,
    count_tested_pairs,
    exact_p_value,
    has_expected_frequencies,
    is_exactly_significant,
    p_value,
    risk_threshold,
)
from conjunct.stores import Contingency, Counts, PairCounts, Positions
from conjunct.stores.base import Which, taken

Mask = NDArray[np.bool_]
Compared = Literal["score", "r", "p_value"]


@dataclass(frozen=True)
class Line:
    """Where an iteration drew its line: ``compared`` names what was held against ``threshold``.

    A score must exceed it, r must reach it, a p-value must not exceed it. One number for all
    pairs, unless they are known in different numbers of rows.
    """

    compared: Compared
    threshold: float | Floats
    family_size: int

    def take(self, which: Which) -> Line:
        return replace(self, threshold=taken(self.threshold, which))


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns with what speaks for them; ``score`` orders them."""

    counts: Contingency
    r: Floats
    score: Floats
    p_value: Floats
    p_adjusted: Floats
    line: Line

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
            self.line.take(which),
        )


@dataclass(frozen=True)
class PairFilter:
    """Which pairs are candidates for replacement, and what orders them.

    Given a ``threshold``, those whose measure exceeds it (§3.2). Given ``alpha`` instead, those
    that are significant at that level (§6.1), whatever the measure. Only positive association
    counts: r must be above 0.
    """

    threshold: float = 0.0
    prune: bool = False
    alpha: float | None = None
    measure: Measure = "phi"
    test: Test = "normal"
    correction: Correction | None = None

    def fixed_threshold(self, n_rows: int) -> float | None:
        """The threshold of every iteration; ``None`` where each draws a line of its own."""
        if self.alpha is None:
            return self.threshold
        if self.test == "exact" or self.correction is not None:
            return None
        return float(risk_threshold(self.alpha, n_rows))

    def accepts(self, counts: Contingency) -> Mask:
        """Which of these pairs pass, but for the correction. NaN (a constant column) never does."""
        passes = self.may_accept(counts)
        if self.is_exact:
            some = np.flatnonzero(passes)
            passes[some] = self.confirms(counts.take(some))
        return passes

    def may_accept(self, counts: Contingency) -> Mask:
        """Which of these pairs pass, but for the exact test, which takes far longer."""
        if self.alpha is not None and self.test == "normal":
            passes = np.asarray(phi(*counts.table) >= risk_threshold(self.alpha, counts.n_rows))
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
    def is_exact(self) -> bool:
        """Whether pairs must pass the exact test."""
        return self.alpha is not None and self.test == "exact"

    def confirms(self, counts: Contingency) -> Mask:
        """Which of the pairs that may pass do pass the exact test."""
        if self.alpha is None or not self.is_exact:
            return np.ones(len(counts), np.bool_)
        return is_exactly_significant(*counts.table, self.alpha)

    def drawn_once(self, counts: PairCounts) -> tuple[PairFilter, Line]:
        """A filter that needs no correction any more, and the line that it draws.

        The line is that of the pairs of these columns; whatever pairs come later, each is judged
        by itself against it.
        """
        if self.alpha is None or self.correction is None:
            family_size = count_tested_pairs(counts, prune=self.prune)
            nothing = np.empty(0, np.float64)
            return replace(self, correction=None), _line(self, counts.n_rows, nothing, family_size)
        found = correlated_pairs(counts, self)
        line = found.line
        n_significant = int(np.count_nonzero(significant(found.p_adjusted, self.alpha)))
        critical = critical_p_value(self.alpha, n_significant, line.family_size, self.correction)
        return replace(self, alpha=critical, correction=None), line

    def score(self, r: Floats, counts: Contingency) -> Floats:
        """The measure, which orders the pairs."""
        return r if self.measure == "phi" else MEASURES[self.measure].compute(*counts.table)

    def screen(self) -> PairFilter:
        """What keeps every pair whose p-value matters to the correction of another."""
        if self.alpha is None and self.correction is not None:
            return replace(self, threshold=-math.inf)
        return self


def correlated_pairs(counts: PairCounts, criterion: PairFilter) -> Pairs:
    """The paper's ``search_correlated_pairs`` on joint counts (§3.2).

    The family of the tests is every pair of columns that are not constant and, with ``prune``,
    pass the filter of expected frequencies.
    """
    screen = criterion.screen()
    # a few pairs at a time, so that nothing of the size of all of them is allocated
    passed = [block.take(screen.accepts(block)) for block in counts.met()]
    family_size = count_tested_pairs(counts, prune=criterion.prune)
    return judged(Contingency.joined(passed, counts.n_rows), family_size, criterion)


def judged(counts: Contingency, family_size: int, criterion: PairFilter) -> Pairs:
    """Pairs that the screen of a criterion let through, with the evidence and the correction."""
    r = phi(*counts.table)
    score = criterion.score(r, counts)
    normal = criterion.test == "normal"
    p = p_value(r, counts.n_rows) if normal else exact_p_value(*counts.table)
    p_adjusted = adjusted(p, family_size, criterion.correction)
    line = _line(criterion, counts.n_rows, p_adjusted, family_size)
    pairs = Pairs(counts, r, score, p, p_adjusted, line)
    # without a correction the screen has decided already
    return pairs if criterion.correction is None else pairs.take(_above(line, pairs))


def _line(
    criterion: PairFilter, n_rows: int | Counts, p_adjusted: Floats, family_size: int
) -> Line:
    if criterion.alpha is None:
        return Line("score", criterion.threshold, family_size)
    n_significant = int(np.count_nonzero(significant(p_adjusted, criterion.alpha)))
    critical = critical_p_value(criterion.alpha, n_significant, family_size, criterion.correction)
    if criterion.test == "exact":
        return Line("p_value", critical, family_size)
    return Line("r", risk_threshold(critical, n_rows), family_size)


def _above(line: Line, pairs: Pairs) -> Mask:
    if line.compared == "score":
        return np.asarray(pairs.score > line.threshold)
    if line.compared == "r":
        return np.asarray(pairs.r >= line.threshold)
    return np.asarray(significant(pairs.p_value, line.threshold))
