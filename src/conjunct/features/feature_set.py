"""Immutable feature sets, which are the result of a run and can be applied to new rows.

This module also has the paper's indicators of feature sets: OI, C0, C1 and RMS (§4, §6.2).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Protocol, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from conjunct.columns import Columns, Counts
from conjunct.errors import InputError
from conjunct.expressions import Expression, parse, parse_pattern, pattern_text
from conjunct.features.code import (
    CodeCounts,
    RowCode,
    bits_of_model,
    bits_of_rows,
    description_length,
)
from conjunct.features.lineage import Lineage, Tally, feature_of


class Lines(Protocol):
    """The interface of columns that features are computed from: in memory or of a lazy table."""

    @property
    def raw_columns(self) -> Sequence[Any]: ...

    @property
    def empty_column(self) -> Any: ...

    def with_raw_columns(self, lines: Sequence[Any]) -> Self: ...

    def conjunction(self, left: Any, right: Any, *, not_left: bool, not_right: bool) -> Any: ...

    def disjunction(self, left: Any, right: Any) -> Any: ...

    def tally(self, literals: Sequence[tuple[Any, bool]], number: int, *, exactly: bool) -> Any: ...


S = TypeVar("S", bound=Lines)
Compared = Literal["score", "r", "p_value"]
"""The number of a pair that a criterion compares with its cutoff."""


class Merge(msgspec.Struct, frozen=True, gc=False):
    """One replaced pair. Features are numbers in the lineage; an empty conjunction is ``None``.

    ``r``, ``score`` (the measure) and the p-values come from the ``n_rows`` rows in which both
    features are known. ``threshold`` is the cutoff of the iteration, ``compared`` the number that
    is compared with it, and ``family_size`` the number of tested pairs.
    """

    iteration: int
    left: int
    right: int
    both: int | None
    right_only: int | None
    left_only: int | None
    n_rows: int
    joint: int
    r: float
    score: float
    p_value: float
    p_adjusted: float
    threshold: float
    compared: Compared
    family_size: int
    saved: float
    """Bits by which the merge shortened the description of the data; NaN if not counted."""
    n_significant: int
    """Number of significant pairs, if it determines the cutoff."""

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """The three conjunctions of the pair."""
        return self.both, self.right_only, self.left_only

    @property
    def made(self) -> tuple[int, ...]:
        """The features that replaced the pair."""
        # none has the number 0, which belongs to a primitive
        return tuple(filter(None, self.parts))


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Features over some primitives, with their lineage and the number of rows of each.

    ``suppressed`` features are stored, but neither shown nor evaluated.
    """

    lineage: Lineage
    features: tuple[int, ...]
    supports: tuple[int, ...]
    n_rows: int
    # the iteration that made each feature of the lineage after the primitives
    iterations: tuple[int, ...]
    # the replaced pairs of uFC, which can be undone; other algorithms replace nothing
    merges: tuple[Merge, ...] = ()
    suppressed: tuple[int, ...] = ()
    suppressed_supports: tuple[int, ...] = ()
    # rows in which each feature is known, suppressed ones last; None without missing cells
    known: tuple[int, ...] | None = None
    # rows in which each primitive is true, which determine the cost of features
    primitive_supports: tuple[int, ...] = ()
    # the variable of each primitive, None for a tag; empty if no variables are known
    variables: tuple[str | None, ...] = ()
    # rows in which each feature of the lineage is true, and is known; None without missing cells
    lineage_counts: tuple[tuple[int, int], ...] | None = None
    # counts of the training rows for the complete code, if they were counted
    code_counts: CodeCounts | None = None

    @classmethod
    def compact(
        cls,
        lineage: Lineage,
        supports: Sequence[int] | Mapping[int, int],
        n_rows: int,
        merges: tuple[Merge, ...],
        primitive_supports: tuple[int, ...],
        lineage_counts: Sequence[tuple[int, int]] | None = None,
    ) -> FeatureSet:
        """Return the features after the first merges: kept columns, then new features.

        The lineage of the result contains only the features of these merges.
        """
        n_primitives, counts = len(lineage.primitives), lineage_counts
        present = dict.fromkeys(range(n_primitives))
        iterations: list[int] = []
        for merge in merges:
            del present[merge.left], present[merge.right]
            present.update(dict.fromkeys(merge.made))
            iterations += [merge.iteration] * len(merge.made)
        n_features = n_primitives + len(iterations)
        return cls(
            lineage.first(len(iterations)),
            tuple(present),
            tuple(map(supports.__getitem__, present)),
            n_rows,
            tuple(iterations),
            merges,
            known=None if counts is None else tuple(counts[feature][1] for feature in present),
            primitive_supports=primitive_supports,
            lineage_counts=None if counts is None else tuple(counts[:n_features]),
        )

    @cached_property
    def frequencies(self) -> tuple[float, ...]:
        """For each feature the share of true rows among the rows in which it is known."""
        known = (self.n_rows,) * len(self.features) if self.known is None else self.known
        return tuple(s / k if k else 0.0 for s, k in zip(self.supports, known, strict=False))

    def without_rare(self, min_support: float) -> FeatureSet:
        """Suppress the features that are true in less than this share of rows."""
        frequencies = self.frequencies
        kept = [k for k, frequency in enumerate(frequencies) if frequency >= min_support]
        rare = [k for k, frequency in enumerate(frequencies) if frequency < min_support]
        if not kept:
            raise InputError(
                f"no feature reaches min_support={min_support:g}: the most frequent feature has a "
                f"share of {max(frequencies):.3g}. Choose a smaller value"
            )
        known = self.known
        return replace(
            self,
            features=tuple(self.features[k] for k in kept),
            supports=tuple(self.supports[k] for k in kept),
            suppressed=tuple(self.features[k] for k in rare),
            suppressed_supports=tuple(self.supports[k] for k in rare),
            known=None if known is None else tuple(known[k] for k in (*kept, *rare)),
        )

    def rename(self, primitives: Sequence[str]) -> FeatureSet:
        """Return the same features over primitives with other names."""
        # without code counts, because ties in the order of features depend on names
        return replace(self, lineage=self.lineage.rename(primitives), code_counts=None)

    def with_rare(self) -> FeatureSet:
        """Return all features, with suppressed ones at the end."""
        return replace(
            self,
            features=self.features + self.suppressed,
            supports=self.supports + self.suppressed_supports,
            suppressed=(),
            suppressed_supports=(),
        )

    def after_first(self, n_merges: int) -> FeatureSet:
        """Return the features after the first merges, including suppressed ones.

        Without missing cells the supports follow from the joint counts, because the three
        conjunctions of a pair are disjoint.
        """
        counts = self.code_counts
        if counts is not None:
            # only the counts of patterns do not depend on the features
            nothing = np.zeros((4, 0), np.int64)
            counts = CodeCounts(nothing, nothing, counts.patterns[:, :n_merges])
        supports, merges = dict(enumerate(self.primitive_supports)), self.merges[:n_merges]
        for merge in merges:
            left, right, joint = supports[merge.left], supports[merge.right], merge.joint
            parts = zip(merge.parts, (joint, right - joint, left - joint), strict=True)
            supports |= {number: support for number, support in parts if number is not None}
        columns = self.primitive_supports
        fitted = FeatureSet.compact(self.lineage, supports, self.n_rows, merges, columns)
        return replace(fitted, variables=self.variables, code_counts=counts)

    def rare(self) -> FeatureSet:
        """Return only the suppressed features."""
        return replace(
            self,
            features=self.suppressed,
            supports=self.suppressed_supports,
            suppressed=(),
            suppressed_supports=(),
            known=None if self.known is None else self.known[len(self.features) :],
        )

    def beside_primitives(self) -> FeatureSet:
        """Return the primitives, then the features of two or more tags.

        The rest of a single tag is left out: it follows from the tag and the other features. The
        number of known rows of a primitive is not stored.
        """
        chunks = [k for k, pattern in enumerate(self.patterns) if len(pattern) > 1]
        return replace(
            self,
            features=(*range(len(self.lineage.primitives)), *(self.features[k] for k in chunks)),
            supports=(*self.primitive_supports, *(self.supports[k] for k in chunks)),
            known=None,
        )

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.lineage.expressions(self.features)

    @property
    def patterns(self) -> tuple[tuple[str, ...], ...]:
        """The primitives that each feature asserts, which differ between features of uFC."""
        return tuple(map(self.lineage.pattern, self.features))

    @cached_property
    def pattern_texts(self) -> tuple[str, ...]:
        """The patterns as distinct texts, with "(rest)" after the rest of a pattern."""
        return tuple(
            pattern_text(self.lineage.pattern(number), is_rest=self.lineage.denies(number))
            for number in self.features
        )

    @cached_property
    def with_unseen(self) -> FeatureSet:
        """All features, then the conjunctions that never occurred in training.

        New rows may have these conjunctions. With them, every tag of every possible row is in one
        true feature.
        """
        lineage, iterations = self.lineage.copy(), list(self.iterations)
        unseen: list[Any] = []
        merges = []
        for merge in self.merges:
            parts, left, right = list(merge.parts), merge.left, merge.right
            for k, pair in enumerate([(left, right), (~left, right), (left, ~right)]):
                if parts[k] is None:
                    parts[k] = lineage.conjoin(*pair)
                    unseen.append(parts[k])
                    iterations.append(merge.iteration)
            both, right_only, left_only = parts
            merges.append(
                msgspec.structs.replace(
                    merge, both=both, right_only=right_only, left_only=left_only
                )
            )
        n_features = len(self.features)
        return replace(
            self,
            lineage=lineage,
            features=(*self.features, *unseen),
            supports=(*self.supports, *(0 for _ in unseen)),
            iterations=tuple(iterations),
            merges=tuple(merges),
            known=self.known
            and (*self.known[:n_features], *(0 for _ in unseen), *self.known[n_features:]),
        )

    @cached_property
    def row_code(self) -> RowCode:
        """The code of rows over all features that a row could have."""
        return RowCode.of(self)

    def with_code_counts(self, store: Any) -> FeatureSet:
        """Count the training rows for the complete code, in one pass over them."""
        codes = self.row_code, RowCode.of(self, has_merges=False)
        counts = CodeCounts(*store.total(partial(_count_part, *codes)))
        return replace(self, code_counts=counts)

    def is_code_of(self, n_rows: int) -> bool:
        """Return True if the code counts agree with the supports and this number of rows."""
        counts, supports = self.known_counts(), self.supports + self.suppressed_supports
        places = self.row_code.places
        expected = np.zeros(self.row_code.n_features, np.int64)
        expected[places] = supports
        return (
            n_rows == self.n_rows
            and np.array_equal(counts.features[1] + counts.features[3], expected)
            and np.array_equal(counts.columns[1] + counts.columns[3], self.primitive_supports)
        )

    @property
    def has_code(self) -> bool:
        """True if the training rows were counted for the complete code."""
        return self.code_counts is not None and self.code_counts.features.size > 0

    @property
    def pattern_tables(self) -> list[list[int]] | None:
        """For each merge the four counts of ``CodeCounts.patterns``; None if not counted."""
        counts = self.code_counts
        return None if counts is None else counts.patterns.T.tolist()

    def known_counts(self) -> CodeCounts:
        """Return the counts of the training rows for the complete code."""
        if self.code_counts is None or not self.has_code:
            raise InputError(
                "this model has no counts for its code, because it was truncated or comes from "
                "an earlier version: use truncate(max_features, X_train=X) or fit again"
            )
        return self.code_counts

    def description_length(self) -> float:
        """Return the bits of the training rows and of the features in the complete code."""
        counts = self.known_counts().features
        return bits_of_rows(counts, counts) + self._bits_of_model(len(self.merges))

    def baseline_length(self) -> float:
        """Return the bits without merges, where each column or variable has its own code."""
        counts = self.known_counts().columns
        return bits_of_rows(counts, counts) + self._bits_of_model(0)

    def _bits_of_model(self, n_merges: int) -> float:
        supports = self.primitive_supports
        n_occurring = sum(support > 0 for support in supports)
        return bits_of_model(n_merges, self.n_rows, len(supports), n_occurring)

    def krimp_length(self) -> float:
        """Return the bits of the training data in Krimp's code, including suppressed features."""
        numbers = self.features + self.suppressed
        return description_length(
            self.supports + self.suppressed_supports,
            map(self.lineage.pattern, numbers),
            dict(zip(self.lineage.primitives, self.primitive_supports, strict=True)),
        )

    def krimp_baseline(self) -> float:
        """Return the bits of the columns of the training data in Krimp's code."""
        names, supports = self.lineage.primitives, self.primitive_supports
        patterns = [(name,) for name in names]
        return description_length(supports, patterns, dict(zip(names, supports, strict=True)))

    def evaluate(self, primitives: S, numbers: Iterable[int] | None = None) -> S:
        """Compute the columns of the features, or of other ``numbers``, from the primitives."""
        wanted = self.features if numbers is None else tuple(numbers)
        lines = dict(enumerate(primitives.raw_columns))
        for number in self.lineage.ancestors(wanted):
            made = self.lineage.made[number - len(self.lineage.primitives)]
            if isinstance(made, Tally):
                counted = [(lines[feature_of(x)], x < 0) for x in made.literals]
                lines[number] = primitives.tally(counted, made.number, exactly=made.exactly)
                continue
            left, right = made
            lines[number] = primitives.conjunction(
                lines[feature_of(left)],
                lines[feature_of(right)],
                not_left=left < 0,
                not_right=right < 0,
            )
        return primitives.with_raw_columns([lines[number] for number in wanted])

    def tags_in(self, text: object) -> tuple[str, ...] | None:
        """Return the tags that a text such as ``fork + knife`` names, in the order of the columns.

        A column may also be called "fork + knife" or "fork (rest)". Outputs show such names in
        quotes. Text that matches an output has the meaning of the output; other text is first
        tried as the name of a column. ``None`` if it names no tags, or the rest of a pattern.
        """
        if not isinstance(text, str):
            return None
        names = self.lineage.primitives
        tags = set(parse_pattern(text))
        is_shown = tags <= set(names) and text == pattern_text([*tags])
        if not is_shown and text in self.pattern_texts:
            return None
        if not is_shown and text in names:
            tags = {text}
        return tuple(filter(tags.__contains__, names)) if tags and tags <= set(names) else None

    def evaluate_tags(self, primitives: S, tags: Iterable[str]) -> S:
        """Compute one column, which is true in the rows with all the tags."""
        names = self.lineage.primitives
        column, *others = (primitives.raw_columns[names.index(tag)] for tag in tags)
        for other in others:
            column = primitives.conjunction(column, other, not_left=False, not_right=False)
        return primitives.with_raw_columns([column])

    @cached_property
    def tag_sets(self) -> tuple[tuple[str, ...], ...]:
        """Each column, then each set of columns that was joined, without duplicates."""
        pattern = self.lineage.pattern
        joined = (pattern(merge.both) for merge in self.merges if merge.both is not None)
        return tuple(dict.fromkeys((*((name,) for name in self.lineage.primitives), *joined)))

    def evaluate_tag_sets(self, primitives: S) -> S:
        """Compute for each of ``tag_sets`` a column, true in the rows with all its tags."""
        pattern, names = self.lineage.pattern, self.lineage.primitives
        columns: dict[tuple[str, ...], Any] = {}
        columns |= zip(((name,) for name in names), primitives.raw_columns, strict=True)
        for merge in self.merges:
            if merge.both is not None and (tags := pattern(merge.both)) not in columns:
                left, right = columns[pattern(merge.left)], columns[pattern(merge.right)]
                columns[tags] = primitives.conjunction(left, right, not_left=False, not_right=False)
        return primitives.with_raw_columns([columns[tags] for tags in self.tag_sets])

    def recover(self, features: S) -> S:
        """Compute the columns of the primitives from those of the features.

        This undoes the merges, last one first: ``i`` is ``i ∧ j`` or ``i ∧ ¬j``. It is exact unless
        a suppressed feature, or a conjunction that was empty in training, is true. Where the other
        feature of a merge was missing, a primitive may be missing too.
        """
        nothing = features.empty_column
        lines: dict[int | None, Any] = dict(zip(self.features, features.raw_columns, strict=True))
        for merge in reversed(self.merges):
            both = lines.get(merge.both, nothing)
            lines[merge.left] = features.disjunction(both, lines.get(merge.left_only, nothing))
            lines[merge.right] = features.disjunction(both, lines.get(merge.right_only, nothing))
        primitives = range(len(self.lineage.primitives))
        return features.with_raw_columns([lines.get(number, nothing) for number in primitives])

    def lost_cells(self) -> tuple[int, ...]:
        """Count for each primitive the training rows in which ``recover`` loses it.

        The features made from a primitive are disjoint, so supports of suppressed ones add up.
        """
        lost: dict[int | None, int] = dict(
            zip(self.suppressed, self.suppressed_supports, strict=True)
        )
        for merge in reversed(self.merges):
            both = lost.get(merge.both, 0)
            lost[merge.left] = both + lost.get(merge.left_only, 0)
            lost[merge.right] = both + lost.get(merge.right_only, 0)
        return tuple(lost.get(number, 0) for number in range(len(self.lineage.primitives)))

    def position(self, feature: object) -> int:
        """Find a feature by position, formula, text of the formula, or pattern.

        The positions of suppressed features come after all others.
        """
        numbers = self.features + self.suppressed
        if isinstance(feature, int | np.integer):
            if not 0 <= feature < len(numbers):
                raise InputError(f"there is no feature {feature}: there are {len(numbers)}")
            return int(feature)
        if isinstance(feature, str) and feature in self.pattern_texts:
            return self.pattern_texts.index(feature)
        wanted = parse(feature) if isinstance(feature, str) else feature
        if not isinstance(wanted, Expression):
            kind = type(feature).__name__
            raise InputError(f"a feature must be a position, a formula or its text, not {kind}")
        for k, number in enumerate(numbers):
            # compare lengths first, because building a formula is slow
            same_length = self.lineage.length(number) == wanted.length
            if same_length and self.lineage.expression(number) == wanted:
                return k
        raise InputError(f"there is no feature {wanted} in this model")

    def iteration(self, number: int) -> int:
        """Return the iteration that made a feature; 0 for a primitive."""
        k = number - len(self.lineage.primitives)
        return self.iterations[k] if k >= 0 else 0

    def parents(self, number: int) -> tuple[int, ...]:
        """Return the features that a feature was made from; empty for a primitive."""
        operands = self.lineage.operands(number) or ()
        return tuple(feature_of(literal) for literal in operands)

    def origins(self) -> dict[int, Merge]:
        """Return the merge that made each feature, for features made by a merge."""
        return {number: merge for merge in self.merges for number in merge.made}


def _count_part(code: RowCode, of_columns: RowCode, part: Columns) -> tuple[Counts, Counts, Counts]:
    features, patterns = code.count_with_patterns(part)
    return features, of_columns.count_with_patterns(part)[0], patterns


def overlapping_index(
    supports: ArrayLike, n_rows: ArrayLike, *, null_support: int | None = None
) -> float:
    """Return OI(F): 0 if each row has one feature, 1 if all features are true in all rows.

    Parameters
    ----------
    supports
        Number of rows in which each feature is true.
    n_rows
        Number of rows. With missing cells, for each feature the number of rows in which it is
        known; p(f) is then its share of those rows.
    null_support
        Number of rows in which no feature is true. If given, the paper's artificial feature "null"
        counts as one more feature. The published figures leave it out, so OI can be slightly
        negative if many rows have no feature.

    Returns
    -------
    float
        (Σ p(f) − 1) / (m − 1), or 0 for a single feature.

    Examples
    --------
    >>> overlapping_index([2, 2], 4)
    0.0
    >>> overlapping_index([4, 4], 4)
    1.0
    """
    counts = np.asarray(supports, dtype=np.int64)
    known = np.asarray(n_rows, dtype=np.int64)
    n_features = counts.size + (null_support is not None)
    if n_features < 2:
        return 0.0
    if (known != known.flat[0]).any() or not known.any():
        if null_support is not None:
            raise ValueError(
                "null_support needs one number of rows for all features: pass it as a feature"
            )
        return (math.fsum(counts[known > 0] / known[known > 0]) - 1) / (n_features - 1)
    total, rows = int(counts.sum()) + (null_support or 0), int(known.flat[0])
    return (total - rows) / (rows * (n_features - 1))


def complexity(n_features: int, n_primitives: int, n_distinct_rows: int) -> float:
    """Return C0(F): the part of the possible growth in features that was used, not clipped.

    Raises
    ------
    ValueError
        If there are not more distinct rows than primitives. C0 is undefined then.

    Examples
    --------
    >>> round(complexity(36, 22, 219), 3)
    0.071
    """
    room = n_distinct_rows - n_primitives
    if room <= 0:
        raise ValueError(
            f"C0 is undefined for {n_distinct_rows} distinct rows and {n_primitives} primitives: "
            "it measures growth from the number of primitives to the number of distinct rows"
        )
    return (n_features - n_primitives) / room


def mean_length(lengths: Iterable[int]) -> float:
    """Return C1(F): the mean number of literals per feature.

    Examples
    --------
    >>> mean_length([1, 2, 3])
    2.0
    """
    counted = list(lengths)
    return mean_length_of(sum(counted), len(counted))


def mean_length_of(total: int, n_features: int) -> float:
    """Return C1 from the sum of all lengths, which may be too large for a float.

    Examples
    --------
    >>> mean_length_of(6, 4)
    1.5
    """
    try:
        return total / n_features
    except OverflowError:
        return sys.float_info.max


def rms(oi: float, c0: float) -> float:
    """Return the root mean square of OI and C0. A risk-based run ends when it rises (§6.2).

    Examples
    --------
    >>> rms(0.3, 0.4) == (0.125) ** 0.5
    True
    """
    return math.sqrt((oi * oi + c0 * c0) / 2)


def pareto_front(oi: Sequence[float], c0: Sequence[float]) -> list[int]:
    """Return the positions of the Pareto-optimal solutions, ordered by C0 (§4.2).

    A solution is optimal if no other one is at least as good in both and better in one. Of equal
    solutions, the first is kept.

    Examples
    --------
    >>> pareto_front([0.3, 0.1, 0.2], [0.0, 0.2, 0.3])
    [0, 1]
    """
    front: list[int] = []
    lowest = math.inf
    for k in sorted(range(len(oi)), key=lambda k: (c0[k], oi[k], k)):
        if oi[k] < lowest:
            lowest = oi[k]
            front.append(k)
    return front


def closest_point(oi: Sequence[float], c0: Sequence[float]) -> int:
    """Return the position of the solution nearest to the ideal point (0, 0) (§4.2).

    Of equally near solutions, the first is returned.

    Examples
    --------
    >>> closest_point([0.3, 0.1, 0.2], [0.0, 0.2, 0.3])
    1
    """
    if not len(oi):
        raise ValueError("there is no solution to choose from")
    return min(range(len(oi)), key=lambda k: math.hypot(oi[k], c0[k]))
