"""Which pairs of features are candidates for replacement, and on what evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.association.corrections import Correction, adjusted, critical_p_value, significant
from conjunct.association.measures import MEASURES, Floats, Measure, phi
from conjunct.association.significance import (
    Test,
    count_tested_pairs,
    exact_p_value,
    has_expected_frequencies,
    p_value,
    risk_threshold,
)
from conjunct.stores import Counts, Positions

Mask = NDArray[np.bool_]
Compared = Literal["score", "r", "p_value"]


@dataclass(frozen=True)
class Line:
    """Where an iteration drew its line: ``compared`` names what was held against ``threshold``.

    A score must exceed it, r must reach it, a p-value must not exceed it.
    """

    compared: Compared
    threshold: float
    family_size: int


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns (``left < right``) with what speaks for them; ``score`` orders them."""

    left: Positions
    right: Positions
    joint: Counts
    r: Floats
    score: Floats
    p_value: Floats
    p_adjusted: Floats
    line: Line

    def __len__(self) -> int:
        return len(self.left)

    def take(self, which: Positions | Mask | slice) -> Pairs:
        return Pairs(
            self.left[which],
            self.right[which],
            self.joint[which],
            self.r[which],
            self.score[which],
            self.p_value[which],
            self.p_adjusted[which],
            self.line,
        )


@dataclass(frozen=True)
class Criterion:
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
        return risk_threshold(self.alpha, n_rows)

    def accepts(self, r: Floats, n_rows: int, left: Counts, right: Counts, joint: Counts) -> Mask:
        """Which of these pairs pass, but for the correction. NaN (a constant column) never does."""
        passes = r > 0
        if self.alpha is not None and self.test == "normal":
            passes = r >= risk_threshold(self.alpha, n_rows)
        elif self.alpha is not None:
            some = np.flatnonzero(passes)
            p = exact_p_value(n_rows, left[some], right[some], joint[some])
            passes[some] = significant(p, self.alpha)
        else:
            passes &= self.score(r, n_rows, left, right, joint) > self.threshold
        if self.prune:
            some = np.flatnonzero(passes)
            passes[some] = has_expected_frequencies(n_rows, left[some], right[some])
        return passes

    def score(self, r: Floats, n_rows: int, left: Counts, right: Counts, joint: Counts) -> Floats:
        """The measure, which orders the pairs."""
        if self.measure == "phi":
            return r
        return MEASURES[self.measure].compute(n_rows, left, right, joint)

    def screen(self) -> Criterion:
        """What keeps every pair whose p-value matters to the correction of another."""
        if self.alpha is None and self.correction is not None:
            return replace(self, threshold=-math.inf)
        return self


def correlated_pairs(n_rows: int, joint: Counts, criterion: Criterion) -> Pairs:
    """The paper's ``search_correlated_pairs`` on a matrix of joint counts (§3.2).

    The family of the tests is every pair of columns that are not constant and, with ``prune``,
    pass the filter of expected frequencies.
    """
    supports = np.diagonal(joint)
    blocks = [*_screened(n_rows, joint, criterion.screen())]
    left = np.concatenate([np.empty(0, np.intp), *(block[0] for block in blocks)])
    right = np.concatenate([np.empty(0, np.intp), *(block[1] for block in blocks)])
    return judged(n_rows, supports, left, right, joint[left, right], criterion)


def judged(
    n_rows: int,
    supports: Counts,
    left: Positions,
    right: Positions,
    joint: Counts,
    criterion: Criterion,
) -> Pairs:
    """Pairs that the screen of a criterion let through, with the evidence and the correction."""
    family_size = count_tested_pairs(n_rows, supports, prune=criterion.prune)
    counts = supports[left], supports[right], joint
    r = phi(n_rows, *counts)
    score = criterion.score(r, n_rows, *counts)
    p = p_value(r, n_rows) if criterion.test == "normal" else exact_p_value(n_rows, *counts)
    p_adjusted = adjusted(p, family_size, criterion.correction)
    line = _line(criterion, n_rows, p_adjusted, family_size)
    pairs = Pairs(left, right, joint, r, score, p, p_adjusted, line)
    # without a correction the screen has decided already
    return pairs if criterion.correction is None else pairs.take(_above(line, pairs))


def _screened(
    n_rows: int, joint: Counts, criterion: Criterion
) -> Iterator[tuple[Positions, Positions]]:
    """Pairs that the criterion accepts, a few rows of the matrix at a time.

    So nothing of the size of the matrix is allocated.
    """
    supports = np.diagonal(joint)
    m = len(supports)
    rows_at_once = max(1, (1 << 16) // max(m, 1))
    for start in range(0, m - 1, rows_at_once):
        stop = min(start + rows_at_once, m - 1)
        # r > 0 needs a common row; below the diagonal each pair stands a second time
        row, right = np.divmod(np.flatnonzero(joint[start:stop]), m)
        above = right > row + start
        left, right = row[above] + start, right[above]
        counts = supports[left], supports[right], joint[left, right]
        passes = criterion.accepts(phi(n_rows, *counts), n_rows, *counts)
        yield left[passes], right[passes]


def _line(criterion: Criterion, n_rows: int, p_adjusted: Floats, family_size: int) -> Line:
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
    return significant(pairs.p_value, line.threshold)
