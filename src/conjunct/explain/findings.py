"""What was found: chunks as they were joined, and the features in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

from conjunct.explain.labels import share
from conjunct.expressions import pattern_text
from conjunct.features import FeatureSet, Merge


@dataclass(frozen=True)
class Finding:
    """A chunk when it was joined, or a constructed feature in the end.

    Attributes
    ----------
    number : int
        The number in the lineage. Later merges may have taken rows from a chunk.
    pattern : tuple of str
        The tags that belong together.
    text : str
        The pattern as text; "(rest)" marks a feature that is what is left of it.
    rows : int
        Rows of the training data in which it was joined, or is true.
    share : float
        Those rows as a share of the rows in which that is known.
    saved : float or None
        Bits by which joining it made the description of the data shorter; ``None`` if its pattern
        was never joined.
    contrast : str
        How much more often the two parts of a chunk go together than apart, in words. Empty where
        cells are missing: each pair has rows of its own then.
    """

    number: int
    pattern: tuple[str, ...]
    text: str
    rows: int
    share: float
    saved: float | None
    contrast: str = ""


Ranked = TypeVar("Ranked")
Told = TypeVar("Told")


@dataclass(frozen=True, eq=False)
class WhenAsked(Sequence[Told], Generic[Ranked, Told]):
    """Things in their order, each put into words when it is looked at: few of thousands are."""

    ranked: Sequence[Ranked]
    tell: Callable[[Ranked], Told]

    def __len__(self) -> int:
        return len(self.ranked)

    @overload
    def __getitem__(self, which: int) -> Told: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Told, ...]: ...
    def __getitem__(self, which: int | slice) -> Told | tuple[Told, ...]:
        if isinstance(which, slice):
            return tuple(map(self.tell, self.ranked[which]))
        return self.tell(self.ranked[which])


def findings(feature_set: FeatureSet) -> Sequence[Finding]:
    """The chunks that save bits as they were joined, those that save most first."""
    supports = supports_of_lineage(feature_set)
    joined = [(m.both, m) for m in feature_set.merges if m.both is not None and m.saved > 0]
    joined.sort(key=lambda one: -one[1].saved)

    def tell(one: tuple[int, Merge]) -> Finding:
        number, merge = one
        pattern = feature_set.lineage.pattern(number)
        text, part = pattern_text(pattern), merge.joint / merge.n_rows
        contrast = "" if supports is None else _contrast(feature_set, merge, supports)
        return Finding(number, pattern, text, merge.joint, part, merge.saved, contrast)

    return WhenAsked(joined, tell)


def constructed(feature_set: FeatureSet, *, by_bits: bool) -> Sequence[Finding]:
    """All features but columns, the most common first; or those whose joining saved most."""
    lineage, shares = feature_set.lineage, feature_set.frequencies
    ranked = ranked_features(feature_set, by_bits=by_bits)

    def tell(one: tuple[int, float | None]) -> Finding:
        k, saved = one
        number, rows = feature_set.features[k], feature_set.supports[k]
        pattern = lineage.pattern(number)
        text = pattern_text(pattern, is_rest=lineage.denies(number))
        return Finding(number, pattern, text, rows, shares[k], saved)

    return WhenAsked(ranked, tell)


def ranked_features(feature_set: FeatureSet, *, by_bits: bool) -> list[tuple[int, float | None]]:
    """The positions of all features but columns in their order, each with the bits it saved."""
    joined = merges_by_pattern(feature_set)
    found: list[tuple[int, float | None]] = []
    for k, number in enumerate(feature_set.features):
        if feature_set.iteration(number):
            merge = joined.get(feature_set.lineage.pattern(number))
            found.append((k, None if merge is None else merge.saved))

    def rank(one: tuple[int, float | None]) -> tuple[bool, float, int]:
        k, saved = one
        return by_bits and saved is None, -(saved or 0.0) * by_bits, -feature_set.supports[k]

    return sorted(found, key=rank)


def merges_by_pattern(feature_set: FeatureSet) -> dict[tuple[str, ...], Merge]:
    """The merge that joined each pattern first.

    No other ever did: where a pattern was joined, its tags are together in all rows that have
    them, and what is left of them apart never meets.
    """
    pattern = feature_set.lineage.pattern
    return {pattern(m.both): m for m in reversed(feature_set.merges) if m.both is not None}


def supports_of_lineage(feature_set: FeatureSet) -> dict[int | None, int] | None:
    """Rows of every feature that ever was, by its number; ``None`` where cells are missing.

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
    """The pattern of a feature as text; empty where it has none to be read by.

    Only what uFC replaced has patterns that are a partition of each row.
    """
    lineage = feature_set.lineage
    if feature_set.iteration(number) and not feature_set.merges:
        return ""
    return pattern_text(lineage.pattern(number), is_rest=lineage.denies(number))


def _contrast(feature_set: FeatureSet, merge: Merge, supports: Mapping[int | None, int]) -> str:
    """Of the rows with the rarer part, the share that has the other too, and of the rest."""
    given, other = sorted((merge.left, merge.right), key=lambda number: supports[number])
    inside = merge.joint / supports[given]
    n_outside = merge.n_rows - supports[given]
    outside = (supports[other] - merge.joint) / n_outside if n_outside else 0.0
    one, two = (shown_pattern(feature_set, number) for number in (given, other))
    return f"{two} is in {share(inside)} of the rows with {one}, {share(outside)} of the others"
