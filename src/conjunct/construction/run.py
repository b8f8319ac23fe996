"""A whole run of uFC: from columns that count to a feature set with its history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal

from conjunct.construction.feature_set import FeatureSet
from conjunct.construction.lineage import Lineage
from conjunct.construction.resuming import Keeper, Progress, ProgressError, Subject, kept_by, replay
from conjunct.construction.stage import Merge, Stage
from conjunct.construction.stopping import (
    Balance,
    Balancing,
    Evaluator,
    Indicators,
    at_most,
    until_rises,
    while_readable,
)
from conjunct.construction.ufc import Candidates, Rule, iterate
from conjunct.stores import Store

Stop = Literal["rms", "relative"]
STOPS: tuple[Stop, ...] = ("rms", "relative")


@dataclass(frozen=True, eq=False)
class Run:
    """A feature set, and the indicators of all that was tried on the way, primitives first."""

    feature_set: FeatureSet
    n_iter: int
    tried: tuple[Indicators, ...]
    n_distinct_rows: int
    # of what was tried, where the stopping rule looks at it
    balances: tuple[Balance, ...] = ()

    @property
    def history(self) -> tuple[Indicators, ...]:
        """The indicators of every iteration up to the feature set that was kept."""
        return self.tried[: self.n_iter + 1]


def run_ufc(
    store: Store,
    names: Sequence[str],
    rule: Rule,
    *,
    max_iter: int | None = None,
    stop: Stop | None = None,
    null_feature: bool = False,
    watch: Callable[[Indicators], None] = lambda indicators: None,
    keeper: Keeper | None = None,
) -> Run:
    """Iterate until ``max_iter``, until the stopping rule, or until nothing more is replaced.

    Where C0 has no meaning the RMS stop cannot be used and ends after one iteration.
    ``watch`` is called with the indicators of each stage looked at, for progress. A run whose
    progress a ``keeper`` has goes on from there, and is told of its stages all the same.
    """
    lineage = Lineage(names)
    n_distinct_rows = store.count_distinct_rows()
    null_support = store.count_null_rows() if null_feature else None
    evaluate = Evaluator(lineage, store.n_rows, n_distinct_rows, null_support)
    subject = Subject.of(names, store.n_rows, n_distinct_rows, (rule, null_feature))
    progress = None if keeper is None else keeper.load(subject)
    known = {} if progress is None else {line.iteration: line for line in progress.tried}
    seen: dict[int, Indicators] = {}

    def evaluate_once(stage: Stage) -> Indicators:
        if stage.iteration not in seen:
            seen[stage.iteration] = known.get(stage.iteration) or evaluate(stage)
            watch(seen[stage.iteration])
        return seen[stage.iteration]

    if stop == "rms" and not evaluate.has_complexity:
        # there is no RMS without C0; one iteration is the least that constructs anything
        stop, max_iter = None, 1
    candidates = Candidates(lineage, rule)
    balancing = Balancing(candidates)

    def imbalance(stage: Stage) -> float:
        evaluate_once(stage)
        return balancing(stage).distance

    *past, last = _begun(store, lineage, progress, keeper)
    stages: Iterator[Stage] = chain(past, iterate(last, lineage, rule, candidates))
    if keeper is not None:
        stages = kept_by(stages, partial(keeper.save, subject), evaluate_once)
    stages = at_most(stages, max_iter)
    if stop == "rms":
        stages = until_rises(stages, lambda stage: evaluate_once(stage).rms)
    elif stop == "relative":
        stages = until_rises(stages, imbalance)
    if stop is not None:
        stages = while_readable(stages, evaluate_once)
    merges: list[Merge] = []
    for kept in stages:
        evaluate_once(kept)
        merges.extend(kept.merges)
    feature_set = FeatureSet.compacted(
        lineage,
        kept.features,
        kept.supports,
        store.n_rows,
        merges,
        None if isinstance(kept.observed, int) else kept.observed,
    )
    tried = tuple(seen.values())
    return Run(feature_set, kept.iteration, tried, n_distinct_rows, tuple(balancing.balances))


def _begun(
    store: Store, lineage: Lineage, progress: Progress | None, keeper: Keeper | None
) -> list[Stage]:
    """The stages up to where an earlier run came to: the primitives, if there was none."""
    if progress is None or keeper is None:
        return [Stage.first(store)]
    try:
        return replay(store, lineage, progress)
    except ProgressError as error:
        raise keeper.refusal(error) from None
