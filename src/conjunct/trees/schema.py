"""Algorithm 1 (§1.2), the schema of the whole family: a learner proposes, new features are added.

A learner proposes conjunctions or counts of conditions on the current features. No feature is
removed. FRINGE, CITRE and uFRINGE (§2) join two conditions of each path of a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from conjunct.columns import CountMatrix, Counts, PackedColumns, Positions, line_bytes
from conjunct.errors import InputError
from conjunct.expressions import Expression
from conjunct.features import FeatureSet, Lineage, Made, Tally
from conjunct.trees.clustering import Limits, Path, gains_of_new, grow, simplest_first
from conjunct.ufc import Evaluator, Indicators


@dataclass(frozen=True, eq=False)
class PackedStage:
    """A feature set after some iterations, with its rows, which learners need."""

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


Proposer = Callable[[PackedStage, tuple[Expression, ...]], Iterable[Made]]
"""A function that proposes features from conditions on columns, given a stage and expressions."""

Learner = Callable[[PackedStage, tuple[Expression, ...]], Iterable[Path]]
"""A function that returns paths of conditions on columns, given a stage and expressions."""

Strategy = Literal["fringe", "root", "root-fringe"]

# the two conditions of a path to join: FRINGE's last two, the first two, or CITRE's ends
_JOINED: dict[Strategy, tuple[int, int]] = {
    "fringe": (-2, -1),
    "root": (0, 1),
    "root-fringe": (0, -1),
}

# number of leaves that is always allowed
_FEW_LEAVES = 100


def clustering_paths(limits: Limits, max_features: int) -> Learner:
    """Return uFRINGE's learner: all paths of a clustering tree on the current features.

    Each path gives at most one feature, so leaves are large enough for about ``max_features``.
    """
    most_leaves = max(max_features, _FEW_LEAVES)

    def learn(stage: PackedStage, expressions: tuple[Expression, ...]) -> Iterable[Path]:
        fewest = max(limits.min_samples_leaf, -(-stage.store.n_rows // most_leaves))
        bounded = replace(limits, min_samples_leaf=fewest)
        return grow(stage.store, simplest_first(expressions), bounded, stage.counts.joint).paths()

    return learn


def join_conditions(learner: Learner, strategy: Strategy) -> Proposer:
    """Return a proposer that joins two conditions of each path."""
    one, other = _JOINED[strategy]
    return lambda stage, expressions: [
        (path[one], path[other]) for path in learner(stage, expressions) if len(path) > 1
    ]


def all_of(conditions: Path) -> Made:
    """Return the conjunction of two or more conditions."""
    if len(conditions) == 2:
        return conditions[0], conditions[1]
    return Tally(conditions, len(conditions), exactly=False)


class Growth(NamedTuple):
    """A feature set, with the indicators of all iterations, primitives first."""

    feature_set: FeatureSet
    history: tuple[Indicators, ...]
    n_distinct_rows: int


def run_schema(
    store: PackedColumns,
    names: Sequence[str],
    propose: Proposer,
    *,
    drop_redundant: bool,
    max_features: int,
    at_most: int | None = None,
    watch: Callable[[Indicators], None] = lambda indicators: None,
) -> Growth:
    """Iterate until there are ``max_features`` features, or no new ones.

    If an iteration would exceed ``at_most`` features, it adds those with the largest gain from a
    split of all rows.
    """
    lineage = Lineage(names)
    n_distinct_rows = store.count_distinct_rows()
    evaluate = Evaluator(lineage, store.n_rows, n_distinct_rows)
    first = PackedStage(0, tuple(range(store.n_columns)), store, store.pair_counts())
    if drop_redundant:
        # distinct primitives that are true in some row
        simplest = simplest_of_equals(store, lineage.expressions(first.features))
        used = np.sort(simplest[first.supports[simplest] > 0])
        if not len(used):
            raise InputError("all columns are false in all rows: there is nothing to construct")
        counts = first.counts.select(used)
        first = PackedStage(0, tuple(used.tolist()), store.select(used), counts)
    kept = first
    tried: list[Indicators] = []
    iterations: list[int] = []
    for stage in chain([first], iterate(first, lineage, propose, drop_redundant, at_most)):
        tried.append(evaluate(stage))
        watch(tried[-1])
        iterations += [stage.iteration] * (len(lineage.made) - len(iterations))
        kept = stage
        if len(stage.features) >= max_features:
            break
    feature_set = FeatureSet(
        lineage,
        kept.features,
        tuple(kept.supports.tolist()),
        store.n_rows,
        tuple(iterations),
        primitive_supports=tuple(store.supports().tolist()),
    )
    return Growth(feature_set, tuple(tried), n_distinct_rows)


def iterate(
    first: PackedStage,
    lineage: Lineage,
    propose: Proposer,
    drop_redundant: bool,
    at_most: int | None = None,
) -> Iterator[PackedStage]:
    """Yield the stages after ``first`` while there are new features."""
    stage = first
    while True:
        # each new set of literals once, in any order
        known = set(map(_key, lineage.made))
        unseen: dict[object, Made] = {}
        for each in propose(stage, lineage.expressions(stage.features)):
            key = _key(_of_lineage(stage, each))
            if key not in known:
                unseen.setdefault(key, each)
        made = [*unseen.values()]
        columns = stage.store.with_raw_columns([_line(stage.store, each) for each in made])
        kept = np.arange(len(made))
        if drop_redundant:
            kept = np.array(_find_useful(stage, lineage, made, columns), np.intp)
        if at_most is not None and len(stage.features) + len(kept) > at_most:
            room = max(at_most - len(stage.features), 0)
            gains = gains_of_new(columns.select(kept), stage.store)
            kept = kept[np.sort(np.argsort(-gains, kind="stable")[:room])]
        if not len(kept):
            return
        columns = columns.select(kept)
        features = [lineage.make(_of_lineage(stage, made[k])) for k in kept]
        counts = stage.counts.append_columns(
            stage.store.joint_counts(columns), columns.joint_counts()
        )
        store = stage.store.append_columns(columns)
        stage = PackedStage(stage.iteration + 1, (*stage.features, *features), store, counts)
        yield stage


def _key(made: Made) -> object:
    if isinstance(made, Tally):
        return made._replace(literals=tuple(sorted(made.literals)))
    return frozenset(made)


def _line(store: PackedColumns, made: Made) -> Any:
    """Compute the column of a new feature."""
    literals = made.literals if isinstance(made, Tally) else made
    counted = [(store.raw_columns[max(x, ~x)], x < 0) for x in literals]
    if isinstance(made, Tally):
        return store.tally(counted, made.number, exactly=made.exactly)
    (one, not_left), (other, not_right) = counted
    return store.conjunction(one, other, not_left=not_left, not_right=not_right)


def simplest_of_equals(store: PackedColumns, expressions: Sequence[Expression]) -> Positions:
    """Return the positions of distinct columns, simplest first; of equal columns, the simplest."""
    first: dict[bytes, int] = {}
    for k in np.argsort(simplest_first(expressions)).tolist():
        first.setdefault(store.raw_columns[k].tobytes(), k)
    return np.array(list(first.values()), np.intp)


def telling_columns(stage: PackedStage, expressions: Sequence[Expression]) -> Positions:
    """Return the columns for a decision tree: distinct and not constant.

    With equal columns, formulas could grow needlessly. Constant columns would change how
    scikit-learn breaks ties at random.
    """
    columns = simplest_of_equals(stage.store, expressions)
    supports = stage.supports[columns]
    return columns[(supports > 0) & (supports < stage.store.n_rows)]


def _find_useful(
    stage: PackedStage, lineage: Lineage, made: list[Made], columns: PackedColumns
) -> list[int]:
    """Return the features that repeat neither a literal nor an existing column."""
    present = {line.tobytes() for line in stage.store.raw_columns}
    present.add(bytes(line_bytes(columns.n_rows)))
    useful = []
    for k, (each, line) in enumerate(zip(made, columns.raw_columns, strict=True)):
        column = line.tobytes()
        if column not in present:
            formula = lineage.formula(_of_lineage(stage, each))
            if formula.length <= len(formula.literals):
                present.add(column)
                useful.append(k)
    return useful


def _of_lineage(stage: PackedStage, made: Made) -> Made:
    """Translate conditions on columns into literals of the lineage."""

    def literal(condition: int) -> int:
        return stage.features[condition] if condition >= 0 else ~stage.features[~condition]

    if isinstance(made, Tally):
        return made._replace(literals=tuple(map(literal, made.literals)))
    return literal(made[0]), literal(made[1])
