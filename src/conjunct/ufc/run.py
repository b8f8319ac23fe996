"""A complete run of uFC, from columns that count to a feature set with its history."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import numpy as np

from conjunct.columns import Contingency, PairCounts
from conjunct.counting import Store, Tally
from conjunct.errors import InputError
from conjunct.expressions import pattern_text
from conjunct.features import FeatureSet, Merge
from conjunct.ufc.association import count_tested_pairs, phi
from conjunct.ufc.batch import BatchSearch, Stage
from conjunct.ufc.criteria import (
    Criterion,
    PairFilter,
    PairTest,
    Search,
    correlated_pairs,
    with_evidence,
)
from conjunct.ufc.replaying import (
    FamilySize,
    JoinedPair,
    Progress,
    ProgressStore,
    Replay,
    RunIdentity,
    Sources,
    Test,
    rewrites_in_batches,
    rewrites_in_place,
)
from conjunct.ufc.run_state import Indicators, RunState, SourceError, Step, check_source
from conjunct.ufc.search import PairwiseSearch
from conjunct.ufc.stops import Stop

# smaller correlations count as 0
_CHANCE = 1e-3


@dataclass(frozen=True)
class Plan:
    """The options that iterations depend on.

    ``max_length`` limits the tags or literals of a new feature.
    """

    criterion: Criterion
    search: Search
    max_length: int | None = None

    @property
    def options(self) -> tuple[object, ...]:
        record = self.criterion.record().items()
        # a factor also determines which pairs a round merges
        ending = () if self.search == "batch" else self.criterion.ending
        settings = tuple(sorted((k, v) for k, v in record if k not in ending))
        return settings, self.search, self.max_length

    @property
    def merges_in_place(self) -> bool:
        """True if each merge keeps the columns of all other features, also in a round."""
        return self.search == "pairwise" or self.criterion.needs_patterns

    @property
    def has_fixed_cutoff(self) -> bool:
        """True if one cutoff holds for all iterations."""
        return self.search == "pairwise" or self.criterion.draws_once

    @property
    def adjusts_in_batches(self) -> bool:
        """True if adjusted p-values depend on pairs that are not replaced."""
        return not self.has_fixed_cutoff and self.criterion.pair_filter.correction is not None


def list_tests(plan: Plan, iterations: Iterable[Sequence[Merge]]) -> list[Test]:
    """Return the tests of iterations, as sources."""
    tests = [(some[0].family_size, some[0].n_significant) for some in iterations]
    return tests[:1] if plan.has_fixed_cutoff else tests


def list_pairs(
    plan: Plan,
    merges: Sequence[Merge],
    counts: Sequence[tuple[int, int]] | None,
    tables: Sequence[Sequence[int]] | None = None,
) -> list[JoinedPair]:
    """Return merges as sources.

    With missing cells, ``counts`` has the rows in which each feature of the lineage is true and
    known. ``tables`` has the counts of the patterns, if they were counted.
    """
    pairs = []
    for k, merge in enumerate(merges):
        more: dict[str, Any] = {}
        if counts is not None:
            parts = [(0, 0) if n is None else counts[n] for n in merge.parts]
            (_, _), (right_only, _), (left_only, _) = parts
            more["table"] = merge.n_rows, merge.joint + left_only, merge.joint + right_only
            more["known"] = tuple(known for _, known in parts)
        if tables is not None:
            *three, more["together"] = tables[k]
            if counts is not None:
                more["patterns"] = tuple(three)
        elif plan.criterion.needs_patterns:
            more["score"] = merge.score
        if plan.adjusts_in_batches:
            more["p_adjusted"] = merge.p_adjusted
        pairs.append(JoinedPair(merge.left, merge.right, merge.joint, **more))
    return pairs


class PairFacts(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Counts of the pairs of columns, for a run without features."""

    tested: FamilySize | None = None
    # number of pairs that may be joined
    open: FamilySize | None = None
    # the pair with the smallest p-value, or with the highest lift if no pair goes together
    nearest: JoinedPair | None = None
    likeliest: JoinedPair | None = None


class Ending(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The facts behind the stop reason that do not follow from the merges."""

    # the number of iterations made, if not all are kept
    made: Annotated[int, msgspec.Meta(ge=1, lt=1 << 31)] | None = None
    # true if the iterations were chosen by their use, and not by max_features
    chosen: bool = False
    # the iteration that the stopping rule refused
    refused: tuple[JoinedPair, ...] = ()
    # the test of that iteration, or of the columns if nothing was tried
    test: Test | None = None
    pairs: PairFacts | None = None
    # of a path: the number of solutions, and the threshold of the one that was chosen
    solutions: Annotated[int, msgspec.Meta(ge=1, lt=1 << 53)] | None = None
    threshold: Annotated[float, msgspec.Meta(ge=0, lt=1)] | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """A feature set and all steps that were tried, beginning with the primitives.

    ``n_made`` is the number of iterations before the stop. ``kept`` has the steps up to the feature
    set, which are all of them unless ``max_features`` requires fewer.
    """

    feature_set: FeatureSet
    kept: tuple[Step, ...]
    n_made: int
    tried: tuple[Step, ...]
    n_distinct_rows: int
    state: RunState
    plan: Plan
    stop: Stop
    max_iter: int | None
    max_features: int | None
    pair_test: PairTest
    first: PairCounts | PairFacts
    """The counts of the pairs of columns, or the facts that a file stores about them."""
    _facts: PairFacts = field(default_factory=PairFacts)

    @property
    def n_iter(self) -> int:
        return len(self.kept) - 1

    @property
    def history(self) -> tuple[Indicators, ...]:
        """The indicators of every iteration up to the feature set."""
        return tuple(map(attrgetter("indicators"), self.kept))

    @cached_property
    def stop_reason(self) -> str:
        """The reason why the run ended; without features, also advice."""
        if self.n_iter < self.n_made:
            return beginning_text(self.n_iter, self.n_made, self.plan, self.max_features)
        was_refused = len(self.tried) > len(self.kept)
        if self.max_iter is not None and self.n_iter == self.max_iter:
            return f"It stopped after {self.iterations_text}, which is max_iter."
        if self.n_iter == 0:
            rule: Stop | Criterion = self.stop if was_refused else self.plan.criterion
            return f"{rule.why_nothing(self)}."
        if was_refused or self.stop.ends_early(self):
            return f"{self.stop.why(self)}."
        return f"{self.plan.criterion.why_no_more(self)}."

    @property
    def ending(self) -> Ending:
        """The facts that ``stop_reason`` is written from."""
        if self.n_iter < self.n_made:
            return Ending(self.n_made, chosen=self.max_features is None)
        refused: Sequence[JoinedPair] = ()
        test = None
        if self.stop_reason and len(self.tried) > len(self.kept):
            merges = self.tried[-1].merges
            refused = list_pairs(self.plan, merges, self.state.counts)
            if not self.plan.has_fixed_cutoff or self.n_iter == 0:
                (test,) = list_tests(self.plan, [merges])
        elif self.n_iter == 0 and self.pair_test.cutoff is not None:
            test = self.pair_test.cutoff.family_size, self.pair_test.cutoff.n_significant
        facts = None if self._facts == PairFacts() else self._facts
        return Ending(refused=tuple(refused), test=test, pairs=facts)

    @property
    def iterations_text(self) -> str:
        step = self.plan.criterion.steps[self.plan.search]
        return f"{self.n_iter:,} {step}{'s' * (self.n_iter != 1)}"

    @property
    def bound_text(self) -> str:
        """The condition of ``max_length`` on a pair, as the end of a sentence about pairs."""
        longest = self.plan.max_length
        if longest is None:
            return ""
        noun = "tags" if self.plan.criterion.counts_tags else "literals"
        return f" and that makes a feature of at most {longest} {noun}"

    def _find_fact(self, name: str, find: Callable[[PairCounts], Any]) -> Any:
        """Count a fact about the pairs of columns, or take it from a file, and record it."""
        first = self.first
        found = getattr(first, name) if isinstance(first, PairFacts) else find(first)
        setattr(self._facts, name, found)
        is_number = name in ("tested", "open")
        check_source(found is not None or not is_number, f"the number of {name} pairs is missing")
        return found

    def count_tested_pairs(self) -> int:
        """Count the pairs of columns, without constant ones."""
        count = partial(count_tested_pairs, prune=self.plan.criterion.pair_filter.prune)
        return int(self._find_fact("tested", count))

    def count_open_pairs(self) -> int:
        """Count the pairs of columns that may be joined."""
        accepts = self.pair_test.pair_filter.accepts

        def count(counts: PairCounts) -> int:
            return sum(int(accepts(some).sum()) for some in counts.pair_blocks())

        return int(self._find_fact("open", count))

    def nearest_pair(self) -> tuple[str, float] | None:
        """Return the pair with the smallest p-value, and that value, if any r is above 0."""
        asked = self.plan.criterion.pair_filter

        def find(counts: PairCounts) -> JoinedPair | None:
            # comparing a p-value with a level is faster than computing it
            for level in (1e-9, 1e-6, 1e-3, None):
                among = PairFilter(0.0, alpha=level, test=asked.test, prune=asked.prune)
                every = correlated_pairs(counts, among)
                if len(every):
                    break
            else:
                return None
            best = np.flatnonzero(every.p_value == every.p_value.min()).tolist()
            # ties by name, so the order of columns does not matter
            first = min(best, key=lambda k: self._columns_text(every.counts, k))
            return self._record_pair(every.counts, first)

        nearest = self._find_fact("nearest", find)
        if nearest is None:
            return None
        pair = with_evidence(self._read_pair(nearest), 1, PairFilter(test=asked.test))
        check_source(bool(pair.r[0] > 0), "the nearest pair is not positively correlated")
        return self._columns_text(pair.counts, 0), float(pair.p_value[0])

    def why_none_together(self) -> str:
        """State that no two columns go together, and name the nearest pair."""
        if self.count_tested_pairs() == 0:
            return "fewer than two columns vary between the rows"

        def find(counts: PairCounts) -> JoinedPair | None:
            best, text, found = 0.0, "", None
            for pairs in counts.pair_blocks():
                n_rows, left, right, both = np.broadcast_arrays(*pairs.table)
                varies = (both > 0) & (left < n_rows) & (right < n_rows)
                # exactly the same for either order of the pair
                chance = left * 1.0 * right / np.maximum(n_rows, 1)
                lift = np.divide(both, chance, where=varies, out=np.zeros(len(pairs)))
                for k in np.flatnonzero((lift > 0) & (lift == lift.max(initial=best))).tolist():
                    name = self._columns_text(pairs, k)
                    if lift[k] > best or name < text:
                        best, text, found = float(lift[k]), name, self._record_pair(pairs, k)
            return found

        likeliest = self._find_fact("likeliest", find)
        if likeliest is None:
            return "no row has two of the columns that vary between the rows"
        pair = self._read_pair(likeliest)
        if isinstance(self.first, PairFacts):
            # differences from chance below rounding errors count as chance
            by_chance = bool(phi(*pair.table)[0] < _CHANCE)
            check_source(by_chance, "the nearest pair is positively correlated")
        n_rows, left, right, joint = (int(count[0]) for count in np.broadcast_arrays(*pair.table))
        return (
            f"no two columns are true together more often than by chance. "
            f"{self._columns_text(pair, 0)} comes nearest: together in {joint:,} "
            f"row{'s' * (joint != 1)}; chance alone gives {left * 1.0 * right / n_rows:,.1f}"
        )

    def _columns_text(self, pairs: Contingency, k: int) -> str:
        """Return the two columns of a pair in the order of their names."""
        names = self.state.lineage.primitives
        ends = int(pairs.left[k]), int(pairs.right[k])
        return " with ".join(sorted(pattern_text([names[end]]) for end in ends))

    def _record_pair(self, pairs: Contingency, k: int) -> JoinedPair:
        """Return the counts of a pair of columns in the form that a file stores."""
        n_rows, s, t, joint = pairs.table
        table = None if isinstance(n_rows, int) else (int(n_rows[k]), int(s[k]), int(t[k]))
        return JoinedPair(int(pairs.left[k]), int(pairs.right[k]), int(joint[k]), table=table)

    def _read_pair(self, pair: JoinedPair) -> Contingency:
        """Read the counts of a pair of columns from a file."""
        supports, n_rows = self.feature_set.primitive_supports, self.feature_set.n_rows
        check_source(
            pair.left < pair.right < len(supports), "the nearest pair does not consist of columns"
        )
        check_source(
            (pair.table is None) == (self.state.observed is None),
            "the nearest pair has missing or unexpected counts",
        )
        n, s, t = pair.table or (n_rows, supports[pair.left], supports[pair.right])
        in_range = s <= supports[pair.left] and t <= supports[pair.right] and n <= n_rows
        is_table = in_range and pair.joint <= min(s, t) and s + t - pair.joint <= n
        check_source(is_table, "the nearest pair is out of range")
        one = (np.array([count]) for count in (pair.left, pair.right, s, t, pair.joint))
        left, right, *counts = one
        rows = n if pair.table is None else np.array([n])
        return Contingency(left, right, rows, *counts)

    def pair_text(self, merge: Merge) -> str:
        """Write the two features of a merge as patterns, in the order of the patterns."""
        patterns = map(self.state.lineage.pattern, (merge.left, merge.right))
        return " with ".join(sorted(map(pattern_text, patterns)))


def run_ufc(
    store: Store,
    names: Sequence[str],
    plan: Plan,
    stop: Stop,
    *,
    max_iter: int | None = None,
    max_features: int | None = None,
    watch: Callable[[Indicators], None] | None = None,
    progress_store: ProgressStore | None = None,
) -> Run:
    """Iterate until ``max_iter``, until the stopping rule applies, or until nothing is replaced.

    Keep the last step with at most ``max_features`` features.

    ``watch`` is called with the indicators of each step, to show progress. A run with progress in a
    ``progress_store`` continues from there; already saved steps are reported again.
    """
    null_rows = store.count_null_rows() if stop.counts_null else None
    # the first counts do not need to wait for it
    n_distinct_rows = cache(store.begin_distinct_rows())
    replay, merges = None, tuple[Merge, ...]()
    if progress_store is not None:
        identity = RunIdentity.of(names, store, (*plan.options, stop.counts_null))
        replay = _load_replay(progress_store, identity, names, n_distinct_rows, null_rows, plan)
    first = Tally.of(store)
    pair_test = plan.criterion.make_pair_test(first.counts, plan.search)
    if replay is None:
        counts, is_plain = first.counts, not plan.criterion.needs_patterns
        columns = counts.supports, counts.observed, store.n_rows
        state = RunState(names, *columns, n_distinct_rows, null_rows, counts_bits=is_plain)
    else:
        state, merges = replay.state, tuple(chain.from_iterable(replay.merges))

    def make_steps() -> Generator[Step]:
        yield from [state.make_step(0)] if replay is None else replay.steps
        # columns are rebuilt and counted only if the run continues
        try:
            search = begin_search(first, state, plan, pair_test, merges)
        except SourceError as error:
            raise error if progress_store is None else progress_store.wrong_run(error) from None
        yield from search.steps()

    steps = make_steps()
    if progress_store is not None:
        n_saved = None if replay is None else len(replay.merges)
        steps = _save_steps(steps, partial(progress_store.save, identity), n_saved, state, plan)
    tried: list[Step] = []

    def watch_steps() -> Iterator[Step]:
        for step in steps:
            tried.append(step)
            if watch is not None:
                watch(step.indicators)
            yield step

    # larger than any count: no limit
    limit = None if max_iter is None else min(max_iter + 1, sys.maxsize)
    made = tuple(stop.keep_steps(islice(watch_steps(), limit)))
    steps.close()
    kept = made
    if max_features is not None:
        kept = made[: last_within([step.indicators for step in made], max_features) + 1]
    return Run(
        state.feature_set(kept),
        kept,
        len(made) - 1,
        tuple(tried),
        n_distinct_rows(),
        state,
        plan,
        stop,
        max_iter,
        max_features,
        pair_test,
        first.counts,
    )


def begin_search(
    first: Tally, state: RunState, plan: Plan, pair_test: PairTest, merges: tuple[Merge, ...]
) -> BatchSearch | PairwiseSearch:
    """Restore the search after some merges, counting only the columns of that stage."""
    by_evidence = plan.criterion.needs_patterns
    if plan.search == "batch" and not by_evidence:
        features, rewrites = rewrites_in_batches(merges, state.n_columns)
        tally = Tally.of(first.store.after(rewrites)) if rewrites else first
        return BatchSearch(Stage(len(rewrites), features, tally), state, plan, pair_test)
    in_place = rewrites_in_place(merges, state.n_columns) if merges else []
    if by_evidence:
        merging, patterns = first.merging_with_patterns(in_place)
    else:
        tally = Tally.of(first.store.after(in_place)) if in_place else first
        merging, patterns = tally.merging(), None
    return PairwiseSearch(merging, patterns, state, plan, pair_test, merges, in_place)


def _load_replay(
    progress_store: ProgressStore,
    identity: RunIdentity,
    names: Sequence[str],
    n_distinct_rows: Callable[[], int],
    null_rows: int | None,
    plan: Plan,
) -> Replay | None:
    """Restore a run from its saved progress."""
    progress = progress_store.load(identity)
    if progress is None:
        return None
    counted = progress.supports, progress.known, progress.tests, progress.iterations
    try:
        return Replay(Sources(names, identity.n_rows, n_distinct_rows, null_rows, *counted), plan)
    except SourceError as error:
        raise progress_store.wrong_run(error) from None


def _save_steps(
    steps: Iterable[Step],
    save: Callable[..., None],
    n_saved: int | None,
    state: RunState,
    plan: Plan,
) -> Generator[Step]:
    """Yield the steps and save new ones; the first ``n_saved`` are already saved."""
    new: list[Step] = []
    is_new = n_saved is None

    def news() -> Progress:
        nonlocal is_new
        iterations = [step.merges for step in new]
        pairs = [list_pairs(plan, merges, state.counts) for merges in iterations]
        tests = list_tests(plan, iterations) if is_new or not plan.has_fixed_cutoff else []
        supports, known = state.primitive_supports, state.observed
        columns = (supports, known and known[: len(supports)]) if is_new else ()
        is_new = False
        new.clear()
        return Progress(pairs, tests, *columns)

    try:
        for step in steps:
            if step.iteration > (n_saved or 0):
                new.append(step)
                save(news, last=False)
            yield step
    finally:
        if new:
            save(news, last=True)


def restore_run(
    sources: Sources,
    plan: Plan,
    stop: Stop,
    ending: Ending,
    *,
    max_iter: int | None = None,
    max_features: int | None = None,
    variables: Sequence[str | None] = (),
) -> tuple[Run, Replay]:
    """Restore a run from the contents of a file."""
    n_iter = len(sources.iterations)
    check_source(max_iter is None or n_iter <= max_iter, "it has more iterations than max_iter")
    is_more = ending.made is None or ending.made > n_iter
    check_source(is_more, "it keeps more iterations than were made")
    tests, iterations = list(sources.tests), list(sources.iterations)
    if ending.test is not None:
        check_source(not (plan.has_fixed_cutoff and tests), "it has one test too many")
        tests.append(ending.test)
    if ending.refused:
        iterations.append(ending.refused)
    replay = Replay(replace(sources, tests=tests, iterations=iterations), plan)
    kept = tuple(replay.steps[: n_iter + 1])
    if ending.chosen:
        max_features = None
    fits = max_features is None or kept[-1].indicators.n_features <= max_features
    check_source(fits, "it has more features than max_features")
    pair_filter = plan.criterion.pair_filter
    pair_test = PairTest(pair_filter, pair_filter.alpha)
    if plan.has_fixed_cutoff and tests:
        pair_test = pair_filter.fix_cutoff(sources.n_rows, *tests[0])
    run = Run(
        replace(replay.state.feature_set(kept), variables=tuple(variables)),
        kept,
        ending.made or n_iter,
        tuple(replay.steps),
        sources.n_distinct_rows(),
        replay.state,
        plan,
        stop,
        max_iter,
        max_features,
        pair_test,
        ending.pairs or PairFacts(),
    )
    return run, replay


def last_within(history: Sequence[Indicators], max_features: int) -> int:
    """Return the last step that has at most ``max_features`` features.

    A merge replaces two features by one to three, so any step may have few features. Every step
    that a stopping rule keeps is better than the previous ones, so the last one is the best.
    """
    fits = [line.iteration for line in history if line.n_features <= max_features]
    if not fits:
        fewest = min(line.n_features for line in history)
        raise InputError(
            f"max_features is {max_features}, but no step of the run has fewer than {fewest} "
            f"features, because rows must stay recoverable from {history[0].n_features} columns: "
            f"choose at least {fewest}"
        )
    return fits[-1]


def beginning_text(n_kept: int, n_made: int, plan: Plan, max_features: int | None) -> str:
    """Explain why only part of a run was kept."""
    kept = f"the first {n_kept} {'is' if n_kept == 1 else 'are'}" if n_kept else "none is"
    kept = f"Of {n_made} {plan.criterion.steps[plan.search]}{'s' * (n_made != 1)} {kept} kept"
    if max_features is None:
        return f"{kept}."
    return f"{kept}: the next would leave more than {max_features} features, which is max_features."
