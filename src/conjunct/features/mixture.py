"""Groups of rows: a mixture model in which the columns are independent within each group.

Each row belongs to one of K groups, which is unknown. A group has a probability for each tag and
for each value of a variable. Expectation-maximisation alternates between the probabilities of the
groups given each row, and the frequencies in each group given these probabilities.

- **Fields.** A *field* is a tag, or a variable with its values. A row has one *outcome* per field:
  none, one of the columns, or "several values", which all sets of two or more values share. So the
  probabilities of all possible rows sum to 1.
- **Prior.** Each group contains one extra row, the average of all rows, so no outcome is impossible
  in a small group. The objective, which never falls, therefore includes these extra rows.
- **Missing cells.** A field is ignored in the rows in which it is unknown.
- **Number of groups.** Each frequency of a group of N rows costs ½·log₂ N bits, as usual for a
  number estimated from N rows. A group is split, or dropped, if that shortens the whole
  description.

Sums over rows can be added, so an iteration is one pass over the rows, in one place or many. Equal
rows are counted once, with their weight. In large data the search uses a sample of the rows; its
result then converges on all rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conjunct.columns import Columns, Positions

Floats = NDArray[np.float64]

SAMPLE_ROWS = 100_000
"""In larger data, the search uses a sample of about this size."""
_SPLIT_ROWS = 4_000  # sample size for splitting a group
_BLOCK_ROWS = 8_192
_DENSE = 0.08  # with a larger share of ones, rows are multiplied as dense blocks
_DENSE_BYTES = 1 << 28
# iterations end if they gain fewer nats per row: in the search, and in the result
_COARSE, _FINE = 1e-4, 1e-6
_SPLIT_ITERATIONS = 30
_PRIOR = 1.0  # the weight of the average row in each group


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as outcomes of fields, with their unknown fields, if any, and their weights."""

    outcomes: Any
    unknown: Any
    weights: Floats

    @property
    def n_rows(self) -> int:
        return len(self.weights)

    @cached_property
    def blocks(self) -> tuple[Rows, ...]:
        """Blocks of rows, dense if that speeds up multiplication."""
        n_cells = math.prod(self.outcomes.shape)
        is_dense = self.outcomes.nnz > _DENSE * n_cells and 8 * n_cells <= _DENSE_BYTES
        starts = range(0, self.n_rows, _BLOCK_ROWS)
        parts = [self.take(slice(start, start + _BLOCK_ROWS)) for start in starts]
        return tuple(replace(p, outcomes=p.outcomes.toarray()) if is_dense else p for p in parts)

    def take(self, rows: NDArray[Any] | slice) -> Rows:
        """Return some of the rows."""
        unknown = None if self.unknown is None else self.unknown[rows]
        return Rows(self.outcomes[rows], unknown, self.weights[rows])


@dataclass(frozen=True, eq=False)
class Fields:
    """The fields of rows and their outcomes except "none": columns, then "several values"."""

    n_columns: int
    field: Positions
    """The field of each outcome."""
    n_fields: int
    constants: Floats
    """For each outcome, log(1 / number of sets of values that share it)."""

    @classmethod
    def of(cls, n_columns: int, variables: Sequence[str | None]) -> Fields:
        """Return the fields of columns from the variable of each; ``()`` means no variables."""
        field, number = [], dict[object, int]()
        for k in range(n_columns):
            variable = variables[k] if variables else None
            key = k if variable is None else variable
            field.append(number.setdefault(key, len(number)))
        sizes = np.bincount(field, minlength=len(number))
        several = np.flatnonzero(sizes > 1)
        constants = np.zeros(n_columns + len(several))
        # 2^m − 1 − m sets, in a form that does not overflow for large m
        for k, m in enumerate(sizes[several].tolist(), n_columns):
            constants[k] = -m * math.log(2) - math.log1p(-(1 + m) * 2.0**-m)
        return cls(n_columns, np.array([*field, *several], np.intp), len(number), constants)

    @cached_property
    def n_outcomes(self) -> Floats:
        """The number of outcomes of each field, including "none"."""
        return np.bincount(self.field, minlength=self.n_fields) + np.ones(self.n_fields)

    def read(self, columns: Columns, weights: Any = None) -> Rows:
        """Read rows as outcomes of the fields."""
        cells = columns.to_scipy().astype(np.float64)
        n_rows, unknown = columns.n_rows, None
        own = self.field[: self.n_columns]
        to_field = sp.csr_array(
            (np.ones(self.n_columns), own, np.arange(self.n_columns + 1)),
            shape=(self.n_columns, self.n_fields),
        )
        if columns.has_missing:
            unknown = cells.copy()
            unknown.data = np.isnan(cells.data).astype(np.float64)
            unknown.eliminate_zeros()
            cells.data[np.isnan(cells.data)] = 0
            cells.eliminate_zeros()
            unknown = (unknown @ to_field).astype(np.bool_).astype(np.float64)
            # a value that is known to be true makes its variable known
            unknown = unknown - unknown.multiply((cells @ to_field).astype(np.bool_))
            unknown = sp.csr_array(unknown)
            unknown.eliminate_zeros()
        several = self.field[self.n_columns :]
        if len(several):
            numbers = sp.csr_array(cells @ to_field)
            numbers.data = (numbers.data > 1).astype(np.float64)
            numbers.eliminate_zeros()
            if numbers.nnz:
                cells = sp.csr_array(cells - cells.multiply(numbers @ to_field.T))
                cells.eliminate_zeros()
            cells = sp.csr_array(sp.hstack([cells, sp.csc_array(numbers)[:, several]], "csr"))
        for table in (cells, unknown):
            if table is not None:
                table.sort_indices()
        weights = np.ones(n_rows) if weights is None else np.asarray(weights, np.float64)
        return Rows(cells, unknown, weights)

    def sum_up(self, outcomes: Floats) -> Floats:
        """Sum the values of the outcomes of each field."""
        sums = np.zeros((len(outcomes), self.n_fields))
        np.add.at(sums.T, self.field, outcomes.T)
        return sums


class Sums(NamedTuple):
    """The sums over rows that an iteration needs, per group; sums of parts can be added."""

    log_likelihood: Floats
    """In nats; an array of one number."""
    rows: Floats
    outcomes: Floats
    unknown: Floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """The shares of groups, and the probability of each outcome, and of none, in each group."""

    fields: Fields
    shares: Floats
    outcomes: Floats
    none: Floats

    @property
    def n_groups(self) -> int:
        return len(self.shares)

    @cached_property
    def _logs(self) -> tuple[Floats, Floats, Floats]:
        none = np.log(self.none)
        log_odds = np.log(self.outcomes) - none[:, self.fields.field] + self.fields.constants
        return np.log(self.shares) + none.sum(1), np.ascontiguousarray(log_odds.T), none.T

    def log_joint(self, block: Rows) -> Floats:
        """Return the logarithms of the joint probabilities of rows and groups."""
        every, log_odds, none = self._logs
        found: Floats = block.outcomes @ log_odds + every
        return found if block.unknown is None else found - block.unknown @ none

    def expect(self, rows: Rows) -> Sums:
        """Return the sums over rows, weighted by the probability of each group given the row."""
        total = sum_members(self.fields, rows.take(slice(0)), np.empty((0, self.n_groups)))
        for block in rows.blocks:
            members, logs = normalise(self.log_joint(block))
            sums = sum_members(self.fields, block, members, float(block.weights @ logs))
            total = Sums(*map(np.add, total, sums))
        return total

    def objective(self, log_likelihood: float, prior: Floats) -> float:
        """Return the log-likelihood with the rows of the prior, which no iteration lowers."""
        none = 1 - self.fields.sum_up(prior[None])[0]
        logs = np.log(self.outcomes) @ prior + np.log(self.none) @ none
        return log_likelihood + float(_PRIOR * logs.sum() + np.log(self.shares).sum())

    def with_floor(self, n_rows: float) -> Mixture:
        """Return the groups smoothed by half a row per outcome, relative to all rows."""
        n = self.fields.n_outcomes
        kept = n_rows / (n_rows + n / 2)
        own = self.fields.field
        outcomes = self.outcomes * kept[own] + ((1 - kept) / n)[own]
        return Mixture(self.fields, self.shares, outcomes, self.none * kept + (1 - kept) / n)

    def take(self, groups: Any) -> Mixture:
        """Return some of the groups, in the order given, with shares that sum to 1."""
        shares = self.shares[groups]
        return Mixture(self.fields, shares / shares.sum(), self.outcomes[groups], self.none[groups])


def normalise(logs: Floats) -> tuple[Floats, Floats]:
    """Return the probability of each group given each row, and the row's log-probability."""
    most = logs.max(1, keepdims=True)
    members = np.exp(logs - most)
    sums = members.sum(1, keepdims=True)
    members /= sums
    return members, (most + np.log(sums))[:, 0]


def maximise(fields: Fields, sums: Sums, prior: Floats) -> Mixture:
    """Estimate the groups from sums; ``prior`` has the outcomes of the average row."""
    known = sums.rows[:, None] - sums.unknown + _PRIOR
    outcomes = (sums.outcomes + _PRIOR * prior) / known[:, fields.field]
    # clip rounding errors; the prior keeps the result positive
    left = known - _PRIOR - fields.sum_up(sums.outcomes)
    none = (np.maximum(left, 0) + _PRIOR * (1 - fields.sum_up(prior[None]))) / known
    shares = (sums.rows + 1) / (sums.rows.sum() + len(sums.rows))
    return Mixture(fields, shares, outcomes, none)


def average_row(fields: Fields, sums: Sums) -> Floats:
    """Return the share of each outcome in all rows, smoothed by half a row per outcome."""
    known = (sums.rows[:, None] - sums.unknown).sum(0) + fields.n_outcomes / 2
    return np.asarray((sums.outcomes.sum(0) + 0.5) / known[fields.field])


class Converged(NamedTuple):
    """Groups after some iterations, the sums of the last one, and the objective after each."""

    mixture: Mixture
    sums: Sums
    objectives: tuple[float, ...]


def converge(
    mixture: Mixture,
    expect: Callable[[Mixture], Sums],
    prior: Floats,
    *,
    gain: float = _FINE,
    max_iter: int = 200,
    deadline: float = math.inf,
) -> Converged:
    """Iterate until the objective rises by at most ``gain`` per row."""
    objectives: list[float] = []
    while True:
        sums = expect(mixture)
        objectives.append(mixture.objective(float(sums.log_likelihood[0]), prior))
        n_rows = float(sums.rows.sum())
        rises = len(objectives) < 2 or objectives[-1] - objectives[-2] > gain * n_rows
        if not rises or len(objectives) > max_iter or time.monotonic() > deadline:
            return Converged(mixture, sums, tuple(objectives))
        mixture = maximise(mixture.fields, sums, prior)


def bits_of_groups(sizes: Floats, n_rows: float, n_free: int) -> float:
    """Return the bits of the numbers of groups: ``n_free`` frequencies per group, and shares."""
    own = 0.5 * n_free * np.log2(np.maximum(sizes, 2.0))
    return float(own.sum()) + 0.5 * math.log2(max(n_rows, 2.0)) * (len(sizes) - 1)


class Grown(NamedTuple):
    """Groups after a round of the search, and the bits that describe the rows with them."""

    mixture: Mixture
    bits: float


@dataclass(eq=False)
class Growth:
    """A search that starts with one group and splits groups, on rows in memory."""

    rows: Rows
    fields: Fields
    prior: Floats
    rng: np.random.Generator
    n_groups: int | None = None
    max_groups: int | None = None
    n_init: int = 3
    deadline: float = math.inf
    watch: Callable[[int, float], object] | None = None

    def __post_init__(self) -> None:
        self.n_rows = float(self.rows.weights.sum())
        self.limit = self.n_groups or self.max_groups or self.rows.n_rows
        # groups that were not worth splitting are not tried again
        self.settled = np.zeros(1, np.bool_)
        # with a given number of groups: those split without effect since the last useful round
        self.tried: set[int] = set()

    @cached_property
    def n_free(self) -> int:
        """Free frequencies per group: outcomes that occur, minus fields that always have one."""
        one = maximise_one(self.rows, self.fields, self.prior)[1]
        occurs = one.outcomes[0] > 0
        known = one.rows[0] - one.unknown[0]
        always = (self.fields.sum_up(one.outcomes)[0] >= known) & (known > 0)
        return max(int(occurs.sum() - always.sum()), 1)

    def bits(self, found: Converged) -> float:
        """Return the bits that describe the rows with groups."""
        data, sizes = -float(found.sums.log_likelihood[0]) / math.log(2), found.sums.rows
        return data + bits_of_groups(sizes, float(sizes.sum()), self.n_free)

    def run(self) -> list[Grown]:
        """Return the groups after each round; the last element is the result."""
        mixture, _ = maximise_one(self.rows, self.fields, self.prior)
        found = self._converge(mixture)
        path = [Grown(found.mixture, self.bits(found))]
        while path[-1].mixture.n_groups < self.limit:
            before = path[-1].mixture
            divided = self._divide(before)
            if divided is None:
                break
            found = self._drop(self._converge(divided))
            now = Grown(found.mixture, self.bits(found))
            if self.n_groups is not None and now.mixture.n_groups <= before.n_groups:
                continue
            if self.n_groups is None and now.bits >= path[-1].bits:
                break
            self.tried.clear()
            path.append(now)
            if self.watch is not None:
                self.watch(now.mixture.n_groups, now.bits)
        return path

    def _converge(
        self, mixture: Mixture, rows: Rows | None = None, max_iter: int = 200
    ) -> Converged:
        some, limits = rows or self.rows, {"gain": _COARSE, "deadline": self.deadline}
        return converge(
            mixture, lambda now: now.expect(some), self.prior, max_iter=max_iter, **limits
        )

    def _divide(self, mixture: Mixture) -> Mixture | None:
        """Split the groups for which this pays, best first; return ``None`` if there are none."""
        logs = [mixture.log_joint(block).argmax(1) for block in self.rows.blocks]
        labels = np.concatenate(logs)
        found = []
        for k in range(mixture.n_groups):
            if time.monotonic() > self.deadline:
                break
            if k in self.tried or (self.settled[k] and self.n_groups is None):
                continue
            pair = self._halve(np.flatnonzero(labels == k))
            if pair is not None:
                found.append((pair[0], k, pair[1]))
        found.sort(key=lambda each: (-each[0], each[1]))
        paying = [each for each in found if each[0] > 0] or found[: self.n_groups is not None]
        paying = paying[: self.limit - mixture.n_groups]
        if not paying:
            return None
        halves = {k: own for _, k, own in paying}
        self.tried |= {*halves} if self.n_groups is not None else set()
        sizes = [2 if k in halves else 1 for k in range(mixture.n_groups)]
        self.settled = np.repeat([size == 1 for size in sizes], sizes)
        parts = [
            (mixture.shares[k], halves.get(k, mixture.take([k]))) for k in range(mixture.n_groups)
        ]
        return Mixture(
            self.fields,
            np.concatenate([share * part.shares for share, part in parts]),
            np.concatenate([part.outcomes for _, part in parts]),
            np.concatenate([part.none for _, part in parts]),
        )

    def _halve(self, which: NDArray[np.intp]) -> tuple[float, Mixture] | None:
        """Return the bits that splitting a group saves in its rows, and its two halves."""
        if len(which) < 2:
            return None
        size = float(self.rows.weights[which].sum())
        if len(which) > _SPLIT_ROWS:
            which = np.sort(self.rng.choice(which, _SPLIT_ROWS, replace=False))
        rows = self.rows.take(which)
        n_rows = float(rows.weights.sum())
        whole, _ = maximise_one(rows, self.fields, self.prior)
        before = whole.expect(rows)
        best: Converged | None = None
        for start in range(self.n_init):
            side = self._side(rows, whole, start)
            if side is None:
                continue
            members = np.where(side[:, None] == [True, False], 0.9, 0.1)
            halves = maximise(self.fields, sum_members(self.fields, rows, members), self.prior)
            found = self._converge(halves, rows, _SPLIT_ITERATIONS)
            if best is None or found.objectives[-1] > best.objectives[-1]:
                best = found
        if best is None:
            return None
        gain = float(best.sums.log_likelihood[0] - before.log_likelihood[0]) / math.log(2)
        scale = size / n_rows
        cost = bits_of_groups(best.sums.rows * scale, self.n_rows, self.n_free)
        cost -= bits_of_groups(np.array([size]), self.n_rows, self.n_free)
        return gain * scale - cost, best.mixture

    def _side(self, rows: Rows, whole: Mixture, start: int) -> NDArray[np.bool_] | None:
        """Return an initial split of rows: by the direction of most variance, or by two rows."""
        outcomes, weights = rows.outcomes, rows.weights
        if start:
            pair = self.rng.choice(rows.n_rows, 2, replace=False)
            # nearer to the first or the second row, with weight on rare outcomes of the group
            rarity = -np.log(whole.outcomes[0])
            one, two = (outcomes[[k]].toarray()[0] * rarity for k in pair.tolist())
            values = outcomes @ (one - two)
            middle = (one.sum() - two.sum()) / 2
        else:
            mean, values = whole.outcomes[0], self.rng.standard_normal(rows.n_rows)
            for _ in range(8):
                values = values * weights
                direction = outcomes.T @ values - values.sum() * mean
                length = np.sqrt(direction @ direction)
                if not length > 0:
                    return None
                values = outcomes @ (direction / length) - mean @ direction / length
            middle = 0.0
        side = values > middle
        return side if 0 < side.sum() < len(side) else None

    def _drop(self, found: Converged) -> Converged:
        """Drop groups while that shortens the description.

        With a given number of groups, drop only those that no row prefers.
        """
        if self.n_groups is not None:
            labels = [found.mixture.log_joint(block).argmax(1) for block in self.rows.blocks]
            used = np.unique(np.concatenate(labels))
            is_whole = len(used) == found.mixture.n_groups
            return found if is_whole else self._converge(found.mixture.take(used))
        while found.mixture.n_groups > 1:
            mixture, sizes = found.mixture, found.sums.rows
            losses = np.zeros(mixture.n_groups)
            for block in self.rows.blocks:
                members, _ = normalise(mixture.log_joint(block))
                losses -= block.weights @ np.log(np.maximum(1 - members, 1e-300))
            whole = bits_of_groups(sizes, self.n_rows, self.n_free)
            saved = [
                whole - bits_of_groups(np.delete(sizes, k), self.n_rows, self.n_free)
                for k in range(len(sizes))
            ]
            gains = np.array(saved) - losses / math.log(2)
            worst = int(gains.argmax())
            if gains[worst] <= 0:
                break
            others = np.delete(np.arange(mixture.n_groups), worst)
            self.settled = np.delete(self.settled, worst)
            found = self._converge(mixture.take(others))
        return found


def sum_members(fields: Fields, rows: Rows, members: Floats, log_likelihood: float = 0) -> Sums:
    """Return the sums over rows, weighted by given probabilities of groups."""
    members = members * rows.weights[:, None]
    unknown = np.zeros((members.shape[1], fields.n_fields))
    if rows.unknown is not None:
        unknown = np.asarray((rows.unknown.T @ members).T)
    outcomes = np.asarray((rows.outcomes.T @ members).T)
    return Sums(np.array([log_likelihood]), members.sum(0), outcomes, unknown)


def maximise_one(rows: Rows, fields: Fields, prior: Floats) -> tuple[Mixture, Sums]:
    """Return a model with all rows in one group, and the sums of the rows."""
    sums = sum_members(fields, rows, np.ones((rows.n_rows, 1)))
    return maximise(fields, sums, prior), sums
