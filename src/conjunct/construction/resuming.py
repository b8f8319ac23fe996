"""Runs that go on where an earlier one was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from typing import Protocol

import numpy as np

from conjunct.construction.lineage import Lineage
from conjunct.construction.stage import Merge, Stage
from conjunct.construction.stopping import Indicators
from conjunct.errors import InputError
from conjunct.stores import Conjoined, Contingency, Counts, Positions, Rewrite, Store, Tally


class ProgressError(InputError):
    """Progress that cannot be that of this run."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come: all merges so far, and the indicators of every stage."""

    merges: tuple[Merge, ...]
    tried: tuple[Indicators, ...]
    supports: tuple[int, ...]
    """Of the features of the last stage: data of which these are not true is other data."""


@dataclass(frozen=True)
class Subject:
    """What a run is about. Progress of a run about something else is of no use to it."""

    options: str
    names: str
    n_rows: int
    n_distinct_rows: int

    @classmethod
    def of(
        cls, names: Sequence[str], n_rows: int, n_distinct_rows: int, options: tuple[object, ...]
    ) -> Subject:
        """``options`` are those that iterations depend on: not those that end them."""
        digest = sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()
        return cls(repr(options), digest, n_rows, n_distinct_rows)


class Keeper(Protocol):
    """Where the progress of a run is kept."""

    def load(self, subject: Subject) -> Progress | None:
        """The progress kept, if there is some; that of another subject is refused."""
        ...

    def save(self, subject: Subject, progress: Progress) -> None: ...

    def refusal(self, why: object) -> Exception:
        """What to raise where the progress kept turns out to be that of another run."""
        ...


class UncountedTally:
    """Counts that are made when they are first asked for."""

    def __init__(self, count: Callable[[], Tally]) -> None:
        self._count = count

    @cached_property
    def _counted(self) -> Tally:
        return self._count()

    @property
    def n_rows(self) -> int:
        return self._counted.n_rows

    @property
    def supports(self) -> Counts:
        return self._counted.supports

    @property
    def observed(self) -> int | Counts:
        return self._counted.observed

    def met(self) -> Iterator[Contingency]:
        return self._counted.met()

    def of(self, left: Positions, right: Positions) -> Contingency:
        return self._counted.of(left, right)

    def conjoined(self, left: Positions, right: Positions) -> Conjoined:
        return self._counted.conjoined(left, right)


@dataclass(frozen=True)
class Replayed:
    """The merges of an iteration, as an earlier run made them."""

    made: tuple[Merge, ...]

    def merges(self, iteration: int) -> Iterator[Merge]:
        return iter(self.made)


def replay(store: Store, lineage: Lineage, progress: Progress) -> list[Stage]:
    """The stages of an earlier run; only those whose counts are asked for are counted.

    Raises
    ------
    ProgressError
        Where the merges are not such as a run on these columns makes, or the last stage's
        supports not those of this data.
    """
    features = tuple(range(store.n_columns))
    stages = [Stage(0, features, UncountedTally(store.tally))]
    rewrites: list[Rewrite] = []
    for iteration, merges in groupby(progress.merges, key=lambda merge: merge.iteration):
        made = tuple(merges)
        if iteration != len(stages):
            raise ProgressError("its iterations are not 1, 2, 3, …")
        features, rewrite = replayed(features, made, lineage)
        rewrites.append(rewrite)
        after = store.after(tuple(rewrites))
        stages.append(Stage(iteration, features, UncountedTally(after.tally), Replayed(made)))
    if tuple(stages[-1].supports.tolist()) != progress.supports:
        raise ProgressError("it was made from other data")
    return stages


def replayed(
    features: tuple[int, ...], merges: Sequence[Merge], lineage: Lineage
) -> tuple[tuple[int, ...], Rewrite]:
    """The features after some merges, and how their columns follow from the present ones."""
    position = {feature: k for k, feature in enumerate(features)}
    try:
        left = [position.pop(merge.left) for merge in merges]
        right = [position.pop(merge.right) for merge in merges]
    except KeyError:
        raise ProgressError("it replaces features that are not there") from None
    kept = sorted(position.values())
    following = [features[k] for k in kept]
    plus, minus = list(kept), [-1] * len(kept)
    for k, merge in enumerate(merges):
        both, i, j = len(features) + k, left[k], right[k]
        for number, operands, whole, less in (
            (merge.both, (merge.left, merge.right), both, -1),
            (merge.right_only, (~merge.left, merge.right), j, both),
            (merge.left_only, (merge.left, ~merge.right), i, both),
        ):
            if number is None:
                continue
            if lineage.conjoin(*operands) != number:
                raise ProgressError("its features are not numbered in the order made")
            following.append(number)
            plus.append(whole)
            minus.append(less)
    columns = (np.array(column, np.intp) for column in (left, right, plus, minus))
    return tuple(following), Rewrite(*columns)


def kept_by(
    stages: Iterable[Stage],
    save: Callable[[Progress], None],
    evaluate: Callable[[Stage], Indicators],
) -> Iterator[Stage]:
    """The stages, each of which is saved before it is passed on."""
    merges: list[Merge] = []
    tried: list[Indicators] = []
    for stage in stages:
        merges.extend(stage.merges)
        tried.append(evaluate(stage))
        # what was replayed is saved already; and there is nothing to save of the primitives
        if stage.iteration and not isinstance(stage.replaced, Replayed):
            supports = tuple(int(support) for support in stage.supports)
            save(Progress(tuple(merges), tuple(tried), supports))
        yield stage
