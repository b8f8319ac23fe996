"""The states that uFC passes through, for every λ of a range.

The pairs of a greedy matching come in falling order of r, and λ only says where the sequence is
cut. So what an iteration makes of a stage depends on λ only through the interval between two
neighbouring r, and following each interval on its own meets every distinct state once, for
every real λ instead of a grid of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from conjunct.columns import Columns
from conjunct.counting import Store
from conjunct.features import Lineage
from conjunct.ufc.association import PairFilter
from conjunct.ufc.path import rows
from conjunct.ufc.path.rows import RowReplacement, RowStage
from conjunct.ufc.search.batch import matched
from conjunct.ufc.search.stage import Replacement, Stage

AnyStage = Stage | RowStage
AnyReplacement = Replacement | RowReplacement

# No r exceeds 1, so that every λ from the strongest r up to 1 leaves a stage as it is.
_NO_PAIR = 1.0

# what is followed at once: enough for long arrays, little enough for memory and a short wait
_MAX_AT_ONCE = 1 << 16

# neighbouring λ make many of the same features: those of past stages are kept while they are few
_MAX_REMEMBERED = 1 << 16


@dataclass(frozen=True)
class Range:
    """What a path covers: every λ in [lowest, highest], and up to ``max_iter`` iterations."""

    lowest: float
    highest: float
    max_iter: int
    prune: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """A stage, and the λ that lead to it: ``low ≤ λ < high``.

    From ``settled_from`` on no pair is left to replace.
    """

    stage: AnyStage
    low: float
    high: float
    settled_from: float


@dataclass(frozen=True, eq=False, slots=True)
class NextState:
    """A state that is still to be made, of the first pairs of a replacement.

    ``n_features`` is how many features the lineage had when the replacement was found.
    """

    replacement: AnyReplacement
    n_pairs: int
    low: float
    high: float
    n_features: int

    @property
    def place(self) -> tuple[float, int]:
        """Grows from the highest λ down, and from a state to those that follow from it."""
        return -self.high, self.replacement.stage.iteration + 1


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some states, and which of those to come has the first place."""

    states: list[State]
    next_state: NextState | None


def first_stage(store: Store) -> AnyStage:
    """The primitives, by rows where that is less to look at."""
    by_rows = RowStage.first(store) if isinstance(store, Columns) else None
    return Stage.first(store) if by_rows is None else by_rows


def batches(first: AnyStage, lineage: Lineage, covered: Range) -> Iterator[Batch]:
    """Every distinct state, from the highest λ down, each before those that follow from it.

    Small ones are made many at once, and of these a later one may come before those that follow
    from an earlier one. Only the stages of a batch exist, and those that states to come are made
    of; ``lineage`` forgets the features of others when there are too many.
    """
    engine = _BY_ROWS if isinstance(first, RowStage) else _BY_MATRIX
    stages, intervals = [first], [(covered.lowest, _NO_PAIR)]
    pending: list[NextState] = []  # the highest λ last
    while True:
        states, coming = _followed(engine, stages, intervals, lineage, covered)
        pending += reversed(coming)
        yield Batch(states, pending[-1] if pending else None)
        if not pending:
            return
        del stages, states, coming
        chosen = _popped(pending)
        if len(lineage) > _MAX_REMEMBERED:
            lineage.forget_after(chosen[0].n_features)
        stages = engine.replaced([(state.replacement, state.n_pairs) for state in chosen])
        intervals = [(state.low, state.high) for state in chosen]


def _followed(
    engine: _Engine,
    stages: list[AnyStage],
    intervals: list[tuple[float, float]],
    lineage: Lineage,
    covered: Range,
) -> tuple[list[State], list[NextState]]:
    """The states of these stages, and those to come after them, both from the highest λ down."""
    going = [k for k, stage in enumerate(stages) if stage.iteration < covered.max_iter]
    found: list[AnyReplacement | None] = [None] * len(stages)
    if going:
        lows = [intervals[k][0] for k in going]
        for k, replacement in zip(
            going,
            engine.replacements([stages[k] for k in going], lows, covered.prune, lineage),
            strict=True,
        ):
            found[k] = replacement
    states: list[State] = []
    coming: list[NextState] = []
    n_features = len(lineage)
    for stage, (low, high), replacement in zip(stages, intervals, found, strict=True):
        settled_from = high
        if replacement is not None:
            r = replacement.r
            settled_from = min(r[0], high) if r else low
            for n_pairs, (above, below) in enumerate(pairwise([*r, low]), start=1):
                if below < high and below < above and below <= covered.highest:
                    coming.append(
                        NextState(replacement, n_pairs, below, min(above, high), n_features)
                    )
        if stage.iteration:
            states.append(State(stage, low, high, settled_from))
        elif settled_from <= covered.highest:  # §5.3 counts limit_iter from 1
            states.append(State(stage, settled_from, high, settled_from))
    return states, coming


def _popped(pending: list[NextState]) -> list[NextState]:
    """The next states to make: one, and others as long as they are small."""
    chosen: list[NextState] = []
    room = _MAX_AT_ONCE
    while pending and (not chosen or pending[-1].replacement.size <= room):
        chosen.append(pending.pop())
        room -= chosen[-1].replacement.size
    return chosen


class _Engine(NamedTuple):
    """How stages of one kind are followed, several at once."""

    replacements: Callable[[Sequence[Any], Sequence[float], bool, Lineage], Sequence[Any]]
    replaced: Callable[[Sequence[tuple[Any, int]]], list[Any]]


def _replacements(
    stages: Sequence[Stage], lows: Sequence[float], prune: bool, lineage: Lineage
) -> list[Replacement]:
    found = []
    for stage, low in zip(stages, lows, strict=True):
        pairs = matched(stage.candidates(PairFilter(low, prune=prune)), stage.features, lineage)
        found.append(Replacement(stage, pairs, lineage))
    return found


def _replaced(wanted: Sequence[tuple[Replacement, int]]) -> list[Stage]:
    return [replacement.of_first(n_pairs) for replacement, n_pairs in wanted]


_BY_MATRIX = _Engine(_replacements, _replaced)
_BY_ROWS = _Engine(rows.replacements, rows.replaced)
