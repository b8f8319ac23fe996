"""The state of a run: its features, their supports, and the bits that each merge saved."""

from __future__ import annotations

import gc
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Counts
from conjunct.errors import InputError
from conjunct.features import (
    FeatureSet,
    Lineage,
    Merge,
    complexity,
    mean_length,
    mean_length_of,
    overlapping_index,
    pair_saving,
    primitive_costs,
    rms,
)

if TYPE_CHECKING:
    from conjunct.ufc.criteria import Pairs


class SourceError(InputError):
    """Sources that do not describe a valid run."""


def check_source(holds: bool, what: str) -> None:
    """Raise an error about the sources unless ``holds``."""
    if not holds:
        raise SourceError(what)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Suspend garbage collection, because a long run makes many objects but no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                # move new objects to the oldest generation, which the next collection skips
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Indicators(msgspec.Struct, frozen=True, gc=False):
    """One line of a run's history. C0 and RMS are NaN if C0 is undefined.

    ``bits`` is the length of the data in Krimp's code of these features. ``evidence`` is the
    evidence of all merges so far minus their costs; NaN if the criterion does not use it.
    """

    iteration: int
    n_features: int
    length: float
    oi: float
    c0: float
    rms: float
    bits: float = math.nan
    evidence: float = math.nan


@dataclass(frozen=True)
class Evaluator:
    """Computes the indicators of several stages over the same primitives and rows."""

    lineage: Lineage
    n_rows: int
    n_distinct_rows: int
    null_support: int | None = None

    def __call__(self, stage: Any) -> Indicators:
        """Compute the indicators of a stage from its features, supports and known rows."""
        supports, known, null = stage.supports, stage.observed, self.null_support
        if null is not None and not isinstance(known, int):
            # "null" is one more feature, known in every row
            supports, known, null = [*supports, null], [*known, self.n_rows], None
        oi = overlapping_index(supports, known, null_support=null)
        c0 = math.nan
        if self.has_complexity:
            n_primitives = len(self.lineage.primitives)
            c0 = complexity(len(stage.features), n_primitives, self.n_distinct_rows)
        length = mean_length(self.lineage.lengths(stage.features))
        return Indicators(stage.iteration, len(stage.features), length, oi, c0, rms(oi, c0))

    @property
    def has_complexity(self) -> bool:
        """True if C0 is defined, which needs more distinct rows than primitives."""
        return self.n_distinct_rows > len(self.lineage.primitives)


@dataclass(eq=False, slots=True)
class Step:
    """The merges of an iteration and the indicators after it. The first step has the primitives.

    ``gain`` is the gain of the step by its criterion. Merges are created on first use, because
    their evidence takes longer than the merge itself. Indicators are also computed on first use,
    because workers may still be counting distinct rows.
    """

    iteration: int
    gain: float
    _state: RunState
    _numbers: tuple[int, float, float, float, float]
    _merges: Merges
    _indicators: Indicators | None = None

    @property
    def indicators(self) -> Indicators:
        if self._indicators is None:
            # compact numbers, because long runs have many steps
            n_features, length, oi, bits, evidence = self._numbers
            n_distinct_rows, n_columns = self._state.n_distinct_rows(), self._state.n_columns
            c0 = math.nan
            # C0 needs more distinct rows than primitives
            if n_distinct_rows > n_columns:
                c0 = complexity(n_features, n_columns, n_distinct_rows)
            numbers = length, oi, c0, rms(oi, c0), bits, evidence
            self._indicators = Indicators(self.iteration, n_features, *numbers)
        return self._indicators

    @property
    def merges(self) -> tuple[Merge, ...]:
        if not isinstance(self._merges, tuple):
            self._merges = self._merges(self.iteration)
        return self._merges


Merges = tuple[Merge, ...] | Callable[[int], tuple[Merge, ...]]
Numbers = tuple[int | None, int | None, int | None]
"""The features that replace a pair: ``i ∧ j``, ``¬i ∧ j`` and ``i ∧ ¬j``.

They are numbers in the lineage, or ``None`` for a feature that is never true.
"""
ThreeCounts = tuple[int, int, int]


class RunState:
    """The features of a run by their numbers in the lineage: supports, costs, lengths."""

    def __init__(
        self,
        names: Sequence[str],
        supports: Counts,
        observed: int | Counts,
        n_rows: int,
        n_distinct_rows: Callable[[], int],
        null_rows: int | None = None,
        *,
        counts_bits: bool = True,
    ) -> None:
        self.lineage = Lineage(names)
        self.n_columns = len(names)
        self.null_rows = null_rows
        self.n_rows = n_rows
        self.n_distinct_rows = n_distinct_rows
        self.supports: list[int] = supports.tolist()
        self.observed: list[int] | None = None if isinstance(observed, int) else observed.tolist()
        self.primitive_supports = tuple(self.supports)
        # for each pattern, the bits that name its primitives, and their number
        self.costs: list[float] = primitive_costs(supports).tolist()
        self.n_tags = [1] * len(self.supports)
        self.present: dict[int, None] = dict.fromkeys(range(len(self.supports)))
        self.total = sum(self.supports)
        self.n_used = int(np.count_nonzero(supports))
        self._total_length = len(self.supports)
        # Krimp's code, if the criterion uses it
        self.bits = 0.0 if counts_bits else math.nan
        if self.observed is not None:
            # sums over the current features, so the cost of a step does not depend on their number
            self._known = Counter[int]()
            self._shares, self._codes, self._names = _ExactSum(), _ExactSum(), _ExactSum()
            for number, known in enumerate(self.observed):
                self._add(number, known, 1)
        if counts_bits:
            self.bits = self._length_in_bits()
        # evidence of all merges minus their costs, if the criterion uses it
        self.evidence = math.nan if counts_bits else 0.0
        # columns that are true in at least one row
        self.n_occurring = self.n_used

    def enter(
        self,
        left: int,
        right: int,
        counts: ThreeCounts,
        made: Numbers,
        parts: ThreeCounts,
        known: ThreeCounts | None = None,
    ) -> float:
        """Replace a pair of features, and return the bits it saved in Krimp's code, if counted.

        ``counts`` are the two supports and the joint count of the pair in the rows in which both
        are known. ``parts`` are the supports of the new features. With missing cells, ``known``
        counts the rows in which each of them is known.
        """
        saved = math.nan
        supports, lengths, present = self.supports, self.lineage.all_lengths, self.present
        costs, n_tags = self.costs, self.n_tags
        left_cost, right_cost = costs[left], costs[right]
        if not math.isnan(self.bits):
            saved = pair_saving(*counts, self.total, self.n_used, left_cost, right_cost)
        del present[left], present[right]
        # a pattern is what a feature asserts: i ∧ ¬j asserts what i does
        pattern_costs = left_cost + right_cost, right_cost, left_cost
        in_tags = n_tags[left] + n_tags[right], n_tags[right], n_tags[left]
        n = len(supports)
        self.total -= supports[left] + supports[right]
        if made == (n, n + 1, n + 2):
            # as nearly always: all three occur
            supports += parts
            costs += pattern_costs
            n_tags += in_tags
            present[n] = present[n + 1] = present[n + 2] = None
            n_made = 3
        else:
            for new, support, cost, tags in zip(made, parts, pattern_costs, in_tags, strict=True):
                if new is not None:
                    # they come in the order of their numbers
                    if new != len(supports):
                        raise ValueError(f"feature {new} is out of order")
                    supports.append(support)
                    costs.append(cost)
                    n_tags.append(tags)
                    present[new] = None
            n_made = len(supports) - n
        self.total += sum(supports[n:])
        # each has the literals of both
        self._total_length += (n_made - 1) * (lengths[left] + lengths[right])
        self.n_used += n_made - 2
        if self.observed is not None and known is not None:
            for new, n_known in zip(made, known, strict=True):
                self.observed += [n_known] * (new is not None)
            for number in (left, right, *made):
                if number is not None:
                    self._add(number, self.observed[number], 1 if number in present else -1)
        if not math.isnan(saved):
            self.bits = self._length_in_bits() if self.observed else self.bits - saved
        return saved

    def make_step(self, iteration: int, merges: Merges = (), gain: float = 0.0) -> Step:
        """Return the step to the current features; its indicators may wait for counts of rows."""
        length = mean_length_of(self._total_length, len(self.present))
        # the paper's "null" is one more feature, known in every row
        null, rows, overlap = self.null_rows, self.n_rows, 0.0
        n_others = len(self.present) + (null is not None) - 1
        if self.observed is not None:
            rows = next(iter(self._known)) if len(self._known) == 1 else 0
        if n_others < 1:
            pass
        elif rows and (null is None or rows == self.n_rows):
            overlap = (self.total + (null or 0) - rows) / (rows * n_others)
        else:
            shares = [*self._shares.parts, *([] if null is None else [null / self.n_rows])]
            overlap = (math.fsum(shares) - 1) / n_others
        numbers = len(self.present), length, overlap, self.bits, self.evidence
        return Step(iteration, gain, self, numbers, merges)

    def feature_set(self, steps: Iterable[Step]) -> FeatureSet:
        """Return the features after some steps: kept features first, then new ones."""
        merges = tuple(chain.from_iterable(map(attrgetter("merges"), steps)))
        counts = self.primitive_supports, self.counts
        return FeatureSet.compact(self.lineage, self.supports, self.n_rows, merges, *counts)

    @property
    def counts(self) -> list[tuple[int, int]] | None:
        """Rows in which each feature is true, and is known; None without missing cells."""
        observed = self.observed
        return None if observed is None else list(zip(self.supports, observed, strict=True))

    def sizes(self, numbers: Iterable[int], at_most: int, *, in_tags: bool) -> NDArray[np.int64]:
        """Count the tags or literals of features, with a maximum of the limit plus 1."""
        size = self.n_tags.__getitem__ if in_tags else self.lineage.length
        return np.array([min(size(number), at_most + 1) for number in numbers], np.int64)

    def _add(self, number: int, known: int, sign: int) -> None:
        """Add a feature to the sums over the current features, or subtract it (−1)."""
        support = self.supports[number]
        self._known[known] += sign
        if not self._known[known]:
            del self._known[known]
        if known:
            self._shares.add(sign * (support / known))
        if support and not math.isnan(self.bits):
            self._codes.add(sign * ((support + 1) * math.log2(support)))
            self._names.add(sign * self.costs[number])

    def _length_in_bits(self) -> float:
        if not self.total:
            return 0.0
        if self.observed is not None:
            whole = (self.total + self.n_used) * math.log2(self.total)
            codes = (-part for part in self._codes.parts)
            return math.fsum([whole, *codes, *self._names.parts])
        numbers = [number for number in self.present if self.supports[number]]
        supports = np.array([self.supports[number] for number in numbers], np.float64)
        cells = (supports + 1) * (math.log2(self.total) - np.log2(supports))
        return math.fsum([*cells.tolist(), *(self.costs[number] for number in numbers)])


class _ExactSum:
    """An exact sum of floats: adding a number and subtracting it again changes nothing."""

    def __init__(self) -> None:
        self.parts: list[float] = []

    def add(self, value: float) -> None:
        """Add a number to the non-overlapping partial sums, like ``math.fsum``."""
        parts = []
        for part in self.parts:
            large, small = (value, part) if abs(value) >= abs(part) else (part, value)
            value = large + small
            rest = small - (value - large)
            if rest:
                parts.append(rest)
        self.parts = [*parts, value]


def write_merges(
    joined: Iterable[tuple[int, int, int, Numbers, float]], pairs: Pairs
) -> tuple[Merge, ...]:
    """Create merges from tests and the iteration, pair, new features and saving of each merge."""
    cutoff = pairs.cutoff
    numbers = pairs.r, pairs.score, pairs.p_value, pairs.p_adjusted, cutoff.threshold
    counts = pairs.counts
    columns = np.broadcast_arrays(counts.joint, counts.n_rows, *numbers)
    compared, size, n_significant = cutoff.compared, cutoff.family_size, cutoff.n_significant
    merges = []
    for (iteration, left, right, made, saved), *tests in zip(
        joined, *map(np.ndarray.tolist, columns), strict=True
    ):
        joint, n_rows, r, score, p, adjusted, threshold = tests
        both, right_only, left_only = made
        of_pair = (iteration, left, right, both, right_only, left_only, n_rows, joint)
        scores = (r, score, p, adjusted, threshold)
        merges.append(Merge(*of_pair, *scores, compared, size, saved, n_significant))
    return tuple(merges)
