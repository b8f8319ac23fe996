"""Replay runs from their sources: the columns, the joined pairs, and their counts.

Features, supports, tests, scores and indicators follow from the sources by the functions of the run
itself. So a file of sources cannot contradict itself, and reading a file means checking ranges and
replaying the run. An interrupted run continues in the same way: progress files store only merges,
never columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby, islice
from secrets import randbits
from typing import TYPE_CHECKING, Annotated, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, MergeRewrite, Rewrite
from conjunct.features import FeatureSet, Merge, merge_cost, pair_savings, round_savings
from conjunct.ufc.association import Floats, covariance, evidence, phi
from conjunct.ufc.criteria import Pairs
from conjunct.ufc.run_state import Numbers, RunState, check_source, write_merges

if TYPE_CHECKING:
    from conjunct.counting import Store
    from conjunct.ufc.run import Plan

# squares of larger counts would overflow 64 bits
MOST_ROWS = 1 << 32
# limit of tags in all patterns; formulas, of which only the length is computed, may be longer
_MOST_TAGS = 1 << 24
# every merge may double a length, so a small file could demand arbitrarily large numbers
_LONGEST = 1 << 4096
# relative difference between the results of different processors
_CLOSE = 1e-9

Rows = Annotated[int, msgspec.Meta(ge=0, le=MOST_ROWS)]
ThreeCounts = tuple[Rows, Rows, Rows]
FamilySize = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
Test = tuple[FamilySize, FamilySize]
"""The number of pairs that an iteration tested, and of significant ones if that matters."""


class JoinedPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Two features that a run joined, by their numbers, and their counts."""

    left: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    right: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    # rows in which both are true
    joint: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
    # rows with all tags of both patterns
    together: Rows | None = None
    # the evidence, if these rows were not counted
    score: Annotated[float, msgspec.Meta(gt=0, le=1e18)] | None = None
    # with missing cells: rows in which both are known, those with the left one, with the right one
    table: ThreeCounts | None = None
    # the same for the patterns
    patterns: ThreeCounts | None = None
    # rows in which left ∧ right, ¬left ∧ right and left ∧ ¬right are known
    known: ThreeCounts | None = None
    # if it depends on all pairs of an iteration
    p_adjusted: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


@dataclass(frozen=True)
class Sources:
    """The data that a run started from, and the pairs that it joined."""

    names: Sequence[str]
    n_rows: int
    n_distinct_rows: Callable[[], int]
    null_rows: int | None
    """Number of rows in which no column is true, if the paper's feature "null" is counted."""
    supports: Sequence[int]
    known: Sequence[int] | None
    """Number of rows in which each column is known, with missing cells."""
    tests: Sequence[Test]
    """The test of each iteration, or a single test if the cutoff is fixed once."""
    iterations: Sequence[Sequence[JoinedPair]]


class Replay:
    """A run replayed from its sources: its state, merges by iteration, and steps."""

    def __init__(self, sources: Sources, plan: Plan) -> None:
        self.sources = sources
        self.plan = plan
        _check_columns(sources)
        supports = np.array(sources.supports, np.int64)
        observed = sources.n_rows if sources.known is None else np.array(sources.known, np.int64)
        self.state = RunState(
            sources.names,
            supports,
            observed,
            sources.n_rows,
            sources.n_distinct_rows,
            sources.null_rows,
            counts_bits=not plan.criterion.needs_patterns,
        )
        self.pairs = [pair for some in sources.iterations for pair in some]
        self._check_shape()
        self._made: list[Numbers] = []
        # columns of counts (rows, left, right, joint) of the features, then of the patterns
        self.tables, self.pattern_tables = self._make_features()
        self._check_patterns()
        nothing = np.zeros(len(self.pairs), np.intp)
        n_rows = self.tables[0] if sources.known is not None else sources.n_rows
        self._counts = Contingency(nothing, nothing, n_rows, *self.tables[1:])
        is_more = covariance(*self._counts.table) > 0
        check_source(bool(is_more.all()), "a merge joins features that go together by chance")
        self.merges: list[tuple[Merge, ...]] = []
        self.steps = [self.state.make_step(0)]
        self._enter_merges()

    def _check_shape(self) -> None:
        sources, plan = self.sources, self.plan
        check_source(all(sources.iterations), "an iteration has no merges")
        one = plan.search != "pairwise" or all(len(some) == 1 for some in sources.iterations)
        check_source(one, "an iteration has several merges")
        n_tests = bool(sources.iterations) if plan.has_fixed_cutoff else len(sources.iterations)
        is_right = len(sources.tests) in {n_tests, max(n_tests, plan.has_fixed_cutoff)}
        check_source(is_right, "tests and iterations differ in number")
        check_source(
            all(k <= n for n, k in sources.tests), "more pairs are significant than were tested"
        )
        # a merge adds at most one feature
        most = len(sources.supports) + len(self.pairs)
        check_source(
            all(n <= most * (most - 1) // 2 for n, _ in sources.tests),
            "more pairs were tested than there are",
        )
        complete, adjusts = sources.known is None, plan.adjusts_in_batches
        for pair in self.pairs:
            has_no_table = pair.table is None, pair.known is None
            check_source(
                has_no_table == (complete, complete), "a merge has missing or unexpected counts"
            )
            uncounted = pair.together is None
            same = (pair.patterns is None) == (complete or uncounted)
            check_source(same, "a merge has missing or unexpected pattern counts")
            has_score = plan.criterion.needs_patterns and uncounted
            check_source(
                (pair.score is not None) == has_score, "a merge has a missing or unexpected score"
            )
            check_source(
                (pair.p_adjusted is not None) == adjusts,
                "a merge has a missing or unexpected p-value",
            )

    def _make_features(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Create the features of all pairs; return the tables of pairs and of their patterns."""
        lineage, n_rows = self.state.lineage, self.sources.n_rows
        conjoin, most = lineage.conjoin, self.plan.max_length
        supports = list(self.sources.supports)
        known = None if self.sources.known is None else list(self.sources.known)
        present = set(range(len(supports)))
        # the rest of a feature keeps its pattern and its place
        self._place = list(present)
        self._joined: list[tuple[int, int]] = []
        self.n_tags = [1] * len(supports)
        rows = list(supports)
        tables, pattern_tables = [], []
        for some in self.sources.iterations:
            n_before = len(supports)
            for pair in some:
                left, right, joint = pair.left, pair.right, pair.joint
                check_source(left < right < n_before, "a merge refers to later features")
                check_source(
                    {left, right} <= present, "a merge names features that are not present"
                )
                n, s, t = pair.table or (n_rows, supports[left], supports[right])
                in_range = s <= supports[left] and t <= supports[right] and n <= n_rows
                check_source(
                    in_range and _is_table(n, s, t, joint), "a joint count is out of range"
                )
                i, j = self._place[left], self._place[right]
                if pair.together is not None:
                    table = *(pair.patterns or (n_rows, rows[i], rows[j])), pair.together
                    in_range = table[0] <= n_rows and joint <= pair.together
                    check_source(
                        in_range and _is_table(*table), "a count of patterns is out of range"
                    )
                    pattern_tables.append(table)
                parts = joint, t - joint, s - joint
                numbers = (
                    conjoin(left, right),
                    conjoin(~left, right) if parts[1] else None,
                    conjoin(left, ~right) if parts[2] else None,
                )
                check_source(lineage.length(numbers[0]) <= _LONGEST, "a formula is too long")
                places = len(self.n_tags), j, i
                self._joined.append((i, j))
                self.n_tags.append(self.n_tags[i] + self.n_tags[j])
                rows.append(pair.together or 0)
                size = self.n_tags[-1] if self.plan.criterion.counts_tags else None
                size = lineage.length(numbers[0]) if size is None else size
                check_source(most is None or size <= most, "a feature is longer than max_length")
                present -= {left, right}
                for k, number in enumerate(numbers):
                    if number is not None:
                        present.add(number)
                        supports.append(parts[k])
                        self._place.append(places[k])
                    if known is not None and pair.known is not None:
                        in_range = parts[k] <= pair.known[k] <= (n_rows if parts[k] else 0)
                        check_source(in_range, "a number of known rows is out of range")
                        known += [pair.known[k]] * (number is not None)
                self._made.append(numbers)
                tables.append((n, s, t, joint))
        n_counted = sum(pair.together is not None for pair in self.pairs[: len(pattern_tables)])
        check_source(n_counted == len(pattern_tables), "some merges have no counts of patterns")
        self._present = present
        return _columns(tables), _columns(pattern_tables)

    def _check_patterns(self) -> None:
        """Check that no pattern has a tag twice and that no pattern is made twice."""
        m, place = len(self.sources.supports), self._place
        n_tags = sum(self.n_tags[place[number]] for number in self._present)
        check_source(
            n_tags <= _MOST_TAGS, f"its patterns have more than {_MOST_TAGS:,} tags together"
        )
        for number in self._present:
            pending, tags = [place[number]], set()
            while pending:
                k = pending.pop()
                if k >= m:
                    pending += self._joined[k - m]
                else:
                    check_source(
                        k not in tags, "a merge joins features that are never true together"
                    )
                    tags.add(k)
        # sums of random numbers are equal only for equal patterns
        keys = [randbits(128) for _ in range(m)]
        for i, j in self._joined:
            keys.append(keys[i] + keys[j])
        check_source(len(set(keys)) == len(keys), "two merges make the same pattern")

    def _enter_merges(self) -> None:
        """Compute the indicators after each iteration, and the tests of all pairs."""
        plan, state, counts = self.plan, self.state, self._counts
        criterion, pair_filter = plan.criterion, plan.criterion.pair_filter
        r = phi(*counts.table)
        score = np.array(pair_filter.score(r, counts))
        if criterion.needs_patterns:
            score = self._find_evidence()
        by_bits = criterion.counts_tags and not criterion.needs_patterns
        saved: list[float] = []
        costs: list[float] = []
        for iteration, some in enumerate(self.sources.iterations, start=1):
            these = slice(len(saved), len(saved) + len(some))
            if by_bits and plan.search == "batch":
                # as if each were the only one
                own = np.array([(state.costs[pair.left], state.costs[pair.right]) for pair in some])
                table = *self.tables[1:, these], state.total, state.n_used, *own.T
                score[these] = round_savings(pair_savings(*table))
            tables = self.tables[1:, these].T.tolist()
            for pair, made, (s, t, joint) in zip(some, self._made[these], tables, strict=True):
                parts = joint, t - joint, s - joint
                costs.append(merge_cost(state.n_rows, state.n_occurring, len(saved) + 1))
                saved.append(
                    state.enter(pair.left, pair.right, (s, t, joint), made, parts, pair.known)
                )
                if criterion.needs_patterns:
                    saved[-1] = float(score[len(saved) - 1]) - costs[-1]
                    state.evidence += saved[-1]
            gain = criterion.gain(math.fsum(saved[these]), math.fsum(costs[these]))
            self.steps.append(state.make_step(iteration, self._merges_of, gain))
        if by_bits and plan.search == "pairwise":
            score = round_savings(np.array(saved))
        self._write_merges(r, score, saved, np.array(costs))

    def _write_merges(self, r: Floats, score: Floats, saved: list[float], costs: Floats) -> None:
        plan, counts, iterations = self.plan, self._counts, self.sources.iterations
        pair_filter, tests = plan.criterion.pair_filter, self.sources.tests
        p = adjusted = pair_filter.independence.p_values(counts, r)
        if plan.adjusts_in_batches:
            adjusted = np.array([pair.p_adjusted for pair in self.pairs], np.float64)
            is_right = bool((adjusted >= p * (1 - _CLOSE)).all())
            check_source(is_right, "an adjusted p-value is too small")
        merges: list[Merge] = []
        # pairs with the same cutoff
        sizes = [len(self.pairs)] if plan.has_fixed_cutoff else [*map(len, iterations)]
        numbers = [k for k, some in enumerate(iterations, start=1) for _ in some]
        for size, test in zip(sizes, tests if self.pairs else (), strict=False):
            these = slice(len(merges), len(merges) + size)
            own = counts.take(these)
            if plan.has_fixed_cutoff:
                fixed = pair_filter.fix_cutoff(self.sources.n_rows, *test)
                cutoff, adjusted = fixed.cutoff, fixed.adjust(p)
            else:
                cutoff = pair_filter.fix_cutoff(own.n_rows, *test).cutoff
            if plan.criterion.needs_patterns:
                cutoff = replace(cutoff, threshold=costs)
            pairs = Pairs(own, r[these], score[these], p[these], adjusted[these], cutoff)
            joined = [(pair.left, pair.right) for pair in self.pairs[these]]
            more = zip(numbers[these], joined, self._made[these], saved[these], strict=True)
            merges += write_merges([(k, *ends, made, bits) for k, ends, made, bits in more], pairs)
        each = iter(merges)
        self.merges = [tuple(islice(each, len(some))) for some in iterations]
        if plan.criterion.counts_tags and pair_filter.alpha is None:
            return
        for merge in merges:
            passes = (
                merge.score > merge.threshold
                if merge.compared == "score"
                else merge.r >= merge.threshold - _CLOSE
                if merge.compared == "r"
                else merge.p_value <= merge.threshold * (1 + _CLOSE)
            )
            check_source(passes, "a merge joins features that its criterion does not")

    def _merges_of(self, iteration: int) -> tuple[Merge, ...]:
        return self.merges[iteration - 1]

    def places(self, fitted: FeatureSet) -> list[int]:
        """Return the places of the patterns of features; a rest keeps the place of its pattern."""
        return [self._place[number] for number in fitted.features + fitted.suppressed]

    def _find_evidence(self) -> Floats:
        """Return the smaller evidence of the two tables, for each pair."""
        score, n_counted = evidence(*self._counts.table), self.pattern_tables.shape[1]
        score[:n_counted] = np.minimum(score[:n_counted], evidence(*self.pattern_tables))
        own = np.array([pair.score for pair in self.pairs[n_counted:]], np.float64)
        check_source(
            bool((own <= score[n_counted:] * (1 + _CLOSE)).all()), "the score of a merge is wrong"
        )
        score[n_counted:] = own
        check_source(bool((score > 0).all()), "a merge joins features that go together by chance")
        return score


def _check_columns(sources: Sources) -> None:
    n_rows, supports = sources.n_rows, sources.supports
    check_source(1 <= n_rows <= MOST_ROWS, "it was fitted on no rows, or on too many")
    check_source(len(supports) == len(sources.names), "supports and columns differ in number")
    known = [n_rows] * len(supports) if sources.known is None else sources.known
    check_source(len(known) == len(supports), "its counts of known rows do not match its columns")
    in_range = all(s <= k <= n_rows for s, k in zip(supports, known, strict=True))
    check_source(in_range, "a support is out of range")
    check_source((sources.null_rows or 0) <= n_rows, "more rows have no column than there are")


def _is_table(n_rows: int, left: int, right: int, joint: int) -> bool:
    """Return True if counts are possible for a pair."""
    return joint <= min(left, right) and left + right - joint <= n_rows


def _columns(tables: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.array(tables, np.int64).reshape(-1, 4).T


@dataclass(frozen=True)
class Progress:
    """The progress of a run: all iterations so far, as sources.

    ``supports`` and, with missing cells, the ``known`` rows belong to the columns. Only the first
    progress that is stored has them.
    """

    iterations: Sequence[Sequence[JoinedPair]]
    tests: Sequence[Test]
    supports: Sequence[int] = ()
    known: Sequence[int] | None = None


@dataclass(frozen=True)
class RunIdentity:
    """The data and options of a run, which must match those of its saved progress."""

    options: str
    names: str
    n_rows: int
    fingerprint: int
    """The hash of the rows."""

    @classmethod
    def of(cls, names: Sequence[str], store: Store, options: tuple[object, ...]) -> RunIdentity:
        """Return the identity; ``options`` are those that steps depend on."""
        digest = sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(repr(options), digest, store.n_rows, store.fingerprint())


class ProgressStore(Protocol):
    """A place that stores the progress of a run."""

    def load(self, identity: RunIdentity) -> Progress | None:
        """Return the stored progress, if any; refuse progress of another identity."""

    def save(self, identity: RunIdentity, news: Callable[[], Progress], *, last: bool) -> None:
        """Store the result of ``news``, at the latest after the last step."""

    def wrong_run(self, why: object) -> Exception:
        """Return the error for progress that belongs to another run."""


def rewrites_in_place(merges: Sequence[Merge], n_primitives: int) -> list[MergeRewrite]:
    """Return the columns that result from merging one pair at a time."""
    column = {feature: feature for feature in range(n_primitives)}
    rewrites: list[MergeRewrite] = []
    for n_columns, merge in enumerate(merges, start=n_primitives):
        left, right = column[merge.left], column[merge.right]
        rewrites.append(MergeRewrite(left, right, n_columns))
        places = (merge.both, n_columns), (merge.right_only, right), (merge.left_only, left)
        column |= {number: place for number, place in places if number is not None}
    return rewrites


def rewrites_in_batches(
    merges: Sequence[Merge], n_primitives: int
) -> tuple[tuple[int, ...], list[Rewrite]]:
    """Return the features and the columns after whole iterations."""
    features = list(range(n_primitives))
    rewrites = []
    for _, some in groupby(merges, key=lambda merge: merge.iteration):
        position = {feature: k for k, feature in enumerate(features)}
        left, right, new = [], [], []
        for both, merge in enumerate(some, start=len(features)):
            i, j = position.pop(merge.left), position.pop(merge.right)
            left.append(i)
            right.append(j)
            parts = zip(merge.parts, (both, j, i), (-1, both, both), strict=True)
            new += [part for part in parts if part[0] is not None]
        kept = [(features[k], k, -1) for k in sorted(position.values())]
        numbers, plus, minus = zip(*kept, *new, strict=True)
        features = [*numbers]
        rewrites.append(Rewrite(*(np.array(x, np.intp) for x in (left, right, plus, minus))))
    return tuple(features), rewrites
