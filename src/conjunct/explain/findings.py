"""Findings: chunks with their facts in all rows, and the features in the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

import numpy as np

from conjunct.explain.sentences import share
from conjunct.expressions import pattern_text
from conjunct.features import FeatureSet, Merge
from conjunct.ufc import evidence


@dataclass(frozen=True)
class Finding:
    """A chunk with its facts in all rows, or a constructed feature in the end.

    Attributes
    ----------
    number : int
        The number in the lineage.
    pattern : tuple of str
        The tags that belong together.
    text : str
        The tags as text; "(rest)" marks a feature that larger chunks have taken rows from.
    rows : int
        Rows of the training data that have all tags of a chunk, or in which a feature is true.
    share : float
        Those rows as a share of the rows in which that is known.
    evidence : float or None
        Bits by which all rows speak for "together" rather than "by chance"; None if the tags of a
        feature were never joined, or are not together more often than by chance.
    lift : float or None
        How many times as often as by chance its two parts are together, in all rows.
    contrast : str
        How much more often one part is there with the other than without it, in words.
    """

    number: int
    pattern: tuple[str, ...]
    text: str
    rows: int
    share: float
    evidence: float | None
    lift: float | None = None
    contrast: str = ""


Ranked = TypeVar("Ranked")
Shown = TypeVar("Shown")


@dataclass(frozen=True, eq=False)
class LazySequence(Sequence[Shown], Generic[Ranked, Shown]):
    """A sequence that describes an item when it is read: few of thousands are."""

    ranked: Sequence[Ranked]
    describe: Callable[[Ranked], Shown]

    def __len__(self) -> int:
        return len(self.ranked)

    @overload
    def __getitem__(self, which: int) -> Shown: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Shown, ...]: ...
    def __getitem__(self, which: int | slice) -> Shown | tuple[Shown, ...]:
        if isinstance(which, slice):
            return tuple(map(self.describe, self.ranked[which]))
        return self.describe(self.ranked[which])


@dataclass(frozen=True)
class Joined:
    """A merge, and the counts of its two patterns in all rows in which both are known."""

    merge: Merge
    n_rows: int
    left: int
    right: int
    both: int
    evidence: float

    @property
    def lift(self) -> float:
        """The number of rows with both, divided by the number expected by chance."""
        return self.n_rows * self.both / (self.left * self.right)


def joined_chunks(feature_set: FeatureSet) -> list[Joined]:
    """Return the chunks that are together more often than by chance, most evidence first."""
    tables = feature_set.pattern_tables
    if not tables:
        return []
    bits = evidence(*np.array(tables, np.int64).T).tolist()
    joined = [
        Joined(merge, n_rows, left, right, both, value)
        for merge, (n_rows, left, right, both), value in zip(
            feature_set.merges, tables, bits, strict=True
        )
        if merge.both is not None and value > 0
    ]
    return sorted(joined, key=lambda one: (-one.evidence, -one.both))


def findings(feature_set: FeatureSet) -> Sequence[Finding]:
    """Return the chunks with their facts in all rows, most evidence first."""
    lineage = feature_set.lineage

    def describe(one: Joined) -> Finding:
        number = one.merge.both or 0
        pattern = lineage.pattern(number)
        part = one.both / one.n_rows
        contrast = _describe_contrast(feature_set, one)
        return Finding(
            number, pattern, pattern_text(pattern), one.both, part, one.evidence, one.lift, contrast
        )

    return LazySequence(joined_chunks(feature_set), describe)


def constructed(feature_set: FeatureSet, *, by_evidence: bool) -> Sequence[Finding]:
    """Return all features but columns, the most common or the strongest chunks first."""
    lineage, shares = feature_set.lineage, feature_set.frequencies
    ranked = rank_features(feature_set, by_evidence=by_evidence)

    def describe(one: tuple[int, float | None]) -> Finding:
        k, bits = one
        number, rows = feature_set.features[k], feature_set.supports[k]
        pattern = lineage.pattern(number)
        text = pattern_text(pattern, is_rest=lineage.denies(number))
        return Finding(number, pattern, text, rows, shares[k], bits)

    return LazySequence(ranked, describe)


def rank_features(feature_set: FeatureSet, *, by_evidence: bool) -> list[tuple[int, float | None]]:
    """Return the positions of all features but columns in order, each with its evidence."""
    pattern = feature_set.lineage.pattern
    joined = joined_chunks(feature_set)
    known = {pattern(one.merge.both or 0): one.evidence for one in reversed(joined)}
    found = [
        (k, known.get(pattern(number)))
        for k, number in enumerate(feature_set.features)
        if feature_set.iteration(number)
    ]

    def rank(one: tuple[int, float | None]) -> tuple[bool, float, int]:
        k, bits = one
        return by_evidence and bits is None, -(bits or 0.0) * by_evidence, -feature_set.supports[k]

    return sorted(found, key=rank)


def merges_by_pattern(feature_set: FeatureSet) -> dict[tuple[str, ...], Merge]:
    """Return the merge that joined each pattern first.

    No other ever did: where a pattern was joined, its tags are together in all rows that have
    them, and the rest of them never meets.
    """
    pattern = feature_set.lineage.pattern
    return {pattern(m.both): m for m in reversed(feature_set.merges) if m.both is not None}


def supports_of_lineage(feature_set: FeatureSet) -> dict[int | None, int] | None:
    """Return the rows of every feature that ever was; ``None`` where cells are missing.

    A replaced one has those of its two conjunctions.
    """
    if feature_set.known is not None:
        return None
    every = feature_set.with_rare()
    supports: dict[int | None, int] = dict(zip(every.features, every.supports, strict=True))
    for merge in reversed(feature_set.merges):
        supports[merge.left] = merge.joint + supports.get(merge.left_only, 0)
        supports[merge.right] = merge.joint + supports.get(merge.right_only, 0)
    return supports


def shown_pattern(feature_set: FeatureSet, number: int) -> str:
    """Return the pattern of a feature as text; empty if it has none.

    Only the features of uFC, which replace others, have patterns that partition each row.
    """
    lineage = feature_set.lineage
    if feature_set.iteration(number) and not feature_set.merges:
        return ""
    return pattern_text(lineage.pattern(number), is_rest=lineage.denies(number))


def _describe_contrast(feature_set: FeatureSet, one: Joined) -> str:
    """Compare the share of one part in the rows with the rarer one and in those without."""
    pattern = feature_set.lineage.pattern
    sides = [(one.left, one.merge.left), (one.right, one.merge.right)]
    (n_given, given), (n_other, other) = sorted(sides)
    inside = one.both / n_given
    n_outside = one.n_rows - n_given
    outside = (n_other - one.both) / n_outside if n_outside else 0.0
    rarer, name = pattern_text(pattern(given)), pattern_text(pattern(other))
    return (
        f"{name} is in {share(inside)} of the rows with {rarer}, {share(outside)} of the rows "
        f"without"
    )
