"""Pairwise search: the best pair gives way to its conjunctions, and only what is new is judged.

Each column has an upper bound of what its best pair is worth. A merge changes three columns, whose
bounds are made anew; the bounds of all others stay valid, but for a small rise that is known. So
the best pair of all is found by looking at the few columns whose bounds come first, until the
first one is exact: never at all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from conjunct.columns import Contingency
from conjunct.counting import Growing, Merging
from conjunct.features import Merge, bits_saved, largest_rise, rounded
from conjunct.ufc.association import Floats, PairFilter, Pairs, phi
from conjunct.ufc.course import Balance
from conjunct.ufc.search.ledger import Ledger, Made, Redundancy, Step
from conjunct.ufc.search.pairing import in_order

if TYPE_CHECKING:
    from conjunct.ufc.criteria.base import Criterion, Judge

# the feature of a column that is true nowhere any more
_GONE = -1

LeftOut = frozenset[frozenset[tuple[str, ...]]]
"""Merges that are not to be made, each by the patterns of its two features."""


class Order(Protocol):
    """What a pair is worth. It may change with merges of other pairs, but hardly upwards."""

    rise: float
    """By how much at most any pair has become worth more since the beginning."""

    def worth(self, pairs: Contingency) -> Floats: ...

    def second(self, pairs: Contingency) -> Floats:
        """What decides between pairs of equal worth, before their texts do."""
        ...

    def score(self, pairs: Contingency) -> Floats:
        """What is told of a pair that was taken."""
        ...

    def merged(self, left: int, right: int) -> None:
        """Two columns were merged, and the new one has the next position."""
        ...


class ByJointCount:
    """The pair with the largest joint count first: steepest descent on OI."""

    rise = 0.0

    def __init__(self, pair_filter: PairFilter) -> None:
        self._filter = pair_filter

    def worth(self, pairs: Contingency) -> Floats:
        return pairs.joint.astype(np.float64)

    def second(self, pairs: Contingency) -> Floats:
        return self.score(pairs)

    def score(self, pairs: Contingency) -> Floats:
        return self._filter.score(phi(*pairs.table), pairs)

    def merged(self, left: int, right: int) -> None:
        pass


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
        self.rise = 0.0

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

    def score(self, pairs: Contingency) -> Floats:
        return self.worth(pairs)

    def merged(self, left: int, right: int) -> None:
        costs, ledger = self._costs.values, self._ledger
        self._costs.append(costs[left] + costs[right])
        self.rise += largest_rise(
            self._total,
            self._n_used,
            self._total - ledger.total,
            ledger.n_used - self._n_used,
            int(self._merging.supports.max()),
        )
        self._total, self._n_used = ledger.total, ledger.n_used


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
        self._best = BestPairs(merging, judge.pair_filter, self._order, self._fits, self._by_text)
        self._redundancy = redundancy

    def first(self) -> Step:
        return self._step(())

    def steps(self) -> Iterator[Step]:
        """The next merges, for as long as a pair may be joined."""
        while (pair := self._best.best()) is not None:
            self._iteration += 1
            yield self._step((self._merged(pair),))

    def _step(self, merges: tuple[Merge, ...]) -> Step:
        return Step(self._ledger.indicators(self._iteration), merges, cache(self._balance))

    def _merged(self, pair: Contingency) -> Merge:
        """Replace a pair of columns, everywhere it is known."""
        if self._features[int(pair.left[0])] > self._features[int(pair.right[0])]:
            # the earlier feature is written first
            pair = pair.swapped()
        left, right = int(pair.left[0]), int(pair.right[0])
        evidence = self._judge.evidence(pair, self._order.score(pair))
        new = self._merging.merge(left, right)
        made = self._made(left, right, new)
        merge = self._merge(pair, evidence, made)
        entered = self._ledger.enter(merge, pair, made)
        both, right_only, left_only = (_GONE if n is None else n for n in made.numbers)
        self._features[left], self._features[right] = left_only, right_only
        self._features.append(both)
        self._sizes.append(0)
        changed = [left, right, new]
        self._sizes.values[changed] = self._sizes_of([left_only, right_only, both])
        self._order.merged(left, right)
        self._best.merged(left, right)
        return entered

    def _made(self, left: int, right: int, new: int) -> Made:
        columns = [new, right, left]
        both, right_only, left_only = self._merging.supports[columns].tolist()
        observed = self._merging.observed
        known = None
        if not isinstance(observed, int):
            known = (int(observed[new]), int(observed[right]), int(observed[left]))
        f, g, conjoin = self._features[left], self._features[right], self._ledger.lineage.conjoin
        numbers = (
            conjoin(f, g) if both else None,
            conjoin(~f, g) if right_only else None,
            conjoin(f, ~g) if left_only else None,
        )
        return Made(numbers, (both, right_only, left_only), known)

    def _merge(self, pair: Contingency, evidence: Pairs, made: Made) -> Merge:
        both, right_only, left_only = made.numbers
        n_rows, threshold = pair.n_rows, evidence.cut_off.threshold
        return Merge(
            iteration=self._iteration,
            left=self._features[int(pair.left[0])],
            right=self._features[int(pair.right[0])],
            both=both,
            right_only=right_only,
            left_only=left_only,
            n_rows=n_rows if isinstance(n_rows, int) else int(n_rows[0]),
            joint=int(pair.joint[0]),
            r=float(evidence.r[0]),
            score=float(evidence.score[0]),
            p_value=float(evidence.p_value[0]),
            p_adjusted=float(evidence.p_adjusted[0]),
            threshold=float(np.ravel(threshold)[0]),
            compared=evidence.cut_off.compared,
            family_size=evidence.cut_off.family_size,
        )

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
        if self._left_out:
            # no two features have the same pattern
            column = {
                self.lineage.pattern(feature): column
                for column, feature in enumerate(self._features)
                if feature != _GONE
            }
            for one, other in self._left_out:
                i, j = column.get(one, _GONE), column.get(other, _GONE)
                fits &= ~((pairs.left == i) & (pairs.right == j))
                fits &= ~((pairs.left == j) & (pairs.right == i))
        return fits

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
        # the pairs of columns whose bounds are exact, and what they are worth
        self._rows: dict[int, tuple[Contingency, Floats]] = {}
        # partners that the exact test has refused, for as long as neither column changes
        self._refused: dict[int, set[int]] = {}

    def best(self) -> Contingency | None:
        """The counts of the best pair; ``None`` if no pair may be joined."""
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
        self._bounds.values[column] = worth.max(initial=-math.inf) - self._order.rise
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
            first = np.flatnonzero(worth >= min(others + self._order.rise, worth.max()))
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

    def _first_of(self, columns: list[int]) -> Contingency:
        """The best of the pairs of some columns, whose bounds are exact and the same."""
        found = []
        for column in columns:
            pairs, worth = self._rows[column]
            found.append(pairs.take(np.flatnonzero(worth == worth.max())))
        ties = Contingency.joined(found, self._merging.n_rows)
        second = self._order.second(ties)
        ties = ties.take(np.flatnonzero(second == second.max()))
        ends = zip(ties.left.tolist(), ties.right.tolist(), strict=True)
        pairs_of_columns = sorted({(min(pair), max(pair)) for pair in ends})
        left, right = pairs_of_columns[in_order(pairs_of_columns, self._by_text)[0]]
        row = self._merging.row(left)
        return row.take(np.flatnonzero(row.right == right))


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
