"""Algorithm 1's schema with a tree as the learner: FRINGE, CITRE and uFRINGE (§1.2, §2).

The learner looks at the present features and gives paths of conditions; two conditions of each
path are joined into a new feature. New features are added and none is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from conjunct.columns import CountMatrix, Counts, PackedColumns, Positions, line_bytes
from conjunct.errors import InputError
from conjunct.expressions import Expression
from conjunct.features import FeatureSet, Lineage
from conjunct.trees.clustering import Limits, Path, grow, simplest_first
from conjunct.ufc import Evaluator, Indicators

Strategy = Literal["fringe", "root", "root-fringe"]
Redundant = Literal["keep", "drop"]

# which two conditions of a path are joined: FRINGE's last two, CITRE's first two, or the ends
CHOSEN: dict[Strategy, tuple[int, int]] = {
    "fringe": (-2, -1),
    "root": (0, 1),
    "root-fringe": (0, -1),
}


@dataclass(frozen=True, eq=False)
class PackedStage:
    """A feature set after some iterations, whose rows can be looked at, as a learner must."""

    iteration: int
    features: tuple[int, ...]
    store: PackedColumns
    counts: CountMatrix

    @property
    def supports(self) -> Counts:
        return self.counts.supports

    @property
    def observed(self) -> int:
        return self.store.n_rows


Learner = Callable[[PackedStage, tuple[Expression, ...]], Iterable[Path]]
"""Paths of conditions on the columns of a stage, given the stage and its expressions."""


def clustering_paths(limits: Limits) -> Learner:
    """uFRINGE's learner: every path of a clustering tree on the present features."""

    def learn(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Path]:
        return grow(stage.store, simplest_first(expressions), limits, stage.counts.joint).paths()

    return learn


@dataclass(frozen=True, eq=False)
class Growth:
    """A feature set, and the indicators of every iteration, primitives first."""

    feature_set: FeatureSet
    history: tuple[Indicators, ...]
    n_distinct_rows: int


def run_fringe(
    store: PackedColumns,
    names: Sequence[str],
    learner: Learner,
    *,
    strategy: Strategy,
    redundant: Redundant,
    max_features: int,
    watch: Callable[[Indicators], None] = lambda indicators: None,
) -> Growth:
    """Iterate until there are ``max_features`` features, or nothing new can be built."""
    lineage = Lineage(names)
    n_distinct_rows = store.count_distinct_rows()
    evaluate = Evaluator(lineage, store.n_rows, n_distinct_rows)
    first = PackedStage(0, tuple(range(store.n_columns)), store, store.pair_counts())
    if redundant == "drop":
        first = _without_redundant(first, lineage)
    stages = chain([first], iterate_fringe(first, lineage, learner, strategy, redundant))
    kept = first
    tried: list[Indicators] = []
    iterations: list[int] = []
    for stage in until_enough(stages, max_features):
        tried.append(evaluate(stage))
        watch(tried[-1])
        n_made = len(lineage.made) - len(iterations)
        iterations += [stage.iteration] * n_made
        kept = stage
    feature_set = FeatureSet(
        lineage,
        kept.features,
        tuple(kept.supports.tolist()),
        store.n_rows,
        tuple(iterations),
        primitive_supports=tuple(store.supports().tolist()),
    )
    return Growth(feature_set, tuple(tried), n_distinct_rows)


def until_enough(stages: Iterable[PackedStage], max_features: int) -> Iterator[PackedStage]:
    """The stages up to the first with ``max_features`` features or more."""
    for stage in stages:
        yield stage
        if len(stage.features) >= max_features:
            return


def iterate_fringe(
    first: PackedStage,
    lineage: Lineage,
    learner: Learner,
    strategy: Strategy,
    redundant: Redundant,
) -> Iterator[PackedStage]:
    """The stages after ``first``, for as long as something new is built."""
    stage = first
    while True:
        paths = learner(stage, lineage.expressions(stage.features))
        pairs = _unseen_pairs(stage, lineage, paths, strategy)
        made = stage.store.conjunctions(*_positions(pairs))
        if redundant == "drop":
            useful = _useful(stage, lineage, pairs, made)
            pairs = [pairs[k] for k in useful]
            made = made.select(useful)
        if not pairs:
            return
        stage = _extended(stage, lineage, pairs, made)
        yield stage


def _unseen_pairs(
    stage: PackedStage, lineage: Lineage, paths: Iterable[Path], strategy: Strategy
) -> list[Path]:
    """Pairs of conditions whose conjunction was never made, in either order, once each."""
    one, other = CHOSEN[strategy]
    unseen: dict[frozenset[int], Path] = {}
    for path in paths:
        if len(path) < 2:
            continue
        pair = (path[one], path[other])
        literals = _literals(stage, pair)
        if not lineage.knows(*literals):
            unseen.setdefault(frozenset(literals), pair)
    return list(unseen.values())


def simplest_of_equals(store: PackedColumns, expressions: Sequence[Expression]) -> Positions:
    """The positions of distinct columns, the simplest of equal ones, simplest first."""
    first: dict[bytes, int] = {}
    for k in np.argsort(simplest_first(expressions)).tolist():
        first.setdefault(store.lines[k].tobytes(), k)
    return np.array(list(first.values()), np.intp)


def _useful(
    stage: PackedStage, lineage: Lineage, pairs: list[Path], made: PackedColumns
) -> list[int]:
    """Which conjunctions repeat no literal and are no column that is there already."""
    columns = {line.tobytes() for line in stage.store.lines}
    columns.add(bytes(line_bytes(made.n_rows)))
    useful = []
    for k, (pair, line) in enumerate(zip(pairs, made.lines, strict=True)):
        column = line.tobytes()
        if column in columns or _repeats(lineage.conjunction(*_literals(stage, pair))):
            continue
        columns.add(column)
        useful.append(k)
    return useful


def _repeats(expression: Expression) -> bool:
    return expression.length > len(expression.literals)


def _without_redundant(stage: PackedStage, lineage: Lineage) -> PackedStage:
    """The primitives that are true somewhere, one of each kind of equal ones."""
    simplest = simplest_of_equals(stage.store, lineage.expressions(stage.features))
    kept = np.sort(simplest[stage.supports[simplest] > 0])
    if not len(kept):
        raise InputError("no column is true in any row: nothing is left to construct from")
    return PackedStage(
        stage.iteration,
        tuple(stage.features[k] for k in kept),
        stage.store.select(kept),
        stage.counts.select(kept),
    )


def _extended(
    stage: PackedStage, lineage: Lineage, pairs: list[Path], made: PackedColumns
) -> PackedStage:
    features = [lineage.conjoin(*_literals(stage, pair)) for pair in pairs]
    counts = stage.counts.extended(stage.store.joint_counts(made), made.joint_counts())
    return PackedStage(
        stage.iteration + 1, (*stage.features, *features), stage.store.joined(made), counts
    )


def _literals(stage: PackedStage, pair: Path) -> tuple[int, int]:
    """Conditions on columns as literals of the lineage."""
    one, other = (stage.features[c] if c >= 0 else ~stage.features[~c] for c in pair)
    return one, other


def _positions(pairs: list[Path]) -> tuple[Positions, Positions]:
    left, right = np.array(pairs, np.intp).reshape(-1, 2).T
    return left, right
