"""Criteria: which pairs may be joined, and which comes first; pairs with their tests."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, Counts, PairCounts, Positions, Which, take_if_array
from conjunct.features import Compared, pair_savings, round_savings
from conjunct.parameters import FLAG, Constraint, check, is_number, one_of, real, risk_level
from conjunct.ufc.association import (
    CORRECTIONS,
    MEASURES,
    TESTS,
    Floats,
    IndependenceTest,
    adjust_p_values,
    count_tested_pairs,
    covariance,
    critical_p_value,
    has_expected_frequencies,
    phi,
    significant,
)
from conjunct.ufc.stops import Rule, RuleRegistry

if TYPE_CHECKING:
    from conjunct.features import Merge
    from conjunct.ufc.batch import Stage
    from conjunct.ufc.run import Run
    from conjunct.ufc.run_state import RunState

Search = Literal["batch", "pairwise"]
SEARCHES: tuple[Search, ...] = ("batch", "pairwise")

_MANY_TIMES = 1000
"""The multiple of the rows beyond which a number of rows would not help."""


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
        threshold = take_if_array(self.cutoff.threshold, which)
        cutoff = replace(self.cutoff, threshold=threshold)
        p = self.p_value[which], self.p_adjusted[which]
        return Pairs(self.counts.take(which), self.r[which], self.score[which], *p, cutoff)


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

    def accepts(self, counts: Contingency) -> Mask:
        """Test which pairs pass, except for the correction. NaN (a constant column) never does."""
        passes = self.may_accept(counts)
        if self.needs_more_than_r:
            some = np.flatnonzero(passes)
            passes[some] = self.confirms(counts.take(some))
        return passes

    def select(self, counts: PairCounts) -> Contingency:
        """Return the pairs of columns that pass, except for the correction."""
        # a few pairs at a time, so that nothing of the size of all of them is allocated
        passed = [block.take(self.accepts(block)) for block in counts.pair_blocks()]
        return Contingency.concat(passed, counts.n_rows)

    def may_accept(self, counts: Contingency) -> Mask:
        """Test which pairs pass, except for a test that needs more than r and takes longer."""
        if self.alpha is not None and not self.needs_more_than_r:
            least = self.independence.least_r(self.alpha, counts.n_rows)
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

    @cached_property
    def independence(self) -> IndependenceTest:
        return TESTS[self.test]

    @property
    def needs_more_than_r(self) -> bool:
        """True if pairs must pass a test that r alone does not decide."""
        return self.alpha is not None and self.independence.least_r(self.alpha, 1) is None

    def confirms(self, counts: Contingency) -> Mask:
        """Test which of the pairs that may pass do."""
        if self.alpha is None:
            return np.ones(len(counts), np.bool_)
        return self.independence.confirms(counts, self.alpha)

    def fix_cutoff(self, n_rows: int | Counts, family_size: int, n_significant: int) -> PairTest:
        """Return the test by the cutoff of a family of tests, of which some are significant."""
        if self.alpha is None:
            return PairTest(self, None, Cutoff("score", self.threshold, family_size))
        if self.correction is None:
            n_significant = 0
        critical = critical_p_value(self.alpha, n_significant, family_size, self.correction)
        least = self.independence.least_r(critical, n_rows)
        cutoff = Cutoff("r", least, family_size, n_significant)
        if least is None:
            cutoff = Cutoff("p_value", critical, family_size, n_significant)
        return PairTest(replace(self, alpha=critical, correction=None), self.alpha, cutoff)

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


@dataclass(frozen=True, eq=False)
class PairTest:
    """A filter and its cutoff, None where each iteration has another.

    ``alpha`` is the level that was asked for; the cutoff corrects it for the number of pairs.
    """

    pair_filter: PairFilter
    alpha: float | None
    cutoff: Any = None

    def adjust(self, p_values: Floats) -> Floats:
        """Adjust p-values by a fixed cutoff, which is where the adjusted p-value would be alpha."""
        if self.alpha is None or self.pair_filter.alpha is None:
            return p_values
        return np.minimum(p_values * (self.alpha / self.pair_filter.alpha), 1.0)

    def evidence(self, counts: Contingency, score: Floats) -> Pairs:
        """Return pairs that were chosen with their p-values and scores."""
        r = phi(*counts.table)
        p = self.pair_filter.independence.p_values(counts, r)
        return Pairs(counts, r, score, p, self.adjust(p), self.cutoff)


def correlated_pairs(counts: PairCounts, criterion: PairFilter) -> Pairs:
    """Find the candidates: the paper's ``search_correlated_pairs`` on joint counts (§3.2).

    The family of the tests is every pair of columns that are not constant and, with ``prune``,
    pass the filter of expected frequencies.
    """
    family_size = count_tested_pairs(counts, prune=criterion.prune)
    screen = criterion.screen(counts.n_pairs, family_size)
    return with_evidence(screen.select(counts), family_size, criterion)


def with_evidence(counts: Contingency, family_size: int, criterion: PairFilter) -> Pairs:
    """Return the pairs that passed the screen of a criterion, tested and corrected."""
    r = phi(*counts.table)
    score = criterion.score(r, counts)
    p = criterion.independence.p_values(counts, r)
    p_adjusted = adjust_p_values(p, family_size, criterion.correction)
    n_significant = 0
    if criterion.alpha is not None and criterion.correction is not None:
        n_significant = int(np.count_nonzero(significant(p_adjusted, criterion.alpha)))
    cutoff = criterion.fix_cutoff(counts.n_rows, family_size, n_significant).cutoff
    pairs = Pairs(counts, r, score, p, p_adjusted, cutoff)
    if criterion.correction is None:
        return pairs  # the screen has decided already
    if cutoff.compared == "score":
        return pairs.take(np.asarray(score > cutoff.threshold))
    if cutoff.compared == "r":
        return pairs.take(np.asarray(r >= cutoff.threshold))
    return pairs.take(significant(p, cutoff.threshold))


def saved_bits(pairs: Contingency, total: int, n_used: int, costs: Floats) -> Floats:
    """Return the bits that joining each pair would save in Krimp's code, given those of columns."""
    counts = pairs.left_support, pairs.right_support, pairs.joint
    own = costs[pairs.left], costs[pairs.right]
    return round_savings(pair_savings(*counts, total, n_used, *own))


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
    saves_bits: ClassVar[bool] = False
    """True if pairs are ordered by the bits that they save, not by their joint counts."""
    needs_patterns: ClassVar[bool] = False
    """True if pairs are judged by the rows that have all their tags, too."""
    ending: ClassVar[tuple[str, ...]] = ()
    """Settings that only say where a run ends, so that a run can go on with others."""

    @property
    @abstractmethod
    def pair_filter(self) -> PairFilter:
        """The filter of pairs that may be joined."""

    def constant_threshold(self, n_rows: int) -> float | None:
        """Return the threshold of every iteration; ``None`` where it depends on the data."""
        asked = self.pair_filter
        if self.draws_once or (asked.alpha is not None and asked.correction is not None):
            return None
        if asked.alpha is None:
            return asked.threshold
        least = asked.independence.least_r(asked.alpha, n_rows)
        return None if least is None else float(least)

    def make_pair_test(self, counts: PairCounts, search: Search) -> PairTest:
        """Return the test of pairs, given the counts of the pairs of columns.

        Where one pair is taken at a time, these counts fix the cutoff for the whole run.
        """
        asked = self.pair_filter
        if search == "batch" and not self.draws_once:
            return PairTest(asked, asked.alpha)
        n_significant = 0
        if asked.alpha is None or asked.correction is None:
            family_size = count_tested_pairs(counts, prune=asked.prune)
        else:
            found = correlated_pairs(counts, asked)
            family_size = found.cutoff.family_size
            n_significant = int(np.count_nonzero(significant(found.p_adjusted, asked.alpha)))
        return asked.fix_cutoff(counts.n_rows, family_size, n_significant)

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
        costs = "would save no more bits than it costs"
        if -last.gain >= 0.05:
            costs = f"would cost {-last.gain:,.1f} bits more than it saves"
        return f"the next best pair, {run.pair_text(last.merges[0])}, {costs}"

    def explain_no_gain(self, run: Run) -> str:
        """Return why not even the first pair is worth joining, and what would help."""
        n_pairs = run.count_open_pairs()
        pairs = "1 pair of columns goes" if n_pairs == 1 else f"{n_pairs:,} pairs of columns go"
        return (
            f"No feature was constructed: {pairs} together more often than chance explains, but "
            f"{self.why_no_gain(run)}. More rows would help; criterion='risk' joins such "
            f"pairs anyway"
        )

    @abstractmethod
    def why_nothing(self, run: Run) -> str:
        """Return why no pair could be joined, and what would help with these data."""

    @abstractmethod
    def why_no_more(self, run: Run) -> str:
        """Return why no further pair could be joined."""


class _Criteria(RuleRegistry[Criterion]):
    """A number stands for the paper's λ."""

    def make(self, value: object) -> Criterion | None:
        by_number = {"rule": "threshold", "threshold": value}
        return super().make(by_number if is_number(value) else value)


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

    Examples
    --------
    >>> from conjunct import UFC, Evidence, datasets
    >>> animals = datasets.load_zoo().values
    >>> UFC(Evidence(factor=3)).fit(animals).n_iter_, UFC().fit(animals).n_iter_
    (5, 10)
    """

    name = "evidence"
    summary = "join tags that go together in the rows"
    search: Search = "pairwise"  # type: ignore[misc]
    searches: tuple[Search, ...] = ("pairwise",)  # type: ignore[misc]
    stop = "gain"
    counts_tags = True
    draws_once = True
    needs_patterns = True
    # pairs that are together more often than by chance
    pair_filter: PairFilter = PairFilter(0.0, test="exact")
    ending = ("factor",)
    constraints: ClassVar[dict[str, Constraint]] = {
        "factor": real("a number above 0", lambda value: 0 < value < math.inf)
    }

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def gain(self, saved: float, cost: float) -> float:
        return saved + (1 - self.factor) * cost

    def why_no_gain(self, run: Run) -> str:
        merge = run.tried[-1].merges[0]
        return (
            f"no other pair clearly goes together. The next, {run.pair_text(merge)}, has "
            f"{self._lack(merge)}"
        )

    def _lack(self, merge: Merge) -> str:
        """Return what a pair has, and what it needs, with enough digits to distinguish them."""
        needed = self.factor * merge.threshold
        digits = 1 if f"{merge.score:.1f}" != f"{needed:.1f}" else 3
        return (
            f"{merge.score:,.{digits}f} bits of evidence and needs more than {needed:,.{digits}f}"
        )

    def explain_no_gain(self, run: Run) -> str:
        merge = run.tried[-1].merges[0]
        enough = math.floor(merge.score / merge.threshold * 100) / 100
        less = f"; criterion=Evidence(factor={enough:g}) asks for less" if enough else ""
        return (
            "No chunk was found: no two columns clearly go together. The strongest pair, "
            f"{run.pair_text(merge)}, has {self._lack(merge)}. "
            f"{self._rows_that_help(merge, run.feature_set.n_rows)}{less}"
        )

    def _rows_that_help(self, merge: Merge, n_rows: int) -> str:
        """Return how many more rows like these would show that the pair goes together.

        With k times the rows, the evidence is k times as much, and a merge costs ½·log₂ k more.
        """
        times = 1.0
        for _ in range(100):
            times = self.factor * (merge.threshold + 0.5 * math.log2(times)) / merge.score
        if times > _MANY_TIMES:
            return "Many more rows like these would be needed"
        more = math.ceil(n_rows * (times - 1)) + 1
        # two digits, rounded up
        step = 10 ** max(0, len(str(more)) - 2)
        more = -(-more // step) * step
        return f"About {more:,} more row{'s' * (more != 1)} like these would be enough"

    def why_nothing(self, run: Run) -> str:
        return f"No chunk was found: {run.why_none_together()}"

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left that is together more often "
            f"than by chance{run.bound_text}"
        )


@CRITERIA.enter
class Bits(Criterion):
    """Chunks of tags that belong together, chosen by the bits they save (docs/evidence.md).

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

    Examples
    --------
    >>> from conjunct import UFC, Bits, datasets
    >>> animals = datasets.load_zoo().values
    >>> UFC(Bits(alpha=0.01)).fit(animals).n_iter_
    20
    """

    name = "bits"
    summary = "join tags so that the data takes the fewest bits"
    search: Search = "pairwise"  # type: ignore[misc]
    stop = "gain"
    counts_tags = True
    draws_once = True
    saves_bits = True
    constraints: ClassVar[dict[str, Constraint]] = {
        "alpha": risk_level(optional=True),
        "test": one_of(TESTS),
        "correction": one_of(CORRECTIONS, optional=True),
    }

    def __init__(
        self,
        alpha: float | None = 0.05,
        test: str = "exact",
        correction: str | None = "bh",
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.correction = correction

    @property
    def pair_filter(self) -> PairFilter:
        if self.alpha is None:
            return PairFilter(0.0, test=self.test)
        return PairFilter(alpha=self.alpha, test=self.test, correction=self.correction)

    def candidates(self, stage: Stage, state: RunState, pair_test: PairTest) -> Pairs:
        counts = pair_test.pair_filter.select(stage.counts)
        costs = np.array([state.costs[number] for number in stage.features])
        saved = saved_bits(counts, state.total, state.n_used, costs)
        shorter = np.flatnonzero(saved > 0)
        return pair_test.evidence(counts.take(shorter), saved[shorter])

    def why_nothing(self, run: Run) -> str:
        nothing = "No feature was constructed"
        n_pairs = run.count_tested_pairs()
        nearest = run.nearest_pair()
        if nearest is None:
            return f"{nothing}: {run.why_none_together()}"
        text, p_value = nearest
        p = f"p = {format_share(p_value)}"
        if run.count_open_pairs():
            # many at once are taken only where they pay
            return (
                f"{nothing}: some columns go together more often than chance explains ({text}, "
                f"{p}), but joining two would save no more bits than it costs. More rows would "
                f"help. You can also try criterion='evidence'"
            )
        needed = format_share(run.pair_test.pair_filter.alpha or 0.0)
        return (
            f"{nothing}: no pair of columns goes together more often than chance explains. Of "
            f"{n_pairs:,} pair{'s' * (n_pairs != 1)}, {text} comes nearest, with {p}; a chunk "
            f"needs p ≤ {needed}. More rows would help; criterion=Bits(alpha=None) leaves the test "
            f"out"
        )

    def why_no_more(self, run: Run) -> str:
        # many at once are taken only where they pay
        shorter = " and makes the description shorter" if run.plan.search == "batch" else ""
        return (
            f"It stopped after {run.iterations_text}: no pair is left that goes together more "
            f"often than chance explains{shorter}{run.bound_text}"
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

    Examples
    --------
    >>> from conjunct import UFC, Risk, datasets
    >>> spect = datasets.load_spect().values
    >>> len(UFC(Risk(alpha=0.0001, prune=False)).fit(spect).features_)
    39
    """

    name = "risk"
    summary = "the paper's uFCα: join columns with a significant correlation"
    search: Search = "batch"  # type: ignore[misc]
    stop = "rms"

    constraints: ClassVar[dict[str, Constraint]] = {
        "alpha": risk_level(),
        "test": one_of(TESTS),
        "correction": one_of(CORRECTIONS, optional=True),
        "prune": FLAG,
        "measure": one_of(MEASURES),
    }

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

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(
            alpha=self.alpha,
            prune=self.prune,
            measure=self.measure,
            test=self.test,
            correction=self.correction,
        )

    def why_nothing(self, run: Run) -> str:
        threshold = self.constant_threshold(run.feature_set.n_rows)
        if threshold is not None and threshold > 1:
            return (
                f"No feature was constructed: with {run.feature_set.n_rows} rows, no correlation "
                f"is significant at this alpha. Try a larger alpha, or criterion='evidence'"
            )
        if threshold is None:
            after = f" after the {self.correction} correction" if self.correction else ""
            passes = f"is significant at alpha={self.alpha:g}{after}"
        else:
            passes = f"reaches a correlation of {threshold:.3f}"
        pruned = " and has expected frequencies of at least 5" if self.prune else ""
        return (
            f"No feature was constructed: no pair of columns {passes}{pruned}. Try "
            f"a larger alpha, or criterion='evidence', which also judges rare columns"
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

    Examples
    --------
    >>> from conjunct import UFC, Threshold, datasets
    >>> spect = datasets.load_spect().values
    >>> len(UFC(Threshold(0.432), max_iter=3).fit(spect).features_)
    36
    """

    name = "threshold"
    summary = "a number: the paper's λ, which the correlation must exceed"
    search: Search = "batch"  # type: ignore[misc]
    stop = "rms"
    constraints: ClassVar[dict[str, Constraint]] = {"measure": one_of(MEASURES), "prune": FLAG}

    def __init__(self, threshold: float = 0.0, measure: str = "phi", prune: bool = False) -> None:
        self.threshold = threshold
        self.measure = measure
        self.prune = prune

    def check(self) -> None:
        super().check()
        measure = MEASURES[self.measure]
        value = self.threshold
        in_range = is_number(value) and measure.least <= value < measure.below
        below = "" if math.isinf(measure.below) else f" up to, but not including, {measure.below:g}"
        check(in_range, "threshold", value, f"a number from {measure.least:g}{below}")

    @property
    def pair_filter(self) -> PairFilter:
        return PairFilter(float(self.threshold), prune=self.prune, measure=self.measure)

    def why_nothing(self, run: Run) -> str:
        pruned = " and has expected frequencies of at least 5" if self.prune else ""
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
