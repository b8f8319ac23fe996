"""Criteria, which decide which pairs may be joined and which comes first, and tests of pairs."""

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
"""Above this multiple of the rows, messages do not state the number of rows that would help."""


Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Cutoff:
    """The cutoff of an iteration: ``compared`` names the number to compare with ``threshold``.

    A score must exceed it, r must reach it, and a p-value must not exceed it. It is one number for
    all pairs, unless they are known in different numbers of rows.
    """

    compared: Compared
    threshold: float | Floats
    family_size: int
    n_significant: int = 0
    """Number of pairs that pass, if it determines the threshold."""


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
    """The rule for candidates: the pairs that pass, and their order.

    With a ``threshold``, the measure of a pair must exceed it (§3.2). With ``alpha`` instead, the
    pair must be significant at that level (§6.1), for any measure. Only positive association
    counts: r must be above 0.
    """

    threshold: float = 0.0
    prune: bool = False
    alpha: float | None = None
    measure: str = "phi"
    test: str = "normal"
    correction: str | None = None

    def accepts(self, counts: Contingency) -> Mask:
        """Test which pairs pass, except for the correction. NaN (a constant column) fails."""
        passes = self.may_accept(counts)
        if self.needs_more_than_r:
            some = np.flatnonzero(passes)
            passes[some] = self.confirms(counts.take(some))
        return passes

    def select(self, counts: PairCounts) -> Contingency:
        """Return the pairs of columns that pass, except for the correction."""
        # a block of pairs at a time, which limits memory
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
        """True if pairs must pass a test that needs more than r."""
        return self.alpha is not None and self.independence.least_r(self.alpha, 1) is None

    def confirms(self, counts: Contingency) -> Mask:
        """Test which of the remaining pairs pass."""
        if self.alpha is None:
            return np.ones(len(counts), np.bool_)
        return self.independence.confirms(counts, self.alpha)

    def fix_cutoff(self, n_rows: int | Counts, family_size: int, n_significant: int) -> PairTest:
        """Return the test with the cutoff of a family of tests, some of which are significant."""
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
        """Return a filter that keeps every pair whose p-value may matter in a family."""
        if self.correction is None:
            return self
        if self.alpha is None:
            return replace(self, threshold=-math.inf)
        # a procedure has at most one step per pair; the factor allows for rounding
        steps = min(n_pairs, family_size)
        highest = critical_p_value(self.alpha, steps, family_size, self.correction)
        return replace(self, alpha=min(highest * (1 + 1e-6), self.alpha))


@dataclass(frozen=True, eq=False)
class PairTest:
    """A filter and its cutoff, which is None if each iteration has its own.

    ``alpha`` is the requested level; the cutoff corrects it for the number of pairs.
    """

    pair_filter: PairFilter
    alpha: float | None
    cutoff: Any = None

    def adjust(self, p_values: Floats) -> Floats:
        """Adjust p-values by a fixed cutoff, whose adjusted p-value is alpha."""
        if self.alpha is None or self.pair_filter.alpha is None:
            return p_values
        return np.minimum(p_values * (self.alpha / self.pair_filter.alpha), 1.0)

    def evidence(self, counts: Contingency, score: Floats) -> Pairs:
        """Return the chosen pairs with their p-values and scores."""
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
    """Test the pairs that passed the screen of a criterion, and correct their p-values."""
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
        return pairs  # the screen already tested them
    if cutoff.compared == "score":
        return pairs.take(np.asarray(score > cutoff.threshold))
    if cutoff.compared == "r":
        return pairs.take(np.asarray(r >= cutoff.threshold))
    return pairs.take(significant(p, cutoff.threshold))


def saved_bits(pairs: Contingency, total: int, n_used: int, costs: Floats) -> Floats:
    """Return the bits that joining each pair would save in Krimp's code, from costs of columns."""
    counts = pairs.left_support, pairs.right_support, pairs.joint
    own = costs[pairs.left], costs[pairs.right]
    return round_savings(pair_savings(*counts, total, n_used, *own))


class Criterion(Rule):
    """Base of the criteria."""

    search: ClassVar[Search]
    """The default search of the criterion."""
    stop: ClassVar[str]
    """The default stopping rule of the criterion."""
    steps: ClassVar[dict[Search, str]] = {"pairwise": "merge", "batch": "iteration"}
    """The word for an iteration of each search."""
    counts_tags: ClassVar[bool] = False
    """True if ``max_length`` limits the tags of a pattern instead of the literals of a formula."""
    draws_once: ClassVar[bool] = False
    """True if the cutoff is fixed once even if an iteration replaces many pairs."""
    saves_bits: ClassVar[bool] = False
    """True if pairs are ordered by the bits that they save instead of their joint counts."""
    needs_patterns: ClassVar[bool] = False
    """True if pairs are also judged by the rows that have all their tags."""
    ending: ClassVar[tuple[str, ...]] = ()
    """Settings that only determine where a run ends; a run can continue with other values."""

    @property
    @abstractmethod
    def pair_filter(self) -> PairFilter:
        """The filter for pairs that may be joined."""

    def constant_threshold(self, n_rows: int) -> float | None:
        """Return the threshold of every iteration, or ``None`` if it depends on the data."""
        asked = self.pair_filter
        if self.draws_once or (asked.alpha is not None and asked.correction is not None):
            return None
        if asked.alpha is None:
            return asked.threshold
        least = asked.independence.least_r(asked.alpha, n_rows)
        return None if least is None else float(least)

    def make_pair_test(self, counts: PairCounts, search: Search) -> PairTest:
        """Return the test of pairs, given the counts of the pairs of columns.

        If the search takes one pair at a time, these counts fix the cutoff for the whole run.
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
        """Return the pairs that may be joined and their scores, for a batch search."""
        return correlated_pairs(stage.counts, pair_test.pair_filter)

    def gain(self, saved: float, cost: float) -> float:
        """Return the gain of a merge; a run continues while it is above 0.

        ``saved`` is the benefit of the merge minus its cost.
        """
        return saved

    def why_no_gain(self, run: Run) -> str:
        """Return the reason for not joining the next best pair, as the end of a sentence."""
        last = run.tried[-1]
        costs = "would save no more bits than it costs"
        if -last.gain >= 0.05:
            costs = f"would cost {-last.gain:,.1f} bits more than it saves"
        return f"the next best pair, {run.pair_text(last.merges[0])}, {costs}"

    def explain_no_gain(self, run: Run) -> str:
        """Return the reason for joining no pair at all, and a remedy."""
        n_pairs = run.count_open_pairs()
        pairs = "1 pair of columns goes" if n_pairs == 1 else f"{n_pairs:,} pairs of columns go"
        return (
            f"No feature was constructed: {pairs} together more often than chance explains, but "
            f"{self.why_no_gain(run)}. More rows would help; criterion='risk' joins such "
            f"pairs anyway"
        )

    @abstractmethod
    def why_nothing(self, run: Run) -> str:
        """Return the reason why no pair could be joined, and a remedy for these data."""

    @abstractmethod
    def why_no_more(self, run: Run) -> str:
        """Return the reason why no further pair could be joined."""


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
    """Join the pairs with enough evidence that they go together (docs/evidence.md).

    This is the default. The evidence of a pair is n times the mutual information of its 2 × 2
    table, in bits, if the two occur together more often than by chance. There are two tables: that
    of the current features, and that of the rows that have all their tags. The smaller evidence
    counts, so every chunk is a true statement about the rows. The pair with the most evidence is
    joined while its evidence exceeds the cost of the merge. There is no test and no threshold.

    Parameters
    ----------
    factor : float, default=1.0
        The evidence that a chunk must have, as a multiple of its cost. It only determines where
        the run ends: a smaller factor gives the same chunks and more, except in rounds
        (``search="batch"``), where it also determines where a round ends.

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
    stop = "gain"
    steps: ClassVar[dict[Search, str]] = {"pairwise": "merge", "batch": "round"}
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
        """Write the evidence of a pair and the cutoff, with enough digits to distinguish them."""
        needed = self.factor * merge.threshold
        digits = 1 if f"{merge.score:.1f}" != f"{needed:.1f}" else 3
        return (
            f"{merge.score:,.{digits}f} bits of evidence and needs more than {needed:,.{digits}f}"
        )

    def explain_no_gain(self, run: Run) -> str:
        merge = run.tried[-1].merges[0]
        enough = math.floor(merge.score / merge.threshold * 100) / 100
        less = f"; criterion=Evidence(factor={enough:g}) requires less" if enough else ""
        return (
            "No chunk was found: no two columns clearly go together. The strongest pair, "
            f"{run.pair_text(merge)}, has {self._lack(merge)}. "
            f"{self._rows_that_help(merge, run.feature_set.n_rows)}{less}"
        )

    def _rows_that_help(self, merge: Merge, n_rows: int) -> str:
        """Write how many more rows like these would show that the pair goes together.

        With k times the rows, the evidence is k times as large, and a merge costs ½·log₂ k more.
        """
        times = 1.0
        for _ in range(100):
            times = self.factor * (merge.threshold + 0.5 * math.log2(times)) / merge.score
        if times > _MANY_TIMES:
            return "Many more rows like these would be needed"
        more = math.ceil(n_rows * (times - 1)) + 1
        # round up to two digits
        step = 10 ** max(0, len(str(more)) - 2)
        more = -(-more // step) * step
        return f"About {more:,} more row{'s' * (more != 1)} like these would be enough"

    def why_nothing(self, run: Run) -> str:
        return f"No chunk was found: {run.why_none_together()}"

    def why_no_more(self, run: Run) -> str:
        return (
            f"It stopped after {run.iterations_text}: no pair is left that occurs together more "
            f"often than by chance{run.bound_text}"
        )


@CRITERIA.enter
class Bits(Criterion):
    """Join tags that belong together, chosen by the bits that they save (docs/evidence.md).

    A pair may be joined if its association is significant: r is above 0, and the p-value is at most
    a cutoff, which is set once for all pairs of columns. Of these pairs, the one that shortens the
    description of the data most comes first.

    Parameters
    ----------
    alpha : float or None, default=0.05
        Level of the test. With Benjamini and Hochberg's correction, it limits the share of pairs
        below the cutoff that go together only by chance. ``None``: no test, only r > 0. This
        compresses most, but it overfits with few rows or rare tags.
    test : {"exact", "normal"}, default="exact"
        Fisher's exact test, or the paper's normal one.
    correction : {"bh", "by", "holm", "bonferroni"} or None, default="bh"
        Correction for the number of pairs.

    Examples
    --------
    >>> from conjunct import UFC, Bits, datasets
    >>> animals = datasets.load_zoo().values
    >>> UFC(Bits(alpha=0.01)).fit(animals).n_iter_
    20
    """

    name = "bits"
    summary = "join the tags that compress the data most"
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
            # a batch search takes only pairs that pay
            return (
                f"{nothing}: some columns go together more often than chance explains ({text}, "
                f"{p}), but joining two would save no more bits than it costs. More rows would "
                f"help. You can also try criterion='evidence'"
            )
        needed = format_share(run.pair_test.pair_filter.alpha or 0.0)
        return (
            f"{nothing}: no pair of columns goes together more often than chance explains. Of "
            f"{n_pairs:,} pair{'s' * (n_pairs != 1)}, {text} comes nearest, with {p}; a chunk "
            f"needs p ≤ {needed}. More rows would help; criterion=Bits(alpha=None) skips the test"
        )

    def why_no_more(self, run: Run) -> str:
        # a batch search takes only pairs that pay
        shorter = " and makes the description shorter" if run.plan.search == "batch" else ""
        return (
            f"It stopped after {run.iterations_text}: no pair is left that goes together more "
            f"often than chance explains{shorter}{run.bound_text}"
        )


@CRITERIA.enter
class Risk(Criterion):
    """Join pairs with a significantly positive correlation: the paper's uFCα (docs/risk.md).

    The paper's own runs use ``search="batch"`` with ``stop="rms"``, the defaults of this criterion;
    its tables use ``prune=False``.

    Parameters
    ----------
    alpha : float, default=0.001
        Risk of joining an independent pair: per pair, or with a ``correction`` per iteration. If
        the search takes one pair at a time, the correction is made once, for the pairs of
        columns.
    test : {"normal", "exact"}, default="normal"
        The test for p-values: the paper's, or Fisher's exact test, which is also valid for rare
        columns (``prune=False`` keeps them).
    correction : {"bonferroni", "holm", "bh", "by"}, optional
        Correction for the number of tested pairs. ``"bonferroni"`` and ``"holm"`` limit the risk of
        joining any independent pair; ``"bh"`` and ``"by"`` limit the expected share of independent
        pairs among the significant ones.
    prune : bool, default=True
        Leave out pairs with an expected frequency below 5, for which the normal test is not
        valid.
    measure : str, default="phi"
        Measure that orders the pairs; see ``Threshold``.

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
    """Join pairs whose association exceeds a threshold: the paper's uFC(λ, limit_iter).

    ``UFC(0.432, max_iter=3)`` is short for ``UFC(Threshold(0.432), max_iter=3)``.

    Parameters
    ----------
    threshold : float
        The value that ``measure`` must exceed. For the correlation it is the paper's λ, in [0, 1).
    measure : str, default="phi"
        ``"phi"`` (the correlation), ``"jaccard"``, ``"cosine"``, ``"yule_q"``, ``"npmi"`` or
        ``"mutual_information"``, with thresholds in [0, 1); ``"pmi"``, at least 0; ``"lift"``, at
        least 1. With every measure, pairs must occur together more often than independent pairs.
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
