"""The books of a run: its features, how often each is true, and what each merge saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, Counts
from conjunct.features import (
    Lineage,
    Merge,
    bits_saved,
    complexity,
    mean_length_of,
    overlapping_index,
    primitive_costs,
    rms,
)
from conjunct.ufc.course import Balance, Indicators


@dataclass(frozen=True, eq=False)
class Step:
    """What an iteration replaced, and the indicators after it. The first step is the primitives."""

    indicators: Indicators
    merges: tuple[Merge, ...] = ()
    balance: Callable[[], Balance] = field(default=lambda: Balance(0.0, 0.0))
    """What is left to replace; to be asked for before the next step is made, if at all."""
    is_replayed: bool = False

    @property
    def iteration(self) -> int:
        return self.indicators.iteration

    @property
    def saved(self) -> float:
        """Bits that the merges of the step saved together."""
        return math.fsum(merge.saved for merge in self.merges)


@dataclass(frozen=True)
class Made:
    """The features that take the place of a pair: ``i ∧ j``, ``¬i ∧ j`` and ``i ∧ ¬j``.

    Numbers in the lineage, ``None`` for one that occurs nowhere; how often each is true, and in
    how many rows it is known where cells are missing.
    """

    numbers: tuple[int | None, int | None, int | None]
    supports: tuple[int, int, int]
    observed: tuple[int, int, int] | None = None


class Redundancy:
    """How much there was to replace at first, of which all later balances are shares."""

    def __init__(self) -> None:
        self._first: tuple[int, int] | None = None

    def balance(self, meetings: int, n_correlated: int, ledger: Ledger) -> Balance:
        """What is left to replace, and what was added; the first to be asked for sets the scale.

        ``meetings`` are the rows in which candidates for replacement meet, summed over pairs, and
        ``n_correlated`` the columns in such a pair.
        """
        if self._first is None:
            self._first = meetings, n_correlated
        most, correlated = self._first
        growth = len(ledger.present) - len(ledger.lineage.primitives)
        return Balance(meetings / max(most, 1), growth / max(correlated, 1))


class Ledger:
    """What is known of the features of a run, by their numbers in the lineage."""

    def __init__(
        self,
        lineage: Lineage,
        supports: Counts,
        observed: int | Counts,
        n_rows: int,
        n_distinct_rows: int,
        null_support: int | None = None,
    ) -> None:
        self.lineage = lineage
        self.n_rows = n_rows
        self.n_distinct_rows = n_distinct_rows
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

    @property
    def has_complexity(self) -> bool:
        """Whether C0 has a meaning: there must be more distinct rows than primitives."""
        return self.n_distinct_rows > len(self.lineage.primitives)

    def enter(self, merge: Merge, counts: Contingency, made: Made) -> Merge:
        """Replace a pair of features; the merge, with what it saved.

        ``counts`` are those of the pair, in the rows in which both are known.
        """
        left_cost, right_cost = self.costs[merge.left], self.costs[merge.right]
        saved = bits_saved(
            counts.left_support[0],
            counts.right_support[0],
            counts.joint[0],
            self.total,
            self.n_used,
            left_cost,
            right_cost,
        )
        for number in (merge.left, merge.right):
            del self.present[number]
            self.total -= self.supports[number]
            self.n_used -= 1
            self._total_length -= self.lineage.length(number)
        observed = made.observed or made.supports
        for new, support, known in zip(made.numbers, made.supports, observed, strict=True):
            if new is not None:
                self._write(new, merge, support, known)
                self.present[new] = None
                self.total += support
                self.n_used += 1
                self._total_length += self.lineage.length(new)
        self.bits = self._length_in_bits() if self.observed else self.bits - float(saved)
        return replace(merge, saved=float(saved))

    def indicators(self, iteration: int) -> Indicators:
        n_features = len(self.present)
        oi = self._overlap()
        c0 = math.nan
        if self.has_complexity:
            c0 = complexity(n_features, len(self.lineage.primitives), self.n_distinct_rows)
        length = mean_length_of(self._total_length, n_features)
        return Indicators(iteration, n_features, length, oi, c0, rms(oi, c0), self.bits)

    def features_after(self, merges: Iterable[Merge]) -> tuple[int, ...]:
        """The features that some merges leave: those that were kept, then those that were made."""
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
        bits: float,
    ) -> None:
        """Go on from where an earlier run came to."""
        known = supports if observed is None else observed
        for merge in merges:
            for number in merge.made:
                self._write(number, merge, supports[number], known[number])
        self.present = dict.fromkeys(self.features_after(merges))
        self.total = sum(self.supports[number] for number in self.present)
        self.n_used = sum(self.supports[number] > 0 for number in self.present)
        self._total_length = sum(self.lineage.lengths(self.present))
        self.bits = bits

    def sizes(self, numbers: Iterable[int], at_most: int, *, in_tags: bool) -> NDArray[np.int64]:
        """Tags or literals of features; those beyond a limit as a little more than it."""
        size = self.n_tags.__getitem__ if in_tags else self.lineage.length
        return np.array([min(size(number), at_most + 1) for number in numbers], np.int64)

    def _write(self, number: int, merge: Merge, support: int, observed: int) -> None:
        """Enter a feature that a merge made; they come in the order of their numbers."""
        if number != len(self.supports):
            raise ValueError(f"feature {number} is not the next one")
        # a pattern is what a feature asserts: i ∧ ¬j asserts what i does
        asserted = [merge.left] * (number != merge.right_only)
        asserted += [merge.right] * (number != merge.left_only)
        self.supports.append(support)
        self.costs.append(sum(self.costs[part] for part in asserted))
        self.n_tags.append(sum(self.n_tags[part] for part in asserted))
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
