"""Criteria: which pairs may be joined, and which comes first."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from conjunct.columns import Contingency
from conjunct.features import bits_saved, rounded
from conjunct.parameters import check, check_choice, check_risk, is_number
from conjunct.ufc.association import (
    CORRECTIONS,
    MEASURES,
    TESTS,
    Cutoff,
    Floats,
    PairFilter,
    Pairs,
    correlated_pairs,
    evidence,
    with_evidence,
)
from conjunct.ufc.rules import Rule, RuleRegistry
from conjunct.ufc.search.best import ByJointCount, BySavedBits

if TYPE_CHECKING:
    from conjunct.columns import Contingency, PairCounts
    from conjunct.counting import Merging
    from conjunct.features import Merge
    from conjunct.ufc.run import Run
    from conjunct.ufc.run_state import RunState
    from conjunct.ufc.search.batch import Stage
    from conjunct.ufc.search.best import Order

Search = Literal["batch", "pairwise"]
SEARCHES: tuple[Search, ...] = ("batch", "pairwise")


class Criterion(Rule):
    """Base of the criteria."""

    search: ClassVar[Search]
    """The search that goes with the criterion, if none is asked for."""
    stop: ClassVar[str]
    """The stopping rule that goes with it."""
    searches: ClassVar[tuple[Search, ...]] = SEARCHES
    """All searches that can be asked for."""
    counts_tags: ClassVar[bool] = False
    """True if ``max_length`` bounds the tags of a pattern, and not the literals of a formula."""
    draws_once: ClassVar[bool] = False
    """True if the cutoff is fixed once even where an iteration replaces many pairs."""
    needs_patterns: ClassVar[bool] = False
    """True if pairs are judged by the rows that have all their tags, too."""
    ending: ClassVar[tuple[str, ...]] = ()
    """Settings that only say where a run ends, so that a run can go on with others."""

    @property
    @abstractmethod
    def pair_filter(self) -> PairFilter:
        """The filter of pairs that may be joined."""

    def fixed_threshold(self, n_rows: int) -> float | None:
        """Return the threshold of every iteration; ``None`` where it depends on the data."""
        return self.pair_filter.fixed_threshold(n_rows)

    def make_pair_test(self, first: Callable[[], PairCounts], search: Search) -> PairTest:
        """Return the test of pairs, given what counts the pairs of columns.

        Where one pair is taken at a time, these counts fix the cutoff for the whole run.
        """
        if search == "batch" and not self.draws_once:
            return PairTest(self.pair_filter, self.pair_filter.alpha)
        pair_filter, cutoff = self.pair_filter.with_fixed_cutoff(first())
        return PairTest(pair_filter, self.pair_filter.alpha, cutoff)

    judge = make_pair_test  # the name that estimators.pairs uses

    @abstractmethod
    def order(
        self, merging: Merging, state: RunState, pair_test: PairTest, features: list[int]
    ) -> Order:
        """Return the order of pairs, where one pair is taken at a time.

        ``features`` are those of the columns, by their numbers in the lineage.
        """

    def candidates(self, stage: Stage, state: RunState, pair_test: PairTest) -> Pairs:
        """Return the pairs that may be joined and their scores, where many are taken at once."""
        return correlated_pairs(stage.counts, pair_test.pair_filter)

    def gain(self, saved: float, cost: float) -> float:
        """Return what a merge is worth; a run goes on while that is above 0.

        ``saved`` is what the merge brought less its cost.
        """
        return saved

    def why_no_gain(self, run: Run) -> str:
        """Return why the next best pair is not worth joining, as the end of a sentence."""
        last = run.tried[-1]
        longer = f"{-last.gain:.1f} bits longer" if -last.gain >= 0.05 else "no shorter"
        pair = run.pair_text(last.merges[0])
        return f"the next best pair, {pair}, would make the description {longer}"

    def why_nothing_gained(self, run: Run) -> str:
        """Return why not even the first pair is worth joining, and what would help."""
        return (
            f"No feature was constructed: {run.count_open_pairs()} pairs of columns go together "
            f"more than chance may explain, but {self.why_no_gain(run)}. "
            f"More rows would help; criterion='risk' joins such pairs all the same"
        )

    @abstractmethod
    def why_nothing(self, run: Run) -> str:
        """Return why no pair could be joined, and what would help with these data."""

    @abstractmethod
    def why_no_more(self, run: Run) -> str:
        """Return why no further pair could be joined."""


@dataclass(frozen=True, eq=False)
class PairTest:
    """A filter and its cutoff; ``None`` where each iteration has another cutoff.

    ``alpha`` is the level that was asked for; the cutoff corrects it for the number of pairs.
    """

    pair_filter: PairFilter
    alpha: float | None
    cutoff: Cutoff | None = None

    def evidence(self, counts: Contingency, score: Floats) -> Pairs:
        """Return pairs that were chosen with their p-values and scores."""
        if self.cutoff is None:
            raise ValueError("each iteration has another cutoff")
        pairs = with_evidence(counts, self.cutoff.family_size, self.pair_filter)
        if self.alpha is not None and self.pair_filter.alpha is not None:
            # the cutoff is where the adjusted p-value would be alpha
            adjusted = np.minimum(pairs.p_value * (self.alpha / self.pair_filter.alpha), 1.0)
            pairs = replace(pairs, p_adjusted=adjusted)
        return replace(pairs, score=score, cutoff=self.cutoff)


class _Criteria(RuleRegistry[Criterion]):
    """A number stands for the paper's λ."""

    def made(self, value: object) -> Criterion | None:
        by_number = {"rule": "threshold", "threshold": value}
        return super().made(by_number if is_number(value) else value)


CRITERIA: RuleRegistry[Criterion] = _Criteria("criterion", "conjunct.ufc.criteria")


def format_share(value: float) -> str:
    """Format a small number with two digits.

    Examples
    --------
    >>> format_share(0.05), format_share(0.0004), format_share(0.0)
    ('0.05', '0.0004', '0')
    """
    return f"{value:.2g}" if math.isfinite(value) else str(value)


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
        self, merging: Merging, state: RunState, pair_test: PairTest, features: list[int]
    ) -> ByJointCount:
        raise TypeError("pairs are ordered by find_most_evidence")

    def candidates(self, stage: Stage, state: RunState, pair_test: PairTest) -> Pairs:
        needed = self.factor * state.merge_cost(1)
        found = [
            block.take(np.flatnonzero(evidence(*block.table) > needed))
            for block in stage.counts.pair_blocks()
        ]
        counts = Contingency.joined(found, stage.counts.n_rows)
        return pair_test.evidence(counts, evidence(*counts.table))

    def gain(self, saved: float, cost: float) -> float:
        return saved + (1 - self.factor) * cost

    def why_no_gain(self, run: Run) -> str:
        merge = run.tried[-1].merges[0]
        return f"the next strongest pair, {run.pair_text(merge)}, has {self._lack(merge)}"

    def _lack(self, merge: Merge) -> str:
        """Return what a pair has, and what it needs, with enough digits to distinguish them."""
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


@CRITERIA.enter
class Bits(Criterion):
    """Chunks of tags that belong together, chosen by the bits they save (docs/bits.md).

    A pair may be joined if its association is real: r is above 0, and the p-value is not above a
    line that is drawn once, over all pairs of columns. Of these pairs the one comes first that
    shortens the description of the data most.

    Parameters
    ----------
    alpha : float or None, default=0.05
        Where the line is drawn: with Benjamini and Hochberg's correction, the share of pairs that
        go together by chance alone among those below it. ``None``: no test, r > 0. That
        compresses most, but on few rows or rare tags it learns chance by heart.
    test : {"exact", "normal"}, default="exact"
        Fisher's exact test, or the paper's normal one.
    correction : {"bh", "by", "holm", "bonferroni"} or None, default="bh"
        How the number of pairs is allowed for.
    """

    name = "bits"
    summary = "join what makes the description of the data shortest"
    search: Search = "pairwise"  # type: ignore[misc]
    stop = "gain"
    counts_tags = True
    draws_once = True

    def __init__(
        self,
        alpha: float | None = 0.05,
        test: str = "exact",
        correction: str | None = "bh",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.correction = correction

    def check(self) -> None:
        check_risk("alpha", self.alpha, optional=True)
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS, optional=True)

    @property
    def pair_filter(self) -> PairFilter:
        if self.alpha is None:
            return PairFilter(0.0, test=self.test)
        return PairFilter(alpha=self.alpha, test=self.test, correction=self.correction)

    def fixed_threshold(self, n_rows: int) -> None:
        return None

    def order(
        self, merging: Merging, state: RunState, pair_test: PairTest, features: list[int]
    ) -> BySavedBits:
        return BySavedBits(merging, state, features)

    def candidates(self, stage: Stage, state: RunState, pair_test: PairTest) -> Pairs:
        counts = Contingency.joined(
            [
                block.take(pair_test.pair_filter.accepts(block))
                for block in stage.counts.pair_blocks()
            ],
            stage.counts.n_rows,
        )
        costs = np.array([state.costs[number] for number in stage.features])
        saved = rounded(
            bits_saved(
                counts.left_support,
                counts.right_support,
                counts.joint,
                state.total,
                state.n_used,
                costs[counts.left],
                costs[counts.right],
            )
        )
        shorter = np.flatnonzero(saved > 0)
        return pair_test.evidence(counts.take(shorter), saved[shorter])

    def why_nothing(self, run: Run) -> str:
        nothing = "No feature was constructed"
        n_pairs = run.count_tested_pairs()
        if n_pairs == 0:
            return f"{nothing}: fewer than two columns are true in some rows and false in others"
        nearest = run.nearest_pair()
        if nearest is None:
            return f"{nothing}: no two columns are true together more often than by chance"
        if self.alpha is None:
            return f"{nothing}: no pair of columns goes together more often than by chance"
        text, p_value = nearest
        needed = format_share(run.pair_test.pair_filter.alpha or 0.0)
        return (
            f"{nothing}: no pair of columns goes together more than chance may explain. Of "
            f"{n_pairs} pairs, {text} comes nearest: p = {format_share(p_value)}, and only "
            f"{needed} or less would do. More rows would help; "
            f"criterion=Bits(alpha=None) leaves the test out"
        )

    def why_no_more(self, run: Run) -> str:
        # many at once are taken only where they pay
        shorter = " and makes the description shorter" if run.plan.search == "batch" else ""
        return (
            f"It stopped after {run.iterations_text}: no pair is left that goes together more "
            f"than chance may explain{shorter}{run.bound_text}"
        )


@CRITERIA.enter
class Risk(Criterion):
    """Pairs whose correlation is significantly positive: the paper's uFCα (docs/risk.md).

    The paper's own runs are ``search="batch"`` with ``stop="rms"``, which go with this criterion;
    its tables use ``prune=False``.

    Parameters
    ----------
    alpha : float, default=0.001
        Risk of joining a pair that is in fact independent: of each pair, or of an iteration with
        a ``correction``. Where one pair is taken at a time, the correction is made once, for the
        pairs of columns.
    test : {"normal", "exact"}, default="normal"
        How p-values are computed: as in the paper, or by Fisher's exact test, which is valid for
        rare columns too (``prune=False`` keeps those).
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Correct for the number of pairs tested. ``"bonferroni"`` and ``"holm"`` bound the risk of
        joining any independent pair, ``"bh"`` and ``"by"`` the expected share of independent
        pairs among the significant ones.
    prune : bool, default=True
        Leave out pairs for which the normal test is not valid: those with an expected frequency
        below 5.
    measure : str, default="phi"
        Which pairs come first; see ``Threshold``.
    """

    name = "risk"
    summary = "the paper's uFCα: join what is significantly correlated"
    search: Search = "batch"  # type: ignore[misc]
    stop = "rms"

    def __init__(
        self,
        alpha: float = 0.001,
        test: str = "normal",
        correction: str | None = None,
        prune: bool = True,
        measure: str = "phi",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.correction = correction
        self.prune = prune
        self.measure = measure

    def check(self) -> None:
        check_risk("alpha", self.alpha)
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS, optional=True)
        check(isinstance(self.prune, bool), "prune", self.prune, "True or False")
        check_choice("measure", self.measure, MEASURES)

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(
            alpha=self.alpha,
            prune=self.prune,
            measure=self.measure,
            test=self.test,
            correction=self.correction,
        )

    def order(
        self, merging: Merging, state: RunState, pair_test: PairTest, features: list[int]
    ) -> ByJointCount:
        return ByJointCount(pair_test.pair_filter)

    def why_nothing(self, run: Run) -> str:
        threshold = self.fixed_threshold(run.n_rows)
        if threshold is not None and threshold > 1:
            return (
                f"No feature was constructed: with {run.n_rows} rows no correlation is "
                f"significant at this alpha. Try a larger alpha, or criterion='evidence'"
            )
        if threshold is None:
            after = f" after the {self.correction} correction" if self.correction else ""
            passes = f"is significant at alpha={self.alpha:g}{after}"
        else:
            passes = f"reaches a correlation of {threshold:.3f}"
        pruned = " and has expected frequencies of 5" if self.prune else ""
        return (
            f"No feature was constructed: no pair of columns {passes}{pruned}. Try "
            f"criterion='evidence', which judges rare columns too, or a larger alpha"
        )

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left whose correlation is "
            f"significant at alpha={self.alpha:g}{run.bound_text}"
        )


@CRITERIA.enter
class Threshold(Criterion):
    """Pairs whose association exceeds a threshold: the paper's uFC(λ, limit_iter).

    ``UFC(0.432, max_iter=3)`` is short for ``UFC(Threshold(0.432), max_iter=3)``.

    Parameters
    ----------
    threshold : float
        What ``measure`` must exceed: in [0, 1) for the correlation, the paper's λ.
    measure : str, default="phi"
        ``"phi"`` (the correlation), ``"jaccard"``, ``"cosine"``, ``"yule_q"``, ``"npmi"`` or
        ``"mutual_information"``, with thresholds in [0, 1); ``"pmi"``, at least 0; ``"lift"``, at
        least 1. Pairs must go together more often than independent ones whatever it is.
    prune : bool, default=False
        Leave out pairs with an expected frequency below 5.
    """

    name = "threshold"
    summary = "a number: the paper's λ, which the correlation must exceed"
    search: Search = "batch"  # type: ignore[misc]
    stop = "rms"

    def __init__(self, threshold: float = 0.0, measure: str = "phi", prune: bool = False) -> None:
        self.threshold = threshold
        self.measure = measure
        self.prune = prune

    def check(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        measure = MEASURES[self.measure]
        value = self.threshold
        in_range = is_number(value) and measure.least <= value < measure.below
        below = "" if math.isinf(measure.below) else f" up to, but not including, {measure.below:g}"
        check(in_range, "threshold", value, f"a number from {measure.least:g}{below}")
        check(isinstance(self.prune, bool), "prune", self.prune, "True or False")

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(float(self.threshold), prune=self.prune, measure=self.measure)

    def order(
        self, merging: Merging, state: RunState, pair_test: PairTest, features: list[int]
    ) -> ByJointCount:
        return ByJointCount(pair_test.pair_filter)

    def why_nothing(self, run: Run) -> str:
        pruned = " and has expected frequencies of 5" if self.prune else ""
        return (
            f"No feature was constructed: no pair of columns exceeds a {self._noun} of "
            f"{self.threshold:.3f}{pruned}. Try a smaller threshold, or criterion='evidence'"
        )

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left with a {self._noun} above "
            f"{self.threshold:.3f}{run.bound_text}"
        )

    @property
    def _noun(self) -> str:
        return "correlation" if self.measure == "phi" else self.measure.replace("_", " ")
