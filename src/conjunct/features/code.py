"""Codes: the complete code of rows, and Krimp's code, which some criteria minimise.

The complete code asks each row for each feature that could still be true, larger patterns first.
Each answer has the probability p = (k + ½) / (n + 1), where n training rows were asked and k of
them said yes.

- **Exclusion.** A true feature excludes all features that have another conjunction of a common
  merge in their ancestry. They are certainly false, so the code does not ask for them.
- **Other values.** If a true feature asserts another value of a variable, such as ``red`` instead
  of ``blue``, the answer has a second probability.
- **Missing cells.** By Kleene's logic, the code asks for a feature if it is known and all features
  that would exclude it are known to be false. Another value counts if it is known to be true.

The probability of a row is the product of its answers. Without missing cells, the probabilities of
all possible rows sum to 1.

How exclusion is found
----------------------
Any two features that assert a common feature x exclude each other, because they are on different
branches of the first merge that separates them. So a feature is excluded if another feature that
asserts either side (i or j) of a merge in its ancestry is true before its turn. A backward pass
over the merges finds for each merge and row the first true feature that asserts i or j. A forward
pass finds the first of these in the ancestry of each feature. This takes six operations on blocks
of rows per merge, regardless of the length of ancestries, and compares no pair of features.

Krimp's code
------------
Each true cell is written with the code of its feature. The code table is written once: it has the
code of each used feature, and its pattern in the codes of the primitives. With supports s_f,
S = Σ s_f, T used features and the cost c_p of naming a primitive,

    L = Σ s_f · log₂(S/s_f) + Σ [log₂(S/s_f) + Σ c_p]
      = (S + T) · log₂ S − Σ (s_f + 1) · log₂ s_f + Σ Σ c_p
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conjunct.columns import (
    Columns,
    Counts,
    Positions,
    address,
    addresses,
    counting_way,
    even_edges,
    native_library,
    run_threads,
)
from conjunct.expressions import pattern_text

if TYPE_CHECKING:
    from conjunct.features.feature_set import FeatureSet

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

# the memory limit of a block of rows; most blocks fit in the cache
_BLOCK_BYTES = 1 << 28
_BLOCK_ROWS = 4096
_BYTES_PER_CELL = 12
# the same values as in code.c and code_counts.c
_ROWS_IN_C = 64
_MOST_RANKS = (1 << 16) - 2
# counting fewer cells (in blocks of 64 rows) takes less time than starting a thread
_CELLS_PER_THREAD = 1 << 18

# decimals of savings that are compared, because the last digits of a logarithm depend on the
# machine
DECIMALS = 6

_LN2 = math.log(2)


class CodeCounts(NamedTuple):
    """The counts for the code of some rows; counts of parts can be summed.

    ``features`` has four lines: the rows in which each feature is asked for with its first
    probability, those of them in which it is true, and the same two numbers for the second
    probability. Its columns are the rests of the primitives after all merges, then those of the
    features of each merge. ``columns`` has the same counts of the primitives without merges.
    ``patterns`` has for each merge the rows in which both patterns are known, and those with all
    tags of the left pattern, of the right pattern, and of both.
    """

    features: Counts
    columns: Counts
    patterns: Counts

    def plus(self, other: CodeCounts) -> CodeCounts:
        """Add the counts of other rows."""
        return CodeCounts(*map(np.add, self, other))


class Asked(NamedTuple):
    """For each feature (line) and row: its value, and which probability it is asked for with.

    ``second`` is ``None`` if there are no variables.
    """

    true: Mask
    first: Mask
    second: Mask | None

    @property
    def questions(self) -> Mask:
        """True where a feature is asked for, with lines for second probabilities at the end."""
        return self.first if self.second is None else np.concatenate([self.first, self.second])

    @property
    def yes(self) -> Mask:
        """True where the answer to a question is yes."""
        if self.second is None:
            return self.true
        return np.concatenate([self.true & self.first, self.true & self.second])

    def counts(self) -> Counts:
        """Return the four lines of ``CodeCounts.features``."""
        second = np.zeros_like(self.first) if self.second is None else self.second
        lines = self.first, self.true & self.first, second, self.true & second
        # much faster than a sum along an axis
        return np.array([[*map(np.count_nonzero, each)] for each in lines], np.int64)


@dataclass(frozen=True, eq=False)
class RowCode:
    """The order in which features are asked for, and the merges that exclude them.

    Each feature has a *place*. The rest of a primitive after all merges has the place of the
    primitive; the feature of merge k comes after all primitives. ``left[k]`` and ``right[k]`` are
    the places of the pair of merge k.
    """

    left: Positions
    right: Positions
    rank: NDArray[Any]
    """The position of each feature in the order of questions."""
    variables: tuple[Positions, ...]
    """The primitives that are values of each variable."""
    patterns: tuple[tuple[str, ...], ...]
    places: Positions
    """The places of the features of the feature set, suppressed ones last."""

    @classmethod
    def of(cls, fitted: FeatureSet, *, has_merges: bool = True) -> RowCode:
        """Return the code of all features that a row could have, or of only the primitives."""
        patterns: list[tuple[str, ...]] = [*zip(fitted.lineage.primitives)]
        place: dict[int | None, int] = dict(enumerate(range(len(patterns))))
        features, known = tuple(range(len(patterns))), fitted.primitive_supports
        left, right = [], []
        if has_merges:
            features = fitted.features + fitted.suppressed
            known = fitted.supports + fitted.suppressed_supports
        for merge in fitted.merges if has_merges else ():
            i, j = place[merge.left], place[merge.right]
            left.append(i)
            right.append(j)
            place |= {merge.both: len(patterns), merge.right_only: j, merge.left_only: i}
            patterns.append(tuple(sorted(patterns[i] + patterns[j])))
        n_features = len(patterns)
        places = np.array([*map(place.__getitem__, features)], np.intp)
        supports, lengths = np.zeros(n_features, np.int64), np.array([*map(len, patterns)])
        supports[places] = known
        by_name = sorted(range(n_features), key=patterns.__getitem__)
        order = np.array(by_name, np.intp)[np.lexsort((-supports[by_name], -lengths[by_name]))]
        # the rank n_features means "no feature"
        rank = np.empty(n_features, np.uint16 if n_features < 1 << 16 else np.uint32)
        rank[order] = np.arange(n_features)
        values: dict[str, list[int]] = {}
        for k, variable in enumerate(fitted.variables):
            if variable is not None:
                values.setdefault(variable, []).append(k)
        several = tuple(np.array(some) for some in values.values() if len(some) > 1)
        pair = np.array(left, np.intp), np.array(right, np.intp)
        return cls(*pair, rank, several, tuple(patterns), places)

    @property
    def n_features(self) -> int:
        return len(self.rank)

    @property
    def n_primitives(self) -> int:
        return len(self.rank) - len(self.left)

    @property
    def n_questions(self) -> int:
        """The number of questions: with variables, each feature has two."""
        return self.n_features * (2 if self.variables else 1)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The pattern of each feature as text, with "(rest)" after a merge."""
        rest = {*self.left.tolist(), *self.right.tolist()}
        return tuple(
            pattern_text(pattern, is_rest=k in rest) for k, pattern in enumerate(self.patterns)
        )

    def _blocks(self, columns: Columns) -> Iterator[tuple[slice, Mask, Mask | None]]:
        """Yield blocks of rows: where primitives are true, and where they are known."""
        fits = _BLOCK_BYTES // (_BYTES_PER_CELL * self.n_features) // 64 * 64
        step = min(_BLOCK_ROWS, max(64, fits))
        for start in range(0, columns.n_rows, step):
            stop = min(start + step, columns.n_rows)
            yield slice(start, stop), *columns.row_block(start, stop)

    def iterate_answers(self, columns: Columns) -> Iterator[tuple[slice, Asked]]:
        """Yield the questions and answers in blocks of rows."""
        for rows, true, known in self._blocks(columns):
            yield rows, self.ask(true, known)

    @cached_property
    def _inner(self) -> tuple[Positions, Positions, RowCode]:
        """The primitives without merges or variables, the others, and a code of only the others.

        In wide data most primitives may be of the first kind, and need no comparisons.
        """
        m = self.n_primitives
        takes_part = np.zeros(self.n_features, np.bool_)
        for some in (self.left, self.right, *self.variables):
            takes_part[some] = True
        alone, others = np.flatnonzero(~takes_part[:m]), np.flatnonzero(takes_part[:m])
        if not len(alone):
            return alone, others, self
        lines = np.concatenate([others, np.arange(m, self.n_features)])
        place = np.zeros(self.n_features, np.intp)
        place[lines] = np.arange(len(lines))
        rank = np.empty(len(lines), self.rank.dtype)
        rank[np.argsort(self.rank[lines])] = np.arange(len(lines))
        variables = tuple(map(place.__getitem__, self.variables))
        patterns = tuple(map(self.patterns.__getitem__, lines.tolist()))
        inner = RowCode(place[self.left], place[self.right], rank, variables, patterns, lines)
        return alone, others, inner

    def count_with_patterns(self, columns: Columns) -> tuple[Counts, Counts]:
        """Count ``CodeCounts.features`` and ``CodeCounts.patterns`` of some rows."""
        alone, others, inner = self._inner
        features = np.zeros((4, self.n_features), np.int64)
        patterns = np.zeros((4, len(self.left)), np.int64)
        if len(alone):
            free = columns.select(alone.tolist())
            features[:2, alone] = free.count_known(), free.supports()
        if len(others):
            some = columns.select(others.tolist()) if len(alone) else columns
            counts = inner._answer_in_c(some)
            if counts is None:
                found = np.zeros((4, inner.n_features), np.int64)
                for _, true, known in inner._blocks(some):
                    asked = inner._ask_in_c(true, known)
                    found += inner.ask(true, known).counts() if asked is None else asked[2]
                    patterns += inner.pattern_tables(true, known)
            else:
                found, supports, m = counts[:4], counts[4], inner.n_primitives
                patterns[0] = columns.n_rows
                patterns[1:] = supports[inner.left], supports[inner.right], supports[m:]
            features[:, others] = found[:, : len(others)]
            features[:, self.n_primitives :] = found[:, len(others) :]
        return features, patterns

    def _answer_in_c(self, columns: Columns, logs: Floats | None = None) -> Any:
        """Ask in C; return ``None`` if C is not available or cells are missing.

        Return the counts of features, with those of rows with all tags of a pattern in the last
        line. With the ``logs`` of answers, return the logarithms of the probabilities of rows.
        """
        if native_library is None or columns.has_missing or self.n_features > _MOST_RANKS:
            return None
        lines, n = columns.raw_columns, self.n_features
        _held, in_c = self._arguments()
        is_bits = bool(lines[0].dtype == np.uint8)
        to_array = partial(np.ascontiguousarray, dtype=np.uint8 if is_bits else np.int32)
        held = [*map(to_array, lines)]
        lengths, where = np.array([*map(len, held)], np.int64), addresses(held)
        n_blocks = -(-columns.n_rows // _ROWS_IN_C)
        n_parts = max(1, min(columns.n_threads, n_blocks * n // _CELLS_PER_THREAD))
        edges = (_ROWS_IN_C * np.array(even_edges(n_blocks, n_parts))).tolist()
        edges[-1] = columns.n_rows
        counted: list[Counts] = []
        probs = np.empty(0 if logs is None else columns.n_rows, np.float64)

        def answer(start: int, stop: int) -> None:
            counts = np.zeros((5, n), np.int64)
            counted.append(counts)
            out = address(counts), address(counts[4]), None, None
            done = native_library.native_code(
                counting_way(),
                *in_c,
                address(where),
                None if is_bits else address(lengths),
                start,
                stop,
                *(out if logs is None else (None, None, address(logs), address(probs))),
            )
            if not done:
                raise MemoryError("not enough memory to count")

        run_threads(edges, answer)
        return np.sum(counted, axis=0) if logs is None else probs

    def ask(self, primitives: Mask, known: Mask | None) -> Asked:
        """Ask for each feature in rows with the given primitives."""
        if (in_c := self._ask_in_c(primitives, known)) is not None:
            true, asked, _ = in_c
            return Asked(true, asked == 1, asked == 2 if self.variables else None)
        m, n = self.n_primitives, self.n_features
        true, false = np.empty((2, n, primitives.shape[1]), np.bool_)
        true[:m], false[:m] = primitives, ~primitives if known is None else known & ~primitives
        for k, (i, j) in enumerate(self._pairs, m):
            true[k], false[k] = true[i] & true[j], false[i] | false[j]
            left = true[i] & false[j], false[i] | true[j]
            true[j], false[j] = true[j] & false[i], false[j] | true[i]
            true[i], false[i] = left
        turn, never = self.rank[:, None], self.rank.dtype.type(n)
        # the first feature that asserts each primitive, or either side of each merge
        ranks, there = np.where(false, never, turn), np.where(true, turn, never)
        self._spread(ranks, range(n - 1, m - 1, -1))
        self._spread(there, range(n - 1, m - 1, -1))
        # then the first of these in the ancestry of each feature
        ranks[:m] = never
        self._spread(ranks, range(m, n))
        first = (ranks >= turn) & (true | false)
        if not self.variables:
            return Asked(true, first, None)
        second = (self._other_values(there) < turn) & first
        return Asked(true, first ^ second, second)

    def _spread(self, ranks: NDArray[Any], merges: Iterable[int]) -> None:
        """Give a pair and its merge the lowest rank of the three, merge by merge."""
        for k in merges:
            i, j = self._pairs[k - self.n_primitives]
            np.minimum(ranks[i], ranks[k], out=ranks[i])
            np.minimum(ranks[j], ranks[k], out=ranks[j])
            np.minimum(ranks[i], ranks[j], out=ranks[k])

    def _arguments(self) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
        """Return arrays that must stay alive while C reads them, and the arguments of the call."""
        values = np.concatenate([np.empty(0, np.int64), *self.variables]).astype(np.int64)
        starts = np.cumsum([0, *map(len, self.variables)], dtype=np.int64)
        left, right = self.left.astype(np.int64), self.right.astype(np.int64)
        held: list[NDArray[Any]] = [left, right, self.rank.astype(np.uint32), values, starts]
        one, other, turns, *variables = map(address, held)
        sizes = self.n_features, self.n_primitives
        return held, (*sizes, one, other, turns, len(self.variables), *variables)

    def _ask_in_c(
        self, primitives: Mask, known: Mask | None
    ) -> tuple[Mask, NDArray[np.uint8], Counts] | None:
        """Return where features are true, the question asked (0: none, 1, 2), and the counts."""
        if native_library is None:
            return None
        m, shape = self.n_primitives, (self.n_features, primitives.shape[1])
        true, asked = np.empty(shape, np.bool_), np.empty(shape, np.uint8)
        true[:m] = primitives
        false = None
        if known is not None:
            false = np.empty(shape, np.bool_)
            false[:m] = known & ~primitives
        counts = np.zeros((4, self.n_features), np.int64)
        ranks = np.empty((3 if self.variables else 1) * self.n_features * _ROWS_IN_C, np.uint32)
        _held, in_c = self._arguments()
        of_false = None if false is None else address(false)
        out = address(ranks), address(asked), address(counts)
        native_library.native_ask(*in_c, shape[1], address(true), of_false, *out)
        return true, asked, counts

    def _other_values(self, there: NDArray[Any]) -> NDArray[Any]:
        """Return the first feature that asserts another value of a variable in each pattern."""
        others = np.full_like(there, self.n_features)
        for values in self.variables:
            # a feature that asserts two values of a variable excludes features with either value
            first = there[values].min(axis=0)
            is_first = there[values] == first
            second = np.where(is_first, self.n_features, there[values]).min(axis=0)
            others[values] = np.where(is_first, second, first)
        for k, (i, j) in enumerate(self._pairs, self.n_primitives):
            np.minimum(others[i], others[j], out=others[k])
        return others

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.left.tolist(), self.right.tolist(), strict=True))

    def pattern_tables(self, primitives: Mask, known: Mask | None) -> Counts:
        """Count ``CodeCounts.patterns`` of rows with the given primitives."""
        m, n_rows = primitives.shape
        counts = np.zeros((4, len(self.left)), np.int64)
        if native_library is not None:
            # with room for the patterns of merges
            tables = [np.empty((self.n_features, n_rows), np.bool_) for _ in range(2)]
            tables[0][:m], tables[1][:m] = primitives, True if known is None else known
            where = [address(tables[0]), None if known is None else address(tables[1])]
            _held, (_, _, left, right, *_) = self._arguments()
            native_library.native_patterns(
                m, len(self.left), left, right, n_rows, *where, address(counts)
            )
            return counts
        true, seen = [*primitives], [*(np.ones_like(primitives) if known is None else known)]
        for k, (i, j) in enumerate(self._pairs):
            both, known_both = true[i] & true[j], seen[i] & seen[j]
            some = known_both, true[i] & known_both, true[j] & known_both, both
            counts[:, k] = [*map(np.count_nonzero, some)]
            true.append(both)
            # known to be true with both, or false with either
            seen.append(both | (seen[i] & ~true[i]) | (seen[j] & ~true[j]))
        return counts

    def log_probs(self, columns: Columns, counts: Counts) -> Floats:
        """Return the natural logarithm of each row's probability, from ``CodeCounts.features``."""
        alone, others, inner = self._inner
        no, yes = -math.log(2) * answer_bits(counts)
        total = np.full(columns.n_rows, math.fsum(no[alone].tolist()))
        for k in alone.tolist():
            total[columns.true_rows(k)] += yes[k] - no[k]
            if columns.has_missing:
                total[columns.cells(k)[1]] -= no[k]
        lines = np.concatenate([others, np.arange(self.n_primitives, self.n_features)])
        # in the inner code, all second questions come after the first questions
        no, yes = (
            np.concatenate([each[lines], each[self.n_features + lines]]) for each in (no, yes)
        )
        if not len(lines):
            return total
        some = columns.select(others.tolist()) if len(alone) else columns
        if (logs := inner._answer_in_c(some, np.concatenate([no, yes]))) is not None:
            return np.asarray(total + logs)
        for rows, asked in inner.iterate_answers(some):
            questions, true = asked.questions, asked.yes
            sums = np.zeros(questions.shape[1])
            # in the order of C, which gives exactly the same sums
            for k, line in enumerate(questions):
                sums += np.where(true[k], yes[k], no[k]) * line
            total[rows] += sums
        return total


def answer_bits(counts: Counts) -> Floats:
    """Return the bits of the answers no and yes, for all first, then for all second questions."""
    first, first_yes, second, second_yes = counts
    # all second questions share one probability
    asked = np.concatenate([first, np.full_like(second, second.sum())])
    yes = np.concatenate([first_yes, np.full_like(second, second_yes.sum())])
    every = np.log2(asked + 1.0)
    return np.stack([every - np.log2(asked - yes + 0.5), every - np.log2(yes + 0.5)])


def bits_of_rows(counts: Counts, known: Counts) -> float:
    """Return the bits of the counted rows, with probabilities from ``known`` counts."""
    no, yes = answer_bits(known)
    asked, true = np.concatenate(counts[::2]), np.concatenate(counts[1::2])
    # exact sums do not depend on the order of columns
    return math.fsum(((asked - true) * no).tolist() + (true * yes).tolist())


def bits_of_model(n_merges: int, n_rows: int, n_columns: int, n_occurring: int) -> float:
    """Return the bits of the numbers of a code, one per column, and of its merges.

    ``n_occurring`` of the columns are true in at least one row.
    """
    merges = (merge_cost(n_rows, n_occurring, k) for k in range(1, n_merges + 1))
    return 0.5 * math.log2(n_rows) * n_columns + math.fsum(merges)


def merge_cost(n_rows: int, n_columns: int, k: int) -> float:
    """Return the bits that the k-th merge costs, for one more number and the name of the pair.

    ``n_columns`` is the number m of columns that are true in at least one row. Before the k-th
    merge there are at most m + k − 1 features, which make N = (m + k − 1)(m + k − 2)/2 pairs. The
    order of merges carries no information, so the k-th merge costs log₂(N/k) and not log₂ N.

    Examples
    --------
    >>> merge_cost(1024, 9, 1)
    10.169925001442312
    """
    n_features = n_columns + k - 1
    n_pairs = n_features * (n_features - 1) / 2
    return 0.5 * math.log2(n_rows) + (math.log2(n_pairs / k) if n_pairs > k else 0.0)


def description_length(
    supports: Sequence[int],
    patterns: Iterable[Iterable[Hashable]],
    primitive_supports: Mapping[Any, int] | Sequence[int],
) -> float:
    """Return the bits that describe the data by some features, including the model.

    Parameters
    ----------
    supports
        Number of rows in which each feature is true. Features with support 0 cost nothing.
    patterns
        The primitives that each feature asserts.
    primitive_supports
        Number of rows in which each primitive is true, by name or by position.

    Examples
    --------
    If two columns are always true together, one chunk takes fewer bits:

    >>> round(description_length([4, 4], [["a"], ["b"]], {"a": 4, "b": 4}), 3)
    12.0
    >>> round(description_length([4], [["a", "b"]], {"a": 4, "b": 4}), 3)
    2.0
    """
    if not isinstance(primitive_supports, Mapping):
        primitive_supports = dict(enumerate(primitive_supports))
    costs = primitive_costs(list(primitive_supports.values())).tolist()
    cost = dict(zip(primitive_supports, costs, strict=True))
    total = sum(supports)
    parts: list[float] = []
    for support, pattern in zip(supports, patterns, strict=True):
        if support:
            code = math.log2(total / support)
            parts += [support * code, code, *(cost[primitive] for primitive in pattern)]
    return math.fsum(parts)


def primitive_costs(supports: ArrayLike) -> Floats:
    """Return the bits that name each primitive; 0 for one that never occurs."""
    counts = np.asarray(supports, np.float64)
    occurs = counts > 0
    safe = np.where(occurs, counts, 1.0)
    return np.where(occurs, np.log2(max(counts.sum(), 1.0)) - np.log2(safe), 0.0)


def pair_savings(
    left: ArrayLike,
    right: ArrayLike,
    joint: ArrayLike,
    total: float,
    n_used: int,
    left_cost: ArrayLike,
    right_cost: ArrayLike,
) -> Floats:
    """Return the bits by which L shrinks if a pair is replaced by its conjunctions.

    ``total`` is S and ``n_used`` is T before; ``left`` and ``right`` are the two supports,
    ``left_cost`` and ``right_cost`` the costs of the two patterns. Differences of logarithms are
    taken first, which keeps the precision if S is large.

    Examples
    --------
    >>> float(pair_savings(4, 4, 4, 8, 2, 1.0, 1.0).round(3))
    10.0
    """
    s, t = np.asarray(left, np.float64), np.asarray(right, np.float64)
    a = np.asarray(joint, np.float64)
    rest_s, rest_t = s - a, t - a
    stays_s, stays_t = rest_s > 0, rest_t > 0
    added = 1.0 - (~stays_s).astype(np.float64) - (~stays_t)
    whole = (total - a + n_used + added) * -np.log1p(-a / max(total, 1)) / _LN2
    whole += (a - added) * math.log2(max(total, 1))
    lost = (
        (a + 1) * np.log2(a) - _shrinkage(s, a, rest_s, stays_s) - _shrinkage(t, a, rest_t, stays_t)
    )
    named = np.where(stays_s, left_cost, 0.0) + np.where(stays_t, right_cost, 0.0)
    return np.asarray(whole + lost - named, np.float64)


def pair_saving(
    left: int,
    right: int,
    joint: int,
    total: float,
    n_used: int,
    left_cost: float,
    right_cost: float,
) -> float:
    """Return ``pair_savings`` of a single pair, in plain numbers, which is faster.

    Examples
    --------
    >>> round(pair_saving(4, 4, 4, 8, 2, 1.0, 1.0), 3)
    10.0
    """
    added = 1 - (left == joint) - (right == joint)
    saved = (total - joint + n_used + added) * -math.log1p(-joint / total) / _LN2
    saved += (joint - added) * math.log2(total) + (joint + 1) * math.log2(joint)
    for support, cost in ((left, left_cost), (right, right_cost)):
        rest, log = support - joint, math.log2(support)
        if rest:
            saved -= (rest + 1) * -math.log1p(-joint / support) / _LN2 + joint * log + cost
        else:
            saved -= (support + 1) * log
    return saved


def round_savings(saved: Floats) -> Floats:
    """Round savings to the decimals that are compared."""
    return np.round(saved, DECIMALS)


def largest_rise(total: float, n_used: int, joint: int, added: int, largest_joint: int) -> float:
    """Return an upper bound of the increase of other pairs' savings by a merge.

    The merge has a joint count and adds ``added`` features. S falls, so every pair saves less, but
    the code table changes, so a pair may save a little more. For a pair with joint count a, the
    data part D(a) falls with a. The part of the code table E(a) is largest at one end of every
    range of a; it rises most if the pair adds one feature, because S falls.
    """
    edges = 2.0 ** np.arange(max(1, math.ceil(math.log2(largest_joint + 1))))
    a = np.append(edges, max(largest_joint, 1.0))
    after, used_after = total - joint, n_used + added
    a = a[a < after]
    if not len(a):
        return math.inf

    def parts(total: float, n_used: int) -> tuple[Floats, Floats]:
        """Compute S log S − (S − a) log (S − a), and the part of the code table."""
        bits, rest = -np.log1p(-a / total) / _LN2, np.log2(total - a)
        return total * bits + a * rest, n_used * bits - rest

    (data, table), (data_before, table_before) = parts(after, used_after), parts(total, n_used)
    data, table = data - data_before, table - table_before
    # within a range of a, the data part is largest at the lower end
    rise = data[:-1] + np.maximum(table[:-1], table[1:]) if len(a) > 1 else data + table
    return max(0.0, float(rise.max())) + 10.0**-DECIMALS


def _shrinkage(support: Floats, joint: Floats, rest: Floats, stays: NDArray[np.bool_]) -> Floats:
    """Compute (s + 1) log₂ s − (s − a + 1) log₂ (s − a)."""
    log = np.log2(support)
    change = (rest + 1) * -np.log1p(-np.where(stays, joint / support, 0.0)) / _LN2 + joint * log
    return np.where(stays, change, (support + 1) * log)
