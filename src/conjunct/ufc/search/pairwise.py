"""Pairwise search: the best pair gives way to its conjunctions, and only what is new is judged.

Each column has an upper bound of what its best pair is worth. A merge changes three columns, whose
bounds are made anew; the bounds of all others stay valid, but for a small rise that is known. So
the best pair of all is found by looking at the few columns whose bounds come first, until the
first one is exact: never at all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency, Counts
from conjunct.counting import CompiledMerging, Growing, Merging
from conjunct.features import Merge, bits_saved, largest_rise, rounded
from conjunct.ufc.association import Floats, PairFilter, phi
from conjunct.ufc.course import Balance
from conjunct.ufc.search.ledger import Ledger, Made, Redundancy, Step
from conjunct.ufc.search.pairing import in_order

if TYPE_CHECKING:
    from conjunct.ufc.criteria.base import Criterion, Judge

# the feature of a column that is true nowhere any more
_GONE = -1

LeftOut = frozenset[frozenset[tuple[str, ...]]]
"""Merges that are not to be made, each by the patterns of its two features."""


class Pair(NamedTuple):
    """Two columns, and how often they are true in the rows in which both are known."""

    left: int
    right: int
    n_rows: int
    left_support: int
    right_support: int
    joint: int

    @classmethod
    def of(cls, pairs: Contingency) -> Pair:
        """The only one of some pairs."""
        n_rows = pairs.n_rows if isinstance(pairs.n_rows, int) else int(pairs.n_rows[0])
        left, right = int(pairs.left[0]), int(pairs.right[0])
        return cls(left, right, n_rows, *(int(counts[0]) for counts in pairs.table[1:]))

    def swapped(self) -> Pair:
        """The same pair, the other column first."""
        left, right, n_rows, left_support, right_support, joint = self
        return Pair(right, left, n_rows, right_support, left_support, joint)


class Order(Protocol):
    """What a pair is worth. It may change with merges of other pairs, but hardly upwards."""

    def worth(self, pairs: Contingency) -> Floats: ...

    def second(self, pairs: Contingency) -> Floats:
        """What decides between pairs of equal worth, before their texts do."""
        ...

    def score(self, pairs: Contingency, saved: Sequence[float]) -> Floats:
        """What is told of pairs that were taken, and saved so many bits."""
        ...

    def merged(self, left: int, right: int) -> None:
        """Two columns were merged, and the new one has the next position."""
        ...

    def rise(self) -> float:
        """By how much at most the last merge has made any pair worth more."""
        ...


class ByJointCount:
    """The pair with the largest joint count first: steepest descent on OI."""

    def __init__(self, pair_filter: PairFilter) -> None:
        self._filter = pair_filter

    def worth(self, pairs: Contingency) -> Floats:
        return pairs.joint.astype(np.float64)

    def second(self, pairs: Contingency) -> Floats:
        return self._filter.score(phi(*pairs.table), pairs)

    def score(self, pairs: Contingency, saved: Sequence[float]) -> Floats:
        return self.second(pairs)

    def merged(self, left: int, right: int) -> None:
        pass

    def rise(self) -> float:
        return 0.0


class BySavedBits:
    """The pair that shortens the description most first.

    Where cells are missing, a pair is judged in the rows in which both are known, and S is the
    number of cells that are known to be true.
    """

    def __init__(self, merging: Merging, ledger: Ledger, features: list[int]) -> None:
        self._merging = merging
        self._ledger = ledger
        costs = [0.0 if number == _GONE else ledger.costs[number] for number in features]
        self._costs = Growing(np.array(costs))
        self._total, self._n_used = ledger.total, ledger.n_used
        self._before = self._total, self._n_used

    @property
    def costs(self) -> Floats:
        """Bits that name the pattern of each column."""
        return self._costs.values

    def worth(self, pairs: Contingency) -> Floats:
        costs = self._costs.values
        return rounded(
            bits_saved(
                pairs.left_support,
                pairs.right_support,
                pairs.joint,
                self._total,
                self._n_used,
                costs[pairs.left],
                costs[pairs.right],
            )
        )

    def second(self, pairs: Contingency) -> Floats:
        return pairs.joint.astype(np.float64)

    def score(self, pairs: Contingency, saved: Sequence[float]) -> Floats:
        return rounded(np.array(saved))

    def merged(self, left: int, right: int) -> None:
        costs, ledger = self._costs.values, self._ledger
        self._costs.append(costs[left] + costs[right])
        self._before = self._total, self._n_used
        self._total, self._n_used = ledger.total, ledger.n_used

    def rise(self) -> float:
        total, n_used = self._before
        joint, added = total - self._total, self._n_used - n_used
        return largest_rise(total, n_used, joint, added, int(self._merging.supports.max()))


class PairwiseSearch:
    """One pair after the other."""

    def __init__(
        self,
        merging: Merging,
        ledger: Ledger,
        criterion: Criterion,
        judge: Judge,
        max_length: int | None,
        redundancy: Redundancy,
        merges: tuple[Merge, ...] = (),
        left_out: LeftOut = frozenset(),
    ) -> None:
        self.lineage = ledger.lineage
        self._merging = merging
        self._ledger = ledger
        self._judge = judge
        self._criterion = criterion
        self._max_length = max_length
        self._iteration = len(merges)
        # the feature of each column
        self._features = columns_after(merges, len(ledger.lineage.primitives))
        self._order = criterion.order(merging, ledger, judge, self._features)
        self._sizes = Growing(self._sizes_of(self._features))
        self._left_out = left_out
        self._redundancy = redundancy
        self._taken = _Taken(judge, self._order)
        self._best: BestPairs | CompiledBest
        if isinstance(merging, CompiledMerging) and _is_in_c(self._order, judge.pair_filter):
            alpha, of_columns = judge.pair_filter.alpha, (self._order.costs, self._sizes.values)
            merging.set_order(ledger.total, ledger.n_used, alpha, max_length, *of_columns)
            self._best = CompiledBest(merging, judge.pair_filter, self._order, self._by_text)
            self._forbid()
        else:
            self._best = BestPairs(
                merging, judge.pair_filter, self._order, self._fits, self._by_text
            )

    def first(self) -> Step:
        return Step(self._ledger.indicators(self._iteration), balance=self._balance)

    def steps(self) -> Iterator[Step]:
        """The next merges, for as long as a pair may be joined."""
        while (pair := self._best.best()) is not None:
            self._iteration += 1
            saved = self._merged(pair)
            merges = partial(self._taken.merge, len(self._taken) - 1)
            indicators = self._ledger.indicators(self._iteration)
            yield Step(indicators, merges, (saved,), self._balance)

    def _merged(self, pair: Pair) -> float:
        """Replace a pair of columns, everywhere it is known; the bits that it saved."""
        features = self._features
        if features[pair.left] > features[pair.right]:
            # the earlier feature is written first
            pair = pair.swapped()
        left, right = pair.left, pair.right
        f, g = features[left], features[right]
        new = self._merging.merge(left, right)
        made = self._made(pair, new)
        saved = self._ledger.enter(f, g, pair[3:], made)
        self._taken.add(self._iteration, f, g, made, pair, saved)
        both, right_only, left_only = (_GONE if n is None else n for n in made.numbers)
        features[left], features[right] = left_only, right_only
        features.append(both)
        if self._max_length is not None:
            self._sizes.append(0)
            self._sizes.values[[left, right, new]] = self._sizes_of([left_only, right_only, both])
        self._order.merged(left, right)
        self._best.merged(left, right)
        if self._left_out:
            self._forbid()
        return saved

    def _made(self, pair: Pair, new: int) -> Made:
        left, right, _, left_support, right_support, joint = pair
        known = None
        supports = joint, right_support - joint, left_support - joint
        observed = self._merging.observed
        if not isinstance(observed, int):
            # the counts of the pair are those of the rows in which both are known
            columns = [new, right, left]
            supports = tuple(self._merging.supports[columns].tolist())
            known = (int(observed[new]), int(observed[right]), int(observed[left]))
        f, g, conjoin = self._features[left], self._features[right], self._ledger.lineage.conjoin
        both, right_only, left_only = supports
        numbers = (
            conjoin(f, g) if both else None,
            conjoin(~f, g) if right_only else None,
            conjoin(f, ~g) if left_only else None,
        )
        return Made(numbers, supports, known)

    def _forbid(self) -> None:
        """Keep C from joining what is to be left out."""
        if isinstance(self._best, CompiledBest):
            for i, j in self._pairs_left_out():
                self._best.forbid(i, j)

    def _sizes_of(self, features: list[int]) -> NDArray[np.int64]:
        if self._max_length is None:
            return np.zeros(len(features), np.int64)
        # a column that is gone meets no other, whatever its size
        numbers = (max(number, 0) for number in features)
        in_tags = self._criterion.counts_tags
        return self._ledger.sizes(numbers, self._max_length, in_tags=in_tags)

    def _fits(self, pairs: Contingency) -> NDArray[np.bool_]:
        """Which pairs are not too long together, and not to be left out."""
        fits = np.ones(len(pairs), np.bool_)
        if self._max_length is not None:
            sizes = self._sizes.values
            fits = np.asarray(sizes[pairs.left] + sizes[pairs.right] <= self._max_length)
        for i, j in self._pairs_left_out():
            fits &= ~((pairs.left == i) & (pairs.right == j))
            fits &= ~((pairs.left == j) & (pairs.right == i))
        return fits

    def _pairs_left_out(self) -> list[tuple[int, int]]:
        """The pairs of columns that are not to be merged; a column keeps its pattern."""
        if not self._left_out:
            return []
        # no two features have the same pattern
        column = {
            self.lineage.pattern(feature): column
            for column, feature in enumerate(self._features)
            if feature != _GONE
        }
        return [
            (column[one], column[other])
            for one, other in self._left_out
            if one in column and other in column
        ]

    def _by_text(self, columns: list[int]) -> list[int]:
        column_of = {self._features[column]: column for column in columns}
        return [column_of[feature] for feature in self._ledger.lineage.by_text(column_of)]

    def _balance(self) -> Balance:
        meetings = 0
        correlated: set[int] = set()
        for column in range(self._merging.n_columns):
            pairs = self._merging.row(column)
            pairs = pairs.take(np.flatnonzero((pairs.right > column) & self._fits(pairs)))
            pairs = pairs.take(np.flatnonzero(self._judge.pair_filter.accepts(pairs)))
            meetings += int(pairs.joint.sum())
            correlated.update(pairs.left.tolist(), pairs.right.tolist())
        return self._redundancy.balance(meetings, len(correlated), self._ledger)


class _Fits(Protocol):
    def __call__(self, pairs: Contingency) -> NDArray[np.bool_]: ...


class _ByText(Protocol):
    def __call__(self, columns: list[int]) -> list[int]: ...


class BestPairs:
    """The pairs that may be joined, of which the best is asked for again and again.

    A bound is kept less the rise of its time, so that all bounds rise together.
    """

    def __init__(
        self, merging: Merging, pair_filter: PairFilter, order: Order, fits: _Fits, by_text: _ByText
    ) -> None:
        self._merging = merging
        self._filter = pair_filter
        self._order = order
        self._fits = fits
        self._by_text = by_text
        self._bounds = Growing(self._first_bounds())
        # after how many merges each bound was made
        self._made_at = Growing(np.full(merging.n_columns, -1))
        self._n_merges = 0
        self._rise = 0.0
        # the pairs of columns whose bounds are exact, and what they are worth
        self._rows: dict[int, tuple[Contingency, Floats]] = {}
        # partners that the exact test has refused, for as long as neither column changes
        self._refused: dict[int, set[int]] = {}

    def best(self) -> Pair | None:
        """The best pair; ``None`` if no pair may be joined."""
        while True:
            bounds = self._bounds.values
            highest = bounds.max(initial=-math.inf)
            if highest == -math.inf:
                return None
            # every column whose bound reaches the first one has a say
            first = np.flatnonzero(bounds >= highest)
            stale = first[self._made_at.values[first] != self._n_merges].tolist()
            for column in stale:
                self._renew(column)
            if not stale and not self._refuses_some(first.tolist()):
                return self._first_of(first.tolist())

    def merged(self, left: int, right: int) -> None:
        """Two columns were merged, and the new one has the next position."""
        self._n_merges += 1
        self._rise += self._order.rise()
        self._rows.clear()
        for column in (left, right):
            for partner in self._refused.pop(column, ()):
                self._refused[partner].discard(column)
        self._bounds.append(math.inf)
        self._made_at.append(-1)
        self._bounds.values[[left, right]] = math.inf

    def _first_bounds(self) -> Floats:
        """Each pair is looked at once, and is in the bound of one of its columns."""
        bounds = np.full(self._merging.n_columns, -math.inf)
        for pairs in self._merging.first.pair_blocks():
            # all tests at once: where chance explains most pairs, one by one would take long
            some = self._allowed(pairs.take(np.flatnonzero(self._filter.accepts(pairs))))
            np.maximum.at(bounds, some.left, self._order.worth(some))
        return bounds

    def _allowed(self, pairs: Contingency) -> Contingency:
        pairs = pairs.take(np.flatnonzero(self._filter.may_accept(pairs)))
        return pairs.take(np.flatnonzero(self._fits(pairs)))

    def _renew(self, column: int) -> None:
        """Make the bound of a column exact, but for pairs that the exact test would refuse."""
        pairs = self._allowed(self._merging.row(column))
        if refused := self._refused.get(column):
            pairs = pairs.take(np.flatnonzero(~np.isin(pairs.right, list(refused))))
        self._keep(column, pairs, self._order.worth(pairs))

    def _keep(self, column: int, pairs: Contingency, worth: Floats) -> None:
        """Keep the pairs of a column, and their best as its bound."""
        self._rows[column] = pairs, worth
        self._bounds.values[column] = worth.max(initial=-math.inf) - self._rise
        self._made_at.values[column] = self._n_merges

    def _refuses_some(self, columns: list[int]) -> bool:
        """Put the pairs that would come first to the exact test; whether it refuses any."""
        if not self._filter.needs_more_than_r:
            return False
        refuses_any = False
        for column in columns:
            pairs, worth = self._rows[column]
            # what no other column can beat is tested together
            others = np.delete(self._bounds.values, column).max(initial=-math.inf)
            first = np.flatnonzero(worth >= min(others + self._rise, worth.max()))
            refused = first[~self._filter.confirms(pairs.take(first))]
            if len(refused):
                refuses_any = True
                for partner in pairs.right[refused].tolist():
                    self._refused.setdefault(column, set()).add(partner)
                    self._refused.setdefault(partner, set()).add(column)
                stays = np.ones(len(pairs), np.bool_)
                stays[refused] = False
                self._keep(column, pairs.take(np.flatnonzero(stays)), worth[stays])
        return refuses_any

    def _first_of(self, columns: list[int]) -> Pair:
        """The best of the pairs of some columns, whose bounds are exact and the same."""
        found = []
        for column in columns:
            pairs, worth = self._rows[column]
            found.append(pairs.take(np.flatnonzero(worth == worth.max())))
        ties = Contingency.joined(found, self._merging.n_rows)
        left, right = _first_of_ties(ties, self._order, self._by_text)
        row = self._merging.row(left)
        return Pair.of(row.take(np.flatnonzero(row.right == right)))


def _first_of_ties(ties: Contingency, order: Order, by_text: _ByText) -> tuple[int, int]:
    """The columns of the pair that comes first, of those of equal worth."""
    second = order.second(ties)
    ties = ties.take(np.flatnonzero(second == second.max()))
    ends = zip(ties.left.tolist(), ties.right.tolist(), strict=True)
    pairs_of_columns = sorted({(min(pair), max(pair)) for pair in ends})
    return pairs_of_columns[in_order(pairs_of_columns, by_text)[0]]


def _is_in_c(order: Order, pair_filter: PairFilter) -> TypeGuard[BySavedBits]:
    """Whether C knows what pairs are worth, and which may be joined."""
    tests = pair_filter.test == "exact" if pair_filter.alpha else pair_filter.threshold == 0
    is_plain = pair_filter.measure == "phi" and not pair_filter.prune
    return isinstance(order, BySavedBits) and tests and is_plain


class CompiledBest:
    """The same as ``BestPairs``, found by C; where rounding or a test is a close call, NumPy's
    numbers decide, so that the pair is the same.
    """

    def __init__(
        self, merging: CompiledMerging, pair_filter: PairFilter, order: Order, by_text: _ByText
    ) -> None:
        self._merging = merging
        self._filter = pair_filter
        self._order = order
        self._by_text = by_text

    def best(self) -> Pair | None:
        """The best pair; ``None`` if no pair may be joined."""
        while found := self._merging.candidates():
            pairs = [Pair(i, j, self._merging.n_rows, *counts) for i, j, *counts in found]
            pair = pairs[0] if len(pairs) == 1 else self._first_of(pairs)
            if pair is not None:
                return pair
        return None

    def merged(self, left: int, right: int) -> None:
        """Two columns were merged: C knows."""

    def forbid(self, left: int, right: int) -> None:
        """A pair that is never to be joined."""
        self._merging.forbid(left, right, for_ever=True)

    def _first_of(self, pairs: list[Pair]) -> Pair | None:
        """The best of some pairs; ``None`` if the test refuses any, which C will leave out."""
        by_columns = {(pair.left, pair.right): pair for pair in pairs}
        counts = _counts_of(list(by_columns.values()), self._merging.n_rows)
        refused = counts.take(np.flatnonzero(~self._filter.confirms(counts)))
        if len(refused):
            for left, right in zip(refused.left.tolist(), refused.right.tolist(), strict=True):
                self._merging.forbid(left, right, for_ever=False)
            return None
        worth = self._order.worth(counts)
        ties = counts.take(np.flatnonzero(worth == worth.max()))
        return by_columns[_first_of_ties(ties, self._order, self._by_text)]


def _counts_of(pairs: Sequence[Pair], n_rows: int | Counts) -> Contingency:
    left, right, _, *counts = np.array(pairs, np.int64).reshape(-1, 6).T
    return Contingency(left, right, n_rows, *counts)


class _Taken:
    """The pairs that were taken. What speaks for them is told of many at once, when asked for."""

    def __init__(self, judge: Judge, order: Order) -> None:
        self._judge = judge
        self._order = order
        self._open: list[tuple[int, int, int, Made, Pair, float]] = []
        self._merges: list[Merge] = []

    def __len__(self) -> int:
        return len(self._merges) + len(self._open)

    def add(
        self, iteration: int, left: int, right: int, made: Made, pair: Pair, saved: float
    ) -> None:
        self._open.append((iteration, left, right, made, pair, saved))

    def merge(self, k: int) -> tuple[Merge]:
        """The k-th merge, as the merges of a step."""
        if k >= len(self._merges):
            self._merges += self._written()
            self._open.clear()
        return (self._merges[k],)

    def _written(self) -> Iterator[Merge]:
        *_, pairs, saved = zip(*self._open, strict=True)
        n_rows = np.array([pair.n_rows for pair in pairs])
        same = bool((n_rows == n_rows[0]).all())
        counts = _counts_of(pairs, int(n_rows[0]) if same else n_rows)
        evidence = self._judge.evidence(counts, self._order.score(counts, saved))
        cut_off = evidence.cut_off
        lines = np.column_stack(
            [
                evidence.r,
                evidence.score,
                evidence.p_value,
                evidence.p_adjusted,
                np.broadcast_to(cut_off.threshold, len(counts)),
            ]
        ).tolist()
        for taken, line in zip(self._open, lines, strict=True):
            iteration, left, right, made, pair, saved_by_it = taken
            r, score, p_value, p_adjusted, threshold = line
            yield Merge(
                iteration,
                left,
                right,
                *made.numbers,
                pair.n_rows,
                pair.joint,
                r,
                score,
                p_value,
                p_adjusted,
                threshold,
                cut_off.compared,
                cut_off.family_size,
                saved_by_it,
            )


def columns_after(merges: tuple[Merge, ...], n_primitives: int) -> list[int]:
    """The feature of each column after some merges, made one at a time."""
    features = list(range(n_primitives))
    column = dict(enumerate(features))
    for merge in merges:
        left, right = column.pop(merge.left), column.pop(merge.right)
        for k, number in ((left, merge.left_only), (right, merge.right_only)):
            features[k] = _GONE if number is None else number
            column[features[k]] = k
        features.append(_GONE if merge.both is None else merge.both)
        column[features[-1]] = len(features) - 1
    return features
