"""A whole run of uFC: from columns that count to a feature set with its history."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import groupby, islice

import numpy as np

from conjunct.columns import AnyRewrite, Counts, PairCounts
from conjunct.counting import Store, Tally
from conjunct.errors import InputError
from conjunct.features import FeatureSet, Lineage, Merge
from conjunct.ufc.association import PairFilter, correlated_pairs, count_tested_pairs
from conjunct.ufc.criteria import Criterion, PairTest, Search
from conjunct.ufc.resuming import (
    Progress,
    ProgressError,
    ProgressStore,
    RunIdentity,
    check_progress,
    record_steps,
    rewrites_in_batches,
    rewrites_in_place,
)
from conjunct.ufc.run_state import Indicators, RunState, Step
from conjunct.ufc.search.batch import BatchSearch, Stage
from conjunct.ufc.search.pairwise import PairwiseSearch
from conjunct.ufc.stops import Stop

FindVariables = Callable[[Callable[[], PairCounts]], Sequence[str | None]]
"""Returns the variable of each column, given what counts the pairs of columns."""


@dataclass(frozen=True)
class Plan:
    """The options that iterations depend on.

    ``max_length`` bounds the tags or literals of a new feature.
    """

    criterion: Criterion
    search: Search
    max_length: int | None = None

    @property
    def noun(self) -> str:
        """The word for a step."""
        return "iteration" if self.search == "batch" else "merge"

    @property
    def options(self) -> tuple[object, ...]:
        record = self.criterion.record().items()
        settings = tuple(sorted((k, v) for k, v in record if k not in self.criterion.ending))
        return settings, self.search, self.max_length


@dataclass(frozen=True, eq=False)
class Run:
    """A feature set, and all steps that were tried on the way, primitives first.

    ``made`` are the steps before the stop, and ``kept`` those up to the feature set: the same,
    unless ``max_features`` asks for fewer.
    """

    feature_set: FeatureSet
    kept: tuple[Step, ...]
    made: tuple[Step, ...]
    tried: tuple[Step, ...]
    n_distinct_rows: int
    plan: Plan
    stop: Stop
    max_iter: int | None
    max_features: int | None
    pair_test: PairTest
    lineage: Lineage
    first: Callable[[], PairCounts]
    """The counts of the pairs of columns."""

    @property
    def criterion(self) -> Criterion:
        return self.plan.criterion

    @property
    def n_iter(self) -> int:
        return len(self.kept) - 1

    @property
    def n_rows(self) -> int:
        return self.feature_set.n_rows

    @property
    def n_columns(self) -> int:
        return len(self.lineage.primitives)

    @property
    def history(self) -> tuple[Indicators, ...]:
        """The indicators of every iteration up to the feature set that was kept."""
        return tuple(step.indicators for step in self.kept)

    @property
    def outcome(self) -> str:
        """The reason why the run ended; where nothing was made, what would help."""
        if self.max_features is not None and len(self.kept) < len(self.made):
            noun, n_made = self.plan.noun, len(self.made) - 1
            return beginning_text(self.n_iter, n_made, noun, self.max_features)
        if self.max_iter is not None and self.n_iter == self.max_iter:
            return f"It stopped after {self.iterations_text}, which is max_iter."
        was_refused = len(self.tried) > len(self.kept)
        if self.n_iter == 0:
            rule: Stop | Criterion = self.stop if was_refused else self.criterion
            return f"{rule.why_nothing(self)}."
        if was_refused or self.stop.ends_early(self):
            return f"{self.stop.why(self)}."
        return f"{self.criterion.why_no_more(self)}."

    @property
    def is_worth_a_warning(self) -> bool:
        """True if the user should be warned: nothing was made, or not what was asked for."""
        if self.n_iter == 0:
            return self.max_iter != 0
        return len(self.kept) == len(self.made) and self.stop.ends_early(self)

    @property
    def iterations_text(self) -> str:
        return f"{self.n_iter} {self.plan.noun}{'s' * (self.n_iter != 1)}"

    @property
    def bound_text(self) -> str:
        """The demand of ``max_length`` on a pair, as the end of a sentence about pairs."""
        longest = self.plan.max_length
        if longest is None:
            return ""
        noun = "tags" if self.criterion.counts_tags else "literals"
        return f" and that makes a feature of at most {longest} {noun}"

    def count_tested_pairs(self) -> int:
        """Count the pairs of columns, without constant ones."""
        return count_tested_pairs(self.first(), prune=self.criterion.pair_filter.prune)

    def count_open_pairs(self) -> int:
        """Count the pairs of columns that may be joined."""
        accepts = self.pair_test.pair_filter.accepts
        return sum(int(accepts(pairs).sum()) for pairs in self.first().pair_blocks())

    def nearest_pair(self) -> tuple[str, float] | None:
        """Return the pair with the smallest p-value, and that; ``None``: no r is above 0."""
        asked = self.criterion.pair_filter
        # testing whether a p-value is small is quicker than computing it
        for level in (1e-9, 1e-6, 1e-3, None):
            among = PairFilter(0.0, alpha=level, test=asked.test, prune=asked.prune)
            every = correlated_pairs(self.first(), among)
            if len(every):
                break
        else:
            return None
        k = int(every.p_value.argmin())
        names = self.lineage.primitives
        return f"{names[every.left[k]]} with {names[every.right[k]]}", float(every.p_value[k])

    def pair_text(self, merge: Merge) -> str:
        """Return the two features of a merge, by their patterns."""
        one, other = (" + ".join(self.lineage.pattern(n)) for n in (merge.left, merge.right))
        return f"{one} with {other}"


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
    find_variables: FindVariables | None = None,
) -> Run:
    """Iterate until ``max_iter``, until the stopping rule, or until nothing more is replaced.

    Of that, the last step with at most ``max_features`` features is kept.

    ``watch`` is called with the indicators of each step looked at, for progress. A run whose
    progress a ``progress_store`` has goes on from there; steps already saved are reported again.
    ``find_variables`` says which columns are values of one variable; by default, none are.
    """
    null_support = store.count_null_rows() if stop.null_feature else None
    construction = _Construction(store, names, plan, null_support)
    variables = () if find_variables is None else find_variables(construction.first)
    steps = construction.steps()
    if progress_store is not None:
        steps = construction.record_steps(progress_store, (*plan.options, stop.null_feature))
    tried: list[Step] = []

    def watch_steps() -> Iterator[Step]:
        for step in steps:
            tried.append(step)
            if watch is not None:
                watch(step.indicators)
            yield step

    # a number past any count is no limit
    limit = None if max_iter is None else min(max_iter + 1, sys.maxsize)
    made = tuple(stop.kept(islice(watch_steps(), limit)))
    steps.close()
    kept = made
    if max_features is not None:
        kept = made[: last_within([step.indicators for step in made], max_features) + 1]
    merges = tuple(merge for step in kept for merge in step.merges)
    return Run(
        construction.feature_set(merges, variables),
        kept,
        made,
        tuple(tried),
        construction.n_distinct_rows(),
        plan,
        stop,
        max_iter,
        max_features,
        construction.pair_test,
        construction.lineage,
        construction.first,
    )


class _Construction:
    """The columns of a run, its state, and the steps that it makes."""

    def __init__(
        self, store: Store, names: Sequence[str], plan: Plan, null_support: int | None
    ) -> None:
        self.store = store
        self.plan = plan
        self.lineage = Lineage(names)
        # the first counts do not wait for it
        self.n_distinct_rows = cache(store.begin_distinct_rows())
        self._first = cache(partial(Tally.of, store))
        self._null_support = null_support

    def first(self) -> PairCounts:
        """Count the pairs of columns, once."""
        return self._first().counts

    @cached_property
    def pair_test(self) -> PairTest:
        return self.plan.criterion.make_pair_test(self.first, self.plan.search)

    def steps(self) -> Generator[Step]:
        """Yield the primitives, and all that follows from them."""
        first = self.first()
        self.state = self._begin_state(first.supports, first.observed)
        search = self._search(())
        yield search.first()
        yield from search.steps()

    def record_steps(
        self, progress_store: ProgressStore, options: tuple[object, ...]
    ) -> Generator[Step]:
        """Yield the same from where an earlier run came to, and record the new ones."""
        names, store = self.lineage.primitives, self.store
        identity = RunIdentity.of(names, store.n_rows, store.fingerprint(), options)
        progress = progress_store.load(identity)
        if progress is None:
            steps = self.steps()
        else:
            try:
                check_progress(progress, self.lineage)
            except ProgressError as error:
                raise progress_store.wrong_run(error) from None
            steps = self._resume(progress)
        n_saved = 0 if progress is None else len(progress.supports)
        save = partial(progress_store.save, identity)
        return record_steps(steps, save, lambda: self.state, n_saved)

    def feature_set(self, merges: Sequence[Merge], variables: Sequence[str | None]) -> FeatureSet:
        """Return the features that some merges leave."""
        state = self.state
        features = state.features_after(merges)
        observed = state.observed
        return FeatureSet.compacted(
            self.lineage,
            features,
            [state.supports[number] for number in features],
            self.store.n_rows,
            merges,
            None if observed is None else [observed[number] for number in features],
            state.primitive_supports,
            variables,
        )

    def _resume(self, progress: Progress) -> Generator[Step]:
        """Report saved steps again; make and count columns only if the run goes on."""
        self.state = self._resume_state(progress)
        by_iteration = groupby(progress.merges, key=lambda merge: merge.iteration)
        groups = [(), *(tuple(merges) for _, merges in by_iteration)]
        for k, merges in enumerate(groups):
            saved = [merge.saved for merge in merges]
            cost = self.state.merge_cost(max(k, 1))
            gain = self.plan.criterion.gain(math.fsum(saved), cost)
            indicators = partial(progress.tried.__getitem__, k)
            yield Step(k, indicators, partial(tuple, merges), saved, gain, is_replayed=True)
        yield from self._search(progress.merges).steps()

    def _resume_state(self, progress: Progress) -> RunState:
        m = len(self.lineage.primitives)
        supports, observed = np.array(progress.supports), progress.observed
        known = self.store.n_rows if observed is None else np.array(observed)[:m]
        state = self._begin_state(supports[:m], known)
        state.resume(progress.merges, progress.supports, observed, progress.tried[-1])
        return state

    def _begin_state(self, supports: Counts, observed: int | Counts) -> RunState:
        return RunState(
            self.lineage,
            supports,
            observed,
            self.store.n_rows,
            self.n_distinct_rows,
            self._null_support,
        )

    def _search(self, merges: tuple[Merge, ...]) -> BatchSearch | PairwiseSearch:
        """Return the search after some merges. Only the columns of that stage are counted."""
        m, plan = len(self.lineage.primitives), self.plan
        rules = self.state, plan.criterion, self.pair_test, plan.max_length
        if plan.search == "pairwise":
            in_place = rewrites_in_place(merges, m)
            if plan.criterion.needs_patterns:
                merging, patterns = self._first().merging_with_patterns(in_place)
                return PairwiseSearch(merging, *rules, merges, patterns, in_place)
            return PairwiseSearch(self._tally_after(in_place).merging(), *rules, merges)
        features, rewrites = rewrites_in_batches(merges, m)
        stage = Stage(len(rewrites), features, self._tally_after(rewrites))
        return BatchSearch(stage, *rules)

    def _tally_after(self, rewrites: Sequence[AnyRewrite]) -> Tally:
        return Tally.of(self.store.after(rewrites)) if rewrites else self._first()


def last_within(history: Sequence[Indicators], max_features: int) -> int:
    """Return the last step that has at most ``max_features`` features.

    A merge replaces two features by one to three, so steps with few features need not come first.
    Every step that a stopping rule keeps is better than those before it, so this is the best one.
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


def beginning_text(n_kept: int, n_made: int, noun: str, max_features: int) -> str:
    """Return why not all of a run was kept."""
    kept = f"the first {n_kept} {'is' if n_kept == 1 else 'are'}" if n_kept else "none is"
    return (
        f"Of {n_made} {noun}{'s' * (n_made != 1)} {kept} kept: the next would leave more than "
        f"{max_features} features, which is max_features."
    )
