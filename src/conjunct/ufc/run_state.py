"""The state of a run: its features, how often each is true, and what each merge saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Counts
from conjunct.features import (
    Lineage,
    Merge,
    bits_saved_by,
    complexity,
    mean_length,
    mean_length_of,
    merge_cost,
    overlapping_index,
    primitive_costs,
    rms,
)


@dataclass(frozen=True)
class Indicators:
    """One line of a run's history. C0 and RMS are NaN where C0 has no meaning.

    ``bits`` is the length of the description of the data by these features in Krimp's code, and
    ``evidence`` what the merges so far brought less what they cost; NaN where it is not looked at.
    """

    iteration: int
    n_features: int
    length: float
    oi: float
    c0: float
    rms: float
    bits: float = math.nan
    evidence: float = math.nan


class Evaluated(Protocol):
    """The part of a stage that is evaluated."""

    @property
    def iteration(self) -> int: ...

    @property
    def features(self) -> tuple[int, ...]: ...

    @property
    def supports(self) -> Counts: ...

    @property
    def observed(self) -> int | Counts: ...


@dataclass(frozen=True)
class Evaluator:
    """Computes the indicators of stages over the same primitives and rows."""

    lineage: Lineage
    n_rows: int
    n_distinct_rows: int
    null_support: int | None = None

    def __call__(self, stage: Evaluated) -> Indicators:
        oi = self._overlap(stage.supports, stage.observed)
        c0 = math.nan
        if self.has_complexity:
            n_primitives = len(self.lineage.primitives)
            c0 = complexity(len(stage.features), n_primitives, self.n_distinct_rows)
        length = mean_length(self.lineage.lengths(stage.features))
        return Indicators(stage.iteration, len(stage.features), length, oi, c0, rms(oi, c0))

    def _overlap(self, supports: Counts, observed: int | Counts) -> float:
        if isinstance(observed, int) or self.null_support is None:
            return overlapping_index(supports, observed, null_support=self.null_support)
        # "null" is another feature, known in every row
        return overlapping_index([*supports, self.null_support], [*observed, self.n_rows])

    @property
    def has_complexity(self) -> bool:
        """True if C0 has a meaning: there must be more distinct rows than primitives."""
        return self.n_distinct_rows > len(self.lineage.primitives)


class Step:
    """The merges of an iteration, and the indicators after it. The first step is the primitives.

    ``merges`` are written out when they are first asked for, as the evidence in them takes longer
    than a merge does; ``saved`` are the bits that each saved. Indicators are computed on first use,
    too: distinct rows may still be counted elsewhere.
    """

    def __init__(
        self,
        iteration: int,
        indicators: Callable[[], Indicators],
        merges: Callable[[], tuple[Merge, ...]] = tuple,
        saved: Sequence[float] = (),
        gain: float | None = None,
        *,
        is_replayed: bool = False,
    ) -> None:
        self.iteration = iteration
        self.is_replayed = is_replayed
        self._indicators = indicators
        self._merges = merges
        self._saved = saved
        self._gain = gain

    @cached_property
    def indicators(self) -> Indicators:
        return self._indicators()

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        return self._merges()

    @property
    def saved(self) -> float:
        """Bits that the merges of the step saved together."""
        return math.fsum(self._saved)

    @property
    def gain(self) -> float:
        """The worth of the step by its criterion: what it saved, unless that says otherwise."""
        return self.saved if self._gain is None else self._gain


Numbers = tuple[int | None, int | None, int | None]


class Made(NamedTuple):
    """The features that take the place of a pair: ``i ∧ j``, ``¬i ∧ j`` and ``i ∧ ¬j``.

    Numbers in the lineage, ``None`` for one that occurs nowhere; how often each is true, and in
    how many rows it is known where cells are missing.
    """

    numbers: Numbers
    supports: tuple[int, int, int]
    observed: tuple[int, int, int] | None = None


class RunState:
    """The features of a run by their numbers in the lineage: supports, costs, lengths."""

    def __init__(
        self,
        lineage: Lineage,
        supports: Counts,
        observed: int | Counts,
        n_rows: int,
        n_distinct_rows: Callable[[], int],
        null_support: int | None = None,
    ) -> None:
        self.lineage = lineage
        self.n_rows = n_rows
        self._n_distinct_rows = n_distinct_rows
        self.supports: list[int] = supports.tolist()
        self.observed: list[int] | None = None if isinstance(observed, int) else observed.tolist()
        self.primitive_supports = tuple(self.supports)
        # of the patterns: the bits that name their primitives, and how many these are
        self.costs: list[float] = primitive_costs(supports).tolist()
        self.n_tags = [1] * len(self.supports)
        self.present: dict[int, None] = dict.fromkeys(range(len(self.supports)))
        self.total = sum(self.supports)
        self.n_used = sum(support > 0 for support in self.supports)
        self._total_length = len(self.supports)
        self._null_support = null_support
        self.bits = self._length_in_bits()
        # what merges brought less their costs, where that is looked at
        self.evidence = math.nan
        self._n_occurring = self.n_used

    def enter(self, left: int, right: int, counts: tuple[int, int, int], made: Made) -> float:
        """Replace a pair of features, and return the bits it saved in Krimp's code, if counted.

        ``counts`` are the two supports and the joint count of the pair, in the rows in which both
        are known.
        """
        saved = math.nan
        if not math.isnan(self.bits):
            costs = self.costs[left], self.costs[right]
            saved = bits_saved_by(*counts, self.total, self.n_used, *costs)
        for number in (left, right):
            del self.present[number]
            self.total -= self.supports[number]
            self.n_used -= 1
            self._total_length -= self.lineage.length(number)
        observed = made.observed or made.supports
        for new, support, known in zip(made.numbers, made.supports, observed, strict=True):
            if new is not None:
                self._write(new, left, right, made.numbers, support, known)
                self.present[new] = None
                self.total += support
                self.n_used += 1
                self._total_length += self.lineage.length(new)
        is_counted = self.observed and not math.isnan(saved)
        self.bits = self._length_in_bits() if is_counted else self.bits - saved
        return saved

    def merge_cost(self, k: int) -> float:
        """Return the bits that the k-th merge costs."""
        return merge_cost(self.n_rows, self._n_occurring, k)

    def indicators(self, iteration: int) -> Callable[[], Indicators]:
        """Return a function that gives the present indicators later, when rows are counted."""
        n_features = len(self.present)
        length = mean_length_of(self._total_length, n_features)
        lengths = self.bits, self.evidence
        return partial(self._indicators, iteration, n_features, length, self._overlap(), *lengths)

    def _indicators(
        self,
        iteration: int,
        n_features: int,
        length: float,
        oi: float,
        bits: float,
        evidence: float,
    ) -> Indicators:
        n_primitives, n_distinct_rows = len(self.lineage.primitives), self._n_distinct_rows()
        c0 = math.nan
        # C0 has a meaning only where there are more distinct rows than primitives
        if n_distinct_rows > n_primitives:
            c0 = complexity(n_features, n_primitives, n_distinct_rows)
        return Indicators(iteration, n_features, length, oi, c0, rms(oi, c0), bits, evidence)

    def features_after(self, merges: Iterable[Merge]) -> tuple[int, ...]:
        """Return the features that some merges leave: kept ones first, then those made."""
        present = dict.fromkeys(range(len(self.lineage.primitives)))
        for merge in merges:
            del present[merge.left], present[merge.right]
            present.update(dict.fromkeys(merge.made))
        return tuple(present)

    def resume(
        self,
        merges: Sequence[Merge],
        supports: Sequence[int],
        observed: Sequence[int] | None,
        indicators: Indicators,
    ) -> None:
        """Go on from where an earlier run came to."""
        known = supports if observed is None else observed
        for merge in merges:
            numbers = (merge.both, merge.right_only, merge.left_only)
            for number in merge.made:
                places = merge.left, merge.right, numbers
                self._write(number, *places, supports[number], known[number])
        self.present = dict.fromkeys(self.features_after(merges))
        self.total = sum(self.supports[number] for number in self.present)
        self.n_used = sum(self.supports[number] > 0 for number in self.present)
        self._total_length = sum(self.lineage.lengths(self.present))
        self.bits, self.evidence = indicators.bits, indicators.evidence

    def sizes(self, numbers: Iterable[int], at_most: int, *, in_tags: bool) -> NDArray[np.int64]:
        """Return the tags or literals of features; those beyond a limit as the limit plus 1."""
        size = self.n_tags.__getitem__ if in_tags else self.lineage.length
        return np.array([min(size(number), at_most + 1) for number in numbers], np.int64)

    def _write(
        self, number: int, left: int, right: int, made: Numbers, support: int, observed: int
    ) -> None:
        """Enter a feature that a merge made; they come in the order of their numbers."""
        _, right_only, left_only = made
        if number != len(self.supports):
            raise ValueError(f"feature {number} is not the next one")
        # a pattern is what a feature asserts: i ∧ ¬j asserts what i does
        costs, n_tags = self.costs, self.n_tags
        self.supports.append(support)
        if number == right_only:
            costs.append(costs[right])
            n_tags.append(n_tags[right])
        elif number == left_only:
            costs.append(costs[left])
            n_tags.append(n_tags[left])
        else:
            costs.append(costs[left] + costs[right])
            n_tags.append(n_tags[left] + n_tags[right])
        if self.observed is not None:
            self.observed.append(observed)

    def _overlap(self) -> float:
        if self.observed is None:
            total = self.total + (self._null_support or 0)
            n_features = len(self.present) + (self._null_support is not None)
            if n_features < 2:
                return 0.0
            overlap: float = (total - self.n_rows) / (self.n_rows * (n_features - 1))
            return overlap
        supports = [self.supports[number] for number in self.present]
        observed = [self.observed[number] for number in self.present]
        if self._null_support is not None:
            # "null" is another feature, known in every row
            supports, observed = [*supports, self._null_support], [*observed, self.n_rows]
        return overlapping_index(supports, observed)

    def _length_in_bits(self) -> float:
        numbers = [number for number in self.present if self.supports[number]]
        if not numbers:
            return 0.0
        supports = np.array([self.supports[number] for number in numbers], np.float64)
        cells = (supports + 1) * (math.log2(self.total) - np.log2(supports))
        return math.fsum([*cells.tolist(), *(self.costs[number] for number in numbers)])


Ledger = RunState  # the name that estimators.pairs uses
